"""`tautline report`: what the page says first, that it needs nothing but itself, and what is refused."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

import pytest
import xarray as xr
from typer.testing import CliRunner, Result

import tautline as tl
from tautline.cli.commands import app
from tautline.errors import InputError
from tautline.quantities import value
from tautline.results.warnings import encoded
from tests.support.browser import print_by_browser
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


@pytest.fixture
def without_pictures(monkeypatch: pytest.MonkeyPatch) -> None:
    """Pages of words alone, for what looks at nothing else: drawing takes a second a page."""
    monkeypatch.setattr("tautline.figures.report._pictures", lambda *_, **__: "")


words_alone = pytest.mark.usefixtures("without_pictures")


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
    texts = [w.text for w in tl.warnings_of(tl.open_run(bungee))]
    # peaks that are not converged prove nothing
    assert f'class="verdict unsure"><b>Not proven that the rope {verdict}' in text and 'class="verdict yes"' not in text
    assert ", but there are warnings about its numbers.</b>" in text
    assert texts and all(text.index(x) < text.index("Key figures") for x in texts)
    found = rows(text)
    assert found["largest tension"] == f"{value(use.tension, 'N')} at the guide, at {use.time:.4g} s"
    assert found["utilization"] == f"{100 * use.utilization:.3g} % of 5 kN"
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
    assert found["motor, driving"].startswith(
        f"{value(motor.driving_energy, 'J')}, at most {value(motor.peak_power, 'W')} at"
    )
    assert found["slack"] == "never" and found["utilization"] == "unknown"
    assert "give the kind of rope" in found["fatigue damage"]


def verdict_of(text: str) -> tuple[str, str]:
    """Class and words of the first paragraph."""
    found = re.search(r'<p class="verdict (\w*)"><b>(.*?)</b>', text)
    assert found is not None
    return found[1], found[2]


@words_alone
def test_a_verdict_depends_on_warnings_and_on_the_end(here: Path) -> None:
    """The same rope at rest: without a warning (its rounding is no peak), with one, and ended by its string."""
    strong = {"run.duration": "1 s", "string.breaking_load": "100 kN", "command": {"kind": "locked"}}
    hoist = tl.simulate(tl.load("crane-hoist", strong))
    assert hoist.attrs["status"] == "completed" and not tl.warnings_of(hoist)

    def verdict(**attrs: str) -> tuple[str, str]:
        changed = hoist.assign_attrs(attrs)
        return verdict_of(tl.report(changed, here / "x.html").read_text(encoding="utf-8"))

    kind, sentence = verdict()
    assert kind == "yes" and re.match(
        r"The rope holds: [\d.]+ % of its breaking load at most, a safety factor of [\d.]+\.$", sentence
    )
    kind, sentence = verdict(warnings=encoded([tl.RunWarning("mesh_noise", "peak tensions are not converged")]))
    assert kind == "unsure" and sentence.startswith("Not proven that the rope holds: ")
    assert sentence.endswith(", but there are warnings about its numbers.")
    kind, sentence = verdict(
        status="fully_retrieved", warnings=encoded([tl.RunWarning("mesh", "one"), tl.RunWarning("step", "two")])
    )
    assert kind == "unsure"
    assert sentence.endswith(", but the run ended early (fully retrieved) and there are warnings about its numbers.")


@words_alone
def test_a_required_safety_factor(here: Path) -> None:
    """The same rope with a factor that it has, one that it lacks, with warnings, and without a breaking load."""
    strong = {"run.duration": "1 s", "string.breaking_load": "100 kN", "command": {"kind": "locked"}}
    hoist = tl.simulate(tl.load("crane-hoist", strong))
    factor = 1.0 / tl.analysis.utilization(hoist).utilization

    def verdict(required: float, run: xr.Dataset = hoist) -> tuple[str, str]:
        return verdict_of(tl.report(run, here / "x.html", safety_factor=required).read_text(encoding="utf-8"))

    kind, sentence = verdict(5.0)
    assert kind == "yes" and sentence.startswith("The rope holds with the required safety factor of 5: ")
    other = tl.report(hoist, here / "y.html", breaking_load="80 kN").read_text(encoding="utf-8")
    found = rows(other)["utilization"]
    assert found.endswith("% of 80 kN, given for this report in place of the 100 kN of the inputs")
    kind, sentence = verdict(1.01 * factor)
    assert kind == "no" and re.match(
        r"The rope is not safe enough: [\d.]+ % of its breaking load at most, a safety factor of [\d.]+, where "
        r"[\d.]+ is required\.$",
        sentence,
    )
    doubtful = hoist.assign_attrs(warnings=encoded([tl.RunWarning("mesh_noise", "peaks are not converged")]))
    assert verdict(5.0, doubtful)[0] == "unsure" and verdict(1.01 * factor, doubtful)[0] == "no"
    unknown = tl.simulate(tl.load("crane-hoist", {"run.duration": "1 s"}))
    kind, sentence = verdict(5.0, unknown)
    assert kind == "" and "is not known, and so not with a safety factor of 5" in sentence
    with pytest.raises(InputError, match="safety_factor: expected a positive finite number"):
        verdict(0.0)


def test_the_head_names_what_was_computed(bungee: Path, here: Path) -> None:
    """Title, project, file and version; sketch, inputs in engineering units, mesh and step, open on paper too."""
    assert report(bungee, "--title", "Jump <7>", "--project", "Bridge & Sons").exit_code == 0
    text = (here / "jump-report.html").read_text(encoding="utf-8")
    head = text[text.index("<header>") : text.index("</header>")]
    for words in ("Jump &lt;7&gt;", "Bridge &amp; Sons", "jump.nc", f"tautline {tl.__version__}"):
        assert words in head
    assert re.search(r"<dt>date</dt><dd>\d{4}-\d\d-\d\d</dd>", head)
    assert text.index("</header>") < text.index('class="verdict') < text.index("<svg") < text.index("Inputs</h2>")
    visible = re.sub(r"<details.*?</details>", "", text, flags=re.DOTALL)
    found = rows(visible)
    assert found["breaking load"] == "5 kN" and found["mesh"] == "16 elements"
    assert found["scheme"] == "symmetric, order 4, variational"
    assert 'content: "Jump  7> · Bridge & Sons · ' in text  # at the foot of every printed page


def test_the_largest_tension_is_one_number(here: Path) -> None:
    """In the table and in the figure, where it is inside the line and not at an end."""
    run = tl.simulate(tl.load("retrieval", {"run.duration": "9 s"}))
    use = tl.analysis.utilization(run, breaking_load=100.0)
    text = tl.report(run, here / "x.html", breaking_load=100.0).read_text(encoding="utf-8")
    assert rows(text)["largest tension"].startswith(value(use.tension, "N"))
    labels = [x.get_label() for x in tl.figures.tension(run).axes[0].get_lines()]
    assert sum(str(label).startswith(f"largest, {value(use.tension, 'N')} ") for label in labels) == 1


def test_a_report_on_paper(bungee: Path, here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A PDF of a few full pages, beside the page."""
    print_by_browser(monkeypatch)
    done = report(bungee, "--pdf", "jump.pdf")
    assert (done.exit_code, done.output) == (0, "jump-report.html\njump.pdf\n"), done.stderr
    printed = (here / "jump.pdf").read_bytes()
    assert printed.startswith(b"%PDF-") and 3 <= len(re.findall(rb"/Type\s*/Page\b", printed)) <= 6
    done = report(bungee, "--pdf", "jump.pdf", "-o", "other.html")
    assert done.exit_code == 4 and "jump.pdf: exists already" in done.stderr


