"""
Tethered satellites
===================

A satellite of 800 kg lets down a probe of 60 kg on a tether, in an orbit 500 km above the ground: the
bodies of the built-in scenario ``tethered-satellites``. The lower one feels more gravity than its
orbit needs and the upper one less, so the tether hangs along the local vertical, taut by a third of a
newton. It swings about the vertical; deploying pushes it to one side, and retrieving to the other.
"""

import matplotlib.pyplot as plt
import numpy as np
import xarray as xr
from numpy.typing import NDArray
from scipy.integrate import solve_ivp

import tautline as tl

Array = NDArray[np.float64]
pair = tl.load("tethered-satellites").system
mother, probe, tether = pair.bodies["mother"], pair.bodies["probe"], pair.lines["tether"].string
assert isinstance(mother, tl.RigidBody) and isinstance(probe, tl.RigidBody) and pair.orbit is not None
RATE = pair.orbit.rate
print(f"one orbit takes {pair.orbit.period / 60:.1f} min")

# %%
# Starts: both on a line through their common center of mass, at an angle to the vertical that counts toward
# the motion and, if the tether runs, separating. ``frame="orbital"`` lets all turn with the orbit.


def lever(length: float) -> tuple[float, float]:
    """Distances of the bodies from the common center of mass (m)."""
    apart, line, wound = length + 1.4, tether.density * length, tether.density * (tether.length - length)
    total = mother.mass + probe.mass + line + wound
    upper = (probe.mass * apart + line * (1.0 + 0.5 * length) + wound * 1.0) / total
    return upper, apart - upper


def placed(length: float, angle: float, speed: float = 0.0) -> tl.Placed:
    c, s = np.cos(angle), np.sin(angle)
    along, R = np.array([c, s, 0.0]), np.array([[c, -s, 0.0], [s, c, 0.0], [0.0, 0.0, 1.0]])
    upper, lower = lever(length)
    strain = pull(length) / tether.stiffness
    states = {}
    for name, part in (("mother", upper), ("probe", -lower - strain * length)):
        states[name] = tl.BodyState(tuple(part * along), tuple((part / (upper + lower)) * speed * along), R)
    return tl.Placed(states, {"tether": tl.LineStart(length, -speed)}, frame="orbital")


def pull(length: float) -> float:
    """Pull at the satellite by hand: 3 n^2 times masses below it and their distances from the center of mass (N)."""
    lower = lever(length)[1]
    middle = lower - 0.4 - 0.5 * length  # of the tether
    return float(3.0 * RATE**2 * (probe.mass * lower + tether.density * length * middle))


def angles(run: xr.Dataset) -> Array:
    """Angles of the line between the bodies to the vertical through it, toward the motion (rad)."""
    x = run.body_position.values
    line, turned = x[:, 0] - x[:, 1], RATE * run.time.values
    radial = line[:, 0] * np.cos(turned) + line[:, 1] * np.sin(turned)
    ahead = line[:, 1] * np.cos(turned) - line[:, 0] * np.sin(turned)
    return np.asarray(np.arctan2(ahead, radial))


# %%
# 1500 m of tether, let go 3 degrees off the vertical. By hand: it swings with the square root of three times
# the orbital rate, slower by a sixteenth of the square of twice the angle. The pull is three times the squared
# rate times masses and distances, larger on the way forward, with the orbit, and smaller on the way back.

tilt = np.radians(3.0)
swing = tl.simulate(pair, placed(1500.0, tilt), duration=6800.0, sample=10.0)
print(swing.attrs["message"])
time, theta, felt = swing.time.values, angles(swing), swing.start_tension.sel(line="tether").values
crossed = np.flatnonzero(theta[:-1] * theta[1:] < 0)
zeros = time[crossed] + 10.0 * theta[crossed] / (theta[crossed] - theta[crossed + 1])
frequency = np.pi / float(np.mean(np.diff(zeros)))
by_hand = np.sqrt(3.0) * RATE * (1.0 - (2.0 * tilt) ** 2 / 16.0)
print(f"a swing takes {2 * np.pi / frequency:.0f} s, by hand {2 * np.pi / by_hand:.0f} s")
assert abs(frequency / by_hand - 1.0) < 1e-3
spin = np.gradient(theta, time) / RATE
expected = pull(1500.0) * (3.0 * np.cos(theta) ** 2 + 2.0 * spin + spin**2) / 3.0
print(
    f"pull {felt.mean():.4f} N, by hand {expected.mean():.4f} N; from {felt.min():.3f} to {felt.max():.3f} N, "
    f"by hand {expected.min():.3f} to {expected.max():.3f} N"
)
assert abs(felt.mean() / expected.mean() - 1.0) < 5e-3
assert np.abs(felt - expected).max() < 0.03 * pull(1500.0)  # the tether bounces a little

# %%
# Deploying from 500 m to 1500 m and retrieving again. The string's speed along itself makes a Coriolis force
# across it, and there is an angle at which gravity balances that permanently: the length has to change by
#
# .. math:: \dot l/l = -\tfrac34\, n \sin 2\theta,
#
# an exponential. The upper one hangs back by 20 degrees while it deploys, and is ahead by 20 while it
# retrieves. About that angle it swings. By hand, for small errors,
#
# .. math:: \ddot\delta + 2 (\dot l/l)\, \dot\delta + 3 n^2 \cos 2\theta\; \delta = 0:
#
# the error shrinks as one over the length while the tether becomes longer, and grows while it becomes shorter.

