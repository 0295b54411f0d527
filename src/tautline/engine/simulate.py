"""simulate(): a run from its beginning to its end, in one call."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any
from warnings import warn

from tautline.engine.simulation import Simulation
from tautline.errors import InputError, TautlineWarning
from tautline.model import checks
from tautline.model.command import Command, Free, Locked
from tautline.model.description import fields_of
from tautline.model.force_law import ForceLaw
from tautline.model.run import NOT_GIVEN, Run, given_of
from tautline.model.system.case import Case
from tautline.model.system.commands import commands_by_name
from tautline.model.system.given import case_of
from tautline.model.system.starts import Start
from tautline.model.system.system import System
from tautline.results.warnings import said, warnings_of

if TYPE_CHECKING:
    import xarray as xr

# Called with the simulation; what it returns is for the only reel, or for reels by their lines' names.
Controller = Callable[[Any], "float | Command | Mapping[str, float | Command] | None"]


def simulate(
    system: System | Case,
    start: Start | None = None,
    command: Command | Mapping[str, Command | float] | None = None,
    *,
    duration: float | str = NOT_GIVEN,
    step: float | str = NOT_GIVEN,
    sample: float | str | None = NOT_GIVEN,
    order: int = NOT_GIVEN,
    scheme: str = NOT_GIVEN,
    compensated: bool = NOT_GIVEN,
    minimum_length: float | str | None = NOT_GIVEN,
    at_end: str = NOT_GIVEN,
    stop: Any = NOT_GIVEN,
    control: Controller | None = None,
    period: float | None = None,
    loads: ForceLaw | Sequence[ForceLaw] | Mapping[str, ForceLaw | Sequence[ForceLaw]] = (),
    **others: Any,
) -> xr.Dataset:
    """Simulate a case, or a system from a start under a command.

    Settings of the run that are given with a case take the place of its own.

    Parameters
    ----------
    system : System or Case
        What; a case says the rest as well.
    start : Straight, Hanging, AtEquilibrium, Placed or State
        From where.
    command : Command
        What the drum does; it is locked by default. With several reels, a dict of commands by the names of lines.
    duration : float
        Simulated time (s), a multiple of `sample`; needed unless a case has it.
    step : float or "auto"
        Time step (s); "auto", the default, keeps to a stable one that resolves the motion.
    sample : float, optional
        Interval between stored states (s); about a thousandth of the duration by default.
    order : {2, 4, 6}
        Order of accuracy, 2 by default.
    scheme : {"symmetric", "paper"}
        "paper" is the published discretization, for systems of one line and one body.
    compensated : bool
        Keep rounding from accumulating; true by default.
    minimum_length : float, optional
        A retrieval ends when no more than this is deployed (m).
    at_end : {"stop", "hold"}
        What happens there, and when the string is off the drum.
    stop : StopWhen or several, optional
        Conditions that end the run.
    control : callable, optional
        Called with the `Simulation` every `period`; returns a torque (N m) or a command of the only reel, or a dict of
        them by the names of lines, held until the next call; None leaves the reels as they are. Takes the place of
        `command`.
    period : float, optional
        Of `control` (s): a multiple of `sample`, which it is by default, or a whole part of it.
    loads : ForceLaw or several, optional
        Forces of your own functions; with several lines, a dict by their names. Such a run can be neither saved nor
        resumed.

    Returns
    -------
    xarray.Dataset
        On `time`. `attrs["status"]` is "completed" or the event that ended the run early, `attrs["message"]`
        says more; the last sample is the state at that event.

    Warns
    -----
    errors.TautlineWarning
        If there are warnings on the accuracy of the run; `tl.warnings_of(run)` has them as objects.
    """
    run = given_of(locals(), Run) | others  # others are refused by name
    own: dict[str, Command] = {}
    if control is not None and command is None:  # whatever the reel does at the start
        system, command, own = _free_at_start(system)
    case = case_of(system, start, command, run)
    if control is None and period is not None:
        raise InputError("period: expected together with control, got it alone")
    if control is None:
        found = run_of(case, loads)
    else:
        simulation = Simulation.from_case(case, loads=loads)
        _controlled(simulation, case, control, period, own)
        found = simulation.dataset()
    warnings = warnings_of(found)
    if warnings:
        warn(said(warnings), TautlineWarning, stacklevel=2)
    return found


def run_of(case: Case, loads: Any = ()) -> xr.Dataset:
    """A run of a case, whose warnings the caller passes on."""
    simulation = Simulation.from_case(case, loads=loads)
    with case.naming_keys():
        simulation.advance(case.run.duration, dict(case.commands), sample=case.run.interval())
    return simulation.dataset()


def _free_at_start(system: Any) -> tuple[Any, Any, dict[str, Command]]:
    """Let the only reel be free until the controller is asked; of several, each is as its own command says.

    With what that reel does by its own command, until the controller gives it another.
    """
    lines = (system.system if isinstance(system, Case) else system).lines if isinstance(system, System | Case) else {}
    reels = [name for name, line in lines.items() if line.reel is not None]
    if len(reels) != 1:
        return system, None, {}
    if isinstance(system, Case):
        return system.with_(command=Free()), None, {reels[0]: system.commands.get(reels[0], Locked())}
    return system, Free(), {reels[0]: Locked()}


def _controlled(
    simulation: Simulation, case: Case, control: Controller, period: float | None, own: dict[str, Command]
) -> None:
    """Zero-order hold: ask the controller, advance by a period, and so on."""
    if not callable(control):
        checks.refuse("control", "something that can be called", control)
    run = case.run
    tick = checks.positive("period", run.interval() if period is None else period, "s")
    ticks = _parts("period", tick, "duration", run.duration)
    if not isinstance(run.step, str):
        checks.whole_ratio("period", tick, "step", run.step)
    sample, every = run.sample, 1  # ticks in a sample
    if sample is not None and tick < sample:
        every = _parts("period", tick, "sample", sample)
        sample = None
    elif sample is not None:
        checks.whole_ratio("period", tick, "sample", sample)
    for k in range(ticks):
        with simulation.turns:
            command = control(simulation)
        with _naming_control(case):
            if k == 0:
                command = {**case.commands, **own, **commands_by_name(simulation.system, command)}
            if k == 0 and every > 1:
                runner = simulation.runner
                runner.begin(command, tick, tick)
                runner.keep(runner.first_sample())
            recorded = (k + 1) % every == 0
            if simulation.advance(tick, command, sample=sample, record=recorded) != "completed":
                if not recorded:
                    simulation.runner.keep_event()
                return


def _parts(name: str, value: float, unit_name: str, unit: float) -> int:
    """unit/value, which must be a whole number of at least 1."""
    ratio = unit / value
    n = round(min(ratio, checks.MOST_STEPS))
    if n < 1 or abs(ratio - n) > checks.WHOLE * n:
        raise InputError(
            f"{name}: expected a whole part of {unit_name} ({unit:g} s), got {value!r}; "
            f"the nearest is {unit / max(1, n):.12g}"
        )
    return n


@contextmanager
def _naming_control(case: Case) -> Iterator[None]:
    """Errors about what a controller returned say so; those about keys of the run name them."""
    try:
        yield
    except InputError as error:
        if str(error).partition(":")[0] in fields_of(Run):
            with case.naming_keys():
                raise
        raise InputError(f"control: {error}") from None
