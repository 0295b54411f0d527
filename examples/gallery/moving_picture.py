"""
Animate a run
=============

:func:`tautline.figures.animate` writes a GIF, or an MP4 with the extra ``[video]``. Here it shows the paper's third
example: a constant torque retrieves the string; the shorter it gets, the faster the body swings and
tumbles.
"""

import tautline as tl

case = tl.load("retrieval", {"run.duration": "8 s"})
run = tl.simulate(case)
tl.figures.animate(run, "retrieval.gif", frames=60, rate=10)

# %%
# Energy flows in through the drum: the work of the torque is part of the result.

tl.figures.save(tl.figures.energy(run), "energy", ["png"])
own = run.sel(line="line")
work = float(own.motor_work[-1])
turned = float(own.reeled_length[-1] - own.reeled_length[0]) / 0.5  # rad, on a drum of 0.5 m
print(f"torque times angle: {2.09 * turned:.1f} J")
assert abs(work / (2.09 * turned) - 1) < 1e-4
print(f"work of the drum {work:.1f} J, lost at the guide {float(run.guide_loss[-1]):.2f} J")
