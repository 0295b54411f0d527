"""The string."""

from __future__ import annotations

from dataclasses import dataclass

from tautline.model import checks


@dataclass(frozen=True)
class String:
    """An elastic string without bending stiffness.

    Parameters
    ----------
    length : float
        Total unstretched length L, wound and deployed (m).
    density : float
        Mass per unstretched length, mu (kg/m).
    stiffness : float
        Axial stiffness EA (N).
    """

    length: float
    density: float
    stiffness: float

    def __post_init__(self) -> None:
        for name, unit in (("length", "m"), ("density", "kg/m"), ("stiffness", "N")):
            value = checks.positive(f"String.{name}", getattr(self, name), unit)
            object.__setattr__(self, name, value)

    @property
    def wave_speed(self) -> float:
        """Speed of longitudinal waves along the unstretched string, sqrt(EA/mu) (m/s)."""
        return float((self.stiffness / self.density) ** 0.5)
