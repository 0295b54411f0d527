"""Values with units, as scenario and study files have them, in SI. The only module that knows units."""

from __future__ import annotations

import datetime
import math
import re
import reprlib
from functools import cache
from typing import Any, NamedTuple

# A number, then a unit made of names, products, quotients and small powers. Anything else is refused before
# it reaches the unit library, so that no text in a file can make it compute something large.
_NUMBER = r"[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d{1,3})?"
_UNIT = r"[A-Za-zµμ°%]{1,20}(?:(?:\^|\*\*)-?[1-4])?"
_QUANTITY = re.compile(rf"\s*({_NUMBER})\s*((?:1\s*/\s*)?{_UNIT}(?:\s*[*/ ]\s*{_UNIT}){{0,5}})?\s*", re.ASCII)
_LONGEST_QUANTITY = 100
LONGEST_SHOWN = 60
WORDS = {
    "m^3/s^2": "a gravitational parameter",
    "m": "a length",
    "kg": "a mass",
    "s": "a time",
    "N": "a force",
    "kg/m": "a mass per length",
    "kg*m^2": "a moment of inertia",
    "m/s": "a speed",
    "m/s^2": "an acceleration",
    "rad/s": "an angular velocity",
    "rad": "an angle",
    "rad/m": "an angle per length",
    "N*m": "a torque",
    "N*s": "a force times a time",
    "N*m*s": "a torque per angular velocity",
    "kg/m^3": "a density",
    "m^2": "an area",
    "m^3": "a volume",
    "W": "a power",
    "J": "an energy",
    "kg*m^2/s": "an angular momentum",
    "m/s^3": "a jerk",
    "N/m": "a force per length",
    "N*s/m": "a force per speed",
    "Hz": "a frequency",
}


class Common(NamedTuple):
    """A unit that is read without the unit library: over/under of the SI unit, powers of m, kg, s and rad."""

    over: float
    under: float
    powers: tuple[int, int, int, int]


# Those that nearly every file has. Whatever else there is, or does not fit, goes to the unit library, which takes
# 0.6 s to load: a third of the time of a short run.
_COMMON = {
    "m": Common(1, 1, (1, 0, 0, 0)),
    "cm": Common(1, 100, (1, 0, 0, 0)),
    "mm": Common(1, 1000, (1, 0, 0, 0)),
    "km": Common(1000, 1, (1, 0, 0, 0)),
    "kg": Common(1, 1, (0, 1, 0, 0)),
    "g": Common(1, 1000, (0, 1, 0, 0)),
    "t": Common(1000, 1, (0, 1, 0, 0)),
    "s": Common(1, 1, (0, 0, 1, 0)),
    "ms": Common(1, 1000, (0, 0, 1, 0)),
    "min": Common(60, 1, (0, 0, 1, 0)),
    "Hz": Common(1, 1, (0, 0, -1, 0)),
    "N": Common(1, 1, (1, 1, -2, 0)),
    "kN": Common(1000, 1, (1, 1, -2, 0)),
    "MN": Common(1_000_000, 1, (1, 1, -2, 0)),
    "J": Common(1, 1, (2, 1, -2, 0)),
    "kJ": Common(1000, 1, (2, 1, -2, 0)),
    "W": Common(1, 1, (2, 1, -3, 0)),
    "kW": Common(1000, 1, (2, 1, -3, 0)),
    "rad": Common(1, 1, (0, 0, 0, 1)),
    "deg": Common(math.pi, 180, (0, 0, 0, 1)),
}
_FACTOR = re.compile(r"\s*([*/ ]?)\s*(?:(1)(?=\s*/)|([A-Za-zµμ°%]+)(?:(?:\^|\*\*)(-?\d))?)")


@cache
def _common(name: str) -> Common | None:
    """A product or quotient of common units; None if there is another among them."""
    over = under = 1.0
    powers = (0, 0, 0, 0)
    for sign, one, unit, power in _FACTOR.findall(name):
        if one:
            continue
        if unit not in _COMMON:
            return None
        factor = _COMMON[unit]
        n = int(power or 1) * (-1 if sign == "/" else 1)
        over *= factor.over**n if n > 0 else factor.under**-n
        under *= factor.under**n if n > 0 else factor.over**-n
        powers = tuple(a + n * b for a, b in zip(powers, factor.powers, strict=True))  # type: ignore[assignment]
    return Common(over, under, powers)


