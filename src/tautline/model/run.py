"""How long to run, in how many elements, and by which method."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from tautline.errors import InputError
from tautline.model.checks import positive, whole_ratio
from tautline.model.description import Number, OptionalNumber, choice, declared, described, fields_of, flag, quantity
from tautline.model.elements import MOST_ELEMENTS
from tautline.model.kinds import AUTO, OrWord, Quantity, Whole
from tautline.model.stop import Conditions, StopWhen
from tautline.model.wording import both, near

# About as many samples as a run has whose interval is not given.
DEFAULT_SAMPLES = 1000
# Default of settings that a case may have.
NOT_GIVEN: Any = ...


@described(name="", kw_only=True)
class Method:
    """The numerical method of a run, and what ends it."""

    step: float | str = declared(
        OrWord(
            Quantity(
                "s",
                positive,
                "Time step, or a stable one that keeps to half of the stability limit while the string's length "
                "changes. With a number the run stops at 0.9 of the limit",
            ),
            AUTO,
        ),
        default=AUTO,
    )
    order: int = choice((2, 4, 6), "Order of accuracy; 4 and 6 compose a step of 5 or 11 second-order ones.", default=2)
    scheme: str = choice(
        ("symmetric", "paper"),
        '"paper" is the published discretization, of first order with a moving reel.',
        default="symmetric",
    )
    compensated: bool = flag("Keep rounding from accumulating. Costs about a tenth of the time.", default=True)
    minimum_length: OptionalNumber = quantity(
        "m",
        positive,
        "A retrieval ends when no more than this is deployed; 1 % of the initial length if not given, or less where a "
        "command names a shorter length to go to.",
        default=None,
    )
    at_end: str = choice(
        ("stop", "hold"),
        "What happens there, and when the string is off the drum: the run stops, or the reel is held by an end stop "
        "until it is pulled away from it. A reel whose motion `Length` or `Speed` prescribe ends the run there in "
        "either case.",
        default="stop",
    )
    stop: tuple[StopWhen, ...] = declared(
        Conditions("Conditions that end the run at the moment when one of them is met."), default=()
    )


@described(name="", kw_only=True)
class Run(Method):
    """How long, in how many elements, and by which method."""

    duration: Number = quantity("s", positive, "Simulated time, a multiple of `sample`.")
    elements: int | str = declared(
        OrWord(Whole(1, MOST_ELEMENTS, "Number of elements N, or as many as the case needs."), AUTO), default=AUTO
    )
    sample: OptionalNumber = quantity(
        "s",
        positive,
        "Interval between stored states, a multiple of `step`; about a thousandth of the duration if not given.",
        default=None,
    )

    def number_of_elements(self) -> int | None:
        """N, or None where it is left to the case."""
        return None if isinstance(self.elements, str) else self.elements

    def interval(self) -> float:
        """Interval between stored states (s)."""
        return default_sample(self.duration, self.step) if self.sample is None else self.sample

    def method(self) -> dict[str, Any]:
        """Keyword arguments of `Simulation`."""
        return {name: getattr(self, name) for name in fields_of(Method)}


def given_of(arguments: Mapping[str, Any], kind: type[Any]) -> dict[str, Any]:
    """Arguments of a function that are settings of a kind, and were given."""
    return {name: x for name, x in arguments.items() if name in fields_of(kind) and x is not NOT_GIVEN}


def known(given: Mapping[str, Any], cls: type, needed: Iterable[str] = ()) -> Mapping[str, Any]:
    """Keyword arguments for a class of settings, refused where it has no such one or one is missing."""
    names = fields_of(cls)
    for name in given:
        if name not in names:
            raise InputError(f"{name}: no such argument{near(name, names) or f'; there are {both(list(names))}'}")
    for name in needed:
        if name not in given:
            raise InputError(f"{name}: missing; expected such as {name}=10.0")
    return given


def default_sample(duration: Any, step: float | str) -> float:
    """About a thousandth of the duration; of a fixed step in whole steps, so that samples divide the duration."""
    duration = positive("duration", duration, "s")
    if isinstance(step, str):
        return float(duration / DEFAULT_SAMPLES)
    steps = whole_ratio("duration", duration, "step", step)
    if steps <= DEFAULT_SAMPLES:
        return float(step)
    for samples in (*range(DEFAULT_SAMPLES, 10 * DEFAULT_SAMPLES), *range(DEFAULT_SAMPLES - 1, 99, -1)):
        if steps % samples == 0:
            return float(steps // samples * step)
    raise InputError(
        f"sample: expected one to be given, because {steps} steps cannot be divided evenly into 100 to "
        f"{10 * DEFAULT_SAMPLES} samples"
    )
