"""Newton's method of the network: where it starts, how often it goes round, and its dense equations."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import tautline as tl
from tautline.kernels import data
from tautline.kernels.network import data as kernels
from tautline.kernels.network import guess, linear
from tests.support.checking import check_below, check_close

TIMES = np.arange(6.0)  # of steps, the last of which is to be guessed
QUARTIC = np.polynomial.Polynomial([0.3, -0.2, 0.5, 0.1, -0.02])


def parabola(x: Any) -> Any:
    return 3.0 * x[4] - 3.0 * x[3] + x[2]


def test_the_guess_of_vectors_follows_a_quartic() -> None:
    x = np.stack([QUARTIC(0.1 * TIMES + shift) for shift in (0.0, 0.5, 1.0)], axis=-1)
    state = np.zeros(kernels.BODY_STATE)
    for velocity in x[:5]:
        guess.keep_vectors(state, kernels.V, kernels.V_OLDER, velocity)
    check_close("vector", parabola(x) + guess.beyond_parabola(state, kernels.V, kernels.V_OLDER), x[5], 1e-14)


def test_the_guess_of_reels_follows_a_quartic() -> None:
    x = QUARTIC(0.1 * TIMES)
    reel = np.zeros(data.REEL_SIZE)
    for sigma in x[:5]:
        guess.keep_speeds(reel)
        reel[data.SIGMA_EARLIER], reel[data.SIGMA_BEFORE], reel[data.SIGMA] = reel[[data.SIGMA_BEFORE, data.SIGMA, 0]]
        reel[data.SIGMA] = sigma
    check_close("speed", parabola(x) + guess.reel_beyond_parabola(reel), x[5], 1e-14)


def test_a_quartic_is_not_led_through_noise() -> None:
    state, reel = np.zeros(kernels.BODY_STATE), np.zeros(data.REEL_SIZE)
    for sign in (1.0, -1.0, 1.0, -1.0, 1.0):
        guess.keep_vectors(state, kernels.V, kernels.V_OLDER, (sign, 0.0, 0.0))
        guess.keep_speeds(reel)
        reel[data.SIGMA_EARLIER], reel[data.SIGMA_BEFORE], reel[data.SIGMA] = reel[[data.SIGMA_BEFORE, data.SIGMA, 0]]
        reel[data.SIGMA] = sign
    assert guess.beyond_parabola(state, kernels.V, kernels.V_OLDER) == (0.0, 0.0, 0.0)
    assert guess.reel_beyond_parabola(reel) == 0.0


def test_a_quartic_takes_five_steps_of_one_length() -> None:
    totals = np.zeros(data.REEL_SIZE)
    steady = []
    for h in (0.2, 0.1, 0.1, 0.1, 0.1, 0.1, 0.1, 0.3):
        steady.append(guess.is_steady(totals, h))
        guess.count_alike(totals, h)
        totals[data.H_LAST] = h
    assert steady == [False] * 6 + [True, False]


@pytest.mark.parametrize("count", [6, 7, 8, 14])
@pytest.mark.parametrize("reels", [0, 1, 3])
def test_dense_equations_are_solved(count: int, reels: int) -> None:
    """The last of `count` unknowns are given, as reels are; the others follow from them."""
    rng = np.random.default_rng(10 * count + reels)
    A = rng.normal(size=(count, count))
    A = A @ A.T + 0.1 * rng.normal(size=(count, count)) + count * np.eye(count)
    A[0, 4] = A[4, 0] = A[1, 5] = 0.0
    b, x = rng.normal(size=count), np.zeros(count)
    last = count - reels
    matrix, right = A.copy(), b.copy()
    linear.eliminate(matrix, right, last)
    x[last:] = np.linalg.solve(matrix[last:, last:], right[last:])
    linear.substitute(matrix, right, last, x)
    check_close("solution", x, np.linalg.solve(A, b), 1e-14)


def test_one_iteration_does_where_waves_are_resolved() -> None:
    """A hook block on two falls, at a quarter of the limit of its mesh."""
    string = tl.String(30.0, 0.05, 2000.0, law="linear")
    wheel = tl.Sheave((0.0, 0.0, 0.0), 0.1, (0, 1, 0), on="block", inertia_mass=0.2)
    line = tl.Line(
        string,
        start_point=(-0.1, 0.0, 0.0),
        reel=tl.Reel(0.2, 0.4, 1.5, guide_law="none"),
        over={"lower": wheel},
        end_point=(0.1, 0.0, 0.0),
        elements=6,
    )
    block = tl.RigidBody.box(1.2, (0.3, 0.2, 0.2), (0.0, 0.0, 0.0))
    system = tl.System({"block": block}, {"hoist": line}, gravity=0.5)
    h = float(0.25 * 10.0 / 6 / np.sqrt(3.0 * string.stiffness / string.density))
    simulation = tl.Simulation(system, tl.Placed({"block": (0.0, 0.0, 10.0)}), step=h)
    simulation.advance(h, {"hoist": tl.Impedance(20.0, 50.0, 20.0)})
    clock: Any = simulation.runner.stepper.counted_from()[1]
    before = int(clock[data.ITERATIONS])
    assert simulation.advance(200 * h) == "completed"
    check_below("iterations a step", (int(clock[data.ITERATIONS]) - before) / 200, 1.2)
