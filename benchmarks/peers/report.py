"""Tables and a plot from a stored sitting. Reads the JSON only, so that they can be made again anywhere."""

from __future__ import annotations

import math
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from benchmarks.peers.catalogue import BY_HAND, OURS, PACKAGED
from benchmarks.peers.physics import MARKS
from tautline.figures import style

Result = dict[str, Any]
STEP_TARGET, ACCURACY_TARGET, BY_HAND_TARGET = 20.0, 40.0, 10.0  # how many times faster we want to be
MEGABYTE = 1e6
TELLING = ("diffrax", "jaxlib", "numba", "numpy", "llvmlite")  # versions on the page besides those of the peers
COLORS = (style.BLACK, style.BLUE, style.ORANGE, style.GREEN, "#CC79A7", style.RED, style.SKY, "#8B6F47")
MARKERS = "os^Dv*PX"


class Row(NamedTuple):
    """A method of a peer that was measured."""

    title: str
    kind: str
    name: str
    found: Result


def rows(result: Result, kind: str | None = None) -> Iterator[Row]:
    for peer in result["peers"].values():
        for name, found in peer.get("methods", {}).items():
            if "failed" not in found and kind in (None, peer["kind"]):
                yield Row(peer["title"], peer["kind"], name, found)


def plain(x: float) -> str:
    """Two digits, without an exponent where it reads well."""
    if x == 0.0 or not math.isfinite(x):
        return f"{x:g}"
    if 1e-3 <= abs(x) < 1e4:
        return f"{x:.{max(0, 1 - math.floor(math.log10(abs(x))))}f}"
    return f"{x:.1e}".replace("e-0", "e-").replace("e+0", "e")


def times(x: float) -> str:
    return f"{plain(x)} x" if x < 10.0 else f"{x:.0f} x"


def table(head: list[str], lines: list[list[str]]) -> str:
    rule = ["---", *("---:" for _ in head[1:])]
    return "\n".join("| " + " | ".join(line) + " |" for line in [head, rule, *lines])


def shared(machine: Result) -> str:
    """The machine of a sitting, for a sentence."""
    load = "" if machine["load"] is None else f" (load {machine['load'][0]:.1f})"
    return f"{machine['cores']} cores of a machine that others used meanwhile{load}"


def named(row: Row) -> str:
    return f"{row.title}, {row.name}"


def ours(result: Result) -> Row:
    return next(rows(result, OURS))


def reached(row: Row, target: float) -> Result | None:
    """The cheapest run below the target, if there is one."""
    found: Result = next(x for x in row.found["accuracy"] if x["target"] == target)
    return found if found["reached"] else None


def quickest(result: Result, kind: str, target: float) -> tuple[float, Row] | None:
    """Seconds to the target of the best method of a kind."""
    candidates = [(x["seconds"]["min"], row) for row in rows(result, kind) if (x := reached(row, target))]
    return min(candidates, key=lambda x: x[0]) if candidates else None


def pace_table(result: Result) -> str:
    unit = ours(result).found["microseconds_a_step"]
    lines = []
    for row in rows(result):
        x = row.found
        knob = f"tolerance {x['knob']:g}" if x["adaptive"] else f"{x['knob'] * 1e3:g} ms"
        lines.append(
            [
                named(row),
                str(x["order"]),
                knob,
                plain(x["microseconds_a_step"]),
                "" if x["adaptive"] else times(x["microseconds_a_step"] / unit),
                plain(x["seconds"]["min"]),
                plain(x["first_call"]),
                plain(x["energy_error"]),
                plain(x["momentum_drift"]),
            ]
        )
    head = ["tool, method", "order", "step", "µs a step", "over ours", "run (s)", "first call (s)"]
    return table([*head, "energy error (%)", "drift of pi_3"], lines)


def accuracy_table(result: Result) -> str:
    targets = result["settings"]["targets"]
    best = {target: quickest(result, OURS, target) for target in targets}
    lines = []
    for row in rows(result):
        line = [named(row)]
        for target in targets:
            x, unit = reached(row, target), best[target]
            if x is None:
                seen = next(y for y in row.found["accuracy"] if y["target"] == target)["best"]
                best_seen = "unstable at every step tried"
                if seen:
                    best_seen = f"{plain(seen['error'])} in {plain(seen['seconds'])} s"
                line.append(f"not reached; {best_seen}")
                continue
            ratio = "" if unit is None else f" ({times(x['seconds']['min'] / unit[0])})"
            line.append(f"{plain(x['seconds']['min'] * 1e3)} ms{ratio}, {x['steps']} steps")
        lines.append(line)
    return table(["tool, method", *(f"{target:g} %" for target in targets)], lines)


