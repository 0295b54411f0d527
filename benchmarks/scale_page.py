"""docs/scale.md and its pictures, from docs/measured/scale.json. `python benchmarks/scale_page.py` writes them anew."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT))

from benchmarks.scale_plan import CORES, GOOD, LOST, MEMBERS, SAMPLES, Machine, costs_of, here, simulate  # noqa: E402 - after the path
from tautline.figures import style  # noqa: E402

Found = dict[str, Any]
PAGE = ROOT / "docs" / "scale.md"
FIGURES = ROOT / "docs" / "measured"
RESULTS = FIGURES / "scale.json"
ENGINES = {"here": "this process", "processes": "worker processes", "dask": "Dask, local cluster"}


def table(heads: str, rows: list[list[str]]) -> str:
    names = heads.split(" | ")
    lines = [names, ["---"] * len(names), *rows]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


def power(x: float) -> str:
    """Number as people write it: 500, 2000, 2·10^5."""
    if x < 1000 or (x < 10_000 and x == round(x, -2)):
        return f"{x:.0f}"
    factor, exponent = f"{x:.1e}".split("e")
    factor = factor.removesuffix(".0")
    return f"$10^{int(exponent)}$" if factor == "1" else rf"${factor}\cdot10^{int(exponent)}$"


def several(seconds: float) -> str:
    """A time with a fitting unit."""
    for unit, size in (("h", 3600.0), ("min", 120.0), ("s", 1.0), ("ms", 1e-3), ("µs", 1e-6)):
        if seconds >= size:
            return f"{seconds / (60.0 if unit == 'min' else size):.3g} {unit}"
    return f"{seconds * 1e9:.3g} ns"


def megabytes(x: float) -> str:
    return f"{x / 1e9:.2g} GB" if x >= 1e9 else f"{x / 1e6:.0f} MB"


def throughput(found: Found) -> str:
    runs = found["studies"]["runs"] + ([found["studies"]["large"]] if "large" in found["studies"] else [])
    alone = {run["engine"] == "dask": run["rate"] for run in runs if run["workers"] == 1}
    rows = []
    for run in runs:
        ratio = run["rate"] / (run["workers"] * alone[run["engine"] == "dask"])
        worker = megabytes(run["worker"]) if run["engine"] != "here" else "the same"
        cells = [
            ENGINES[run["engine"]],
            f"{run['workers']}",
            power(run["members"]),
            f"{run['rate']:.0f}",
            f"{ratio:.0%}",
        ]
        rows.append([*cells, several(run["wall"]), megabytes(run["client"]), worker])
    return table("where | workers | members | members/s | efficiency | in all | client | a worker", rows)


def member_fit(found: Found) -> str:
    rows = [
        [f"{c['steps']}", f"{c['samples']}", several(c["seconds"]), several(c["predicted"]),
         f"{c['predicted'] / c['seconds'] - 1:+.0%}"]
        for c in found["member"]["cases"]
    ]  # fmt: skip
    return table("steps | samples | measured | model | deviation", rows)


def cost_model(found: Found) -> str:
    costs, member = found["plan"]["model"], found["member"]
    rows = [
        ["start of a member: checks, state, outputs", several(member["start"])],
        ["a step, $N=20$, constant length", several(member["step"])],
        ["a sample", several(member["sample"])],
        ["**a member**: 2000 steps, 100 samples", several(costs["member"])],
        ["a batch: values read, results written, what its members share", several(costs["batch"])],
        ["a task in Dask's scheduler", several(costs["scheduler"])],
        ["a task in the client", several(costs["client"])],
        ["a task in the worker, beside the batch", several(costs["host"])],
        ["a message on its way", several(costs["latency"])],
        ["a Dask worker before its first batch", several(costs["worker_start"])],
        [
            "the design in the client, a member",
            f"{several(costs['create_seconds'])}, {costs['client_bytes']:.0f} bytes",
        ],
        ["a member on disk: results, design", f"{costs['bytes_result']:.1f} + {costs['bytes_design']:.1f} bytes"],
        ["files of a batch", f"{costs['files_a_batch']:.0f}"],
        ["a mark of a finished batch, read", several(found["batch"]["mark_there"])],
    ]
    return table("what | cost", rows)


def created(found: Found) -> str:
    rows = [
        [power(run["members"]), several(run["created"]), megabytes(run["client"])]
        for run in found["studies"]["created"]
    ]
    return table("members | created in | client", rows)


def check(found: Found) -> str:
    rows = []
    for run in found["plan"]["check"]:
        rate = run["tasks"] / run["wall"]
        asleep = several(run["asleep"]) if run["asleep"] else "0"
        busy, predicted = ((f"{run[name]:.0%}" if run["asleep"] else "") for name in ("busy", "predicted_busy"))
        times = [several(run["wall"]), several(run["predicted"]), f"{run['predicted'] / run['wall'] - 1:+.0%}"]
        rows.append([f"{run['slots']}", asleep, f"{run['tasks']}", f"{rate:.0f}", busy, predicted, *times])
    return table("slots | asleep | tasks | tasks/s | busy | simulated | time | simulated | deviation", rows)


def plan(found: Found) -> str:
    rows = []
    for row in found["plan"]["rows"]:
        asked = row["files"] / row["wall"]
        cells = [power(row["size"]), several(row["seconds"]), power(row["batches"]), several(row["wall"])]
        cells += [f"{row['busy']:.1%}", f"{row['scheduler']:.0%}", power(row["files"]), power(asked)]
        cells += [several(x) for x in row["with_store"].values()]
        rows.append([*cells, several(row["lost_workers"]) if row["lost_workers"] > 1e-3 else "0"])
    return table(
        "members a batch | a batch takes | batches | time | busy | scheduler | files | files/s "
        "| if $10^4$ files/s | if 1000 files/s | "
        f"{LOST} workers lost halfway add",
        rows,
    )


def tables(found: Found) -> str:
    """All of them, for the terminal."""
    return "\n\n".join(part(found) for part in (throughput, member_fit, cost_model, created, check, plan))


def page(found: Found) -> str:
    """docs/scale.md."""
    costs, rows, machine, studies = found["plan"]["model"], found["plan"]["rows"], found["machine"], found["studies"]
    least = min(row["wall"] for row in rows)
    good = [row for row in rows if row["wall"] <= GOOD * least]
    smallest, largest = good[0], good[-1]
    tightest = rows[0]
    store_good = [row for row in rows if row["with_store"]["1000"] <= GOOD * min(r["with_store"]["1000"] for r in rows)]
    asleep = [run for run in found["plan"]["check"] if run["asleep"]]
    worst = max(abs(run["predicted"] / run["wall"] - 1) for run in asleep)
    limit = CORES * costs["scheduler"]
    large = studies["large"]
    small = next(run for run in studies["runs"] if run["engine"] == "processes")
    kernel = found["member"]["kernel"]
    versions = ", ".join(f"{name} {machine[name]}" for name in ("numpy", "numba", "zarr", "dask", "distributed"))
    work = MEMBERS * costs["member"] / CORES
    return f"""# How far studies scale

