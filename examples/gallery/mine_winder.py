"""
A winder with two cages
=======================

In a mine shaft one drum shaft carries two ropes, spooled in opposite senses: a full cage comes up while the empty
one goes down, and the motor lifts only the difference. The ropes weigh as much as a third of the load, and their
weight moves from one side to the other on the way. The built-in scenario ``mine-winder`` hoists 9 t by 300 m.
"""

import matplotlib.pyplot as plt
import numpy as np

import tautline as tl

GRAVITY = 9.81
case = tl.load("mine-winder")
system = case.system
full, empty = system.bodies["full"], system.bodies["empty"]
assert isinstance(full, tl.RigidBody) and isinstance(empty, tl.RigidBody)
left, right = system.lines["left"], system.lines["right"]
assert left.reel is not None
radius, mu = left.reel.drum_radius, left.string.density
run = tl.simulate(case)
assert run.attrs["status"] == "completed"

# %%
# By hand, with ropes that do not stretch: torque over radius is the weight of one side less that of the other, and the
# acceleration times all that moves: cages, ropes (those on the drum too), and the drum.

out = run.unstretched_length
speed = run.reel_speed.sel(line="left")
acceleration = np.gradient(speed, run.time)
weights = (full.mass - empty.mass) + mu * (out.sel(line="left") - out.sel(line="right"))
moving = full.mass + empty.mass + mu * (left.string.length + right.string.length) + left.reel.inertia_mass
by_hand = radius * (GRAVITY * weights + moving * acceleration)
torque = run.torque.sel(line="left")
even = (run.time > 16.0) & (run.time < 30.0)
miss = float(abs(torque - by_hand)[even].max() / by_hand[even].max())
print(f"at full speed within {100.0 * miss:.1f} % of the torque by hand")
assert miss < 0.05  # the cages bounce a little on hundreds of meters of rope
assert abs(float((torque - by_hand)[even].mean())) < 0.01 * float(by_hand[even].max())

# %%
# The cages: one rises as much as the other sinks, because the drums have the same radius. The torque falls by
# :math:`2 \mu g r v` each second, and changes its sign near the top: there the motor brakes.

risen = float(run.body_position.sel(body="full", axis="z")[0] - run.body_position.sel(body="full", axis="z")[-1])
sunk = float(run.body_position.sel(body="empty", axis="z")[-1] - run.body_position.sel(body="empty", axis="z")[0])
slope = float(np.polyfit(run.time[even], torque[even], 1)[0])
steady = -2.0 * mu * GRAVITY * radius * 10.0
print(f"up {risen:.2f} m, down {sunk:.2f} m; torque changes by {slope:.0f} N m/s, by hand {steady:.0f} N m/s")
assert abs(risen - sunk) < 1.5 and abs(risen - 300.0) < 1.5
assert abs(slope / steady - 1.0) < 0.02

figure, axes = plt.subplots(3, 1, figsize=(7, 6.5), sharex=True, layout="constrained")
for name in ("full", "empty"):
    axes[0].plot(run.time, run.body_position.sel(body=name, axis="z"), label=name)
axes[0].set_ylabel("z, down (m)")
axes[0].invert_yaxis()
axes[0].legend()
for name in ("left", "right"):
    axes[1].plot(run.time, run.start_tension.sel(line=name) / 1e3, linewidth=0.8, label=name)
axes[1].set_ylabel("tension at the drum (kN)")
axes[1].legend()
axes[2].plot(run.time, torque / 1e3, linewidth=0.8, label="motor")
axes[2].plot(run.time, by_hand / 1e3, "k:", label="by hand")
axes[2].set(ylabel="torque (kN m)", xlabel="time (s)")
axes[2].legend()
tl.figures.save(figure, "mine-winder", ["png"])