def reference_of(result: Result, model: str) -> list[list[float]] | None:
    """Attachment points by SciPy, with the mass of that model."""
    wanted = "consistent" if model == "consistent" else "lumped"
    found = (row.found["attachment"] for row in rows(result, BY_HAND) if row.name == f"DOP853 {wanted}")
    return next(found, None)


def trajectory_table(result: Result) -> str:
    lines = []
    for row in rows(result):
        line = [named(row), row.found["model"]]
        line += [", ".join(f"{x:.4f}" for x in point) for point in row.found["attachment"]]
        reference = reference_of(result, row.found["model"])
        pairs = zip(row.found["attachment"], reference or [], strict=False)
        line.append(", ".join(plain(1e3 * math.dist(a, b)) for a, b in pairs))
        lines.append(line)
    marks = MARKS[: len(ours(result).found["attachment"])]
    head = ["tool, method", "string", *(f"t = {t:g} s" for t in marks), "off SciPy (mm)"]
    return table(head, lines)


def growth_table(result: Result) -> str:
    sizes = [str(n) for n in result["settings"]["elements"]]
    unit = ours(result).found["growth"]
    lines = []
    for row in rows(result):
        x = row.found["growth"]
        ratios = [f" ({times(x[n] / unit[n])})" if x.get(n) and not row.found["adaptive"] else "" for n in sizes]
        cells = [f"{plain(x[n])}{ratio}" if x.get(n) else "failed" for n, ratio in zip(sizes, ratios, strict=True)]
        lines.append([named(row), *cells])
    return table(["tool, method", *(f"N = {n}" for n in sizes)], lines)


def weight_table(result: Result) -> str:
    lines = []
    for name, peer in result["peers"].items():
        if "failed" in peer:
            lines.append([peer["title"], f"failed: {peer['failed']}", "", "", "", ""])
            continue
        version = next((v for k, v in peer["versions"].items() if k.lower() == name), "")
        lines.append(
            [
                f"{peer['title']} {version}",
                *(plain(peer[x]) if x in peer else "" for x in ("import_seconds", "first_seconds", "cold_seconds")),
                f"{peer['install_bytes'] / MEGABYTE:.0f}",
                str(peer["model_lines"]),
            ]
        )
    head = ["tool", "import (s)", "first result (s)", "the very first (s)", "installed (MB)", "lines of model"]
    return table(head, lines)


def verdict(wanted: float, found: float) -> str:
    return f"{found:.1f} times, wanted {wanted:g}: {'met' if found >= wanted else 'missed'}"


def targets(result: Result) -> list[str]:
    """Targets, and by how much they were met or missed."""
    lines = []
    unit = ours(result).found["microseconds_a_step"]
    fixed = [row for row in rows(result, PACKAGED) if not row.found["adaptive"]]
    if fixed:
        fastest = min(fixed, key=lambda row: float(row.found["microseconds_a_step"]))
        ratio = fastest.found["microseconds_a_step"] / unit
        lines.append(
            f"A step against the fastest packaged simulator ({named(fastest)}): {verdict(STEP_TARGET, ratio)}."
        )
    for target in result["settings"]["targets"]:
        mine = quickest(result, OURS, target)
        for kind, wanted in ((PACKAGED, ACCURACY_TARGET), (BY_HAND, BY_HAND_TARGET)):
            other = quickest(result, kind, target)
            if mine is None or other is None:
                continue
            ratio = other[0] / mine[0]
            judged = verdict(wanted, ratio) if target == 1e-4 else f"{ratio:.1f} times"
            lines.append(
                f"Time to an energy error of {target:g} % ({mine[1].name}) against the best {kind} "
                f"({named(other[1])}): {judged}."
            )
    for row in rows(result, OURS):
        alike = (row.found["order"], row.found["knob"])
        same = [x for x in rows(result) if x.kind != OURS and (x.found["order"], x.found["knob"]) == alike]
        if same:
            best = min(same, key=lambda x: float(x.found["energy_error"]))
            lines.append(
                f"Energy error over the run at order {row.found['order']}: ours {plain(row.found['energy_error'])} %, "
                f"the best other {plain(best.found['energy_error'])} % ({named(best)}); drift of pi_3 "
                f"{plain(row.found['momentum_drift'])} against "
                f"{plain(min(float(x.found['momentum_drift']) for x in same))}."
            )
    return lines


