"""The command `tautline`. Commands import what they need when they run, so that --help is quick."""

from __future__ import annotations

import io
import sys
import warnings

from tautline.errors import TautlineWarning
from tautline.extras import MissingLibraryError, need


def main() -> None:
    """Run the command line; Ctrl-C ends it without a word also before a command has begun."""
    try:
        _run()
    except KeyboardInterrupt:
        sys.exit(130)


def _run() -> None:
    """Run the command line; without the extra [cli] only a sentence says how to get it."""
    for stream in (sys.stdout, sys.stderr):  # a name may have letters that the terminal's encoding lacks
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")
    warnings.simplefilter("ignore", TautlineWarning)  # commands print the warnings on a run themselves
    try:
        commands = need("tautline.cli.commands", "tautline")
    except MissingLibraryError as error:
        print(f"error: {error}", file=sys.stderr)
        sys.exit(2)
    commands.app()
