"""Motions without end: a sine, a sum of sines, waves of a spectrum. For the guide's path, a length or a speed."""

from __future__ import annotations

import math
from functools import lru_cache
from typing import Any

import numpy as np

from tautline.arrays import Array
from tautline.errors import InputError
from tautline.model import checks
from tautline.model.checks import finite, non_negative, positive, with_article
from tautline.model.description import Number, OptionalNumber, choice, declared, described, fields_of, quantity, whole
from tautline.model.file_keys import assemble_among, keys_of, to_keys
from tautline.model.forms import ROW, VECTOR, read_numbers
from tautline.model.harmonics import Harmonics
from tautline.model.kinds import ByDepth, Kind, Quantity, Way
from tautline.model.spectra import HIGHEST, waves

SPECTRA = ("jonswap", "pierson_moskowitz")
PEAKEDNESS = 3.3
_LISTS = (list, tuple, np.ndarray)
RAMP = "Time in which the motion grows from nothing to its full size, smoothly; 0 for a motion that is there at once."


class Along(ByDepth):
    """A number for the vertical, or a vector for all three axes."""

    def __init__(self, unit: str, sentence: str) -> None:
        super().__init__(
            sentence, Quantity(unit, finite, sentence), Quantity(unit, checks.vector, sentence, form=VECTOR)
        )

    def has_vectors(self, value: Any) -> bool:
        """Whether a value of the model is a vector, or has some."""
        return isinstance(value, tuple)


class SeveralAlong(Along):
    """A list of numbers for the vertical, or of vectors for all three axes."""

    def read(self, value: Any) -> Any:
        if not isinstance(value, (list, tuple)):
            return read_numbers(value, ROW, self.unit)  # which says what is expected
        return [super(SeveralAlong, self).read(item) for item in value]

    def check(self, name: str, value: Any) -> Any:
        if not isinstance(value, _LISTS):
            checks.refuse(name, f"a list of numbers or vectors ({self.unit or '1'})", value)
        return tuple(super(SeveralAlong, self).check(f"{name}[{k}]", item) for k, item in enumerate(value))

    def has_vectors(self, value: Any) -> bool:
        return any(map(super().has_vectors, value))

    def schema(self) -> dict[str, Any]:
        return {"type": "array", "items": super().schema()}

    def words(self) -> str:
        return "floats or vectors"


def positives(name: str, value: Any, unit: str) -> tuple[float, ...]:
    """At least one number, each above 0."""
    row = checks.array(name, value, (None,), unit)
    if not len(row):
        raise InputError(f"{name}: expected at least 1 number ({unit}), got none")
    return tuple(positive(f"{name}[{k}]", x, unit) for k, x in enumerate(row.tolist()))


def check_counts(motion: Any, periods: Any, *names: str) -> None:
    """Refuse rows of other numbers than there are periods; all but the first may be left out."""
    for name in names:
        given, count = len(getattr(motion, name)), len(periods)
        if given != count and (given or name == names[0]):
            where = f"{type(motion).__name__}.{name}"
            raise InputError(f"{where}: expected {count}, as many as there are periods, got {given}")


def _vector(value: Any) -> Array:
    """Three components of a number or a vector."""
    return np.array((0.0, 0.0, value) if isinstance(value, float) else value)


_FREQUENCY = Way(
    {"frequency": Quantity("Hz", positive, "Periods in a second, in place of `period`.")},
    lambda given: 1.0 / positive("frequency", given["frequency"], "Hz"),
    lambda value: None,
)


class Endless:
    """A motion that goes on for ever."""

    def harmonics(self) -> Harmonics:
        """The sines that it is made of."""
        return _harmonics(self)

    def _terms(self) -> tuple[Any, Any, Any, float]:
        """Angular frequencies, amplitudes, phases and ramp."""
        raise NotImplementedError

    @property
    def is_scalar(self) -> bool:
        """Whether it is given by numbers, and not by vectors."""
        kinds = fields_of(type(self)).items()
        return not any(kind.has_vectors(getattr(self, name)) for name, kind in kinds if isinstance(kind, Along))

    def pieces(self, start: float = 0.0, until: float = 0.0) -> tuple[Array, Array]:
        """Knots, and coefficients (power, piece, axis) of the time since each, between two times at least."""
        return self.harmonics().pieces(0.0, start, until)

    def covered(self, until: float, origin: float = 0.0) -> float:
        """Time up to which pieces that were asked for until then hold (s)."""
        block = self.harmonics().block
        return origin + (math.floor((until - origin) / block) + 1) * block

    def at(self, times: Any) -> tuple[Array, Array]:
        """Displacements (m) and velocities (m/s) at times."""
        place, velocity, _ = self.harmonics().values(np.atleast_1d(times), 0.0)
        return place, velocity

    def acceleration(self, times: Any) -> Array:
        """Accelerations (m/s^2) at times."""
        found: Array = self.harmonics().values(np.atleast_1d(times), 0.0)[2]
        return found


@lru_cache(maxsize=64)
def _harmonics(motion: Endless) -> Harmonics:
    omega, amplitudes, phases, ramp = motion._terms()
    return Harmonics(np.array(omega), np.stack(amplitudes), np.stack(phases), ramp)