def markdown(result: Result) -> str:
    """The page of results."""
    m, s = result["machine"], result["settings"]
    known = {x for peer in result["peers"].values() for x in peer.get("versions", {}).items()}
    telling = sorted(x for x in known if x[0].lower() in {*result["peers"], *TELLING})
    versions = ", ".join(f"{k} {v}" for k, v in telling)
    remarks = "\n".join(f"- {peer['title']}: {peer['remark']}." for peer in result["peers"].values())
    failures = "".join(
        f"\n- {peer['title']}, {name}: failed ({x['failed']})."
        for peer in result["peers"].values()
        for name, x in peer.get("methods", {}).items()
        if "failed" in x
    )
    runs = s["repeats"] + s.get("turns", 0)
    load = "" if m["load"] is None else f", load {m['load'][0]:.1f} at the start"
    note = f"\n{result['note']}\n" if "note" in result else ""
    goals = "\n".join(f"- {line}" for line in targets(result))
    return f"""\
Measured by `make peers` on {result["date"]}: {m["processor"]}, {m["cores"]} cores, {m["system"]}{load},
Python {m["python"]}. All in one sitting, one after the other, each in its own environment. Times are
{result["clock"]} times, the best of {runs} runs (short ones are repeated more often, long ones less), and hold for the
loop of steps alone: no model building, no compilation, no samples.
{note}
Targets:

{goals}

How each tool was used:

{remarks}{failures}

Example 1, 20 elements, {s["run"]:g} s. Energy error in % of the largest kinetic energy, by the energy of the tool's own
model. First call: ten steps in a new process, with what is compiled or loaded for them:

{pace_table(result)}

Time for {s["accurate"]:g} s of motion with an energy error below a target, with the largest step (or tolerance) that
reaches it; in brackets over the best of ours. The search ends where the next run would take more than {s["limit"]:g} s:

{accuracy_table(result)}

Attachment point (m), as a check that all simulate the same thing. A consistent and a lumped string are two
discretizations and differ; so does a slack one, which carries no compression. Distances are from SciPy with the same
mass:

{trajectory_table(result)}

Microseconds a step as elements are added, in brackets over our order 2. A step of a method that chooses its steps is
longer, and has no ratio:

{growth_table(result)}

Before the first result: import; a new process until 0.1 s of motion is there; the same with no compiled code in a
cache. Installed: everything in its environment. Lines: what describes and runs the model, in the files of
`benchmarks/peers`:

{weight_table(result)}

Versions: {versions}; those of all packages are in `results.json`.
"""


@style.styled
def draw(result: Result, path: Path) -> None:
    """Work against precision: seconds for the run against the energy error, one line a method."""
    figure, (axes,) = style.new_figure(width=7.2, height=4.6)
    for peer, color in zip(result["peers"].values(), COLORS, strict=False):
        for (name, found), marker in zip(peer.get("methods", {}).items(), MARKERS, strict=False):
            points = [x for x in found.get("work_precision", []) if 0.0 < x[1] < 100.0]
            if points:
                label = f"{peer['title']}, {name}"
                line = {OURS: "-", PACKAGED: "--", BY_HAND: ":"}[peer["kind"]]
                axes.loglog(
                    [x[2] for x in points],
                    [x[1] for x in points],
                    line,
                    color=color,
                    marker=marker,
                    markersize=3.5,
                    linewidth=2.0 if peer["kind"] == OURS else 1.0,
                    label=label,
                )
    axes.set_xlabel(f"seconds for {result['settings']['accurate']:g} s of motion")
    axes.set_ylabel("energy error, % of the largest kinetic energy")
    axes.legend(loc="center left", bbox_to_anchor=(1.0, 0.5), fontsize=7.0)
    figure.savefig(path, dpi=130)
