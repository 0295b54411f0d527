"""
Power from a kite
=================

Airborne wind energy: a kite pulls the tether from a drum that drives a generator, then is depowered and hauled in again
for less energy. Tether and winch are those of the 20 kW demonstrator of Delft University of
Technology (U. Fechner et al., "Dynamic model of a pumping kite power system", *Renewable Energy* 83,
2015, and the settings of KiteModels.jl): 4 mm of Dyneema with 724 kg/m³, 614.6 kN per strain, 473 N s of
damping, drag coefficient 0.958; drum radius 0.1615 m, inertia 0.204 kg m² at the motor behind a gear of
6.2; at most 4 kN and 8 m/s; a kite of 10 m² and 6.2 kg with a control pod of 8.4 kg.

First the kite stands in the wind: a wing with the coefficients of lift and drag of those settings over its angle of
attack, on a bridle of 4.9 m. Then it makes power. The figures of eight are not simulated here.
M. L. Loyd ("Crosswind kite power", *Journal of Energy* 4, 1980) shows that on average such a
kite pulls along the tether like a drag area of A C_R (1 + (L/D)²) in the wind along the tether less the
speed of reeling out. With C_R = 1 and a glide ratio of 3.3, as soft kites have, this is 120 m². So the wing gets the
coefficients that give it that pull on average, at an elevation of 30 degrees.
Depowered it has little lift and 2.5 m² of drag.
"""

from collections.abc import Callable
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
import xarray as xr
from scipy.optimize import brentq

import tautline as tl

AIR, WIND, SHEAR = 1.2, 9.51, 0.08163  # wind at 6 m height, exponent of its power law: those settings, too
AREA = 10.18  # m^2
LOYD = AREA * (1.0 + 3.3**2)  # m^2
SHORT, LONG = 200.0, 320.0  # m of tether
WING, POD = 6.2, 8.4  # kg
MASS = WING + POD

heights = np.array([400.0, 200.0, 100.0, 50.0, 20.0, 6.0, 1.0])
profile = (tuple(-heights), tuple((WIND * (h / 6.0) ** SHEAR, 0.0, 0.0) for h in heights))
area = 0.25 * np.pi * 0.004**2
tether = tl.String(
    length=500.0,
    density=724.0 * area,
    stiffness=614600.0,
    viscosity=473.0,
    diameter=0.004,
    normal_drag=0.958,
)
drum = 0.1615
reel = tl.Reel(drum_radius=drum, guide_length=1.0, inertia_mass=0.204 * 6.2**2 / drum**2)

# %%
# The body has its origin where tether and pod are; the wing, 2 m deep, 5.77 m wide and 2.23 m high, is
# above, at the end of the bridle. Its axes: chord against the wind, span so that lift is upward. From the
# side it has 30.6 % of its area, a little behind, as a fin.

top = np.array([0.0, 0.0, -(4.9 + 0.5 * 2.23)])
center = WING / MASS * top
sizes = np.array([2.0, 5.77, 2.23])
inertia = WING / 12.0 * np.diag((sizes**2).sum() - sizes**2)
inertia += WING * POD / MASS * (top @ top) * np.diag([1.0, 1.0, 0.0])  # of two masses about their center
body = tl.RigidBody.about_center(MASS, inertia, center)
lift_table = (
    np.radians([-180, -160, -90, -20, -10, -5, 0, 20, 40, 90, 160, 180]),
    np.array([0.0, 0.5, 0.0, 0.08, 0.125, 0.15, 0.2, 1.0, 1.0, 0.0, -0.5, 0.0]),
)
drag_table = (
    np.radians([-180, -170, -140, -90, -20, 0, 20, 90, 140, 170, 180]),
    np.array([0.5, 0.5, 0.5, 1.0, 0.2, 0.1, 0.2, 1.0, 0.5, 0.5, 0.5]),
)


def kite(lift: Any, drag: Any, trim: float = 0.0) -> tl.System:
    """With coefficients of its wing, and the angle by which the bridle raises its nose."""
    wind = tl.Fluid(
        AIR,
        profile,
        drag_area=(0.0, 0.306 * AREA, 0.0),
        drag_center=(0.3, 0.0, top[2]),
        wing_area=AREA,
        wing_lift=lift,
        wing_drag=drag,
        wing_center=top,
        wing_chord=(-np.cos(trim), 0.0, -np.sin(trim)),
        wing_span=(0.0, -1.0, 0.0),
    )
    return tl.pendulum(tether, reel, body, fluid=wind, elements=6)


