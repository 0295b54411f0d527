"""study() and resume_study(): from a definition to a complete store, by an engine."""

from __future__ import annotations

import json
import math
import os
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from tautline._version import __version__
from tautline.errors import TautlineError
from tautline.extras import need
from tautline.files.runs import StoreError
from tautline.model import checks
from tautline.studies.definition import definition as definitions
from tautline.studies.definition.definition import Study, StudyError
from tautline.studies.definition.outputs import HEALTH
from tautline.studies.execution import engines
from tautline.studies.execution.batches import Finished
from tautline.studies.execution.engines import Engine
from tautline.studies.execution.timing import seconds_a_member
from tautline.studies.store import making, space
from tautline.studies.store.archive import Archive, open_archive, open_study
from tautline.studies.store.claims import claimed
from tautline.studies.store.guard import DamagedError
from tautline.studies.store.layout import cut

if TYPE_CHECKING:
    import xarray as xr

# A batch is what a kill can cost and the unit of progress; writing one takes some 10 ms.
SECONDS_A_BATCH = (0.2, 2.0)
# And so much for every worker: a scheduler takes some 3 ms for a batch, and serves all of them (docs/scale.md).
SECONDS_FOR_A_WORKER = 0.01
BATCHES_A_WORKER = 8
BYTES_A_BATCH = 32e6
# Worker processes take 2 s to start.
WORTH_WORKERS = 4.0


class Progress(NamedTuple):
    """Progress of a study."""

    done: int  # members
    members: int
    begun: int  # done when this process began
    failed: int
    wall: float
    mended: int = 0  # batches that were damaged, and are computed again


Watch = Callable[[Progress], bool]


def study(
    definition: str | os.PathLike[str] | Mapping[str, Any],
    path: str | os.PathLike[str],
    *,
    workers: int | None = None,
    client: Any = None,
    batch: int | None = None,
    overwrite: bool = False,
    watch: Watch | None = None,
) -> xr.Dataset:
    """Run a scenario many times with some of its values varied, into a Zarr store that can be resumed after anything.

    Parameters
    ----------
    definition : path or mapping
        A study file, or a mapping of the same form. In a mapping, `scenario` may be a `Case`, and `table` a mapping of
        columns or a data frame. Keys are those of a system, `lines.hoist.stiffness`; of one line and one body also
        short ones, `string.stiffness`. Outputs name a line or a body in brackets where there are several.
    path : path
        Of the store; its folder must exist.
    workers : int, optional
        Processes of this machine; by default as many as it has cores, or this process alone for a few seconds of work.
    client : distributed.Client or str, optional
        A Dask cluster, or its address. Its workers must see the store under the same path.
    batch : int, optional
        Members that are computed and written at once; by default from the measured time of a member.
    overwrite : bool
        Allow replacing another study.
    watch : callable, optional
        Called with a `Progress` after every batch; a true answer ends the study, which can be resumed.

    Returns
    -------
    xarray.Dataset
        As `open_study` gives it.
    """
    need("zarr", "a study")
    checks.function("watch", watch)
    wanted = definitions.read(definition)
    target = checks.path("path", path)
    target = target.resolve() if target.is_symlink() else target
    _check_target(target, wanted, overwrite)
    _check_samples(wanted)
    with ExitStack() as stack:
        if target.exists():
            stack.enter_context(claimed(target))
        cluster = stack.enter_context(_client(client))
        pace = seconds_a_member(wanted)
        engine = _engine(workers, cluster, pace.mean * wanted.members)
        most = _members_a_batch(wanted, pace.typical, engine.workers) if batch is None else batch
        layout = cut(wanted.shape, checks.whole("batch", most, 1, 10**9))
        made = making.create(target, wanted, layout, pace.mean, overwrite)
        stack.enter_context(claimed(target))
        _drive(made, engine, watch)
    return open_study(target)


def resume_study(
    path: str | os.PathLike[str],
    definition: str | os.PathLike[str] | Mapping[str, Any] | None = None,
    *,
    workers: int | None = None,
    client: Any = None,
    watch: Watch | None = None,
) -> xr.Dataset:
    """Finish a study that was interrupted or killed; the result is the one of an undisturbed study, bit for bit.

    Parameters
    ----------
    path : path
        Of the store; a complete one is left as it is.
    definition : path or mapping, optional
        What the store is expected to hold; another study is refused. Optional: the store holds its study.
    workers, client, watch
        As in `study`.
    """
    checks.function("watch", watch)
    found = open_archive(path)
    if definition is not None and not _same(found, definitions.read(definition)):
        raise StudyError(f"{path}: holds another study than {_name(definition)}; choose another store for that one")
    damaged = found.damages()
    if not damaged and found.done().all():
        if found.leftovers():  # its client was killed after the last batch
            with claimed(found.path):
                found.sweep()
        return open_study(path)
    _check_version(found, damaged)
    with claimed(found.path):
        found.unmark(damaged)
        left = found.layout.members - int(found.layout.sizes()[found.done()].sum())
        with _client(client) as cluster:
            engine = _engine(workers, cluster, found.attrs["seconds_a_member"] * left)
            _drive(found, engine, watch, len(damaged))
    return open_study(path)


