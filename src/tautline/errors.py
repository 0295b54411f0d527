"""Exceptions, and the kernels' status codes with their sentences."""

from __future__ import annotations


class TautlineError(Exception):
    """Base of all errors that tautline raises."""


class InputError(TautlineError, ValueError):
    """An argument is not what it must be. The message names it, what was expected and what came."""


class EquilibriumError(TautlineError):
    """No state of rest was found. The message says how far the search came and what to try."""


class EngineError(TautlineError):
    """There is no machine code that can run the kernels. The message says why, and what to do."""


class InUseError(TautlineError, RuntimeError):
    """A simulation is already being used: by another thread, or by its own controller or force law."""


class ForceLawError(TautlineError, RuntimeError):
    """A force law of the user's own raised an error, which is the cause of this one."""


class TautlineWarning(UserWarning):
    """Warnings on a run of `simulate`, which its result also holds: `tl.warnings_of`."""


# What a kernel returns. A run that ends early is a value, not an exception.
(
    RUNNING,
    FULLY_RETRIEVED,
    FULLY_DEPLOYED,
    UNSTABLE_STEP,
    NEWTON_FAILED,
    NON_FINITE,
    REEL_OUTRUNS_WAVES,
    CONDITION_MET,
    TWO_BLOCKED,
) = range(9)
# A march that its caller stopped; no run ends with it.
INTERRUPTED = -2

STATUS_NAMES = {
    RUNNING: "completed",
    FULLY_RETRIEVED: "fully_retrieved",
    FULLY_DEPLOYED: "fully_deployed",
    UNSTABLE_STEP: "unstable_step",
    NEWTON_FAILED: "newton_failed",
    NON_FINITE: "non_finite",
    REEL_OUTRUNS_WAVES: "reel_outruns_waves",
    CONDITION_MET: "condition_met",
    TWO_BLOCKED: "two_blocked",
}
