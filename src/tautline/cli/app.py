"""The program itself: its help, and the options that commands share."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from typer.core import TyperGroup

from tautline._version import __version__
from tautline.cli import completing

if TYPE_CHECKING:
    from tautline.files.scenario import Options


class Group(TyperGroup):
    """Commands whose help shows flags without a type: those that Typer adds have `<bool>` otherwise."""

    def get_params(self, ctx: Any) -> list[Any]:
        """Parameters of the group."""
        return without_types_of_flags(super().get_params(ctx))

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        """A command by its name."""
        command = super().get_command(ctx, cmd_name)
        if command is not None:
            without_types_of_flags(command.get_params(ctx))
        return command


def without_types_of_flags(parameters: list[Any]) -> list[Any]:
    """Parameters, of which those that take no value show none in the help."""
    for parameter in parameters:
        if getattr(parameter, "is_flag", False) and parameter.metavar is None:
            parameter.metavar = ""
    return parameters


app = typer.Typer(
    name="tautline",
    cls=Group,
    no_args_is_help=True,
    rich_markup_mode="rich",
    pretty_exceptions_enable=False,
    help="""Simulate ropes, cables and tethers that are paid out and hauled in, with the rigid bodies they carry.

    [bold]Examples[/bold]

    tautline run fixed-length

    tautline run crane-hoist -o hoist.nc --set body.mass="800 kg" --set run.order=4

    tautline new my.toml && tautline check my.toml && tautline run my.toml

    [bold]Exit codes[/bold]

    0 done (also when the string is fully in or out); 2 bad input; 3 stopped by the numerics (unstable step, Newton's
    method, overflow); 4 a file cannot be read or written; 130 interrupted (what is computed is saved, and
    `tautline resume` goes on from there).
    """,
)

Quiet = Annotated[bool, typer.Option("--quiet", "-q", metavar="", help="Print errors only.")]
AsJson = Annotated[bool, typer.Option("--json", metavar="", help="Print JSON for scripts, and nothing else.")]
Expressions = Annotated[
    list[str] | None,
    typer.Option("--expr", help=r'An expression such as "norm(body_velocity\[load])"; may be given several times.'),
]
Project = Annotated[str, typer.Option(help="What it is for, in the head of the report.")]
Pdf = Annotated[
    Path | None, typer.Option(metavar="FILE", help="Also print the report to this file, by Chromium or Chrome.")
]
NoColor = Annotated[
    bool, typer.Option("--no-color", metavar="", help="No colors (also: environment variable NO_COLOR).")
]
ScenarioName = Annotated[
    str,
    typer.Argument(help="A scenario file, or the name of a built-in one.", autocompletion=completing.scenario_names),
]
RunPath = Annotated[Path, typer.Argument(help="A run file (.nc).")]
Settings = Annotated[
    list[str] | None,
    typer.Option(
        "--set",
        help='Change a value, e.g. --set string.stiffness=60 or --set body.mass="2 kg".',
        autocompletion=completing.keys_of_scenario,
    ),
]


def _version(wanted: bool) -> None:
    if wanted:
        print(f"tautline {__version__}")
        raise typer.Exit


@app.callback()
def options(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, metavar="", help="Print the version.")
    ] = False,
) -> None:
    """Options of the program itself."""


def overrides(settings: list[str] | None) -> Options:
    """Values given with --set, by key."""
    from tautline.files.scenario import Options

    return Options(pair("--set", setting, "section.key=value") for setting in settings or [])


def pair(option: str, text: str, expected: str = "NAME=VALUE") -> tuple[str, str]:
    """Both sides of an option with "="."""
    from tautline.errors import InputError

    name, sign, value = text.partition("=")
    if not sign:
        raise InputError(f"{option} {text}: expected {expected}")
    return name.strip(), value.strip()
