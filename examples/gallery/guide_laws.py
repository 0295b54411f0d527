"""
Energy lost at the guide
========================

Inside the guide way the string cannot stretch, outside it does, so strain and speed jump at the
entrance. The ``guide_law`` says what becomes of the energy in this jump. The paper's second
example, a body that pulls the string from a free drum, with all three laws.
"""

import dataclasses

import matplotlib.pyplot as plt

import tautline as tl
from tautline import scenario
from tautline.analysis.conservation import balance_error

case = scenario.load("deployment").build()

figure, (left, right) = plt.subplots(1, 2, figsize=(8, 3.4), layout="constrained")
for law in ("dissipative", "none", "published"):
    reel = dataclasses.replace(case.pendulum.reel, guide_law=law)
    pendulum = dataclasses.replace(case.pendulum, reel=reel)
    run = tl.simulate(pendulum, case.state, case.command, **case.options)
    left.plot(run.time, run.energy - run.energy[0], label=law)
    right.plot(run.time, run.unstretched_length)
    error = float(abs(balance_error(run)).max())
    print(f"{law:>11}: energy {float(run.energy[-1] - run.energy[0]):+.3f} J, unexplained {error:.0e} J")
left.set(xlabel="time (s)", ylabel="change of energy (J)")
left.legend()
right.set(xlabel="time (s)", ylabel="deployed (m)")
tl.figures.save(figure, "guide-laws", ["png"])

# %%
# ``dissipative``, the default, always loses. ``published`` is the paper's formula as printed: right
# in retrieval, but in deployment it makes energy (see :doc:`/errata`). ``none`` is the limit
# without loss. The theory is in :doc:`/theory`, "The guide way".
