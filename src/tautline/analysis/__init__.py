"""Quantities that engineers read off a run: loads of ropes, spectra, conservation; more on modes and on chaos."""

from __future__ import annotations

from tautline.lazy import public_names

__getattr__, __dir__, __all__ = public_names(__name__, __file__)
