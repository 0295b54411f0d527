"""The paper's examples as chains, for tests of the chain backend."""

from __future__ import annotations

import tautline as tl
from tautline.model.chain.cases import chain_start
from tautline.model.chain.systems import chain_of
from tautline.paper.examples import ELEMENTS, Example, start, system
from tests.support.chains import Chain, ChainState


def pendulum(guide_law: str = "dissipative") -> Chain:
    """The paper's system."""
    return chain_of(system(guide_law))


def initial_state(example: Example, elements: int = ELEMENTS) -> ChainState:
    """The start of an example."""
    return chain_start(tl.Case(system().with_elements({"line": elements}), start(example), {}, tl.Run(duration=1.0)))
