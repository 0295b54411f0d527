"""Check many mutated scenarios, one after the other, and print what is wrong with them."""

from __future__ import annotations

import argparse
import json
import tempfile
from collections import Counter
from pathlib import Path

from tests.mutations.checked import Verdict, checked


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, default=1000)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--output", type=Path, help="One verdict a line, as JSON.")
    arguments = parser.parse_args()
    folder = Path(tempfile.mkdtemp(prefix="mutations-"))
    verdicts: list[Verdict] = []
    with open(arguments.output or "/dev/null", "a", encoding="utf-8") as file:
        for number in range(arguments.first, arguments.first + arguments.count):
            verdicts.append(checked(number, folder))
            file.write(json.dumps(verdicts[-1]._asdict()) + "\n")
            file.flush()
            if verdicts[-1].fault:
                print(f"{number} ({verdicts[-1].name}), {folder}: {verdicts[-1].fault}", flush=True)
    faults = sum(bool(x.fault) for x in verdicts)
    longest = max(verdicts, key=lambda x: x.seconds)
    codes = Counter(x.code for x in verdicts)
    print(f"{len(verdicts)} scenarios, exit codes {dict(codes)}, {faults} faults; ", end="")
    print(f"the longest took {longest.seconds:.1f} s ({longest.number}, {longest.name})")
    return 1 if faults else 0


if __name__ == "__main__":
    raise SystemExit(main())
