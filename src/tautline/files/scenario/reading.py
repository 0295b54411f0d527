"""Scenario files and texts, found, read and checked."""

from __future__ import annotations

import json
import os
import re
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from tautline import durable
from tautline.errors import InputError
from tautline.files.scenario.origin import Given, Options, Origin
from tautline.model import checks
from tautline.model.keys import dotted
from tautline.model.short_keys import full, is_short, names_in
from tautline.model.system.case import Case
from tautline.model.system.problems import ScenarioError
from tautline.model.system.sections import staged
from tautline.model.table_files import FILE
from tautline.model.wording import near
from tautline.units import shown

BUILT_IN = Path(__file__).parents[2] / "scenarios"
_MOST_BITS = 14_000  # 4215 digits; Python prints 4300
_DEEPEST = 4  # sections in sections: lines.NAME.command is the third
_COMPONENT = re.compile(r"\[[0-9]+\]$")  # at the end of a key
_LONGEST_LIST = 100_000  # of an option, in characters
# Bytes of a scenario or a study; numbers in plenty belong into CSV files, which are read faster.
_LARGEST = 8 * 2**20
# More parts of one key than any file needs; the TOML library takes time with their square.
_MOST_PARTS = 64
_LONG_KEY = re.compile(rf"""(?<![\w"'.-])(?:[\w"'-]++[ \t]*+\.[ \t]*+){{{_MOST_PARTS}}}""")

# A number and letters behind it, not in quotes.
_WITHOUT_QUOTES = re.compile(r"(?:^|[=\[{,])\s*[+-]?\d[\d_.]*+(?:[eE][+-]?\d+)?+\s*[^\W\d_]|[=\[{,]\s*\d[\d_.]*\s*[%°]")


def built_in_names() -> list[str]:
    """Names of the built-in scenarios."""
    return sorted(path.stem for path in BUILT_IN.glob("*.toml"))


def find(name: str) -> Path:
    """A file, or one of the built-in scenarios by name."""
    path = Path(name)
    try:
        if path.is_file():
            return path
        folder = path.is_dir()
    except OSError as error:  # a name that is too long, a folder that may not be read
        raise ScenarioError(f"{name}: cannot be read: {error.strerror}") from None
    if name in built_in_names():
        return BUILT_IN / f"{name}.toml"
    if folder:
        raise ScenarioError(f"{name}: expected a scenario file, got a folder")
    hint = near(name, built_in_names()) or f"; built in are {', '.join(built_in_names())}"
    raise ScenarioError(f"{name}: no such file or built-in scenario{hint}")


def load(name: str | os.PathLike[str], changes: Mapping[str, Any] | None = None) -> Case:
    """A case from a scenario file, or from a built-in scenario.

    Parameters
    ----------
    name : str or path
        A file, or the name of a built-in scenario.
    changes : dict, optional
        Values by dotted key, such as {"body.mass": "2 kg", "run.elements": 8}; a text is read as TOML.
    """
    path = find(str(checks.path("name", name)))
    if changes is not None:
        checks.mapping("changes", changes, "values")
    return parse(read(path), str(path), changes)


def read(path: Path) -> str:
    """The text of a scenario file."""
    try:
        return durable.read_text(path, _LARGEST)
    except UnicodeDecodeError:
        hint = "; a run file? Then use `tautline info` or `resume`" if path.suffix == ".nc" else ""
        raise ScenarioError(f"{path}: not a text file in UTF-8{hint}") from None
    except OSError as error:
        raise ScenarioError(f"{path}: cannot be read: {error.strerror}") from None


def tree_of(text: str, source: str) -> dict[str, Any]:
    """Parse TOML text; ScenarioError says why it cannot be read."""
    long = _LONG_KEY.search(text)
    if long is not None:
        line = text.count("\n", 0, long.start()) + 1
        raise ScenarioError(f"{source}:{line}: expected keys of at most {_MOST_PARTS} parts, got more")
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise ScenarioError(f"{source}: not valid TOML: {error}{_hint(text, str(error))}") from None
    except RecursionError:
        raise ScenarioError(f"{source}: not valid TOML here: nested too deeply") from None
    except ValueError:  # Python reads no integer of more than 4300 digits
        raise ScenarioError(f"{source}: not valid TOML here: a number of thousands of digits") from None


def _hint(text: str, message: str) -> str:
    """Hint at what to do about text that is not TOML, where it is clear; empty elsewhere."""
    if message.startswith("Cannot"):  # declare twice, overwrite or mutate
        return "; sections and keys may each be there once"
    place = re.search(r"at line (\d+)", message)
    lines = text.split("\n")
    line = lines[int(place[1]) - 1] if place else text.rstrip().rpartition("\n")[2]
    return '; values with units need quotes: "5 kg"' if _WITHOUT_QUOTES.search(line) else ""


