"""
A crane, from a scenario file
=============================

The built-in scenario ``crane-hoist``: a crate of one tonne on a steel rope of 16 mm. The motor's
torque rises, stays, and falls. ``tautline show crane-hoist`` prints the file, ``tautline new my-crane.toml --like
crane-hoist`` makes your own copy. Here Python runs it with one value changed.
"""

import matplotlib.pyplot as plt
import numpy as np

import tautline as tl

# %%
# By hand: torque over drum radius less the weights of crate and rope outside the drum accelerates crate,
# rope and drum as one. Rope comes in stretched, so for each meter of it the load rises by a little more
# than a meter: the weight counts with one plus the strain. In 8 s that thousandth makes a quarter of a
# meter.


def by_hand(case: tl.Case, pieces: int = 8000) -> float:
    """Way of the crate (m)."""
    line, load, command = case.system.lines["line"], case.system.bodies["body"], case.commands["line"]
    string, reel = line.string, line.reel
    assert reel is not None and isinstance(load, tl.RigidBody) and isinstance(command, tl.Torque)
    times, torques = command.torques()
    step = case.run.duration / pieces
    moving = load.mass + string.density * string.length + reel.inertia_mass
    way, speed = 0.0, 0.0
    for k in range(pieces):
        outside = string.length - case.state().lines["line"].reeled_length - way + reel.guide_length
        pull = np.interp((k + 0.5) * step, times, torques) / reel.drum_radius
        weight = (load.mass + string.density * outside) * 9.81
        speed += step * (pull - weight * (1.0 + weight / string.stiffness)) / moving
        way += step * speed
    return way


figure, axes = plt.subplots(3, 1, figsize=(6.4, 6), sharex=True, layout="constrained")
for mass in ("1000 kg", "1020 kg"):
    case = tl.load("crane-hoist", {"body.mass": mass})
    run = tl.simulate(case)
    length = run.unstretched_length.sel(line="line")
    lifted = length[0] - length
    axes[0].plot(run.time, lifted, label=mass)
    axes[1].plot(run.time, run.reel_speed)
    axes[2].plot(run.time, run.tension.isel(element=-1) / 1e3)
    print(f"{mass}: lifted {float(lifted[-1]):.2f} m, highest tension {float(run.tension.max()) / 1e3:.2f} kN")
    expected = by_hand(case)
    print(f"    by hand: {expected:.2f} m")
    assert abs(float(lifted[-1]) / expected - 1.0) < 0.01
axes[0].set_ylabel("lifted (m)")
axes[0].legend()
axes[1].set_ylabel("speed (m/s)")
axes[2].set(ylabel="tension at\nthe crate (kN)", xlabel="time (s)")
tl.figures.save(figure, "crane-hoist", ["png"])

# %%
# With two percent more load, the same torques lift it much less: a fixed torque is a poor way to drive a
# crane. The tension oscillates with the load on 20 m of rope. A controller is the subject of
# :doc:`/generated/tutorial/step_5_control`.
