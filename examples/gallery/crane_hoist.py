"""
A crane, from a scenario file
=============================

The built-in scenario ``crane-hoist``: a crate of one tonne on a steel rope of 16 mm. The motor's
moment rises, stays, and falls. ``tautline show crane-hoist`` prints the file, ``tautline new
my-crane.toml --like crane-hoist`` makes one of your own. Here it is run from Python, with one value
changed.
"""

import matplotlib.pyplot as plt

import tautline as tl
from tautline import scenario

figure, axes = plt.subplots(3, 1, figsize=(6.4, 6), sharex=True, layout="constrained")
for mass in ("1000 kg", "1020 kg"):
    case = scenario.load("crane-hoist", {"body.mass": mass}).build()
    run = tl.simulate(case.pendulum, case.state, case.command, **case.options)
    lifted = run.unstretched_length[0] - run.unstretched_length
    axes[0].plot(run.time, lifted, label=mass)
    axes[1].plot(run.time, run.reel_speed)
    axes[2].plot(run.time, run.tension.isel(element=-1) / 1e3)
    print(f"{mass}: lifted {float(lifted[-1]):.2f} m, highest tension {float(run.tension.max()) / 1e3:.2f} kN")
axes[0].set_ylabel("lifted (m)")
axes[0].legend()
axes[1].set_ylabel("speed (m/s)")
axes[2].set(ylabel="tension at\nthe crate (kN)", xlabel="time (s)")
tl.figures.save(figure, "crane-hoist", ["png"])

# %%
# Two per cent more load, and the same moments lift it much less: a given torque is a poor way to
# drive a crane. The tension trembles with the spring of 20 m of rope. A controller is the subject
# of :doc:`/generated/tutorial/step_5_control`.