def parse(text: str, source: str = "scenario", changes: Mapping[str, Any] | None = None) -> Case:
    """From TOML text; ScenarioError names the key, what was wanted, what came, file and line."""
    read_as = tree_of(text, source)
    if "scenario" in read_as and not {"string", "lines"} & read_as.keys():
        what, command = ("an optimization", "optimize") if "minimize" in read_as else ("a study", "study")
        raise ScenarioError(f"{source}: {what} and not a scenario; `tautline {command} {source}` runs it")
    tree = beside(staged(read_as), Path(source).parent)
    option = "--set " if isinstance(changes, Options) else ""
    whole = {key: x for key, x in (changes or {}).items() if not _COMPONENT.search(key)}
    given = tuple(_override(tree, key, value, option) for key, value in whole.items())
    case = from_tree(tree, Origin(source, text, given, option))
    for key, value in (changes or {}).items():
        if key not in whole:
            case = _with_component(case, key, value, option)
    return case


def _with_component(case: Case, key: str, value: Any, option: str) -> Case:
    """A case with another component of a list, such as initial.end_velocity[1]."""
    try:
        found: Case = case.with_({key: _value_of(value) if isinstance(value, str) else value})
    except InputError as error:
        head = option if str(error).startswith(key.partition("[")[0]) else f"{option}{key}: "
        raise ScenarioError(f"{head}{error}") from None
    return found


def beside(tree: dict[str, Any], folder: Path, depth: int = _DEEPEST) -> dict[str, Any]:
    """A tree whose CSV files are looked for in the folder of the scenario file; those of options in the present one."""
    found = {}
    for name, part in tree.items():
        if name == FILE and isinstance(part, str):
            part = str(folder / part)
        found[name] = beside(part, folder, depth - 1) if isinstance(part, dict) and depth else part
    return found


def from_tree(tree: Mapping[str, Any], origin: Origin) -> Case:
    """A case from what a TOML parser returns."""
    endless = _endless(tree)
    if endless is not None:
        raise ScenarioError(f"{origin.head(endless)}: expected a number of fewer digits, got thousands")
    return Case.from_dict(tree, locate=origin.head)


def _endless(tree: Any) -> list[str] | None:
    """Path of an integer that Python declines to print (hexadecimal ones are read at any length), if there is one.

    No message could deal with it. A stack, because a tree may be deeper than Python recurses.
    """
    stack: list[tuple[Any, list[str]]] = [(tree, [])]
    while stack:
        value, path = stack.pop()
        if isinstance(value, (float, str)):
            continue
        if isinstance(value, int) and value.bit_length() > _MOST_BITS:
            return path
        if isinstance(value, Mapping):
            stack += [(item, [*path, str(key)][:2]) for key, item in value.items()]  # section and key
        elif isinstance(value, list):
            stack += [(item, path) for item in value]
    return None


def _override(tree: dict[str, Any], key: str, value: Any, option: str) -> Given:
    """Put what `--set string.stiffness=60` says into a tree; the key as it is there."""
    typed = key.split(".")
    parts = typed
    if not all(parts):
        raise ScenarioError(f"{option}{shown(key)}: expected section.key=value")
    names = None if is_short(tree) else names_in(tree)
    if names is not None:
        parts = list(full(tuple(typed), names))
    if parts[0] == "lines" and len(parts) == 3 and parts[2] in _string_of(tree, parts[1]):
        parts = [*parts[:2], "string", *parts[2:]]
    node = tree
    for part in parts[:-1]:
        child = node.setdefault(part, {})
        if not isinstance(child, dict):
            raise ScenarioError(f"{option}{dotted(typed)}: {part} is not a section{_component_hint(typed, child)}")
        node = child
    node[parts[-1]] = _value_of(value) if isinstance(value, str) else value
    return Given(tuple(parts), tuple(typed))


def _component_hint(typed: list[str], value: Any) -> str:
    """How to write a component of a list whose number stands behind a dot."""
    *whole, last = typed
    return f"; did you mean '{dotted(whole)}[{last}]'?" if isinstance(value, list) and last.isdecimal() else ""


def _string_of(tree: Mapping[str, Any], line: str) -> Mapping[str, Any]:
    """The section of a line's string, where it has one of its own."""
    found: Any = tree
    for name in ("lines", line, "string"):
        found = found.get(name) if isinstance(found, Mapping) else None
    return found if isinstance(found, Mapping) else {}


def _value_of(text: str) -> Any:
    """The value of an option: TOML; a list whose items may lack quotes, [10 N, 0, 0]; else the text itself."""
    if _LONG_KEY.search(text):
        return text
    for candidate in (text, _quoted(text)):
        try:
            parsed = tomllib.loads(f"x = {candidate}")
        except (RecursionError, ValueError):
            continue
        if list(parsed) == ["x"]:
            return parsed["x"]
    return text


def _quoted(text: str) -> str:
    """A list with quotes around those of its items that TOML would not read without."""
    return re.sub(r"[^\[\],]+", _quoted_item, text) if text.startswith("[") and len(text) < _LONGEST_LIST else text


def _quoted_item(found: re.Match[str]) -> str:
    item = found[0].strip()
    try:
        tomllib.loads(f"x = {item}")
    except (RecursionError, ValueError):
        return json.dumps(item) if item else found[0]
    return found[0]
