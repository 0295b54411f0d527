"""Warnings on a run of one line: its reel, its diagnostics, tables that steps do not follow."""

from __future__ import annotations

from tautline.engine.chain.stepper import Stepper
from tautline.engine.criteria import warnings_from
from tautline.engine.unfollowed import (
    function_warnings,
    knots_of_command,
    knots_of_force,
    motion_of_command,
    motion_of_path,
    unfollowed,
)
from tautline.engine.warnings import motor_warnings, stop_warnings
from tautline.results.warnings import RunWarning


def chain_warnings(stepper: Stepper, figures: dict[str, float]) -> list[RunWarning]:
    """Warnings on an end stop, the motor, diagnostics, and tables that steps do not follow."""
    health, command, given, chain = stepper.health, stepper.command, stepper.kernel_command, stepper.pendulum
    found = [*stop_warnings(stepper.motion.reel), *motor_warnings(chain.reel, *stepper.needed)]
    found += warnings_from(health.criteria(chain, stepper.par.N, figures, stepper.plan.adaptive))
    kind = type(command).__name__
    forces = {kind: knots_of_command(command, given), "applied_force": knots_of_force(chain.applied_force)}
    motions = {
        kind: motion_of_command(command, given, stepper.time),
        "guide": motion_of_path(chain.reel.guide_path, stepper.time),
    }
    found += unfollowed(health.step, forces, motions, stepper.time)
    return found + function_warnings(health.impulse, health.bent)
