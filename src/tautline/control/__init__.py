"""Controllers that are ready to use: a drum that absorbs waves, and a guide that moves without making the load sway."""

from __future__ import annotations

from tautline.control.absorber import WaveAbsorber
from tautline.control.shaping import impulses, shaped_path, sway_frequencies

__all__ = ["WaveAbsorber", "impulses", "shaped_path", "sway_frequencies"]
