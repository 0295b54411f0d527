"""simulate(): a run from its beginning to its end, in one call."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from tautline.engine.conditions import StopWhen
from tautline.engine.simulation import Simulation
from tautline.engine.timing import default_sample
from tautline.errors import InputError
from tautline.model import checks
from tautline.model.command import Command, Locked, Torque, check_command
from tautline.model.force_law import ForceLaw
from tautline.model.pendulum import Pendulum
from tautline.model.state import State

if TYPE_CHECKING:
    import xarray as xr

Controller = Callable[[Simulation], "float | Command"]


def simulate(
    pendulum: Pendulum,
    state: State,
    command: Command = Locked(),  # noqa: B008 - frozen and without fields
    *,
    duration: float,
    step: float | str = "auto",
    sample: float | None = None,
    order: int = 2,
    scheme: str = "symmetric",
    compensated: bool = True,
    minimum_length: float | None = None,
    at_end: str = "stop",
    stop: StopWhen | Sequence[StopWhen] = (),
    control: Controller | None = None,
    period: float | None = None,
    loads: Sequence[ForceLaw] = (),
) -> xr.Dataset:
    """Simulate a pendulum from a state under a command.

    Parameters
    ----------
    pendulum, state, command
        What, from where, and what the drum does.
    duration : float
        Simulated time (s), a multiple of `sample`.
    step : float or "auto"
        Time step (s), or a stable one that keeps to half of the stability limit while the string's
        length changes. With a number the run stops at 0.9 of the limit.
    sample : float, optional
        Interval between stored states (s), a multiple of `step`; about a thousandth of the duration by default.
    order : {2, 4, 6}
        Order of accuracy; 4 and 6 compose a step of 5 or 11 second-order ones.
    scheme : {"symmetric", "paper"}
        "paper" is the published discretisation, of first order with a moving reel.
    compensated : bool
        Keep rounding from accumulating (the default). Costs about a tenth of the time.
    minimum_length : float, optional
        A retrieval ends when no more than this is deployed (m); by default 1 % of the initial length, or less where a
        command names a shorter length to go to.
    at_end : {"stop", "hold"}
        What happens there, and when the string is off the drum: the run stops, or the reel is held by an end stop
        until it is pulled away from it.
        A reel whose motion is prescribed by `Length` or `Speed` ends the run there in either case.
    stop : StopWhen or several, optional
        Conditions that end the run at the moment when one of them is met.
    control : callable, optional
        Called with the `Simulation` every `period`; returns the drum's moment (N m) or a command, held until the
        next call. Takes the place of `command`.
    period : float, optional
        Of `control` (s); a multiple of `sample`, which it is by default.
    loads : list of ForceLaw, optional
        Forces of your own functions. Such a run can be neither saved nor resumed.

    Returns
    -------
    xarray.Dataset
        On `time`. `attrs["status"]` is "completed" or the event that ended the run early, `attrs["message"]`
        says more.
    """
    check_command(command, 0.0)
    simulation = Simulation(
        pendulum,
        state,
        step=step,
        order=order,
        scheme=scheme,
        compensated=compensated,
        minimum_length=minimum_length,
        at_end=at_end,
        stop=stop,
        loads=loads,
    )
    if control is not None:
        _controlled(simulation, duration, sample, control, period)
        return simulation.dataset()
    if period is not None:
        raise InputError("period: expected together with control, got it alone")
    interval = default_sample(duration, simulation.settings["step"]) if sample is None else sample
    simulation.advance(duration, command, sample=interval)
    return simulation.dataset()


def _controlled(
    simulation: Simulation, duration: Any, sample: float | None, control: Controller, period: float | None
) -> None:
    """Zero-order hold: ask the controller, advance by a period, and so on."""
    duration = checks.positive("duration", duration, "s")
    if not callable(control):
        checks.refuse("control", "something that can be called", control)
    if period is None:
        period = default_sample(duration, simulation.settings["step"]) if sample is None else sample
    tick = checks.positive("period", period, "s")
    if sample is not None:
        checks.whole_ratio("period", tick, "sample", checks.positive("sample", sample, "s"))
    ticks = checks.whole_ratio("duration", duration, "period", tick)
    for _ in range(ticks):
        answer = control(simulation)
        command = answer if isinstance(answer, Command) else Torque(answer)
        if simulation.advance(tick, command, sample=sample) != "completed":
            return
