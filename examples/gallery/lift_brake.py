"""
A lift whose motor fails
========================

A cabin of one tonne goes down at 1 m/s; when 16 m of rope are out the motor fails, and a brake of 4.5 kN m stops the
drum: the built-in scenario ``lift-brake``, a sequence of commands. How long does that take, what does
the rope carry, and how does the cabin bounce?
"""

import json

import matplotlib.pyplot as plt
import numpy as np
from scipy.optimize import brentq

import tautline as tl

case = tl.load("lift-brake", {"run.sample": "1 ms"})
line, cabin, brake = case.system.lines["line"], case.system.bodies["body"], 4500.0
rope, reel = line.string, line.reel
assert reel is not None and isinstance(cabin, tl.RigidBody)
run = tl.simulate(case)
begun = {stage: time for time, _, stage in json.loads(run.attrs["stages"])}
at_rest = run.reel_speed.sel(line="line") == 0.0
stopped = float(run.time[at_rest & (run.time > begun["brake"])][0])
print(f"the cabin goes down at {begun['lower']:.2f} s, the brake falls at {begun['brake']:.3f} s")
assert run.attrs["status"] == "completed"

# %%
# By hand, when the brake is applied: the transition of one second to the speed of 1 m/s costs half a second.

deployed = float(run.unstretched_length.sel(time=begun["brake"], method="nearest")[0])
print(f"{deployed:.3f} m are out; by hand the brake falls at {begun['lower'] + 0.5 + 4.0:.3f} s")
assert abs(deployed - 16.0) < 1e-6 and abs(begun["brake"] - (begun["lower"] + 4.5)) < 1e-6

# %%
# By hand, the stop: the cabin m on the spring of its rope, :math:`k=EA/X`, and the drum M with all that turns and the
# rope on it. Brake force less weight, F, slows both down by :math:`a=F/(m+M)`, and the tension swings by :math:`m a
# (1-\cos\nu t)` with :math:`\nu^2=k\,(1/m+1/M)`, so that the drum has the speed :math:`v-a t-m a\sin(\nu t)/(M\nu)`.

rope_mass = rope.density * deployed
m, drum = cabin.mass + rope_mass / 3.0, reel.turning_mass + rope.density * rope.length - rope_mass / 3.0
weight, k = (cabin.mass + rope_mass) * 9.81, rope.stiffness / deployed
a, nu = (brake / reel.drum_radius - weight) / (m + drum), np.sqrt(k * (1.0 / m + 1.0 / drum))
by_hand = brentq(lambda t: 1.0 - a * t - m * a * np.sin(nu * t) / (drum * nu), 0.0, 1.0)
print(f"stops within {stopped - begun['brake']:.3f} s, by hand {by_hand:.3f} s")
assert abs((stopped - begun["brake"]) / by_hand - 1.0) < 0.02

# %%
# The peak of the tension is that of the swing while the drum turns, once the brake acts.

slowing = run.sel(time=slice(begun["brake"], stopped), line="line")
peak = weight + 2.0 * (cabin.mass + rope_mass) * a
found = float(slowing.start_tension.max())
print(f"largest tension {found:.0f} N, by hand {peak:.0f} N; acceleration of the cabin at most {2.0 * a:.2f} m/s²")
assert abs(found / peak - 1.0) < 0.02

# %%
# Then the cabin bounces on a drum that holds, with :math:`\sqrt{k/m}`.

still = tl.statics(case.system, tl.Hanging(float(run.unstretched_length[-1, 0])))
mode = tl.modes(case.system, still, count=12)
lowest = float(mode.frequency.values[mode.kind.values == "longitudinal"][0])
bounce = np.sqrt(rope.stiffness / still.line.deployed / m) / (2.0 * np.pi)
after = run.sel(time=slice(stopped + 0.02, None), line="line")
swing = (after.end_tension - after.end_tension.mean()).values
rising = np.flatnonzero((swing[:-1] < 0.0) & (swing[1:] >= 0.0))
crossings = after.time.values[rising] - swing[rising] * 0.001 / (swing[rising + 1] - swing[rising])
seen = 1.0 / float(np.diff(crossings).mean())
print(f"bounces with {seen:.3f} Hz, mode {lowest:.3f} Hz, by hand {bounce:.3f} Hz")
assert abs(seen / bounce - 1.0) < 0.01 and abs(lowest / bounce - 1.0) < 2e-3

figure, axes = plt.subplots(2, 1, figsize=(7, 4.5), sharex=True, layout="constrained")
axes[0].plot(run.time, -run.reel_speed, label="drum")
axes[0].plot(run.time, run.body_velocity.sel(body="body", axis="z"), label="cabin")
axes[0].set_ylabel("downwards (m/s)")
axes[0].legend()
axes[1].plot(run.time, run.start_tension / 1e3)
axes[1].axhline(peak / 1e3, color="k", linestyle=":")
axes[1].set(ylabel="tension (kN)", xlabel="time (s)")
tl.figures.save(figure, "lift-brake", ["png"])
