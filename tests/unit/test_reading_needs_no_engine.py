"""Reading finished runs and studies loads neither the engine nor the kernels nor what compiles them."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

DATA = Path(__file__).parents[1] / "data"
RUN = str(DATA / "runs" / "format-3.nc")
OLD = str(DATA / "runs" / "format-1.nc")
STUDY = str(DATA / "studies" / "format-1.zarr")
ENGINE = ("tautline.engine", "tautline.kernels", "numba", "llvmlite")
PYTHON = {
    "open": f"tl.open_run({RUN!r}); tl.open_run({OLD!r})",
    "figures": f"""
for name, draw in tl.figures.OF_A_RUN.items():
    draw({RUN!r})
tl.figures.animate({RUN!r}, "run.gif", frames=2)
""",
    "view": f"tl.view(tl.open_run({RUN!r})).save('run.html')",
    "server": f"""
from tautline.files.runs import Reader
from tautline.viewer.server import replay
server = replay([("run", Reader({RUN!r}))])
for path, query in {{
    "/": {{}},
    "/frames": {{"run": "0", "first": "0", "count": "5", "every": "1"}},
    "/plots": {{"run": "0", "from": "0", "to": "1", "points": "50"}},
}}.items():
    assert server._answers[path](query)[1]
""",
    "study": f"tl.open_study({STUDY!r}).load()",
}
COMMANDS = {
    "info": ["info", RUN],
    "export": ["export", RUN, "--csv", "run.csv", "--vtk", "frames", "--html", "-o", "run.html"],
    "plot": ["plot", RUN, "--figure", "all", "-o", "figures"],
    "study info": ["study", "info", STUDY],
    "study report": ["study", "report", STUDY, "-o", "report"],
}


def loaded(code: str, folder: Path) -> str:
    """Modules of the engine that a process with this code has loaded at its end."""
    look = f"\nprint('loaded', sorted(x for x in sys.modules if x.startswith({ENGINE!r})), file=sys.stderr)"
    done = subprocess.run(
        [sys.executable, "-c", "import sys, tautline as tl\n" + code + look],
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stderr.splitlines()[-1].removeprefix("loaded ")


@pytest.mark.parametrize("name", PYTHON)
def test_from_python(name: str, tmp_path: Path) -> None:
    assert loaded(PYTHON[name], tmp_path) == "[]"


@pytest.mark.parametrize("name", COMMANDS)
def test_from_the_command_line(name: str, tmp_path: Path) -> None:
    code = f"""
from tautline.cli import main
sys.argv = {["tautline", *COMMANDS[name]]!r}
try:
    main()
except SystemExit as end:
    assert not end.code, end.code
"""
    assert loaded(code, tmp_path) == "[]"


def test_the_engine_would_be_seen(tmp_path: Path) -> None:
    found = loaded("tl.Simulation", tmp_path)
    assert all(f"'{name}'" in found for name in ENGINE)
