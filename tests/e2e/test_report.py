"""`tautline report`: what the page says first, that it needs nothing but itself, and what is refused."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

import tautline as tl
from tautline.cli.commands import app
from tests.support.written import written_run

PICTURES = 5


def report(*arguments: object) -> Result:
    return CliRunner().invoke(app, ["report", *map(str, arguments)])


@pytest.fixture(scope="module")
def bungee(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("runs") / "jump.nc"
    # without damping and on a coarse mesh: peaks are not converged, which the page has to say
    coarse = {"string.damping_ratio": 0, "run.elements": 16, "run.order": 4}
    case = tl.load("bungee", {"string.breaking_load": "5 kN", "run.duration": "8 s", **coarse})
    tl.run_to_file(path, case)
    return path


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def rows(text: str) -> dict[str, str]:
    """Key figures of a page."""
    return dict(re.findall(r"<tr><td>([^<]*)</td><td>([^<]*)</td></tr>", text))


def test_the_page_says_what_the_functions_say(bungee: Path, here: Path) -> None:
    done = report(bungee, "--rope", "six_strand")
    assert (done.exit_code, done.output) == (0, "jump-report.html\n")
    text = (here / "jump-report.html").read_text(encoding="utf-8")
    use, damage = tl.analysis.utilization(bungee), tl.analysis.damage(bungee, "six_strand")
    verdict = f"holds: {100 * use.utilization:.3g} % of its breaking load at most, a safety factor of "
    assert text.index(verdict + f"{1 / use.utilization:.3g}") < text.index("completed at t = 8 s")
    remarks = tl.open_run(bungee).attrs["remarks"].splitlines()
    # peaks that are not converged prove nothing
    assert f'class="unsure"><b>Not proven that the rope {verdict}' in text and 'class="yes"' not in text
    assert ", but there are warnings about its numbers.</b>" in text
    assert remarks and all(text.index(remark) < text.index("Key figures") for remark in remarks)
    found = rows(text)
    assert found["largest tension"] == f"{use.tension:.4g} N at the guide, at {use.time:.4g} s"
    assert found["utilization"] == f"{100 * use.utilization:.3g} % of 5000 N"
    assert found["fatigue damage"].startswith(f"{damage.damage:.3g} in this run, {damage.life / 3600:.3g} hours")
    events = tl.analysis.slack_events(bungee)
    assert found["slack"].startswith(f"{events.sizes['event']} events, {events.attrs['slack_time']:.3g} s together")
    assert text.count('<img src="data:image/png;base64,') == PICTURES
    assert not re.search(r"(?:src|href)=\"(?!data:)|url\(|https?:|<script|<link", text)
    assert not re.search(r"\bnan\b|\binf\b", text)


def test_energy_of_a_hoist_and_a_rope_without_a_breaking_load(here: Path) -> None:
    run = tl.simulate(tl.load("crane-hoist", {"run.duration": "2 s"}))
    text = tl.report(run, here / "hoist.html", title="Lift <1>").read_text(encoding="utf-8")
    assert "<title>Lift &lt;1&gt;</title>" in text
    assert "Whether the rope holds is not known: the run has no breaking load." in text
    found, motor = rows(text), tl.analysis.motor_energy(run)
    assert found["motor, driving"].startswith(f"{motor.driving_energy:.4g} J, at most {motor.peak_power:.4g} W at")
    assert found["slack"] == "never" and found["utilization"] == "unknown"
    assert "give the kind of rope" in found["fatigue damage"]


def verdict_of(text: str) -> tuple[str, str]:
    """Class and words of the first paragraph."""
    found = re.search(r'<p class="(\w*)"><b>(.*?)</b>', text)
    assert found is not None
    return found[1], found[2]


def test_a_verdict_depends_on_warnings_and_on_the_end(here: Path) -> None:
    """The same rope at rest: without a warning (its rounding is no peak), with one, and ended by its string."""
    strong = {"run.duration": "1 s", "string.breaking_load": "100 kN", "command": {"kind": "locked"}}
    hoist = tl.simulate(tl.load("crane-hoist", strong))
    assert hoist.attrs["status"] == "completed" and not hoist.attrs["remarks"]

    def verdict(**attrs: str) -> tuple[str, str]:
        changed = hoist.assign_attrs(attrs)
        return verdict_of(tl.report(changed, here / "x.html").read_text(encoding="utf-8"))

    kind, sentence = verdict()
    assert kind == "yes" and re.match(
        r"The rope holds: [\d.]+ % of its breaking load at most, a safety factor of [\d.]+\.$", sentence
    )
    kind, sentence = verdict(remarks="peak tensions are not converged")
    assert kind == "unsure" and sentence.startswith("Not proven that the rope holds: ")
    assert sentence.endswith(", but there are warnings about its numbers.")
    kind, sentence = verdict(status="fully_retrieved", remarks="one\ntwo")
    assert kind == "unsure"
    assert sentence.endswith(", but the run ended early (fully retrieved) and there are warnings about its numbers.")


def test_a_rope_that_would_break(bungee: Path, here: Path) -> None:
    assert report(bungee, "--breaking-load", "1 kN", "-o", "x.html", "--quiet").output == ""
    text = (here / "x.html").read_text(encoding="utf-8")
    assert 'class="no"><b>The rope would break: ' in text


def test_unfinished_runs(here: Path) -> None:
    run = written_run(here / "begun.nc", watch=lambda progress: True)
    assert tl.open_run(run).attrs["status"] == "unfinished"
    done = report(run, "--breaking-load", 50, "--exponent", 3, "--constant", 1000)
    assert done.exit_code == 0, done.output
    text = (here / "begun-report.html").read_text(encoding="utf-8")
    assert "he rope " in text and text.count("<figure>") == PICTURES


def test_what_is_refused(bungee: Path, run_file: Path, here: Path) -> None:
    run = here / "run.nc"
    shutil.copy(run_file, run)
    for arguments, code, words in (
        ((run, "--rope", "six_strand"), 2, "the run has no breaking load; give one here, breaking_load='50 kN'"),
        ((bungee, "--rope", "hemp"), 2, "rope: expected one of 'six_strand', 'spiral_strand'"),
        ((bungee, "--exponent", 3), 2, "rope: expected one of"),
        ((bungee, "--breaking-load", "5 kg"), 2, "breaking_load: expected a force"),
        ((run, "-o", run), 2, "expected another file than the run itself"),
        ((here / "nothing.nc",), 4, "nothing.nc"),
        ((bungee, "-o", here), 4, "expected the name of a file"),
        ((bungee, "-o", here / "no" / "folder.html"), 4, "folder.html"),
    ):
        done = report(*arguments)
        assert done.exit_code == code and words in done.stderr, (arguments, done.exit_code, done.stderr)
        assert done.stderr.startswith("error: ") and done.stderr.count("\n") == 1
    assert report(bungee).exit_code == 0
    done = report(bungee)
    assert done.exit_code == 4 and "exists already; allow overwriting with --overwrite" in done.stderr
    assert report(bungee, "--overwrite").exit_code == 0
    assert {path.name for path in here.iterdir()} == {"run.nc", "jump-report.html"}
