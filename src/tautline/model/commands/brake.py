"""Dry friction on the drum."""

from __future__ import annotations

from typing import Any

from tautline.arrays import Array
from tautline.model.checks import non_negative
from tautline.model.commands.base import Command
from tautline.model.description import declared, described
from tautline.model.tables import Table, arrays


@described
class Brake(Command):
    """Dry friction on the drum, and no motor: it holds the drum up to this torque, and rubs with it beyond."""

    kernel, sticks = "brake", True

    torque: Any = declared(
        Table(
            "N*m",
            non_negative,
            "Torque of the brake, at least 0; a table as for `Torque`. The drum's own friction comes on top.",
            "torques",
        )
    )

    def torques(self) -> tuple[Array, Array]:
        """Times and values; a constant is a table with one entry."""
        return arrays(self.torque)
