"""Tables and pictures of docs/scale.md, from docs/measured/scale.json. `python -m benchmarks.scale_page` makes them."""

from __future__ import annotations

import json
from typing import Any

from benchmarks import pages
from benchmarks.scale_plan import CORES, LOST, MEMBERS, Machine, costs_of, here, simulate
from tautline.figures import style

Found = dict[str, Any]
PAGE = pages.ROOT / "docs" / "scale.md"
FIGURES = pages.ROOT / "docs" / "measured"
RESULTS = FIGURES / "scale.json"
ENGINES = {"here": "this process", "processes": "worker processes", "dask": "Dask, local cluster"}


def table(heads: str, rows: list[list[str]]) -> str:
    return pages.table(heads.split(" | "), rows)


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


def tables(found: Found) -> dict[str, str]:
    """Tables of docs/scale.md by name."""
    parts = (throughput, member_fit, cost_model, created, check, plan)
    return {part.__name__.replace("_", "-"): part(found) for part in parts}


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
    pages.rewrite(PAGE, tables(found))
    figures(found)


if __name__ == "__main__":
    write(json.loads(RESULTS.read_text(encoding="utf-8")))
