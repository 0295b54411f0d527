"""Checkpoints of a runner: taken, and restored on the backend that made them."""

from __future__ import annotations

import json
from typing import Any

from tautline.engine import plausible, stages
from tautline.engine.backend import Backend
from tautline.engine.checkpoints import VERSION, check
from tautline.engine.lowering import LIMIT_NAMES
from tautline.engine.runner import RUNNING, Runner
from tautline.model import refusals
from tautline.model.force_law import refuse_saving
from tautline.model.system.case import Case
from tautline.results.inputs import CASE

# Limits of steps that no motion can be without.
STABLE = ("waves", "stretching", "drum")


def taken(runner: Runner[Any]) -> tuple[Any, str]:
    """All that the future of a run depends on: arrays, and a JSON text."""
    backend, stepper = runner.backend, runner.stepper
    for name, command in {**backend.commands, **stages.sequences(runner)}.items():
        if command.is_function:
            at = f"lines.{name}: " if len(backend.commands) > 1 else ""
            raise refusals.SAVED_TORQUE.error("a function", at=at)
    if any(condition.is_function for condition in stepper.method.stop):
        raise refusals.SAVED_CONDITION.error("a function")
    refuse_saving([law.law for law in stepper.laws])
    runner.look()
    motion, own = backend.own_checkpoint()
    text = {
        "checkpoint": VERSION,
        "backend": backend.NAME,
        CASE: runner.description(),
        "is_timed": runner.is_timed,
        "started": stepper.started,
        "status": runner.status,
        "event": runner.event,
        "h": stepper.plan.h,
        "base_steps": [[interval, count] for interval, count in runner.timing.base_steps.items()],
        "health": stepper.health.state(),
        **stages.as_text(runner),
        **own,
    }
    return motion, json.dumps(text)


def restored(kind: type[Backend], motion: Any, text: str) -> Runner[Any]:
    """A run that goes on exactly where a checkpoint was taken, on a kind of backend."""
    saved = json.loads(text)
    check(saved, motion._asdict(), kind.FORM)
    runner = Runner(kind.at_start(Case.from_dict(saved[CASE])))
    stepper = runner.stepper
    plausible.check_steps(saved, stepper.plan)
    stepper.plan = stepper.plan._replace(h=saved["h"])
    runner.is_timed, runner.timing.base_steps = saved["is_timed"], dict(saved["base_steps"])
    runner.have_status(saved["status"], saved["event"])
    stages.restore(runner, saved)
    runner.backend.restore(saved, motion, stages.commands_now(runner))
    if runner.status == RUNNING:
        limits = stepper.step_limits()
        plausible.check_counts(runner.timing.base_steps, min(limits[LIMIT_NAMES[name]] for name in STABLE))
        plausible.check_energies(runner.backend.energies(runner.backend.present_sample()))
    return runner
