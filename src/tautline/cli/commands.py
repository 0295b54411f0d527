"""All commands; the imports add them, in the order of the help."""

from __future__ import annotations

# isort: off
from tautline.cli.app import app
from tautline.cli import running, scenarios, reading, plotting, fitting, proving, studying, optimizing, viewing

__all__ = [
    "app",
    "fitting",
    "optimizing",
    "plotting",
    "proving",
    "reading",
    "running",
    "scenarios",
    "studying",
    "viewing",
]
