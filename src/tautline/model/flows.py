"""Flow over time, beside the steady one of a fluid: tables, gusts and turbulence (docs/theory.md, "Flow over time")."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import lru_cache, partial
from typing import Any

import numpy as np

from tautline.arrays import Array
from tautline.errors import InputError
from tautline.model import checks, turbulence
from tautline.model.checks import finite, non_negative, positive, vector
from tautline.model.description import Number, OptionalVector3, choice, declared, described, quantity, whole
from tautline.model.forms import ROW, VECTOR, VECTORS, Form
from tautline.model.harmonics import TERMS_AT_ONCE, ramp_at
from tautline.model.kinds import ByDepth, Quantity, depth_of
from tautline.model.piecewise import Row, even_times, increasing, rows
from tautline.model.table_files import TableFile, Values
from tautline.model.unsteady import Unsteady, end_of_block, in_blocks, steps_of_block
from tautline.model.wave_flow import WaveFlow

PROFILES = Form(
    "a list of lists of vectors",
    None,
    "[[[3, 0, 0], [1, 0, 0]]]",
    "[[['3 {unit}', 0, 0], [1, 0, 0]]]",
    "lists of vectors",
    VECTORS,
)
# Largest distance of a function from the lines of its table, of its largest size.
FOLLOWED = 0.01
# Values of the table in a period of the highest frequency.
VALUES_A_PERIOD = 10
# Values of the table of a gust: lines between them are off by 1e-6 of its size.
VALUES_A_GUST = 4000
# Of the extreme operating gust (IEC 61400-1, 6.3.2.2).
GUST_FACTOR, GUST_DURATION = 0.37, 10.5


def _levels(name: str, value: Any, unit: str) -> Row:
    return tuple(increasing(name, value, unit).tolist())


def _profiles(name: str, value: Any, unit: str) -> Any:
    given = [[row] for row in value] if depth_of(value) == 2 else value
    return tuple(rows(profile) for profile in checks.array(name, given, (None, None, 3), unit))


class Profiles(ByDepth):
    """A vector for each time, or for each time a list of vectors, one for each depth."""

    def __init__(self, sentence: str) -> None:
        super().__init__(
            sentence, *(Quantity("m/s", _profiles, sentence, form) for form in (VECTORS, PROFILES)), least=2
        )

    def plain(self, value: Any) -> Any:
        return [[list(v) for v in profile] if len(profile) > 1 else list(profile[0]) for profile in value]


@described
class FlowTable:
    """Velocity of the fluid over time and depth, added to the steady flow: linear in between, held outside."""

    _file = TableFile(Values("flows", ("x", "y", "z"), "m/s"))

    times: Row = quantity("s", _levels, "Times, increasing.", form=ROW)
    flows: Any = declared(Profiles("Velocities: for each time a vector, or a list of vectors, one for each depth."))
    depths: Row = quantity("m", _levels, "Depths on the third axis, increasing.", default=(0.0,), form=ROW)

    def _check_together(self) -> None:
        for name, wanted, got in (
            ("times", len(self.times), len(self.flows)),
            ("depths", len(self.depths), len(self.flows[0])),
        ):
            if wanted != got:
                raise InputError(f"FlowTable.flows: expected {wanted} for the {wanted} {name}, got {got}")

    @classmethod
    def of(
        cls, function: Callable[[float, float], Any], duration: float, interval: float, depths: Any = (0.0,)
    ) -> FlowTable:
        """Velocities from a function of time and depth, taken every `interval` seconds at some depths.

        Between two times the function may differ from a straight line by 1 % of its largest velocity.
        """
        checks.called("function", function)
        levels = _levels("depths", depths, "m")

        def taken(times: Array) -> Array:
            return np.array([[vector("function", function(float(t), z), "m/s") for z in levels] for t in times])

        times = even_times(duration, interval)
        flows, between = taken(times), taken(0.5 * (times[1:] + times[:-1]))
        missed = float(np.linalg.norm(between - 0.5 * (flows[1:] + flows[:-1]), axis=2).max())
        largest = float(np.linalg.norm(flows, axis=2).max())
        if missed > FOLLOWED * largest:
            raise InputError(
                f"interval: expected one whose lines follow the function to {FOLLOWED:.0%}, "
                f"got {interval:g} s, which misses {missed:.3g} of {largest:.3g} m/s"
            )
        return cls(tuple(times.tolist()), flows, levels)

    def table(self, start: float, until: float, mean: Array) -> Unsteady:
        """All of it, at any times."""
        return Unsteady(np.array(self.times), np.array(self.depths), np.array(self.flows))

    def covered(self, until: float) -> float:
        """Time up to which a table that was asked for until then holds (s): for ever."""
        return math.inf


class Steered:
    """Flows that follow the direction of the mean flow."""

    mean: OptionalVector3

    def mean_of(self, steady: Array) -> Array:
        """Mean velocity; InputError where there is none."""
        found = steady.mean(axis=0) if self.mean is None else np.array(self.mean)
        if not np.linalg.norm(found) > 0.0:
            raise InputError("fluid.unsteady.mean: expected a velocity here, or as fluid.flow, got none")
        return np.asarray(found)


_MEAN = "Mean velocity, which gives the direction; that of Fluid.flow, mean over its depths, if not given."


@described
class Gust(Steered):
    """A single gust along the mean flow."""

    amplitude: Number = quantity("m/s", finite, "Size: V_gust of the operating gust, largest change of the others.")
    profile: str = choice(
        ("operating", "pulse", "ramp"),
        "Change over time: extreme operating gust of IEC 61400-1, which falls, rises and falls; a pulse "
        "(1 - cos)/2; or a ramp, half of that, after which the flow stays.",
        default="operating",
    )
    start: Number = quantity("s", finite, "When it begins.", default=0.0)
    duration: Number = quantity("s", positive, "How long it lasts.", default=GUST_DURATION)
    mean: OptionalVector3 = quantity("m/s", vector, _MEAN, default=None, form=VECTOR)

    def speed(self, times: Any) -> Array:
        """Change of speed along the mean flow at times (m/s)."""
        x = np.clip((np.asarray(times) - self.start) / self.duration, 0.0, 1.0)
        if self.profile == "operating":
            change = -GUST_FACTOR * np.sin(3.0 * np.pi * x) * (1.0 - np.cos(2.0 * np.pi * x))
        else:
            change = 0.5 * (1.0 - np.cos((2.0 if self.profile == "pulse" else 1.0) * np.pi * x))
        found: Array = self.amplitude * change
        return found

    def table(self, start: float, until: float, mean: Array) -> Unsteady:
        """All of it, at any times."""
        times = self.start + self.duration * np.linspace(0.0, 1.0, VALUES_A_GUST + 1)
        along = self.mean_of(mean)
        along = along / np.linalg.norm(along)
        return Unsteady(times, np.zeros(1), np.multiply.outer(self.speed(times), along)[:, None])

    def covered(self, until: float) -> float:
        """Time up to which a table that was asked for until then holds (s): for ever."""
        return math.inf


@described
class Turbulence(Steered):
    """Fluctuations of a turbulent flow: sines of a spectrum, with frequencies and phases drawn by a seed.

    They are coherent over separations in depth, the same over horizontal distances, and without end.
    """

    intensity: Number = quantity("", positive, "Standard deviation along the mean flow over the mean speed.")
    length_scale: Number = quantity("m", positive, "Integral length L along the mean flow.")
    spectrum: str = choice(
        tuple(turbulence.SPECTRA),
        "Spectrum: Kaimal's with the components of IEC 61400-1, or von Karman's, which is isotropic.",
        default="kaimal",
    )
    depths: Row = quantity(
        "m",
        _levels,
        "Levels on the third axis, increasing, between which velocities are linear; a single one has the "
        "same velocity everywhere.",
        default=(0.0,),
        form=ROW,
    )
    coherence_decay: Number = quantity(
        "", non_negative, "Decay of the coherence with frequency and separation; 12 in IEC 61400-1.", default=12.0
    )
    mean: OptionalVector3 = quantity("m/s", vector, _MEAN, default=None, form=VECTOR)
    interval: Number = quantity(
        "s",
        positive,
        f"Time between two values; frequencies up to 1/({VALUES_A_PERIOD} interval) are there.",
        default=0.1,
    )
    components: int = whole(1, 10_000, "Number of sines of each component.", default=200)
    seed: int = whole(0, 2**63 - 1, "Seed of frequencies and phases: another one, another realization.", default=0)
    ramp: Number = quantity(
        "s",
        non_negative,
        "Time in which fluctuations grow from nothing to their full size; 0 for at once.",
        default=0.0,
    )

    def table(self, start: float, until: float, mean: Array) -> Unsteady:
        """Velocities between two times at least."""
        U = self.mean_of(mean)
        speed = float(np.linalg.norm(U))
        along = U / speed
        side = np.cross((0.0, 0.0, 1.0), along)
        size = np.linalg.norm(side)
        across = side / size if size > 0.0 else np.array([0.0, 1.0, 0.0])
        axes = np.stack([along, across, np.cross(along, across)])
        times, values = in_blocks(self.interval, start, until, partial(self._block, fluctuations_of(self, speed)))
        return Unsteady(times, np.array(self.depths), values @ axes)

    def _block(self, found: turbulence.Fluctuations, number: int) -> Array:
        times = self.interval * steps_of_block(number)
        total: Array = np.zeros((len(times), len(self.depths), 3))
        for first in range(0, self.components, TERMS_AT_ONCE):
            some = slice(first, first + TERMS_AT_ONCE)
            total += turbulence.Fluctuations(*(x[:, some] for x in found)).at(times)
        if self.ramp > 0.0:
            total *= ramp_at(times, self.ramp)[:, None, None]
        return total

    def covered(self, until: float) -> float:
        """Time up to which a table that was asked for until then holds (s)."""
        return end_of_block(self.interval, until)


@lru_cache(maxsize=16)
def fluctuations_of(flow: Turbulence, speed: float) -> turbulence.Fluctuations:
    """Fluctuations of turbulence about a mean of a speed (m/s)."""
    return turbulence.fluctuations(
        turbulence.SPECTRA[flow.spectrum],
        speed,
        flow.intensity * speed,
        flow.length_scale,
        1.0 / (VALUES_A_PERIOD * flow.interval),
        np.array(flow.depths),
        flow.coherence_decay,
        flow.components,
        flow.seed,
    )


UnsteadyFlow = FlowTable | Gust | Turbulence | WaveFlow
# What may be given as Fluid.unsteady, by the word that tells them apart in files.
UNSTEADY: dict[str, type] = {"table": FlowTable, "gust": Gust, "turbulence": Turbulence, "waves": WaveFlow}
