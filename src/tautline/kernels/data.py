"""Data that pass between the kernels: parameters, plan, the carried motion, scratch and samples.

A node array is flat: first components of all nodes, then second ones, then third ones, each filled up with zeros to
`row_length`; `node` and `put_node` know that, other code need not. Passes along the string so run through contiguous
memory in vectors (along.py), and the filling takes what a vector has beyond the last node.
Letters are those of docs/theory.md; the glossary there maps them to the words of the API.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from tautline import ledger, registry
from tautline.arrays import Array as Array
from tautline.arrays import Array2, Array4
from tautline.arrays import Counters as Counters
from tautline.kernels.jit import kernel
from tautline.kernels.lanes import LANES, vector_zeros
from tautline.kernels.so3 import Matrix, Vector


def _places(*indices: int) -> tuple[int, ...]:
    """Indices as int64, the type of all indices in kernels."""
    return tuple(np.int64(i) for i in indices)  # type: ignore[misc]


def code(table: Mapping[str, object], name: str) -> int:
    """Number by which kernels know a law, a command or a load of the registry."""
    return list(table).index(name)


# Of the elastic laws the linear one alone has closed sums over the elements.
LINEAR = code(registry.ELASTIC_LAWS, "linear")

# Places in Motion.nodes. *_ERR is what the compensated sum before it still owes.
POSITION, POSITION_ERR, MOMENTUM, MOMENTUM_ERR, VELOCITY = range(5)
VELOCITY_BEFORE = 5  # with loads VELOCITY is the mean over the latest step, and this the one over the step before
FLUID_VELOCITY = 6  # of fluid that moves along with the string, in the latest step
NODE_QUANTITIES = 7

# Places in Motion.body: a quaternion, then vectors.
ATTITUDE, ATTITUDE_ERR, SPIN, SPIN_ERR, OMEGA, OMEGA_BEFORE, OMEGA_EARLIER = _places(0, 4, 8, 11, 14, 17, 20)
FLUID_AT_BODY = _places(23)[0]  # velocity of fluid that moves along with the body, in the latest step
BODY_SIZE = 26

# Places in Motion.reel.
S, S_ERR, P_S, P_S_ERR, SIGMA, SIGMA_BEFORE = _places(*range(6))
H_LAST, H_BEFORE = 6, 7  # the two latest stage steps, for the extrapolation that starts Newton's method
PENDING = 8  # the part of a kick that the constant-length step still owes to p and Pi
KEPT = 9  # energy less work plus losses at the latest sample: constant, but for the error of the method
T_START = 10  # time at which STEP was 0
TORQUE = 11  # on the drum, at the end of the latest step
FRAME_VELOCITY = _places(12)[0]  # of the guide, which the momenta are relative to
# A reel that does not move by its own equation: how it is held, and its prescribed speed and acceleration (m/s, m/s^2).
HELD, HELD_SPEED, HELD_ACCELERATION = _places(15, 16, 17)
STICTION = 18  # impulse that friction could still give at the end of a step in which the drum stood still
STOP, STOP_TIME = 19, 20  # end stop that the reel rests on: 1 retrieved, -1 deployed, 0 none; and since when
GUIDE_IMPULSE, GUIDE_IMPULSE_ERR = _places(21, 24)  # vectors: what the guide has given to string and body
RATIOS = _places(27)[0]  # largest step over each of limits.Limits
LOADS_PENDING = 32  # time for which loads have still to act at the present configuration
# At samples: energy at the start, of the potentials; and the largest energy that was in play since (march.py).
POTENTIAL, IN_PLAY = _places(33, 34)
SIGMA_EARLIER, H_EARLIER = 35, 36  # of the stage before those two
# Where the reel was and how long the base step when limits were looked at last; 0 s if they have to be.
GUARDED, GUARDED_STEP = 37, 38
STEP_MOMENTUM = _places(39)[0]  # of string and body relative to the guide, over the latest step
VISCOUS_PULL = 42  # what damping adds to the tension of the last element, where two steps joined last
DRAG_ON_BODY = 43  # size of the drag on the body, there
BOOKS = 44  # accounts that are booked (balance.py), each followed by what its sum still owes
REEL_SIZE = BOOKS + 2 * len(ledger.booked())
# Law `stretched` only: behind these, the mean strain of every cell of the string that is spooled.
SPOOLED_CELLS = 4096

# Values of HELD. A reel glides where friction is so stiff that its momentum no longer tells its speed.
NOT_HELD, STUCK, PRESCRIBED, GLIDING = 0.0, 1.0, 2.0, 3.0

# Places in Motion.clock.
STEP, LEVEL, ITERATIONS = range(3)
TOTAL = 3  # composed steps made, parts of base steps counted each
EXTRA = 4  # halvings beyond those of the limits, after a sample interval that went wrong
RAISED = 5  # halvings because the body turns fast
CLOCK_SIZE = 6

# Places in Scratch.nodes.
PULL = 0  # tension over length of every element
RIGHT = 1  # right-hand sides and what elimination makes of them
BORDER = 2  # coefficients of the nodes in the reel's equation; momenta where an observation needs them
MEAN_VELOCITY = 3  # being solved for
BY_SIGMA = 4  # derivative of the mean velocities by the reel's speed
TARGET = 5  # momenta on the left-hand side of the step, or with pending kicks paid
IMPULSE = 6  # what elements give to their nodes over a step
AT_SIGMA = 6  # before that: mean velocities at a guess of the reel's speed
GUESS = 7  # velocities that loads expect
PUSHED = 8  # forces of loads that do not resist
DIRECTION = 9  # unit vectors of the elements
FLOW = 10  # of the fluid at the middles of the elements, relative to the guide
BLOCK, BLOCK_OFF = 11, 12  # inverse blocks of elimination: diagonals, and what is beside them
# Beside them, of pairs of nodes (loads/both_ends.py): w, z, t; and m and x.
BESIDE, ELIMINATED, DIRECTIONS, COUPLINGS = range(13, 17)
LOAD_ROWS = 17  # two rows a load: forces on the nodes; then the force on s and the moment on the body
SCRATCH_NODES = LOAD_ROWS + 2 * len(registry.LOADS)
# Places in Scratch.factor: at constant length; with a moving reel.
LOWER, INVERSE = range(2)
# Off-diagonals above and below, their product, diagonal, leading minors (of node i at i + 1), and what follows.
ABOVE, BELOW, PRODUCT, DIAGONAL, MINOR, INVERSE_MINOR, RATIO = range(7)
# Of elements, where loads resist their motion (loads/resistance.py).
LENGTH, VISCOUS, BY_REEL, PASSING, ACROSS, ALONG, ADDED = range(7, 14)
# Parts of the blocks between nodes and of those of the nodes (loads/velocities.py).
COUPLING, COUPLING_ALONG, OWN_ALONG = range(14, 17)
# As BY_REEL and PASSING, for what feeds the stop of a span of a network.
BY_FAR, PASSING_FAR = 17, 18
FACTOR_ROWS = 19


def account(name: str) -> int:
    """Number of an account of the ledger, and its column in Samples.scalars."""
    return _places(ledger.names(*ledger.SIGN).index(name))[0]


KINETIC, ELASTIC, GRAVITY = map(account, ("kinetic_energy", "elastic_energy", "gravity_energy"))
CONTROL_WORK, EXTERNAL_WORK, GUIDE_WORK = map(account, ("control_work", "external_work", "guide_work"))
GUIDE_LOSS, FRICTION_LOSS = map(account, ("guide_loss", "friction_loss"))
FIRST_BOOKED = len(ledger.names(ledger.STORED))
# Places in Motion.reel of the accounts by number; behind each is what its sum still owes. None of those stored.
ACCOUNT_PLACES = _places(*(BOOKS + 2 * (k - FIRST_BOOKED) for k in range(len(ledger.ACCOUNTS))))

# Columns of Samples.scalars beyond the accounts.
(
    REELED_LENGTH,
    REEL_SPEED,
    ROTATIONAL,
    DRUM_TORQUE,
    ANGULAR_MOMENTUM,
    ORTHOGONALITY,
    STEP_LENGTH,  # of the latest step (s)
    ANGULAR_VELOCITY,
) = range(len(ledger.ACCOUNTS), len(ledger.ACCOUNTS) + 8)
ROTATION = ANGULAR_VELOCITY + 3
GUIDE_PLACE = ROTATION + 9  # displacement of the guide, and its velocity
GUIDE_VELOCITY = GUIDE_PLACE + 3
GIVEN_BY_GUIDE = GUIDE_VELOCITY + 3  # impulse since the start
SCALARS = GIVEN_BY_GUIDE + 3


class Parameters(NamedTuple):
    """The pendulum. All SI."""

    N: int
    L: float
    mu: float
    EA: float
    kappa: float
    d: float
    b: float
    r_p: Vector
    M: float
    J: Matrix
    rho: Vector
    mu_g: float  # weight of the string per length, buoyancy taken off
    weight: float  # of the body, buoyancy taken off
    weight_rho: Vector  # and its moment about the attachment point, in the body frame
    elastic_law: int
    tension_table: Array2  # elastic law `table`: knots of the strain, then coefficients of the energy beyond each
    viscosity: float  # of the string, times its cross-section
    law: int
    sigma_0: float
    extrapolated: bool  # strain at the guide from two elements, or the mean of the first
    theta: float  # weight of the step's end in the kinetic quadrature: 1/2 symmetric, 0 the paper's
    rotates: bool  # what is at its end can; False for a point mass
    compensated: bool
    viscous: float = 0.0  # friction of the drum: torque over angular velocity
    coulomb: float = 0.0  # and torque of dry friction
    max_torque: float = np.inf  # of the motor
    max_power: float = np.inf
    growth: float = 0.0  # of the drum's squared radius with the length spooled


class Plan(NamedTuple):
    """How to march: base step h, divided by 2**level; stages of one step; when to stop."""

    h: float
    stages: Array
    limit_multiple: float  # stability limit of the composed step over that of the single one
    adaptive: bool  # choose the level, or keep it at 0
    allowed_ratio: float  # of the stability limit
    resolution: float  # adaptive only: step times the frequency of the fundamental, at most
    minimum_length: float  # deployed, unstretched
    end_mass: float  # least effective mass of the body at the attachment
    body_frequency2: float  # squared frequency of the body's own swing under gravity
    steps_per_sample: int
    hold: bool = False  # at the ends of the string, instead of stopping the run
    drum_stiffness: float = 0.0  # of a spring on the length
    swing: float = 0.0  # squared frequency of the body's own swing, over the pull of the string
    drum_damping: float = 0.0  # of the damper beside that spring


# What moves the reel, by its code.
BY_TORQUE = code(registry.COMMANDS, "torque")
BY_PROFILE = code(registry.COMMANDS, "prescribed_motion")
# A row of a profile: the time from which it holds, and coefficients of powers of the time since then.
PROFILE_ROW = 9


class Command(NamedTuple):
    """Locked, or one of the kinds above.

    The table is of the motor's torque or of the brake's; interpolated, and held outside its range.
    """

    locked: bool
    times: Array
    torques: Array
    kind: int = BY_TORQUE
    profile: Array2 = np.zeros((1, PROFILE_ROW))
    stiffness: float = 0.0
    damping: float = 0.0
    pointwise: bool = False  # the table was read off a function at the ends of the steps; else it is integrated


class Loads(NamedTuple):
    """Forces that are not in the Lagrangian, and the path of the guide.

    A run that needs nothing beyond the plain model passes None in its place, and is compiled without all that asks for
    it: loads and end stops.
    """

    acts: bool  # anything but the path
    moves: bool  # the guide
    path: Array2  # of the guide: knots, then four coefficients a component
    own: tuple[Any, ...]  # numbers of each load of the registry, in its order; types are those of their files


class Motion(NamedTuple):
    """All that a step leaves to the next one, and so all that a checkpoint has to hold.

    Few arrays, because each is seven to eleven values for a function that stays apart: with one array a quantity,
    calls cost as much as the arithmetic.
    """

    nodes: Array2  # (NODE_QUANTITIES, 3 row_length(N))
    body: Array
    reel: Array
    clock: Counters


class Scratch(NamedTuple):
    """Workspace that the steps write before they read; holds nothing from one call to the next."""

    nodes: Array2  # (SCRATCH_NODES, 3 row_length(N))
    factor: Array2  # (FACTOR_ROWS, row_length(N))


class Samples(NamedTuple):
    scalars: Array2  # (n, SCALARS)
    nodes: Array4  # (n, 2, N + 1, 3): positions relative to the guide entrance, velocities


def row_length(N: int) -> int:
    """Places for one component of all nodes: a vector may begin at the node behind any of them (along.py)."""
    return LANES * (N // LANES + 2)


def nodes_of(row: Array, N: int) -> Array:
    """View of a row of a node array as nodes of shape (N + 1, 3)."""
    return row.reshape(3, -1)[:, : N + 1].T


def empty_motion(N: int, spooled_cells: int = 0) -> Motion:
    return Motion(
        vector_zeros(NODE_QUANTITIES, 3 * row_length(N)),
        np.zeros(BODY_SIZE),
        np.zeros(REEL_SIZE + spooled_cells),
        np.zeros(CLOCK_SIZE, dtype=np.int64),
    )


def empty_scratch(N: int) -> Scratch:
    n = row_length(N)
    return Scratch(vector_zeros(SCRATCH_NODES, 3 * n), vector_zeros(FACTOR_ROWS, n))


def copy_of(motion: Motion) -> Motion:
    return Motion(motion.nodes.copy(), motion.body.copy(), motion.reel.copy(), motion.clock.copy())


def empty_backups(motion: Motion) -> Array:
    """Workspace for two copies of a motion: at the latest sample, and before a step that may meet an event."""
    return np.zeros((2, sum(array.size for array in motion)))


def empty_samples(n: int, N: int) -> Samples:
    return Samples(np.full((n, SCALARS), np.nan), np.full((n, 2, N + 1, 3), np.nan))


@kernel
def node_stride(x: Array) -> int:
    """Distance of the components of a node."""
    return len(x) // 3


@kernel
def node(x: Array, i: int) -> Vector:
    n = node_stride(x)
    return (x[i], x[n + i], x[2 * n + i])


@kernel
def put_node(x: Array, i: int, value: Vector) -> None:
    n = node_stride(x)
    x[i] = value[0]
    x[n + i] = value[1]
    x[2 * n + i] = value[2]


@kernel
def add_to_node(x: Array, i: int, value: Vector) -> None:
    n = node_stride(x)
    x[i] += value[0]
    x[n + i] += value[1]
    x[2 * n + i] += value[2]


@kernel
def triple(x: Array, i: int) -> Vector:
    return (x[i], x[i + 1], x[i + 2])


@kernel
def put_triple(x: Array, i: int, value: Vector) -> None:
    x[i] = value[0]
    x[i + 1] = value[1]
    x[i + 2] = value[2]


@kernel
def add_triple(x: Array, i: int, value: Vector) -> None:
    x[i] += value[0]
    x[i + 1] += value[1]
    x[i + 2] += value[2]


@kernel
def copy_nodes(x: Array, out: Array) -> None:
    for k in range(len(x)):
        out[k] = x[k]


@kernel
def clear_nodes(out: Array) -> None:
    for k in range(len(out)):
        out[k] = 0.0
