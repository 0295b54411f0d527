"""Studies on clusters that are not at hand: batches, slots, a scheduler and a client as a discrete-event simulation.

A slot is a core that computes one batch at a time. The client hands out as many batches as there are slots and a few
more (`studies.execution.engines.Dask`), and another one whenever it hears that one is finished. So a batch costs one
message in the client, two in the scheduler (it is given out, it is finished) and one in the process that hosts the
slot; each of these serves one message after the other, and a message travels for a while. benchmarks/study.py measures
how long.
"""

from __future__ import annotations

import heapq
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from tautline.studies.execution.engines import AHEAD

Action = Callable[[], None]
Found = dict[str, Any]
# Example 1, 1 s: 2000 steps of 0.5 ms, a sample every 10 ms.
STEPS, SAMPLES = 2000, 100
MEMBERS, CORES = 10**8, 1000
LOST = 10
BATCHES = (250, 500, 1000, 2000, 5000, 10_000, 20_000, 50_000, 100_000)
# Files that a store of a cluster may make in a second; not measured, so two of them.
FILES_A_SECOND = (10_000, 1_000)


class Costs(NamedTuple):
    """Seconds that a batch costs beside its computation."""

    scheduler: float = 0.0  # in the scheduler's process, both messages together
    client: float = 0.0  # in the client's
    host: float = 0.0  # in the process that hosts the slot
    latency: float = 0.0  # of each message on its way
    store: float = 0.0  # for making its files, in a file system that makes them one after the other


class Machine(NamedTuple):
    """Where it runs."""

    slots: int
    hosts: int = 0  # processes that hold the slots, if they are few enough to matter
    cores: int = 0  # that scheduler, client and hosts share, if they do
    start: float = (
        0.0  # seconds before the first batch of a slot can begin: imports, compiled kernels, opening the store
    )
    ahead: int = AHEAD


class Outcome(NamedTuple):
    """Outcome of a plan."""

    wall: float  # seconds until the client knows of the last batch
    busy: float  # part of the slots' time in which they computed what counts
    scheduler: float  # part of the time in which the scheduler was at work
    client: float
    finished: NDArray[np.int64]  # how often the client heard of each batch


@dataclass
class _Server:
    """Serves one message after the other, if a core is free."""

    waiting: deque[tuple[float, Action]] = field(default_factory=deque)
    serving: bool = False
    worked: float = 0.0


class _World:
    """A clock, events in their order, and servers that may share cores."""

    def __init__(self, cores: int) -> None:
        self.now = 0.0
        self._events: list[tuple[float, int, Action]] = []
        self._count = 0
        self._cores = cores if cores else None
        self._without_core: deque[_Server] = deque()

    def after(self, delay: float, action: Action) -> None:
        self._count += 1  # events of the same time happen in the order in which they were made
        heapq.heappush(self._events, (self.now + delay, self._count, action))

    def run(self) -> None:
        while self._events:
            self.now, _, action = heapq.heappop(self._events)
            action()

    def serve(self, server: _Server, seconds: float, action: Action) -> None:
        """When everything that came before is served."""
        server.waiting.append((seconds, action))
        if not server.serving:
            server.serving = True
            self._begin(server)

    def _begin(self, server: _Server) -> None:
        if self._cores == 0:
            self._without_core.append(server)
            return
        if self._cores is not None:
            self._cores -= 1
        seconds, action = server.waiting.popleft()
        server.worked += seconds
        self.after(seconds, lambda: self._end(server, action))

    def _end(self, server: _Server, action: Action) -> None:
        if self._cores is not None:
            self._cores += 1
        if server.waiting:
            self._without_core.append(server)
        else:
            server.serving = False
        while self._without_core and self._cores != 0:
            self._begin(self._without_core.popleft())
        action()


