"""Waiting time of a user before the first result. `python -m benchmarks.startup [--page | --compiling]`

Each figure is the median over processes of their own, taken in turns. By default these run in this environment without
what users of the package alone do not have, beside MuJoCo where `make peers` has installed it, and the parts of a run
from the command line follow: less than a minute. With --page the wheel of these sources is built for all processors and
installed into environments of its own (build/peers), which takes some minutes for the first time, and the figures go
into docs/startup.md; with --compiling those alone of kernels that a process compiles.
"""

from __future__ import annotations

import json
import math
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from benchmarks import pages
from benchmarks.peers.catalogue import PEERS, Peer
from benchmarks.peers.environments import ROOT, clean_environment, install, python_of, sizes

REPEATS = 15  # for the page
LOOKS = 5
PAGE = ROOT / "docs" / "startup.md"
MEASURED = ROOT / "docs" / "measured" / "startup.json"

# First results: one step would do, these take ten milliseconds.
PLAIN = """
import tautline as tl
case = tl.load("fixed-length", {"run.duration": "0.01 s"})
simulation = tl.Simulation.from_case(case)
simulation.advance(0.01, case.commands)
simulation.line.nodes[-1]
"""
LABELED = """
import tautline as tl
run = tl.simulate(tl.load("retrieval", {{{}"run.duration": "0.01 s"}}))
float(run.start_tension[-1, 0])
"""
LANES = """
import tautline as tl
from tautline.engine.cases import begin
from tautline.engine.chain.ensemble import march_ensemble
begun = [begin(tl.load("retrieval", {"run.duration": "0.01 s"})) for _ in range(8)]
march_ensemble([simulation for simulation, _, _ in begun], begun[0][1])
"""
MUJOCO = """
import mujoco
body = '<body><freejoint/><geom size="1"/></body>'
model = mujoco.MjModel.from_xml_string(f"<mujoco><worldbody>{body}</worldbody></mujoco>")
data = mujoco.MjData(model)
mujoco.mj_step(model, data)
data.qpos[-1]
"""
CODES = {
    "MuJoCo: a body, one step, plain arrays": MUJOCO,
    "`Simulation`, plain arrays": PLAIN,
    "eight members in lanes, plain arrays": LANES,
    "`import xarray` alone": "import xarray",
    "`simulate`, a labeled `Dataset`": LABELED.format(""),
    "`simulate` with damping": LABELED.format('"string.viscosity": 0.01, '),
    "`simulate` with a fluid": LABELED.format('"fluid.density": 1.2, "string.diameter": 0.002, '),
}
MUJOCO_ROW = next(iter(CODES))
COMMAND = "`tautline run fixed-length`, whole command"
RUN = "import runpy; runpy.run_module('tautline', run_name='__main__')"
# Packages of extras that xarray and the kernels' engine would find in an environment of a developer.
WITHOUT_EXTRAS = "import sys; sys.modules.update(dask=None, numba=None)\n"

# What `tautline run fixed-length` does, part by part, in a warm process of its own.
PARTS = """
import json, sys, time
marks = [("", time.perf_counter())]
def mark(name): marks.append((name, time.perf_counter()))
import tautline as tl
from tautline.files import runs
import tautline.cli.watch
from tautline.results.summary import summarize
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
summarize(reader.blocks(), reader.attrs)
mark("summary, read from the file")
print(json.dumps([(name, b - a) for (_, a), (name, b) in zip(marks, marks[1:])]))
"""
# Example 1, which has a constant length, where no library is.
COMPILED = """
import json, time
from tautline.kernels.machine import compiling, in_process
from tautline.paper.examples import run
spent, compiled = {}, in_process.InProcess._compile
def measured(engine, function):
    begun = time.process_time()
    code = compiled(engine, function)
    spent[function.name] = time.process_time() - begun
    return code
in_process.InProcess._compile = measured
run(1)
print(json.dumps(spent))
"""
NEXT_PROCESS = "the next process, with what the first one kept: all of it"


