"""
Step 4: the reel turns
======================

Until now the drum was locked. Set free, it lets the load fall and turns with it. The string that
leaves the drum has to be accelerated, and at the guide it suddenly stretches: energy is lost there.
"""

import matplotlib.pyplot as plt
import numpy as np

import tautline as tl

# %%
# First with a wire so light and stiff that everything moves as one. Then mass and drum share the
# weight, and the acceleration is :math:`gM/(M+\kappa)`. ``inertia_mass`` is :math:`\kappa`, the
# moment of inertia of the drum divided by the square of its radius.

reel = tl.Reel(drum_radius=0.2, guide_length=0.5, inertia_mass=3.0)
string = tl.String(length=50.0, density=1e-4, stiffness=1e5)
wire = tl.pendulum(string, reel, tl.RigidBody.point(mass=2.0), elements=4)
fall = tl.simulate(wire, tl.Hanging(2.0), tl.Free(), duration=2.0, sample=0.01)
out = float(fall.unstretched_length.sel(line="line")[-1]) - 2.0
rigid = 0.5 * 9.81 * 2 / (2 + 3) * 2.0**2
print(f"paid out in 2 s: {out:.3f} m, a rigid wire without mass would give {rigid:.3f} m")
assert abs(out / rigid - 1) < 2e-3  # 5 g of wire are set in motion, too

# %%
# Then a soft, heavy cord and a crate. It is released from the side, so it swings, stretches the
# cord and pulls it off the drum all at once.

pendulum = tl.pendulum(
    string=tl.String(length=60.0, density=0.1, stiffness=150.0),
    reel=reel,
    body=tl.RigidBody.box(mass=2.0, sides=(0.5, 0.4, 0.6), center_of_mass=(0.1, 0.0, 0.3)),
    elements=20,
)
start = tl.Straight(4.0, direction=(1, 0, 1))
run = tl.simulate(pendulum, start, tl.Free(), duration=4.0, sample=0.01, order=4)
print(run.attrs["message"])

tl.figures.save(tl.figures.lengths(run), "lengths", ["png"])

# %%
# Where does the energy go? All of it comes from gravity. The balance is complete: what is lost at the
# guide is part of the result, summed over every step, and what remains is the error of the method.
# What belongs to a line has the dimension ``line``, and what belongs to a body ``body``. The line that
# ``tl.pendulum`` makes is called "line" and its body "body".

unexplained = run.energy - run.energy[0] - run.motor_work.sel(line="line") + run.guide_loss
figure, axes = plt.subplots(figsize=(6, 3.6), layout="constrained")
axes.plot(run.time, run.gravity_energy[0] - run.gravity_energy, "k", label="from gravity")
parts = (run.kinetic_energy, run.elastic_energy, run.guide_loss)
axes.stackplot(run.time, *parts, labels=["kinetic", "elastic", "lost at the guide"], alpha=0.7)
axes.set(xlabel="time (s)", ylabel="energy (J)")
axes.legend(loc="upper left")
tl.figures.save(figure, "where-energy-goes", ["png"])
print(f"lost at the guide {float(run.guide_loss[-1]):.2f} J, balance error {float(np.abs(unexplained).max()):.1e} J")
assert float(np.abs(unexplained).max()) < 1e-6 * float(run.kinetic_energy.max())

# %%
# The next step controls the drum.
