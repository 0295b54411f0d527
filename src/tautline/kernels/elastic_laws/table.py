"""Elastic law `table`: a monotone cubic through a table, straight beyond its ends (docs/theory.md, equation 70).

Parameters.tension_table holds the energy as a piecewise polynomial of the strain; the tension is its slope. Pieces are
found by bisection, which lanes cannot do together.
"""

from __future__ import annotations

from tautline.kernels.data import Parameters
from tautline.kernels.jit import inlined
from tautline.kernels.tables import curve_at


@inlined
def tension_and_energy(par: Parameters, strain: float) -> tuple[float, float]:
    """dW/dstrain and W."""
    energy, tension, _ = curve_at(par.tension_table, strain)
    return tension, energy
