"""A case from what is given in Python: a case and changes of its run, or plain objects."""

from __future__ import annotations

from collections.abc import Mapping
from numbers import Real
from typing import Any

from tautline.errors import InputError
from tautline.model import checks
from tautline.model.command import as_command
from tautline.model.run import Run, known
from tautline.model.system.case import Case
from tautline.model.system.commands import check_commanded
from tautline.model.system.starts import AtEquilibrium, Hanging, Placed, Straight
from tautline.model.system.state import State
from tautline.model.system.system import System
from tautline.units import shown


def case_of(system: Any, start: Any, command: Any, run: Mapping[str, Any], title: str = "") -> Case:
    """A case from what `simulate` takes: a case and changes of its run, or plain objects."""
    checks.instance("system", system, System, Case)
    known(run, Run, () if isinstance(system, Case) else ("duration",))
    checks.text("title", title)
    if isinstance(system, Case):
        if start is not None or command is not None:
            came = command if start is None else start
            checks.refuse("start", "no start and command beside a case; use case.with_", came)
        return system.with_run(**run) if run else system
    checks.instance("start", start, Placed, Straight, Hanging, AtEquilibrium, State)
    if isinstance(command, Real) and not isinstance(command, bool):  # a torque
        try:
            command = as_command(command)
        except InputError as error:
            raise InputError(f"command: {error}") from None
    for name in command if isinstance(command, Mapping) else ():
        try:
            check_commanded(name, system)
        except InputError as error:
            raise InputError(f"command: expected names of lines, got {shown(name)}: {error}") from None
    return Case(system, start, {} if command is None else command, Run(**run), title)