LEAN, ERROR = np.radians(20.0), np.radians(2.0)
runs: dict[tuple[str, float], tuple[xr.Dataset, Array]] = {}
for name, (first, last, lean) in {"deploying": (500.0, 1500.0, -LEAN), "retrieving": (1500.0, 500.0, LEAN)}.items():
    growth = -0.75 * RATE * np.sin(2.0 * lean)
    duration = 10.0 * round(np.log(last / first) / growth / 10.0)
    table = np.linspace(0.0, 1.05 * duration, 106)  # the reel still runs at the end
    lengths = first * np.exp(growth * table)
    reel = tl.Length((table, lengths), velocities=(growth * first, growth * lengths[-1]))
    for error in (0.0, ERROR):
        start = placed(first, lean + error, growth * first)
        run = tl.simulate(pair, start, {"tether": reel}, duration=duration, sample=10.0)
        print(f"{name}: {run.attrs['message']}")
        t = run.time.values
        omega = np.sqrt(3.0 * RATE**2 * np.cos(2.0 * lean) - growth**2)
        delta = error * np.exp(-growth * t) * (np.cos(omega * t) + growth / omega * np.sin(omega * t))
        found, out = angles(run), float(run.unstretched_length.sel(line="tether")[-1])
        print(
            f"  {out:.0f} m out; angle {np.degrees(found[0]):.1f} degrees at first, "
            f"{np.degrees(found[-1]):.1f} at last, by hand {np.degrees(lean + delta[-1]):.1f} degrees"
        )
        # the tether's mass and the angle's size are left out by hand, and a retrieval makes them grow
        assert np.abs(found - lean - delta).max() < np.radians(0.5 if growth > 0 else 1.5)
        runs[name, error] = run, lean + delta

figure, axes = plt.subplots(2, 2, figsize=(8, 5.6), sharex="row", layout="constrained")
for (name, error), (run, by_hand_angle) in runs.items():
    axis = axes[0, int(name == "retrieving")]
    color = "C0" if error == 0.0 else "C3"
    axis.plot(run.time, np.degrees(angles(run)), color, label=f"{np.degrees(error):.0f} degrees off")
    axis.plot(run.time, np.degrees(by_hand_angle), "k:")
    axis.set(title=f"{name} at {np.degrees(by_hand_angle[0] - error):.0f} degrees", xlabel="time (s)")
for axis in axes[0]:
    axis.plot([], [], "k:", label="by hand")
    axis.legend(fontsize=8)
axes[0, 0].set_ylabel("angle (degrees)")
axes[1, 0].plot(time, np.degrees(theta), "C0")
axes[1, 0].set(title="swing on 1500 m", ylabel="angle (degrees)", xlabel="time (s)")
axes[1, 1].plot(time, felt, "C0", label="run")
axes[1, 1].plot(time, expected, "k:", label="by hand")
axes[1, 1].set(title="pull at the satellite", ylabel="(N)", xlabel="time (s)", ylim=(0.295, 0.358))
axes[1, 1].legend(fontsize=8, loc="upper right", ncols=2)
tl.figures.save(figure, "tethered-satellites", ["png"])

# %%
# The scenario deploys with a constant 0.25 m/s instead, after a ramp. By hand there is no constant angle then, only the
# equation of a dumbbell whose length is prescribed,
#
# .. math:: \ddot\theta + 2 (\dot l/l) (n + \dot\theta) + \tfrac32 n^2 \sin 2\theta = 0,
#
# which a computer integrates with the lengths of the run.

scenario = tl.simulate(tl.load("tethered-satellites"))
print(scenario.attrs["message"])
time, theta = scenario.time.values, angles(scenario)
own = scenario.sel(line="tether")
length, speed = own.unstretched_length.values + 1.4, -own.reel_speed.values


def dumbbell(t: float, x: Array) -> tuple[float, float]:
    stretching = np.interp(t, time, speed) / np.interp(t, time, length)
    return x[1], -2.0 * stretching * (RATE + x[1]) - 1.5 * RATE**2 * np.sin(2.0 * x[0])


wanted = solve_ivp(dumbbell, (0.0, 6000.0), (0.0, 0.0), t_eval=time, max_step=5.0).y[0]
off = np.degrees(np.abs(theta - wanted).max())
print(
    f"the tether leans by up to {-np.degrees(theta.min()):.1f} degrees, by hand {-np.degrees(wanted.min()):.1f}, "
    f"and is left swinging by {np.degrees(np.abs(theta[time > 4700]).max()):.1f}; never more than {off:.1f} degrees off"
)
assert off < 0.5

figure, (left, right) = plt.subplots(1, 2, figsize=(8, 3.8), layout="constrained")
for t in range(0, 6001, 500):
    now = scenario.sel(time=t)
    shape = now.position.values - now.body_position.values[0]
    c, s = np.cos(RATE * t), np.sin(RATE * t)
    ahead, up = c * shape[:, 1] - s * shape[:, 0], c * shape[:, 0] + s * shape[:, 1]
    left.plot(ahead, up, color=str(0.8 * (1 - t / 6000)), linewidth=1)
    left.plot(ahead[-1], up[-1], "C3o", markersize=4)
left.plot(0.0, 0.0, "C0s", markersize=8)
left.set(xlabel="ahead (m)", ylabel="up (m)", aspect="equal", title="every 500 s, seen from the satellite")
right.plot(time, np.degrees(theta), "C0", label="run")
right.plot(time, np.degrees(wanted), "k:", label="by hand")
right.set(xlabel="time (s)", ylabel="angle (degrees)", title="0.25 m/s until 1500 m")
right.legend(fontsize=8)
tl.figures.save(figure, "tethered-scenario", ["png"])

# %%
# A tether that stops off the vertical goes on swinging: there is no air. And the pull is only the weight of a
# few sheets of paper, in proportion to the length: the first meters need a spring or thrusters.
