"""`tautline fit`: what it prints and writes, and what is refused."""

from __future__ import annotations

import json
import re
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner, Result

import tautline as tl
from tautline.cli.commands import app
from tautline.gradients.keys import key_value
from tautline.model.picture.inputs import unit_in_words
from tautline.quantities import between, value
from tests.support.measured import START, TRUTH, measured, small_case, write_csv

VARY = ",".join(TRUTH)


def fit(*arguments: object) -> Result:
    return CliRunner().invoke(app, ["fit", *map(str, arguments)])


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A scenario with wrong values, and data."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "ball.toml").write_text(small_case().with_(START).to_toml(), encoding="utf-8")
    write_csv(measured(small_case()), tmp_path / "data.csv")
    return tmp_path


def test_table_scenario_and_page(here: Path) -> None:
    done = fit("ball.toml", "data.csv", "--vary", VARY, "--project", "Rig <3>")
    assert done.exit_code == 0, done.output
    found = tl.fit(tl.load(here / "ball.toml"), here / "data.csv", list(TRUTH))
    assert done.stdout.rstrip().splitlines() == [
        *str(found).splitlines(),
        "ball-fit/fitted.toml",
        "ball-fit/report.html",
    ]
    case = tl.load(here / "ball-fit" / "fitted.toml")
    assert case.to_dict() == found.case.to_dict()
    assert abs(key_value(case, "body.mass") - TRUTH["body.mass"]) < 3.0 * found.standard_errors["body.mass"]
    text = (here / "ball-fit" / "report.html").read_text(encoding="utf-8")
    assert "<title>Ball</title>" in text and text.count('<img src="data:image/png;base64,') == len(found.columns)
    for key, found_value in found.values.items():
        (cells,) = re.findall(rf"<tr><td>{re.escape(key)}</td>(.*?)</tr>", text[: text.index("Correlations")])
        low, high = found.intervals()[key]
        unit = unit_in_words(found.units[key])
        assert low < found_value < high and between(low, high, unit, 6) in cells
        assert value(found.starts[key], unit) in cells
    assert "data.csv" in text and "<dd>Rig &lt;3&gt;</dd>" in text and 'class="verdict yes"' in text and "<svg" in text
    for name, row in zip(found.values, found.correlations, strict=True):
        assert f"<tr><td>{name}</td>" + "".join(f"<td>{x:.3f}</td>" for x in row) + "</tr>" in text
    x = found.columns["start_tension"]
    largest = np.max(np.abs(x.residuals))
    cells = (
        "start_tension",
        "101",
        value(x.rms, "N", 3),
        value(largest, "N", 3),
        f"{value(x.sigma, 'N', 3)} (estimated)",
    )
    assert "<tr>" + "".join(f"<td>{cell}</td>" for cell in cells) + "</tr>" in text
    assert not re.search(r"(?:src|href)=\"(?!data:)|url\(|https?:|<script|<link|\bnan\b", text)


@pytest.mark.long
def test_options_and_json(here: Path) -> None:
    write_csv(measured(small_case(), delay=0.02), here / "late.csv")
    arguments = [
        "ball.toml",
        "late.csv",
        "--vary",
        "string.stiffness, body.mass",
        "--bounds",
        "string.stiffness=0.1 kN:0.3 kN",
    ]
    arguments += ["--offset-bounds", "-50 ms:0.05", "--set", "string.viscosity=2", "--set", "fluid.drag_area=0.5"]
    arguments += ["--sigma", "start_tension=0.3 N", "--sigma", "position[-1,x]=1 cm", "--loss", "huber", "-o", "out"]
    done = fit(*arguments, "--json")
    assert done.exit_code == 0, done.output
    found = json.loads(done.stdout)
    assert found["status"] == "completed" and found["files"] == ["out/fitted.toml", "out/report.html"]
    for key, true in {"string.stiffness": 200.0, "body.mass": 1.0, "offset": 0.02}.items():
        assert abs(found["values"][key] - true) < 3.0 * found["standard_errors"][key]
    assert found["residuals"]["position[-1,x]"]["noise"] == 0.01
    text = (here / "out" / "report.html").read_text(encoding="utf-8")
    assert f"chi-square {found['chi_square']:.5g} with {found['degrees_of_freedom']} degrees of freedom" in text
    assert fit(*arguments, "--overwrite", "--quiet").output == ""


def test_columns_with_other_names_and_an_offset(here: Path) -> None:
    data = measured(small_case())
    renamed = {"time": data["time"], "F1": data["start_tension"], "temperature": data["time"]}
    write_csv(renamed, here / "logger.csv", {"time": "s", "F1": "N", "temperature": "degC"})
    done = fit("ball.toml", "logger.csv", "--vary", "body.mass", "--column", "F1=start_tension", "--offset", "--json")
    assert done.exit_code == 0, done.output
    assert list(json.loads(done.stdout)["residuals"]) == ["F1"]
    assert "offset" in json.loads(done.stdout)["values"]


@pytest.mark.parametrize(
    ("arguments", "code", "words"),
    [
        (("ball.toml", "data.csv", "--vary", "command.kind"), 2, "vary command.kind: expected a key with a number"),
        (("ball.toml", "data.csv", "--vary", ","), 2, "vary: expected keys of the case"),
        (("ball.toml", "none.csv", "--vary", "gravity"), 2, "none.csv: cannot be read"),
        (("none.toml", "data.csv", "--vary", "gravity"), 2, "none.toml"),
        (("ball.toml", "data.csv", "--vary", "gravity", "--bounds", "gravity=1"), 2, "gravity 1: expected LOW:HIGH"),
        (("ball.toml", "data.csv", "--vary", "gravity", "--bounds", "gravity"), 2, "expected NAME=VALUE"),
        (("ball.toml", "data.csv", "--vary", "gravity", "--bounds", "body.mass=1:2"), 2, "expected a key of --vary"),
        (("ball.toml", "data.csv", "--vary", "gravity", "--column", "F1"), 2, "columns: expected columns of the data"),
        (("ball.toml", "data.csv", "--vary", "gravity", "-o", "data.csv"), 4, "data.csv: is a file, expected"),
    ],
)
def test_what_is_refused(arguments: tuple[str, ...], code: int, words: str, here: Path) -> None:
    before = sorted(here.iterdir())
    done = fit(*arguments)
    assert done.exit_code == code and words in done.stderr, (done.exit_code, done.stderr)
    assert done.stderr.startswith("error: ") and done.stderr.count("\n") == 1
    assert sorted(here.iterdir()) == before


def test_files_that_are_there_are_kept(here: Path) -> None:
    (here / "ball-fit").mkdir()
    (here / "ball-fit" / "fitted.toml").write_text("mine", encoding="utf-8")
    done = fit("ball.toml", "data.csv", "--vary", "body.mass")
    assert done.exit_code == 4 and "fitted.toml: exists already; allow overwriting with --overwrite" in done.stderr
    assert (here / "ball-fit" / "fitted.toml").read_text(encoding="utf-8") == "mine"
    done = fit("ball.toml", "data.csv", "--vary", "body.mas")
    assert done.exit_code == 2 and "no such key; did you mean 'mass'" in done.stderr
