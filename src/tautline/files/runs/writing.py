"""Run files that are written while the run goes on, and resumed bit for bit.

A run survives the death of its process at any moment (not a crash of the machine: writes hand the data to the system).
The file is made at its full size when the run begins; later writes only fill places that exist, so a process killed at
any moment leaves a file that opens. What the future depends on is kept twice, in turns: a copy that was torn by the
kill is recognized, and the other one is used. Rows are written before the copy that counts them.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from typing import IO, Any, NamedTuple

from tautline import durable, errors
from tautline._version import __version__
from tautline.durable import StoreError, explained
from tautline.engine.cases import begin
from tautline.engine.runner import Runner
from tautline.engine.simulation import Simulation, restored
from tautline.errors import InputError, TautlineError
from tautline.files.runs import format, making, reading
from tautline.files.runs.format import Copy
from tautline.files.runs.writer import Writer, checkpoint
from tautline.model import checks
from tautline.model.command import Command
from tautline.model.run import NOT_GIVEN, Run, given_of
from tautline.model.system.case import Case
from tautline.model.system.given import case_of
from tautline.model.system.starts import Start
from tautline.model.system.system import System
from tautline.results.values import Values

# A chunk is what is computed between two checkpoints: long enough that writing does not matter, short enough to lose
# little.
SECONDS_A_CHUNK = 0.5
BYTES_A_CHUNK = 8e6  # a few copies of it exist at a time
LOCK_TRIES = 10  # a reader of the netCDF library is done in a moment


class Progress(NamedTuple):
    """Progress of a run."""

    time: float
    duration: float
    begun: float  # where this process began
    rows: int
    steps: int  # made by this process
    wall: float
    balance_error: float  # largest so far, over the energy in play, as results have it


def check_target(path: Path, overwrite: bool, size: int) -> None:
    """Refuse what cannot work before anything is made."""
    durable.check_regular(path)
    if path.exists():
        if durable.is_locked(path):
            raise StoreError(durable.in_use(path))
        if not overwrite:
            raise StoreError(
                f"{path}: exists already{_resumable(path)}; choose another name, or allow overwriting (--overwrite)"
            )
    free = durable.free_space(path)
    if size > free:
        raise StoreError(
            f"{path}: needs {size / 1e9:.3g} GB, but {free / 1e9:.3g} GB are free there; "
            "sample less often, or shorten the run"
        )


def _resumable(path: Path) -> str:
    try:
        with closing(reading.Reader(path)) as reader:
            message = str(reader.attrs["message"])
    except TautlineError:
        return ""
    return f" as an unfinished run that `tautline resume {path}` can finish" if "tautline resume" in message else ""


def run_to_file(
    path: str | os.PathLike[str],
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
    overwrite: bool = False,
    title: str = "",
    watch: Callable[[Progress], bool] | None = None,
    loads: Any = (),
    **others: Any,
) -> Simulation:
    """`simulate`, saved while it goes on; the file can be resumed after anything.

    Parameters
    ----------
    path : path
        Of the file; its folder must exist.
    system, start, command
        As in `simulate`.
    duration, step, sample, order, scheme, compensated, minimum_length, at_end, stop
        As in `simulate`.
    overwrite : bool
        Allow replacing an existing file, which happens only when the new one could be made. A file that another
        process is writing is never replaced.
    title : str
        Kept in the file; that of the case by default.
    watch : callable, optional
        Called with a `Progress` after every chunk; a true answer ends the run, which can be resumed.
    loads : list of ForceLaw, optional
        Refused, because a file cannot hold a function; `simulate` takes them.
    """
    run = given_of(locals(), Run) | others  # others are refused by name
    target = checks.path("path", path)
    checks.function("watch", watch)
    checks.instance("overwrite", overwrite, bool)
    case = case_of(system, start, command, run, title)
    simulation, count, interval = begin(case, loads=loads)
    first = simulation.values(simulation.first_sample())
    with _created(target, simulation, first, count + 1, interval, title or case.title, overwrite) as writer:
        _drive(writer, target, simulation, watch)
    return Simulation.of(simulation)


def save_run(path: str | os.PathLike[str], simulation: Runner[Any], *, title: str = "") -> int:
    """Write what a run has recorded as a run file; the number of samples."""
    values = simulation.recorded()
    rows = len(values["time"])
    times = values["time"][: rows - simulation.timing.after_sample]
    interval = float(times[-1] - times[0]) / max(1, len(times) - 1)
    with _created(Path(path), simulation, values, rows, interval, title, False) as writer:
        writer.leave_in_order()
    return rows


@contextmanager
def _created(
    target: Path,
    simulation: Runner[Any],
    first: Values,
    rows: int,
    sample: float,
    title: str,
    overwrite: bool,
) -> Iterator[Writer]:
    """Make a run file with its first rows, locked; it gets its name when they are in it."""
    real = Path(os.path.realpath(target))
    size = format.file_size(rows, simulation.layout)
    check_target(target if real == target.absolute() else real, overwrite, size)
    durable.remove_leftovers(real)
    part = durable.part_name(real)
    writer = None
    try:
        with explained(target):
            part.open("xb").close()  # tells why a file cannot be made better than the netCDF library does
            room = checkpoint(simulation, 1, 0, [0] * len(simulation.layout.all_variables())).room()
            contents = making.make(
                part,
                title=title,
                layout=simulation.layout,
                rows=rows,
                sample=sample,
                room=room,
            )
            file = part.open("r+b", buffering=0)
            writer = Writer(file, target, contents)
            durable.lock(file)
            writer.write(first, simulation)
            durable.give_name(part, real, overwrite)
            part.unlink(missing_ok=True)
        yield writer
    finally:
        if writer is not None:
            writer.close()
        with suppress(OSError):
            part.unlink(missing_ok=True)


def resume(path: str | os.PathLike[str], watch: Callable[[Progress], bool] | None = None) -> Simulation:
    """Finish a run file that was interrupted or killed; the result is the one of an uninterrupted run, bit for bit.

    Parameters
    ----------
    path : path
        Of the run file; a complete one is left as it is. All its rows are checked first, and a damaged file is refused.
    watch : callable, optional
        As in `run_to_file`.
    """
    target = checks.path("path", path)
    checks.function("watch", watch)
    file = reading.opened(target, "r+b")
    try:
        _lock(file, target)
        with reading.naming(target):
            contents = reading.find_contents(file, target)
            run = reading.RunFile(file, target, contents)
            run.check_all()
            if contents.version != __version__ and run.rows < contents.rows_planned:
                raise StoreError(
                    f"{target}: was begun by tautline {contents.version}, and this is {__version__}; "
                    "a resumed run is exact only with the same version"
                )
            simulation = _restored(run.copy, target)
        _drive(Writer(file, target, contents, run.copy), target, simulation, watch)
    finally:
        file.close()
    return Simulation.of(simulation)


def _lock(file: IO[bytes], path: Path) -> None:
    for _ in range(LOCK_TRIES):
        if durable.lock(file):
            return
        time.sleep(0.05)
    if not durable.lock(file):
        raise StoreError(durable.in_use(path))


def _restored(copy: Copy, path: Path) -> Runner[Any]:
    try:
        return restored(copy.arrays, copy.text)
    except InputError as error:
        raise StoreError(f"{path}: cannot be resumed: {error}") from None


def _drive(
    writer: Writer,
    path: Path,
    simulation: Any,
    watch: Callable[[Progress], bool] | None,
) -> None:
    """Go on by chunks until the run is complete, ends by an event, or is asked to stop."""
    started = time.perf_counter()
    rows, sample = writer.contents.rows_planned, writer.contents.sample
    plan = simulation.sampling(sample)
    most = max(1, int(BYTES_A_CHUNK / (8 * simulation.layout.row_length())))
    chunk = 1
    begun, steps = simulation.time, simulation.steps
    while writer.rows < rows and simulation.status == errors.STATUS_NAMES[errors.RUNNING]:
        count = min(chunk, rows - writer.rows)
        before = time.perf_counter()
        try:
            samples = simulation.march(count, plan)
        except KeyboardInterrupt:  # the rows before are complete
            writer.leave_in_order()
            raise
        values = simulation.values(samples)
        with explained(path):
            writer.write(values, simulation)
        spent = time.perf_counter() - before
        # aim at the time of a chunk, growing by no more than four at once
        chunk = max(1, min(4 * chunk, most, int(count * SECONDS_A_CHUNK / max(spent, 1e-9))))
        if watch is None or not len(values["time"]):
            continue
        progress = Progress(
            time=simulation.time,
            duration=(rows - 1) * sample,
            begun=begun,
            rows=writer.rows,
            steps=simulation.steps - steps,
            wall=time.perf_counter() - started,
            balance_error=simulation.attributes()["balance_error"],
        )
        if watch(progress):
            break
    with explained(path):
        writer.leave_in_order()
    if simulation.status != errors.STATUS_NAMES[errors.RUNNING]:
        writer.shorten(simulation.layout)
