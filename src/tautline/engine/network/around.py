"""Numbers of the fluid around bodies and lines of a network for the kernels."""

from __future__ import annotations

from typing import Any

import numpy as np

from tautline.engine import loads
from tautline.kernels.loads.drag import Drag
from tautline.kernels.network import data as kernels
from tautline.model.body import RigidBody
from tautline.model.checks import ZERO, Matrix
from tautline.model.description import changed
from tautline.model.directional import added_matrix, is_directional, moves_fluid, wing_of, without_directions
from tautline.model.fluid import BodyInFluid, Fluid
from tautline.model.stacking import is_plain
from tautline.model.string_loads import flow_rows
from tautline.model.system.system import System

NO_INERTIA: Matrix = (ZERO, ZERO, ZERO)


def body_drag(system: System, name: str, start: float = 0.0, until: float = 0.0) -> Drag:
    """Numbers of the fluid around a body for the kernels, with its points seen from the center of mass.

    A flow without end is there between two times at least.
    """
    body, fluid = system.bodies.get(name), system.fluid
    line = next(iter(system.lines.values()))
    if not isinstance(body, RigidBody) or fluid is None:
        return loads.drag_numbers(loads.Laden(line.string))
    feels = system.body_fluid.get(name, BodyInFluid())
    own = changed(fluid.around(feels), **without_directions(feels))
    x = loads.drag_numbers(loads.Laden(line.string, system.gravity, own, body))
    place = own.buoyancy_center or body.center_of_mass
    flow, times = flow_rows(own, start, until)
    return x._replace(
        flow=flow,
        times=times,
        center=between(body.center_of_mass, x.center),
        buoyancy_center=between(body.center_of_mass, place),
        body_rate=x.body_rate + directional_rate(body, fluid, feels),
        body_added=own.added_mass,
    )


def directional_rate(body: RigidBody, fluid: Fluid, own: BodyInFluid) -> float:
    """Bound on how fast drag by direction slows a body, per speed (1/m); 0 for numbers that carry derivatives."""
    if not (is_directional(own) and _is_plain(body, fluid, own)):
        return 0.0
    center, largest = body.center_of_mass, float(np.abs(wing_of(own).polar[1:]).max())
    drag = max(own.drag_area) if isinstance(own.drag_area, tuple) else 0.0
    by_drag = drag * loads.mobility(body, own.drag_center or center)
    by_wing = own.wing_area * largest * loads.mobility(body, own.wing_center or center)
    return float(fluid.density * (by_drag + by_wing))


def _is_plain(body: RigidBody, fluid: Fluid, own: BodyInFluid) -> bool:
    return is_plain(fluid.density, body.mass, body.inertia, body.center_of_mass, *vars(own).values())


def directional_swing(body: RigidBody, fluid: Fluid, own: BodyInFluid) -> float:
    """Bound on the squared frequency of swings about the direction of motion, per squared speed (1/m^2); as above."""
    if not _is_plain(body, fluid, own):
        return 0.0
    mass, _, added = added_matrix(own, body.center_of_mass)
    at, lift, drag = wing_of(own).polar
    slopes = [0.0, *(np.abs(np.diff(lift)) / np.diff(at)), *np.abs([lift, drag]).max(axis=0)]
    lever = float(np.linalg.norm(between(body.center_of_mass, own.wing_center or body.center_of_mass)))
    along = np.linalg.eigvalsh(mass)
    moment = float(along[-1] - along[0]) + 0.5 * fluid.density * own.wing_area * lever * max(slopes)
    if isinstance(own.drag_area, tuple):
        arm = np.linalg.norm(between(body.center_of_mass, own.drag_center or body.center_of_mass))
        moment += fluid.density * float(arm) * max(own.drag_area)
    return float(moment / np.linalg.eigvalsh(body.central_inertia() + added)[0])


def directional_numbers(system: System, name: str) -> kernels.Directional:
    """Numbers of what the fluid around a body does to it by direction, with points seen from its center of mass."""
    body, fluid, own = system.bodies.get(name), system.fluid, system.body_fluid.get(name)
    if not isinstance(body, RigidBody) or fluid is None or own is None or not is_directional(own):
        return kernels.Directional(
            False, 0.0, ZERO, False, NO_INERTIA, NO_INERTIA, NO_INERTIA, 0.0, ZERO, ZERO, ZERO, ZERO, np.zeros((3, 1))
        )
    matrices: list[Any] = [tuple(map(tuple, x)) for x in added_matrix(own, body.center_of_mass)]
    wing, areas = wing_of(own), own.drag_area if isinstance(own.drag_area, tuple) else ZERO
    x, y, z = (0.5 * fluid.density * area for area in areas)
    return kernels.Directional(
        acts=True,
        swing=directional_swing(body, fluid, own),
        drag=(x, y, z),
        carries=moves_fluid(own),
        mass=matrices[0],
        across=matrices[1],
        inertia=matrices[2],
        wing=0.5 * fluid.density * own.wing_area,
        place=between(body.center_of_mass, own.wing_center or body.center_of_mass),
        chord=tuple(wing.chord),
        span=tuple(wing.span),
        normal=tuple(wing.normal),
        polar=np.ascontiguousarray(wing.polar),
    )


def body_lift(system: System, name: str) -> Any:
    """Buoyancy that a body has wherever it is (N)."""
    if system.fluid is None or name not in system.body_fluid:
        return 0.0
    return system.gravity * system.fluid.least_density * system.body_fluid[name].volume


def between(a: Any, b: Any) -> tuple[float, float, float]:
    """From a to b."""
    x, y, z = (q - p for p, q in zip(a, b, strict=True))
    return (x, y, z)
