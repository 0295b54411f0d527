"""One command of each kind, from the files that use every key of scenario files."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import tautline as tl

FOLDER = Path(__file__).parents[1] / "e2e/every_key"


@cache
def every_command() -> dict[type, tl.Command]:
    """Commands by their class."""
    cases = (tl.load(path) for path in sorted(FOLDER.glob("*.toml")))
    return {type(command): command for case in cases for command in case.commands.values()}
