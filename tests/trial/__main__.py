"""`make trial`: random systems with default settings, each judged against a quarter of its step and twice its mesh.

Verdicts are appended to a file, one line each; a trial that is begun again goes on behind them.
"""

from __future__ import annotations

import argparse
import json
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from pathlib import Path
from typing import Any

from tautline.errors import TautlineError
from tests.trial.cases import Case, mixed
from tests.trial.families import family
from tests.trial.judge import CHAOS, LEFT_OUT, again, in_vain, judge, silent, stopped_in_vain, wrong
from tests.trial.systems import reeved, system

BUDGET = 1.5e6  # steps times elements of a run that is tried; a verdict takes some twenty times as many


def pendulum(number: int, finer: int = 1) -> Case | None:
    """Pendulums over all features and of the families of practice, by turns."""
    return mixed(number // 2, finer) if number % 2 == 0 else family(number // 2, finer)


KINDS: dict[str, Callable[..., Case | None]] = {"pendulums": pendulum, "systems": system, "reeved": reeved}


def trial(kind: str, number: int, budget: float = BUDGET) -> dict[str, Any] | None:
    """The verdict on a number, or None where it makes no system."""
    made = KINDS[kind]
    try:
        coarse, fine = made(number), made(number, 2)
        if coarse is None or fine is None:
            return None
        return {"number": number, **judge(coarse, fine, budget)}
    except TautlineError as error:
        return {"number": number, "family": "", "status": f"refused: {error}"[:200]}


def warned_again(kind: str, verdict: dict[str, Any]) -> dict[str, Any]:
    """A verdict with the warnings of today."""
    chosen = KINDS[kind](verdict["number"])
    return again(chosen, verdict) if chosen is not None and "warnings" in verdict else verdict


def summary(verdicts: list[dict[str, Any]]) -> dict[str, Any]:
    """Counts over all verdicts, and by family."""
    judged = [v for v in verdicts if "warnings" in v]
    calm = [v for v in judged if v["status"] == "completed" and v["growth"] < CHAOS]
    mute = [v for v in calm if silent(v)]
    return {
        "systems": len(verdicts),
        "left out, too expensive": sum(v["status"] == LEFT_OUT for v in verdicts),
        "refused": sum(v["status"].startswith("refused") for v in verdicts),
        "statuses": dict(Counter(v["status"] for v in judged).most_common()),
        "completed and not chaotic": len(calm),
        "wrong (positions, attitude or peak tension)": sum(bool(wrong(v)) for v in calm),
        "wrong without a warning": len(mute),
        "by position of the body": sum("moved" in silent(v) for v in mute),
        "by position of the string": sum("strung" in silent(v) for v in mute),
        "by attitude": sum("turned" in silent(v) for v in mute),
        "by peak tension": sum("peak" in silent(v) for v in mute),
        "warned of though right to 1 %": sum(in_vain(v) for v in calm),
        "warned of though bodies and peaks are right to 1 %": sum(in_vain(v, strings=False) for v in calm),
        "not finite": sum(not v["finite"] for v in judged),
        "numerical stops that the finer run completes": sum(stopped_in_vain(v) for v in judged),
        "silent by family": dict(Counter(v["family"] for v in mute)),
        "in vain by family": dict(Counter(v["family"] for v in calm if in_vain(v))),
        "families": dict(Counter(v["family"] for v in calm)),
    }


def read(path: Path) -> list[dict[str, Any]]:
    """Verdicts that are there, the latest of each number; a last line that was cut off is not."""
    found = {}
    for line in path.read_text(encoding="utf-8").splitlines() if path.exists() else []:
        try:
            verdict = json.loads(line)
        except json.JSONDecodeError:
            continue
        found[verdict["number"]] = verdict
    return list(found.values())


def verdicts_of(kind: str, numbers: Iterable[int], budget: float, workers: int) -> Iterator[dict[str, Any] | None]:
    """Verdicts on numbers as they are found; in this process where one is enough."""
    if workers == 1:
        yield from (trial(kind, number, budget) for number in numbers)
        return
    with ProcessPoolExecutor(workers) as pool:
        yield from pool.map(partial(trial, kind, budget=budget), numbers, chunksize=4)


def write_page(page: Path, kind: str, found: dict[str, Any]) -> None:
    """Put the counts into a page, between its marks."""
    begin, end = f"<!-- trial of {kind}: begin -->\n", f"<!-- trial of {kind}: end -->"
    head, at_begin, rest = page.read_text(encoding="utf-8").partition(begin)
    _, at_end, tail = rest.partition(end)
    if not (at_begin and at_end):
        raise ValueError(f"{page}: expected marks of the trial of {kind}")
    counts = {name: count for name, count in found.items() if isinstance(count, int)}
    lines = [f"| | {kind} |", "|---|---|", *(f"| {name} | {count} |" for name, count in counts.items())]
    for name in ("silent by family", "in vain by family"):
        if found[name]:
            lines += ["", f"{name}: " + ", ".join(f"{key} {count}" for key, count in found[name].items())]
    page.write_text(head + begin + "\n".join(lines) + "\n" + end + tail, encoding="utf-8")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--kind", choices=sorted(KINDS), default="pendulums")
    parser.add_argument("--count", type=int, default=2000)
    parser.add_argument("--first", type=int, default=0, help="first number")
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--budget", type=float, default=BUDGET, help="steps times elements of a run that is tried")
    parser.add_argument("-o", "--output", type=Path, help="build/trial-KIND.jsonl if not given")
    parser.add_argument("--page", type=Path, help="page that shows the counts")
    parser.add_argument(
        "--again", type=Path, help="take the warnings of all verdicts in the output anew, into this file"
    )
    options = parser.parse_args()
    output = options.output or Path(f"build/trial-{options.kind}.jsonl")
    output.parent.mkdir(parents=True, exist_ok=True)
    done = read(output)
    if options.again is not None:
        seen = {v["number"] for v in read(options.again)}
        with options.again.open("a", encoding="utf-8") as file:
            for verdict in done:
                if verdict["number"] not in seen:
                    file.write(json.dumps(warned_again(options.kind, verdict)) + "\n")
                    file.flush()
        output, done = options.again, read(options.again)
    else:
        done = [v for v in done if v["status"] != LEFT_OUT or v["cost"] > options.budget]
        seen = {v["number"] for v in done}
        numbers = (n for n in range(options.first, options.first + options.count) if n not in seen)
        with output.open("a", encoding="utf-8") as file:
            for found in verdicts_of(options.kind, numbers, options.budget, options.workers):
                if found is not None:
                    done.append(found)
                    file.write(json.dumps(found) + "\n")
                    file.flush()
    counts = summary(done)
    print(json.dumps(counts, indent=1))
    for verdict in done:
        if silent(verdict) or in_vain(verdict):
            print(json.dumps(verdict))
    if options.page is not None:
        write_page(options.page, options.kind, counts)


if __name__ == "__main__":
    main()
