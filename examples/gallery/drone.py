"""
A tethered drone
================

A drone of 5.8 kg flies on a power cable of 12.5 g/m and 3.4 mm, with a drag coefficient of 1.2 across
it (table 1 of "Vibration Response Analysis of a Tethered Unmanned Aerial Vehicle System under
Transient Wind Field", *International Journal of Aerospace Engineering* 2024, 4982665). The cable's stiffness, EA = 100
kN, and its damping are rounded estimates for aramid over copper, and the drone's drag area is taken as 0.06 m².
The wind grows with height by the power law with exponent 1/7.
"""

import matplotlib.pyplot as plt
import numpy as np
from numpy.typing import NDArray

import tautline as tl

Array = NDArray[np.float64]
cable = tl.String(length=150.0, density=0.0125, stiffness=1e5, viscosity=100.0, diameter=3.4e-3)
winch = tl.Reel(drum_radius=0.15, guide_length=0.3, inertia_mass=8.0)
# the cable is fastened 0.1 m from the center of mass; the thrust acts another 0.1 m beyond it
drone = tl.RigidBody.sphere(mass=5.8, radius=0.2, center_of_mass=(0.0, 0.0, 0.1))
rotors = (0.0, 0.0, 0.2)
THRUST, AREA, AIR = 95.0, 0.06, 1.2  # N, m^2, kg/m^3


def wind(speed: float) -> tuple[tuple[float, ...], tuple[tuple[float, float, float], ...]]:
    """Over depth, which is negative above the ground; `speed` is that at 10 m."""
    heights = np.array([160.0, 100.0, 60.0, 30.0, 10.0, 3.0, 0.0])
    return tuple(-heights), tuple((speed * (h / 10.0) ** (1 / 7), 0.0, 0.0) for h in heights)


def tethered(speed: float, elements: int, applied: tl.AppliedForce | None = None) -> tl.System:
    air = tl.Fluid(AIR, wind(speed), AREA, spin_damping=0.5)
    force = applied or tl.AppliedForce((0.0, 0.0, -THRUST), point=rotors)
    return tl.pendulum(cable, winch, drone, fluid=air, applied_force=force, elements=elements)


# %%
# Where does it hover with 100 m of cable and a thrust of 95 N, straight up? Weight and cable take 69 N.
# :func:`tautline.statics` includes weight, buoyancy, the drag of the fluid and the applied force.
#
# The same by hand: the drone pulls at the cable with thrust, weight and drag, and every small piece of
# cable toward the winch adds its own weight and drag. The height of the drone, and so the wind there, is
# found by iteration.


def by_hand(speed: float, deployed: float, pieces: int = 2000) -> tuple[Array, float, float]:
    """Place of the cable's upper end (m), tension there and at the winch (N)."""
    depths, velocities = wind(speed)
    piece = deployed / pieces
    weight = 9.81 * (cable.density - AIR * cable.area)
    end = np.array([0.0, 0.0, -deployed])
    for _ in range(30):
        above = end[2] - 0.1  # the center of mass; the cable is fastened below it
        u = np.interp(above, depths, [v[0] for v in velocities])
        pull = np.array([0.5 * AIR * AREA * u**2, 0.0, drone.mass * 9.81 - THRUST])
        at_drone, place = float(np.linalg.norm(pull)), end
        for _ in range(pieces):
            along = pull / np.linalg.norm(pull)
            place = place - piece * along
            u = np.interp(place[2], depths, [v[0] for v in velocities])
            flow = np.array([u, 0.0, 0.0])
            with_it = (flow @ along) * along
            across = flow - with_it
            drag = 1.2 * np.linalg.norm(across) * across + np.pi * 0.01 * np.linalg.norm(with_it) * with_it
            pull = pull + piece * (0.5 * AIR * cable.diameter * drag + [0.0, 0.0, weight])
        if np.linalg.norm(place) < 1e-3:
            break
        end = end - place  # the winch is at the origin
    return end, at_drone, float(np.linalg.norm(pull))