def _check_version(found: Archive, damaged: Mapping[int, str]) -> None:
    """Refuse to go on with numbers of another version."""
    if found.attrs["version"] == __version__:
        return
    first = next(iter(damaged.items()), None)
    lost = f"array {first[1]} of batch {first[0]} is damaged, and the study " if first else ""
    raise StoreError(
        f"{found.path}: {lost}was begun by tautline {found.attrs['version']}, and this is {__version__}; "
        "a resumed study is exact only with the same version"
    )


def _check_samples(wanted: Study) -> None:
    """Refuse samples that are too many for every member; where members differ, each is looked at when it begins."""
    facts = wanted.facts
    if facts.rows is not None and facts.layout is not None:
        space.check_samples(facts.rows, facts.layout)


def _name(definition: Any) -> str:
    return "the one given" if isinstance(definition, Mapping) else os.fspath(definition)


def _same(found: Archive, wanted: Study) -> bool:
    # the order of keys counts: it is that of the dimensions
    return json.dumps(found.plan) == json.dumps(json.loads(json.dumps(wanted.plan())))


def _check_target(path: Path, wanted: Study, overwrite: bool) -> None:
    """Refuse a place that cannot take the store, before anything is computed."""
    if not path.parent.is_dir():
        raise StoreError(f"{path}: its folder does not exist")
    if path.exists():
        _check_existing(path, wanted, overwrite)
    space.check_disk(path, wanted.members, _bytes_a_member(wanted), len(wanted.work.outputs) + len(wanted.keys))


def _check_existing(path: Path, wanted: Study, overwrite: bool) -> None:
    """Never replace what is no study, and say what to do with one that is there."""
    try:
        found = open_archive(path)
    except DamagedError:
        if overwrite:
            return
        raise
    except TautlineError:
        raise StoreError(f"{path}: exists already and is no study; choose another name") from None
    if overwrite:
        return
    if not _same(found, wanted):
        raise StoreError(f"{path}: exists already and holds another study; choose another name, or --overwrite")
    done = found.done()
    if done.all():
        raise StoreError(
            f"{path}: exists already and is complete; `tautline study info {path}` sums it up, "
            "--overwrite computes it anew"
        )
    members = int(found.layout.sizes()[done].sum())
    raise StoreError(
        f"{path}: exists already with {members} of {found.layout.members} members done; "
        f"`tautline study --resume {path}` finishes it, --overwrite begins anew"
    )


def _bytes_a_member(wanted: Study) -> float:
    numbers = sum(math.prod(output.sizes) for output in wanted.work.outputs) + len(wanted.keys) + 2
    return 8.0 * (numbers + len(HEALTH))


def _members_a_batch(wanted: Study, seconds: float, workers: int) -> int:
    """Many batches for every worker, each of a reasonable time and size."""
    in_turn = wanted.members / workers  # one batch for each
    for_scheduler = SECONDS_FOR_A_WORKER * workers / seconds
    least, most = (max(1.0, limit / seconds) for limit in SECONDS_A_BATCH)
    least, most = max(least, min(for_scheduler, in_turn)), max(most, for_scheduler)
    by_size = BYTES_A_BATCH / _bytes_a_member(wanted)
    return max(1, int(min(max(in_turn / BATCHES_A_WORKER, least), most, by_size)))


@contextmanager
def _client(given: Any) -> Iterator[Any]:
    """A client of the caller's, or one of our own for an address."""
    if not isinstance(given, str):
        yield given
        return
    own = engines.connect(given)
    try:
        yield own
    finally:
        own.close()


def _engine(workers: int | None, client: Any, total: float) -> Engine:
    if client is not None:
        return engines.Dask(client)
    if workers is None:
        cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
        workers = cores if total > WORTH_WORKERS else 1
    count = checks.whole("workers", workers, 1, 10_000)
    return engines.Here() if count == 1 else engines.Processes(count)


def _drive(archive: Archive, engine: Engine, watch: Watch | None, mended: int = 0) -> None:
    """Compute all batches that are not done."""
    started = time.perf_counter()
    done, sizes = archive.done(), archive.layout.sizes()
    begun, failed = int(sizes[done].sum()), archive.failures()
    members = begun

    def report() -> bool:
        wall = time.perf_counter() - started
        return watch is not None and watch(Progress(members, archive.layout.members, begun, failed, wall, mended))

    def on_finished(finished: Finished) -> bool:
        nonlocal members, failed
        members += finished.members
        failed += finished.failed
        return report()

    if not report():
        engine.run(archive, map(int, np.flatnonzero(~done)), on_finished)
    if members == archive.layout.members:
        archive.sweep()