def environments(folder: Path) -> tuple[Peer, Peer, Peer]:
    """Ours with nothing but what it needs, ours with the command line, and MuJoCo; made or brought up to date."""
    subprocess.run([sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", folder], cwd=ROOT, check=True)
    (wheel,) = folder.glob("*.whl")
    core = PEERS[0]._replace(requirements=(str(wheel),))
    command_line = PEERS[0]._replace(name="tautline-cli", requirements=(f"{wheel}[cli]",))
    made = core, command_line, next(peer for peer in PEERS if peer.name == "mujoco")
    for peer in made:
        install(peer)
    return made


def taken(python: Path | str, arguments: list[str], environment: dict[str, str]) -> tuple[float, float]:
    """Seconds for a process, and those of its threads on processors."""
    before, start = os.times(), time.perf_counter()
    subprocess.run([python, *arguments], check=True, env=environment, capture_output=True)
    wall, after = time.perf_counter() - start, os.times()
    return wall, after.children_user + after.children_system - before.children_user - before.children_system


def seconds(pythons: dict[str, Path], rounds: int, before: str = "") -> dict[str, list[float]]:
    """Seconds and those of a processor until the first result, by rows, in environments that have some Pythons."""
    found: dict[str, list[tuple[float, float]]] = {row: [] for row in pythons}
    environment = clean_environment()
    environment.pop("PYTHONDONTWRITEBYTECODE", None)  # users have bytecode of all that is imported
    with tempfile.TemporaryDirectory() as folder:
        arguments = ["run", "fixed-length", "--overwrite", "-o", f"{folder}/run.nc"]
        for _ in range(rounds + 1):
            for row, python in pythons.items():
                code = before + CODES.get(row, RUN)
                found[row].append(taken(python, ["-c", code, *arguments], environment))
    # the first round reads the files from the disk, and writes bytecode
    return {row: [statistics.median(x) for x in zip(*runs[1:], strict=True)] for row, runs in found.items()}


def here() -> dict[str, Any]:
    """Seconds until the first result in this environment, and of what is compiled where there is no library."""
    mujoco = python_of(next(peer for peer in PEERS if peer.name == "mujoco"))
    pythons = {MUJOCO_ROW: mujoco} if mujoco.exists() else {}
    pythons |= {row: Path(sys.executable) for row in (*CODES, COMMAND) if row != MUJOCO_ROW}
    return {"seconds": seconds(pythons, LOOKS, WITHOUT_EXTRAS), "compiled": compiled()}


def installed() -> dict[str, Any]:
    """Seconds until the first result by what was asked for, and bytes by package, with and without bytecode."""
    with tempfile.TemporaryDirectory() as folder:
        core, command_line, mujoco = environments(Path(folder))
    pythons = {row: python_of(mujoco if row == MUJOCO_ROW else core) for row in CODES}
    return {
        "seconds": seconds(pythons | {COMMAND: python_of(command_line)}, REPEATS),
        "compiled": compiled(),
        "bytes": dict(sizes(core).most_common()),
        "bytes_with_bytecode": sizes(core, bytecode=True).total(),
    }


def compiled() -> dict[str, float]:
    """Seconds of a processor for each function of a first run that is compiled in the process, and of the next run."""
    with tempfile.TemporaryDirectory() as folder:
        cold = os.environ | {"TAUTLINE_ENGINE": "compiled", "TAUTLINE_CACHE_DIR": folder}
        done = subprocess.run([sys.executable, "-c", COMPILED], env=cold, check=True, capture_output=True, text=True)
        spent: dict[str, float] = json.loads(done.stdout)
        return spent | {NEXT_PROCESS: taken(sys.executable, ["-c", COMPILED], cold)[1]}


def tables(result: dict[str, Any]) -> str:
    """Tables of the page; of installed sizes where they were measured."""
    taken, unit = result["seconds"], result["seconds"].get(MUJOCO_ROW, [math.inf])[0]
    lines = ["| a new process until | s | over MuJoCo's | s of processor |", "|---|---:|---:|---:|"]
    lines += [
        f"| {row} | {wall:.2f} | {f'{wall / unit:.1f}' if wall / unit else ''} | {busy:.2f} |"
        for row, (wall, busy) in taken.items()
    ]
    own = {name: value for name, value in result["compiled"].items() if name != NEXT_PROCESS}
    lines += ["", "| compiled in the process | s of processor |", "|---|---:|"]
    lines += [f"| `{name}` | {value:.2f} |" for name, value in own.items()]
    lines += [f"| **all** | **{sum(own.values()):.2f}** |"]
    lines += [f"| {NEXT_PROCESS} | {result['compiled'][NEXT_PROCESS]:.2f} |"]
    if "bytes" in result:
        size = result["bytes"]
        large = {name: value for name, value in size.items() if value >= 5e6}
        lines += ["", "| installed | MB |", "|---|---:|"]
        lines += [f"| {name} | {value / 1e6:.0f} |" for name, value in large.items()]
        lines += [
            f"| {len(size) - len(large)} smaller ones | {(sum(size.values()) - sum(large.values())) / 1e6:.0f} |",
            f"| **all** | **{sum(size.values()) / 1e6:.0f}** |",
            f"| all, with the bytecode that pip writes | {result['bytes_with_bytecode'] / 1e6:.0f} |",
        ]
    return "\n".join(lines)


def write_page(result: dict[str, Any]) -> None:
    """Put the tables into the page, between its marks, and the figures beside it."""
    MEASURED.write_text(json.dumps(result, indent=1) + "\n", encoding="utf-8")
    pages.rewrite(PAGE, {"startup": tables(result)})


def print_parts() -> None:
    """Print median seconds of the parts of a run from the command line."""
    parts = []
    for _ in range(LOOKS):
        with tempfile.TemporaryDirectory() as folder:
            command = [sys.executable, "-c", PARTS, f"{folder}/parts.nc"]
            parts.append(json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout))
    print("A run from the command line, part by part:")
    for i, (name, _) in enumerate(parts[0]):
        print(f"{statistics.median(part[i][1] for part in parts):25.3f} s {name}")


def main() -> None:
    if "--compiling" in sys.argv[1:]:
        write_page(json.loads(MEASURED.read_text(encoding="utf-8")) | {"compiled": compiled()})
        return
    if "--page" in sys.argv[1:]:
        result = installed()
        print(tables(result))
        write_page(result)
    else:
        print(tables(here()))
        print_parts()


if __name__ == "__main__":
    main()
