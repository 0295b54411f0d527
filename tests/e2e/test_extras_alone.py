"""Promises of README, quick start and how-tos on each extra, kept without any package that the extra does not bring."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

import pytest

from tests.conftest import STUDY_FILE
from tests.support.hidden import PROJECT, ROOT, with_extra

# Extras for those who change tautline, and the sum of all.
NOT_FOR_USERS = {"dev", "docs", "all"}

START = f"""
import numpy as np
import tautline as tl
RUN, STUDY = "small.nc", {str(STUDY_FILE)!r}
SMALL = tl.load("fixed-length", {{"run.duration": "50 ms", "run.elements": 4, "run.sample": "10 ms"}})
"""
# Stands in for the browser: reads the page at the address that it is sent to, and presses Ctrl-C.
BROWSER = """
import os, re, signal, threading, urllib.parse, urllib.request, webbrowser
def read(door):
    with open(urllib.parse.urlsplit(door).path) as file:
        address = re.search("url=([^\\"]+)", file.read())[1].replace("&amp;", "&")
    with urllib.request.urlopen(address) as answer:
        print("page of", len(answer.read()), "bytes")
    os.kill(os.getpid(), signal.SIGINT)
def browse(door):
    threading.Thread(target=read, args=(door,)).start()
    return True
webbrowser.open = browse
"""
COMMANDS = """
from tautline.cli import main
def tautline(line):
    sys.argv = ["tautline", *line.split()]
    try:
        main()
    except SystemExit as end:
        assert not end.code, (line, end.code)
"""
# What an extra is for, as a program; "" is the library alone.
PROMISES = {
    "": START
    + """
run = tl.simulate(SMALL)
rest = tl.statics(SMALL.system, tl.Hanging(10.0))
assert (tl.modes(SMALL.system, rest, count=3).frequency >= 0.0).all()
assert np.isfinite(tl.jacobian(SMALL, ["tension"], by=["body.mass"])["tension"].values).all()
assert np.isfinite(tl.value_and_gradient(SMALL, tl.objectives.Final("energy"), by=["string.stiffness"]).gradient).all()

def pull(t, state, parameters, force, moment):
    force[-1, 0] = -parameters[0] * state.position[-1, 0]

start = tl.Straight(10.0, direction=(0.3, 0.0, 1.0))
pulled = tl.simulate(SMALL.system, start, duration=0.02, loads=[tl.ForceLaw(pull, parameters=(2.0,))])
assert float(pulled.force_law_work[-1]) != 0.0
tl.Simulation(SMALL.system, start).advance(0.01, tl.Torque(1.0))
assert tl.simulate(tl.load("hook-and-load"), duration="20 ms").attrs["status"] == "completed"
measured = run[["start_tension"]].squeeze("line", drop=True).to_dataframe().reset_index()
found = tl.fit(SMALL, measured, vary=["body.mass"], units="SI")
assert found.case.system.bodies["body"].mass > 0.0

from pathlib import Path
from tautline.files.export import write_csv, write_vtk
from tautline.files.runs import blocks
tl.run_to_file("run.nc", SMALL)
saved = tl.open_run("run.nc")
tl.view(saved).save("run.html")
assert write_csv(blocks("run.nc"), Path("run.csv")) == saved.sizes["time"]
assert tl.analysis.spectrum(saved).sizes["frequency"]
assert tl.analysis.utilization(saved, breaking_load="1 kN").utilization > 0.0
""",
    "plot": START
    + """
run = tl.open_run(RUN)
tl.figures.save(tl.figures.energy(run), "energy")
tl.figures.save(tl.figures.strain_map(run), "strain_map", ["png"])
tl.figures.animate(run, "motion.gif", frames=3)
""",
    "viewer": START + BROWSER + "tl.live(SMALL)\n",
    "notebook": START
    + """
replay = tl.widget(tl.open_run(RUN))
replay.time = 0.01
crane = tl.widget(SMALL)
crane.stop()
""",
    "ropes": START
    + """
run = tl.open_run(RUN)
assert tl.analysis.rainflow(run).sizes["cycle"] >= 0
assert tl.analysis.damage(run, "six_strand", breaking_load="1 kN").damage >= 0.0
""",
    "cli": BROWSER
    + COMMANDS
    + """
tautline("scenarios")
tautline("new mine.toml --like fixed-length")
tautline("check mine.toml")
tautline("run mine.toml -o run.nc --set run.duration=0.05 --set run.elements=4")
tautline("info run.nc")
tautline("export run.nc --csv run.csv --vtk frames --html")
tautline("report run.nc --breaking-load 1kN --rope six_strand")
tautline("plot run.nc --figure energy")
tautline("run hook-and-load -o hook.nc --set run.duration=0.02")
tautline("resume run.nc")
tautline("view run.nc")
tautline("doctor --json")
for command in ("live", "fit", "study", "optimize", "reproduce"):
    tautline(command + " --help")
from tautline.paper import report, reproduce, tumbling
""",
    "studies": START
    + """
done = tl.study(STUDY, "x.zarr", workers=1)
assert tl.open_study("x.zarr").max_tension.size == 6
design = {"kind": "sobol-indices", "base": 8, "seed": 1}
vary = {"string.stiffness": {"from": "30 N", "to": "90 N"}, "body.mass": {"from": "50 g", "to": "250 g"}}
short = {"run.duration": "20 ms", "run.elements": 2}
tree = {"scenario": "fixed-length", "outputs": ["max tension"], "set": short, "design": design, "vary": vary}
tl.studies.sensitivity(tl.study(tree, "indices.zarr", workers=1))
import distributed
""",
    "numba": START
    + """
