"""
A load on four ropes
====================

A platform of 40 kg hangs from four winches at the corners of a hall of 8 m by 8 m, and goes where the lengths of
its ropes take it: the built-in scenario ``cable-robot`` (``tautline show cable-robot`` prints it). Four ropes
cannot hold all six freedoms of a body; weight has to do the rest. So where is the platform for given lengths?
"""

import matplotlib.pyplot as plt
import numpy as np
import xarray as xr
from numpy.typing import NDArray
from scipy.optimize import least_squares
from scipy.spatial.transform import Rotation

import tautline as tl

Array = NDArray[np.float64]
case = tl.load("cable-robot")
robot = case.system
names = list(robot.lines)
winches = np.array([line.start_point for line in robot.lines.values()])
eyes = np.array([line.end_point for line in robot.lines.values()])  # on the platform, from its center of mass
platform = robot.bodies["platform"]
assert isinstance(platform, tl.RigidBody)
rope = robot.lines[names[0]].string  # all four are alike
WEIGHT = platform.mass * 9.81

# %%
# In the middle all ropes are alike. By hand: each carries a quarter of the weight, V, at the platform,
# and its own weight w beside it at the winch. Moments about the winch give the horizontal pull,
# H = (V + w/2) d/h, with d and h the distances of its ends across and down.

still = tl.statics(robot, case.start)
depth = still.body.position[2]
across, down = 3.5 * np.sqrt(2.0), depth - 0.2
V, w = 0.25 * WEIGHT, 9.81 * rope.density * still.lines[names[0]].deployed
H = (V + 0.5 * w) * across / down
for place, found, wanted in (
    ("platform", np.array([line.end_tension for line in still.lines.values()]), np.hypot(H, V)),
    ("winches", np.array([line.start_tension for line in still.lines.values()]), np.hypot(H, V + w)),
):
    print(f"at rest, {depth:.2f} m down: {found.round(2)} N at the {place}, by hand {wanted:.2f} N")
    assert np.abs(found / wanted - 1.0).max() < 1e-3

# %%
# Elsewhere. By hand: the forces and moments of four springs without weight, and of the platform with half
# of the ropes, add up to zero; a computer solves the six equations for place and attitude. The scenario
# takes two ropes to 4.75 m and the others to 6.24 m.


def pose(lengths: Array, guess: Array) -> Array:
    """Place of the platform (m) and its rotation vector (rad)."""
    weight = WEIGHT + 0.5 * 9.81 * rope.density * lengths.sum()

    def unbalanced(x: Array) -> Array:
        arms = Rotation.from_rotvec(x[3:]).apply(eyes)
        ropes = winches - x[:3] - arms
        size = np.linalg.norm(ropes, axis=1)
        pulls = (rope.stiffness * np.maximum(size / lengths - 1.0, 0.0) / size)[:, None] * ropes
        force = pulls.sum(axis=0) + np.array([0.0, 0.0, weight])
        return np.concatenate([force, np.cross(arms, pulls).sum(axis=0)])

    found = least_squares(unbalanced, guess, xtol=1e-14, ftol=1e-14, gtol=1e-14)
    assert np.abs(found.fun).max() < 1e-6, found.message  # N, N m
    return np.asarray(found.x)


def poses(run: xr.Dataset) -> Array:
    """Poses of a run, at all times."""
    turned = Rotation.from_matrix(run.attitude.sel(body="platform").values).as_rotvec()
    return np.hstack([run.body_position.sel(body="platform").values, turned])


run = tl.simulate(case)
print(run.attrs["message"])
lengths = run.unstretched_length.values[-1]
wanted = pose(lengths, np.array([1.0, 0.0, 2.5, 0.0, 0.0, 0.0]))
settled = poses(run.sel(time=slice(6.0, 10.0))).mean(axis=0)  # it swings on a little
print(
    f"scenario, at last: {settled[:3].round(3)} m, tilted by {np.degrees(settled[4]):.2f} degrees; "
    f"by hand {wanted[:3].round(3)} m, {np.degrees(wanted[4]):.2f} degrees"
)
assert np.abs(settled - wanted)[:3].max() < 2e-3
assert np.abs(settled - wanted)[3:].max() < 5e-3

# %%
# Now around a circle of 1.2 m, 3 m below the winches, in 16 s. The lengths are those of a level platform
# on that circle. With them, is the platform level, and is it there?


