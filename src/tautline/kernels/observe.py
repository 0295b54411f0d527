"""From momenta to what is reported at a sample: velocities, energies, angular momentum."""

from __future__ import annotations

from typing import NamedTuple

from tautline.kernels import data
from tautline.kernels.balance import book, copy_accounts
from tautline.kernels.data import (
    Array,
    Loads,
    Motion,
    Parameters,
    Samples,
    Scratch,
    copy_nodes,
    node,
    node_stride,
    put_triple,
    triple,
)
from tautline.kernels.energy import (
    all_momenta,
    elastic,
    gravity_deployed,
    gravity_reel,
    kinetic_body,
    kinetic_reel,
    kinetic_rotation,
    kinetic_string,
    momenta,
)
from tautline.kernels.fixed import complete_kick, momenta_with_kick
from tautline.kernels.guide import spooled_energy
from tautline.kernels.jit import entry, inlined, kernel
from tautline.kernels.lanes import select, some, take, zero_like
from tautline.kernels.legendre import rates_of
from tautline.kernels.loads.guide_motion import add_carried
from tautline.kernels.loads.jump import add_owed, owed_at_sample
from tautline.kernels.newton import Rates
from tautline.kernels.reeling import evaluate_forces
from tautline.kernels.rotation import attitude
from tautline.kernels.so3 import Matrix, Vector, add, apply, cross, orthogonality_error


@entry
def begin(par: Parameters, motion: Motion) -> None:
    """Momenta from the velocities in VELOCITY, OMEGA and SIGMA, by the Legendre transform."""
    reel = motion.reel
    body = motion.body
    q, v, p = motion.nodes[data.POSITION], motion.nodes[data.VELOCITY], motion.nodes[data.MOMENTUM]
    R, omega = attitude(body), triple(body, data.OMEGA)
    reel[data.P_S], Pi = all_momenta(par, reel[data.S], reel[data.SIGMA], q, v, R, omega, p)
    put_triple(body, data.SPIN, Pi)
    forget_history(motion)


@entry
def change_reel_mode(
    par: Parameters, locked: bool, motion: Motion, scratch: Scratch, held: float, sigma: float, acceleration: float
) -> float:
    """Make the reel ready to move by its own equation, or to be held or driven from now on; the energy that this gave.

    A reel that was locked, held or driven gets the momentum of its speed, p_s = P_s(g, v, sigma). To hold or drive it
    takes an impulse on s alone, if its speed is another: nodes and body keep their momenta, and the energy is the
    impulse times the mean of the speeds before and after (equation 48).
    """
    complete_kick(par, motion, scratch)
    reel = motion.reel
    v = motion.nodes[data.VELOCITY]
    energy = 0.0
    for then in (False, True):
        if then and held == data.NOT_HELD:
            break
        if then:
            reel[data.HELD] = held
            reel[data.HELD_SPEED] = sigma
            reel[data.HELD_ACCELERATION] = acceleration
        Pi = momenta_with_kick(par, motion, scratch)
        rates = rates_of(par, locked and not then, motion, reel[data.P_S], Pi, scratch)
        copy_nodes(scratch.nodes[data.MEAN_VELOCITY], v)
        put_triple(motion.body, data.OMEGA, rates.omega)
        P_s = momenta(par, reel[data.S], rates.sigma, motion.nodes[data.POSITION], v, scratch.nodes[data.TARGET])
        if then:
            energy = 0.5 * (P_s - reel[data.P_S]) * (reel[data.SIGMA] + sigma)
        elif not locked and reel[data.HELD] == data.PRESCRIBED:
            # the half impulse that the last step was still to be given
            book(par, reel, data.CONTROL_WORK, (P_s - reel[data.P_S]) * reel[data.SIGMA])
        reel[data.SIGMA] = rates.sigma
        reel[data.P_S] = P_s
        reel[data.P_S_ERR] = 0.0
        reel[data.HELD] = data.NOT_HELD
    reel[data.HELD] = held
    reel[data.STICTION] = 0.0
    forget_history(motion)
    evaluate_forces(par, reel[data.S], motion.nodes[data.POSITION], scratch.nodes[data.PULL])
    return float(energy)


@inlined
def forget_history(motion: Motion) -> None:
    """Let the next Newton iteration start from the present velocities alone."""
    put_triple(motion.body, data.OMEGA_BEFORE, triple(motion.body, data.OMEGA))
    put_triple(motion.body, data.OMEGA_EARLIER, triple(motion.body, data.OMEGA))
    motion.reel[data.SIGMA_BEFORE] = motion.reel[data.SIGMA]
    motion.reel[data.SIGMA_EARLIER] = motion.reel[data.SIGMA]
    motion.reel[data.H_LAST] = 0.0
    motion.reel[data.H_BEFORE] = 0.0
    motion.reel[data.H_EARLIER] = 0.0


@kernel
def angular_momentum(N: int, q: Array, p: Array, R: Matrix, Pi: Vector) -> Vector:
    """sum q_i x p_i + R Pi about the guide entrance."""
    total = apply(R, Pi)
    for i in range(1, N + 1):
        total = add(total, cross(node(q, i), node(p, i)))
    return total


class Diagnostics(NamedTuple):
    """Energies of a state, and its momentum about the vertical axis."""

    kinetic: float
    rotational: float
    elastic: float  # of the deployed string
    gravity: float
    angular_momentum: float
    orthogonality: float