@described
class Sine(Endless):
    """amplitude sin(2 pi t/period + phase): heave, or a motion along a line or around an ellipse."""

    amplitude: Any = declared(Along("m", "Amplitude; of a guide along the vertical (down), or a vector."))
    period: Number = quantity("s", positive, "Period.", ways=(_FREQUENCY,))
    phase: Any = declared(Along("rad", "Phase at time 0; of a guide one for all axes, or a vector."), default=0.0)
    ramp: Number = quantity("s", non_negative, RAMP, default=0.0)

    def _terms(self) -> tuple[Any, Any, Any, float]:
        return [2.0 * np.pi / self.period], [_vector(self.amplitude)], [_all_axes(self.phase)], self.ramp


@described
class Sines(Endless):
    """A sum of sines, each with its own amplitude, period and phase."""

    amplitudes: Any = declared(SeveralAlong("m", "Amplitudes; of a guide along the vertical (down), or vectors."))
    periods: Any = quantity("s", positives, "Periods.", form=ROW)
    phases: Any = declared(
        SeveralAlong("rad", "Phases at time 0; of a guide each for all axes, or a vector."), default=()
    )
    ramp: Number = quantity("s", non_negative, RAMP, default=0.0)

    def _check_together(self) -> None:
        check_counts(self, self.periods, "amplitudes", "phases")

    def _terms(self) -> tuple[Any, Any, Any, float]:
        phases = self.phases or (0.0,) * len(self.periods)
        omega = 2.0 * np.pi / np.array(self.periods)
        return omega, [_vector(x) for x in self.amplitudes], [_all_axes(x) for x in phases], self.ramp


def _peakedness(name: str, value: Any, unit: str) -> float:
    x = checks.number(name, value)
    if not 1.0 <= x <= 20.0:
        checks.refuse(name, "a number from 1 to 20", value)
    return x


@described
class Waves(Endless):
    """Motion in irregular waves: sines of a spectrum, with phases and frequencies drawn by a seed."""

    spectrum: str = choice(SPECTRA, "Spectrum of the waves; Pierson and Moskowitz' is of a fully developed sea.")
    height: Number = quantity("m", positive, "Significant wave height Hs, four standard deviations of the surface.")
    peak_period: Number = quantity("s", positive, "Period Tp of the spectrum's peak.")
    peakedness: OptionalNumber = quantity(
        "", _peakedness, f"Peak factor gamma of jonswap; {PEAKEDNESS} if not given.", default=None
    )
    components: int = whole(1, 10_000, "Number of sines.", default=200)
    seed: int = whole(0, 2**63 - 1, "Seed of frequencies and phases: another one, other waves of this sea.", default=0)
    rao: Any = declared(
        Along("", "Response: motion over wave elevation; of a guide along the vertical (down), or a vector."),
        default=1.0,
    )
    rao_phase: Any = declared(
        Along("rad", "Phase by which the motion leads; of a guide one for all axes, or a vector."), default=0.0
    )
    ramp: Number = quantity("s", non_negative, RAMP, default=0.0)
    cutoff: int = whole(
        2,
        100,
        "Highest frequency over that of the peak; shorter waves, which a large ship does not follow, are left out.",
        default=HIGHEST,
    )

    def _check_together(self) -> None:
        if self.spectrum != "jonswap" and self.peakedness is not None:
            checks.refuse("Waves.peakedness", "it together with spectrum = 'jonswap'", self.peakedness)

    def _terms(self) -> tuple[Any, Any, Any, float]:
        peakedness = 1.0 if self.spectrum != "jonswap" else self.peakedness or PEAKEDNESS
        terms = waves(self.height, self.peak_period, peakedness, self.components, self.seed, self.cutoff)
        amplitudes = np.multiply.outer(terms.amplitudes, _vector(self.rao))
        return terms.omega, amplitudes, np.add.outer(terms.phases, _all_axes(self.rao_phase)), self.ramp


def _all_axes(phase: Any) -> Array:
    return np.full(3, phase) if isinstance(phase, float) else np.array(phase)


Motion = Sine | Sines | Waves
MOTIONS: dict[str, type] = {"sine": Sine, "sines": Sines, "waves": Waves}
# The key that tells which of them is given among the keys of something else.
_TOLD_BY: dict[str, type] = {"amplitude": Sine, "amplitudes": Sines, "spectrum": Waves}


def _given(values: dict[str, Any]) -> Any:
    """The motion whose keys are given beside those of a command."""
    cls = next((cls for key, cls in _TOLD_BY.items() if key in values), None)
    if cls is None:
        raise InputError(f"motion: expected one of {', '.join(_TOLD_BY)}, got none")
    known = keys_of(cls).kinds
    others = {key for other in MOTIONS.values() for key in keys_of(other).kinds} - known.keys()
    for key in values:
        if key in others:
            raise InputError(f"{key}: expected no such key beside those of {with_article(cls)}")
    return assemble_among(cls, values)


class MotionOfALength(Kind):
    """A motion without end, given by numbers."""

    def __init__(self, sentence: str) -> None:
        keys = {key: kind for cls in MOTIONS.values() for key, kind in keys_of(cls).kinds.items()}

        def split(value: Any) -> dict[str, Any]:
            return to_keys(value, defaults=False)

        way = Way(keys, _given, split, "the keys of a sine, of sines or of waves")
        super().__init__(sentence, ways=(way,), own_key=False)

    def check(self, name: str, value: Any) -> Any:
        if value is None:
            return None
        if not isinstance(value, Motion):
            checks.refuse(name, "a Sine, Sines or Waves", value)
        if not value.is_scalar:
            checks.refuse(name, "a motion given by numbers, not by vectors", value)
        return value

    def words(self) -> str:
        return "Sine, Sines or Waves"
