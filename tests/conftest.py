"""Fixtures of all tests, and the table of figures that the verification writes."""

from __future__ import annotations

import json
import signal
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import settings

from tautline.engine.choose import NETWORK, VARIABLE
from tests.support.written import written_run

# A shell that starts tests in the background lets them, and all that they start, ignore Ctrl-C.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

# The same examples each time, so that nobody's change fails by chance; `make verify` draws new ones.
settings.register_profile("tautline", deadline=None, print_blob=True, derandomize=True)
settings.register_profile("new", deadline=None, print_blob=True)
settings.load_profile("tautline")

VERIFICATION = Path(__file__).parent / "verification"
QUICK_CASES = 1
_FIGURES: list[dict[str, Any]] = []
Report = Callable[..., None]
STUDY_FILE = Path(__file__).parent / "data" / "study.toml"


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--verification-table", default=None, help="write the measured figures to this file")


@pytest.fixture(autouse=True)
def backend(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Tests of the network run on it; a system of one line would run on the chain by itself."""
    if request.node.get_closest_marker("network"):
        monkeypatch.setenv(VARIABLE, NETWORK)


@pytest.fixture
def report(request: pytest.FixtureRequest) -> Report:
    """report(what, value, bound): put a measured figure into the verification table."""

    def add(what: str, value: float, bound: str) -> None:
        _FIGURES.append({"test": request.node.nodeid, "what": what, "value": value, "bound": bound})

    return add


@pytest.fixture(scope="session")
def run_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A finished run of 21 samples and three elements, `small.nc`."""
    return written_run(tmp_path_factory.mktemp("run") / "small.nc")


@pytest.fixture(scope="session")
def study_store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A finished study of six members, of which three are refused, `small.zarr`."""
    import tautline as tl

    path = tmp_path_factory.mktemp("study") / "small.zarr"
    tl.study(STUDY_FILE, path, workers=1)
    return path


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Take the first case of each test of the verification; `make verify` takes all."""
    seen: Counter[str] = Counter()
    for item in items:
        if VERIFICATION in item.path.parents and isinstance(item, pytest.Function):
            name = f"{item.path}::{item.originalname}"
            if seen[name] >= QUICK_CASES:
                item.add_marker(pytest.mark.long)
            seen[name] += 1


def pytest_sessionfinish(session: pytest.Session) -> None:
    """Workers of a parallel run hand their figures to the main process; that one writes the table."""
    target = session.config.getoption("--verification-table")
    if hasattr(session.config, "workeroutput"):
        session.config.workeroutput["figures"] = json.dumps(_FIGURES)
    elif target:
        _write_table(Path(target))


def pytest_testnodedown(node: Any) -> None:
    _FIGURES.extend(json.loads(getattr(node, "workeroutput", {}).get("figures", "[]")))


def pytest_terminal_summary(terminalreporter: Any, config: pytest.Config) -> None:
    """Print what was not tested, and the figures where they are asked for."""
    target = config.getoption("--verification-table")
    if target:
        terminalreporter.write_line(Path(target).read_text(encoding="utf-8"))
    skipped = Counter(str(report.longrepr[2]) for report in terminalreporter.stats.get("skipped", ()))
    if skipped:
        terminalreporter.section("NOT TESTED", yellow=True)
        for reason, count in skipped.most_common():
            terminalreporter.write_line(f"{count} test{'s' * (count > 1)}: {reason.removeprefix('Skipped: ')}")


def _write_table(path: Path) -> None:
    sections: dict[str, list[dict[str, Any]]] = {}
    for figure in sorted(_FIGURES, key=lambda f: f["test"]):
        sections.setdefault(figure["test"].split("::")[0], []).append(figure)
    lines = [
        "# What was measured",
        "",
        "Written by the verification (`make verify`); every row is a figure that a test asserted on.",
        "",
    ]
    for name, figures in sections.items():
        title = Path(name).stem.removeprefix("test_").replace("_", " ")
        lines += [f"## {title}", "", "| what | measured | asserted |", "|---|---|---|"]
        lines += [f"| {f['what']} | {f['value']:.3g} | {f['bound']} |" for f in figures]
        lines.append("")
    path.write_text("\n".join(lines), encoding="utf-8")
