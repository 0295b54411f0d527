"""The code in the README and the docs runs as it stands."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tautline.scenario import parse

ROOT = Path(__file__).parents[2]


def blocks(page: str, language: str) -> list[str]:
    text = (ROOT / page).read_text(encoding="utf-8")
    found = re.findall(rf"```{language}\n(.*?)```", text, flags=re.DOTALL)
    assert found, f"{page} has no code"
    return found


@pytest.mark.parametrize("page", ["README.md", "docs/runs.md"])
def test_python_runs(
    page: str, capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    for code in blocks(page, "python"):
        exec(compile(code, page, "exec"), {})
        assert "completed" in capsys.readouterr().out


def test_scenario_is_good() -> None:
    for text in blocks("docs/scenarios.md", "toml"):
        parse(text).build()
