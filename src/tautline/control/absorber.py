"""A drum that takes up longitudinal waves instead of throwing them back (docs/howto/suppress.md)."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tautline.model import checks
from tautline.model.pendulum import Pendulum
from tautline.simulation import Simulation

Complex = NDArray[np.complex128]
Plan = Callable[[float], Any]
# At rest the guide laws "published" and "momentum" add this many times the strain energy of entering string.
LAW_AT_REST = {"published": 1.0, "momentum": -1.0}
# For tables: of a difference, and the first guess at a strain.
SLOPE, STRAIN = 1e-6, 1e-3


@dataclass(frozen=True, eq=False)
class WaveAbsorber:
    """A controller for `simulate(control=...)`: the drum yields to a wave as more string of the same kind would.

    The drum behaves as a dashpot of the string's wave impedance sqrt(mu EA) with a soft spring that brings the
    wanted length back. Both are passive: whatever the string does, they only take energy from it.

    Parameters
    ----------
    pendulum : Pendulum
    length : float, or function of time
        Unstretched length to keep outside the guide (m); or a plan, `length(t)`, that returns it and its rate (m/s).
    return_time : float
        With which the drum goes back to the wanted length (s). Waves much faster than that are absorbed.
    apparent_mass : float, optional
        Mass that the string should feel at the drum in place of drum and wound string (kg). The tension at the guide
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

    pendulum: Pendulum
    length: Any
    return_time: float = 1.0
    apparent_mass: float | None = None
    impedance: Any = None
    pull: float | None = None

    def __post_init__(self) -> None:
        set_ = object.__setattr__
        checks.instance("WaveAbsorber.pendulum", self.pendulum, Pendulum)
        string = self.pendulum.string
        if not callable(self.length):
            set_(self, "length", checks.positive("WaveAbsorber.length", self.length, "m"))
        if not self.planned(0.0)[0] < string.length:
            checks.refuse("WaveAbsorber.length", f"less than the string's {string.length:g} m", self.planned(0.0)[0])
        set_(self, "return_time", checks.positive("WaveAbsorber.return_time", self.return_time, "s"))
        if self.apparent_mass is not None:
            set_(self, "apparent_mass", checks.positive("WaveAbsorber.apparent_mass", self.apparent_mass, "kg"))
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
        slope = string.stiffness
        if string.law == "table":
            strain = self._resting_strain(self.planned(0.0)[0])
            slope = float(np.diff(string.tension([strain - SLOPE, strain + SLOPE]))[0]) / (2.0 * SLOPE)
        return math.sqrt(string.density * slope)

    def planned(self, time: float) -> tuple[float, float]:
        """Wanted length (m) and its rate (m/s)."""
        if not callable(self.length):
            return self.length, 0.0
        answer = self.length(time)
        wanted, rate = checks.array("WaveAbsorber.length", answer, (2,), "m and m/s").tolist()
        return checks.positive("WaveAbsorber.length", wanted, "m"), rate

    def __call__(self, simulation: Simulation) -> float:
        """The moment on the drum (N m)."""
        wanted, wanted_rate = self.planned(simulation.time)
        error = simulation.unstretched_length - wanted
        error_rate = -simulation.reel_speed - wanted_rate
        hold = self.resting_pull(wanted) + self.impedance * error_rate + self.spring * error
        if self.apparent_mass is not None:
            mass = self.drum_mass(simulation.reeled_length)
            felt = self.measured_pull(simulation)
            hold = felt - mass / self.apparent_mass * (felt - hold)
        return float(self.pendulum.reel.drum_radius * (hold + self.wound_weight(simulation.reeled_length)))

    def drum_mass(self, reeled_length: float) -> float:
        """Of drum and wound string, mu s + kappa (kg)."""
        return self.pendulum.string.density * reeled_length + self.pendulum.reel.inertia_mass

    def wound_weight(self, reeled_length: float) -> float:
        """Pull of the wound string's own weight on the drum (N): the gravity terms of (13)."""
        reel = self.pendulum.reel
        turned = (reeled_length - reel.guide_length) / reel.drum_radius
        height = reel.guide_length + reel.drum_radius * math.sin(turned)
        return self._heavy_density() * self.pendulum.gravity * height

    def resting_pull(self, deployed: float) -> float:
        """On the drum, with so much string at rest outside (N)."""
        return self._pull_on_drum(self._resting_strain(deployed))

    def _resting_strain(self, deployed: float) -> float:
        """At the guide."""
        string, fluid = self.pendulum.string, self.pendulum.fluid
        tension = self.pull
        if tension is None:
            displaced = 0.0 if fluid is None else fluid.density * fluid.volume
            mass = self.pendulum.body.mass - displaced + self._heavy_density() * deployed
            tension = max(mass * self.pendulum.gravity, 0.0)
        strain = tension / string.stiffness
        if string.law == "table":
            # the stiffness is the steepest slope, so the strain is no smaller
            from scipy.optimize import brentq

            longer = 2.0 * strain + STRAIN
            while float(string.tension(longer)) < tension:
                longer *= 2.0
            strain = float(brentq(lambda x: float(string.tension(x)) - tension, -STRAIN, longer))
        return strain

    def _heavy_density(self) -> float:
        """Of the string, less the fluid in its place (kg/m)."""
        string, fluid = self.pendulum.string, self.pendulum.fluid
        return string.density - (0.0 if fluid is None else fluid.density * string.area)

    def measured_pull(self, simulation: Simulation) -> float:
        """On the drum, from the strain of the element at the guide (N)."""
        nodes = simulation.present_sample().nodes[0, 0]
        stretched = math.dist(nodes[0], nodes[1])
        return self._pull_on_drum(stretched * simulation.elements / simulation.unstretched_length - 1.0)

    def _pull_on_drum(self, strain: float) -> float:
        """The terms of (13) at the guide: tension times stretch, less the energy that string brings in."""
        string = self.pendulum.string
        energy = float(string.energy_density(strain))
        kept = 1.0 - LAW_AT_REST.get(self.pendulum.reel.guide_law, 0.0)
        return float(string.tension(strain)) * (1.0 + strain) - kept * energy

    def reflection(self, frequency: Any) -> Complex:
        """Tension of a reflected wave per tension of the arriving one, r = (Z_drum - Z)/(Z_drum + Z).

        Parameters
        ----------
        frequency : float or array
            (Hz), positive.
        """
        omega = 2.0 * np.pi * np.asarray(frequency, dtype=np.float64)
        string = self.pendulum.string
        mass = self.apparent_mass
        if mass is None:
            mass = self.drum_mass(string.length - self.planned(0.0)[0])
        drum = self.impedance + 1j * omega * mass + self.spring / (1j * omega)
        own = self.string_impedance
        return np.asarray((drum - own) / (drum + own))
