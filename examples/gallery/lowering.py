"""
A package lowered to 300 m
==========================

A ship that heaves by 2 m every 8 s lowers a package of 1.5 t with large plates to 300 m. When the sheave goes down
faster than the package sinks, the rope goes slack; when it comes up again, the rope snaps taut. Does the rope hold?
"""

import matplotlib.pyplot as plt
import numpy as np

import tautline as tl

water, mass, volume, added = 1025.0, 1500.0, 0.9, 1500.0
rope = tl.String(
    "320 m", "0.98 kg/m", "8.5 MN", damping_ratio=0.1, diameter="16 mm", normal_added_mass=1.0, breaking_load="160 kN"
)
sea = tl.Fluid(water, drag_area=4.0, volume=volume, added_mass=added)
ship = tl.pendulum(
    rope,
    tl.Reel("0.4 m", "2 m", inertia="60 kg*m^2"),
    tl.RigidBody.point(mass),
    guide=tl.motions.Sine("2 m", "8 s", ramp="16 s"),
    fluid=sea,
    elements=20,
)
winch = tl.Length.to("300 m", speed="1 m/s", acceleration="0.2 m/s^2", start="20 s")
run = tl.simulate(ship, tl.AtEquilibrium("15 m"), winch, duration="360 s", sample="20 ms")
use, slack = tl.analysis.utilization(run), tl.analysis.slack_events(run)
print(f"{run.attrs['message']}; {100 * use.utilization:.1f} % of the breaking load, at {use.time:.1f} s")
often = int((slack.duration > 0.5).sum())
print(f"{often} times slack for half a second or more, {slack.attrs['slack_time']:.0f} s in all")

# %%
# By hand, the hardest snap: a mass m, including its added mass, meets its spring :math:`k=EA/X` with the speed v at
# which the ends separate, which gives :math:`v\sqrt{km}`; the weight is added.

line = run.sel(line="line", body="body")
times, deployed = line.time.values, line.unstretched_length.values
apart = (line.position.isel(node=-1) - line.position.isel(node=0)).values
speed = np.gradient(np.linalg.norm(apart, axis=1) - deployed, times)
peak = int(np.argmax(line.end_tension.values))
taut = peak - int(np.argmax(line.end_tension.values[:peak][::-1] < 1.0))  # the first sample with tension
k, m = rope.stiffness / deployed[taut], mass + added + rope.density * deployed[taut] / 3.0
snap, weight = speed[taut - 1] * np.sqrt(k * m), 9.81 * (mass - water * volume)
found = float(line.end_tension[peak])
print(f"snap with {speed[taut - 1]:.2f} m/s: {found / 1e3:.1f} kN; by hand {snap / 1e3:.1f} + {weight / 1e3:.1f} kN")

assert abs(found / (snap + weight) - 1.0) < 0.05
assert abs(use.utilization - float(line.start_tension.max()) / 160e3) < 0.02

# %%
# At 300 m, in calm water: the sheave carries the weight of package and rope less that of the water they displace.

calm = tl.pendulum(rope, tl.Reel("0.4 m", "2 m", 1.0), tl.RigidBody.point(mass), fluid=sea, elements=20)
held = tl.statics(calm, tl.AtEquilibrium("300 m")).line.start_tension
by_hand = weight + 300.0 * 9.81 * (rope.density - water * 0.25 * np.pi * rope.diameter**2)
print(f"{held:.1f} N hold it at 300 m, by hand {by_hand:.1f} N")
assert abs(held / by_hand - 1.0) < 1e-3  # the water is displaced by the rope as it is stretched

# %%
# The rope holds, with slack in nearly every wave; a winch that compensates heave (:class:`tautline.Length` with a
# motion) would avoid the slack. The snaps soften on the way down, as the spring gets longer.

figure, axes = plt.subplots(2, 1, figsize=(7, 5), sharex=True, layout="constrained")
axes[0].plot(run.time, line.position.isel(node=-1).sel(axis="z"))
axes[0].set_ylabel("depth (m)")
axes[0].invert_yaxis()
axes[1].plot(run.time, line.end_tension / 1e3, linewidth=0.7)
axes[1].set(ylabel="tension at the package (kN)", xlabel="time (s)")
tl.figures.save(figure, "lowering", ["png"])
