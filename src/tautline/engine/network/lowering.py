"""From a system and its state to what the kernels take."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from tautline.engine import loads, lowering
from tautline.engine.attitudes import quaternion_of
from tautline.engine.force_law import CallableLaw
from tautline.errors import InputError
from tautline.kernels import data
from tautline.kernels.compose import COMPOSITIONS
from tautline.kernels.guide import REMEMBERS
from tautline.kernels.lanes import LANES, vector_zeros
from tautline.kernels.listed import Listed
from tautline.kernels.loads.drag import Drag
from tautline.kernels.network import data as kernels
from tautline.model.body import RigidBody
from tautline.model.chain.chain import Chain
from tautline.model.checks import ZERO, Matrix
from tautline.model.fluid import BodyInFluid, Fluid
from tautline.model.reel import Reel
from tautline.model.run import Method
from tautline.model.string_loads import flow_rows
from tautline.model.system.parts import ANCHOR, Kinematic, Line
from tautline.model.system.state import State
from tautline.model.system.system import System

BACKUPS = 3  # copies of the motion that a march keeps
NO_INERTIA: Matrix = (ZERO, ZERO, ZERO)
NO_PUSH = np.zeros((7, 1))
# What stands for the reel of a string that has none.
NO_REEL = Reel(1.0, 0.0, 1.0, guide_law="none")


def line_pendulum(line: Line, gravity: float = 0.0, fluid: Fluid | None = None) -> Chain:
    """The pendulum that a line would be with a point at its end: its string, its reel and their rules."""
    return Chain(line.string, line.reel or NO_REEL, RigidBody.point(1.0), gravity=gravity, fluid=fluid)


def parameters(line: Line, turns: bool, compensated: bool) -> data.Parameters:
    """Kernel parameters of a string and its reel; `turns` says whether the body at its end can turn."""
    par = lowering.line_parameters(line.string, line.reel or NO_REEL, line.count, "symmetric", compensated)
    return par._replace(rotates=turns, kappa=0.0 if line.reel is None else par.kappa)


def body_drag(system: System, name: str, start: float = 0.0, until: float = 0.0) -> Drag:
    """Numbers of the fluid around a body for the kernels, with its points seen from the center of mass.

    A flow without end is there between two times at least.
    """
    body, fluid = system.bodies.get(name), system.fluid
    line = next(iter(system.lines.values()))
    if not isinstance(body, RigidBody) or fluid is None:
        return loads.drag_numbers(line_pendulum(line))
    own = fluid.around(system.body_fluid.get(name, BodyInFluid()))
    x = loads.drag_numbers(Chain(line.string, NO_REEL, body, gravity=float(system.gravity or 0.0), fluid=own))
    place = own.buoyancy_center or body.center_of_mass
    flow, times = flow_rows(own, start, until)
    return x._replace(
        flow=flow,
        times=times,
        center=_between(body.center_of_mass, x.center),
        buoyancy_center=_between(body.center_of_mass, place),
        body_added=own.added_mass,
    )


def _between(a: Any, b: Any) -> tuple[float, float, float]:
    """From a to b."""
    x, y, z = (float(q - p) for p, q in zip(a, b, strict=True))
    return (x, y, z)


def body_lift(system: System, name: str) -> float:
    """Buoyancy that a body has wherever it is (N)."""
    if system.fluid is None or name not in system.body_fluid:
        return 0.0
    return float(system.gravity or 0.0) * system.fluid.least_density * system.body_fluid[name].volume


def plan_of(system: System, method: Method) -> data.Plan:
    """All of the plan but sampling."""
    composition = COMPOSITIONS[method.order]
    step = None if isinstance(method.step, str) else method.step
    for name, line in system.lines.items():
        if line.reel is not None:
            try:
                lowering.check_law_order(line.reel.guide_law, method.order)
            except InputError as error:
                raise InputError(f"lines.{name}: {error}") from None
    return data.Plan(
        h=step or 0.0,
        stages=composition.stages,
        limit_multiple=composition.limit_multiple,
        adaptive=step is None,
        allowed_ratio=lowering.AUTO_RATIO if step is None else lowering.LARGEST_RATIO,
        resolution=lowering.AUTO_RESOLUTION,
        minimum_length=0.0,
        end_mass=0.0,
        body_frequency2=0.0,
        steps_per_sample=0,
        hold=method.at_end == "hold",
    )


def field_of(system: System) -> kernels.Field:
    """Gravity."""
    orbit = system.orbit
    if orbit is None:
        return kernels.Field(float(system.gravity or 0.0), False, 0.0, 1.0, 0.0, 0.0, ZERO, ZERO)
    return kernels.Field(
        0.0,
        True,
        orbit.gravitational_parameter,
        orbit.semi_major_axis,
        orbit.eccentricity,
        orbit.mean_anomaly,
        (1.0, 0.0, 0.0),
        (0.0, 1.0, 0.0),
    )


def arm_of(system: System, end: str, point: Any) -> tuple[float, float, float]:
    """An end of a string from the center of mass of what holds it, in its frame."""
    body = system.bodies.get(end)
    return _between(body.center_of_mass if isinstance(body, RigidBody) else ZERO, point)


class Arrays:
    """The arrays of a system in motion: all that a step leaves to the next one, and workspace."""

    def __init__(self, system: System, state: State) -> None:
        self.names = [*system.bodies, ANCHOR]
        self.bodies = [np.zeros(kernels.BODY_STATE) for _ in self.names]
        self.works = [np.zeros(kernels.BODY_WORK) for _ in self.names]
        self.nodes, self.reels, self.scratch, self.strand_works = [], [], [], []
        for line in system.lines.values():
            N, law = line.count, lowering.guide_law_code(line.reel or NO_REEL)
            self.nodes.append(vector_zeros(data.NODE_QUANTITIES, 3 * data.row_length(N)))
            self.reels.append(np.zeros(data.REEL_SIZE + (data.SPOOLED_CELLS if REMEMBERS[law] else 0)))
            self.scratch.append(data.empty_scratch(N))
            self.strand_works.append(np.zeros(kernels.STRAND_WORK))
        self.totals = kernels.empty_totals()
        self.clock = np.zeros(data.CLOCK_SIZE, dtype=np.int64)
        self.backups = np.zeros((BACKUPS, self.size()))
        self.place(system, state)

    def place(self, system: System, state: State) -> None:
        """Put a state at time 0 into the arrays, as if nothing had been before."""
        for array in (self.totals, self.clock, *self.bodies, *self.nodes, *self.reels):
            array[...] = 0
        self.bodies[-1][data.ATTITUDE] = 1.0
        for name, array in zip(system.bodies, self.bodies, strict=False):
            own = state.bodies[name]
            array[data.ATTITUDE : data.ATTITUDE + 4] = quaternion_of(np.array(own.attitude))
            array[kernels.PLACE : kernels.PLACE + 3] = own.position
            array[kernels.V : kernels.V + 3] = own.velocity
            array[kernels.OMEGA : kernels.OMEGA + 3] = own.angular_velocity
        for (name, line), nodes, reel in zip(system.lines.items(), self.nodes, self.reels, strict=True):
            started, N = state.lines[name], line.count
            data.nodes_of(nodes[data.POSITION], N)[:] = started.nodes
            data.nodes_of(nodes[data.VELOCITY], N)[:] = started.node_velocities
            reel[data.REEL_SIZE :] = 0.0 if line.reel is None else line.reel.spooled_strain
            reel[data.S], reel[data.SIGMA] = started.reeled_length, started.reel_speed
            reel[data.SIGMA_BEFORE] = reel[data.SIGMA_EARLIER] = started.reel_speed

    def size(self) -> int:
        """Numbers in a checkpoint."""
        arrays = [self.totals, self.clock, *self.bodies, *self.nodes, *self.reels]
        return sum(array.size for array in arrays)


def softness(system: System, end: str, point: Any, axis: Any = ZERO) -> float:
    """Inverse of the mass that a pull at an end feels where it feels least (1/kg); 0 where the end is held.

    A pull on string that comes off a drum there turns the body also about `axis`, which has the drum's radius for its
    length.
    """
    body = system.bodies.get(end)
    if not isinstance(body, RigidBody):
        return 0.0
    if body.is_point:
        return 1.0 / body.mass
    arm, J, n = arm_of(system, end, point), body.central_inertia(), np.array(axis)
    pulled = 1.0 / RigidBody.about_center(body.mass, J, tuple(-x for x in arm)).least_effective_mass()
    if not n.any():
        return pulled
    turned = max(pulled - 1.0 / body.mass, 0.0)
    return 1.0 / body.mass + (math.sqrt(turned) + math.sqrt(float(n @ np.linalg.solve(J, n)))) ** 2


def system_of(
    system: System,
    arrays: Arrays,
    commands: Mapping[str, data.Command],
    pushes: Mapping[str, tuple[data.Array, data.Array]],
    paths: Mapping[str, data.Array],
    shortest: Mapping[str, float],
    laws: Mapping[str, Sequence[CallableLaw]],
    compensated: bool = True,
    span: tuple[float, float] = (0.0, 0.0),
) -> kernels.Network:
    """The system as the kernels take it; `commands` of its reels, forces on bodies, and paths of those on one.

    Flows without end are there between the times of `span`.
    """
    row, bodies = 0, []
    around = [body_drag(system, name, *span) for name in arrays.names]
    acting = []
    lever = _levers(system)
    for i, name in enumerate(arrays.names):
        body = system.bodies.get(name)
        free = isinstance(body, RigidBody)
        turns = free and not body.is_point  # type: ignore[union-attr]
        J = body.central_inertia() if isinstance(body, RigidBody) and turns else np.array(NO_INERTIA)
        push, thrust = pushes.get(name, (NO_PUSH, NO_PUSH))
        applied = loads.force_numbers(system.applied_forces.get(name))
        center = body.center_of_mass if isinstance(body, RigidBody) else ZERO
        bodies.append(
            kernels.Body(
                mass=body.mass if isinstance(body, RigidBody) else 0.0,
                J=tuple(map(tuple, J.tolist())),  # type: ignore[arg-type]
                free=free,
                turns=turns,
                row=row if free else -1,
                moves=name in paths,
                path=paths.get(name, np.zeros((13, 1))),
                pushed=name in pushes or applied.acts,
                applied=applied.table,
                point=_between(center, applied.point),
                push=push,
                thrust=thrust,
                lift=body_lift(system, name),
                buoyancy=around[i].buoyancy_center,
                number=i,
                pull_lever=lever.get(name, 0.0),
                compensated=compensated,
                state=arrays.bodies[i],
                work=arrays.works[i],
            )
        )
        row += kernels.UNKNOWNS if free else 0
    strands, first = [], 0
    for k, (name, line) in enumerate(system.lines.items()):
        wet = line_pendulum(line, float(system.gravity or 0.0), system.fluid)
        acting.append(loads.kernel_loads(wet, laws.get(name, ()), *span))
        density = 0.0 if system.fluid is None else system.fluid.least_density
        command = commands.get(name, data.Command(True, np.zeros(1), np.zeros(1)))
        ends = (arrays.names.index(line.start), arrays.names.index(line.end))
        par = parameters(line, bodies[ends[1]].turns, compensated)
        on_body = line.reel is not None and system.on_free_body(line)
        axis = tuple(par.d * x for x in line.drum_axis) if on_body and line.drum_axis else ZERO
        moved = ZERO if command.locked else axis
        strands.append(
            kernels.Strand(
                par=par,
                number=k,
                sinking=1.0 - density * line.string.area / line.string.density,
                command=command,
                ends=ends,
                points=(arm_of(system, line.start, line.start_point), arm_of(system, line.end, line.end_point)),
                axis=axis,  # type: ignore[arg-type]
                wound=line.reel is not None,
                on_body=on_body,
                row=-1 if command.locked else row,
                softness=(
                    softness(system, line.start, line.start_point, moved),
                    softness(system, line.end, line.end_point),
                ),
                shortest=shortest.get(name, 0.0),
                first=first,
                nodes=arrays.nodes[k],
                reel=arrays.reels[k],
                scratch=arrays.scratch[k],
                work=arrays.strand_works[k],
            )
        )
        row += 0 if command.locked else 1
        first += line.count + 1
    return kernels.Network(
        Listed(kernels.Body, bodies),
        Listed(kernels.Strand, strands),
        Listed(Drag, around),
        Listed(data.Loads, acting),
        field_of(system),
        any(x.acts for x in acting),
        system.fluid is not None,
        any(loads.own_numbers(x, "drag").added > 0.0 for x in acting) or any(x.body_added for x in around),
        arrays.totals,
        arrays.clock,
        vector_zeros(row, LANES * (row // LANES + 2)),
        np.zeros((2, row)),
    )


def _levers(system: System) -> dict[str, float]:
    """Largest distance of a string from a body's center of mass, over its least moment of inertia (1/(kg m))."""
    found: dict[str, float] = {}
    for line in system.lines.values():
        for end, point in zip(line.ends, line.points, strict=True):
            body = system.bodies.get(end)
            if isinstance(body, RigidBody) and not body.is_point:
                arm = float(np.linalg.norm(arm_of(system, end, point)))
                found[end] = max(found.get(end, 0.0), arm / float(np.linalg.eigvalsh(body.central_inertia())[0]))
    return found


def path_tables(system: System, state: State, start: float, until: float) -> dict[str, data.Array]:
    """Places of the bodies on paths, between two times at least."""
    tables = {}
    for name, body in system.bodies.items():
        if isinstance(body, Kinematic) and body.path is not None:
            table = loads.path_table(body.path, start, until).copy()
            origin = np.array(state.bodies[name].position) - body.path.at(0.0)[0][0]
            table[1::4] += origin[:, None]
            tables[name] = table
    return tables
