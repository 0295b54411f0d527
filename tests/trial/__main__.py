"""`make trial`: thousands of random pendulums with default settings, each judged against a quarter of its step."""

from __future__ import annotations

import argparse
import json
import time
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import Any

from tests.trial.cases import case
from tests.trial.judge import BALANCE, MOVED, NUMERICAL, judge


def trial(seed: int) -> dict[str, Any] | None:
    """The verdict on a seed, or None where the seed makes no pendulum."""
    chosen = case(seed)
    if chosen is None:
        return None
    begun = time.perf_counter()
    verdict = judge(chosen)
    return {
        "seed": seed,
        "features": chosen.features,
        "silent": verdict.silent,
        "in_vain": verdict.stopped_in_vain,
        "seconds": time.perf_counter() - begun,
        **verdict._asdict(),
    }


def summary(verdicts: list[dict[str, Any]]) -> dict[str, Any]:
    """Counts over all verdicts."""
    completed = [v for v in verdicts if v["status"] == "completed"]
    stopped = [v for v in verdicts if v["status"] in NUMERICAL]
    return {
        "pendulums": len(verdicts),
        "statuses": dict(Counter(v["status"] for v in verdicts).most_common()),
        "completed without a remark": sum(not v["remarks"] for v in completed),
        "completed, wrong, without a remark": sum(v["silent"] for v in verdicts),
        "completed, moved by more than 5 %, with a remark": sum(v["moved"] > MOVED for v in completed),
        "completed with a balance error above 2 %, with a remark": sum(v["balance"] > BALANCE for v in completed),
        "not finite": sum(not v["finite"] for v in verdicts),
        "numerical stops": len(stopped),
        "numerical stops that complete at a quarter of the step": sum(v["in_vain"] for v in verdicts),
    }


def verdicts_of(first: int, count: int, workers: int) -> Iterator[dict[str, Any]]:
    """Verdicts on so many pendulums, from a seed on."""
    with ProcessPoolExecutor(workers) as pool:
        seeds = iter(range(first, first + 10 * count))
        found = 0
        while found < count:
            batch = [next(seeds) for _ in range(min(200, count - found))]
            for verdict in pool.map(trial, batch, chunksize=10):
                if verdict is not None:
                    found += 1
                    yield verdict


def write_page(page: Path, found: dict[str, Any], first: int) -> None:
    """Put the counts into a page, between its marks."""
    head, begin, rest = page.read_text(encoding="utf-8").partition("<!-- trial: begin -->\n")
    _, end, tail = rest.partition("<!-- trial: end -->")
    if not (begin and end):
        raise ValueError(f"{page}: expected marks of the trial")
    statuses = ", ".join(f"{count} {status}" for status, count in found["statuses"].items())
    counts = {name: count for name, count in found.items() if name not in ("pendulums", "statuses")}
    lines = [
        f"Latest counts: {found['pendulums']} pendulums from seed {first} on ({statuses}).",
        "",
        "| | pendulums |",
        "|---|---|",
        *(f"| {name} | {count} |" for name, count in counts.items()),
    ]
    page.write_text(head + begin + "\n".join(lines) + "\n" + end + tail, encoding="utf-8")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, default=10_000)
    parser.add_argument("--first", type=int, default=0, help="first seed")
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("-o", "--output", type=Path, default=Path("build/trial.json"))
    parser.add_argument("--page", type=Path, help="page that shows the counts")
    options = parser.parse_args()
    verdicts = []
    for verdict in verdicts_of(options.first, options.count, options.workers):
        verdicts.append(verdict)
        if verdict["silent"] or verdict["in_vain"]:
            print(json.dumps(verdict), flush=True)
        if len(verdicts) % 500 == 0:
            print(json.dumps(summary(verdicts)), flush=True)
    options.output.parent.mkdir(parents=True, exist_ok=True)
    options.output.write_text(json.dumps({"summary": summary(verdicts), "verdicts": verdicts}))
    print(json.dumps(summary(verdicts), indent=1))
    if options.page is not None:
        write_page(options.page, summary(verdicts), options.first)


if __name__ == "__main__":
    main()
