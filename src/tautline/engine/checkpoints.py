"""Checkpoints of a Simulation: taken and restored, and files of plain arrays with a digest."""

from __future__ import annotations

import hashlib
import json
import math
import os
import zipfile
from collections.abc import Callable, Mapping
from numbers import Real
from typing import IO, TYPE_CHECKING, Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from tautline import durable
from tautline.engine import lowering, plausible
from tautline.engine.choose import CHAIN
from tautline.engine.health import Health
from tautline.engine.loads import moved_on
from tautline.errors import RUNNING, STATUS_NAMES, InputError
from tautline.kernels import data
from tautline.model import checks, refusals
from tautline.model.force_law import refuse_saving
from tautline.model.system.case import Case
from tautline.results.inputs import CASE

if TYPE_CHECKING:
    from tautline.engine.chain.simulation import ChainSimulation

VERSION = 6
# Of the text of a checkpoint (plausible.py).
FORM: dict[str, Any] = {
    "backend": str,
    "is_timed": bool,
    "started": bool,
    "event": str,
    "status": object,  # with sentences of their own in `check`
    "h": object,
    "base_steps": [(float, int)],
    "health": dict,
}
PENDULUM = FORM | {"minimum_length": float, "origin": (float, float), "needed": (Real, Real)}
MOVED = {
    "guide": (float, plausible.VECTOR, plausible.VECTOR),
    "force_since": (float, plausible.VECTOR),
}

Arrays = Mapping[str, NDArray[Any]]
T = TypeVar("T")
_TEXT, _DIGEST = "checkpoint", "digest"


def taken(simulation: ChainSimulation) -> tuple[data.Motion, str]:
    """All that the future of a simulation depends on: arrays, and a JSON text."""
    stepper, recorder, timing = simulation._stepper, simulation._recorder, simulation._timing
    if stepper.tabulates:
        raise refusals.SAVED_TORQUE.error("a function")
    if any(condition.is_function for condition in simulation.method.stop):
        raise refusals.SAVED_CONDITION.error("a function")
    refuse_saving([law.law for law in stepper.laws])
    recorder.look()
    text = {
        "checkpoint": VERSION,
        "backend": CHAIN,
        CASE: simulation.description(),
        "is_timed": simulation.is_timed,
        "started": stepper.command is not None,
        "status": simulation.status,
        "event": simulation._event,
        "h": stepper.plan.h,
        "minimum_length": stepper.plan.minimum_length,
        "origin": stepper.origin,
        "needed": stepper.needed,
        "health": recorder.health.state(),
        "base_steps": [[interval, count] for interval, count in timing.base_steps.items()],
    }
    if stepper.loads.moves and simulation.pendulum.reel.guide_path is None:
        path = stepper.loads.path[:, 0]
        text["guide"] = [path[0], path[1::4].tolist(), path[2::4].tolist()]
        text["force_since"] = [simulation._force_since[0], simulation._force_since[1].tolist()]
    return stepper.motion, json.dumps(text)


def _command_of(simulation: ChainSimulation) -> Any:
    """The command that a simulation followed, from its case."""
    return simulation.case.commands[next(iter(simulation.case.system.lines))]


def restored(kind: type[ChainSimulation], motion: data.Motion, text: str) -> ChainSimulation:
    """A simulation that goes on exactly where a checkpoint was taken."""
    saved = json.loads(text)
    check(saved, motion._asdict(), VERSION, PENDULUM | (MOVED if isinstance(saved, dict) and "guide" in saved else {}))
    simulation = kind.led(Case.from_dict(saved[CASE]))
    simulation.is_timed = saved["is_timed"]
    stepper = simulation._stepper
    plausible.check_steps(saved, stepper.plan)
    for ours, theirs in zip(stepper.motion, motion, strict=True):
        if ours.shape != theirs.shape:
            raise InputError(f"checkpoint: expected an array of shape {ours.shape}, got {theirs.shape}")
        ours[...] = theirs
    plausible.check_clock(motion.clock)
    if saved["status"] == STATUS_NAMES[RUNNING]:
        plausible.check_reel(motion.reel, plausible.longest_step(saved), simulation.pendulum.string.length)
        plausible.check_attitude(motion.body[data.ATTITUDE : data.ATTITUDE + 4])
    stepper.plan = stepper.plan._replace(h=saved["h"], minimum_length=saved["minimum_length"])
    simulation._timing.base_steps = dict(saved["base_steps"])
    simulation.status, simulation._event = saved["status"], saved["event"]
    simulation._recorder.health = stepper.health = Health.from_state(saved["health"])
    if "guide" in saved:
        stepper.loads = moved_on(stepper.loads, *saved["guide"])
        simulation._force_since = (saved["force_since"][0], np.array(saved["force_since"][1]))
    if saved["started"]:
        command = _command_of(simulation)
        stepper.origin, stepper.needed = tuple(saved["origin"]), saved["needed"]
        stepper.follow(command)
        stepper.kernel_command = lowering.kernel_command(command, stepper.par.L, *stepper.origin)
        stepper.plan = lowering.with_impedance(stepper.plan, command)
        stepper.observe(stepper.last, simulation.time)
    if saved["status"] == STATUS_NAMES[RUNNING]:
        limits = stepper.limits()
        allowed = min(stepper.plan.allowed_ratio * limits.waves, limits.stretching, limits.drum)
        plausible.check_counts(simulation._timing.base_steps, allowed)
        x = simulation.present_sample().scalars[0]
        plausible.check_energies(x[[data.KINETIC, data.ELASTIC, data.GRAVITY]])
    return simulation


