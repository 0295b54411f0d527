"""
A trolley that carries only sheaves
===================================

On gantries and tower cranes the winch stands still. Its rope runs along the girder over sheaves on the trolley, down
to the hook block, up again, and on to the far end of the girder. When the trolley moves, rope passes its sheaves: what
one side gives, the other takes, and the load keeps its height though no drum turns. The built-in scenario ``gantry``
moves a trolley with 5 t by 6 m.
"""

import matplotlib.pyplot as plt
import numpy as np

import tautline as tl

GRAVITY = 9.81
case = tl.load("gantry")
block = case.system.bodies["block"]
assert isinstance(block, tl.RigidBody)
run = tl.simulate(case)
assert run.attrs["status"] == "completed"

# %%
# By hand: the rope has one length, so the sheave on the left lets 6 m pass to the winch's side, the one on the right
# gives as much of what was there, and so does the one at the block.

travel = float(run.body_position.sel(body="trolley", axis="x")[-1] - run.body_position.sel(body="trolley", axis="x")[0])
passed = {str(name): float(x) for name, x in zip(run.sheave.values, run.passed[-1] - run.passed[0], strict=True)}
print(f"the trolley goes {travel:.2f} m; passed towards the winch: { {k: round(v, 2) for k, v in passed.items()} } m")
assert all(abs(x - travel) < 0.1 for x in passed.values())

# %%
# The load swings below the trolley like a pendulum whose length is the distance to its center of mass. Its height
# changes only by the swing and the stretch of the rope, and not by the 6 m.

length = float(run.body_position.sel(body="block", axis="z")[0])
height = run.body_position.sel(body="block", axis="z")
sway = run.body_position.sel(body="block", axis="x") - run.body_position.sel(body="trolley", axis="x")
lifted = length - np.sqrt(length**2 - sway**2)
print(f"sway {float(abs(sway).max()):.2f} m at most; height within {1e3 * float(abs(height - length).max()):.0f} mm")
assert float(abs(height - (length - lifted)).max()) < 0.05

# %%
# Friction of the sheaves brakes the trolley: with an efficiency of 98 % each, tension falls along the rope from the
# winch to the far end. The drive of the trolley has to make up for the difference between the two horizontal spans.

moving = (run.time > 4.2) & (run.time < 7.8)
first = float(run.span_start_tension.sel(span="hoist.0")[moving].mean())
last = float(run.span_end_tension.sel(span="hoist.3")[moving].mean())
print(f"{first / 1e3:.2f} kN in the span to the winch, {last / 1e3:.2f} kN in the last")
print(f"one over the other {last / first:.4f}, by hand {0.98**3:.4f}")
assert abs(last / first - 0.98**3) < 0.01

figure, axes = plt.subplots(3, 1, figsize=(7, 6.5), sharex=True, layout="constrained")
axes[0].plot(run.time, run.body_position.sel(body="trolley", axis="x"), "0.5", label="trolley")
axes[0].plot(run.time, run.body_position.sel(body="block", axis="x"), "C3", label="load")
axes[0].set_ylabel("along the girder (m)")
axes[0].legend()
axes[1].plot(run.time, height, "C3")
axes[1].set_ylabel("load, z down (m)")
axes[1].invert_yaxis()
for k in range(4):
    axes[2].plot(run.time, run.span_start_tension.sel(span=f"hoist.{k}") / 1e3, linewidth=0.8, label=f"span {k}")
axes[2].set(ylabel="tension (kN)", xlabel="time (s)")
axes[2].legend(ncols=4)
tl.figures.save(figure, "gantry", ["png"])
