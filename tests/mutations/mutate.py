"""Random changes of the built-in scenarios, by file and by option; a number makes the same one again."""

from __future__ import annotations

import json
import math
import random
import tomllib
from functools import cache
from typing import Any, NamedTuple

from tautline.files.scenario import BUILT_IN

UNITS = ("m", "kg", "s", "N", "kN", "MN", "m/s", "deg", "rad", "N*m", "kg/m", "Hz", "parsec", "m^4", "%", "", "furlong")
WORDS = ("auto", "", "x" * 300, "nan", "ü", "\u0000", "..", "/dev/zero", "1e400 m", "--set", "\U0001f9f5", "true")
NUMBERS = (0, -1, 1, 2, 1e-300, 1e308, -1e308, 1e-12, 1e12, 1e50, 10**30, 2**63, math.nan, math.inf, -math.inf, 5e-324)
MOTIONS: tuple[Any, ...] = (
    {"kind": "sine", "amplitude": "1 m", "period": "2 s"},
    {"kind": "sines", "amplitudes": [1, 2], "periods": [3, "1 ms"]},
    {"kind": "waves", "spectrum": "jonswap", "height": 2, "peak_period": "7 s"},
    {"kind": "points", "times": [0, 1, 2], "displacements": [[0, 0, 0], [0, 0, 1], [1, 0, 0]]},
    {"kind": "points", "file": "/dev/zero"},
    {"kind": "points", "file": "no-such.csv"},
    {"kind": "length", "target": 3, "speed": "1 m/s", "acceleration": 1},
    {"kind": "length", "times": [0, 1, 1], "lengths": [5, 4, 3]},
    {"kind": "speed", "payout": "1 m/s"},
    {"kind": "torque", "times": [0, 1], "torques": [1e9, -1e9]},
    {"kind": "torque", "torque": 37302},
    {"kind": "brake", "torque": 10, "maximum": 5},
    {"kind": "impedance", "length": 1e-7, "stiffness": 4e8, "damping": 1e-7},
    {"kind": "free"},
    {"kind": "locked"},
)


class Mutation(NamedTuple):
    """A scenario to check: its text, and options of --set."""

    name: str
    text: str
    options: list[str]


@cache
def _texts() -> dict[str, str]:
    return {path.stem: path.read_text(encoding="utf-8") for path in sorted(BUILT_IN.glob("*.toml"))}


def mutation(number: int) -> Mutation:
    """The scenario of a number."""
    draw = random.Random(number)
    name = draw.choice(list(_texts()))
    text = _texts()[name]
    way = draw.random()
    if way < 0.1:
        return Mutation(name, _garbled(draw, text), [])
    if way < 0.35:
        tree = tomllib.loads(text)
        return Mutation(name, text, [_option(draw, tree) for _ in range(draw.choice((1, 1, 2)))])
    tree = tomllib.loads(text)
    for _ in range(draw.choice((1, 1, 1, 2, 3))):
        _change(draw, tree)
    return Mutation(name, "".join(f"{_key(key)} = {_toml(value)}\n" for key, value in tree.items()), [])


def _places(tree: Any, leaves: bool) -> list[tuple[Any, Any]]:
    """All values in dicts and lists, with what holds them; leaves only, or sections and lists too."""
    found = []
    for key, value in list(tree.items() if isinstance(tree, dict) else enumerate(tree)):
        inner = isinstance(value, dict | list)
        if not (inner and leaves):
            found.append((tree, key))
        if inner:
            found += _places(value, leaves)
    return found


def _change(draw: random.Random, tree: dict[str, Any]) -> None:
    way = draw.random()
    places = _places(tree, leaves=way < 0.7)
    if not places:
        return
    holder, key = draw.choice(places)
    if way < 0.8:
        holder[key] = _other(draw, holder[key])
    elif way < 0.85:
        del holder[key]
    elif way < 0.9 and isinstance(holder, dict):
        holder[_typo(draw, key)] = holder.pop(key)
    elif way < 0.94:
        other, place = draw.choice(places)
        holder[key], other[place] = other[place], holder[key]
        if _depth(tree) > 60:  # one holds the other now
            tree.clear()
    else:
        section = draw.choice((tree, *(y for y in tree.values() if isinstance(y, dict))))
        section[draw.choice(("guide", "command", "initial", "fluid", "stop", "extra", "file", "kind"))] = draw.choice(
            (*MOTIONS, *NUMBERS, "x")
        )