figure, axis = plt.subplots(figsize=(6, 4.4), layout="constrained")
for speed in (0, 4, 8, 12):
    rest = tl.statics(tethered(speed, 16), tl.AtEquilibrium(100.0))
    nodes = rest.state.lines["line"].nodes
    axis.plot(nodes[:, 0], -nodes[:, 2], label=f"{speed} m/s at 10 m")
    print(
        f"wind {speed:2d} m/s: {-nodes[-1, 2]:.1f} m high, {nodes[-1, 0]:5.1f} m downwind; "
        f"cable pulls {rest.line.end_tension:.1f} N at the drone, {rest.line.start_tension:.1f} N at the winch"
    )
    end, at_drone, at_winch = by_hand(speed, 100.0)
    print(f"    by hand: {-end[2]:.1f} m, {end[0]:5.1f} m, {at_drone:.1f} N, {at_winch:.1f} N")
    assert abs(rest.line.end_tension / at_drone - 1.0) < 0.01
    assert abs(rest.line.start_tension / at_winch - 1.0) < 0.01
    assert np.linalg.norm(nodes[-1] - end) < 1.0
axis.set(xlabel="downwind (m)", ylabel="height (m)", aspect="equal")
axis.legend(loc="lower right", fontsize=8)
tl.figures.save(figure, "drone-hover", ["png"])

# %%
# Now it climbs in a wind of 8 m/s: the winch pays out from 30 m to 100 m with at most 2 m/s and holds.
# At 60 s a gust pushes the drone for 6 s, with up to 15 N in addition to the steady wind.


def plan(t: float) -> tuple[float, float]:
    """Length of cable (m) and its rate (m/s)."""
    x = min(t / 50.0, 1.0)
    return 30.0 + 70.0 * x**2 * (3 - 2 * x), 70.0 / 50.0 * 6 * x * (1 - x)


def pay_out(sim: tl.Simulation) -> float:
    length, rate = plan(sim.time)
    return 0.15 * (30.0 + 40.0 * (sim.line.deployed - length) - 60.0 * (sim.line.speed + rate))


times = np.concatenate([[0.0], np.linspace(60.0, 66.0, 25)])
sideways = np.where(times >= 60.0, 7.5 * (1.0 - np.cos(2 * np.pi * (times - 60.0) / 6.0)), 0.0)
gust = tl.AppliedForce((times, [(g, 0.0, -THRUST) for g in sideways]), point=rotors)
run = tl.simulate(tethered(8.0, 8, gust), tl.AtEquilibrium(30.0), duration=90.0, control=pay_out, period=0.02)
print(run.attrs["message"])

figure, axes = plt.subplots(3, 1, figsize=(7, 6.5), sharex=True, layout="constrained")
top = run.position.isel(node=-1)
axes[0].plot(run.time, -top.sel(axis="z"), label="height")
axes[0].plot(run.time, top.sel(axis="x"), label="downwind")
axes[0].plot(run.time, run.unstretched_length, "k:", label="cable")
axes[0].set_ylabel("(m)")
axes[0].legend()
axes[1].plot(run.time, run.tension.isel(element=-1), label="at the drone")
axes[1].plot(run.time, run.tension.isel(element=0), label="at the winch")
axes[1].set_ylabel("tension (N)")
axes[1].legend()
tilt = np.degrees(np.arccos(np.clip(-run.attitude.sel(body="body").values[:, 2, 2], -1.0, 1.0)))
axes[2].plot(run.time, tilt)
axes[2].set(ylabel="tilt of the\ndrone (degrees)", xlabel="time (s)")
tl.figures.save(figure, "drone-climb", ["png"])

before = run.sel(time=59.0, method="nearest")
rest = tl.statics(tethered(8.0, 8), tl.AtEquilibrium(float(before.unstretched_length.sel(line="line"))))
miss = np.linalg.norm(before.position.values - rest.state.lines["line"].nodes, axis=1).max()
print(f"before the gust the cable is within {miss:.2f} m of the balance for its length")
pull, wanted = float(before.tension[-1]), rest.line.tension[-1]
print(f"and pulls with {pull:.1f} N at the drone, {wanted:.1f} N in balance")
assert miss < 0.5
assert abs(pull / wanted - 1.0) < 0.01
late = run.sel(time=slice(60.0, 90.0))
swing = late.position.isel(node=-1).sel(axis="x").values
print(
    f"the gust moves the drone by {np.ptp(swing):.1f} m; "
    f"tension at the winch up to {float(late.tension[:, 0].max()):.1f} N"
)

# %%
# The thrust is a prescribed force here. A real autopilot would lean into the wind and hold its position;
# for the cable it has to supply the tension at the drone.
