"""Ship motion from response amplitude operators (docs/theory.md, "Kinematic bodies")."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from tautline.arrays import Array
from tautline.errors import InputError
from tautline.model.checks import finite
from tautline.model.description import Number, choice, declared, described, quantity
from tautline.model.forms import ROW, VECTORS
from tautline.model.motions import Endless, MotionOfALength, check_counts, positives
from tautline.model.path import vectors
from tautline.model.piecewise import Row
from tautline.model.turning import Turning

# Signs of surge, sway, heave, roll, pitch and yaw about axes to port and up, where they are to starboard and down.
_FROM_UP = np.array([1.0, -1.0, -1.0, 1.0, -1.0, -1.0])
_LEAD = "Phases by which they lead the elevation of the sea"


@described
class ShipMotion(Endless):
    """Motion of a ship in six degrees of freedom: responses to a sea, at the reference point that is the body's origin.

    Every wave of the sea moves the ship by the response at its frequency: linear between given frequencies in amplitude
    and in phase, held outside.
    """

    sea: Any = declared(MotionOfALength("Elevation of the sea, up, at the ship: waves of a spectrum, or sines."))
    response_periods: Any = quantity("s", positives, "Periods of waves at which responses are given.", form=ROW)
    translations: tuple[Row, ...] = quantity(
        "", vectors, "Surge, sway and heave over wave amplitude, a row for each period.", form=VECTORS
    )
    rotations: tuple[Row, ...] = quantity(
        "rad/m", vectors, "Roll, pitch and yaw over wave amplitude, a row for each period.", default=(), form=VECTORS
    )
    translation_phases: tuple[Row, ...] = quantity(
        "rad", vectors, f"{_LEAD}, surge, sway and heave; 0 if not given.", default=(), form=VECTORS
    )
    rotation_phases: tuple[Row, ...] = quantity(
        "rad", vectors, f"{_LEAD}, roll, pitch and yaw; 0 if not given.", default=(), form=VECTORS
    )
    axes: str = choice(
        ("down", "up"),
        "Axes of the responses: forward, to starboard and down, as those of the body; or forward, to port and up, "
        "where sway, heave, pitch and yaw have the other sign.",
        default="down",
    )
    heading: Number = quantity(
        "rad", finite, "Direction of the bow: angle from the first axis towards the second.", default=0.0
    )

    def _check_together(self) -> None:
        if self.sea is None:
            raise InputError("ShipMotion.sea: expected a Sine, Sines or Waves, got none")
        if len(set(self.response_periods)) != len(self.response_periods):
            raise InputError("ShipMotion.response_periods: expected each once, got one again")
        names = ("translations", "rotations", "translation_phases", "rotation_phases")
        check_counts(self, self.response_periods, *names)

    def responses(self, omega: Any) -> tuple[Array, Array]:
        """Amplitudes over wave amplitude and phases (rad) of all six (frequency, 6), in axes of the body."""
        given = 2.0 * np.pi / np.array(self.response_periods)
        order = np.argsort(given)

        def rows_of(name: str) -> Array:
            return np.array(getattr(self, name) or np.zeros((len(given), 3)))[order]

        sizes = np.hstack([rows_of("translations"), rows_of("rotations")])
        phases = np.hstack([rows_of("translation_phases"), rows_of("rotation_phases")])
        sizes = sizes * (_FROM_UP if self.axes == "up" else 1.0)
        phases = np.unwrap(phases, axis=0)
        found = (np.stack([np.interp(omega, given[order], x) for x in xs.T], axis=-1) for xs in (sizes, phases))
        amplitudes, leads = found
        return amplitudes, leads

    def phasors(self) -> tuple[Array, Array]:
        """Angular frequencies (rad/s), and complex amplitudes (wave, 6) of sines, in axes of the ship at rest."""
        omega, amplitudes, phases, _ = self.sea._terms()
        frequencies = np.array(omega)
        sizes, leads = self.responses(frequencies)
        waves = np.array(amplitudes)[:, 2] * np.exp(1j * np.array(phases)[:, 2])
        return frequencies, waves[:, None] * sizes * np.exp(1j * leads)

    @property
    def turning(self) -> ShipTurning:
        """Roll, pitch and yaw."""
        return ShipTurning(self)

    def _terms(self) -> tuple[Any, Any, Any, float]:
        omega, found = self.phasors()
        c, s = np.cos(self.heading), np.sin(self.heading)
        x, y, z = found[:, :3].T
        turned = np.stack([c * x - s * y, s * x + c * y, z], axis=1)
        return omega, np.abs(turned), np.angle(turned), self.sea.ramp


@dataclass(frozen=True)
class ShipTurning(Endless, Turning):
    """Roll, pitch and yaw of a ship."""

    ship: ShipMotion

    def _terms(self) -> tuple[Any, Any, Any, float]:
        omega, found = self.ship.phasors()
        return omega, np.abs(found[:, 3:]), np.angle(found[:, 3:]), self.ship.sea.ramp