What a [study](howto/studies.md) costs, where more cores stop helping, and what to do there. Everything here was measured by
`python benchmarks/study.py`, which also writes this page; a test keeps it and the figures (`docs/measured/scale.json`)
together. Measured on {machine["cores"]} cores ({machine["processor"]}, {megabytes(machine["memory"])}, {machine["system"]}), Python {machine["python"]}, {versions}. When it began, the
machine had a load of {machine["load"]:.1f} from other work.

**In short.** A second of the paper's example 1 costs {several(costs["member"])} of one core, and {power(large["members"])} of them took
{several(large["wall"])} on two. Dask's scheduler handles {1 / costs["scheduler"]:.0f} batches a second here: let a batch take longer than
{several(costs["scheduler"])} times the number of cores, better several times that. For $10^8$ members on {CORES} cores,
{power(smallest["size"])} to {power(largest["size"])} members a batch are within {GOOD - 1:.0%} of the best, and the computation takes
{several(least)}; the client needs {several(MEMBERS * costs["create_seconds"])} before it to make the design.

## Throughput

Example 1, 1 s each: 20 elements, 2000 steps, 100 samples, stiffness and initial velocity varied, two numbers kept of each run, {found["batch"]["members"]}
members a batch. The rate is that between the first and the last batches; "in all" has the start of the workers too. Efficiency
is over one worker of the same kind. Memory is the largest that a process ever had.

{throughput(found)}

In the compiled part alone a member-step takes {several(kernel["lanes"])} in an ensemble, and {several(kernel["one_by_one"])} one by one
(`python benchmarks/batch.py`).

