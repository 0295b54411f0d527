"""The command `tautline`. Commands import what they need when they run, so that --help is quick."""

from __future__ import annotations

from tautline.cli import viewing  # adds its commands
from tautline.cli.app import app

__all__ = ["app", "main", "viewing"]


def main() -> None:
    app()