class _Cluster:
    """The way of batches through client, scheduler, hosts, slots and store."""

    def __init__(self, seconds: Sequence[float], costs: Costs, machine: Machine) -> None:
        self.world = _World(machine.cores)
        self.client, self.scheduler, self.store = _Server(), _Server(), _Server()
        self.hosts = [_Server() for _ in range(machine.hosts)]
        self.finished = np.zeros(len(seconds), dtype=np.int64)
        self.computed = 0.0
        self.heard_last = 0.0
        self._seconds, self._costs, self._machine = seconds, costs, machine
        self._left = iter(range(len(seconds)))
        self._pool: deque[int] = deque()  # batches that the scheduler knows of and no slot has
        self._idle = deque(range(machine.slots))
        self._cold = set(range(machine.slots))
        self._lives = [0] * machine.slots  # what happens in a life that is over is not heard
        self._lost: set[int] = set()
        self._in_hand: dict[int, int] = {}

    def begin(self, losses: Sequence[tuple[float, int]]) -> None:
        for _ in range(self._machine.slots + self._machine.ahead):
            self.world.serve(self.client, self._costs.client / 2, self._submit)
        for when, slot in losses:
            self.world.after(when, lambda slot=slot: self._lose(slot))  # type: ignore[misc]

    def _submit(self) -> None:
        batch = next(self._left, None)
        if batch is not None:
            self._to_scheduler(lambda: self._assign(batch))

    def _to_scheduler(self, action: Action) -> None:
        half = self._costs.scheduler / 2
        self.world.after(self._costs.latency, lambda: self.world.serve(self.scheduler, half, action))

    def _assign(self, batch: int) -> None:
        if self._idle:
            slot = self._idle.popleft()
            self._in_hand[slot] = batch
            self.world.after(self._costs.latency, lambda: self._host(slot, batch))
        else:
            self._pool.append(batch)  # sent ahead: a slot that becomes free finds it there

    def _host(self, slot: int, batch: int) -> None:
        if self.hosts:
            server = self.hosts[slot % len(self.hosts)]
            self.world.serve(server, self._costs.host, lambda: self._compute(slot, batch))
        else:
            self._compute(slot, batch, self._costs.host)

    def _compute(self, slot: int, batch: int, before: float = 0.0) -> None:
        if slot in self._lost:
            return
        life = self._lives[slot]
        start = self._machine.start if slot in self._cold else 0.0
        self._cold.discard(slot)

        def written() -> None:
            if life == self._lives[slot]:
                self._done(slot, batch)

        def computed() -> None:
            if life != self._lives[slot]:
                return
            if self._costs.store:
                self.world.serve(self.store, self._costs.store, written)
            else:
                written()

        self.world.after(before + start + self._seconds[batch], computed)

    def _done(self, slot: int, batch: int) -> None:
        self.computed += self._seconds[batch]
        self._to_scheduler(
            lambda: self.world.after(
                self._costs.latency,
                lambda: self.world.serve(self.client, self._costs.client, lambda: self._hear(batch)),
            )
        )
        del self._in_hand[slot]
        self._next(slot)

    def _next(self, slot: int) -> None:
        if self._pool:
            batch = self._in_hand[slot] = self._pool.popleft()
            self._host(slot, batch)
        else:
            self._idle.append(slot)

    def _hear(self, batch: int) -> None:
        self.finished[batch] += 1
        self.heard_last = self.world.now
        self._submit()

    def _lose(self, slot: int) -> None:
        """Its batch goes to another; the slot does not come back."""
        self._lost.add(slot)
        self._lives[slot] += 1
        if slot in self._idle:
            self._idle.remove(slot)
        batch = self._in_hand.pop(slot, None)
        if batch is not None:
            self._to_scheduler(lambda: self._assign(batch))


def simulate(
    seconds: Sequence[float], costs: Costs, machine: Machine, losses: Sequence[tuple[float, int]] = ()
) -> Outcome:
    """Batches that take so many seconds each to compute; `losses` are times and the slots that die then."""
    cluster = _Cluster(seconds, costs, machine)
    cluster.begin(losses)
    cluster.world.run()
    wall = cluster.heard_last
    return Outcome(
        wall,
        cluster.computed / (wall * machine.slots),
        cluster.scheduler.worked / wall,
        cluster.client.worked / wall,
        cluster.finished,
    )


