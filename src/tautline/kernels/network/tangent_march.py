"""Many steps of a network with tangents: the derivative of a march, at the steps that it makes."""

from __future__ import annotations

from tautline.arrays import Array2
from tautline.errors import INTERRUPTED, NON_FINITE, RUNNING
from tautline.kernels.data import STEP, T_START, TOTAL, Plan
from tautline.kernels.interrupts import FIRST_QUESTION, must_stop, steps_left
from tautline.kernels.jit import tangent_entry
from tautline.kernels.network.data import Network, WholeSamples
from tautline.kernels.network.march import NetworkMarched, event_at_end, one_step, sample_network
from tautline.kernels.network.observe import refresh_network


@tangent_entry
def march_network_with_tangents(
    network: Network, plan: Plan, backups: Array2, out: WholeSamples, pulse: int = 0
) -> NetworkMarched:
    """Fill all rows of `out`, one every plan.steps_per_sample steps, with derivatives of all that is written.

    Steps are of the length plan.h; with plan.steps_per_sample = 0 the present state is written. An event ends the
    march after the step that meets it, and the function at the address `pulse` may (interrupts.py).
    """
    begun, clock = network.totals[T_START], network.clock
    refresh_network(network, begun + clock[STEP] * plan.h)
    left = FIRST_QUESTION
    for row in range(out.whole.shape[0]):
        for _ in range(plan.steps_per_sample):
            left = steps_left(pulse, left, 1)
            if must_stop(pulse, left):
                return NetworkMarched(INTERRUPTED, row, -1)
            t, end = begun + clock[STEP] * plan.h, begun + (clock[STEP] + 1) * plan.h
            status, which = one_step(network, plan, backups[0], t, plan.h, end), -1
            if status == RUNNING:
                status, which = event_at_end(network)
            if status != RUNNING:
                return NetworkMarched(status, row, which)
            clock[STEP] += 1
            clock[TOTAL] += 1
        if not sample_network(network, out, row, begun + clock[STEP] * plan.h, backups):
            return NetworkMarched(NON_FINITE, row, -1)
    return NetworkMarched(RUNNING, out.whole.shape[0], -1)
