"""Reading finished runs and studies loads neither the engine nor the kernels nor what compiles them."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

ENGINE = ("tautline.engine", "tautline.kernels", "numba", "llvmlite")
PYTHON = {
    "open": "tl.open_run(RUN)",
    "figures": """
for name, draw in tl.figures.OF_A_RUN.items():
    draw(RUN)
tl.figures.animate(RUN, "run.gif", frames=2)
""",
    "loads": """
for name in ("rainflow", "spectrum", "exceedance", "slack_events", "motor_energy"):
    getattr(tl.analysis, name)(RUN)
tl.analysis.utilization(RUN, breaking_load="5 N"); tl.analysis.damage(RUN, "six_strand", breaking_load=5)
""",
    "view": "tl.view(tl.open_run(RUN)).save('run.html')",
    "server": """
from tautline.files.runs import Reader
from tautline.viewer.server import replay
server = replay([("run", Reader(RUN))])
for path, query in {
    "/": {},
    "/frames": {"run": "0", "first": "0", "count": "5", "every": "1"},
    "/plots": {"run": "0", "from": "0", "to": "1", "points": "50"},
}.items():
    assert server._answers[path](query)[1]
""",
    "study": "tl.open_study(STUDY).load()",
}
COMMANDS = {
    "info": ["info", "RUN"],
    "export": ["export", "RUN", "--csv", "run.csv", "--vtk", "frames", "--html", "-o", "run.html"],
    # each of the figures is drawn from Python
    "plot": ["plot", "RUN", "--figure", "snapshots", "--figure", "energy", "-o", "figures"],
    "report": ["report", "RUN"],
    "study info": ["study", "info", "STUDY"],
    "study report": ["study", "report", "STUDY", "-o", "report"],
}


# After every step: nothing of the engine may be there.
LOOK = """
def look(step):
    found = sorted(name for name in sys.modules if name.startswith(ENGINE))
    print("after", step, ":", found)
"""


@pytest.fixture
def files(run_file: Path, study_store: Path) -> dict[str, str]:
    return {"RUN": str(run_file), "STUDY": str(study_store)}


def steps_with_engine(codes: dict[str, str], folder: Path, files: dict[str, str] | None = None) -> list[str]:
    """Steps of one process after which modules of the engine were loaded, with their names."""
    named = "".join(f"{name} = {path!r}\n" for name, path in (files or {}).items())
    body = "".join(f"{code}\nlook({name!r})\n" for name, code in codes.items())
    done = subprocess.run(
        [sys.executable, "-c", f"import sys, tautline as tl\nENGINE = {ENGINE!r}\n{named}{LOOK}{body}"],
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    looks = [line for line in done.stdout.splitlines() if line.startswith("after ")]
    assert len(looks) == len(codes)
    return [line for line in looks if not line.endswith(": []")]


@pytest.mark.long
def test_from_python(files: dict[str, str], tmp_path: Path) -> None:
    assert not steps_with_engine(PYTHON, tmp_path, files)


@pytest.mark.long
def test_from_the_command_line(files: dict[str, str], tmp_path: Path) -> None:
    code = """
from tautline.cli import main
sys.argv = {arguments!r}
try:
    main()
except SystemExit as end:
    assert not end.code, end.code
"""
    codes = {
        name: code.format(arguments=["tautline", *(files.get(x, x) for x in arguments)])
        for name, arguments in COMMANDS.items()
    }
    assert not steps_with_engine(codes, tmp_path)


def test_the_engine_would_be_seen(tmp_path: Path) -> None:
    (line,) = steps_with_engine({"simulate": "tl.simulate"}, tmp_path)
    assert "'tautline.engine'" in line and "'tautline.kernels'" in line
