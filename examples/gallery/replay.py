"""
Replay a run interactively
==========================

:func:`tautline.view` makes one HTML page of a run: turn the scene, drag the time, zoom into the
plots. It needs no server and no network. Here it compares two runs, deployment with and without the loss at the guide:
the second one is the ghost.
"""

import tautline as tl

case = tl.load("deployment")
run = tl.simulate(case)
other = tl.simulate(case.with_({"reel.guide_law": "none"}))

tl.view(run, other).save("deployment.html")
apart = abs(run.unstretched_length - other.unstretched_length).max()
print(f"lost at the guide: {float(run.guide_loss[-1]):.2f} J; lengths differ by up to {float(apart):.3f} m")
missing = float(abs(run.energy + run.guide_loss - run.energy[0]).max())
assert missing < 1e-3 * float(run.guide_loss[-1])  # all that is missing is the loss

# %%
# The energies of the run with the loss:

tl.figures.save(tl.figures.energy(run), "energy", ["png"])
