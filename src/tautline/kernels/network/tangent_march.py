"""Many steps of a network with tangents: the derivative of a march, at the steps that it makes."""

from __future__ import annotations

from tautline.arrays import Array2
from tautline.errors import INTERRUPTED, NON_FINITE, RUNNING
from tautline.kernels import data
from tautline.kernels.data import Plan
from tautline.kernels.interrupts import FIRST_QUESTION, must_stop, steps_left
from tautline.kernels.jit import inlined, tangent_entry
from tautline.kernels.network.begin import begin_network, release_reels
from tautline.kernels.network.data import Network, WholeSamples, strand_at
from tautline.kernels.network.march import FIRST_ROW, NetworkMarched, event_at_end, one_step, sample_network
from tautline.kernels.network.observe import observe_network, refresh_network
from tautline.kernels.tables import curve_at


@inlined
def prescribe_reel(network: Network, k: int, t: float, out: WholeSamples) -> None:
    """Let a reel begin the motion that its command prescribes; the energy that this takes is control work."""
    strand = strand_at(network.strands, k)
    reel = strand.reel
    observe_network(network, out, FIRST_ROW, t)
    before = out.whole[FIRST_ROW, data.KINETIC]
    _, speed, acceleration = curve_at(strand.command.profile.T, t)
    reel[data.HELD], reel[data.HELD_SPEED], reel[data.HELD_ACCELERATION] = data.PRESCRIBED, speed, acceleration
    observe_network(network, out, FIRST_ROW, t)
    work = out.whole[FIRST_ROW, data.KINETIC] - before
    release_reels(network, t)
    reel[data.HELD], reel[data.HELD_SPEED], reel[data.HELD_ACCELERATION] = data.PRESCRIBED, speed, acceleration
    reel[data.ACCOUNT_PLACES[data.CONTROL_WORK]] += work


@tangent_entry
def begin_network_with_tangents(network: Network, out: WholeSamples) -> NetworkMarched:
    """Momenta of a network at its start, from positions and velocities; motions that are prescribed begin.

    `out` has a row to work in.
    """
    t = network.totals[data.T_START]
    begin_network(network, t)
    release_reels(network, t)
    for k in range(len(network.strands)):
        command = strand_at(network.strands, k).command
        if command.kind == data.BY_PROFILE and not command.locked:
            prescribe_reel(network, k, t, out)
    return NetworkMarched(RUNNING, 0, -1)


@tangent_entry
def march_network_with_tangents(
    network: Network, plan: Plan, backups: Array2, out: WholeSamples, pulse: int = 0
) -> NetworkMarched:
    """Fill all rows of `out`, one every plan.steps_per_sample steps, with derivatives of all that is written.

    Steps are of the length plan.h; with plan.steps_per_sample = 0 the present state is written. An event ends the
    march after the step that meets it, and the function at the address `pulse` may (interrupts.py).
    """
    begun, clock = network.totals[data.T_START], network.clock
    refresh_network(network, begun + clock[data.STEP] * plan.h)
    left = FIRST_QUESTION
    for row in range(out.whole.shape[0]):
        for _ in range(plan.steps_per_sample):
            left = steps_left(pulse, left, 1)
            if must_stop(pulse, left):
                return NetworkMarched(INTERRUPTED, row, -1)
            t, end = begun + clock[data.STEP] * plan.h, begun + (clock[data.STEP] + 1) * plan.h
            status, which = one_step(network, plan, backups[0], t, plan.h, end), -1
            if status == RUNNING:
                status, which = event_at_end(network)
            if status != RUNNING:
                return NetworkMarched(status, row, which)
            clock[data.STEP] += 1
            clock[data.TOTAL] += 1
        if not sample_network(network, out, row, begun + clock[data.STEP] * plan.h, backups):
            return NetworkMarched(NON_FINITE, row, -1)
    return NetworkMarched(RUNNING, out.whole.shape[0], -1)
