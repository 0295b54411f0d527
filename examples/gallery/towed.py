"""
A towed body
============

A research ship tows a sensor of 60 kg on 200 m of armoured cable of 8.2 mm (0.322 inch, the standard
size of the UNOLS fleet; mass 0.262 kg/m). For armoured cables R. Folb and J. J. Nelligan measured a
drag coefficient across the cable of 1.5 (*Hydrodynamic Loading on Armored Towcables*, DTNSRDC 1982);
along it 0.02 is taken. The stiffness, EA = 2.6 MN, is that of half the cross-section in steel. How deep does the
body go, and what does the winch feel?
"""

from typing import Any

import matplotlib.pyplot as plt
import numpy as np

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
body = tl.RigidBody.sphere(mass=60.0, radius=0.16, center_of_mass=(0.0, 0.0, 0.3))
drag_area, volume = 0.04, 0.017
deployed, elements = 200.0, 12


def ship(speed: float, heave: tl.GuidePath | None = None) -> tl.System:
    """Seen from the ship, the water streams by. Half of the displaced water moves along with a sphere."""
    sea = tl.Fluid(
        water, (-speed, 0.0, 0.0), drag_area, volume=volume, added_mass=0.5 * water * volume, spin_damping=20.0
    )
    return tl.pendulum(cable, tl.Reel(0.4, 1.0, 200.0), body, fluid=sea, guide=heave, elements=elements)


# %%
# Rest, seen from the ship: :func:`tautline.statics`, which includes weight, buoyancy and the drag of
# the water.
#
# The same by hand: the body pulls with its weight in water and its drag, and every small piece of cable
# towards the ship adds its own.


def steady(speed: float) -> Any:
    return tl.statics(ship(speed), tl.AtEquilibrium(deployed))


def by_hand(speed: float, pieces: int = 4000) -> tuple[float, float, float]:
    """Depth of the body (m), tension at the body and at the ship (N)."""
    flow = np.array([-speed, 0.0, 0.0])
    piece = deployed / pieces
    weight = 9.81 * (cable.density - water * cable.area)
    pull = np.array([-0.5 * water * drag_area * speed**2, 0.0, 9.81 * (body.mass - water * volume)])
    at_body, depth = float(np.linalg.norm(pull)), 0.0
    for _ in range(pieces):
        along = pull / np.linalg.norm(pull)
        depth += piece * along[2]
        with_it = (flow @ along) * along
        across = flow - with_it
        drag = 1.5 * np.linalg.norm(across) * across + np.pi * 0.02 * np.linalg.norm(with_it) * with_it
        pull = pull + piece * (0.5 * water * diameter * drag + [0.0, 0.0, weight])
    return depth, at_body, float(np.linalg.norm(pull))


figure, (left, right) = plt.subplots(1, 2, figsize=(8, 3.6), layout="constrained")
for knots in (1, 2, 4, 6):
    rest = steady(0.5144 * knots)
    depth, at_body, at_ship = by_hand(0.5144 * knots)
    nodes = rest.state.lines["line"].nodes
    left.plot(nodes[:, 0], nodes[:, 2], label=f"{knots} kn")
    right.plot(knots, rest.line.start_tension / 1e3, "C0o")
    right.plot(knots, rest.line.end_tension / 1e3, "C1o")
    print(
        f"{knots} kn: {nodes[-1, 2]:5.1f} m deep, {rest.line.end_tension:.0f} N at the body, "
        f"{rest.line.start_tension:.0f} N at the ship; by hand {depth:.1f} m, {at_body:.0f} N, {at_ship:.0f} N"
    )
    assert abs(rest.line.end_tension / at_body - 1.0) < 0.01
    assert abs(rest.line.start_tension / at_ship - 1.0) < 0.01
    assert abs(nodes[-1, 2] - depth) < 0.01 * deployed
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
# the same water. Then the ship slows down to 2 knots: the cable sinks to the other balance.

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


heave = tl.GuidePath.of(stern, duration=60.0, interval=0.25)
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
# Left out: the strumming of the cable in its eddies, which adds drag; fins that keep the body straight;
# and depth-dependent currents, which ``Fluid.flow`` takes as a table.
