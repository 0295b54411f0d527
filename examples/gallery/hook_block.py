"""
A hook block on two and on four falls
=====================================

Cranes carry heavy loads on several falls: the rope runs back and forth between boom and hook block, each fall takes its
share, and the winch hauls in that many times the rope. Bearings of the sheaves and the stiffness of the rope cost a few
percent at each sheave, expressed as an efficiency. Built-in scenarios: ``hook-block-2`` and ``hook-block-4``.
"""

import matplotlib.pyplot as plt

import tautline as tl

GRAVITY = 9.81
figure, axes = plt.subplots(2, 2, figsize=(8, 5.5), sharex="col", layout="constrained")
for column, falls in enumerate((2, 4)):
    case = tl.load(f"hook-block-{falls}")
    line, block = case.system.lines["hoist"], case.system.bodies["block"]
    assert isinstance(block, tl.RigidBody)
    efficiency = case.system.wheels("hoist")[0].efficiency

    # %%
    # At rest every fall takes its share of the block and hangs with its own weight. On the way up, each sheave passes
    # on its efficiency: the winch pulls with :math:`W (1 - \eta) / (1 - \eta^n)`. That is for a rope without mass; of
    # the rope's own weight, which hangs from the boom, the winch feels a fall's length beside it.

    rest = tl.statics(case.system, case.start).lines["hoist"]
    height = rest.span_lengths[0]
    own = GRAVITY * line.string.density * height
    share = GRAVITY * block.mass / falls
    print(f"{falls} falls at rest: {rest.start_tension:.0f} N at the winch, by hand {share + own:.0f} N")
    assert abs(rest.start_tension / (share + own) - 1.0) < 2e-3

    run = tl.simulate(case)
    assert run.attrs["status"] == "completed"
    steady = (run.time > 5.0) & (run.time < 8.0)  # the winch runs evenly
    pull = GRAVITY * block.mass * (1.0 - efficiency) / (1.0 - efficiency**falls)
    rope = GRAVITY * line.string.density * run.span_length.sel(span="hoist.0")
    measured = run.start_tension.sel(line="hoist")
    ratio = float((measured[steady] / (pull + rope[steady])).mean())
    print(f"hoisting: {float(measured[steady].mean()):.0f} N at the winch, {ratio:.4f} of what is found by hand")
    assert abs(ratio - 1.0) < 4e-3

    # %%
    # The block rises by the rope that the winch takes in over the number of falls. What the winch gives is the
    # work on the load and the losses, sheave by sheave: those near the winch turn fastest and lose most.

    taken = float(run.reeled_length[-1, 0] - run.reeled_length[0, 0])
    risen = float(run.body_position[0, 0, 2] - run.body_position[-1, 0, 2])
    losses = {str(name): float(x) for name, x in zip(run.sheave.values, run.sheave_loss[-1], strict=True)}
    lifted = float(run.gravity_energy[-1] - run.gravity_energy[0])  # of block and rope
    lost = ", ".join(f"{name} {x:.0f} J" for name, x in losses.items())
    print(f"{taken:.2f} m of rope lift the block by {risen:.3f} m; lost: {lost}")
    assert abs(risen / (taken / falls) - 1.0) < 2e-3
    efficient = lifted / float(run.motor_work[-1, 0])
    by_hand = (1.0 - efficiency**falls) / (falls * (1.0 - efficiency))
    print(f"efficiency of the whole {efficient:.4f}, of the falls by hand {by_hand:.4f}")
    assert abs(efficient / by_hand - 1.0) < 5e-3

    axes[0, column].plot(run.time, run.body_position[:, 0, 2])
    axes[0, column].invert_yaxis()
    axes[0, column].set_title(f"{falls} falls")
    axes[1, column].plot(run.time, measured / 1e3, linewidth=0.8)
    axes[1, column].plot(run.time[steady], (pull + rope[steady]) / 1e3, "k:", label="by hand")
    axes[1, column].set_xlabel("time (s)")
axes[0, 0].set_ylabel("block, z down (m)")
axes[1, 0].set_ylabel("pull at the winch (kN)")
axes[1, 0].legend()
tl.figures.save(figure, "hook-block", ["png"])
