"""A drum that takes up longitudinal waves instead of throwing them back (docs/howto/suppress.md)."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tautline.engine.simulation import Simulation
from tautline.engine.views import LineView
from tautline.errors import InputError
from tautline.model import checks, drum
from tautline.model.drum import pull_at_guide
from tautline.model.reel import Reel
from tautline.model.rest.statics import spooled_pull, statics, weight_per_length
from tautline.model.system.parts import Line
from tautline.model.system.starts import Hanging
from tautline.model.system.system import System

Complex = NDArray[np.complex128]
Plan = Callable[[float], Any]


@dataclass(frozen=True, eq=False)
class WaveAbsorber:
    """A controller for `simulate(control=...)`: the drum yields to a wave as more string of the same kind would.

    The drum behaves as a dashpot of the string's wave impedance sqrt(mu EA) with a soft spring that brings the
    wanted length back. Both are passive: whatever the string does, they only take energy from it.

    Parameters
    ----------
    system : System
        With one reel, whose line hangs.
    length : float, or function of time
        Unstretched length to keep outside the guide (m); or a plan, `length(t)`, that returns it and its rate (m/s).
    return_time : float
        With which the drum goes back to the wanted length (s). Waves much faster than that are absorbed.
    apparent_mass : float, optional
        Mass that the string should feel at the drum in place of drum and spooled string (kg). The tension at the guide
        is then measured and fed back. Without it the drum keeps its inertia, and needs no measured tension.
    impedance : float, optional
        Of the dashpot (N s/m); that of the string by default, which reflects least.
    pull : float, optional
        Tension of the line at the guide at rest (N). By default that of the system where it hangs with the length of
        time 0, and more or less by the weight of the line, as that changes.

    Notes
    -----
    With apparent_mass the tension that is fed back is a period old, and that of the first element. Waves that are too
    fast for the period would be fed. So apparent_mass should be more than the mass of an element, the period less
    than a third of apparent_mass/impedance, and either the period shorter than the time in which a wave passes an
    element, or the string damped (`String.viscosity`).
    """

    system: System
    length: Any
    return_time: float = 1.0
    apparent_mass: float | None = None
    impedance: Any = None
    pull: float | None = None
    _name: str = field(default="", init=False, repr=False)  # of the line with the reel
    _hanging: tuple[float, float] = field(default=(0.0, 0.0), init=False, repr=False)  # length (m), tension (N)

    def __post_init__(self) -> None:
        set_ = object.__setattr__
        checks.instance("WaveAbsorber.system", self.system, System)
        reels = [name for name, line in self.system.lines.items() if line.reel is not None]
        if len(reels) != 1:
            raise InputError(f"WaveAbsorber.system: expected a system with one reel, got {len(reels)}")
        set_(self, "_name", reels[0])
        string = self._line.string
        if not callable(self.length):
            set_(self, "length", checks.positive("WaveAbsorber.length", self.length, "m"))
        first = self.planned(0.0)[0]
        if not first < string.length:
            checks.refuse("WaveAbsorber.length", f"less than the string's {string.length:g} m", first)
        set_(self, "return_time", checks.positive("WaveAbsorber.return_time", self.return_time, "s"))
        if self.apparent_mass is not None:
            set_(self, "apparent_mass", checks.positive("WaveAbsorber.apparent_mass", self.apparent_mass, "kg"))
        if self.pull is not None:
            set_(self, "pull", checks.non_negative("WaveAbsorber.pull", self.pull, "N"))
        else:
            at_rest = statics(self.system, Hanging({self._name: first}))
            set_(self, "_hanging", (first, at_rest.lines[self._name].start_tension))
        own = self.string_impedance if self.impedance is None else self.impedance
        set_(self, "impedance", checks.positive("WaveAbsorber.impedance", own, "N s/m"))

    @property
    def _line(self) -> Line:
        return self.system.lines[self._name]

    @property
    def _reel(self) -> Reel:
        found: Reel = self._line.reel
        return found

    @property
    def spring(self) -> float:
        """Stiffness that brings the wanted length back (N/m)."""
        return float(self.impedance / self.return_time)

    @property
    def string_impedance(self) -> float:
        """Tension of a longitudinal wave per speed of the string in it, at the strain of rest (N s/m)."""
        string = self._line.string
        return math.sqrt(string.density * float(string.slope(self._resting_strain(self.planned(0.0)[0]))))

    def planned(self, time: float) -> tuple[float, float]:
        """Wanted length (m) and its rate (m/s)."""
        if not callable(self.length):
            return self.length, 0.0
        answer = self.length(time)
        wanted, rate = checks.array("WaveAbsorber.length", answer, (2,), "m and m/s").tolist()
        return checks.positive("WaveAbsorber.length", wanted, "m"), rate

    def __call__(self, simulation: Simulation) -> float:
        """Torque on the drum (N m)."""
        line = simulation.lines[self._name]
        wanted, wanted_rate = self.planned(simulation.time)
        reeled = line.reeled_length
        hold = self.resting_pull(wanted) + self.impedance * (-line.speed - wanted_rate)
        hold += self.spring * (line.deployed - wanted)
        if self.apparent_mass is not None:
            felt = self.measured_pull(line)
            hold = felt - self.drum_mass(reeled) / self.apparent_mass * (felt - hold)
        hold += spooled_pull(self.system, self._line, reeled)
        return float(self._reel.radius(reeled) * hold)

    def drum_mass(self, reeled_length: float) -> float:
        """Mass of drum, motor and spooled string as the string feels it (kg)."""
        return drum.mass(self._reel, self._line.string.density, reeled_length)

    def resting_pull(self, deployed: float) -> float:
        """Pull on the drum with so much string at rest outside (N)."""
        return float(pull_at_guide(self._line.string, self._reel, self._resting_strain(deployed)))

    def _resting_strain(self, deployed: float) -> float:
        """Strain at the guide."""
        tension = self.pull
        if tension is None:
            length, found = self._hanging
            tension = abs(found + weight_per_length(self.system, self._line) * (deployed - length))
        return float(self._line.string.strain(tension))

    def measured_pull(self, line: LineView) -> float:
        """Pull on the drum, from the strain of the element at the guide (N)."""
        nodes = line.nodes
        stretched = math.dist(nodes[0], nodes[1])
        strain = stretched * (len(nodes) - 1) / line.deployed - 1.0
        return float(pull_at_guide(self._line.string, self._reel, strain))

    def reflection(self, frequency: Any) -> Complex:
        """Tension of a reflected wave per tension of the arriving one, r = (Z_drum - Z)/(Z_drum + Z).

        Parameters
        ----------
        frequency : float or array
            (Hz), positive.
        """
        omega = 2.0 * np.pi * np.asarray(frequency, dtype=np.float64)
        mass = self.apparent_mass
        if mass is None:
            mass = self.drum_mass(self._line.string.length - self.planned(0.0)[0])
        at_drum = self.impedance + 1j * omega * mass + self.spring / (1j * omega)
        own = self.string_impedance
        return np.asarray((at_drum - own) / (at_drum + own))
