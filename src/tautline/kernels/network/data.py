"""Data that pass between the kernels of a network: its bodies, its strings, gravity, the equations, samples.

Letters are those of docs/theory.md, "Assemblies". A string uses the node arrays, places and scratch of the pendulum's
(kernels/data.py), with all nodes in inertial coordinates, or in those that fall along an orbit.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from tautline import ledger, registry
from tautline.arrays import Array2, Array3
from tautline.kernels import data
from tautline.kernels.data import Array, Command, Counters, Loads, Parameters, Scratch, _places, code
from tautline.kernels.listed import Listed, reader
from tautline.kernels.loads.drag import Drag
from tautline.kernels.so3 import Matrix, Quaternion, Vector

# Places in Body.state, behind the attitude (data.ATTITUDE, ATTITUDE_ERR). *_ERR is what the sum before it still owes.
PLACE, PLACE_ERR, LINEAR, LINEAR_ERR, ANGULAR, ANGULAR_ERR = _places(8, 11, 14, 17, 20, 23)
# Mean velocities and angular velocities (body frame) over the latest steps.
V, V_BEFORE, V_EARLIER, OMEGA, OMEGA_BEFORE, OMEGA_EARLIER = _places(26, 29, 32, 35, 38, 41)
FLUID = _places(44)[0]  # velocity of fluid that moves along with the body, in the latest step
# Impulse since the start of what holds or moves a body whose motion is given, and its moment about the body's origin.
GIVEN, GIVEN_MOMENT = _places(47, 50)
# Velocity and angular velocity of fluid that moves along with a body as its added-mass matrix says, in the latest step.
MOVED, MOVED_SPIN = _places(53, 56)
V_OLDER, OMEGA_OLDER = _places(59, 65)  # two vectors each: of the steps before V_EARLIER and OMEGA_EARLIER
BODY_STATE = 71
# Places in Body.work: unknowns of the step; attitude at its start; force and moment of gravity at its start (N, N m).
V_NOW, OMEGA_NOW, TURNED, PULLED, TWISTED = _places(0, 3, 6, 15, 18)
# Momentum and angular momentum of the step at its start, and what they gained: of bodies whose motion is given.
AT_START, SPIN_AT_START, GAINED, SPIN_GAINED = _places(21, 24, 27, 30)
PUSHED = _places(33)[0]  # impulse of applied forces at the start of a step, and its moment, inertial
RESISTANCE = _places(39)[0]  # of the fluid at a step boundary: four blocks, force and moment (directional.Resistance)
BODY_WORK = 81

# Places in Strand.work. Ends are numbered 0 and 1: momenta of the end nodes at the start of a step (N s), their
# derivatives by each other's velocity and by sigma, and derivatives of the reel's equation by the end velocities.
END_MOMENTUM, END_BY_SIGMA, REEL_BY_END, END_VELOCITY = _places(0, 6, 12, 18)
SCHUR = _places(24)[0]  # four numbers: by velocity of the first and of the second, of end 0 and then of end 1
SIGMA_NOW, PIVOT, LEFT, IMPULSE_NOW, SCALE, FORCE, STRAIN, WEIGHT_S = _places(*range(28, 36))
GRADIENT, S_BEFORE = _places(37, 38)
APPROACHES = _places(39)[0]  # 1 if the reel was before the end of its string when the step began, else 0
END_WEIGHT = _places(60)[0]  # impulse of gravity on the ends in the first half of a step
START_ROW = _places(40)[0]  # a reels.ReelStart
# Of inverse dynamics: forces on s other than the motor's, with dT/ds; change of the reel's momentum over a short step.
REEL_PUSH, REEL_CHANGE = _places(66, 67)
# Of spans (reeving.py): what corresponds to END_BY_SIGMA and REEL_BY_END for the feed at the stop; the feeds' own block
# and residuals; forces and momenta of a feed from all strings that it feeds; gravity on what is spooled or on a wheel.
END_BY_STOP, STOP_BY_END = _places(68, 74)
FEED_BLOCK, FEED_LEFT = _places(80, 84)
ON_FEED, ON_FEED_END, FEED_GRADIENT, FEED_MOMENTUM, SPOOLED_WEIGHT_S = _places(86, 87, 88, 89, 90)
WHEEL_WEIGHT = _places(91)[0]  # impulse of gravity on the wrap in the first half of a step, then its weight (N)
RUB = _places(97)[0]  # a friction.Rub at the start of a step
FEED_KINETIC = _places(101)[0]  # kinetic energy of a span
POWER = _places(102)[0]  # of every load, as its account takes it
FEED_OWED = _places(102 + len(registry.LOADS))[0]  # impulse of loads on a feed that a sample still owes
SPAN_REEL = int(FEED_OWED) + 1  # of a span, what Motion.reel is of a pendulum where loads look at it
# Of a rope that may slip: a friction.Rub at the start of a step, impulses beside it, what the groove gives, its side,
# and what it would take to stick.
GRIP_RUB, GRIP_BESIDE, GRIP_NOW, GRIP_SIDE, GRIP_NEEDED = _places(*(SPAN_REEL + i for i in (16, 20, 22, 23, 24)))
STRAND_WORK = SPAN_REEL + 25
# Places in Strand.reel: length that has come in at the stop, but for a constant; 0 where no feed is there.
FED, FED_ERR = _places(12, 13)
SIGMA_FOURTH, SIGMA_FIFTH = _places(39, 40)  # speeds of the steps before SIGMA_EARLIER
# Of a rope that may slip on its wheel (grip.py): whether it sticks, impulses towards the end and the start of the line
# that the groove could still give at the end of a step in which it stuck; how far it has slipped, and since when.
GRIPS, GRIP_LOW, GRIP_HIGH, SLIPPED, SLIP_TIME = _places(21, 22, 23, 24, 25)

# Places in Scratch.factor of what inner nodes follow of a velocity of the first and of the last node.
BY_FIRST, BY_LAST = 7, 8
FOLLOWING = 40  # nodes beyond which that is below rounding
# Place in Scratch.nodes of gravity on the nodes: in a row of applied forces, which are those of bodies.
WEIGHTS = data.LOAD_ROWS + 2 * code(registry.LOADS, "applied_force")
assert data.FACTOR_ROWS > BY_LAST

# Places in Network.totals: rate at which the motion of the frame changes the potential energy (W); number of the latest
# steps that had one length.
FRAME_POWER, ALIKE = _places(39, 43)

UNKNOWNS = 6  # of a free body


class Body(NamedTuple):
    """A rigid body. Free; or kinematic: fixed in place, or along a path and by angles."""

    mass: float
    J: Matrix  # about the centre of mass
    free: bool
    turns: bool  # False for a point mass
    row: int  # of its first unknown, if it is free
    moves: bool  # along the path
    path: Array2  # of its place, 13 rows (tables.vector_at)
    rotates: bool  # by prescribed angles
    angles: Array2  # roll, pitch and yaw, likewise
    base: Quaternion  # rotation after these
    mount: Quaternion  # rotation before these
    pushed: bool  # by forces that are applied to it
    applied: Array2  # forces at a point and moments over time, 7 rows: times, force, moment; inertial
    point: Vector  # that one, from the centre of mass, in the body's frame
    push: Array2  # forces at the centre of mass and moments, likewise
    thrust: Array2  # the same in the frame of the body
    lift: float  # buoyancy that it has everywhere (N)
    buoyancy: Vector  # where that acts, from the centre of mass
    number: int  # of it among all bodies, and of the fluid around it
    pull_lever: float  # largest distance of a string from the centre of mass, over the least moment of inertia
    heave2: float  # squared frequency at which it bobs in a free surface
    compensated: bool  # sums of its state keep their rounding
    state: Array  # (BODY_STATE,)
    work: Array  # (BODY_WORK,)


class Directional(NamedTuple):
    """Forces of the fluid around a body by direction, along its axes; points are from the centre of mass."""

    acts: bool
    swing: float  # squared frequency of a swing about its direction of motion, per squared speed, at most (1/m^2)
    drag: Vector  # force/speed^2 along each axis, at the centre of drag
    carries: bool  # fluid moves along as the next three say
    mass: Matrix  # momentum by velocity of the centre of mass
    across: Matrix  # by angular velocity
    inertia: Matrix  # angular momentum about the centre of mass by angular velocity
    wing: float  # force/speed^2 per coefficient
    place: Vector  # where the wing's lift and drag act
    chord: Vector  # unit vectors: to the leading edge,
    span: Vector  # along the wing,
    normal: Vector  # chord cross span
    polar: Array2  # angles of attack, coefficients of lift, of drag


class Friction(NamedTuple):
    """Friction of a rope on a wheel or pin (docs/theory.md, "Sheaves and pins")."""

    law: int  # 0 none, or one of network/friction.py
    coefficient: float  # 1 - efficiency; bearing friction times bearing radius over radius; friction of the rope
    turns: float  # angle of whole turns (rad)
    alpha_0: float  # smoothing speed


class Reeving(NamedTuple):
    """Feeds of the ends of a string, and the wheel at its start."""

    feeds: tuple[int, int]  # strings whose reels feed its start and its stop, or -1
    factors: tuple[float, float]  # speed of the feed there over that reel's speed
    idle: bool  # no string, only a drum at the end of the string before
    sheave: bool  # the reel is a sheave or pin
    par: Parameters  # of the drum or wheel: a sheave has the inertia of its wrap in kappa, and no density
    wrap: float  # mass of the rope on the wheel
    center: Vector  # of the wheel, in the frame of the body that carries it
    friction: Friction
    span: int  # string behind the wheel
    wheel: int  # string that is the wheel on which this one's rope may slip, or -1
    shared: bool  # the reel is a drum whose shaft turns drums of other lines too
    groove: Friction  # between the two


class Strand(NamedTuple):
    """A span of a line with the drum or wheel at its start, or a drum or wheel alone. A line has one span at least."""

    par: Parameters  # without weight and body
    number: int  # of it among all strings, and of the loads on it
    weight_fraction: float  # part of its weight that buoyancy leaves
    command: Command  # of its reel; locked where there is none
    ends: tuple[int, int]  # bodies that hold them
    points: tuple[Vector, Vector]  # where, in the frames of the bodies
    axis: Vector  # of the drum in the frame of the first body, times the drum's radius; 0 where the body cannot turn
    has_reel: bool  # has a reel, whose string is carried at the guide entrance
    on_body: bool  # that reel hangs on a free body: the spooled string is a point mass there
    row: int  # of sigma among the unknowns, or -1 where the reel does not move
    inverse_end_mass: tuple[float, float]  # inverse masses that pulls at both ends feel (1/kg), without the drum
    turned: float  # inverse mass of the first body against the drum that turns on it (1/kg)
    shortest: float  # deployed length at which a retrieval ends
    first: int  # place of its first node among those of all strings
    nodes: Array2  # (NODE_QUANTITIES, 3 row_length(N))
    reel: Array
    scratch: Scratch
    work: Array  # (STRAND_WORK,)
    reeved: bool  # rope comes and goes at its stop too, or with another's reel
    reeving: Reeving


class Field(NamedTuple):
    """Gravity: uniform along e3, or of a central body, seen from a frame that falls along an orbit."""

    g: float
    orbit: bool
    gm: float  # gravitational parameter (m^3/s^2)
    semi_major_axis: float
    eccentricity: float
    mean_anomaly: float  # at time 0
    towards: Vector  # the pericentre
    along: Vector  # at right angles to it in the plane, in the direction of motion


class Network(NamedTuple):
    """A network in motion."""

    bodies: Listed[Body]
    strands: Listed[Strand]
    around: Listed[Drag]  # fluid around every body; points from the centre of mass
    directional: Listed[Directional]  # likewise
    acting: Listed[Loads]  # loads on every string. Apart, since to read them for every look at a string takes long
    field: Field
    loaded: bool  # loads act where steps join
    in_fluid: bool
    carries_fluid: bool  # fluid moves along with strings or bodies
    totals: Array  # (REEL_SIZE,): accounts and balance of the whole, in the places of Motion.reel
    clock: Counters
    matrix: Array2  # of the unknowns of bodies and reels
    right: Array2  # (2, unknowns): right-hand sides, solution


body_at = reader(Body)
strand_at = reader(Strand)
drag_at = reader(Drag)
directional_at = reader(Directional)
loads_at = reader(Loads)

# Columns of the samples of the whole: accounts, then these.
LINEAR_MOMENTUM, ANGULAR_MOMENTUM, STEP_LENGTH = _places(*(len(ledger.ACCOUNTS) + i for i in (0, 3, 6)))
WHOLE = int(STEP_LENGTH) + 1
# Of a body.
BODY_PLACE, BODY_VELOCITY, BODY_OMEGA, BODY_ATTITUDE, BODY_GIVEN = _places(0, 3, 6, 9, 18)
BODY_COLUMNS = 24
# Of a string: accounts, then these.
# RETRACTED is the part of the string's length that is not between its ends.
REELED, SPEED, TORQUE_NOW, RETRACTED = _places(*(len(ledger.ACCOUNTS) + i for i in range(4)))
STRAND_COLUMNS = int(RETRACTED) + 1


class WholeSamples(NamedTuple):
    """Samples of a network."""

    whole: Array2  # (n, WHOLE)
    bodies: Array3  # (n, bodies, BODY_COLUMNS)
    strands: Array3  # (n, strings, STRAND_COLUMNS)
    nodes: Array3  # (n, nodes of all strings, 6): positions, velocities


def empty_samples(n: int, bodies: int, strands: int, nodes: int) -> WholeSamples:
    return WholeSamples(
        np.full((n, WHOLE), np.nan),
        np.full((n, bodies, BODY_COLUMNS), np.nan),
        np.full((n, strands, STRAND_COLUMNS), np.nan),
        np.full((n, nodes, 6), np.nan),
    )


def empty_totals() -> Array:
    return np.zeros(data.REEL_SIZE)
