"""
A drone lowers a parcel
=======================

A drone of 6 kg carries a parcel of 2 kg on a winch. It flies 6 m aside, lowers the parcel by 14 m,
and hovers above the place. Rotors push along the drone's own axis only, so to go aside it has to lean;
winch, line and parcel pull at it meanwhile. An autopilot of a few lines in Python reads the drone's motion fifty times
a second and sets thrust and moments; :class:`tautline.Simulation` computes the motion in between.
"""

import matplotlib.pyplot as plt
import numpy as np
from numpy.typing import NDArray

import tautline as tl

Array = NDArray[np.float64]
GRAVITY, PERIOD = 9.81, 0.02
drone = tl.RigidBody.box(mass="6 kg", sides=("0.5 m", "0.5 m", "0.2 m"), center_of_mass=(0, 0, 0))
parcel = tl.RigidBody.box(mass="2 kg", sides=("0.3 m", "0.3 m", "0.2 m"), center_of_mass=(0, 0, "0.1 m"))
# braided polyethylene of 2 mm
line = tl.String(length="20 m", density="3 g/m", stiffness="40 kN", damping_ratio=0.05)
carrier = tl.System(
    bodies={"drone": drone, "parcel": parcel},
    lines={
        "line": tl.Line(
            line,
            start="drone",
            start_point=(0, 0, "0.1 m"),  # below the center of mass
            end="parcel",
            reel=tl.Reel(drum_radius="30 mm", guide_length="50 mm", inertia_mass="0.1 kg"),
            drum_axis=(0, 1, 0),
            elements=6,
        )
    },
)

# %%
# The autopilot computes a force that carries the weight at the start and brings the drone to its place like a spring
# with a damper, leans so that the rotors' axis has the direction of that force, and turns by moments. It does not
# know the motion of the parcel.

WEIGHT = GRAVITY * (drone.mass + parcel.mass + line.density * line.length)


def smooth(x: float) -> float:
    x = min(max(x, 0.0), 1.0)
    return x**3 * (10 - 15 * x + 6 * x**2)


def place(t: float) -> Array:
    """Where the drone should be (m)."""
    return np.array([6.0 * smooth((t - 1.0) / 5.0), 0.0, -20.0])


class Autopilot:
    """Thrust along the drone's axis (N) and moments (N m), in its frame."""

    def __init__(self) -> None:
        self.missing = np.zeros(3)  # what the drone is away from its place, added up (m s)

    def __call__(self, sim: tl.Simulation) -> tuple[float, Array]:
        now = sim.bodies["drone"]
        away = now.position - place(sim.time)
        self.missing += PERIOD * away
        wish = 4.0 * away + 4.0 * now.velocity + 1.5 * self.missing
        force = -drone.mass * wish - np.array([0.0, 0.0, WEIGHT])
        R = now.attitude
        thrust = -float(force @ R[:, 2])
        upright = -force / np.linalg.norm(force)  # where the drone's third axis, down, should point
        side = np.cross(upright, (1.0, 0.0, 0.0))
        side = side / np.linalg.norm(side)
        wanted = np.stack([np.cross(side, upright), side, upright], axis=1)
        turn = 0.5 * (R.T @ wanted - wanted.T @ R)
        error = np.array([turn[2, 1], turn[0, 2], turn[1, 0]])
        return thrust, 12.0 * error - 1.6 * now.angular_velocity


start = tl.Placed({"drone": (0, 0, -20.0), "parcel": (0, 0, -20.0 + 0.1 + 1.0 + 0.1)}, {"line": 0.9995})
sim = tl.Simulation(carrier, start)
autopilot, told = Autopilot(), []
lower = tl.Length.to(15.0, speed=2.0, acceleration=1.0, jerk=4.0, start=8.0)
while sim.time < 25.0 - 1e-9:
    thrust, moments = autopilot(sim)
    sim.bodies["drone"].push(force=(0.0, 0.0, -thrust), moment=moments, frame="body")
    told.append(thrust)
    sim.advance(PERIOD, lower)
run = sim.dataset()
print(run.attrs["message"])
time, thrusts = run.time.values, np.array(told)

# %%
# By hand. First, in the end the rotors carry all weights, and the parcel hangs below the drone by the deployed
# length plus its stretch under the weight.

