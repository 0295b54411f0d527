"""Words that the shell completes: names of scenarios, figures, keys of --set."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any


def scenario_names(incomplete: str) -> list[str]:
    """Names of the built-in scenarios, and scenario files of the folder that is typed."""
    from tautline.files.scenario import built_in_names

    return _fitting([*built_in_names(), *_files(incomplete, ".toml")], incomplete)


def runs_and_scenarios(incomplete: str) -> list[str]:
    """Run files of the folder that is typed, and what `scenario_names` gives."""
    return _fitting([*_files(incomplete, ".nc"), *scenario_names(incomplete)], incomplete)


def figure_names(incomplete: str) -> list[str]:
    """Names of figures of a run."""
    from tautline.figures import OF_A_RUN

    return _fitting([*OF_A_RUN, "all"], incomplete)


def keys_of_scenario(ctx: Any, incomplete: str) -> list[str]:
    """Keys of the scenario that is on the command line, each with "="."""
    from tautline.errors import TautlineError
    from tautline.files.scenario import load
    from tautline.model.short_keys import names_of, short

    # words before the option stand in the arguments, as the command line is not complete
    words = (ctx.params.get("scenario"), *(ctx.params.get("paths") or ()), *(x for x in ctx.args if x[:1] != "-"))
    named = next((x for x in words if x), None)
    if named is None:
        return []
    try:
        case = load(str(named))
        names, paths = names_of(case.system), _paths(case.to_dict())
        listed = paths if names is None else [short(path, names) for path in paths]
    except TautlineError:  # the command itself will say what is wrong
        return []
    return _fitting(dict.fromkeys(".".join(path) + "=" for path in listed), incomplete)


def _paths(tree: Mapping[str, Any], above: tuple[str, ...] = ()) -> list[tuple[str, ...]]:
    """Paths of the values of a tree."""
    return [
        path
        for name, x in tree.items()
        for path in (_paths(x, (*above, name)) if isinstance(x, Mapping) else [(*above, name)])
    ]


def _files(incomplete: str, suffix: str) -> list[str]:
    """Files that end so, and folders, in the folder that is typed."""
    from pathlib import Path

    folder = Path(incomplete if incomplete.endswith("/") else Path(incomplete).parent)
    try:
        found = [x for x in sorted(folder.iterdir()) if not x.name.startswith(".")]
        return [f"{x}/" if x.is_dir() else str(x) for x in found if x.suffix == suffix or x.is_dir()]
    except OSError:
        return []


def _fitting(names: Iterable[str], incomplete: str) -> list[str]:
    return [name for name in names if name.startswith(incomplete)]