import numba

@numba.njit
def pull(t, state, parameters, force, moment):
    force[-1, 0] = -parameters[0] * state.position[-1, 0]

start = tl.Straight(10.0, direction=(0.3, 0.0, 1.0))
pulled = tl.simulate(SMALL.system, start, duration=0.02, loads=[tl.ForceLaw(pull, parameters=(2.0,))])
assert float(pulled.force_law_work[-1]) != 0.0
""",
    "optimal": START
    + """
string = tl.String(10.0, 1e-3, 2e5, viscosity=1e3)
hoist = tl.pendulum(string, tl.Reel(0.1, 0.1, 20.0), tl.RigidBody.point(5.0), elements=1)
run = tl.Run(duration=1.0, step=5e-3, sample=0.1)
case = tl.Case(hoist, tl.Hanging(deployed=4.0), tl.Torque(([0.0, 1.0], [5.0, 5.0])), run)
goal = tl.objectives.AtEnd("unstretched_length", "3.9 m")
least = {"final": "reel_speed**2"}
best = tl.optimize(case, vary={"command.torques": (0.0, 9.0)}, minimize=least, subject_to=[goal], intervals=1)
assert best.status == "completed", best.message
""",
    "control": START
    + """
point = tl.pendulum(tl.String(10.0, 0.1, 2e3), tl.Reel(0.1, 0.1, 5.0), tl.RigidBody.point(5.0), elements=1)
case = tl.Case(point, tl.Hanging(4.0), tl.Torque(5.0), tl.Run(duration=0.02, step=1e-3, sample=0.02))
model = tl.gradients.linearize(case, by=["command.torque"]).to_ss(outputs=["unstretched_length", "torque"])
assert model.dt == 0.02 and np.allclose(model.D, [[0.0], [1.0]], atol=1e-9)
""",
    "gym": START
    + """
import gymnasium, tautline.gym
environment = gymnasium.make("Retrieval-v0", render_mode="rgb_array")
environment.reset(seed=0)
environment.step(environment.action_space.sample())
assert environment.render().shape == (400, 400, 3)
""",
    "mesh": START
    + """
with open("box.obj", "w") as file:
    corners = [(x, y, z) for x in (0, 1) for y in (0, 1) for z in (0, 1)]
    sides = ["1 2 4 3", "5 7 8 6", "1 5 6 2", "3 4 8 7", "1 3 7 5", "2 6 8 4"]
    file.write("".join(f"v {x} {y} {z}\\n" for x, y, z in corners) + "".join(f"f {side}\\n" for side in sides))
box = tl.RigidBody.from_mesh("box.obj", mass=6.0, attachment=(0.5, 0.5, 1.0))
assert np.allclose(box.central_inertia(), np.eye(3)) and np.allclose(box.center_of_mass, (0.0, 0.0, 0.5))
""",
    "video": START
    + """
tl.figures.animate(tl.open_run(RUN), "motion.mp4", frames=3)
""",
}
# Files that a promise leaves behind.
FILES = {
    "": ["run.nc", "run.csv", "run.html"],
    "plot": ["energy.pdf", "energy.svg", "strain_map.png", "motion.gif"],
    "cli": ["run.csv", "frames/line.pvd", "run.html", "run-report.html"],
    "video": ["motion.mp4"],
}


def test_every_extra_has_its_promise() -> None:
    assert set(PROMISES) == {"", *PROJECT["optional-dependencies"]} - NOT_FOR_USERS


QUICK = ("", "cli")


@pytest.mark.parametrize(
    "extra", [pytest.param(x, id=x or "core", marks=[pytest.mark.long] * (x not in QUICK)) for x in PROMISES]
)
def test_an_extra_alone_does_what_is_promised_of_it(extra: str, run_file: Path, tmp_path: Path) -> None:
    shutil.copy(run_file, tmp_path)
    done = with_extra(extra, PROMISES[extra], tmp_path)
    assert done.returncode == 0, f"{done.stdout}\n{done.stderr}"
    assert not [name for name in FILES.get(extra, ()) if not (tmp_path / name).stat().st_size]
    if "webbrowser" in PROMISES[extra]:
        assert re.search(r"page of \d{6,} bytes", done.stdout), done.stdout


TABLE_ROW = re.compile(r"^\| `\[(\w+)\]` \| (.+?) \|$", re.MULTILINE)


@pytest.mark.parametrize("page", ["README.md", "docs/quickstart.md"])
def test_the_table_of_extras_has_all_of_them(page: str) -> None:
    """Each once, and those that an extra includes by name."""
    rows = TABLE_ROW.findall((ROOT / page).read_text(encoding="utf-8"))
    extras = PROJECT["optional-dependencies"]
    assert sorted(name for name, _ in rows) == sorted(set(extras) - {"dev", "docs"})
    for name, text in rows:
        inside = re.findall(r"tautline\[([\w,]+)\]", " ".join(extras[name]))
        if inside and name != "all":
            assert set(re.findall(r"`\[(\w+)\]`", text)) >= set(inside[0].split(",")), f"{page}: {name}"
