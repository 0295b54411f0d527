"""What a user waits for before the first result. `python benchmarks/startup.py`

Each figure is the median over processes of their own. MuJoCo, which brings its machine code along too, is measured in
the same run.
"""

from __future__ import annotations

import json
import os
import statistics
import subprocess
import sys
import tempfile
import time

FIRST_RUN = "from tautline.paper.examples import run; run(1)"
# First results of each kind: one step would do, these take ten milliseconds.
KINDS = {
    "constant length": "",
    "damping": '"string.viscosity": 0.01, ',
    "fluid": '"fluid.density": 1.2, "string.diameter": 0.002, "string.stiffness": 40.0, ',
}
FIRST = 'import tautline as tl; tl.simulate(tl.load("retrieval", {{{}"run.duration": "0.01 s"}}))'
MUJOCO = """
import mujoco
body = '<body><freejoint/><geom size="1"/></body>'
model = mujoco.MjModel.from_xml_string(f"<mujoco><worldbody>{body}</worldbody></mujoco>")
data = mujoco.MjData(model)
mujoco.mj_step(model, data)
"""


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
mark("imports (numpy, typer, rich, netCDF4)")
case = tl.load("fixed-length")
mark("scenario")
simulation, rows, sample = begin(case)
simulation.march(1, simulation.sampling(sample))
mark("library loaded, first sample")
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
    print(f"bare Python          {bare:6.3f} s")
    print(f"import tautline      {median('import tautline') - bare:6.3f} s above that")
    print(f"MuJoCo, one step     {median(MUJOCO):6.3f} s, imports included, as below")
    print(f"example 1, 10 s      {median(FIRST_RUN):6.3f} s")
    for name, keys in KINDS.items():
        print(f"{name:<20} {median(FIRST.format(keys)):6.3f} s")
    with tempfile.TemporaryDirectory() as folder:
        cold = {"TAUTLINE_ENGINE": "compiled", "TAUTLINE_CACHE_DIR": folder}
        print(f"compiled in process  {wall(FIRST_RUN, os.environ | cold):6.1f} s, example 1 as above")
        print(f"and from its folder  {wall(FIRST_RUN, os.environ | cold):6.2f} s")
    whole, parts = run_from_command_line()
    print(f"tautline run         {whole:6.3f} s for example 1, of which")
    for name, seconds in parts:
        print(f"{seconds:25.3f} s {name}")


if __name__ == "__main__":
    main()