@kernel
def diagnostics_of(
    par: Parameters, s: float, sigma: float, q: Array, v: Array, p: Array, R: Matrix, omega: Vector, Pi: Vector
) -> Diagnostics:
    string = kinetic_string(par, s, sigma, q, v)
    return Diagnostics(
        string + kinetic_reel(par, s, sigma) + kinetic_body(par, node(v, par.N), R, omega),
        kinetic_rotation(par, omega),
        elastic(par, s, q),
        gravity_reel(par, s) + gravity_deployed(par, s, q, R),
        angular_momentum(par.N, q, p, R, Pi)[2],
        orthogonality_error(R),
    )


@kernel
def write_diagnostics(x: Diagnostics, out: Array) -> None:
    out[data.KINETIC] = x.kinetic
    out[data.ROTATIONAL] = x.rotational
    out[data.ELASTIC] = x.elastic
    out[data.GRAVITY] = x.gravity
    out[data.ANGULAR_MOMENTUM] = x.angular_momentum
    out[data.ORTHOGONALITY] = x.orthogonality


@kernel
def note_reel(reel: Array, spooled: float, sigma: float, out: Array) -> None:
    """Add what only the reel knows to the diagnostics of a sample; `spooled` is the energy of the string on it."""
    out[data.REELED_LENGTH] = reel[data.S]
    out[data.REEL_SPEED] = sigma
    out[data.ELASTIC] += spooled
    copy_accounts(reel, out)
    out[data.DRUM_TORQUE] = reel[data.TORQUE]
    out[data.STEP_LENGTH] = abs(reel[data.H_LAST])
    for i in range(9):  # a guide that stands; one that moves says so afterwards
        out[data.GUIDE_PLACE + i] = 0.0


class Sample(NamedTuple):
    """A state as samples report it."""

    rates: Rates
    R: Matrix
    diagnostics: Diagnostics
    owed_work: float  # of the half impulse that a reel in prescribed motion has still to be given for the latest step


@inlined
def sample_of(
    par: Parameters, locked: bool, motion: Motion, rates: Rates, p_s: float, Pi: Vector, scratch: Scratch
) -> Sample:
    """Sample of a motion, from its rates and momenta (MEAN_VELOCITY, TARGET, p_s and Pi)."""
    reel = motion.reel
    s = reel[data.S]
    q = motion.nodes[data.POSITION]
    v = scratch.nodes[data.MEAN_VELOCITY]
    R = attitude(motion.body)
    diagnostics = diagnostics_of(par, s, rates.sigma, q, v, scratch.nodes[data.TARGET], R, rates.omega, Pi)
    prescribed = reel[data.HELD] == data.PRESCRIBED
    owed_work = zero_like(s)
    if not locked and some(prescribed):
        P_s = momenta(par, s, rates.sigma, q, v, scratch.nodes[data.BORDER])
        owed_work = select(prescribed, (P_s - p_s) * reel[data.SIGMA], owed_work)
    return Sample(rates, R, diagnostics, owed_work)


@kernel
def write_sample(reel: Array, spooled: float, x: Sample, out: Array) -> None:
    """All scalars of a sample."""
    write_diagnostics(x.diagnostics, out)
    note_reel(reel, spooled, x.rates.sigma, out)
    out[data.CONTROL_WORK] += x.owed_work
    for i in range(3):
        out[data.ANGULAR_VELOCITY + i] = x.rates.omega[i]
        for j in range(3):
            out[data.ROTATION + 3 * i + j] = x.R[i][j]


@kernel
def write_nodes(N: int, q: Array, v: Array, k: int, out: Array) -> None:
    """Positions and velocities of member k."""
    for i in range(3):
        for e in range(N + 1):
            out[0, e, i] = take(q[i * node_stride(q) + e], k)
            out[1, e, i] = take(v[i * node_stride(v) + e], k)


@entry
def observe(
    par: Parameters,
    locked: bool,
    motion: Motion,
    scratch: Scratch,
    out: Samples,
    row: int,
    t: float,
    loads: Loads | None,
) -> None:
    """Write the present state into row `row` of the samples. The motion stays as it is, bit for bit."""
    x = out.scalars[row]
    reel = motion.reel
    spooled = spooled_energy(par, reel, reel[data.S])
    v = scratch.nodes[data.MEAN_VELOCITY]
    if loads is not None and (loads.acts or loads.moves):
        owed = owed_at_sample(par, loads, locked, t, motion, scratch)
        rates = owed.rates
        q, p, R = motion.nodes[data.POSITION], scratch.nodes[data.TARGET], attitude(motion.body)
        _, Pi = all_momenta(par, reel[data.S], rates.sigma, q, v, R, rates.omega, p)
        write_sample(reel, spooled, sample_of(par, locked, motion, rates, owed.p_s, Pi, scratch), x)
        add_owed(loads, owed, reel, scratch, x)
        add_carried(par, loads, t, motion, scratch, x)
    else:
        Pi = momenta_with_kick(par, motion, scratch)
        rates = rates_of(par, locked, motion, reel[data.P_S], Pi, scratch)
        write_sample(reel, spooled, sample_of(par, locked, motion, rates, reel[data.P_S], Pi, scratch), x)
    write_nodes(par.N, motion.nodes[data.POSITION], v, 0, out.nodes[row])