def write(path: str | os.PathLike[str], arrays: Arrays, text: str) -> None:
    """Write arrays, a text and their digest as one npz file, which takes its place as a whole."""
    content: dict[str, Any] = {_TEXT: np.frombuffer(text.encode(), dtype=np.uint8), **arrays}
    content[_DIGEST] = np.frombuffer(_digest(content), dtype=np.uint8)
    with durable.replacing(checks.path("path", path), "wb") as file:
        np.savez(file, **content)


def read(path: str | os.PathLike[str]) -> tuple[dict[str, NDArray[Any]], str]:
    """Read back what `write` wrote; refuse what is not as it was written."""
    path = checks.path("path", path)
    try:
        with durable.open_input(path) as file:
            _check_size(file)
            file.seek(0)
            with np.load(file, allow_pickle=False) as stored:
                content = {name: stored[name] for name in stored.files}
        if bytes(content.pop(_DIGEST)) != _digest(content):
            raise ValueError("its content does not match its digest; the file is damaged")
        return content, content.pop(_TEXT).tobytes().decode()
    except FileNotFoundError:
        raise
    except KeyError as error:
        raise InputError(_expected(path, f"it holds no {error}")) from None
    except (OSError, ValueError, LookupError, TypeError, EOFError, RuntimeError, zipfile.BadZipFile) as error:
        why = "it is no npz file" if "pickle" in str(error) else str(error)
        raise InputError(_expected(path, why)) from None


def _check_size(file: IO[bytes]) -> None:
    """Refuse an archive that would be larger than its file: none of `write` is compressed."""
    with zipfile.ZipFile(file) as archive:
        size = sum(item.file_size for item in archive.infolist())
    if size > os.fstat(file.fileno()).st_size:
        raise ValueError(f"it holds {size} bytes in a smaller file")


def loaded(path: str | os.PathLike[str], make: Callable[[dict[str, NDArray[Any]], str], T]) -> T:
    """What a checkpoint makes; refuse one that does not make it."""
    arrays, text = read(path)
    try:
        return make(arrays, text)
    except (ValueError, LookupError, TypeError, ArithmeticError, AttributeError) as error:
        raise InputError(_expected(path, str(error))) from None


def _expected(path: str | os.PathLike[str], why: str) -> str:
    return f"path: expected a checkpoint of Simulation.save, got {os.fspath(path)!r}: {why}"


def _digest(content: Arrays) -> bytes:
    digest = hashlib.sha256()
    for name in sorted(content):
        array = np.ascontiguousarray(content[name])
        digest.update(f"{name} {array.dtype.str} {array.shape} ".encode())
        digest.update(array.tobytes())
    return digest.digest()


def check(saved: Any, arrays: Arrays, version: int, form: plausible.Form) -> None:
    """Refuse a checkpoint from which no motion can go on: of another version, or with values that cannot be."""
    if not isinstance(saved, dict) or saved.get("checkpoint") != version:
        found = saved.get("checkpoint") if isinstance(saved, dict) else saved
        raise InputError(f"checkpoint: expected version {version}, got {found!r}")
    plausible.check_form("checkpoint", saved, form)
    if saved["started"] or saved["h"] != 0.0:  # a step that is not given is found when the motion begins
        _positive("h", saved["h"])
    for interval, count in saved["base_steps"]:
        _positive("sample interval", interval)
        _positive("number of base steps", count)
    if saved["status"] not in STATUS_NAMES.values():
        raise InputError(f"checkpoint: expected a known status, got {saved['status']!r}")
    for name, array in arrays.items():
        if array.dtype.kind == "i":
            if (array < 0).any():
                raise InputError(f"checkpoint: expected counters from 0 in {name}, got {array.min()}")
        elif saved["status"] == STATUS_NAMES[RUNNING] and not np.isfinite(array).all():
            raise InputError(f"checkpoint: expected numbers in {name}, got a value that is not finite")


def _positive(name: str, value: Any) -> None:
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0.0 < value < math.inf:
        raise InputError(f"checkpoint: expected a positive {name}, got {value!r}")
