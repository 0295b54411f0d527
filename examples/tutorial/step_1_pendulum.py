"""
Step 1: a pendulum
==================

A small mass on a wire that hardly stretches and weighs next to nothing. Its period is known
exactly, so this is the place to learn how a simulation is put together, and to see that the
answer is right.
"""

import matplotlib.pyplot as plt
import numpy as np
from scipy.special import ellipk

import tautline as tl

# %%
# :func:`~tautline.pendulum` makes a system of one line, which is a string on a reel, and one body at
# its end. Everything is SI, and the third axis points down. The reel is locked in this step; only the
# 2 m of wire outside it matter. One element is enough for a string that stays straight.

length = 2.0
pendulum = tl.pendulum(
    string=tl.String(length=10.0, density=1e-6, stiffness=1e6),  # m, kg/m, N
    reel=tl.Reel(drum_radius=0.1, guide_length=0.1, inertia_mass=1.0),  # m, m, kg
    body=tl.RigidBody.point(mass=1.0),  # kg
    gravity=9.81,
    elements=1,
)

# %%
# We hold the mass aside and let go, from five angles. `run` is an xarray Dataset; positions have the
# dimensions time, node and axis, and the last node carries the mass.

figure, (portrait, periods) = plt.subplots(1, 2, figsize=(7.5, 3.4), layout="constrained")
print("released at   period    exact     difference")
for degrees in (5, 25, 45, 65, 85):
    release = np.radians(degrees)
    start = tl.Straight(length, direction=(np.sin(release), 0, np.cos(release)))
    run = tl.simulate(pendulum, start, tl.Locked(), duration=10.0, sample=0.01)

    end = run.position.isel(node=-1)
    angle = np.arctan2(end.sel(axis="x"), end.sel(axis="z")).values
    rate = np.gradient(angle, run.time.values)

    # the mass passes the vertical twice a period; the times between samples by linear interpolation
    before = np.flatnonzero(np.diff(np.sign(angle)))
    passed = run.time.values[before] - angle[before] * 0.01 / (angle[before + 1] - angle[before])
    period = 2 * np.mean(np.diff(passed))
    exact = 4 * np.sqrt(length / 9.81) * ellipk(np.sin(release / 2) ** 2)
    print(f"{degrees:8d} deg   {period:.5f} s {exact:.5f} s {period / exact - 1:+.1e}")
    assert abs(period / exact - 1) < 5e-5

    portrait.plot(np.degrees(angle), rate)
    periods.plot(degrees, period, "o")

# %%
# The differences come from the samples between which we interpolate, and from the stretch of the
# wire: a part or two in a hundred thousand.

curve = np.radians(np.linspace(0, 90))
periods.plot(
    np.degrees(curve), 4 * np.sqrt(length / 9.81) * ellipk(np.sin(curve / 2) ** 2), "k", zorder=0, label="exact"
)
periods.set(xlabel="released at (deg)", ylabel="period (s)")
periods.legend()
portrait.set(xlabel="angle (deg)", ylabel="rate (rad/s)")
tl.figures.save(figure, "pendulum", ["png"])

# %%
# Beyond 90 degrees a wire goes slack at the top, and so does this one. With ``law="linear"``, the law of
# the paper, it would also carry compression.
#
# The next step lets the string stretch.
