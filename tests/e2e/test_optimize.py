"""`tautline optimize`: a file in, a scenario out; what is printed, exit codes, and sentences for bad files."""

from __future__ import annotations

import json
import math
import os
import signal
from pathlib import Path

import pytest
from typer.testing import CliRunner

import tautline as tl
from tautline.cli import watch
from tautline.cli.commands import app
from tautline.optimal.result import Progress
from tests.support.commands import tautline

# Linear: on a rope that goes slack the load bounces in violent trials, by which derivatives grow beyond use.
SCENARIO = """
[string]
length = "10 m"
density = "1 g/m"
stiffness = "200 kN"
law = "linear"
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
times = [0, 1.5, 3]
retrievals = [0, 0.8, 0]
[run]
duration = "3 s"
elements = 1
step = "5 ms"
sample = "0.1 s"
"""
WANTED = """
title = "Fastest"
scenario = "lift.toml"
minimize = "time"
intervals = 3
[vary]
"command.retrievals[1]" = [0, "5 m/s"]
run.duration = { least = "1 s", most = "9 s" }
[[subject_to]]
limit = "rate(reel_speed)"
least = -0.5
most = 0.5
[[subject_to]]
at_end = "unstretched_length"
value = "2.5 m"
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "lift.toml").write_text(SCENARIO)
    (tmp_path / "fast.toml").write_text(WANTED)
    return tmp_path


def test_a_file_becomes_a_scenario(folder: Path) -> None:
    done = tautline("optimize", "fast.toml", cwd=folder)
    assert "iteration    0: objective 3" in done.stderr and "completed" in done.stdout
    case = tl.load(folder / "fast-optimal.toml")
    assert case.title == "Fastest" and abs(case.run.duration - 2.0 * math.sqrt(1.5 / 0.5)) < 1e-5
    again = tautline("optimize", "fast.toml", cwd=folder, expect=4)
    assert "exists already" in again.stderr
    (folder / "warm.toml").write_text('start = "fast-optimal.toml"\n' + WANTED)
    facts = json.loads(tautline("optimize", "warm.toml", "--json", "-o", "warm-best.toml", cwd=folder).stdout)
    assert facts["status"] == "completed" and abs(facts["objective"] - case.run.duration) < 1e-5


@pytest.mark.long
def test_a_search_that_does_not_end_well(folder: Path) -> None:
    done = tautline("optimize", "fast.toml", "--iterations", "1", "--quiet", cwd=folder, expect=3)
    assert done.stdout == "" and done.stderr.startswith("not converged after 1 iterations")
    impossible = WANTED.replace("least = -0.5", "least = -0.01").replace('"9 s"', '"4 s"')
    (folder / "fast.toml").write_text(impossible)
    facts = json.loads(tautline("optimize", "fast.toml", "--json", "--overwrite", cwd=folder, expect=3).stdout)
    assert facts["status"] == "infeasible"


@pytest.mark.parametrize(
    ("before", "after", "words"),
    [
        ("minimize", "minimise", "fast.toml: minimise: no such key; did you mean 'minimize'?"),
        (
            "rate(reel_speed)",
            "rate(reel_sped)",
            "fast.toml: subject_to[0].limit: expected a variable of a run, got 'reel_sped'",
        ),
        ("command.retrievals[1]", "command.retrieval[1]", "the case has no such key"),
        ("intervals = 3", "intervals = 7", "fast.toml: times: expected"),
    ],
)
def test_bad_files_get_a_sentence(before: str, after: str, words: str, folder: Path) -> None:
    (folder / "fast.toml").write_text(WANTED.replace(before, after))
    done = tautline("optimize", "fast.toml", cwd=folder, expect=2)
    assert words in done.stderr and len(done.stderr.splitlines()) == 1 and not done.stdout
    assert not (folder / "fast-optimal.toml").exists()


@pytest.mark.parametrize("at", [0, 2])
def test_control_c_saves_the_latest_values(folder: Path, monkeypatch: pytest.MonkeyPatch, at: int) -> None:
    """From the first iteration on; before it nothing is written."""

    def interrupt(progress: Progress) -> None:
        if progress.iteration == at:
            os.kill(os.getpid(), signal.SIGINT)

    monkeypatch.setattr(watch, "print_iteration", interrupt)
    monkeypatch.chdir(folder)
    before = signal.signal(signal.SIGINT, signal.default_int_handler)  # workers of a parallel test run ignore it
    try:
        done = CliRunner().invoke(app, ["optimize", "fast.toml", "-o", "best.toml"])
    finally:
        signal.signal(signal.SIGINT, before)
    assert done.exit_code == 130
    if at:
        assert "interrupted after 2 iterations" in done.output
        assert "best.toml holds the latest values; name it as `scenario` to go on" in done.output
        assert tl.load(folder / "best.toml").run.duration != 3.0
    else:
        assert "interrupted; nothing was written" in done.output and not (folder / "best.toml").exists()