def _depth(value: Any, most: int = 64) -> int:
    if most == 0 or not isinstance(value, dict | list) or not value:
        return 0
    return 1 + max(_depth(x, most - 1) for x in (value.values() if isinstance(value, dict) else value))


def _typo(draw: random.Random, key: str) -> str:
    place = draw.randrange(len(key) + 1)
    return key[:place] + draw.choice("abcxyz_") + key[place + draw.choice((0, 1)) :]


def _number(draw: random.Random, value: float) -> Any:
    way = draw.random()
    if way < 0.5:
        return value * 10.0 ** draw.uniform(-1.5, 1.5)
    if way < 0.6:
        return -value * 10.0 ** draw.uniform(-3.0, 3.0)
    if way < 0.85:
        return (value or 1.0) * 10.0 ** draw.uniform(-12.0, 12.0)
    return draw.choice(NUMBERS)


def _other(draw: random.Random, value: Any) -> Any:
    """Something else in the place of a value."""
    way = draw.random()
    if isinstance(value, bool):
        return draw.choice((not value, 1, "true", 0))
    if isinstance(value, int | float) and way < 0.8:
        return _number(draw, float(value))
    if isinstance(value, str) and value[:1].isdigit() and way < 0.8:
        figure, _, unit = value.partition(" ")
        try:
            number = float(figure)
        except ValueError:
            number = 1.0
        return f"{_number(draw, number)!r} {unit if draw.random() < 0.7 else draw.choice(UNITS)}"
    if isinstance(value, list) and way < 0.6 and value:
        return draw.choice((value[:-1], value * 2, [*value, value[0]], [value], [], value[::-1]))
    if isinstance(value, dict) and way < 0.6:
        return draw.choice(MOTIONS)
    return draw.choice((*NUMBERS, *WORDS, *MOTIONS, [], {}, [[1, 2], [3]], True, _nested(draw.choice((3, 30, 90)))))


def _nested(depth: int) -> Any:
    return 1 if depth == 0 else ([_nested(depth - 1)] if depth % 2 else {"a": _nested(depth - 1)})


def _option(draw: random.Random, tree: dict[str, Any]) -> str:
    """An option --set: a key that is there, nearly there or not at all, and some value."""
    path: list[str] = []
    node: Any = tree
    while isinstance(node, dict) and node and (not path or draw.random() < 0.9):
        path.append(draw.choice(list(node)))
        node = node[path[-1]]
    if draw.random() < 0.1:
        path[-1] = _typo(draw, path[-1])
    value = _other(draw, node)
    text = value if isinstance(value, str) and draw.random() < 0.5 else _toml(value)
    return ".".join(path) + ("=" if draw.random() < 0.98 else "") + text


def _garbled(draw: random.Random, text: str) -> str:
    """Text with some characters changed, cut out or doubled."""
    for _ in range(draw.choice((1, 2, 10))):
        place = draw.randrange(len(text))
        size = draw.choice((0, 1, 20))
        filling = draw.choice(
            ("", "]", "[", "{", "}", '"', "=", "\n", ".", "a.b", "#", "\u2028", "9" * 500, text[:200])
        )
        text = text[:place] + filling + text[place + size :]
    return text


def _key(key: Any) -> str:
    return json.dumps(str(key))


def _toml(value: Any) -> str:
    """A value as TOML writes it."""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, dict):
        return "{" + ", ".join(f"{_key(key)} = {_toml(x)}" for key, x in value.items()) + "}"
    if isinstance(value, list | tuple):
        return "[" + ", ".join(map(_toml, value)) + "]"
    if isinstance(value, str):
        return json.dumps(value).replace("\\ud83e\\uddf5", "\U0001f9f5")
    return "0" if value is None else repr(value)
