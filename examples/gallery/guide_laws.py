"""
Energy lost at the guide
========================

Inside the guide the string cannot stretch, outside it does, so strain and speed jump at the
entrance. The ``guide_law`` says what becomes of the energy in this jump. Two of the paper's examples run with all laws:
a body that pulls the string from a free drum, and a torque that retrieves it.
"""

import matplotlib.pyplot as plt

import tautline as tl

laws = {"dissipative": "-", "stretched": "--", "momentum": ":", "none": "-", "published": "-"}

lost: dict[tuple[str, str], float] = {}
figure, axes = plt.subplots(2, 2, figsize=(8, 6), layout="constrained")
for name, duration, (left, right) in zip(("deployment", "retrieval"), (5.0, 6.0), axes, strict=True):
    case = tl.load(name)
    for law, style in laws.items():
        run = tl.simulate(case.with_({"reel.guide_law": law}), duration=duration)
        left.plot(run.time, -run.guide_loss, style, label=law)
        right.plot(run.time, run.unstretched_length, style)
        error = float(abs(tl.analysis.balance_error(run)).max())
        lost[name, law] = float(run.guide_loss[-1])
        print(f"{name}, {law:>11}: lost {lost[name, law]:+.3f} J, balance error {error:.0e} J")
        assert error < 1e-3
    left.set(xlabel="time (s)", ylabel="energy from the guide (J)", title=name)
    right.set(xlabel="time (s)", ylabel="deployed (m)")
axes[0, 0].legend()
tl.figures.save(figure, "guide-laws", ["png"])
assert lost["deployment", "dissipative"] > 0 and lost["retrieval", "dissipative"] > 0
assert abs(lost["deployment", "stretched"] - lost["deployment", "dissipative"]) < 1e-6
assert lost["deployment", "momentum"] > 0 > lost["retrieval", "momentum"]
assert lost["retrieval", "published"] > 0 > lost["deployment", "published"]
assert lost["deployment", "none"] == lost["retrieval", "none"] == 0

# %%
# ``dissipative``, the default, always loses. ``stretched`` keeps the strain of the string on the
# drum, loses nothing there, and returns what it stored; the drum of the first example has only
# unstretched string to return, so the two laws agree. ``momentum`` has no force along a smooth guide:
# right in deployment, but in retrieval it makes energy. ``published`` is the paper's formula as
# printed: right in retrieval, but in deployment it makes energy (see :doc:`/errata`). ``none`` is the
# limit without loss. Numbers are in :doc:`/guide-laws`, the theory in :doc:`/theory`, "The guide".
