"""
A drum that absorbs waves
=========================

A load on 30 m of rope is struck downward. The impulse runs up the rope as a wave of tension, is
reflected by a locked drum, and returns again and again. :class:`tautline.control.WaveAbsorber` lets
the drum yield just as more rope would, so that the wave is not reflected. The
rope has a little damping of its own.
"""

import matplotlib.pyplot as plt
import numpy as np

import tautline as tl

pendulum = tl.pendulum(
    string=tl.String(length=50.0, density=0.1, stiffness=1e4, viscosity=2.0),
    reel=tl.Reel(drum_radius=0.2, guide_length=0.5, inertia_mass=2.0),
    body=tl.RigidBody.sphere(mass=5.0, radius=0.1, center_of_mass=(0.0, 0.0, 0.1)),
    elements=40,
)
deployed = 30.0
start = tl.Hanging(deployed, end_velocity=(0.0, 0.0, 0.6))
rest = tl.statics(pendulum, tl.Hanging(deployed)).line
balance = rest.holding_torque

by_hand = (5.0 + 0.1 * deployed) * 9.81 * 0.2
print(f"torque that balances the weight: {balance:.2f} N m, by hand {by_hand:.2f} N m")
assert abs(balance / by_hand - 1.0) < 0.02  # stretch and the spooled rope's own weight

# %%
# Four drums: held; turned by the constant torque that balances the weight; the absorber with the
# inertia that the drum has, 4 kg with its spooled rope; and the absorber that measures the tension and
# so lets the rope feel 0.3 kg only.

absorber = tl.control.WaveAbsorber(pendulum, deployed, return_time=0.5)
lighter = tl.control.WaveAbsorber(pendulum, deployed, return_time=0.5, apparent_mass=0.3)
runs = {
    "held": tl.simulate(pendulum, start, tl.Locked(), duration=2.0, sample=1e-3),
    "constant torque": tl.simulate(pendulum, start, tl.Torque(balance), duration=2.0, sample=1e-3),
    "absorber": tl.simulate(pendulum, start, duration=2.0, control=absorber, period=1e-3),
    "absorber, 0.3 kg": tl.simulate(pendulum, start, duration=2.0, control=lighter, period=1e-3),
}

# %%
# The waves: time to the right, the guide on top, the load below; shading shows the tension above or
# below that at rest. The straight stripes run at 316 m/s.

figure, axes = plt.subplots(2, 2, figsize=(8, 5), sharex=True, sharey=True, layout="constrained")
for axis, (name, run) in zip(axes.flat, runs.items(), strict=True):
    extra = run.tension.values - rest.tension
    picture = axis.imshow(extra.T, extent=(0.0, 2.0, deployed, 0.0), aspect="auto", cmap="RdBu_r", vmin=-25, vmax=25)
    axis.set_title(name)
for axis in axes[1]:
    axis.set_xlabel("time (s)")
for axis in axes[:, 0]:
    axis.set_ylabel("along the rope (m)")
figure.colorbar(picture, ax=axes, label="extra tension (N)")
tl.figures.save(figure, "waves", ["png"])

# %%
# The reading of a sensor at the guide, and the part of a wave that the drum reflects, by theory.

left_over: list[float] = []
figure, (left, right) = plt.subplots(1, 2, figsize=(8, 3.4), layout="constrained")
for name, run in runs.items():
    left.plot(run.time, run.tension.isel(element=0) - rest.tension[0], label=name, linewidth=1)
    late = (run.tension - rest.tension).sel(time=slice(1.0, 2.0)).values
    left_over.append(np.sqrt(np.mean(late**2)))
    print(f"{name:>16}: extra tension in the second second {left_over[-1]:6.2f} N rms")
left.set(xlabel="time (s)", ylabel="extra tension at the guide (N)")
left.legend(fontsize=8)
frequency = np.geomspace(0.1, 100.0, 200)
for controller, name, color in ((absorber, "absorber", "C2"), (lighter, "absorber, 0.3 kg", "C3")):
    right.semilogx(frequency, np.abs(controller.reflection(frequency)), color=color, label=name)
right.axhline(1.0, color="C0", label="held")
right.set(xlabel="frequency (Hz)", ylabel="reflected part of the tension", ylim=(0, 1.1))
right.legend()
tl.figures.save(figure, "absorbed", ["png"])
assert left_over == sorted(left_over, reverse=True) and left_over[-1] < 0.05 * left_over[0]

# %%
# The drum's inertia reflects fast waves, the spring that restores the length slow ones. Between
# them almost nothing is reflected. :doc:`/howto/suppress` derives the curves.
