"""
A towed wing
============

A research ship tows a sensor of 60 kg on 200 m of armored cable of 8.2 mm (0.322 inch, the standard size of the UNOLS
fleet; mass 0.262 kg/m). For armored cables R. Folb and J. J. Nelligan measured a
drag coefficient across the cable of 1.5 (*Hydrodynamic Loading on Armored Towcables*, DTNSRDC 1982);
along it we use 0.02. The stiffness, EA = 2.6 MN, is that of half the cross-section in steel. The
faster the ship, the more the water carries the cable up; so the body has a wing, a depressor, which
pulls it down. How deep does it go, and what is the tension at the winch?
"""

from typing import Any

import matplotlib.pyplot as plt
import numpy as np
from scipy.optimize import brentq

import tautline as tl

diameter, water = 8.2e-3, 1025.0
cable = tl.String(
    length=400.0,
    density=0.262,
    stiffness=2.6e6,
    viscosity=2e3,
    diameter=diameter,
    normal_drag=1.5,
    tangential_drag=0.02,
)
body = tl.RigidBody.box(mass=60.0, sides=(1.2, 0.9, 0.2), center_of_mass=(0.0, 0.0, 0.1))
volume, deployed, elements = 0.03, 200.0, 12

# %%
# The wing has 0.5 m² and is set with its nose 6 degrees down; up to its stall at 12 degrees its lift
# coefficient grows by 3.8 per radian, as that of a short wing does. Drag has three numbers, ahead,
# sideways, and up and down: the last two are the tail's, half a meter behind the tow point, which keeps
# the body straight. Three added masses are largest up and down, and would turn the body broadside to
# its motion without the tail.

area, set_down = 0.5, np.radians(6.0)
lift_table = (np.radians([-90, -16, -12, 12, 16, 90]), np.array([0.0, -0.7, -0.8, 0.8, 0.7, 0.0]))
drag_table = (np.radians([-90, -12, -6, 0, 6, 12, 90]), np.array([1.2, 0.08, 0.035, 0.02, 0.035, 0.08, 1.2]))
drag_areas, tail = np.array([0.03, 0.4, 0.8]), (-0.5, 0.0, 0.1)
added, wing_center = np.array([5.0, 10.0, 40.0]), (-0.05, 0.0, 0.1)


def ship(speed: float, heave: tl.motions.GuidePath | None = None, wing: float = area) -> tl.System:
    """Seen from the ship, the water streams by."""
    sea = tl.Fluid(
        water,
        (-speed, 0.0, 0.0),
        drag_areas,
        drag_center=tail,
        volume=volume,
        added_mass=added,
        spin_damping=20.0,
        wing_area=wing,
        wing_lift=lift_table if wing else 0.0,
        wing_drag=drag_table if wing else 0.0,
        wing_center=wing_center,
        wing_chord=(np.cos(set_down), 0.0, np.sin(set_down)),
    )
    return tl.pendulum(cable, tl.Reel(0.4, 1.0, 200.0), body, fluid=sea, guide=heave, elements=elements)


# %%
# The state of rest relative to the ship comes from :func:`tautline.statics`, which includes weight, buoyancy and the
# drag of the water.
#
# The same by hand. At a pitch the wing has an angle of attack, and so lift and drag; with the drag of
# the tail, the weight in water and Munk's moment of the added mass, all moments about the tow point
# have to vanish, which gives the pitch. The sum of the forces is the tension of the cable at the body,
# and every small piece of cable toward the ship adds its own weight and drag.


def steady(speed: float, wing: float = area) -> Any:
    return tl.statics(ship(speed, wing=wing), tl.AtEquilibrium(deployed))


