"""Motions that are given: of guides and kinematic bodies, straight and turning, and of reels."""

from __future__ import annotations

from tautline.model.motions import Sine, Sines, Waves
from tautline.model.path import GuidePath
from tautline.model.ships import ShipMotion
from tautline.model.turning import AttitudePath, Rocking, Spin

__all__ = ["AttitudePath", "GuidePath", "Rocking", "ShipMotion", "Sine", "Sines", "Spin", "Waves"]