def test_no_browser_to_print(bungee: Path, here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It is refused before anything is computed, with what would help."""
    monkeypatch.setenv("PATH", str(here))
    monkeypatch.delenv("TAUTLINE_BROWSER", raising=False)
    done = report(bungee, "--pdf", "jump.pdf")
    assert done.exit_code == 2 and not list(here.iterdir())
    assert done.stderr.startswith("error: pdf: needs Chromium or Chrome, found none; install one")
    monkeypatch.setenv("TAUTLINE_BROWSER", "nothing")
    assert "expected the path of Chromium or Chrome, got 'nothing'" in report(bungee, "--pdf", "jump.pdf").stderr


@words_alone
def test_a_rope_that_would_break(bungee: Path, here: Path) -> None:
    assert report(bungee, "--breaking-load", "1 kN", "-o", "x.html", "--quiet").output == ""
    text = (here / "x.html").read_text(encoding="utf-8")
    assert verdict_of(text)[0] == "no" and verdict_of(text)[1].startswith("The rope would break: ")


def test_unfinished_runs(here: Path) -> None:
    run = written_run(here / "begun.nc", watch=lambda progress: True)
    assert tl.open_run(run).attrs["status"] == "unfinished"
    done = report(run, "--breaking-load", 50, "--exponent", 3, "--constant", 1000)
    assert done.exit_code == 0, done.output
    text = (here / "begun-report.html").read_text(encoding="utf-8")
    assert "he rope " in text and text.count("<figure>") == PICTURES


@words_alone
def test_what_is_refused(bungee: Path, run_file: Path, here: Path) -> None:
    run = here / "run.nc"
    shutil.copy(run_file, run)
    for arguments, code, words in (
        ((run, "--rope", "six_strand"), 2, "the run has no breaking load; give one here, breaking_load='50 kN'"),
        ((bungee, "--rope", "hemp"), 2, "rope: expected one of 'six_strand', 'spiral_strand'"),
        ((bungee, "--exponent", 3), 2, "rope: expected one of"),
        ((bungee, "--breaking-load", "5 kg"), 2, "breaking_load: expected a force"),
        ((run, "-o", run), 2, "expected another file than the one that is read"),
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