def geometric(center: Array) -> Array:
    """Distances from the winches to the eyes of a level platform (m)."""
    return np.asarray(np.linalg.norm(winches - center - eyes, axis=1))


times = np.linspace(0.0, 20.0, 201)
x = np.clip((times - 1.0) / 16.0, 0.0, 1.0)
angle = 2.0 * np.pi * x**3 * (10 - 15 * x + 6 * x**2)
path = np.stack([1.2 * np.cos(angle), 1.2 * np.sin(angle), np.full(times.size, 3.0)], axis=1)
table = np.array([geometric(center) for center in path])
guess = np.concatenate([path[0], np.zeros(3)])
expected = np.array([guess := pose(row, guess) for row in table])
near = tl.BodyState(tuple(expected[0, :3]), attitude=Rotation.from_rotvec(expected[0, 3:]).as_matrix())
start = tl.Placed({"platform": near}, dict(zip(names, table[0], strict=True)), settle=True)
commands = {name: tl.Length((times, column)) for name, column in zip(names, table.T, strict=True)}
circle = tl.simulate(robot, start, commands, duration=20.0, sample=0.1)
print(circle.attrs["message"])
moved = poses(circle)
tilt, tilt_by_hand = (np.degrees(np.linalg.norm(x[:, 3:5], axis=1)) for x in (moved, expected))
print(
    f"the platform tilts by up to {tilt.max():.1f} degrees, by hand {tilt_by_hand.max():.1f}, and is up to "
    f"{1e3 * np.linalg.norm(expected[:, :3] - path, axis=1).max():.0f} mm off the path of a level one; "
    f"the run is within {1e3 * np.linalg.norm((moved - expected)[:, :3], axis=1).max():.0f} mm of where it is by hand"
)
# it swings about the moving balance: the starts and stops of the path are not infinitely slow
assert np.linalg.norm((moved - expected)[:, :3], axis=1).max() < 0.01
assert np.abs(moved - expected)[:, 3:].max() < 0.03
assert tilt_by_hand.max() > 10.0

figure, (left, right) = plt.subplots(1, 2, figsize=(8, 4), layout="constrained")
outline = np.array([[0.5, 0.5], [-0.5, 0.5], [-0.5, -0.5], [0.5, -0.5], [0.5, 0.5]])
left.plot(*winches[:, :2].T, "ks", markersize=7)
for k, shade in ((0, "0.45"), (int(np.argmin(np.abs(angle - 0.75 * np.pi))), "0.75")):
    for name in names:
        nodes = circle.position.isel(time=k).sel(node=circle.node_line == name)
        left.plot(nodes.sel(axis="x"), nodes.sel(axis="y"), shade, linewidth=1)
    left.plot(*(moved[k, :2, None] + outline.T), color=shade)
left.plot(*path[:, :2].T, "C0", linewidth=1, label="of a level platform")
left.plot(*expected[:, :2].T, "k:", label="by hand")
left.plot(*moved[:, :2].T, "C3", linewidth=1, label="run")
left.set(xlabel="x (m)", ylabel="y (m)", aspect="equal", xlim=(-4.4, 4.4), ylim=(-4.4, 5.4), title="from above")
left.legend(loc="upper center", fontsize=8, ncols=3, bbox_to_anchor=(0.5, 1.0), columnspacing=1.0, handlelength=1.2)
for name in names:
    right.plot(circle.time, circle.start_tension.sel(line=name), linewidth=1, label=name)
right.set(xlabel="time (s)", ylabel="tension at the winch (N)", ylim=(0, None))
right.legend(fontsize=8, loc="lower right")
tl.figures.save(figure, "cable-robot", ["png"])

figure, axis = plt.subplots(figsize=(6.4, 3), layout="constrained")
axis.plot(circle.time, tilt, "C3", label="run")
axis.plot(times, tilt_by_hand, "k:", label="by hand")
axis.set(xlabel="time (s)", ylabel="tilt (degrees)", ylim=(0, None))
axis.legend()
tl.figures.save(figure, "cable-robot-tilt", ["png"])

# %%
# A platform on four ropes leans when it is out of the middle, and a plan that ignores this misses by
# centimeters. Robots that must not lean have six ropes or more: further lines in the same file.
