"""From the chain kernels to those of networks, in the middle of a motion: for what only the latter can do."""

from __future__ import annotations

from tautline import ledger
from tautline.engine.backend import Backend
from tautline.engine.chain.simulation import ChainSimulation
from tautline.engine.network.simulation import NetworkSimulation
from tautline.kernels import data
from tautline.model.system.parts import Kinematic


def going_on(chain: Backend) -> NetworkSimulation:
    """A network that goes on where a chain is, with its commands, its accounts and its record."""
    assert isinstance(chain, ChainSimulation)
    chain.turns.check()
    stepper, time = chain.stepper, chain.time
    name = next(iter(chain.system.lines))
    laws = [law.law for law in stepper.laws]
    found = NetworkSimulation.from_case(chain.case, loads={name: laws} if laws else None)
    found.is_timed = chain.is_timed
    state = chain.system_state
    if stepper.command is not None:
        found.stepper.follow(name, stepper.command, stepper.origin, stepper.plan.minimum_length)
    carrier = chain.system.lines[name].start
    body = chain.system.bodies.get(carrier)
    if isinstance(body, Kinematic) and body.path is None:
        found.stepper.lead(carrier, time, state.bodies[carrier])
    found.go_on_from(state, time)
    if body is not None:
        since, impulse = chain.impulse_since(carrier)
        found.stepper.have_given(carrier, since, impulse)
    own, now = found.stepper.arrays.reels[0], chain.present_sample().scalars[0]
    for account in range(data.FIRST_BOOKED, len(ledger.ACCOUNTS)):  # with what is owed for the latest step
        place = data.ACCOUNT_PLACES[account]
        own[place : place + 2] = now[account], 0.0
    counters = [data.TOTAL, data.ITERATIONS]
    found.stepper.arrays.clock[counters] = stepper.motion.clock[counters]
    own[data.REEL_SIZE :] = stepper.motion.reel[data.REEL_SIZE :]  # strain of spooled string, where a law knows it
    found.take_over(chain.recorded() if chain.has_record else None, chain.warnings(), chain.figures())
    found.status = chain.status
    found.take_stages(chain)
    return found
