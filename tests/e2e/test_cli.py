"""The command `tautline`, as a user runs it."""

from __future__ import annotations

import csv
import json
import os
import pty
import re
import select
import signal
import subprocess
import sys
import time
import xml.etree.ElementTree as ElementTree
from pathlib import Path

import numpy as np
import pytest
from fmpy import read_model_description
from fmpy.validation import validate_fmu
from PIL import Image
from rich.markup import render
from typer.main import get_command
from typer.testing import CliRunner

import tautline as tl
from tautline.cli.commands import app
from tests.support.commands import COMMAND, tautline

SHORT = ["--set", "run.duration=0.2"]


def test_the_installed_command(tmp_path: Path) -> None:
    done = subprocess.run([COMMAND, "--version"], cwd=tmp_path, capture_output=True, text=True, check=True)
    assert done.stdout == f"tautline {tl.__version__}\n"


def test_run_info_and_resume(tmp_path: Path) -> None:
    done = tautline("run", "retrieval", *SHORT, cwd=tmp_path)
    for words in ("completed", "energy balance error", "angular momentum drift", "strain", "tension", "steps a second"):
        assert words in done.stdout
    run = tl.open_run(tmp_path / "retrieval.nc")
    assert run.attrs["title"] == "Retrieval"
    assert json.loads(run.attrs["case"])["run"]["duration"] == 0.2
    assert "completed" in tautline("info", "retrieval.nc", cwd=tmp_path).stdout
    assert "completed" in tautline("resume", "retrieval.nc", cwd=tmp_path).stdout
    assert "exists already" in tautline("run", "retrieval", *SHORT, cwd=tmp_path, expect=4).stderr
    tautline("run", "retrieval", *SHORT, "--overwrite", "--quiet", cwd=tmp_path)


def test_modes_for_scripts(tmp_path: Path) -> None:
    done = tautline("run", "fixed-length", *SHORT, "--json", "-o", "a.nc", cwd=tmp_path)
    summary = json.loads(done.stdout)
    assert summary["status"] == "completed" and summary["balance_error"] < 1e-5 and summary["file"] == "a.nc"
    assert json.loads(tautline("info", "a.nc", "--json", cwd=tmp_path).stdout)["rows"] == 21
    told = tautline("info", "a.nc", "--json", "--expr", "body_velocity.y", cwd=tmp_path).stdout
    assert " m/s at the end" in tautline("info", "a.nc", "--expr", "body_velocity.y", cwd=tmp_path).stdout
    speeds = tl.open_run(tmp_path / "a.nc").body_velocity.values[:, 0, 1]
    expected = {"range": [speeds.min(), speeds.max()], "at_end": [speeds[-1]] * 2, "unit": "m s-1"}
    assert json.loads(told)["expressions"] == {"body_velocity.y": expected}
    assert "expected" in tautline("info", "a.nc", "--expr", "body_speed", cwd=tmp_path, expect=2).stderr
    window = ("info", "a.nc", "--expr", "body_velocity.y", "--start", "0.1", "--end", "150 ms")
    assert " m/s from 0.1 s to 0.15 s, " in tautline(*window, cwd=tmp_path).stdout
    expected = {"range": [speeds[10:16].min(), speeds[10:16].max()], "at_end": [speeds[15]] * 2, "unit": "m s-1"}
    told = json.loads(tautline(*window, "--json", cwd=tmp_path).stdout)["expressions"]["body_velocity.y"]
    assert told.pop("window") == pytest.approx([0.1, 0.15]) and told == expected
    alone = tautline("info", "a.nc", "--end", "1", cwd=tmp_path, expect=2).stderr
    assert alone == "error: --end: expected together with --expr, got it alone\n"
    assert tautline("run", "fixed-length", *SHORT, "--quiet", "-o", "b.nc", cwd=tmp_path).stdout == ""
    assert "\x1b" not in tautline("info", "a.nc", "--no-color", cwd=tmp_path).stdout
    assert set(json.loads(tautline("scenarios", "--json", cwd=tmp_path).stdout)) >= {"fixed-length", "bungee", "yo-yo"}


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["run", "fixed-lenght"], "did you mean 'fixed-length'"),
        (["run", "fixed-length", "--set", "body.mass=3 s"], "body.mass"),
        (["run", "fixed-length", "--set", "run.step=1"], "stability limit"),
        (["run", "fixed-length", "--set", "nonsense"], "section.key=value"),
        (["check", "missing.toml"], "no such file"),
        (["show", "nothing"], "no such file"),
    ],
)
def test_bad_input_is_told_and_nothing_is_written(arguments: list[str], words: str, tmp_path: Path) -> None:
    assert words in tautline(*arguments, cwd=tmp_path, expect=2).stderr
    assert os.listdir(tmp_path) == []


