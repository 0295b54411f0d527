"""From what the user says of loads to what the kernels take: numbers of each load, and the path of the guide."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from tautline import registry
from tautline.engine.force_law import CallableLaw, kernel_laws
from tautline.kernels import data
from tautline.kernels.loads import applied_force
from tautline.kernels.loads.damping import Damping
from tautline.kernels.loads.drag import Drag
from tautline.kernels.loads.force_law import ForceLaws
from tautline.model.body import RigidBody
from tautline.model.checks import ZERO
from tautline.model.fluid import AppliedForce, Fluid, moving_body
from tautline.model.stacking import is_plain
from tautline.model.string import String
from tautline.model.string_loads import flow_rows, string_loads


def path_table(path: Any, start: float, until: float) -> data.Array:
    """Knots, and four coefficients of each component of a motion beyond each knot, constant first."""
    knots, coefficients = path.pieces(start, until)
    return np.concatenate([knots[None], coefficients.transpose(2, 0, 1).reshape(12, -1)])


class Laden(NamedTuple):
    """A string, the body at its end, if there is one, and what is around them."""

    string: String
    gravity: Any = 0.0  # along the third axis (m/s^2)
    fluid: Fluid | None = None
    body: RigidBody | None = None
    applied_force: AppliedForce | None = None


def kernel_loads(
    laden: Laden, laws: Sequence[CallableLaw] = (), start: float = 0.0, until: float = 0.0, path: Any = None
) -> data.Loads:
    """Forces that are not in the Lagrangian, and the path of the guide, between two times at least."""
    own = tuple(LOADS[name](laden, laws) for name in registry.LOADS)
    acts = any(numbers.acts for numbers in own)
    loads = data.Loads(acts=acts, moves=path is not None, path=np.zeros((13, 1)), own=own)
    return covering(loads, laden.fluid, path, start, until)


def covering(loads: data.Loads, fluid: Fluid | None, path: Any, start: float, until: float) -> data.Loads:
    """With path of the guide and flow between two times at least; a table has all of it."""
    if path is not None:
        loads = loads._replace(path=path_table(path, start, until))
    if fluid is not None and fluid.unsteady is not None:
        own, place = list(loads.own), data.code(registry.LOADS, "drag")
        flow, times = flow_rows(fluid, start, until)
        own[place] = own[place]._replace(flow=flow, times=times)
        loads = loads._replace(own=tuple(own))
    return loads


def _damping(laden: Laden, laws: Sequence[CallableLaw]) -> Damping:
    return Damping(laden.string.viscosity > 0.0, laden.string.viscosity)


def drag_numbers(laden: Laden, laws: Sequence[CallableLaw] = ()) -> Drag:
    """Numbers of the fluid around string and body, with the flow about time 0."""
    string, gravity, fluid, body, _ = laden
    center = ZERO if body is None else body.center_of_mass
    if fluid is None:
        return Drag(False, 0.0, 0.0, 0.0, center, 0.0, np.zeros((4, 1)), np.zeros(1))
    own = string_loads(string, gravity, fluid)
    water = Drag(
        acts=True,
        normal=own.normal,
        tangential=own.tangential,
        body=0.5 * fluid.density * fluid.drag_area,
        center=fluid.drag_center or center,
        spin=fluid.spin_damping,
        flow=own.flow,
        times=own.times,
        string_rate=2.0 * max(own.normal, own.tangential) / string.density,
        body_rate=0.0 if body is None else _body_rate(body, fluid),
        added=fluid.density * string.normal_added_mass * string.area,
        buoyancy_center=fluid.buoyancy_center or center,
        displaced=fluid.density * string.area,
        body_displaced=fluid.density * fluid.volume + fluid.added_mass,
    )
    if fluid.surface is None:
        return water
    return water._replace(
        has_surface=True,
        surface=own.surface,
        above=own.above,
        lift=own.lift,
        body_lift=gravity * (fluid.density - fluid.density_above) * fluid.volume,
        body_added=fluid.added_mass,
        body_height=fluid.wetted_height,
    )


def _body_rate(given: RigidBody, fluid: Fluid) -> float:
    """Bound on how fast drag slows a body, per speed in the fluid (1/m); 0 for numbers that carry derivatives."""
    if not is_plain(given.mass, given.inertia, given.center_of_mass, *vars(fluid).values()):
        return 0.0
    moving = moving_body(given, fluid)
    return float(fluid.density * fluid.drag_area * mobility(moving, fluid.drag_center or given.center_of_mass))


def mobility(body: RigidBody, point: Any) -> float:
    """Bound on the inverse mass that a force at a point of a body feels (1/kg)."""
    if body.is_point:
        return 1.0 / body.mass
    arm = np.subtract(point, body.center_of_mass)
    return 1.0 / body.mass + float(arm @ arm) / body.least_inertia()


def _applied_force(laden: Laden, laws: Sequence[CallableLaw]) -> applied_force.AppliedForce:
    return force_numbers(laden.applied_force)


def force_numbers(applied: AppliedForce | None) -> applied_force.AppliedForce:
    """Times, forces and moments on the union of both tables' times."""
    if applied is None:
        return applied_force.AppliedForce(False, (0.0, 0.0, 0.0), np.zeros((7, 1)))
    times = np.union1d(applied.force[0], applied.moment[0])
    columns = [
        np.interp(times, table[0], column)
        for table in (applied.force, applied.moment)
        for column in zip(*table[1], strict=True)
    ]
    return applied_force.AppliedForce(True, applied.point, np.ascontiguousarray(np.stack([times, *columns])))


def _force_laws(laden: Laden, laws: Sequence[CallableLaw]) -> ForceLaws:
    return kernel_laws(laws)


# Numbers of each load of the registry, from what it acts on and the force laws of a run.
LOADS: dict[str, Callable[[Laden, Sequence[CallableLaw]], Any]] = {
    "damping": _damping,
    "drag": drag_numbers,
    "applied_force": _applied_force,
    "force_law": _force_laws,
}


def own_numbers(loads: data.Loads, name: str) -> Any:
    """Numbers of a load of the registry."""
    return loads.own[data.code(registry.LOADS, name)]


def moved_on(loads: data.Loads, time: float, place: Any, velocity: Any) -> data.Loads:
    """With a guide that moves uniformly from this time and displacement on."""
    path = np.zeros((13, 1))
    path[0] = time
    path[1::4, 0], path[2::4, 0] = place, velocity
    return loads._replace(moves=True, path=path)
