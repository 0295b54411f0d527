"""
A gust on a rope
================

A load of two tonnes hangs in the lee on 100 m of rope, and the wind on the rope grows from 8 m/s to 24 m/s. How far
does the rope alone push the load aside?
"""

import matplotlib.pyplot as plt
import numpy as np

import tautline as tl

MASS, LENGTH, DENSITY, DIAMETER, COEFFICIENT = 2000.0, 100.0, 1.0, 0.03, 1.2
gust = tl.flows.Gust(16.0, "ramp", start=5.0, duration=60.0)
hanging = tl.pendulum(
    tl.String(120.0, DENSITY, 2e7, damping_ratio=0.1, diameter=DIAMETER, normal_drag=COEFFICIENT),
    tl.Reel(0.3, 0.5, 100.0),
    tl.RigidBody.point(MASS),
    fluid=tl.Fluid(1.2, (8.0, 0.0, 0.0), unsteady=gust),
    elements=20,
)
run = tl.simulate(hanging, tl.AtEquilibrium(LENGTH), tl.Locked(), duration=150.0, sample=0.1)

# %%
# By hand: below the depth z the wind pushes with :math:`q\,(L-z)`, and the rope carries load and rope below it. The
# slope is the ratio of the two, and its integral :math:`x=\frac{q}{g\mu}\,(L-\frac{M}{\mu}\ln(1+\mu L/M))`.


def aside(wind: float) -> float:
    q = 0.5 * 1.2 * COEFFICIENT * DIAMETER * wind**2
    return float(q / (9.81 * DENSITY) * (LENGTH - MASS / DENSITY * np.log1p(DENSITY * LENGTH / MASS)))


x = run.body_position.sel(body="body", axis="x")
swing = 2.0 * np.pi * np.sqrt(LENGTH / 9.81)
late = run.time > 150.0 - 4.0 * swing
for name, found, wind in (("before", float(x[0]), 8.0), ("after", float(x[late].mean()), 24.0)):
    print(f"{name} the gust {found:.3f} m aside, by hand {aside(wind):.3f} m")
    assert abs(found / aside(wind) - 1.0) < 0.02
figure, axis = plt.subplots(figsize=(7, 3), layout="constrained")
axis.plot(run.time, x)
axis.axhline(aside(24.0), color="k", linestyle=":")
axis.set(xlabel="time (s)", ylabel="load aside (m)")
tl.figures.save(figure, "gust-on-a-line", ["png"])
