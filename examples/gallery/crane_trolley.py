"""
A trolley that stops without sway
=================================

A load on 10 m of rope is to be moved by 8 m in the least time, and to hang still in the end. The trolley accelerates by
at most 0.5 m/s². :func:`tautline.optimize` finds the points of its path.
"""

import matplotlib.pyplot as plt
import numpy as np
from scipy.optimize import brentq

import tautline as tl

ROPE, WAY, MOST = 10.0, 8.0, 0.5
times = np.linspace(0.0, 14.0, 12)
ride = tl.motions.GuidePath(
    tuple(times), tuple((x, 0.0, 0.0) for x in WAY * (3.0 - 2.0 * times / 14.0) * (times / 14.0) ** 2)
)
crane = tl.pendulum(
    tl.String(20.0, 1e-3, 1e6, viscosity=1e4),
    tl.Reel(0.2, 0.5, 50.0),
    tl.RigidBody.point(200.0),
    guide=ride,
    elements=1,
)
slow = tl.Case(crane, tl.Hanging(ROPE), tl.Speed(retrieval=0.0), tl.Run(duration=14.0, step=0.01, sample=0.1))
best = tl.optimize(
    slow,
    vary={"guide.displacements[1:-1][0]": (-1.0, 9.0), "run.duration": (6.0, 20.0)},
    minimize="time",
    subject_to=[
        tl.objectives.Limit("rate(velocity[0, 0])", -MOST, MOST),
        tl.objectives.AtEnd("position[-1, 0]", WAY, within=1e-3),
        tl.objectives.AtEnd("velocity[-1, 0]", 0.0, within=1e-3),
    ],
    intervals=2,
)
print(f"{best.status}: {best.objective:.3f} s, {best.history[-1].iteration} iterations")
assert best.status == "completed"

# %%
# By hand: full acceleration forward and backward in turns, with three switches that are symmetric in time. With the
# last one c after the middle, :math:`(T/2)^2-2c^2=d/a` covers the distance d, and :math:`2\cos\omega c=1+\cos(\omega
# T/2)` leaves no swing. The path of the search is smooth between its points, and its time a little longer.

omega = np.sqrt(9.81 / ROPE)


def switch(total: float) -> float:
    return float(np.arccos(0.5 * (1.0 + np.cos(0.5 * omega * total))) / omega)


least = brentq(lambda total: 0.25 * total**2 - 2.0 * switch(total) ** 2 - WAY / MOST, 8.0, 12.0)
switches = [round(0.5 * least + x, 2) for x in (-switch(least), 0.0, switch(least))]
print(f"by hand {least:.3f} s, with switches at {switches} s")
assert least * 0.999 < best.objective < 1.05 * least

# %%
# Simulated with more elements, and with 10 s to follow: the load hangs still.

run = tl.simulate(best.case.with_({"run.duration": 20.0, "run.sample": 0.02, "run.step": "auto", "run.elements": 6}))
sway = (run.position.isel(node=-1) - run.position.isel(node=0)).sel(axis="x")
left = float(abs(sway[run.time > best.objective]).max())
print(f"sways by {float(abs(sway).max()):.3f} m on the way, by {1e3 * left:.1f} mm afterwards")
assert left < 5e-3

figure, axes = plt.subplots(3, 1, figsize=(7, 5), sharex=True, layout="constrained")
axes[0].plot(run.time, run.position.isel(node=0).sel(axis="x"))
axes[1].plot(run.time, run.velocity.isel(node=0).sel(axis="x").differentiate("time"))
axes[2].plot(run.time, sway)
for axis, label in zip(axes, ("trolley (m)", "acceleration (m/s²)", "sway (m)"), strict=True):
    axis.set_ylabel(label)
axes[2].set_xlabel("time (s)")
tl.figures.save(figure, "crane-trolley", ["png"])
