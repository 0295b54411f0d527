"""Load `damping`: Kelvin-Voigt damping inside the string (docs/theory.md, equation 72)."""

from __future__ import annotations

import math
from typing import NamedTuple

from tautline.arrays import TINY_LENGTH
from tautline.kernels.data import LINEAR, POSITION, Array, Motion, Parameters, S, Scratch, add_to_node, node
from tautline.kernels.elastic import tension_and_energy
from tautline.kernels.energy import element_length
from tautline.kernels.jit import kernel
from tautline.kernels.loads.acting import Instant, Push
from tautline.kernels.so3 import dot, scale, sub


class Damping(NamedTuple):
    """Viscosity of the string."""

    acts: bool
    viscosity: float  # times the cross-section


@kernel
def act(par: Parameters, own: Damping, at: Instant, motion: Motion, v: Array, scratch: Scratch, out: Array) -> Push:
    """-dR/dv and -dR/dsigma of R = sum l eta (strain rate)^2/2."""
    q = motion.nodes[POSITION]
    l = element_length(par, motion.reel[S])
    reel = 0.0
    for e in range(par.N):
        w = sub(node(q, e + 1), node(q, e))
        length = max(math.sqrt(dot(w, w)), TINY_LENGTH)
        along = scale(1.0 / length, w)
        rate = (dot(along, sub(node(v, e + 1), node(v, e))) + length * at.rates.sigma / (par.N * l)) / l
        pull = own.viscosity * rate
        if par.elastic_law != LINEAR:
            # a string that cannot push cannot be made to by damping either
            elastic = max(tension_and_energy(par, length / l - 1.0)[0], 0.0)
            pull = max(pull, -elastic) if elastic > 0.0 else 0.0
        add_to_node(out, e, scale(pull, along))
        add_to_node(out, e + 1, scale(-pull, along))
        reel -= pull * length / (par.N * l)
    return Push(reel, (0.0, 0.0, 0.0))
