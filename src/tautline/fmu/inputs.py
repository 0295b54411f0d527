"""Inputs of an FMU: commands of reels and sheaves, velocities of kinematic bodies, forces on free ones."""

from __future__ import annotations

from tautline.fmu.exported import Export, drive_head
from tautline.fmu.variables import AXES, Variable, named
from tautline.model.body import RigidBody

# Unit and sentence of the inputs of a reel, by the mode.
OF_REELS = {
    "torque": ("torque", "N*m", "Torque of the motor, held over the step; positive retrieves."),
    "speed": ("payout", "m/s", "Rate of the deployed length at the end of the step; it changes linearly to there."),
    "length": ("length", "m", "Deployed length at the end of the step; a cubic with continuous speed leads to it."),
}


class Inputs:
    """Inputs with their start values.

    Attributes
    ----------
    variables : list of Variable
    start_values : list of float
    reels : dict
        Numbers of the inputs of reels and sheaves, by the names of their commands.
    moved : dict
        First of the three of kinematic bodies, by name.
    forces : list of tuple
        Body, row of its table of forces, number of the input.
    """

    def __init__(self, what: Export) -> None:
        self.variables: list[Variable] = []
        self.start_values: list[float] = []
        self.reels: dict[str, int] = {}
        for name, mode in what.modes.items():
            if mode in OF_REELS:
                word, unit, sentence = OF_REELS[mode]
                feed = what.feed(name)
                start = {"torque": what.start_torque(name), "speed": 0.0 - feed.speed, "length": feed.deployed}[mode]
                self.reels[name] = self._add(f"{drive_head(name)}.command.{word}", unit, sentence, start)
        self.moved = {
            name: self._add_vector(
                f"{named('bodies', name)}.command.velocity", "m/s", "Velocity of the body, held over the step."
            )
            for name in what.moved
        }
        self.forces: list[tuple[str, int, int]] = []
        for name, body in what.system.bodies.items():
            if not isinstance(body, RigidBody):
                continue
            head = f"{named('bodies', name)}.command"
            first = self._add_vector(f"{head}.force", "N", "Force at the center of mass, held over the step.")
            self.forces += [(name, 1 + k, first + k) for k in range(3)]
            if not body.is_point:
                words = "Moment in the inertial frame, held over the step."
                first = self._add_vector(f"{head}.moment", "N*m", words)
                self.forces += [(name, 4 + k, first + k) for k in range(3)]

    def _add(self, name: str, unit: str, sentence: str, start: float = 0.0) -> int:
        k = len(self.start_values)
        self.start_values.append(start)
        self.variables.append(Variable(name, "input", unit, sentence, start=start, kind="input", first=k))
        return k

    def _add_vector(self, name: str, unit: str, sentence: str) -> int:
        first, _, _ = (self._add(f"{name}[{axis}]", unit, sentence) for axis in AXES)
        return first
