"""A case for co-simulation, by the command `export`: what needs the engine, apart from what reads runs."""

from __future__ import annotations

from pathlib import Path
from typing import Any


def write_fmu(
    scenario: str, target: Path, fmi: int, commands: list[str], velocities: list[str], settings: dict[str, str]
) -> str:
    """Write an FMU; a sentence on it."""
    from tautline.cli.app import pair
    from tautline.files.scenario import load
    from tautline.fmu import export

    modes = "LINE=torque, LINE=speed, LINE=length or LINE=case"
    chosen = dict(pair("--command", command, modes) for command in commands)
    variables = export.write_fmu(load(scenario, settings), target, fmi, chosen, velocities)
    inputs = ", ".join(_short([x.name for x in variables if x.causality == "input"])) or "none"
    size = target.stat().st_size / 1e6
    return f"{target}: FMI {fmi}.0, {size:.2f} MB, {len(variables)} variables; inputs {inputs}"


def _short(names: list[str]) -> list[Any]:
    """Names without their components."""
    return list(dict.fromkeys(name.partition("[")[0] for name in names))
