"""Numbers for people: four digits and a prefix, as in 10.63 kN. The viewer has the same rules (web/src/format.ts)."""

from __future__ import annotations

import math
import re
from decimal import ROUND_HALF_UP, Context, Decimal

DIGITS = 4
NONE = "\u2013"  # in the place of what is no number
# Units that take prefixes of thousands, those that take them for what is small alone, and the least of kilometers.
PREFIXED = ("N", "J", "W", "Pa", "Hz", "N m", "N s", "J/m")
SMALL = ("m", "s")
KILOMETERS = 1e4
PREFIXES = (
    ("G", 1e9),
    ("M", 1e6),
    ("k", 1e3),
    ("", 1e-2),
    ("m", 1e-5),
    ("µ", 1e-8),
    ("n", 1e-11),
)  # and from which size on
SIZES = {"G": 1e9, "M": 1e6, "k": 1e3, "": 1.0, "m": 1e-3, "µ": 1e-6, "n": 1e-9}
# Sizes from which on a number without prefix has a power of ten, and below which it has one.
LARGE, TINY = 1e5, 1e-3


def rounded(x: float, digits: int = DIGITS) -> float:
    """Number to some significant digits, halves away from zero."""
    return float(Context(prec=digits, rounding=ROUND_HALF_UP).plus(Decimal(x))) if math.isfinite(x) else x


def prefixed(largest: float, unit: str) -> tuple[float, str]:
    """Size and name of the unit that numbers up to a largest one are written in."""
    size = abs(rounded(largest))
    if unit == "%":
        return 0.01, "%"
    if size == 0.0 or not math.isfinite(size) or unit not in (*PREFIXED, *SMALL):
        return 1.0, "" if unit == "1" else unit
    if unit in SMALL and size >= TINY * 10.0:
        return (1e3, "km") if unit == "m" and size >= KILOMETERS else (1.0, unit)
    prefix = next((name for name, least in PREFIXES if size >= least), "")
    return SIZES[prefix], prefix + unit


def number(x: float | None, digits: int = DIGITS) -> str:
    """A number to some significant digits, with a power of ten only where it would be long."""
    if x is None or math.isnan(x):
        return NONE
    if math.isinf(x):
        return "∞" if x > 0.0 else "-∞"
    shown = rounded(x, digits)
    if shown == 0.0:
        return "0"
    if TINY <= abs(shown) < LARGE:
        decimals = max(0, digits - 1 - math.floor(math.log10(abs(shown)) + 1e-12))
        text = f"{Decimal(repr(shown)):.{decimals}f}"
        return text.rstrip("0").rstrip(".") if "." in text else text
    mantissa, exponent = f"{shown:.{digits - 1}e}".split("e")
    return f"{mantissa.rstrip('0').rstrip('.')}e{int(exponent)}"


def value(x: float | None, unit: str = "", digits: int = DIGITS) -> str:
    """A number with its unit: 10.63 kN, 23.4 kJ, 0.5 m/s; a share of one in percent where the unit is "%"."""
    if x is None or math.isnan(x):
        return NONE
    size, name = prefixed(x, unit)
    return f"{number(x / size, digits)} {name}".rstrip()


def between(low: float, high: float, unit: str = "", digits: int = DIGITS) -> str:
    """A range in one unit: 9.656 to 10.62 kN; one number where both are equal."""
    size, name = prefixed(max(abs(low), abs(high)), unit)
    ends = dict.fromkeys(number(x / size, digits) for x in (low, high))
    return f"{' to '.join(ends)} {name}".rstrip()


_POWER = re.compile(r"([^\d\s-]+)(-?\d+)?")


def unit_text(text: str) -> str:
    """Unit as it is written in text: "m s-1" of results is m/s, "kg*m^2" of scenarios is kg m²."""
    above: list[str] = []
    below: list[str] = []
    for name, power in _POWER.findall(text.replace("*", " ").replace("^", "")):
        size = abs(int(power or 1))
        (below if power.startswith("-") else above).append(name + {1: "", 2: "²", 3: "³"}.get(size, f"^{size}"))
    return (" ".join(above) or ("1" if below else "")) + "".join(f"/{name}" for name in below)
