"""
Step 3: a rigid body
====================

A crate hangs by a point beside its center of mass. When the rope pulls, the crate turns; when it
turns, it pulls at the rope. The motion is irregular, so there is no formula to compare with. What
can be checked is what is conserved: energy, angular momentum about the vertical, and that a
rotation stays a rotation.
"""

import tautline as tl

# %%
# The body frame has its origin where the rope is tied. ``center_of_mass`` says where the middle of
# the crate is, seen from there.

pendulum = tl.pendulum(
    string=tl.String(length=20.0, density=0.05, stiffness=400.0),
    reel=tl.Reel(drum_radius=0.1, guide_length=0.1, inertia_mass=1.0),
    body=tl.RigidBody.box(mass=1.5, sides=(0.6, 0.4, 0.8), center_of_mass=(0.2, 0.1, 0.4)),
    elements=10,
)
start = tl.Straight(5.0, direction=(1, 0, 1), end_velocity=(0, 1.5, 0))
run = tl.simulate(pendulum, start, tl.Locked(), duration=3.0)

tl.figures.save(tl.figures.snapshots(run, every=0.25), "snapshots", ["png"])

# %%
# The color of the string shows where it is stretched most. The crate starts level and is soon
# turned by the rope:

tl.figures.save(tl.figures.attitude(run), "attitude", ["png"])

# %%
# Now half an hour of a calmer motion: the crate hangs, starts with a velocity and a spin. Most integrators gain
# or lose energy in so long a run. This one keeps an energy that is very near the true one, so the
# error oscillates and does not grow. Angular momentum and orthogonality are exact up to rounding.

calm = tl.Hanging(5.0, end_velocity=(2, 1, 0), angular_velocity=(0, 0, 2))
long = tl.simulate(pendulum, calm, tl.Locked(), duration=1800.0, sample=0.5)
tl.figures.save(tl.figures.conservation(long), "conservation", ["png"])

largest = float(long.kinetic_energy.max())
print(f"{long.attrs['steps']} steps, largest kinetic energy {largest:.2f} J")
halves = [float(abs(half - long.energy[0]).max()) for half in (long.energy[:1800], long.energy[1800:])]
print(f"energy error {halves[0]:.1e} J in the first quarter of an hour, {halves[1]:.1e} J in the second")
assert max(halves) < 1e-4 * largest and halves[1] < 1.2 * halves[0]
spin = long.angular_momentum.sel(axis="z")
assert float(abs(spin - spin[0]).max()) < 1e-11
assert float(long.orthogonality_error.max()) < 1e-13

# %%
# Read the factor above each panel: these are errors of some millionths and of the last digit. If
# that is not enough, a method of higher order costs five steps in one.

errors = {}
for order in (2, 4):
    short = tl.simulate(pendulum, calm, tl.Locked(), duration=60.0, order=order)
    errors[order] = float(abs(short.energy - short.energy[0]).max())
    print(f"order {order}: energy error {errors[order]:.1e} J in one minute, step {1e3 * short.attrs['step']:.2f} ms")

assert errors[4] < 0.01 * errors[2]

# %%
# Two remarks. Where ``run.tension`` is zero the rope was slack. And once a body tumbles its motion is
# chaotic: see :doc:`/generated/gallery/chaos`.

print(f"lowest tension: first motion {float(run.tension.min()):.2f} N, half an hour {float(long.tension.min()):.2f} N")

# %%
# Next, the reel starts to turn.
