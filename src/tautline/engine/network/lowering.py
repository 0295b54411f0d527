"""From a system and its state to what the kernels take."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any

import numpy as np

from tautline.engine import loads, lowering
from tautline.engine.attitudes import quaternion_of
from tautline.engine.force_law import CallableLaw
from tautline.engine.network.around import (
    NO_INERTIA,
    between,
    body_drag,
    body_lift,
    directional_numbers,
)
from tautline.engine.network.kinematic import STILL, KinematicMotion
from tautline.engine.network.strands import (
    NO_REEL,
    axis_of,
    elements_of,
    holder_of,
    is_reeved,
    parameters,
    reeving_of,
    shaft_leader,
    strands_of,
)
from tautline.kernels import data
from tautline.kernels.guide import REMEMBERS
from tautline.kernels.lanes import LANES, vector_zeros
from tautline.kernels.listed import Listed
from tautline.kernels.loads.drag import Drag
from tautline.kernels.network import data as kernels
from tautline.model.body import RigidBody
from tautline.model.checks import ZERO
from tautline.model.stacking import is_plain
from tautline.model.system.parts import ANCHOR
from tautline.model.system.state import State
from tautline.model.system.system import System

BACKUPS = 3  # copies of the motion that a march keeps
NO_PUSH = np.zeros((7, 1))
LOCKED = data.Command(True, np.zeros(1), np.zeros(1))
FREE = data.Command(False, np.zeros(1), np.zeros(1))


def field_of(system: System) -> kernels.Field:
    """Gravity."""
    orbit = system.orbit
    if orbit is None:
        return kernels.Field(system.gravity, False, 0.0, 1.0, 0.0, 0.0, ZERO, ZERO)
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
    return between(system.center_of(end), point)


class Arrays:
    """The arrays of a system in motion: all that a step leaves to the next one, and workspace."""

    def __init__(self, system: System, state: State) -> None:
        self.names = [*system.bodies, ANCHOR]
        self.bodies = [np.zeros(kernels.BODY_STATE) for _ in self.names]
        self.works = [np.zeros(kernels.BODY_WORK) for _ in self.names]
        self.nodes, self.reels, self.scratch, self.strand_works = [], [], [], []
        self.strands = strands_of(system)
        for strand in self.strands:
            N, law = elements_of(system, strand), lowering.guide_law_code(strand.reel or NO_REEL)
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
        for k, (strand, nodes, reel) in enumerate(zip(self.strands, self.nodes, self.reels, strict=True)):
            started, N = state.lines[strand.line], elements_of(system, strand)
            reel[data.REEL_SIZE :] = 0.0 if strand.reel is None else strand.reel.spooled_strain
            reel[data.S], reel[data.SIGMA] = started.feed(strand.span)
            if strand.span >= 0:
                rows = started.span_rows(strand.span)
                data.nodes_of(nodes[data.POSITION], N)[:] = started.nodes[rows]
                data.nodes_of(nodes[data.VELOCITY], N)[:] = started.node_velocities[rows]
                if is_reeved(system, strand):
                    length = state.lengths_of(system, strand.line)[strand.span]
                    reel[kernels.FED] = reel[data.S] - (system.lines[strand.line].string.length - length)
            if shaft_leader(system, self.strands, k)[0] not in (-1, k):
                reel[data.SIGMA] = 0.0  # the reel that leads its shaft has the speed
            reel[data.SIGMA_BEFORE] = reel[data.SIGMA_EARLIER] = reel[data.SIGMA]

    def size(self) -> int:
        """Numbers in a checkpoint."""
        arrays = [self.totals, self.clock, *self.bodies, *self.nodes, *self.reels]
        return sum(array.size for array in arrays)


def inverse_end_mass(system: System, end: str, point: Any, axis: Any = ZERO) -> float:
    """Inverse of the mass that a pull at an end feels where it feels least (1/kg); 0 where the end is held.

    Also for numbers that carry derivatives, to which limits of steps are nothing.

    A pull on string that comes off a drum there turns the body also about `axis`, which has the drum's radius for its
    length.
    """
    body = system.bodies.get(end)
    if not isinstance(body, RigidBody) or not is_plain(body.mass, body.inertia, body.center_of_mass, point, axis):
        return 0.0
    if body.is_point:
        return 1.0 / body.mass
    return _inverse_end_mass(body, tuple(arm_of(system, end, point)), tuple(axis))


# What follows from a body alone is kept, since a network is made anew with each command.
@lru_cache(maxsize=64)
def _inverse_end_mass(body: RigidBody, arm: tuple[float, ...], axis: tuple[float, ...]) -> float:
    J = body.central_inertia()
    pulled = 1.0 / RigidBody.about_center(body.mass, J, tuple(-x for x in arm)).least_effective_mass()
    by_drum = _turned_inverse_mass(body, axis)
    if by_drum == 0.0:
        return pulled
    turned = max(pulled - 1.0 / body.mass, 0.0)
    return 1.0 / body.mass + (math.sqrt(turned) + math.sqrt(by_drum)) ** 2


def turned_inverse_mass(system: System, end: str, axis: Any) -> float:
    """Inverse mass of a body against a drum that turns on it about an axis of the drum's radius (1/kg)."""
    body = system.bodies.get(end)
    if not isinstance(body, RigidBody) or body.is_point or not is_plain(body.inertia, body.center_of_mass, axis):
        return 0.0
    return _turned_inverse_mass(body, tuple(axis))


