"""
A crane without sway
====================

One tonne hangs on 14 m of steel rope. The crane lifts it by 6 m, drives it 8 m aside, and sets it
down 4 m lower. The rope is a 6x36 rope with steel core of 16 mm. EN 12385-4 gives its mass, 0.409 kg/m
times d² in cm², and its metallic area, 0.460 d² (factors W2 and C2, also in K. Feyrer,
*Wire Ropes*, table 1.9). The modulus of the rope, 83 GPa, is that of *Shigley's Mechanical Engineering
Design*. Its internal damping is a cautious guess: a quarter of a percent of critical for the bounce of the load.
Drum, motor and speeds are those of a small workshop crane.
"""

from typing import Any

import matplotlib.pyplot as plt
import numpy as np
import xarray as xr

import tautline as tl

diameter = 0.016
rope = tl.String(
    length=60.0, density=0.409 * (100 * diameter) ** 2, stiffness=0.460 * diameter**2 * 83e9, viscosity=2e3
)
reel = tl.Reel(drum_radius=0.16, guide_length=1.0, inertia_mass=12.0 / 0.16**2)
load = tl.RigidBody.box(mass=1000.0, sides=(1.2, 1.0, 0.9), center_of_mass=(0.0, 0.0, 1.4))
# the rope is straight, with a hundredth of the load's mass: few elements do
still = tl.pendulum(rope, reel, load, elements=2)
print(f"rope: {rope.density:.2f} kg/m, EA = {rope.stiffness / 1e6:.1f} MN")

# %%
# The hoist has a plan for its length, with smooth starts and stops.

lift, lower = 6.0, 4.0  # m
LIFTED, LOWERING, DOWN = 6.0, 24.0, 30.0  # s


def smooth(x: float) -> tuple[float, float]:
    """From 0 to 1, and the rate."""
    x = min(max(x, 0.0), 1.0)
    return x**3 * (10 - 15 * x + 6 * x**2), 30 * x**2 * (1 - x) ** 2


def plan(t: float) -> tuple[float, float]:
    """Length of rope (m) and its rate (m/s)."""
    up, up_rate = smooth(t / LIFTED)
    down, down_rate = smooth((t - LOWERING) / (DOWN - LOWERING))
    return 14.0 - lift * up + lower * down, -lift * up_rate / LIFTED + lower * down_rate / (DOWN - LOWERING)


# %%
# Two drivers. The first drives the trolley at 0.8 m/s and 0.4 m/s², and its hoist holds the planned
# length as stiffly as it can. The second has the same limits, but its trolley takes a path that is
# shaped for the swing on 8 m of rope, and its hoist absorbs waves of the rope.


def stiff_hoist(sim: tl.Simulation) -> float:
    length, rate = plan(sim.time)
    weight = (load.mass + rope.density * sim.line.deployed) * 9.81
    return 0.16 * (weight + 4e5 * (sim.line.deployed - length) - 2e4 * (sim.line.speed + rate))


plain, shaped = (
    tl.control.shaped_path(still, 8.0, 8.0, speed=0.8, acceleration=0.4, shaper=shaper, start=LIFTED)
    for shaper in ("none", "ZVD")
)
absorber = tl.control.WaveAbsorber(still, plan, return_time=0.3, apparent_mass=60.0)
drivers: dict[str, tuple[tl.motions.GuidePath, Any]] = {"hasty": (plain, stiff_hoist), "smooth": (shaped, absorber)}

runs: dict[str, xr.Dataset] = {}
for name, (path, hoist) in drivers.items():
    crane = tl.pendulum(rope, reel, load, guide=path, elements=2)
    runs[name] = tl.simulate(crane, tl.Hanging(14.0), duration=34.0, control=hoist, period=0.005)

# %%
# Sway is the horizontal distance of the center of mass from the trolley.
#
# By hand: the load is 2 m higher in the end, with two more meters of rope on the drum. A trolley that
# accelerates with a for 2 s and brakes likewise 10 s later leaves a pendulum of length r swinging by 4
# r (a/g) times the size of sin(w) sin(5 w), w being the pendulum's angular frequency times 1 s.

lifted = (load.mass * (lift - lower) + 0.5 * rope.density * (14.0**2 - 12.0**2)) * 9.81
r = 8.0 + 1.4
w = np.sqrt(9.81 / r)
swing = 4.0 * r * 0.4 / 9.81 * abs(np.sin(w) * np.sin(5.0 * w))
print(f"by hand: work of the hoist {lifted / 1e3:.1f} kJ; the hasty driver leaves a swing of {swing:.2f} m")

figure, axes = plt.subplots(4, 1, figsize=(7, 8), sharex=True, layout="constrained")
for name, run in runs.items():
    path = drivers[name][0]
    trolley = path.at(run.time.values)[0][:, 0]
    sway = run.body_position.sel(body="body", axis="x").values - trolley
    axes[0].plot(run.time, trolley, label=name)
    axes[1].plot(run.time, run.unstretched_length)
    axes[2].plot(run.time, sway)
    axes[3].plot(run.time, run.tension.isel(element=-1) / 1e3, linewidth=0.8)
    stopped = run.time.values > path.times[-1]
    left = np.abs(sway[stopped & (run.time.values < path.times[-1] + 5.0)]).max()
    down = run.time.values > DOWN + 3.0
    work = float(run.motor_work.sel(line="line")[-1])
    tension = run.tension.isel(element=-1).values[down]
    print(
        f"{name:>6}: trolley there at {path.times[-1]:.1f} s; sway at most {np.abs(sway).max():.3f} m, "
        f"after the stop {1e3 * left:.1f} mm; tension trembles by {np.ptp(tension):.0f} N "
        f"at the end; work of the hoist {work / 1e3:.1f} kJ"
    )
    assert abs(work / lifted - 1.0) < 0.02
    assert abs(left - {"hasty": swing, "smooth": 0.0}[name]) < 0.05 * swing
axes[0].set_ylabel("trolley (m)")
axes[0].legend()
axes[1].set_ylabel("rope (m)")
axes[2].set_ylabel("sway (m)")
axes[3].set(ylabel="tension at\nthe load (kN)", xlabel="time (s)")
tl.figures.save(figure, "crane", ["png"])

figure, axes = plt.subplots(1, 2, figsize=(8, 4), sharey=True, layout="constrained")
for axis, (name, run) in zip(axes, runs.items(), strict=True):
    center = run.body_position.sel(body="body").values
    axis.plot(center[:, 0], center[:, 2], "C3", linewidth=1)
    for t in (0, 3, 6, 9, 12, 16, 20, 24, 28, 32):
        nodes = run.position.sel(time=t, method="nearest")
        axis.plot(nodes.sel(axis="x"), nodes.sel(axis="z"), "0.6", linewidth=1)
    axis.set(title=name, xlabel="x (m)", aspect="equal")
axes[0].set_ylabel("z, down (m)")
axes[0].invert_yaxis()
tl.figures.save(figure, "crane-way", ["png"])

# %%
# The shaped path takes one period of the swing longer, and in the end that saves time: there is no wait
# for the load to come to rest. Left out are the flexibility of the crane, which is softer than its
# rope, friction, and wind.