# %%
# Standing in the wind. By hand: at a pitch of the bridle the wing has an angle of attack, and so lift and
# drag; where their moment and that of the weights vanish about the pod, the kite stands. Lift, drag and
# weight are what the tether feels there.

trim = np.radians(4.0)
stands = tl.statics(kite(lift_table, drag_table, trim), tl.Straight(SHORT, direction=(0.4, 0.0, -0.9)))
R = np.array(stands.body.attitude)
altitude = -(stands.state.lines["line"].nodes[-1] + R @ top)[2]
speed = np.interp(-altitude, profile[0], np.array(profile[1])[:, 0])
pressure = 0.5 * AIR * AREA * speed**2


def on_wing(pitch: float) -> tuple[float, float, float]:
    """Lift and drag (N), and the moment of all about the pod."""
    lift, drag = (pressure * float(np.interp(trim + pitch, *table)) for table in (lift_table, drag_table))
    arm = -top[2] * np.array([np.sin(pitch), np.cos(pitch)])  # downwind, up
    return lift, drag, arm[1] * drag - arm[0] * (lift - 9.81 * WING)


pitch = brentq(lambda x: on_wing(x)[2], 0.0, 0.5)
lift, drag, _ = on_wing(pitch)
felt = np.hypot(drag, lift - 9.81 * MASS)
print(
    f"standing {altitude:.0f} m high in {speed:.1f} m/s: {np.degrees(trim + pitch):.1f} degrees of attack, "
    f"lift {lift:.0f} N, drag {drag:.0f} N, {felt:.0f} N on the tether"
)
assert abs(np.arcsin(R[2, 0]) - pitch) < 1e-6
assert np.allclose(stands.body.forces["wing"], (drag, 0.0, -lift), rtol=0.0, atol=1e-5 * lift)
assert abs(stands.line.end_tension / felt - 1.0) < 1e-5

# %%
# To pull on average like Loyd's kite while the tether goes out with a third of the wind along it, the
# wing needs this force, plus its weight and half of the tether's, as lift and drag in the wind that it
# meets.

beta = np.radians(30.0)
along = WIND * (130.0 / 6.0) ** SHEAR * np.cos(beta)  # wind along the tether in the middle of the way
pull = 0.5 * AIR * LOYD * (2.0 / 3.0 * along) ** 2
direction = np.array([np.cos(beta), np.sin(beta)])  # downwind, up
met = np.array([along / np.cos(beta), 0.0]) - along / 3.0 * direction
force = pull * direction + [0.0, 9.81 * (MASS + 0.5 * tether.density * LONG)]
share = force / (0.5 * AIR * AREA * (met @ met) ** 1.5)
OUT = (met[0] * share[1] - met[1] * share[0], share @ met)  # mean coefficients of lift and drag
IN = (0.32, 2.5 / AREA)
print(f"reeling out: coefficients {OUT[0]:.1f} and {OUT[1]:.1f} on average; Loyd's pull {pull:.0f} N")


# %%
# Reeling out, the generator brakes with 2 rho C A v²: with this law the drum finds a third of the wind's
# speed, where Loyd's power is largest, without measuring the wind. Reeling in, the motor reverses the
# drum with 2 m/s² and keeps 6 m/s until the end is near.


def generate(sim: tl.Simulation) -> float:
    return drum * 2.0 * AIR * LOYD * max(-sim.line.speed, 0.0) ** 2


def retract(sim: tl.Simulation) -> float:
    # not too fast at first, and slowly in the end, before the kite pulls again
    wanted = min(6.0, 2.0 * sim.time - along / 3.0, 0.2 + 0.5 * (sim.line.deployed - SHORT))
    return float(drum * (600.0 + 1500.0 * (wanted - sim.line.speed)))


def phase(
    system: tl.System, start: tl.Straight | tl.State, control: Callable[[tl.Simulation], float], until: float
) -> tuple[xr.Dataset, tl.State]:
    """Until so much tether is out."""
    sim = tl.Simulation(system, start)
    outwards = sim.line.deployed < until
    while (sim.line.deployed < until) == outwards and sim.status == "completed":
        sim.advance(0.02, tl.Torque(control(sim)))
    return sim.dataset(), sim.state


# %%
# It starts on a straight tether at 30 degrees. Three cycles; the first is for settling.