## What a member costs

    seconds of a member = start + steps * step + samples * sample
    seconds of a batch  = batch + members * seconds of a member

fitted to {found["member"]["members"]} members of example 1 with other durations and samples:

{member_fit(found)}

{cost_model(found)}

Of such a short member the start is {found["member"]["start"] / costs["member"]:.0%}, and samples are {SAMPLES * found["member"]["sample"] / costs["member"]:.0%}: they are written by the kernel, and every one is looked at for the figures of health, in NumPy. Few samples use the cores best. These members differ in plain numbers, and are [set up as arrays](howto/studies.md#quick-members). Batches of the same
size differed by {costs["spread"]:.0%} (standard deviation).

## Memory

A worker holds its batch: samples of at most 64 MB at a time, and the results until they are written. With
{power(small["members"])} members a worker had {megabytes(small["worker"])} at most, with {power(large["members"])} members {megabytes(large["worker"])}.

The client makes the design and writes it, a part after the other, and holds no results. Created and not run:

{created(found)}

That is {costs["client_bytes"]:.0f} bytes a member for two parameters. $10^8$ members need {megabytes(costs["client_base"] + MEMBERS * costs["client_bytes"])} in the client and
{several(MEMBERS * costs["create_seconds"])} before the first batch. Of a grid only the sides are kept. A `morris` design is made as a whole, and a `table` is given as one.

## The scheduler

Batches that only sleep go through the engine of studies to workers of one thread, up to 300 of them in two processes. So the
scheduler, the client and the connections are real, and only the computation is not. All of them share the {machine["cores"]} cores of this
machine, which the simulation takes into account. Its costs come from the batches that do not sleep at all: processor time of each process,
times the factor by which the clock exceeded it. The rows that sleep are predictions; the largest deviation of those is {worst:.0%}.

{check(found)}

```{{image}} measured/scale-busy.png
:alt: Busy part of the slots over the length of a batch, measured and simulated
:width: 80%
```

A cluster of $n$ cores finishes $n$ batches in the time of one. The scheduler is the bottleneck as soon as that asks for more than
{1 / costs["scheduler"]:.0f} a second: with {CORES} cores, if a batch takes less than {several(limit)}. The client follows at
{1 / costs["client"]:.0f} a second. Besides, a slot that finishes waits some {several(4 * costs["latency"] + costs["client"] + costs["scheduler"])} for its next batch, unless one of the
few that are sent ahead is there: nothing beside a batch of a second.

## $10^8$ members on {CORES} cores

Simulated with the costs above: a queue of batches, one scheduler, one client, workers that need {several(costs["worker_start"])} to start. Without any
overhead it would be {several(work)}. Two columns give the time if the file system makes $10^4$ or 1000
files a second; those are assumptions, so look at yours.

{plan(found)}

```{{image}} measured/scale-plan.png
:alt: Time of the plan over the size of a batch, with the limits of scheduler and store
:width: 80%
```

- **Before the first batch** the client makes the design and writes it, {several(MEMBERS * costs["create_seconds"])} for $10^8$ members. That is not in
  the table. So short members are better sliced into several studies (below), whose clients work side by side, or varied on a grid.
- **Too small**: with {power(tightest["size"])} members the scheduler is at work {tightest["scheduler"]:.0%} of the time and the cores
  {tightest["busy"]:.0%}. The time is that of the scheduler, batches times {several(costs["scheduler"])}, however many cores there are.
- **Too large**: the last batches leave cores idle, and a worker has no more than {MEMBERS / CORES / rows[-1]["size"]:.2g} batches of
  {power(rows[-1]["size"])} to level out its speed.
- **Good**: {power(smallest["size"])} to {power(largest["size"])} members, {several(smallest["seconds"])} to {several(largest["seconds"])} a batch. By default a study on a
  cluster makes batches so long that the scheduler has time for them; `batch=` says another number.
- **A killed worker** costs its batch, which another repeats: at most {several(largest["seconds"])} of one core in this range, and that much of the
  whole time only if it happens in the last batches. **A killed client or scheduler** costs what all workers had in progress, half a batch each
  on average: {several(smallest["seconds"] / 2)} to {several(largest["seconds"] / 2)} of the whole cluster. `--resume` then reads one mark a batch,
  {several(found["batch"]["mark_there"])} each: {several(smallest["batches"] * found["batch"]["mark_there"])} for {power(smallest["batches"])} batches.
- **On disk** it is {megabytes(MEMBERS * costs["bytes_result"])} of results and {megabytes(MEMBERS * costs["bytes_design"])} of design.

## The store

A batch is one file in every array of results, and its mark: {costs["files_a_batch"]:.0f} here. So files are batches times arrays, and the files of an
array lie in one folder, as many as there are batches. Every file is written beside its place and renamed. With 1000 files a second the store is the bottleneck below
{power(store_good[0]["size"])} members a batch: the plan of {power(tightest["size"])} members makes {power(tightest["files"])} files, which is
{several(tightest["files"] / 1000)} for such a store alone. And every batch reads the part of the design that it lies in, chunks of {power(1 << 17)} members: small batches
read the design many times.

What helps, in this order:

1. larger batches (`batch=`): fewer files, fewer tasks, less read;
2. fewer outputs: each is a file a batch;
3. several studies instead of one, each with a slice of the design in a [table of its own](howto/studies.md#from-python), in folders or file
   systems of their own, each with a client, and a scheduler if need be: nothing is shared then.
"""


def figures(found: Found) -> None:
    style.save(_busy(found), FIGURES / "scale-busy", ["png"])
    style.save(_plan(found), FIGURES / "scale-plan", ["png"])


@style.styled
def _busy(found: Found) -> Any:
    figure, (axes,) = style.new_figure(height=4.2)
    costs = costs_of(found["plan"]["model"])
    lengths = [0.03 * 10 ** (k / 8) for k in range(22)]
    runs = [run for run in found["plan"]["check"] if run["asleep"]]
    for slots, color in zip(sorted({run["slots"] for run in runs}), (style.BLUE, style.RED), strict=False):
        mine = [run for run in runs if run["slots"] == slots]
        simulated = [simulate([x] * max(4 * slots, 600), *here(found, slots)).busy for x in lengths]
        axes.plot(lengths, simulated, color=color, label=f"{slots} slots on this machine, simulated")
        axes.plot(
            [r["asleep"] for r in mine], [r["busy"] for r in mine], "o", color=color, label=f"{slots} slots, measured"
        )
    alone = [simulate([x] * 10 * CORES, costs, Machine(CORES)).busy for x in lengths]
    axes.plot(lengths, alone, "--", color=style.BLACK, label=f"{CORES} slots of a cluster, simulated")
    axes.set(xscale="log", xlabel="seconds of a batch", ylabel="busy part of the slots", ylim=(0, 1.03))
    figure.legend(loc="outside lower center", ncols=2)
    return figure


@style.styled
def _plan(found: Found) -> Any:
    figure, (axes,) = style.new_figure(height=4.2)
    costs, rows = found["plan"]["model"], found["plan"]["rows"]
    sizes = [row["size"] for row in rows]
    wide = {"lw": 4, "alpha": 0.5, "color": style.BLUE}  # where lines lie on each other all are seen
    axes.plot(sizes, [row["wall"] for row in rows], label="with a store that takes no time", **wide)
    for (rate, _), color in zip(rows[0]["with_store"].items(), (style.GREEN, style.ORANGE), strict=True):
        label = f"with a store of {int(rate):,} files/s".replace(",", " ")
        axes.plot(sizes, [row["with_store"][rate] for row in rows], "o-", ms=3, color=color, label=label)
    bound = [MEMBERS / size * costs["scheduler"] for size in sizes]
    axes.plot(sizes, bound, ":", color=style.RED, label="scheduler alone")
    axes.axhline(MEMBERS * costs["member"] / CORES, ls="--", lw=0.8, color=style.BLACK, label="computation alone")
    floor = 0.5 * MEMBERS * costs["member"] / CORES
    axes.set(xscale="log", yscale="log", xlabel="members a batch, of $10^8$ in all", ylabel="seconds on 1000 cores")
    axes.set_ylim(bottom=floor)
    figure.legend(loc="outside lower center", ncols=2)
    return figure


def write(found: Found) -> None:
    RESULTS.parent.mkdir(exist_ok=True)
    RESULTS.write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")
    PAGE.write_text(page(found), encoding="utf-8")
    figures(found)


if __name__ == "__main__":
    write(json.loads(RESULTS.read_text(encoding="utf-8")))
