"""
What friction takes in a tackle
===============================

Half a tonne hangs on six falls: without friction a sixth of the weight would hold it. At every sheave the tension is
multiplied by its efficiency, so six falls at 96 % act like five. In lowering, the same friction helps whoever holds the
rope. The built-in scenario ``tackle`` hoists by a meter, and lowers again.
"""

import matplotlib.pyplot as plt
import numpy as np

import tautline as tl

GRAVITY = 9.81
case = tl.load("tackle")
block = case.system.bodies["block"]
assert isinstance(block, tl.RigidBody)
weight = GRAVITY * block.mass


def pull(falls: int, efficiency: float) -> float:
    """Pull over load, on the way up; the way down has the reciprocal of the efficiency."""
    return (1.0 - efficiency) / (1.0 - efficiency**falls)


run = tl.simulate(case)
assert run.attrs["status"] == "completed"
up = (run.time > 2.0) & (run.time < 5.0)
down = (run.time > 8.0) & (run.time < 11.0)
measured = {"up": run.start_tension[up, 0], "down": run.start_tension[down, 0]}
by_hand = {"up": weight * pull(6, 0.96), "down": weight * pull(6, 1.0 / 0.96)}
for way, x in measured.items():
    print(f"{way}: {float(x.mean()):.1f} N, by hand {by_hand[way]:.1f} N; the weight over six is {weight / 6.0:.1f} N")
    assert abs(float(x.mean()) / by_hand[way] - 1.0) < 0.01  # the rope itself weighs 0.3 % of the load

# %%
# Where the loss goes: each span has the tension of the one before times the efficiency of the sheave between, and
# the sheaves near the winch, over which most rope passes, take most.

spans = run.span_start_tension[up].mean("time")
ratios = spans[1:].values / spans[:-1].values
print("tension of each span over the one before:", ratios.round(4))
assert np.abs(ratios - 0.96).max() < 0.01
losses = run.sheave_loss[-1]
print("lost (J):", {str(name): round(float(x)) for name, x in zip(run.sheave.values, losses, strict=True)})
assert abs(float(losses.sum() / run.friction_loss[-1]) - 1.0) < 1e-9
assert bool((np.diff(losses) < 0.0).all())

figure, (left, right) = plt.subplots(1, 2, figsize=(8, 3.5), layout="constrained")
left.plot(run.time, run.start_tension[:, 0], linewidth=0.8, label="pull at the winch")
for way, where in (("up", up), ("down", down)):
    left.plot(run.time[where], np.full(int(where.sum()), by_hand[way]), "k:")
left.axhline(weight / 6.0, color="0.7", linewidth=0.8)
left.set(xlabel="time (s)", ylabel="pull (N)")
falls = np.arange(1, 9)
for efficiency in (1.0 - 1e-9, 0.98, 0.96, 0.94):
    right.plot(falls, [1.0 / pull(int(n), efficiency) for n in falls], marker="o", label=f"{100 * efficiency:.0f} %")
right.plot(6, weight / float(measured["up"].mean()), "k*", markersize=12, label="simulated")
right.set(xlabel="falls", ylabel="load over pull, hoisting")
right.legend()
tl.figures.save(figure, "tackle", ["png"])
