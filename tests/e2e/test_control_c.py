"""One Ctrl-C in the middle of heavy work ends `tautline optimize` and `tautline fit` (studies: test_study_trouble)."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import psutil
import pytest

import tautline as tl
from tests.support.commands import wait_until

# Until a process has ended (s); alone on a machine it takes 0.1 to 0.4. The work itself takes minutes.
PATIENCE = 5.0
# User time of a process that has loaded everything and computes (s).
AT_WORK = 3.0

SCENARIO = """
[string]
length = "10 m"
density = "100 g/m"
stiffness = "200 kN"
[reel]
drum_radius = "10 cm"
guide_length = "10 cm"
inertia_mass = "20 kg"
[body]
shape = "point"
mass = "5 kg"
[initial]
kind = "hanging"
deployed = "4 m"
[command]
kind = "speed"
times = [0, 1, 2, 3]
retrievals = [0, 0.6, 0.6, 0]
[run]
duration = "3 s"
elements = 40
step = "5 us"
sample = "0.1 s"
"""
SOUGHT = """
scenario = "hoist.toml"
minimize = { integral = "torque^2" }
intervals = 3
[vary]
"command.retrievals[1:-1]" = [-5, 5]
"""
DATA = "time,start_tension\ns,N\n1,50\n2,49\n3,50\n"


@pytest.mark.parametrize(
    "arguments",
    [
        ["optimize", "sought.toml"],
        ["fit", "hoist.toml", "data.csv", "--vary", "string.stiffness", "--set", 'run.step="0.5 us"'],
    ],
    ids=lambda arguments: str(arguments[0]),
)
def test_one_ends_heavy_work_soon(arguments: list[str], tmp_path: Path) -> None:
    for name, text in {"hoist.toml": SCENARIO, "sought.toml": SOUGHT, "data.csv": DATA}.items():
        (tmp_path / name).write_text(text, encoding="utf-8")
    before = sorted(tmp_path.iterdir())
    home = {**os.environ, "PYTHONPATH": str(Path(str(tl.__file__)).parents[1])}
    process = subprocess.Popen(
        [sys.executable, "-m", "tautline", *arguments], cwd=tmp_path, env=home, stderr=subprocess.PIPE, text=True
    )
    try:
        wait_until(lambda: psutil.Process(process.pid).cpu_times().user > AT_WORK, "it does not compute")
        assert process.poll() is None
        sent = time.perf_counter()
        process.send_signal(signal.SIGINT)
        told = process.communicate(timeout=60.0)[1]
    finally:
        process.kill()
    assert time.perf_counter() - sent < PATIENCE
    assert process.returncode == 130 and told == "interrupted; nothing was written\n"
    assert sorted(tmp_path.iterdir()) == before


def test_one_before_a_command_has_begun_ends_without_a_word(tmp_path: Path) -> None:
    code = (
        "import builtins, os, signal, time\n"
        "from tautline.cli import main\n"
        "importing = builtins.__import__\n"
        "def heard(name, *others):\n"
        "    if name == 'typer':\n"
        "        os.kill(os.getpid(), signal.SIGINT)\n"
        "        time.sleep(60.0)\n"
        "    return importing(name, *others)\n"
        "builtins.__import__ = heard\n"
        "main()"
    )
    home = {**os.environ, "PYTHONPATH": str(Path(str(tl.__file__)).parents[1])}
    done = subprocess.run([sys.executable, "-c", code], cwd=tmp_path, env=home, capture_output=True, check=False)
    assert done.returncode == 130 and done.stdout == done.stderr == b""
