"""
Lowering with the least tension
===============================

An instrument of 20 kg is lowered on a soft cord, from 3 m to 23 m in 12.5 s. Every change of speed makes it
bounce, and the tension peaks when the drum brakes. Three programs are compared: a trapezoid of speeds, an S-curve, and
the table of speeds with the smallest peak tension, which :func:`tautline.optimize` finds. It must leave the
instrument at rest and keep the cord taut on the way.
"""

import matplotlib.pyplot as plt
import numpy as np

import tautline as tl

mass, lasts = 20.0, 12.5
pendulum = tl.pendulum(
    tl.String(length=30.0, density=0.05, stiffness=20e3),
    tl.Reel(drum_radius=0.1, guide_length=0.2, inertia_mass=30.0),
    tl.RigidBody.point(mass=mass),
    elements=1,
)
trapezoid = tl.Case(
    pendulum,
    tl.Hanging(deployed=3.0),
    tl.Length.to(23.0, speed=2.0, acceleration=1.0),
    tl.Run(duration=lasts, step=0.0125, sample=0.125),
)
s_curve = trapezoid.with_(command=tl.Length.to(23.0, speed=2.0, acceleration=1.0, jerk=2.0))

# %%
# The search begins at a triangle of speeds. The peak is one more unknown, which no sample may exceed.

times = np.linspace(0.0, lasts, 21)
triangle = tl.Speed(payout=(times, 20.0 / lasts * 2.0 * (1.0 - np.abs(2.0 * times / lasts - 1.0))))
best = tl.optimize(
    trapezoid.with_(command=triangle),
    vary={"command.payouts[1:-1]": (0.0, 4.0)},
    minimize={"peak": "start_tension"},
    subject_to=[
        tl.objectives.Limit("start_tension", least=40.0),
        tl.objectives.AtEnd("unstretched_length", 23.0),
        tl.objectives.AtEnd("velocity[-1, 2]", 0.0, within=0.01),
        tl.objectives.AtEnd("start_tension", (mass + 0.05 * 23.0) * 9.81, within=1.0),
    ],
    intervals=5,
)
print(f"{best.status}: peak {best.objective:.1f} N; {best.message}; {best.seconds:.0f} s")
assert best.status == "completed"

# %%
# All three run with ten elements, order 4 and a smaller step, for 5 s longer. By hand, for a stiff cord: the trapezoid
# brakes with 1 m/s², to which a bounce may add as much.

rest = (mass + 0.05 * 23.0) * 9.81
figure, axes = plt.subplots(2, 1, figsize=(7, 5), sharex=True, layout="constrained")
peaks, left = {}, {}
for name, case in {"trapezoid": trapezoid, "S-curve": s_curve, "optimal": best.case}.items():
    fine = {"run.elements": 10, "run.order": 4, "run.step": "auto", "run.sample": 0.025}
    run = tl.simulate(case.with_({**fine, "run.duration": lasts + 5.0}))
    assert run.attrs["status"] == "completed"
    peaks[name] = float(run.start_tension.max())
    left[name] = float(abs(run.start_tension.sel(time=slice(lasts, None)) - rest).max())
    axes[0].plot(run.time, -run.reel_speed, label=name)
    axes[1].plot(run.time, run.start_tension, linewidth=0.9)
    print(f"{name:>9}: peak {peaks[name]:.1f} N, {peaks[name] - rest:.1f} N above rest; trembles by {left[name]:.1f} N")
axes[0].set_ylabel("payout (m/s)")
axes[0].legend()
axes[1].set(ylabel="pull (N)", xlabel="time (s)")
tl.figures.save(figure, "optimal-deployment", ["png"])
assert 0.8 < (peaks["trapezoid"] - rest) / (2.0 * mass) < 1.1
assert peaks["optimal"] - rest < 0.45 * (peaks["S-curve"] - rest) and left["optimal"] < 0.5 * left["S-curve"]

# %%
# The optimal drum pays out quickly at first, where the pull only falls, and so has more time to brake; and it
# brakes in such a way that the instrument does not bounce. A ramp or a jerk limit knows nothing of the bounce,
# whose period grows with the length of the cord.
