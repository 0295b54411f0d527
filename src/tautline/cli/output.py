"""Output of commands: tables for people, JSON for scripts, errors in one line."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

import typer

from tautline.durable import json_text
from tautline.errors import InputError, TautlineError
from tautline.extras import needed_by

# Exit codes, documented in `tautline --help`.
BAD_INPUT, STOPPED, FILE_TROUBLE, INTERRUPTED = 2, 3, 4, 130
# Events that belong to the numbers and not to the physics.
NUMERICAL = ("unstable_step", "newton_failed", "non_finite")


@contextmanager
def one_line_errors(command: str) -> Iterator[None]:
    """Our own errors become a message and an exit code, never a traceback; so does a library that is missing."""
    try:
        with needed_by(f"tautline {command}"):
            yield
    except TautlineError as error:
        for line in str(error).splitlines():
            print(f"error: {line}", file=sys.stderr)
        raise typer.Exit(BAD_INPUT if isinstance(error, InputError) else FILE_TROUBLE) from None
    except BrokenPipeError:
        raise
    except OSError as error:  # of a file that no code above knows more about
        print(f"error: {error.filename or command}: {error.strerror or error}", file=sys.stderr)
        raise typer.Exit(FILE_TROUBLE) from None


def summary_of(path: Path) -> dict[str, Any]:
    """Status, conservation and extremes of a run file."""
    from tautline.files import runs
    from tautline.results.summary import summarize

    with closing(runs.Reader(path)) as reader:
        return summarize(reader.blocks(), reader.attrs)


def console(no_color: bool, stderr: bool = False) -> Any:
    from rich.console import Console

    # no markup: a file name may hold brackets
    return Console(no_color=no_color, stderr=stderr, highlight=False, markup=False)


def print_rows(rows: dict[str, str], no_color: bool, whole_names: bool = False) -> None:
    """Print a table of names and values; to files and pipes without blanks at the ends of its lines."""
    screen = console(no_color)
    if screen.is_terminal:
        screen.print(two_columns(rows, whole_names))
        return
    with screen.capture() as printed:
        screen.print(two_columns(rows, whole_names))
    print("\n".join(line.rstrip() for line in printed.get().splitlines()))


def print_json(value: Any) -> None:
    print(json_text(value))


def print_files(files: list[Path], quiet: bool, as_json: bool) -> None:
    """Print the names of files that were written, one a line, or as JSON."""
    if as_json:
        print_json({"files": [str(file) for file in files]})
    elif not quiet:
        for file in files:
            print(file)


def two_columns(rows: dict[str, str], whole_names: bool = False) -> Any:
    """Table of names and values; names may be kept from going on in a second line."""
    from rich.table import Table

    table = Table(show_header=False, box=None, pad_edge=False)
    table.add_column(style="bold", no_wrap=whole_names)
    table.add_column()
    for name, value in rows.items():
        table.add_row(name, value)
    return table