def on_body(speed: float, pitch: float) -> tuple[np.ndarray, float]:
    """Force on the body without the cable's (ahead, down), and its moment about the tow point (nose up)."""
    pressure, angle = 0.5 * water * speed**2, pitch - set_down
    lift, drag = (area * pressure * np.interp(angle, *table) for table in (lift_table, drag_table))
    turn = np.array([[np.cos(pitch), np.sin(pitch)], [-np.sin(pitch), np.cos(pitch)]])  # from body to space
    ahead, down = through = turn.T @ [speed, 0.0]  # velocity in the water along two axes of the body
    parts = [
        (np.array([-drag, -lift]), wing_center),
        (turn @ (-0.5 * water * speed * drag_areas[[0, 2]] * through), tail),
        (np.array([0.0, 9.81 * (body.mass - water * volume)]), body.center_of_mass),
    ]
    moment = (added[2] - added[0]) * ahead * down
    for force, (x, _, z) in parts:
        along, below = turn @ [x, z]
        moment += below * force[0] - along * force[1]
    return np.sum([force for force, _ in parts], axis=0), moment


def by_hand(speed: float, pieces: int = 4000) -> tuple[np.ndarray, float, float, float]:
    """Place of the body (m), tension at the body and at the ship (N), pitch of the body."""
    pitch = brentq(lambda x: on_body(speed, x)[1], -0.1, 0.1)
    flow = np.array([-speed, 0.0, 0.0])
    piece = deployed / pieces
    weight = 9.81 * (cable.density - water * cable.area)
    pull = np.insert(on_body(speed, pitch)[0], 1, 0.0)
    at_body, place = float(np.linalg.norm(pull)), np.zeros(3)
    for _ in range(pieces):
        along = pull / np.linalg.norm(pull)
        place += piece * along
        with_it = (flow @ along) * along
        across = flow - with_it
        drag = 1.5 * np.linalg.norm(across) * across + np.pi * 0.02 * np.linalg.norm(with_it) * with_it
        pull = pull + piece * (0.5 * water * diameter * drag + [0.0, 0.0, weight])
    return place, at_body, float(np.linalg.norm(pull)), pitch


figure, (left, right) = plt.subplots(1, 2, figsize=(8, 3.6), layout="constrained")
for knots in (1, 2, 4, 6):
    rest = steady(0.5144 * knots)
    place, at_body, at_ship, pitch = by_hand(0.5144 * knots)
    forces, nose = rest.body.forces, np.arcsin(-rest.body.attitude[2][0])
    nodes = rest.state.lines["line"].nodes
    (curve,) = left.plot(nodes[:, 0], nodes[:, 2], label=f"{knots} kn")
    plain = steady(0.5144 * knots, wing=0.0).state.lines["line"].nodes
    left.plot(plain[:, 0], plain[:, 2], "--", color=curve.get_color(), linewidth=0.8)
    right.plot(knots, rest.line.start_tension / 1e3, "C0o")
    right.plot(knots, rest.line.end_tension / 1e3, "C1o")
    print(
        f"{knots} kn: {nodes[-1, 2]:5.1f} m deep, {rest.line.end_tension:.0f} N at the body, "
        f"{rest.line.start_tension:.0f} N at the ship; by hand {place[2]:.1f} m, {at_body:.0f} N, {at_ship:.0f} N; "
        f"the wing pulls {forces['wing'][2]:.0f} N down and {-forces['wing'][0]:.0f} N back, "
        f"nose {np.degrees(nose):.2f} degrees up; without it {plain[-1, 2]:.1f} m deep"
    )
    by_table = [np.interp(pitch - set_down, *table) for table in (lift_table, drag_table)]
    lift, drag = 0.5 * water * (0.5144 * knots) ** 2 * area * np.array(by_table)
    assert np.allclose(forces["wing"], (-drag, 0.0, -lift), rtol=0.0, atol=1e-6 * at_body)
    assert abs(nose - pitch) < 1e-6
    assert nodes[-1, 2] > plain[-1, 2]
    assert abs(rest.line.end_tension / at_body - 1.0) < 0.01
    assert abs(rest.line.start_tension / at_ship - 1.0) < 0.01
    assert np.linalg.norm(nodes[-1] - place) < 0.01 * deployed
