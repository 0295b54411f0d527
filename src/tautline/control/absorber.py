"""A drum that takes up longitudinal waves instead of throwing them back (docs/howto/suppress.md)."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tautline.engine.chain import ChainSimulation
from tautline.model import checks, drum, statics
from tautline.model.pendulum import Chain

Complex = NDArray[np.complex128]
Plan = Callable[[float], Any]


@dataclass(frozen=True, eq=False)
class WaveAbsorber:
    """A controller for `simulate(control=...)`: the drum yields to a wave as more string of the same kind would.

    The drum behaves as a dashpot of the string's wave impedance sqrt(mu EA) with a soft spring that brings the
    wanted length back. Both are passive: whatever the string does, they only take energy from it.

    Parameters
    ----------
    pendulum : Chain
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
        Of string and body on the drum at rest (N); their weight in the fluid by default.

    Notes
    -----
    With apparent_mass the tension that is fed back is a period old, and that of the first element. Waves that are too
    fast for the period would be fed. So apparent_mass should be more than the mass of an element, the period less
    than a third of apparent_mass/impedance, and either the period shorter than the time in which a wave passes an
    element, or the string damped (`String.viscosity`).
    """

    pendulum: Chain
    length: Any
    return_time: float = 1.0
    apparent_mass: float | None = None
    impedance: Any = None
    pull: float | None = None

    def __post_init__(self) -> None:
        set_ = object.__setattr__
        checks.instance("WaveAbsorber.pendulum", self.pendulum, Chain)
        string = self.pendulum.string
        if not callable(self.length):
            set_(self, "length", checks.positive("WaveAbsorber.length", self.length, "m"))
        if not self.planned(0.0)[0] < string.length:
            checks.refuse("WaveAbsorber.length", f"less than the string's {string.length:g} m", self.planned(0.0)[0])
        set_(self, "return_time", checks.positive("WaveAbsorber.return_time", self.return_time, "s"))
        if self.apparent_mass is not None:
            set_(self, "apparent_mass", checks.positive("WaveAbsorber.apparent_mass", self.apparent_mass, "kg"))
        fluid = self.pendulum.fluid
        if self.pull is None and fluid is not None and fluid.surface is not None:
            checks.refuse("WaveAbsorber.pull", "a pull (N) with Fluid.surface", None, "; tl.equilibrium finds it")
        if self.pull is not None:
            set_(self, "pull", checks.non_negative("WaveAbsorber.pull", self.pull, "N"))
        own = self.string_impedance if self.impedance is None else self.impedance
        set_(self, "impedance", checks.positive("WaveAbsorber.impedance", own, "N s/m"))

    @property
    def spring(self) -> float:
        """Stiffness that brings the wanted length back (N/m)."""
        return float(self.impedance / self.return_time)

    @property
    def string_impedance(self) -> float:
        """Tension of a longitudinal wave per speed of the string in it, at the strain of rest (N s/m)."""
        string = self.pendulum.string
        return math.sqrt(string.density * float(string.slope(self._resting_strain(self.planned(0.0)[0]))))

    def planned(self, time: float) -> tuple[float, float]:
        """Wanted length (m) and its rate (m/s)."""
        if not callable(self.length):
            return self.length, 0.0
        answer = self.length(time)
        wanted, rate = checks.array("WaveAbsorber.length", answer, (2,), "m and m/s").tolist()
        return checks.positive("WaveAbsorber.length", wanted, "m"), rate

    def __call__(self, simulation: ChainSimulation) -> float:
        """Torque on the drum (N m)."""
        wanted, wanted_rate = self.planned(simulation.time)
        error = simulation.unstretched_length - wanted
        error_rate = -simulation.reel_speed - wanted_rate
        hold = self.resting_pull(wanted) + self.impedance * error_rate + self.spring * error
        if self.apparent_mass is not None:
            mass = self.drum_mass(simulation.reeled_length)
            felt = self.measured_pull(simulation)
            hold = felt - mass / self.apparent_mass * (felt - hold)
        hold += self.spooled_weight(simulation.reeled_length)
        return float(self.pendulum.reel.radius(simulation.reeled_length) * hold)

    def drum_mass(self, reeled_length: float) -> float:
        """Mass of drum, motor and spooled string as the string feels it (kg)."""
        return drum.mass(self.pendulum.reel, self.pendulum.string.density, reeled_length)

    def spooled_weight(self, reeled_length: float) -> float:
        """Pull of the spooled string's own weight on the drum (N)."""
        return float(statics.spooled_weight(self.pendulum, reeled_length))

    def resting_pull(self, deployed: float) -> float:
        """Pull on the drum with so much string at rest outside (N)."""
        return float(statics.pull_on_drum(self.pendulum, self._resting_strain(deployed)))

    def _resting_strain(self, deployed: float) -> float:
        """Strain at the guide."""
        tension = abs(statics.guide_pull(self.pendulum, deployed)) if self.pull is None else self.pull
        return float(self.pendulum.string.strain(tension))

    def measured_pull(self, simulation: ChainSimulation) -> float:
        """Pull on the drum, from the strain of the element at the guide (N)."""
        nodes = simulation.present_sample().nodes[0, 0]
        stretched = math.dist(nodes[0], nodes[1])
        strain = stretched * simulation.elements / simulation.unstretched_length - 1.0
        return float(statics.pull_on_drum(self.pendulum, strain))

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
            mass = self.drum_mass(self.pendulum.string.length - self.planned(0.0)[0])
        at_drum = self.impedance + 1j * omega * mass + self.spring / (1j * omega)
        own = self.string_impedance
        return np.asarray((at_drum - own) / (at_drum + own))
