"""Where Newton's method starts: speeds of a step from those of the steps before (docs/theory.md, "Assemblies").

The pendulum's guess follows a parabola. One iteration leaves the square of what the guess is off by; with a quartic
that is a hundredth for the waves of a mesh at a quarter of its step limit, and one iteration does.
"""

from __future__ import annotations

from tautline.kernels import data
from tautline.kernels.data import Array, put_triple, triple
from tautline.kernels.jit import kernel
from tautline.kernels.lanes import select
from tautline.kernels.network import data as net
from tautline.kernels.so3 import Vector, add, add_scaled, dot, scale, select_vector, sub

# Steps of one length through which a quartic is drawn.
EQUAL_STEPS = 5


@kernel
def is_steady(totals: Array, h: float) -> bool:
    """Whether the latest steps were all as long as this one, and enough of them."""
    return bool(totals[net.ALIKE] >= EQUAL_STEPS and totals[data.H_LAST] == h)


@kernel
def count_alike(totals: Array, h: float) -> None:
    """Count steps of one length; H_LAST is that of the step before this one."""
    totals[net.ALIKE] = totals[net.ALIKE] + 1.0 if totals[data.H_LAST] == h else 1.0


@kernel
def beyond_parabola(state: Array, latest: int, older: int) -> Vector:
    """Part that a quartic through vectors of five steps adds to a parabola: three from `latest`, two from `older` on.

    Nothing where their differences grow with their order, as those of waves do that the step hardly resolves.
    """
    a, b, c = triple(state, latest), triple(state, latest + 3), triple(state, latest + 6)
    d, e = triple(state, older), triple(state, older + 3)
    third = add_scaled(sub(a, d), 3.0, sub(c, b))
    fourth = sub(third, add_scaled(sub(b, e), 3.0, sub(d, c)))
    smooth = dot(fourth, fourth) < dot(third, third)
    return select_vector(smooth, add(third, fourth), scale(0.0, third))


@kernel
def keep_vectors(state: Array, latest: int, older: int, x: Vector) -> None:
    """Remember the vector of a step, and those of the four steps before it."""
    put_triple(state, older + 3, triple(state, older))
    put_triple(state, older, triple(state, latest + 6))
    put_triple(state, latest + 6, triple(state, latest + 3))
    put_triple(state, latest + 3, triple(state, latest))
    put_triple(state, latest, x)


@kernel
def reel_beyond_parabola(reel: Array) -> float:
    """`beyond_parabola` of the speed of a reel."""
    third = reel[data.SIGMA] - reel[net.SIGMA_FOURTH] + 3.0 * (reel[data.SIGMA_EARLIER] - reel[data.SIGMA_BEFORE])
    before = reel[data.SIGMA_BEFORE] - reel[net.SIGMA_FIFTH] + 3.0 * (reel[net.SIGMA_FOURTH] - reel[data.SIGMA_EARLIER])
    fourth = third - before
    return select(fourth * fourth < third * third, third + fourth, 0.0 * third)  # type: ignore[no-any-return]


@kernel
def keep_speeds(reel: Array) -> None:
    """Remember speeds of a reel that the pendulum's step (reel_after) is about to forget."""
    reel[net.SIGMA_FIFTH] = reel[net.SIGMA_FOURTH]
    reel[net.SIGMA_FOURTH] = reel[data.SIGMA_EARLIER]
