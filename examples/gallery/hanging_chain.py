r"""
Modes of a hanging chain
========================

A chain without a load swings in shapes that Daniel Bernoulli found:
:math:`J_0(j_k\sqrt{1-\zeta/X})`, with the frequencies :math:`\tfrac12 j_k\sqrt{g/X}`. Here
:math:`j_k` are the zeros of the Bessel function :math:`J_0`, and :math:`\zeta` is measured from the
top. We start in each shape, let it swing, and measure.
"""

import dataclasses

import matplotlib.pyplot as plt
import numpy as np
from scipy.special import j0, jn_zeros

import tautline as tl

length, elements = 1.0, 40
pendulum = tl.pendulum(
    string=tl.String(length=2.0, density=1.0, stiffness=1e5),
    reel=tl.Reel(drum_radius=0.1, guide_length=0.1, inertia_mass=1.0),
    body=tl.RigidBody.point(mass=1e-5),  # nothing hangs at the end
    elements=elements,
)
rest = tl.statics(pendulum, tl.Hanging(length)).state.lines["line"]
place = np.linspace(0, 1, elements + 1)

figure, axes = plt.subplots(1, 3, figsize=(7, 4), sharey=True, layout="constrained")
print("mode  computed     exact")
for panel, (mode, zero) in zip(axes, enumerate(jn_zeros(0, 3), start=1), strict=True):
    shape = j0(zero * np.sqrt(1 - place))
    shape[0] = 0.0  # rounding; the top is held
    nodes = rest.nodes.copy()
    nodes[:, 0] = 1e-3 * shape
    start = tl.State({"body": tl.BodyState(nodes[-1])}, {"line": dataclasses.replace(rest, nodes=nodes)})
    run = tl.simulate(pendulum, start, duration=4.0)

    x = run.position.sel(axis="x").values
    tip = x[:, -1]
    before = np.flatnonzero(np.diff(np.sign(tip)))
    passed = run.time.values[before] - tip[before] * run.time.values[1] / (tip[before + 1] - tip[before])
    computed = 1 / (2 * np.mean(np.diff(passed)))
    exact = 0.5 * zero * np.sqrt(9.81 / length) / (2 * np.pi)
    print(f"{mode:4d}  {computed:.4f} Hz  {exact:.4f} Hz")
    assert abs(computed / exact - 1) < 0.005

    instants = np.linspace(0, 0.5 / computed, 9)
    for t in instants:
        panel.plot(1e3 * x[np.searchsorted(run.time.values, t)], place, color="tab:blue", linewidth=0.8)
    panel.plot(1e3 * nodes[:, 0], place, "k--", label="Bessel")
    panel.set(xlabel="sideways (mm)", title=f"{computed:.3f} Hz")
axes[0].set_ylabel("distance from the top (m)")
axes[0].invert_yaxis()
axes[0].legend()
tl.figures.save(figure, "hanging-chain", ["png"])

# %%
# Blue: the chain at nine moments of half a period. It goes through zero and comes out on the other
# side in the same shape, as a mode should. The difference between computed and exact shape is due to
# the 40 elements: the shape is steepest at the free end, where they are too long.
