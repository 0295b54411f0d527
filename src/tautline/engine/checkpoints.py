"""Checkpoints of a Simulation: taken and restored, and files of plain arrays with a digest."""

from __future__ import annotations

import hashlib
import json
import math
import os
import zipfile
from collections.abc import Callable, Mapping
from numbers import Real
from tokenize import TokenError
from typing import IO, TYPE_CHECKING, Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from tautline import durable
from tautline.engine import plausible
from tautline.engine.lowering import LIMIT_NAMES
from tautline.errors import RUNNING, STATUS_NAMES, InputError
from tautline.model import checks, refusals
from tautline.model.force_law import refuse_saving
from tautline.model.system.case import Case
from tautline.results.inputs import CASE

if TYPE_CHECKING:
    from tautline.engine.backend import Backend

    B = TypeVar("B", bound=Backend)

VERSION = 8
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
CHAIN_FORM = FORM | {"minimum_length": float, "origin": (float, float), "needed": (Real, Real)}
MOVED = {
    "guide": (float, plausible.VECTOR, plausible.VECTOR),
    "force_since": (float, plausible.VECTOR),
}
# Of sequences: stage, since when, the command that it stands for, when it ends at the latest.
STAGES = {"stages": {plausible.ANY: (int, float, dict, [float])}, "passed": [(float, str, int)]}

Arrays = Mapping[str, NDArray[Any]]
T = TypeVar("T")
# What reading a damaged npz file can raise; headers of its arrays are Python expressions.
DAMAGED = (
    OSError,
    ValueError,
    LookupError,
    TypeError,
    EOFError,
    RuntimeError,
    SyntaxError,
    TokenError,
    zipfile.BadZipFile,
)
# Limits of steps that no motion can be without.
STABLE = ("waves", "stretching", "drum")
_TEXT, _DIGEST = "checkpoint", "digest"


def taken(backend: Backend) -> tuple[Any, str]:
    """All that the future of a simulation depends on: arrays, and a JSON text."""
    for name, command in {**backend.commands, **backend.sequences}.items():
        if command.is_function:
            at = f"lines.{name}: " if len(backend.commands) > 1 else ""
            raise refusals.SAVED_TORQUE.error("a function", at=at)
    if any(condition.is_function for condition in backend.method.stop):
        raise refusals.SAVED_CONDITION.error("a function")
    stepper = backend.stepper
    refuse_saving([law.law for law in stepper.laws])
    backend.look()
    motion, own = backend.own_checkpoint()
    text = {
        "checkpoint": VERSION,
        "backend": backend.NAME,
        CASE: backend.description(),
        "is_timed": backend.is_timed,
        "started": stepper.started,
        "status": backend.status,
        "event": backend.event,
        "h": stepper.plan.h,
        "base_steps": [[interval, count] for interval, count in backend.timing.base_steps.items()],
        "health": stepper.health.state(),
        **backend.stages_text(),
        **own,
    }
    return motion, json.dumps(text)


def restored(kind: type[B], motion: Any, text: str) -> B:
    """A simulation that goes on exactly where a checkpoint was taken."""
    saved = json.loads(text)
    check(saved, motion._asdict(), kind.FORM)
    backend = kind.at_start(Case.from_dict(saved[CASE]))
    stepper = backend.stepper
    plausible.check_steps(saved, stepper.plan)
    stepper.plan = stepper.plan._replace(h=saved["h"])
    backend.is_timed, backend.timing.base_steps = saved["is_timed"], dict(saved["base_steps"])
    backend.status, backend.event = saved["status"], saved["event"]
    backend.restore_stages(saved)
    backend.restore(saved, motion)
    if backend.status == STATUS_NAMES[RUNNING]:
        limits = stepper.step_limits()
        plausible.check_counts(backend.timing.base_steps, min(limits[LIMIT_NAMES[name]] for name in STABLE))
        plausible.check_energies(backend.energies(backend.present_sample()))
    return backend


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
    except DAMAGED as error:
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


def check(saved: Any, arrays: Arrays, form: plausible.Form) -> None:
    """Refuse a checkpoint from which no motion can go on: of another version, or with values that cannot be."""
    if not isinstance(saved, dict) or saved.get("checkpoint") != VERSION:
        found = saved.get("checkpoint") if isinstance(saved, dict) else saved
        raise InputError(f"checkpoint: expected version {VERSION}, got {found!r}")
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