carried = float(thrusts[-150:].mean())
below = run.body_position.sel(body="parcel", axis="z") - run.body_position.sel(body="drone", axis="z")
hangs, by_hand = float(below[-150:].mean()), 0.1 + 15.0 * (1.0 + parcel.mass * GRAVITY / line.stiffness) + 0.1
print(f"hovering: thrust {carried:.2f} N, by hand {WEIGHT:.2f} N; parcel {hangs:.3f} m below, by hand {by_hand:.3f} m")
assert abs(carried / WEIGHT - 1.0) < 1e-3
assert abs(hangs - by_hand) < 0.01  # it still swings a little

# %%
# Second, momentum. Whatever winch and line do, thrust and weight alone change the momentum of the whole. The rotors
# turn with the drone, so their direction over an interval is taken as the mean of both ends.

axis = run.attitude.sel(body="drone").values[:, :, 2]
push = -thrusts[:, None] * 0.5 * (axis[:-1] + axis[1:]) + np.array([0.0, 0.0, WEIGHT])
impulse = np.vstack([np.zeros(3), PERIOD * np.cumsum(push, axis=0)])
momentum = run.linear_momentum.values
off = np.abs(momentum - impulse).max()
print(f"momentum up to {np.abs(momentum).max():.2f} kg m/s, off what thrust and weight give by hand by {off:.1e}")
assert off < 1e-3

# %%
# Third, while the line runs out at 2 m/s, parcel and line below the drone have that velocity in addition to the
# drone's own, which thrust and autopilot keep small.

at = int(np.argmin(np.abs(time - 12.0)))
out = float(run.unstretched_length.sel(line="line")[at])
sinking = float(run.body_velocity.sel(body="drone", axis="z")[at])
expected = 2.0 * (parcel.mass + line.density * out) + sinking * WEIGHT / GRAVITY
print(f"lowering: momentum {momentum[at, 2]:.3f} kg m/s, by hand {expected:.3f} kg m/s")
assert abs(momentum[at, 2] / expected - 1.0) < 5e-3

figure, axes = plt.subplots(2, 2, figsize=(9, 6), layout="constrained", gridspec_kw={"width_ratios": [1, 1.5]})
for shared in axes[:, 0]:
    shared.remove()
side_view = figure.add_subplot(axes[0, 0].get_gridspec()[:, 0])
for t in (0.0, 2.6, 3.6, 4.8, 9.5, 11.5, 13.5, 25.0):
    shown = run.sel(time=t, method="nearest")
    nodes, center = shown.position.values, shown.body_position.sel(body="drone").values
    arm = 0.5 * shown.attitude.sel(body="drone").values[:, 0]
    side_view.plot(nodes[:, 0], nodes[:, 2], "0.6", linewidth=1)
    side_view.plot(*np.stack([center - arm, center + arm], axis=1)[[0, 2]], "C0", linewidth=3)
    side_view.plot(*shown.body_position.sel(body="parcel").values[[0, 2]], "C3s", markersize=6)
side_view.set(xlabel="x (m)", ylabel="z, down (m)", aspect="equal", xlim=(-2, 8), ylim=(-3, -22))
upper, below_it = axes[:, 1]
upper.plot(time[1:], thrusts, "C0", linewidth=1, label="thrust")
upper.axhline(WEIGHT, color="k", linestyle=":", label="weight of all")
upper.set(ylabel="thrust (N)")
upper.legend(loc="lower right")
lean = np.degrees(np.arctan2(axis[:, 0], axis[:, 2]))
swing = run.position.values[:, -1] - run.position.values[:, 0]
below_it.plot(time, lean, "C0", label="drone leans")
below_it.plot(time, np.degrees(np.arctan2(swing[:, 0], swing[:, 2])), "C3", label="line")
below_it.set(ylabel="from the vertical (degrees)", xlabel="time (s)")
below_it.legend()
tl.figures.save(figure, "drone-parcel", ["png"])

# %%
# The rotors give less while the parcel gains speed, and more while the winch stops it: 2 kg times 1 m/s² each
# way, a reserve that a drone at its limit does not have. Left out: the air, and rotors that take time.
