"""Warnings on a run of one line: its reel, its diagnostics, tables that steps do not follow."""

from __future__ import annotations

from functools import partial

import numpy as np

from tautline.engine.chain.stepper import Stepper
from tautline.engine.criteria import warnings_from
from tautline.engine.health import Motion
from tautline.engine.loads import own_numbers
from tautline.engine.warnings import motor_warnings, stop_warnings
from tautline.kernels import data
from tautline.model.motions import Endless
from tautline.model.path import GuidePath
from tautline.model.profile import places_at
from tautline.results.warnings import RunWarning

# Knots of a motion without end between two looks at it, 25 a period, and how many looks there are at most.
KNOTS_APART, MOST_LOOKS = 40, 4000


def chain_warnings(stepper: Stepper, figures: dict[str, float]) -> list[RunWarning]:
    """Warnings on an end stop, the motor, diagnostics, and tables that steps do not follow."""
    health = stepper.health
    found = [*stop_warnings(stepper.motion.reel), *motor_warnings(stepper.pendulum.reel, *stepper.needed)]
    found += warnings_from(health.criteria(stepper.pendulum, stepper.par.N, figures, stepper.plan.adaptive))
    return found + health.unresolved(_force_knots(stepper), _given_motions(stepper), stepper.time)


def _force_knots(stepper: Stepper) -> dict[str, data.Array]:
    """Times of the entries of tables of forces that act, by what they are of; a function has none."""
    found, command = {}, stepper.command
    if command is not None and not command.is_function and len(command.torques()[0]) > 1:
        found[type(command).__name__] = stepper.kernel_command.times
    applied = own_numbers(stepper.loads, "applied_force").table
    if applied.shape[1] > 1:
        found["applied_force"] = applied[0]
    return found


def _given_motions(stepper: Stepper) -> dict[str, Motion]:
    """Tables of motions that are given to reel or guide, by what they are of."""
    found: dict[str, Motion] = {}
    command = stepper.command
    if command is not None and command.motion is not None:
        found[type(command).__name__] = _endless(command.motion, stepper.time)
    elif command is not None and command.is_tabulated:
        curve = stepper.kernel_command.profile
        found[type(command).__name__] = (curve[:, 0], partial(places_at, curve))
    path = stepper.pendulum.reel.guide_path
    if isinstance(path, GuidePath):
        found["reel.guide_path"] = (np.array(path.times), lambda times: path.at(times)[0])
    elif path is not None:
        found["reel.guide_path"] = _endless(path, stepper.time)
    return found


def _endless(motion: Endless, time: float) -> Motion:
    """Some times at which a motion without end is looked at, its latest ones of a long run, and where it is then."""
    apart = KNOTS_APART * motion.harmonics().spacing
    times = np.arange(max(0.0, time - MOST_LOOKS * apart), time, apart)
    return times, lambda times: motion.at(times)[0]
