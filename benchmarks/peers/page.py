"""A comparison that has a page of its own: its figures in JSON, and the page made of them."""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from benchmarks.peers.__main__ import RESULTS
from benchmarks.peers.environments import FOLDER

Result = dict[str, Any]
Say = Callable[[str], None]


def render(folder: Path, name: str, markdown: Callable[[Result], str]) -> str:
    """Write the page of stored figures."""
    result = json.loads((folder / f"{name}.json").read_text(encoding="utf-8"))
    text = markdown(result)
    (folder / f"{name}.md").write_text(text, encoding="utf-8")
    return text


def main(
    name: str, words: str | None, measured: Callable[[bool, Say], Result], markdown: Callable[[Result], str]
) -> None:
    """The command `python -m benchmarks.peers.NAME`.

    Parameters
    ----------
    name : str
        Of the module, and of its files.
    words : str
        What the command does.
    measured : callable
        Figures, of a quick run or a full one; gets what tells of progress.
    markdown : callable
        The page of some figures.
    """
    parser = argparse.ArgumentParser(prog=f"python -m benchmarks.peers.{name}", description=words)
    parser.add_argument("--quick", action="store_true", help="a smoke test, once all is installed")
    parser.add_argument("--render", action="store_true", help=f"only the page, from {name}.json")
    chosen = parser.parse_args()
    folder = FOLDER / "quick" if chosen.quick else RESULTS
    if not chosen.render:
        folder.mkdir(parents=True, exist_ok=True)
        result = measured(chosen.quick, lambda text: print(text, flush=True))
        (folder / f"{name}.json").write_text(json.dumps(result, indent=1) + "\n", encoding="utf-8")
    print(render(folder, name, markdown))
