"""Sequences that reels of a runner follow: where they are in them, their next stages, and checkpoints of that."""

from __future__ import annotations

import json
import math
from typing import TYPE_CHECKING, Any

from tautline.engine import checkpoints, plausible
from tautline.engine.conditions import Watch
from tautline.engine.sequencing import Now, Progress, begun
from tautline.errors import InputError
from tautline.model.command import Command
from tautline.model.sequence import Sequence
from tautline.model.system import reading, to_keys
from tautline.model.system.sections import COMMAND

if TYPE_CHECKING:
    from tautline.engine.runner import Runner


def _progress(runner: Runner[Any]) -> dict[str, Progress]:
    return {} if runner.watch is None else runner.watch.stages


def sequences(runner: Runner[Any]) -> dict[str, Sequence]:
    """Sequences that reels follow, by the names of commands."""
    return {name: x.sequence for name, x in _progress(runner).items()}


def stage_names(runner: Runner[Any]) -> dict[str, str]:
    """Names of the stages that reels are in, by the names of commands."""
    return {name: x.sequence.names[x.number] for name, x in _progress(runner).items()}


def in_stages(runner: Runner[Any], given: Any) -> Any:
    """Commands as they are followed now: those of first stages for sequences, none for a sequence that goes on."""
    if given is None:
        return None
    by_name = given if isinstance(given, dict) else {next(iter(runner.system.lines)): given}
    found = {}
    for name, command in by_name.items():
        known = _progress(runner).get(name)
        if not isinstance(command, Sequence):
            if known is not None and runner.watch is not None:
                runner.watch.set_stage(name, None)
            found[name] = command
        elif known is None or known.sequence != command:
            found[name] = _begin(runner, name, command)
    return found if isinstance(given, dict) else next(iter(found.values()), None)


def _watch_of(runner: Runner[Any]) -> Watch:
    if runner.watch is None:
        runner.watch = Watch(runner.stepper.method.stop, runner.layout)
    return runner.watch


def _begin(runner: Runner[Any], name: str, sequence: Sequence) -> Command:
    """The plain command of the first stage."""
    watch, progress = _watch_of(runner), begun(sequence, 0, _now(runner, name))
    watch.check(name, progress)
    watch.set_stage(name, progress)
    watch.passed.append((progress.since, name, 0))
    return progress.command


def next_stage(runner: Runner[Any], name: str, progress: Progress) -> Progress:
    """Let a reel go on with the next stage of its sequence, at the present moment."""
    backend = runner.backend
    backend.refresh()
    found = begun(progress.sequence, progress.number + 1, _now(runner, name))
    if found.command.holds and backend.speed(name) != 0.0:
        backend.stop_reel(name)
    else:
        backend.take(backend.own_commands({name: found.command}))
    return found


def _now(runner: Runner[Any], name: str) -> Now:
    """Drum or sheave of a command at the present moment."""
    backend = runner.backend
    return Now(runner.time, backend.deployed(name), backend.speed(name), backend.torque(name))


def passed(runner: Runner[Any]) -> dict[str, str]:
    """Stages and when they began, as rows of time, name of the command and name of the stage: an attribute."""
    if runner.watch is None or not runner.watch.passed:
        return {}
    names = {name: x.names for name, x in sequences(runner).items()}
    rows = [[t, name, names[name][k]] for t, name, k in runner.watch.passed if name in names]
    return {"stages": json.dumps(rows)}


def as_text(runner: Runner[Any]) -> dict[str, Any]:
    """Where reels are in their sequences, for a checkpoint."""
    watch = runner.watch
    if watch is None or not watch.stages:
        return {}
    stages = {
        name: [x.number, x.since, to_keys.tagged(COMMAND, x.command), [] if math.isinf(x.ends_at) else [x.ends_at]]
        for name, x in watch.stages.items()
    }
    return {"stages": stages, "passed": watch.passed}


def restore(runner: Runner[Any], saved: dict[str, Any]) -> None:
    """Have reels be where a checkpoint says in the sequences of the case."""
    if "stages" not in saved:
        return
    plausible.check_form("checkpoint", saved, checkpoints.STAGES)
    watch = _watch_of(runner)
    for name, (number, since, keys, ends) in saved["stages"].items():
        sequence = runner.case.commands.get(name)
        if not isinstance(sequence, Sequence) or not 0 <= number < len(sequence.stages):
            raise InputError(f"checkpoint.stages.{name}: expected a stage of a sequence of the case, got {number}")
        progress = Progress(sequence, number, since, reading.command(keys), ends[0] if ends else math.inf)
        watch.set_stage(name, progress)
    watch.passed = [(t, name, k) for t, name, k in saved["passed"]]


def commands_now(runner: Runner[Any]) -> dict[str, Any]:
    """Commands of the case that reels follow; of a sequence that of its present stage."""
    return {**runner.case.commands, **{name: x.command for name, x in _progress(runner).items()}}
