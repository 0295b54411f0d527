"""From the chain kernels to those of networks, in the middle of a motion: for what only the latter can do."""

from __future__ import annotations

from typing import Any

import numpy as np

from tautline import ledger
from tautline.engine.chain.backend import ChainBackend
from tautline.engine.network.backend import NetworkBackend
from tautline.engine.runner import Runner
from tautline.kernels import data
from tautline.model.system.parts import Kinematic


def going_on(chain: Runner[Any]) -> Runner[NetworkBackend]:
    """A network that goes on where a chain is, with its commands, its accounts and its record."""
    assert isinstance(chain.backend, ChainBackend)
    own, stepper, time = chain.backend, chain.backend.stepper, chain.time
    stepper.turns.check()
    name = next(iter(chain.system.lines))
    laws = [law.law for law in stepper.laws]
    found = Runner(NetworkBackend.at_start(chain.case, loads={name: laws}))
    other = found.backend.stepper
    found.is_timed = chain.is_timed
    state = own.state
    if stepper.command is not None:
        other.follow(name, stepper.command, stepper.origin, stepper.plan.minimum_length)
    carrier = chain.system.lines[name].start
    body = chain.system.bodies.get(carrier)
    if isinstance(body, Kinematic) and body.path is None:
        other.prescribe(carrier, time, state.bodies[carrier])
    found.go_on_from(state, time)
    if body is not None:
        since, impulse = own.impulse_since(carrier)
        other.have_given(carrier, since, impulse)
    reel, now = other.arrays.reels[0], own.present_sample().scalars[0]
    for account in range(data.FIRST_BOOKED, len(ledger.ACCOUNTS)):  # with what is owed for the latest step
        place = data.ACCOUNT_PLACES[account]
        reel[place : place + 2] = now[account], 0.0
    counters = [data.TOTAL, data.ITERATIONS]
    other.arrays.clock[counters] = stepper.motion.clock[counters]
    reel[data.REEL_SIZE :] = stepper.motion.reel[data.REEL_SIZE :]  # strain of spooled string, where a law knows it
    found.backend.earlier = (chain.warnings(), chain.figures())
    if chain.has_record:  # the present state is its last sample
        first = found.first_sample()
        found.recorder.keep(np.zeros(0), type(first)(*(x[:0] for x in first)))
        found.recorder.earlier = chain.recorded()
    found.have_status(chain.status)
    found.watch = None if chain.watch is None else chain.watch.copy()
    return found