@lru_cache(maxsize=64)
def _turned_inverse_mass(body: RigidBody, axis: tuple[float, ...]) -> float:
    n = np.array(axis)
    return float(n @ np.linalg.solve(body.central_inertia(), n)) if n.any() else 0.0


def heave_frequency2(system: System, name: str) -> float:
    """Squared frequency at which a body bobs in a free surface (rad^2/s^2).

    Not of one whose numbers carry derivatives.
    """
    body, fluid = system.bodies.get(name), system.fluid
    own = system.body_fluid.get(name)
    if not isinstance(body, RigidBody) or fluid is None or own is None:
        return 0.0
    around = fluid.around(own)
    numbers = (body.mass, system.gravity, around.density, around.density_above, around.volume, around.body_height)
    return lowering.heave_frequency2(system.gravity, around, body.mass) if is_plain(*numbers) else 0.0


def system_of(
    system: System,
    arrays: Arrays,
    commands: Mapping[str, data.Command],
    pushes: Mapping[str, tuple[data.Array, data.Array]],
    kinematic: Mapping[str, KinematicMotion],
    shortest: Mapping[str, float],
    laws: Mapping[str, Sequence[CallableLaw]],
    compensated: bool = True,
    span: tuple[float, float] = (0.0, 0.0),
) -> kernels.Network:
    """The system as the kernels take it; `commands` of its reels, forces on bodies, and kinematic motions.

    Flows without end are there between the times of `span`.
    """
    row, bodies = 0, []
    around = [body_drag(system, name, *span) for name in arrays.names]
    directional = [directional_numbers(system, name) for name in arrays.names]
    acting = []
    lever = _levers(system)
    for i, name in enumerate(arrays.names):
        body = system.bodies.get(name)
        free = isinstance(body, RigidBody)
        turns = free and not body.is_point  # type: ignore[union-attr]
        J = body.central_inertia() if isinstance(body, RigidBody) and turns else np.array(NO_INERTIA)
        rows = J.tolist() if isinstance(J, np.ndarray) else J
        push, thrust = pushes.get(name, (NO_PUSH, NO_PUSH))
        applied = loads.force_numbers(system.applied_forces.get(name))
        motion = kinematic.get(name, STILL)
        bodies.append(
            kernels.Body(
                mass=body.mass if isinstance(body, RigidBody) else 0.0,
                J=tuple(map(tuple, rows)),  # type: ignore[arg-type]
                free=free,
                turns=turns,
                row=row if free else -1,
                moves=motion.moves,
                path=motion.path,
                rotates=motion.turns,
                angles=motion.angles,
                base=motion.base,
                mount=motion.mount,
                pushed=name in pushes or applied.acts,
                applied=applied.table,
                point=arm_of(system, name, applied.point),
                push=push,
                thrust=thrust,
                lift=body_lift(system, name),
                buoyancy=around[i].buoyancy_center,
                number=i,
                pull_lever=lever.get(name, 0.0),
                heave2=heave_frequency2(system, name),
                compensated=compensated,
                state=arrays.bodies[i],
                work=arrays.works[i],
            )
        )
        row += kernels.UNKNOWNS if free else 0
    strands, first = [], 0
    for k, strand in enumerate(arrays.strands):
        line, holder, N = system.lines[strand.line], holder_of(system, strand), elements_of(system, strand)
        wet = loads.Laden(line.string, system.gravity, system.fluid)
        own_laws = () if strand.span < 0 else laws.get(strand.line, ())
        acting.append(loads.kernel_loads(wet, own_laws, *span))
        density = 0.0 if system.fluid is None else system.fluid.least_density
        command = commands.get(strand.drive, FREE if strand.wheel is not None else LOCKED)
        ends = (arrays.names.index(holder.ends[0]), arrays.names.index(holder.ends[1]))
        par = parameters(line, strand, N, bodies[ends[1]].turns, compensated)
        axis = axis_of(system, strand)
        center = ZERO if strand.wheel is None else arm_of(system, strand.wheel.on, strand.wheel.center)
        reeving = reeving_of(system, arrays.strands, k, par, center)
        leads = reeving.feeds[0] in (-1, k)
        moves = leads and reeving.feeds[0] == k and not command.locked
        moved = axis if moves or not leads else ZERO
        points = tuple(arm_of(system, end, point) for end, point in zip(*holder, strict=True))
        strands.append(
            kernels.Strand(
                par=par,
                number=k,
                weight_fraction=1.0 - density * line.string.area / line.string.density,
                command=command,
                ends=ends,
                points=points,  # type: ignore[arg-type]
                axis=axis,
                has_reel=strand.reel is not None,
                on_body=strand.reel is not None and system.is_free(holder.ends[0]),
                row=row if moves else -1,
                inverse_end_mass=(
                    inverse_end_mass(system, holder.ends[0], holder.points[0], moved),
                    inverse_end_mass(system, holder.ends[1], holder.points[1]),
                ),
                turned=turned_inverse_mass(system, holder.ends[0], moved),
                shortest=shortest.get(strand.line, 0.0),
                first=first,
                nodes=arrays.nodes[k],
                reel=arrays.reels[k],
                scratch=arrays.scratch[k],
                work=arrays.strand_works[k],
                reeved=is_reeved(system, strand),
                reeving=reeving,
            )
        )
        row += 1 if moves else 0
        first += 0 if strand.span < 0 else N + 1
    return kernels.Network(
        Listed(kernels.Body, bodies),
        Listed(kernels.Strand, strands),
        Listed(Drag, around),
        Listed(kernels.Directional, directional),
        Listed(data.Loads, acting),
        field_of(system),
        any(x.acts for x in acting),
        system.fluid is not None,
        any(loads.own_numbers(x, "drag").added > 0.0 for x in acting)
        or any(x.body_added for x in around)
        or any(x.carries for x in directional),
        arrays.totals,
        arrays.clock,
        vector_zeros(row, LANES * (row // LANES + 2)),
        np.zeros((2, row)),
    )


def _levers(system: System) -> dict[str, float]:
    """Largest distance of a string from a body's center of mass, over its least moment of inertia (1/(kg m)).

    Not of bodies whose numbers carry derivatives.
    """
    found: dict[str, float] = {}
    for strand in strands_of(system):
        for end, point in zip(*holder_of(system, strand), strict=True):
            body = system.bodies.get(end)
            own = () if not isinstance(body, RigidBody) else (body.mass, body.inertia, body.center_of_mass, point)
            if isinstance(body, RigidBody) and not body.is_point and is_plain(*own):
                arm = float(np.linalg.norm(arm_of(system, end, point)))
                found[end] = max(found.get(end, 0.0), arm / body.least_inertia())
    return found
