"""Derivatives of runs: beside `tl.jacobian` and `tl.value_and_gradient` linear models of pieces of a run, and keys."""

from __future__ import annotations

from tautline.lazy import public_names

__getattr__, __dir__, __all__ = public_names(__name__, __file__)