@cache
def _units() -> Any:
    import pint  # 0.4 s: only when a value carries a unit

    return pint.UnitRegistry(cache_folder=None)


_TON = re.compile(r"\b(?:k|M)?tons?\b")


def _split(text: str) -> tuple[float, str | None] | None:
    """Number and unit of a text; None where it is none. ValueError for tons, of which there are three."""
    found = _QUANTITY.fullmatch(text) if len(text) <= _LONGEST_QUANTITY else None
    if found is None:
        return None
    name: str | None = found[2]
    if name is not None and _TON.search(name):
        raise ValueError(f"{name!r} may be one of three (1000, 1016 or 907 kg): write t for 1000 kg, or kg or lb")
    return float(found[1]), name


# Powers of m, kg, s and rad.
Powers = tuple[float, float, float, float]
# Largest power in an expression, so that no text can make it compute something large.
HIGHEST_POWER = 12.0


def powers_of(unit: str) -> Powers:
    """Powers of a unit of results ("kg m2 s-1") or of files ("kg*m^2/s"); "1" and "" have none."""
    found = _common(re.sub(r"(?<=[A-Za-z])(-?[1-4])", r"^\1", unit)) if unit not in ("", "1") else None
    a, b, c, d = found.powers if found is not None else (0, 0, 0, 0)
    return float(a), float(b), float(c), float(d)


@cache
def spelled(powers: Powers) -> str:
    """A unit of SI with these powers, as files write it; empty for a ratio."""
    if not any(powers):
        return ""
    for unit in ("J", "N*m", *WORDS):  # an energy is likelier than a torque
        if powers_of(unit) == powers and unit != "Hz":
            return unit
    m, kg, s, rad = powers
    counted = {"kg": kg, "m": m, "s": s, "rad": rad}
    return "*".join(name if n == 1.0 else f"{name}^{n:g}" for name, n in counted.items() if n)


def quantity(text: str) -> tuple[float, Powers]:
    """A number with a unit in SI, and the powers of the unit. ValueError says what was expected."""
    number, name = _split(text) or (0.0, None)
    if name is None:
        raise ValueError(f"expected a number with a unit such as '3 kN', got {shown(text)}")
    known = _common(name)
    if known is not None:
        return number * known.over / known.under, powers_of(name)
    import pint

    try:
        measured = _units().Quantity(number, name).to_base_units()
        counts = {str(unit): float(n) for unit, n in measured.unit_items()}
    except pint.UndefinedUnitError:
        raise ValueError(f"expected a number with a unit, got the unknown unit {name!r}") from None
    except Exception:  # whatever the unit library makes of a senseless unit
        raise ValueError(f"expected a number with a unit such as '3 kN', got {shown(text)}") from None
    names = ("meter", "kilogram", "second", "radian")
    if not set(counts) <= set(names):
        raise ValueError(f"expected a unit made of m, kg, s and rad, got {shown(text)}")
    a, b, c, d = (counts.get(name, 0.0) for name in names)
    return float(measured.magnitude), (a, b, c, d)


def in_si(value: Any, unit: str) -> float:
    """`to_si` for any unit of SI that `spelled` gives, also those that have no word, and for ratios."""
    if unit in WORDS:
        return to_si(value, unit)
    if isinstance(value, str):
        number, powers = quantity(value)
        if powers[:3] != powers_of(unit)[:3]:
            raise ValueError(f"expected a value in {unit or 'no unit, a ratio'}, got {shown(value)}")
        return number
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
        raise ValueError(f"expected a finite number{f' in {unit}' if unit else ''}, got {shown(value)}")
    return float(value)


def to_si(value: Any, unit: str) -> float:
    """A plain number is SI; text is a number with a unit of the right dimension."""
    wanted = f"expected {WORDS[unit]} such as 3 or '3 {unit}'"
    if isinstance(value, str):
        number = _read(value, unit, wanted)
    elif isinstance(value, (int, float)) and not isinstance(value, bool):
        try:
            number = float(value)
        except OverflowError:
            number = math.inf
    else:
        raise ValueError(f"{wanted}, got {shown(value)}")
    if not math.isfinite(number):
        raise ValueError(f"{wanted}, got {shown(value)}, which is not a finite number")
    return number