def test_names_beyond_ascii(tmp_path: Path) -> None:
    """In files of VTK, whose text is ASCII, and in a terminal that has no other letters."""
    tautline("new", "haken.toml", "--like", "hook-and-load", cwd=tmp_path)
    text = (tmp_path / "haken.toml").read_text(encoding="utf-8")
    renamed = text.replace("bodies.load", 'bodies."kübel"').replace('end = "load"', 'end = "kübel"')
    (tmp_path / "haken.toml").write_text(renamed, encoding="utf-8")
    tautline("run", "haken.toml", *SHORT, cwd=tmp_path)
    tautline("export", "haken.nc", "--vtk", "frames", "--csv", "a.csv", cwd=tmp_path)
    for file in (tmp_path / "frames").rglob("*.vt?"):
        ElementTree.parse(file)
    assert "kübel" in (tmp_path / "a.csv").read_text(encoding="utf-8")
    plain = {**os.environ, "LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}
    done = subprocess.run([COMMAND, "check", "haken.toml"], cwd=tmp_path, env=plain, capture_output=True, check=True)
    assert rb"k\xfcbel" in done.stdout
    too_long = f"{'x' * 260}.png"
    assert "error:" in tautline("plot", "haken.nc", "--figure", "energy", "-o", too_long, cwd=tmp_path, expect=4).stderr


def test_new_check_show_schema(tmp_path: Path) -> None:
    tautline("new", "my.toml", "--like", "crane-hoist", cwd=tmp_path)
    assert "exists already" in tautline("new", "my.toml", cwd=tmp_path, expect=4).stderr
    assert "good" in tautline("check", "my.toml", cwd=tmp_path).stdout
    assert json.loads(tautline("check", "my.toml", "--json", cwd=tmp_path).stdout)["elements"] == {"line": 12}
    assert "title" in json.loads(tautline("schema", cwd=tmp_path).stdout)["else"]["properties"]
    tautline("run", "my.toml", "--set", "run.duration=0.5", cwd=tmp_path)


def test_check_warns_in_place_of_good(tmp_path: Path) -> None:
    """A stiffness whose prefix was forgotten, on the page and as JSON; it is no error."""
    soft = ["crane-hoist", "--set", "string.stiffness=5.5"]
    told = tautline("check", *soft, cwd=tmp_path).stdout
    assert told.startswith("crane-hoist: valid, with 1 warning\nwarning") and "good" not in told
    found = json.loads(tautline("check", *soft, "--json", cwd=tmp_path).stdout)
    assert [(x["kind"], x["where"], x["limit"]) for x in found["warnings"]] == [("strain", "line", 0.5)]
    assert found["warnings"][0]["value"] == found["lines"]["line"]["strain"] > 1000.0
    assert found["drives"]["line"]["max_torque"] is None and len(found["notes"]) == 1


def test_export(tmp_path: Path) -> None:
    tautline("run", "fixed-length", *SHORT, cwd=tmp_path)
    assert "got none" in tautline("export", "fixed-length.nc", cwd=tmp_path, expect=2).stderr
    tautline("export", "fixed-length.nc", "--csv", "a.csv", "--vtk", "frames", cwd=tmp_path)
    run = tl.open_run(tmp_path / "fixed-length.nc")
    with (tmp_path / "a.csv").open() as file:
        names, units, *rows = csv.reader(file)
    assert len(names) == len(units) == len(rows[0]) and len(rows) == 21
    column = names.index("position[20,z]")
    assert units[column] == "m"
    assert [float(row[column]) for row in rows] == run.position.values[:, 20, 2].tolist()
    series = ElementTree.parse(tmp_path / "frames" / "line.pvd").getroot()
    entries = series.findall(".//DataSet")
    assert [float(e.attrib["timestep"]) for e in entries] == run.time.values.tolist()
    frame = ElementTree.parse(tmp_path / "frames" / entries[-1].attrib["file"]).getroot()
    arrays = {a.attrib.get("Name", "points"): np.fromstring(a.text or "", sep=" ") for a in frame.iter("DataArray")}
    np.testing.assert_allclose(arrays["tension"], run.tension.values[-1], rtol=1e-8)
    np.testing.assert_allclose(arrays["points"].reshape(-1, 3), run.position.values[-1], rtol=1e-8, atol=1e-12)
    assert "exists already" in tautline("export", "fixed-length.nc", "--csv", "a.csv", cwd=tmp_path, expect=4).stderr


def test_export_of_an_fmu(tmp_path: Path) -> None:
    """Version of the standard, inputs of reels and sheaves, bodies that are moved."""
    told = tautline("export", "crane-hoist", *("--fmu", "a.fmu", "--fmi", "3", "--velocity", "line"), cwd=tmp_path)
    assert "FMI 3.0" in told.stdout and "lines.line.command.torque" in told.stdout
    assert "bodies.guide.command.velocity" in told.stdout
    assert validate_fmu(str(tmp_path / "a.fmu")) == []
    assert read_model_description(str(tmp_path / "a.fmu")).fmiVersion == "3.0"
    commands = ("--command", "hoist=speed", "--command", "hoist.lower=torque")
    told = tautline("export", "hook-block-2", "--fmu", "b.fmu", *commands, cwd=tmp_path)
    assert "FMI 2.0" in told.stdout and "lines.hoist.command.payout" in told.stdout
    names = {x.name for x in read_model_description(str(tmp_path / "b.fmu")).modelVariables}
    assert "lines.hoist.over.lower.command.torque" in names and "lines.hoist.command.length" not in names
    for wrong, sentence in (
        (("--command", "line"), "expected LINE=torque, LINE=speed"),
        (
            ("--command", "line=fast"),
            "expected one of 'torque', 'speed', 'length', 'case', got 'fast'",
        ),
        (("--velocity", "x"), "expected names of kinematic bodies or lines (line), got 'x'"),
        (("--fmi", "4"), "Invalid value for '--fmi'"),
    ):
        refused = tautline("export", "crane-hoist", "--fmu", "c.fmu", *wrong, cwd=tmp_path, expect=2)
        assert sentence in " ".join(refused.stderr.split())
    assert not (tmp_path / "c.fmu").exists()


def test_animations_and_json_of_files(tmp_path: Path) -> None:
    told = tautline("run", "fixed-length", *SHORT, cwd=tmp_path).stdout
    assert "look at it: tautline view fixed-length.nc" in told
    made = tautline("export", "fixed-length.nc", *("--gif", "a.gif", "--frames", "3", "--json"), cwd=tmp_path)
    assert json.loads(made.stdout) == {"files": ["a.gif"]}
    with Image.open(tmp_path / "a.gif") as picture:
        assert getattr(picture, "n_frames", 1) == 3
    wrong = tautline("export", "fixed-length.nc", "--gif", "a.mp4", cwd=tmp_path, expect=2).stderr
    assert "a.mp4: expected a name that ends in .gif" in wrong
    drawn = tautline("plot", "fixed-length.nc", "--figure", "energy", "--json", cwd=tmp_path)
    assert json.loads(drawn.stdout) == {"files": ["fixed-length-energy.png"]}
    page = tautline("report", "fixed-length.nc", "--json", cwd=tmp_path)
    assert json.loads(page.stdout) == {"files": ["fixed-length-report.html"]}


@pytest.mark.parametrize(
    ("words", "found", "others"),
    [
        ("run crane-h", ["crane-hoist"], []),
        ("view crane-h", ["crane-hoist"], []),
        ("plot run.nc --figure str", ["strain_map"], []),
        ("run crane-hoist --overwrite --set string.s", ["string.stiffness="], ["string.start="]),
        ("run crane-hoist --set run.", ["run.step="], []),
        ("run no-such --set s", [], ["string.stiffness="]),
        ("view hook-and-load --set lines.hoist.s", ["lines.hoist.stiffness="], []),
        ("check lift-brake --set command.brake.t", ["command.brake.torque="], []),
        ("live hook-and-load --set lines.hoist.reel.dr", ["lines.hoist.reel.drum_radius="], []),
    ],
)
def test_a_shell_completes(words: str, found: list[str], others: list[str]) -> None:
    """By the question that a shell asks, which knows the words before the one that is typed."""
    asked = {"_TAUTLINE_COMPLETE": "complete_bash", "COMP_WORDS": f"tautline {words}"}
    asked["COMP_CWORD"] = str(len(words.split()))
    answer = CliRunner().invoke(app, env=asked, prog_name="tautline").stdout.split()
    assert set(found) <= set(answer) and not set(others) & set(answer)


def test_python_runs_the_command(tmp_path: Path) -> None:
    done = subprocess.run([sys.executable, "-m", "tautline", "--version"], cwd=tmp_path, capture_output=True, text=True)
    assert done.stdout == tautline("--version", cwd=tmp_path).stdout != ""


def test_doctor(tmp_path: Path) -> None:
    facts = json.loads(tautline("doctor", "--json", cwd=tmp_path).stdout)
    assert Path(facts["C library"]).parent == Path(facts["C header"]).parent
    assert "tl_march" in Path(facts["C header"]).read_text(encoding="utf-8")
    assert facts["self-test"] == "passed"


def test_brackets_in_help_are_no_markup() -> None:
    """What stands in brackets is printed, and not taken for a style."""
    commands = [get_command(app)]
    for command in commands:
        commands += getattr(command, "commands", {}).values()
    texts = [text for command in commands for x in command.params if (text := getattr(x, "help", None))]
    assert len(commands) > 15 and any("\\[" in text for text in texts)
    for text in texts:
        assert render(text).plain == text.replace("\\[", "["), text


@pytest.mark.parametrize("command", ["", "run", "resume", "check", "export", "new", "study run"])
def test_help_has_an_example_and_flags_have_no_value(command: str, tmp_path: Path) -> None:
    done = tautline(*command.split(), "--help", cwd=tmp_path)
    assert re.search("Example|check a scenario", done.stdout, re.IGNORECASE)
    assert "--help" in done.stdout and "bool" not in done.stdout


LONG = ["--set", "run.duration=40000", "--set", "run.sample=1"]


def wait_for_rows(path: Path, more_than: int) -> None:
    """Until a run in progress has written so much; the file can be read meanwhile."""
    deadline = time.monotonic() + 120.0
    while not path.exists() or tl.open_run(path).sizes["time"] <= more_than:
        assert time.monotonic() < deadline, "the run does not get on"
        time.sleep(0.2)


def test_control_c_saves_and_can_be_resumed(tmp_path: Path) -> None:
    process = subprocess.Popen(
        [COMMAND, "run", "fixed-length", *LONG], cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    path = tmp_path / "fixed-length.nc"
    wait_for_rows(path, 1)
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=60)
    assert process.returncode == 130, out + err
    assert "unfinished" in out and "tautline resume fixed-length.nc" in out
    before = tl.open_run(path).sizes["time"]
    assert 1 < before < 40001
    second = subprocess.Popen(
        [COMMAND, "resume", "fixed-length.nc", "--json"], cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )
    wait_for_rows(path, before)
    second.send_signal(signal.SIGINT)
    second.communicate(timeout=60)
    assert second.returncode == 130
    assert tl.open_run(path).sizes["time"] > before


def test_progress_bar_in_a_terminal(tmp_path: Path) -> None:
    """In a pseudo-terminal: simulated time, speed, time left, error of the energy balance."""
    master, slave = pty.openpty()
    environment = os.environ | {"TERM": "xterm-256color", "COLUMNS": "140"}
    process = subprocess.Popen(
        [COMMAND, "run", "fixed-length", "--set", "run.duration=3000", "--set", "run.sample=1"],
        cwd=tmp_path,
        stdin=slave,
        stdout=slave,
        stderr=slave,
        env=environment,
    )
    os.close(slave)
    seen = b""
    deadline = time.monotonic() + 90.0
    while time.monotonic() < deadline:
        ready, _, _ = select.select([master], [], [], 0.5)
        if ready:
            try:
                piece = os.read(master, 65536)
            except OSError:  # the other side is closed
                break
            if not piece:
                break
            seen += piece
        elif process.poll() is not None:
            break
    os.close(master)
    assert process.wait(timeout=30) == 0
    text = re.sub(r"\x1b\[[\d;?]*[A-Za-z]", "", seen.decode(errors="replace"))
    for words in ("of 3000 s", "completed"):
        assert words in text
    for number in (r"balance error\s+(\S+) %", r"(\S+) x real time"):
        *_, last, told = re.findall(number, text)
        assert last.strip("(") == told.strip("("), "the bar ends with the numbers of the summary"


def test_export_never_destroys_what_it_reads(tmp_path: Path) -> None:
    tautline("run", "fixed-length", *SHORT, cwd=tmp_path)
    before = (tmp_path / "fixed-length.nc").read_bytes()
    done = tautline("export", "fixed-length.nc", "--csv", "fixed-length.nc", "--overwrite", cwd=tmp_path, expect=2)
    assert "another file" in done.stderr
    assert (tmp_path / "fixed-length.nc").read_bytes() == before
    (tmp_path / "good.csv").write_text("good")
    tautline("export", "missing.nc", "--csv", "good.csv", "--overwrite", cwd=tmp_path, expect=4)
    assert (tmp_path / "good.csv").read_text() == "good"
