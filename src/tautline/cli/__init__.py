"""The command `tautline`. Commands import what they need when they run, so that --help is quick."""

from __future__ import annotations

from tautline.cli import studying, viewing  # add their commands
from tautline.cli.app import app

__all__ = ["app", "main", "studying", "viewing"]


def main() -> None:
    app()