def model(found: Found) -> Found:
    """The cost model: seconds of a member and of a batch, of a task in Dask; bytes and files."""
    member, batch, studies, dask = (found[name] for name in ("member", "batch", "studies", "dask"))
    disk, created = studies["disk"], studies["created"]
    task = task_costs(found, max(run["slots"] for run in dask["runs"]))
    first = next(run for run in studies["runs"] if run["engine"] == "dask" and run["workers"] == 1)
    seconds = member["start"] + STEPS * member["step"] + SAMPLES * member["sample"]
    small, large = created[0], created[-1]
    more = large["members"] - small["members"]
    return {
        "member": seconds,
        "batch": member["compute_once"] + batch["read"] + batch["write"],
        "spread": batch["spread"],
        "worker_start": max(0.0, first["first"] - batch["seconds"]),
        **{name: task[name] for name in ("scheduler", "client", "host", "latency")},
        "bytes_result": disk["results"]["bytes"] / disk["members"],
        "bytes_design": disk["design"]["bytes"] / disk["members"],
        "files_a_batch": disk["results"]["files"] / disk["batches"],
        "client_bytes": (large["client"] - small["client"]) / more,
        "client_base": small["client"],
        "create_seconds": max(0.0, (large["created"] - small["created"]) / more),
    }


def task_costs(found: Found, slots: int) -> Found:
    """Processor seconds of a task, from the batches that do not sleep, and how much longer they took by the clock."""
    dask = found["dask"]
    empty = next(run for run in dask["runs"] if run["slots"] == slots and run["asleep"] == 0.0)
    scheduler, client, host = (empty[name] / empty["tasks"] for name in ("scheduler", "client", "hosts"))
    spent = empty["scheduler"] + empty["client"] + empty["hosts"]
    return {
        "scheduler": scheduler,
        "client": client,
        "host": host,
        "latency": max(0.0, (dask["round_trip"][str(slots)] - scheduler - client - host) / 4),
        # more than 1: the cores did other work too, or one process waited for another
        "stretch": max(1.0, found["machine"]["cores"] * empty["wall"] / spent),
    }


def here(found: Found, slots: int) -> tuple[Costs, Machine]:
    """Sleeping batches on the machine that measured them: all processes share its cores."""
    task = task_costs(found, slots)
    scheduler, client, host = (task["stretch"] * task[name] for name in ("scheduler", "client", "host"))
    return Costs(scheduler, client, host, task["latency"]), Machine(slots, hosts=2, cores=found["machine"]["cores"])


def costs_of(costs: Found, store: float = 0.0) -> Costs:
    return Costs(costs["scheduler"], costs["client"], costs["host"], costs["latency"], store)


def checked(found: Found) -> list[Found]:
    """The simulation beside every run of sleeping batches; its costs come from the runs that do not sleep."""
    results = []
    for run in found["dask"]["runs"]:
        predicted = simulate([run["asleep"]] * run["tasks"], *here(found, run["slots"]))
        ideal = run["asleep"] * run["tasks"] / run["slots"]
        results.append(
            {**run, "busy": ideal / run["wall"], "predicted": predicted.wall, "predicted_busy": predicted.busy}
        )
    return results


def planned(costs: Found, size: int, store: float = 0.0, losses: Sequence[tuple[float, int]] = ()) -> Outcome:
    """10^8 members in batches of this size."""
    count = -(-MEMBERS // size)
    random = np.random.default_rng(size)
    seconds = costs["batch"] + size * costs["member"] * np.maximum(0.5, random.normal(1.0, costs["spread"], count))
    machine = Machine(CORES, start=costs["worker_start"])
    return simulate(seconds.tolist(), costs_of(costs, store), machine, losses)


def plans(found: Found, quick: bool) -> Found:
    """The model, its check, and the plan for 10^8 members on 1000 cores by the size of a batch."""
    costs = model(found)
    rows = []
    for size in BATCHES:
        if quick and size < 2000:
            continue
        outcome = planned(costs, size)
        count = -(-MEMBERS // size)
        files = costs["files_a_batch"] * count
        halfway = [(0.5 * outcome.wall, slot) for slot in range(LOST)]
        rows.append(
            {
                "size": size,
                "batches": count,
                "seconds": costs["batch"] + size * costs["member"],
                "wall": outcome.wall,
                "busy": outcome.busy,
                "scheduler": outcome.scheduler,
                "client": outcome.client,
                "files": files,
                "lost_workers": planned(costs, size, losses=halfway).wall - outcome.wall,
                "with_store": {
                    str(rate): planned(costs, size, costs["files_a_batch"] / rate).wall for rate in FILES_A_SECOND
                },
            }
        )
    return {"model": costs, "check": checked(found), "rows": rows}
