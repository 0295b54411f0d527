"""What a user waits for before the first result. `python benchmarks/startup.py`"""

from __future__ import annotations

import json
import os
import statistics
import subprocess
import sys
import tempfile
import time

FIRST_RUN = "from tautline.paper.examples import run; run(1)"


# What `tautline run fixed-length` does, part by part, in a warm process of its own.
PARTS = """
import json, sys, time
marks = [("", time.perf_counter())]
def mark(name): marks.append((name, time.perf_counter()))
import tautline as tl
from tautline.files import runs
import tautline.cli.watch
from tautline.results.summary import summarise
from tautline.engine.cases import begin
mark("imports (numba 0.3 s, numpy, typer, rich, netCDF4)")
case = tl.load("fixed-length")
mark("scenario")
simulation, rows, sample = begin(case)
simulation.march(1, simulation.sampling(sample))
mark("machine code, read from the cache and linked")
simulation, rows, sample = begin(case)
simulation.march(rows, simulation.sampling(sample))
mark("the run: 20,000 steps, 1001 samples")
runs.run_to_file(sys.argv[1], case)
mark("the same again, written to a file as it goes")
reader = runs.Reader(sys.argv[1])
summarise(reader.blocks(), reader.attrs)
mark("summary, read from the file")
print(json.dumps([(name, b - a) for (_, a), (name, b) in zip(marks, marks[1:])]))
"""


def wall(code: str, environment: dict[str, str] | None = None) -> float:
    """Seconds for a fresh Python process."""
    start = time.perf_counter()
    subprocess.run([sys.executable, "-c", code], check=True, env=environment, capture_output=True)
    return time.perf_counter() - start


def median(code: str, repeats: int = 9) -> float:
    return statistics.median(wall(code) for _ in range(repeats))


def run_from_command_line(repeats: int = 5) -> tuple[float, list[tuple[str, float]]]:
    """Median seconds of the command, and of its parts."""
    commands, parts = [], []
    for _ in range(repeats):
        with tempfile.TemporaryDirectory() as folder:
            start = time.perf_counter()
            arguments = ["run", "fixed-length", "--quiet", "-o", f"{folder}/run.nc"]
            subprocess.run([sys.executable, "-m", "tautline.cli", *arguments], check=True, capture_output=True)
            commands.append(time.perf_counter() - start)
            done = subprocess.run(
                [sys.executable, "-c", PARTS, f"{folder}/parts.nc"], check=True, capture_output=True, text=True
            )
            parts.append(json.loads(done.stdout))
    names = [name for name, _ in parts[0]]
    medians = [statistics.median(part[i][1] for part in parts) for i in range(len(names))]
    return statistics.median(commands), list(zip(names, medians, strict=True))


def main() -> None:
    bare = median("pass")
    imported = median("import tautline")
    print(f"import tautline      {imported - bare:6.3f} s above bare Python (target 0.15)")
    with tempfile.TemporaryDirectory() as folder:
        cold = wall(FIRST_RUN, os.environ | {"NUMBA_CACHE_DIR": folder})
    print(f"cold first run       {cold:6.2f} s, compilation included (target 20)")
    wall(FIRST_RUN)
    print(f"warm process         {median(FIRST_RUN, 5):6.2f} s to the first result of example 1 (target 2)")
    whole, parts = run_from_command_line()
    print(f"tautline run         {whole:6.2f} s for example 1, of which bare Python {bare:.2f} s")
    for name, seconds in parts:
        print(f"{seconds:25.3f} s {name}")


if __name__ == "__main__":
    main()