state: tl.Straight | tl.State = tl.Straight(SHORT, direction=(np.cos(beta), 0.0, -np.sin(beta)))
pieces: list[tuple[str, float, xr.Dataset]] = []
clock = 0.0
for cycle in range(3):
    for name, setting, control, until in (("out", OUT, generate, LONG), ("in", IN, retract, SHORT)):
        run, state = phase(kite(*setting), state, control, until)
        run = run.squeeze(["line", "body"])  # there is only one of each
        pieces.append((name, clock, run))
        clock += float(run.time[-1])
        work, duration = -float(run.motor_work[-1]), float(run.time[-1])
        force = run.tension.isel(element=0)
        print(
            f"cycle {cycle + 1} {name:>3}: {duration:5.1f} s, {work / 1e3:+7.1f} kJ, "
            f"mean {work / duration / 1e3:+5.2f} kW, "
            f"mean pull {float(force.mean()):5.0f} N, at most {float(force.max()):5.0f} N"
        )

won = [-float(run.motor_work[-1]) for _, _, run in pieces[-2:]]
taken = sum(float(run.time[-1]) for _, _, run in pieces[-2:])
print(
    f"last cycle: {won[0] / 1e3:.0f} kJ out, {-won[1] / 1e3:.0f} kJ in, "
    f"net {sum(won) / taken / 1e3:.2f} kW of mechanical power"
)

# %%
# Loyd's figure for the best power of this area is (2/27) rho C A v³ with the wind along the tether.

height = -float(pieces[-2][2].position.isel(node=-1).sel(axis="z").mean())
out = pieces[-2][2]
end = out.position.isel(node=-1)
elevation = np.arctan2(-float(end.sel(axis="z").mean()), float(end.sel(axis="x").mean()))
ideal = 2.0 / 27.0 * AIR * LOYD * (WIND * (height / 6.0) ** SHEAR * np.cos(elevation)) ** 3
mean_power = won[0] / float(out.time[-1])
print(
    f"reeling out at {height:.0f} m and {np.degrees(elevation):.0f} degrees: "
    f"{mean_power / 1e3:.1f} kW against {ideal / 1e3:.1f} kW of Loyd's formula, which neglects weight and a slow start"
)
assert 0.8 * ideal < mean_power < ideal
error = max(float(abs(tl.analysis.kept_energy(run) - tl.analysis.kept_energy(run)[0]).max()) for _, _, run in pieces)
print(f"balance of energy closed to {error:.1e} J in every phase")
assert error < 1e-4 * won[0]

figure, axes = plt.subplots(4, 1, figsize=(7, 8), sharex=True, layout="constrained")
total = 0.0
for name, since, run in pieces:
    color = "C2" if name == "out" else "C3"
    time = since + run.time.values
    axes[0].plot(time, run.unstretched_length, color)
    axes[1].plot(time, run.tension.isel(element=0) / 1e3, color)
    axes[2].plot(time, -run.power / 1e3, color)
    axes[3].plot(time, (total - run.motor_work) / 1e3, color)
    total -= float(run.motor_work[-1])
axes[0].set_ylabel("tether out (m)")
axes[1].set_ylabel("pull at the\nwinch (kN)")
axes[2].set_ylabel("power (kW)")
axes[3].set(ylabel="energy won (kJ)", xlabel="time (s)")
tl.figures.save(figure, "kite-cycle", ["png"])

figure, axis = plt.subplots(figsize=(7, 3.4), layout="constrained")
for name, _, run in pieces[-2:]:
    color = "C2" if name == "out" else "C3"
    way = run.position.isel(node=-1)
    axis.plot(way.sel(axis="x"), -way.sel(axis="z"), color, linewidth=2, label=f"kite, reeling {name}")
    for row in np.linspace(0, run.sizes["time"] - 1, 5).astype(int):
        nodes = run.position.isel(time=row)
        axis.plot(nodes.sel(axis="x"), -nodes.sel(axis="z"), color, linewidth=0.6, alpha=0.6)
axis.set(xlabel="downwind (m)", ylabel="height (m)", aspect="equal")
axis.legend()
tl.figures.save(figure, "kite-way", ["png"])

# %%
# Left out: the flight across the wind, and with it the drag of a tether that sweeps through the
# air; steering, without which a kite does not stay in the plane of the wind as this one does;
# turbulence; and the losses of generator, motor and battery.
