"""Expressions of the variables of a run, such as "norm(body_velocity[load]) - '2 m/s'": one language everywhere."""

from __future__ import annotations

from tautline.model.expressions.binding import Bound, bind
from tautline.model.expressions.parts import Parts, parts_of_layout, parts_of_system
from tautline.model.expressions.rates import rates_needed
from tautline.model.expressions.reading import FUNCTIONS, SENSORS, TIME, Expression, described, read

__all__ = [
    "FUNCTIONS",
    "SENSORS",
    "TIME",
    "Bound",
    "Expression",
    "Parts",
    "bind",
    "described",
    "parts_of_layout",
    "parts_of_system",
    "rates_needed",
    "read",
]
