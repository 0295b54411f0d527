"""Parts of control loops: a drum that absorbs waves, a guide that moves without making the load sway, load cells."""

from __future__ import annotations

from tautline.control.absorber import WaveAbsorber
from tautline.control.sensors import LoadCell
from tautline.control.shaping import impulses, shaped_path, sway_frequencies

__all__ = ["LoadCell", "WaveAbsorber", "impulses", "shaped_path", "sway_frequencies"]
