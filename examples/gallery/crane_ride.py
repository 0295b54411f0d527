"""
A crane ride against three figures by hand
==========================================

A tower crane lifts two tonnes from 45 m to 20 m below its trolley, without smoothing its starts and stops, and drives
them 20 m along the jib at the same time. How much tension does the rope carry, how much power does the winch need, and
how far does the load sway?
"""

import matplotlib.pyplot as plt
import numpy as np
from scipy.integrate import solve_ivp

import tautline as tl

MASS, DENSITY, STIFFNESS, LONG, SHORT, SPEED, ACCELERATION = 2000.0, 0.55, 5.5e6, 45.0, 20.0, 0.5, 0.2
trolley = tl.motions.GuidePath((5.0, 35.0), ((0.0, 0.0, 0.0), (20.0, 0.0, 0.0)))
crane = tl.pendulum(
    tl.String("80 m", DENSITY, STIFFNESS, damping_ratio=0.02),
    tl.Reel("16 cm", "1 m", inertia="12 kg*m^2"),
    tl.RigidBody.point(MASS),
    guide=trolley,
    elements=10,
)
hoist = tl.Length.to(SHORT, speed=SPEED, acceleration=ACCELERATION)
run = tl.simulate(crane, tl.Hanging(LONG), hoist, duration="80 s", sample="10 ms")
print(run.attrs["message"])
line = run.sel(line="line", body="body")

# %%
# By hand: the winch's acceleration a begins abruptly, and a load on a spring overshoots a step by its own height. So
# the guide carries :math:`(m + \mu X)(g + 2a)`.

peak = (MASS + DENSITY * LONG) * (9.81 + 2.0 * ACCELERATION)
found = float(line.start_tension.max())
print(f"largest tension {found:.0f} N, by hand {peak:.0f} N")
assert abs(found / peak - 1.0) < 5e-3

# %%
# At constant speed the power is weight times speed. The rope comes in stretched, so the load is faster than the drum
# by the strain, and bounces about that speed.

taut = 1.0 + MASS * 9.81 / STIFFNESS
lifting = line.sel(time=slice(10.0, 40.0))
power = float(((MASS + DENSITY * lifting.unstretched_length) * 9.81 * SPEED * taut).mean())
found = float(lifting.power.mean())
print(f"power {found / 1e3:.2f} kW, by hand {power / 1e3:.2f} kW; at most {float(line.power.max()) / 1e3:.2f} kW")
assert abs(found / power - 1.0) < 3e-3
torque = 0.16 * peak + 12.0 * ACCELERATION / 0.16
print(f"largest torque {float(line.torque.max()):.0f} N m, by hand {torque:.0f} N m")
assert abs(float(line.torque.max()) / torque - 1.0) < 5e-3

# %%
# Sway: a pendulum whose length changes, below a pivot that accelerates, :math:`r\ddot\theta + 2\dot r\dot\theta +
# g\sin\theta + \ddot x\cos\theta = 0`, by SciPy.

ramp, way = SPEED / ACCELERATION, LONG - SHORT
even = way / SPEED


def pendulum(t: float, state: tuple[float, float]) -> tuple[float, float]:
    angle, rate = state
    shortening = ACCELERATION * np.array([0.5 * max(t - s, 0.0) ** 2 for s in (0.0, ramp, even, even + ramp)])
    speeding = ACCELERATION * np.array([max(t - s, 0.0) for s in (0.0, ramp, even, even + ramp)])
    signs = np.array([1.0, -1.0, -1.0, 1.0])
    r, r_rate = taut * (LONG - signs @ shortening), -taut * (signs @ speeding)
    x = (t - 5.0) / 30.0
    pivot = 20.0 * (6.0 - 12.0 * x) / 30.0**2 if 0.0 <= x < 1.0 else 0.0  # of the cubic from rest to rest
    return rate, -(2.0 * r_rate * rate + 9.81 * np.sin(angle) + pivot * np.cos(angle)) / r


angle = solve_ivp(pendulum, (0.0, 80.0), (0.0, 0.0), t_eval=run.time.values, max_step=0.1, rtol=1e-9, atol=1e-12).y[0]
by_hand = taut * line.unstretched_length.values * np.sin(angle)
sway = (line.position.isel(node=-1) - line.position.isel(node=0)).sel(axis="x").values
after = run.time.values > 45.0
for name, part in (("on the way", ~after), ("when all stands", after)):
    print(f"sway {name} {np.abs(sway[part]).max():.3f} m, by hand {np.abs(by_hand[part]).max():.3f} m")
assert np.abs(sway - by_hand).max() < 0.01 * np.abs(by_hand).max()

figure, axes = plt.subplots(3, 1, figsize=(7, 6), sharex=True, layout="constrained")
axes[0].plot(run.time, sway)
axes[0].plot(run.time, by_hand, "k:")
axes[1].plot(run.time, line.start_tension / 1e3)
axes[1].axhline(peak / 1e3, color="k", linestyle=":")
axes[2].plot(run.time, line.power / 1e3)
for axis, label in zip(axes, ("sway (m)", "tension (kN)", "power (kW)"), strict=True):
    axis.set_ylabel(label)
axes[2].set_xlabel("time (s)")
tl.figures.save(figure, "crane-ride", ["png"])
