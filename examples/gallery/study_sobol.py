"""
What decides the peak of a hoist
================================

A winch begins to hoist without smoothing. Which matters most for the peak of the tension: the mass of the load, the
acceleration of the winch, or the stiffness of the rope? A study over a Sobol' design answers; so does a formula.
"""

import tempfile
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np

import tautline as tl

MASS, ACCELERATION, STIFFNESS = (900.0, 1100.0), (0.2, 0.8), (4e6, 8e6)
hoist = tl.pendulum(
    tl.String("30 m", 0.01, 5e6, damping_ratio=0.02),
    tl.Reel("0.2 m", "0.5 m", inertia_mass=100.0),
    tl.RigidBody.point(1000.0),
    elements=2,
)
up = tl.Length.to("5 m", speed="2 m/s", acceleration=0.5)
case = tl.Case(hoist, tl.Hanging("12 m"), up, tl.Run(duration=0.6, sample=0.005))
ranges = {"body.mass": MASS, "command.acceleration": ACCELERATION, "string.stiffness": STIFFNESS}
definition = {
    "scenario": case,
    "design": {"kind": "sobol-indices", "base": 64, "seed": 1, "second_order": False},
    "vary": {key: {"from": least, "to": most} for key, (least, most) in ranges.items()},
    "outputs": ["max start_tension"],
}

# %%
# 320 runs are enough here; ``base = 256`` with six keys would be 2048, which takes some six times as long.

with tempfile.TemporaryDirectory() as folder:
    study = tl.study(definition, Path(folder, "peak.zarr"), workers=1).load()
    found = tl.studies.sensitivity(study).load()
print(found.first.to_pandas().round(3).T)

# %%
# By hand: the peak is :math:`m(g+2a)`, a product of two independent numbers. The variance of a product has one part
# from each number alone and one from both; the stiffness is not in it.

mean = np.array([np.mean(MASS), 9.81 + 2.0 * np.mean(ACCELERATION)])
variance = np.array([np.ptp(MASS) ** 2, (2.0 * np.ptp(ACCELERATION)) ** 2]) / 12.0
parts = mean[::-1] ** 2 * variance
by_hand = np.array([*parts, 0.0]) / (parts.sum() + variance.prod())
peaks = study.max_start_tension.values.ravel()
expected = study["body.mass"].values * (9.81 + 2.0 * study["command.acceleration"].values)
first = found.first.values.ravel()
print("first order", dict(zip(ranges, first.round(3), strict=True)), "by hand", by_hand.round(3))
print(f"peaks within {100 * np.abs(peaks / expected - 1.0).max():.2f} % of the formula")
assert np.abs(peaks / expected - 1.0).max() < 0.01
assert np.abs(first - by_hand).max() < 0.08  # a design of 64

figure, axis = plt.subplots(figsize=(6, 3), layout="constrained")
axis.bar(np.arange(3) - 0.2, first, 0.4, label="study")
axis.bar(np.arange(3) + 0.2, by_hand, 0.4, label="by hand")
axis.set_xticks(range(3), list(ranges))
axis.set_ylabel("part of the variance")
axis.legend()
tl.figures.save(figure, "study-sobol", ["png"])