left.plot([], [], "k--", linewidth=0.8, label="without the wing")
left.set(xlabel="behind the ship (m)", ylabel="depth (m)", aspect="equal")
left.invert_yaxis()
left.legend()
right.plot([], [], "C0o", label="at the ship")
right.plot([], [], "C1o", label="at the body")
right.set(xlabel="speed (kn)", ylabel="tension (kN)", ylim=(0, None))
right.legend()
tl.figures.save(figure, "towed-steady", ["png"])

# %%
# A run has to agree: it starts in the balance of 4 knots and should stay there, because its water is
# the same. Then the ship slows down to 2 knots: the cable sinks to the other balance.

fast, slow = 4 * 0.5144, 2 * 0.5144
stays = tl.simulate(ship(fast), tl.AtEquilibrium(deployed), duration=20.0, sample=0.5)
moved = np.linalg.norm(stays.position[-1] - stays.position[0], axis=1).max()
print(f"at 4 kn the balance moves by {1e3 * float(moved):.2g} mm in 20 s")
assert moved < 0.05
last, at_ship = stays.tension[-1].values, by_hand(fast)[2]
felt = 1.5 * last[0] - 0.5 * last[1]  # from the middles of the first two elements to the ship
print(f"the run has {felt:.0f} N at the ship, by hand {at_ship:.0f} N")
assert abs(felt / at_ship - 1.0) < 0.01

sinks = tl.simulate(ship(slow), steady(fast).state, duration=600.0, sample=1.0)
wanted = steady(slow).state.lines["line"].nodes
miss = np.linalg.norm(sinks.position[-1].values - wanted, axis=1).max()
print(f"after 600 s at 2 kn the cable is within {miss:.2f} m of the balance found for 2 kn")
assert miss < 0.005 * deployed  # the distance falls by half in 85 s

# %%
# The same ship in a swell of 1 m amplitude and 8 s: the stern heaves, and the cable feels it.


def stern(t: float) -> tuple[float, float, float]:
    return 0.0, 0.0, min(t / 16.0, 1.0) * np.sin(2 * np.pi * t / 8.0)


heave = tl.motions.GuidePath.of(stern, duration=60.0, interval=0.25)
swell = tl.simulate(ship(fast, heave), tl.AtEquilibrium(deployed), duration=56.0, sample=0.1)

figure, axes = plt.subplots(3, 1, figsize=(7, 6.5), layout="constrained")
for t in (0, 40, 80, 160, 300, 600):
    nodes = sinks.position.sel(time=t)
    axes[0].plot(nodes.sel(axis="x"), nodes.sel(axis="z"), color=str(0.8 * (1 - t / 600)), label=f"{t} s")
axes[0].plot(wanted[:, 0], wanted[:, 2], "C3--", label="balance")
axes[0].set(xlabel="behind the ship (m)", ylabel="depth (m)", title="from 4 to 2 knots")
axes[0].invert_yaxis()
axes[0].legend(fontsize=8, loc="center left", bbox_to_anchor=(1.0, 0.5))
axes[1].plot(swell.time, swell.position.isel(node=0).sel(axis="z"), label="stern")
body_depth = swell.position.isel(node=-1).sel(axis="z")
axes[1].plot(swell.time, body_depth - body_depth[0], label="body")
axes[1].set(ylabel="heave (m, down)", title="swell")
axes[1].legend(loc="upper left")
axes[2].plot(swell.time, swell.tension.isel(element=0) / 1e3)
axes[2].set(xlabel="time (s)", ylabel="tension at\nthe ship (kN)")
tl.figures.save(figure, "towed-motion", ["png"])

late = swell.sel(time=slice(32.0, 56.0))
print(
    f"swell of 1 m: tension {float(late.tension[:, 0].min()):.0f} to {float(late.tension[:, 0].max()):.0f} N, "
    f"body heaves by {0.5 * np.ptp(body_depth.sel(time=slice(32.0, 56.0)).values):.2f} m"
)

# %%
# Left out: vortex-induced vibration of the cable, which adds drag; the time that the flow around the
# wing needs to change; and depth-dependent currents, which ``Fluid.flow`` takes as a table.
