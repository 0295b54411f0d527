"""Orders 4 and 6: one step as a symmetric sequence of second-order steps ("stages").

If S(h) is symmetric, S(g_1 h) S(g_2 h) ... S(g_1 h) has order 4 when sum g = 1 and sum g^3 = 0,
and order 6 under two more conditions. Such compositions keep what each stage keeps (symplecticity,
momentum, the group), and negative g are unavoidable.

Order 4: five stages g_1, g_2, g_3, g_2, g_1 leave one parameter free. Suzuki's choice is g_1 = g_2 = 0.4145.
A scan of the family on examples 1 and 3 of the paper put the least energy error near g_1 = 0.36: 0.70 and
0.92 of Suzuki's at equal cost, with a 4 % larger stability limit (1.413 against 1.361).
Order 6: the eleven stages of Sofroniou and Spaletta (Optimization Methods and Software 20, 2005). At equal
cost on example 1 they leave a fourth to a thirteenth of the error of Kahan and Li's nine stages, and their limit
per stage is about the same (0.134 against 0.141). All g stay below 0.51 in size, so no stage goes far back in time.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from tautline.kernels.data import Array


class Composition(NamedTuple):
    stages: Array
    limit_multiple: float  # stability limit of the whole step over that of a single stage (linear theory)


def _symmetric(half: tuple[float, ...], limit_multiple: float) -> Composition:
    """From g_1 ... g_{m-1}; the middle one makes the sum 1."""
    outer = np.array(half)
    stages = np.concatenate([outer, [1.0 - 2.0 * outer.sum()], outer[::-1]])
    return Composition(stages, limit_multiple)


COMPOSITIONS = {
    2: Composition(np.ones(1), 1.0),
    4: _symmetric((0.36, 0.48004596899568444319587237939963), 1.413),
    6: _symmetric(
        (
            0.21375583945878254555518066964857,
            0.18329381407425713911385974425217,
            0.17692819473098943794898811709929,
            -0.44329082681170215849622829626258,
            0.11728560432865935385403585669136,
        ),
        1.478,
    ),
}
