"""
A probe let down in orbit, at rest in the end
=============================================

A satellite of 800 kg lets down a probe of 60 kg on 1000 m of tether, in an orbit 500 km above the ground. A tether
that runs out is pushed to one side by its Coriolis force, and swings about the local vertical when the reel stops:
nothing in orbit damps that. :func:`tautline.optimize` finds speeds of the reel that leave the tether along the local
vertical, turning with the orbit and otherwise at rest. It is a problem with two bodies and a moving reel, in a gravity
that changes from place to place.
"""

import matplotlib.pyplot as plt
import numpy as np
import xarray as xr
from numpy.typing import NDArray

import tautline as tl

orbit = tl.Orbit(semi_major_axis=6.878e6)
RATE, FIRST, LAST, LASTS = orbit.rate, 200.0, 1000.0, 4200.0
string = tl.String(length=1200.0, density=0.01, stiffness=50.0)
reel = tl.Reel(drum_radius=0.15, guide_length=0.5, inertia_mass=1.0, guide_law="none")
tether = tl.Line(string, start="mother", end="probe", reel=reel, elements=1)
bodies = {"mother": tl.RigidBody.point(800.0), "probe": tl.RigidBody.point(60.0)}
pair = tl.System(bodies, {"tether": tether}, orbit=orbit)

# %%
# The start: 200 m out along the vertical, at rest in the frame that turns with the orbit, stretched by the pull of the
# gravity gradient, three times the squared rate times masses and their distances from the common center of mass.

out, wound = string.density * FIRST, string.density * (string.length - FIRST)
up = (60.0 * FIRST + out * 0.5 * FIRST) / (860.0 + out + wound)
pull = 3.0 * RATE**2 * (60.0 * (FIRST - up) + out * (0.5 * FIRST - up))
places = {"mother": up, "probe": up - FIRST * (1.0 + pull / string.stiffness)}
start = tl.Placed({name: (x, 0.0, 0.0) for name, x in places.items()}, {"tether": FIRST}, frame="orbital")

# The search begins at a trapezoid of speeds.
times = np.linspace(0.0, LASTS, 17)
trapezoid = np.interp(times / LASTS, [0.0, 0.3, 0.7, 1.0], [0.0, 1.0, 1.0, 0.0])
trapezoid *= (LAST - FIRST) / np.trapezoid(trapezoid, times)
plain = tl.Case(
    pair,
    start,
    {"tether": tl.Speed(payout=(times, trapezoid))},
    tl.Run(duration=LASTS, sample=LASTS / 48, step=LASTS / 48 / 72),
)

# %%
# Conditions at the end, relative to the local vertical: no distance across it, and no velocity but that of turning
# with the orbit. The frame falls along the orbit and does not turn, so the vertical turns with time. The objective is
# the smoothest speeds: the least integral of the squared acceleration of the reel.

apart = [f"(body_position[1, {i}] - body_position[0, {i}])" for i in range(2)]
parting = [f"(body_velocity[1, {i}] - body_velocity[0, {i}])" for i in range(2)]
rate = f"'{RATE!r} 1/s'"  # units of both sides of a sum must agree
c, s = f"cos({rate}*time)", f"sin({rate}*time)"
along, across = f"({apart[0]}*{c} + {apart[1]}*{s})", f"({apart[1]}*{c} - {apart[0]}*{s})"
best = tl.optimize(
    plain,
    vary={"lines.tether.command.payouts[1:-1]": (0.0, 1.0)},
    minimize={"integral": "rate(reel_speed[0])^2"},
    subject_to=[
        tl.objectives.Limit("start_tension[0]", least=0.005),
        tl.objectives.AtEnd("unstretched_length[0]", LAST),
        tl.objectives.AtEnd(across, 0.0, within=1.0),
        tl.objectives.AtEnd(f"{parting[1]}*{c} - {parting[0]}*{s} - {rate}*{along}", 0.0, within=1e-3),
        tl.objectives.AtEnd(f"{parting[0]}*{c} + {parting[1]}*{s} + {rate}*{across}", 0.0, within=1e-2),
    ],
    intervals=4,
)
print(f"{best.status}: {best.message}; {best.seconds:.0f} s")
assert best.status == "completed"

# %%
# Both run with eight elements, order 4 and a smaller step, for 3000 s longer with the reel at rest. By hand, for a
# tether without mass: the angle to the vertical follows from the length l of the tether,
#
# .. math:: \ddot\theta + 2 (\dot l/l) (\dot\theta + n) + 3 n^2 \sin\theta \cos\theta = 0.


def angles(run: xr.Dataset) -> NDArray[np.float64]:
    """Angles of the line between the bodies to the local vertical, toward the motion (degrees)."""
    line, turned = run.body_position.values[:, 0] - run.body_position.values[:, 1], RATE * run.time.values
    radial = line[:, 0] * np.cos(turned) + line[:, 1] * np.sin(turned)
    return np.asarray(np.degrees(np.arctan2(line[:, 1] * np.cos(turned) - line[:, 0] * np.sin(turned), radial)))


def by_hand(case: tl.Case, samples: NDArray[np.float64]) -> NDArray[np.float64]:
    """Angles by the formula, in small steps (degrees)."""
    grid = np.linspace(0.0, samples[-1], 40001)
    payouts = np.interp(grid, times, case.to_dict()["lines"]["tether"]["command"]["payouts"], right=0.0)
    h, length = grid[1], FIRST + np.concatenate([[0.0], np.cumsum(0.5 * (payouts[1:] + payouts[:-1])) * grid[1]])
    theta, spin, found = 0.0, 0.0, [0.0]
    for speed, l in zip(payouts[:-1], length[:-1], strict=True):
        spin -= h * (2.0 * speed / l * (spin + RATE) + 3.0 * RATE**2 * np.sin(theta) * np.cos(theta))
        theta += h * spin
        found.append(theta)
    return np.asarray(np.degrees(np.interp(samples, grid, found)))


figure, axes = plt.subplots(2, 1, figsize=(7, 5), sharex=True, layout="constrained")
left = {}
fine = {"lines.tether.elements": 8, "run.order": 4, "run.step": "auto", "run.sample": 20.0}
for name, case in {"trapezoid": plain, "optimal": best.case}.items():
    run = tl.simulate(case.with_({**fine, "run.duration": LASTS + 3000.0}))
    assert run.attrs["status"] == "completed"
    swing, simple = angles(run), by_hand(case, run.time.values)
    after = run.time.values > LASTS
    left[name] = float(np.abs(swing[after]).max())
    print(f"{name:>9}: back by {-swing.min():.1f} degrees, then swings by {left[name]:.2f} degrees")
    assert np.abs(swing - simple).max() < 0.1 * np.abs(simple).max()
    axes[0].plot(run.time, -run.reel_speed.sel(line="tether"), label=name)
    (curve,) = axes[1].plot(run.time, swing)
    axes[1].plot(run.time, simple, ":", color=curve.get_color(), label="by hand")
axes[0].set_ylabel("payout (m/s)")
axes[0].legend()
axes[1].set(ylabel="angle (degrees)", xlabel="time (s)")
axes[1].legend()
tl.figures.save(figure, "optimal-satellites", ["png"])
assert left["optimal"] < 1.0 and left["trapezoid"] > 5.0 * left["optimal"]

# %%
# The optimal reel is fast while the tether hangs back and slow while it comes forward again, and stops when it
# arrives at the vertical. The remaining swing is what the search does not see: its tether is one straight element.
