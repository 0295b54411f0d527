"""The command `tautline`. Commands import what they need when they run, so that --help is quick."""

from __future__ import annotations

from tautline.cli.app import app


def main() -> None:
    app()
