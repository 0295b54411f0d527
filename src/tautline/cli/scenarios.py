"""The commands about scenario files: scenarios, show, check, new, schema."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from tautline.cli import output, targets
from tautline.cli.app import AsJson, NoColor, ScenarioName, Settings, app, overrides
from tautline.cli.output import one_line_errors


@app.command()
def scenarios(as_json: AsJson = False, no_color: NoColor = False) -> None:
    """List the built-in scenarios."""
    from tautline.files.scenario import built_in_names, load

    found = {name: load(name) for name in built_in_names()}
    if as_json:
        output.print_json({name: {"title": s.title, "description": s.description} for name, s in found.items()})
        return
    output.print_rows({name: s.description for name, s in found.items()}, no_color, whole_names=True)
    print("\ntautline run NAME runs one, tautline show NAME prints it as a start for your own")


@app.command()
def show(scenario: ScenarioName) -> None:
    """Print a scenario file.

    Example: tautline show bungee > my-jump.toml
    """
    with one_line_errors("show"):
        from tautline.files.scenario import find, read

        print(read(find(scenario)), end="")


@app.command()
def check(
    scenario: ScenarioName, settings: Settings = None, as_json: AsJson = False, no_color: NoColor = False
) -> None:
    """Check a scenario before running it: forces at rest and at the start, steps and what limits them, time and size.

    Warnings take the place of "good" where ropes part, motors are too weak or a stage is skipped.

    Example: tautline check crane-hoist --set run.elements=40
    """
    with one_line_errors("check"):
        from tautline.cli import checking
        from tautline.files import scenario as scenarios

        chosen = scenarios.load(scenario, overrides(settings))
        with chosen.naming_keys():
            facts = checking.facts(chosen)
        if as_json:
            output.print_json({"scenario": scenario, **facts})
            return
        print(f"{scenario}: {checking.verdict(facts)}")
        output.print_rows(checking.rows(facts), no_color)


_TEMPLATE_HEAD = """# A scenario for tautline. Values are SI, or text with a unit: "5 mm", "2.09 N*m", "15 deg".
# `tautline check` checks this file, `tautline run` runs it, `tautline schema` helps your editor.

"""


@app.command()
def new(
    path: Annotated[Path, typer.Argument(help="The file to write.")],
    like: Annotated[str, typer.Option(help="The built-in scenario to start from.")] = "retrieval",
) -> None:
    """Write a scenario file to start from; never over an existing one.

    Example: tautline new my-crane.toml --like crane-hoist
    """
    with one_line_errors("new"):
        from tautline.files.runs import StoreError
        from tautline.files.scenario import find, read

        targets.check_targets({path: targets.SCENARIO}, [], overwrite=True)  # the file is opened as a new one
        text = _TEMPLATE_HEAD + read(find(like))
        try:
            with path.open("x", encoding="utf-8") as file:
                file.write(text)
        except FileExistsError:
            raise StoreError(f"{path}: exists already") from None
        except OSError as error:
            raise StoreError(f"{path}: cannot be written: {error.strerror}") from None
        print(f"{path}: written; edit it, then `tautline run {path}`")


@app.command()
def schema() -> None:
    """Print the JSON Schema of scenario files, for editors that check and complete TOML.

    Example: tautline schema > tautline.schema.json
    """
    from tautline.files.scenario import json_schema

    output.print_json(json_schema())
