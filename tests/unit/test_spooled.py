"""The memory of the drum, law `stretched`: cells of mean strain, filled and emptied at the guide."""

from __future__ import annotations

import numpy as np
import pytest

from tautline.engine.chain.lowering import kernel_parameters
from tautline.kernels import data
from tautline.kernels.guide_laws import stretched
from tests.support.checking import check_close
from tests.support.paper import pendulum

CELLS = 10
PAR = kernel_parameters(pendulum("stretched"), 1, "symmetric", True)._replace(L=5.0, EA=40.0)
LENGTH = PAR.L / CELLS


def memory(strain: float = 0.0) -> data.Array:
    return np.concatenate([np.zeros(data.REEL_SIZE), np.full(CELLS, strain)])


def filled(s: float) -> data.Array:
    """Unstretched length on the drum of every cell."""
    lengths: data.Array = np.clip(s - LENGTH * np.arange(CELLS), 0.0, LENGTH)
    return lengths


def energy(reel: data.Array, s: float) -> float:
    return float(0.5 * PAR.EA * (reel[data.REEL_SIZE :] ** 2) @ filled(s))


@pytest.mark.parametrize("s", [0.01, 0.5, 0.75, 3.0, 4.999, 5.0])
def test_energy_is_that_of_what_is_spooled(s: float) -> None:
    reel = memory()
    reel[data.REEL_SIZE :] = np.linspace(-0.1, 0.4, CELLS)
    check_close("energy", stretched.spooled_energy(PAR, reel, s), energy(reel, s), 1e-15)


@pytest.mark.parametrize(("s", "s_end"), [(1.1, 1.2), (1.1, 1.5), (1.5, 1.7), (1.0, 3.21), (0.3, 5.0), (4.9, 7.0)])
def test_winding_in_keeps_the_mean_strain(s: float, s_end: float) -> None:
    """Length times strain is carried over to the drum, and the change of energy is the true one."""
    reel = memory(0.1)
    before = energy(reel, s)
    change = stretched.wind_in(PAR, s, s_end, 0.3, reel)
    s_end = min(s_end, PAR.L)
    check_close("energy", change, energy(reel, s_end) - before, 1e-14)
    check_close("strain", reel[data.REEL_SIZE :] @ filled(s_end), 0.1 * s + 0.3 * (s_end - s), 1e-14)
    lost = 0.5 * PAR.EA * 0.3**2 * (s_end - s) - change
    assert lost >= 0.0
    full = s in (0.5, 1.0, 1.5)
    assert lost == pytest.approx(0.0, abs=1e-15) if full else lost > 1e-3


@pytest.mark.parametrize(("s", "s_end"), [(1.2, 1.1), (1.5, 1.1), (1.7, 1.5), (3.21, 1.0), (5.0, 0.3), (0.2, -1.0)])
def test_winding_out_takes_what_is_there(s: float, s_end: float) -> None:
    reel = memory()
    reel[data.REEL_SIZE :] = np.linspace(-0.1, 0.4, CELLS)
    change, jump2 = stretched.wind_out(PAR, reel, s, s_end, 0.2, 0.3)
    check_close("energy", change, energy(reel, s_end) - energy(reel, s), 1e-14)
    left = filled(s) - filled(s_end)
    squares = [(strain - reel[data.REEL_SIZE :]) ** 2 for strain in (0.2, 0.3)]
    check_close("squared jumps", jump2, left @ np.mean(squares, axis=0), 1e-14)


def test_in_and_out_again_gives_the_energy_back() -> None:
    """Into empty cells, so that nothing mixes."""
    reel = memory()
    there = stretched.wind_in(PAR, 1.0, 2.7, 0.2, reel)
    assert there == pytest.approx(0.5 * PAR.EA * 0.2**2 * 1.7, rel=1e-14)
    check_close("energy", stretched.wind_out(PAR, reel, 2.7, 1.0, 0.0, 0.0)[0], -there, 1e-14)