# Units of results (schema.py) as `to_si` knows them; others are spelled alike.
OF_RESULTS = {"m s-1": "m/s", "rad s-1": "rad/s", "N m": "N*m", "kg m2 s-1": "kg*m^2/s", "kg m s-1": "N*s"}


def results_unit(unit: str) -> str:
    """A unit of files as results have it: "m s-1" for "m/s", "1" for none."""
    known = {own: spelled for spelled, own in OF_RESULTS.items()}
    words = re.sub(r"/(\w+)(?:\^(\d))?", lambda found: f" {found[1]}-{found[2] or 1}", unit)
    return known.get(unit, words.replace("*", " ").replace("^", "")) or "1"


_PERCENTAGE = re.compile(rf"\s*({_NUMBER})\s*%\s*", re.ASCII)


def percentage_hint(value: Any) -> str:
    """Hint at the number to write for a percentage where a ratio is expected; none for anything else."""
    found = _PERCENTAGE.fullmatch(value) if isinstance(value, str) and len(value) <= _LONGEST_QUANTITY else None
    return "" if found is None else f"; write {0.01 * float(found[1]):.12g}, a ratio"


_RATIOS = {"1": 1.0, "%": 0.01}


def factor_to_si(given: str, unit: str) -> float:
    """Factor for the numbers of a column, from the unit of the column and the one that is wanted.

    Both may also be spelled as in results, "m s-1" for "m/s". ValueError says what was expected.
    """
    if unit == "1":
        if given not in _RATIOS:
            raise ValueError(f"expected a ratio, of the unit 1 or %, got {shown(given)}")
        return _RATIOS[given]
    spelled = re.sub(r"(?<=[A-Za-z])(-?[1-4])", r"^\1", given)
    return to_si(f"1 {spelled}", OF_RESULTS.get(unit, unit))


def _read(value: str, unit: str, wanted: str) -> float:
    found = _split(value)
    if found is None:
        raise ValueError(f"{wanted}, got {shown(value)}")
    number, name = found
    if name is None:
        return number
    given, asked = _common(name), _common(unit)
    if given is not None and asked is not None and given.powers == asked.powers:
        return number * given.over / given.under
    import pint

    try:
        known = _units().parse_units(name)
        if _in_base(name) == _in_base(unit):
            return float(_units().Quantity(number, known).to(unit).magnitude)
        measured = _measured(name)
    except pint.UndefinedUnitError:
        raise ValueError(f"{wanted}, got the unknown unit {name!r}") from None
    except Exception:  # whatever the unit library makes of a senseless unit
        raise ValueError(f"{wanted}, got {value!r}") from None
    raise ValueError(f"{wanted}, got {value!r}, which {measured}")


def _in_base(name: str) -> Any:
    """A unit in base units; not its dimensions, by which hertz, decibel and per cent would do for angles."""
    return _units().get_base_units(_units().parse_units(name))[1]


def _measured(name: str) -> str:
    """Words for a value with this unit; its base units where there is none."""
    base = _in_base(name)
    words = [word for unit, word in WORDS.items() if unit == name] or [
        word for unit, word in WORDS.items() if _in_base(unit) == base
    ]
    if words:
        return f"is {' or '.join(words)}"
    return f"is measured in {base:~C}" if f"{base:~C}" else "is a ratio without a unit"


def shown(value: Any) -> str:
    """Value that came, in a few characters and as TOML says it."""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, dict):
        return "a section"
    if isinstance(value, (datetime.date, datetime.time)):
        return str(value)
    # reprlib for the depth, which repr has no limit for
    try:
        text = reprlib.repr(value) if isinstance(value, list) else repr(value)
    except Exception:  # whatever the object's own code raises
        text = f"an object of type {type(value).__name__}"
    return text if len(text) <= LONGEST_SHOWN else text[: LONGEST_SHOWN - 3] + "..."
