"""
An aerostat in gusty wind
=========================

A tethered balloon of 300 m³ flies on 200 m of rope in a wind of 10 m/s with turbulence of Kaimal's spectrum: the
built-in scenario ``aerostat``. What does the rope carry in the mean wind, in a gust, and in turbulence?
"""

import dataclasses

import matplotlib.pyplot as plt
import numpy as np

import tautline as tl

case = tl.load("aerostat")

# %%
# By hand, in the mean wind: the balloon pulls up with the weight of the air that it displaces less its own,
# (1.2 · 300 - 130) · 9.81 = 2256 N, and aside with its drag, ½ · 1.2 · 24.25 · 10² = 1455 N. At the balloon
# the tension is the root of the sum of their squares, 2685 N.


def by_hand(wind: float) -> float:
    lift = (1.2 * 300.0 - 130.0) * 9.81
    drag = 0.5 * 1.2 * 24.25 * wind**2
    return float(np.hypot(lift, drag))


rest = tl.statics(case.system, case.start)  # fluctuations grow from nothing: at the start the wind is the mean one
print(f"{rest.line.end_tension:.1f} N at the balloon, by hand {by_hand(10.0):.1f} N")
assert abs(rest.line.end_tension / by_hand(10.0) - 1.0) < 1e-6

# %%
# A gust that rises within a minute from 10 to 14 m/s and stays: once the balloon has followed, the tension is that of
# 14 m/s.


def windy(unsteady: tl.flows.Gust) -> tl.System:
    assert case.system.fluid is not None
    return dataclasses.replace(case.system, fluid=dataclasses.replace(case.system.fluid, unsteady=unsteady))


slow = tl.simulate(
    windy(tl.flows.Gust(4.0, "ramp", start=5.0, duration=60.0)), case.start, tl.Locked(), duration=160.0, sample=0.5
)
settled = float(slow.end_tension[-60:].mean())
print(f"{settled:.0f} N after the gust, by hand {by_hand(14.0):.0f} N")
assert abs(settled / by_hand(14.0) - 1.0) < 0.005  # it still swings a little

# %%
# The extreme operating gust of IEC 61400-1 lasts 10.5 s, too short for the balloon to follow: it is blown aside while
# the wind rises, and swings back. The scenario's turbulence has a standard deviation of 1.2 m/s.

short = tl.simulate(windy(tl.flows.Gust(6.0, start=5.0)), case.start, tl.Locked(), duration=60.0, sample=0.1)
turbulent = tl.simulate(case)

figure, axes = plt.subplots(2, 1, figsize=(8, 5.5), sharex=True)
for name, run in (("ramp to 14 m/s", slow), ("operating gust", short), ("turbulence", turbulent)):
    axes[0].plot(run.time, run.end_tension[:, 0] / 1e3, label=name)
    axes[1].plot(run.time, run.body_position[:, 0, 0], label=name)
axes[0].axhline(by_hand(10.0) / 1e3, color="0.6", linewidth=0.8)
axes[0].set_ylabel("tension at the balloon (kN)")
axes[1].set(xlabel="time (s)", ylabel="downwind (m)")
axes[0].legend()
figure.tight_layout()

# %%
# In turbulence the mean pull is that of the lift and the mean drag, except for the effect of the balloon's own speed.

pull = turbulent.end_tension[300:, 0]
print(f"turbulence: {float(pull.mean()):.0f} ± {float(pull.std()):.0f} N, at most {float(pull.max()):.0f} N")
assert abs(float(pull.mean()) / by_hand(10.0) - 1.0) < 0.1  # the slowest fluctuations are as long as the run

tl.figures.save(figure, "aerostat", ["png"])
