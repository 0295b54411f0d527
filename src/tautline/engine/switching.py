"""From the chain kernels to those of networks, in the middle of a motion: for what only the latter can do."""

from __future__ import annotations

from tautline import ledger
from tautline.engine.chain import ChainSimulation
from tautline.engine.network import NetworkSimulation
from tautline.kernels import data


def going_on(chain: ChainSimulation) -> NetworkSimulation:
    """A network that goes on where a chain is, with its commands, its accounts and its record."""
    chain.turns.check()
    stepper, time = chain._stepper, chain.time
    name = next(iter(chain.assembly.lines))
    laws = [law.law for law in stepper.laws]
    found = NetworkSimulation.from_case(chain.case, loads={name: laws} if laws else None)
    found.is_timed = chain.is_timed
    found.go_on_from(chain.system_state, time)
    booked = slice(data.BOOKS, data.BOOKS + 2 * (len(ledger.ACCOUNTS) - data.FIRST_BOOKED))
    found.arrays.reels[0][booked] = stepper.motion.reel[booked]
    found.take_over(chain.recorded() if chain.has_record else None, chain.remarks(), chain.figures())
    if stepper.command is not None:
        found.follow(name, stepper.command, stepper.origin, stepper.plan.minimum_length)
    found.status = chain.status
    return found
