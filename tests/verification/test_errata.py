"""The slips of the paper that can be measured (docs/errata.md)."""

from __future__ import annotations

import numpy as np
import pytest

from tautline.model.chain.state import ChainState
from tautline.model.command import Free
from tautline.paper import errata
from tautline.paper.examples import EXAMPLES
from tautline.reference import Equations
from tests.conftest import Report
from tests.support.paper import initial_state, pendulum


@pytest.mark.long
def test_missing_stretch_factor_acts_even_without_strain(report: Report) -> None:
    """An unstretched straight string at sigma = 2 m/s feels about 0.1 N from nowhere; at rest it feels nothing."""
    start = initial_state(EXAMPLES[1], 20)
    for speed, expected in ((2.0, 0.1), (0.0, 0.0)):
        state = ChainState(start.reeled_length, speed, start.nodes, np.zeros_like(start.nodes))
        forces = []
        for kind in (Equations, errata.WithoutStretchFactor):
            equations = kind(pendulum("none"), 20, Free())
            forces.append(equations.assemble(equations.unpack(equations.pack(state)), 0.0)[1])
        net = float(np.linalg.norm((forces[1] - forces[0])[1:-3].reshape(-1, 3).sum(axis=0)))
        assert abs(net - expected) <= 0.006
    moved = errata.stretch_factor(2, 1.0)[0]
    report("missing stretch factor: example 2 at 1 s, body off by (m)", moved, "> 1e-5")
    assert moved > 1e-5


def test_printed_signs() -> None:
    right, printed, lost, gained = errata.carnot_sign()
    assert lost > 0.0 > gained and printed > right
    right, printed = errata.torque_sign()
    assert right < 10.0 < printed


def test_printed_scheme_is_far_less_accurate() -> None:
    first, second = errata.scheme_order()
    assert first > 20.0 * second
