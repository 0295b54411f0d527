"""Dependencies as the package declares them: what each part imports, and what is said where an extra is missing."""

from __future__ import annotations

import ast
import pickle
import re
import sys
from collections.abc import Iterator
from functools import cache
from importlib.metadata import packages_distributions
from pathlib import Path

import pytest

from tautline.errors import InputError
from tautline.extras import EXTRAS, MissingLibraryError, need, needed_by
from tests.conftest import STUDY_FILE
from tests.support.hidden import PROJECT, ROOT, normal, without

SOURCE = ROOT / "src" / "tautline"
# Extras that a part of the package may use; every other part has the core only.
PARTS = {
    "analysis": {"ropes"},
    "cli": {"cli"},
    "figures": {"plot", "video"},
    "viewer": {"viewer", "notebook"},
    "studies": {"studies"},
    "studies/report": {"studies", "plot"},
    "optimal": {"optimal"},
    "model": {"mesh"},
    "gym": {"gym"},
    "gradients": {"control"},
    "paper": {"numba", "plot"},
    "engine": {"numba"},
    "kernels/machine": {"numba"},
}
# Under another name, or not imported by its own name: matplotlib writes GIF and reads pictures by it; the cluster.
NOT_IMPORTED = {"pillow", "dask"}
# Parts of declared libraries under their own names: Zarr's checksum, of which each version brings one.
PARTS_OF_DECLARED = {"google_crc32c", "crc32c"}


def declared(lines: list[str]) -> set[str]:
    return {normal(re.split(r"[\[<>=!~ ]", line)[0]) for line in lines} - {"tautline"}


CORE = declared(PROJECT["dependencies"])
OPTIONAL = {name: declared(lines) for name, lines in PROJECT["optional-dependencies"].items()}


@cache
def distributions() -> dict[str, set[str]]:
    """Distributions by the modules that they bring; half a second, which no test that is only collected waits for."""
    return {module: {normal(x) for x in found} for module, found in packages_distributions().items()}


def imports(tree: ast.AST) -> Iterator[str]:
    """Libraries that code imports, also by `need` and `import_module`."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (name.name for name in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            yield node.module
        elif isinstance(node, ast.Call) and ast.unparse(node.func).split(".")[-1] in ("need", "import_module"):
            first = node.args[0]
            if isinstance(first, ast.Constant):
                yield str(first.value)


def libraries(tree: ast.AST) -> set[str]:
    found = {name.partition(".")[0] for name in imports(tree)}
    return found - set(sys.stdlib_module_names) - {"tautline"} - PARTS_OF_DECLARED


def allowed(path: Path) -> set[str]:
    """Distributions that a file of the package may import."""
    place = path.relative_to(SOURCE).as_posix()
    parts = [part for part in PARTS if place.startswith(f"{part}/")]
    extras = PARTS[max(parts, key=len)] if parts else set()
    return CORE.union(*(OPTIONAL[extra] for extra in extras))


def undeclared(code: str, path: Path) -> list[str]:
    """Libraries that code at a path imports and may not."""
    return sorted(x for x in libraries(ast.parse(code)) if not distributions().get(x, {normal(x)}) & allowed(path))


def test_everything_imported_is_declared() -> None:
    wrong = {path: undeclared(path.read_text(encoding="utf-8"), path) for path in SOURCE.rglob("*.py")}
    assert not {str(path): names for path, names in wrong.items() if names}


def test_everything_declared_is_imported() -> None:
    used = set().union(*(libraries(ast.parse(path.read_text(encoding="utf-8"))) for path in SOURCE.rglob("*.py")))
    known = set().union(*(distributions().get(name, {normal(name)}) for name in used))
    user_extras = set(PROJECT["optional-dependencies"]) - {"dev", "docs"}
    assert CORE.union(*(OPTIONAL[name] for name in user_extras)) - NOT_IMPORTED <= known


def test_the_table_of_libraries_is_that_of_the_package() -> None:
    for library, extra in EXTRAS.items():
        assert distributions()[library] & OPTIONAL[extra], f"{library} does not come with [{extra}]"
    listed = set().union(*(distributions()[library] for library in EXTRAS))
    assert set().union(*(OPTIONAL[extra] for extra in EXTRAS.values())) - {"pillow"} <= listed


def test_all_is_all_but_what_has_another_way() -> None:
    """GIF in place of MP4, the library and plain Python in place of Numba; developers and docs have everything."""
    lines = PROJECT["optional-dependencies"]
    (whole,) = lines["all"]
    assert set(re.findall(r"\w+", whole)[1:]) == set(lines) - {"all", "dev", "docs", "numba", "video"}
    assert "tautline[all,numba,video]" in lines["dev"] and "tautline[all,numba,video]" in lines["docs"]


def test_a_missing_library_is_an_input_error_and_an_import_error() -> None:
    error = MissingLibraryError("tl.x", "zarr")
    assert isinstance(error, InputError) and isinstance(error, ImportError)
    assert str(error) == 'tl.x: needs zarr; pip install "tautline[studies]"'
    assert str(pickle.loads(pickle.dumps(error))) == str(error)
    with pytest.raises(ModuleNotFoundError, match="nosuchlibrary"):
        need("nosuchlibrary.part", "tl.x")
    with pytest.raises(MissingLibraryError, match="outer: needs zarr"), needed_by("outer"):
        raise error


# pandas comes with xarray, which is core.
OF = {its: {library for library in EXTRAS if EXTRAS[library] == its} - {"pandas"} for its in EXTRAS.values()}


# Calls and commands that need an extra, and what they say without it.
NEEDY: dict[str, list[tuple[str | list[str], str]]] = {
    "cli": [(["info", "RUN"], "tautline: needs typer")],
    "plot": [
        ("tl.figures.drive(RUN)", "tl.figures: needs matplotlib"),
        (["plot", "RUN"], "tautline plot: needs matplotlib"),
        (["reproduce"], "tautline reproduce: needs matplotlib"),
        (["report", "RUN"], "tautline report: needs matplotlib"),
    ],
    "ropes": [
        ("tl.analysis.rainflow(RUN)", "tl.analysis.rainflow: needs rainflow"),
        ('tl.analysis.damage(RUN, "six_strand", breaking_load=1)', "tl.analysis.damage: needs rainflow"),
        (["report", "RUN"], "tautline report: needs rainflow"),
    ],
    "notebook": [("tl.widget(RUN)", "tl.widget: needs anywidget")],
    "viewer": [
        ('tl.live(tl.load("fixed-length"))', "tl.live: needs websockets"),
        (["view", "RUN"], "tautline view: needs websockets"),
        (["live", "fixed-length"], "tautline live: needs websockets"),
    ],
    "studies": [
        ('tl.study(STUDY, "x.zarr")', "a study: needs zarr"),
        ("tl.open_study(STORE)", "a study: needs zarr"),
        (["study", "STUDY"], "tautline study: needs zarr"),
        (["study", "info", "STORE"], "tautline study info: needs zarr"),
    ],
    "optimal": [
        (
            'tl.optimize(tl.load("fixed-length"), vary={"body.mass": (1, 2)}, minimize={"final": "energy"})',
            "tl.optimize: needs casadi",
        )
    ],
    "numba": [(["reproduce", "--full", "--no-animations"], "tautline reproduce --full: needs numba")],
}
TRY = """
import tautline as tl
from tautline.cli import main
FILES = RUN, STUDY, STORE = {files!r}
for call in {calls!r}:
    try:
        if isinstance(call, str):
            exec(call)
        else:
            sys.argv = ["tautline", *(globals().get(x, x) for x in call)]
            main()
    except tl.errors.InputError as error:
        print(f"error: {{error}}", file=sys.stderr)
    except SystemExit as end:
        assert end.code == 2, call
"""


@pytest.mark.parametrize("extra", NEEDY)
def test_a_missing_extra_is_named(extra: str, run_file: Path, study_store: Path, tmp_path: Path) -> None:
    """By calls and by commands: one sentence, nothing printed, nothing written."""
    files = (str(run_file), str(STUDY_FILE), str(study_store))
    done = without(OF[extra], TRY.format(files=files, calls=[call for call, _ in NEEDY[extra]]), tmp_path)
    said = [f'error: {words}; pip install "tautline[{extra}]"' for _, words in NEEDY[extra]]
    assert done.returncode == 0 and not done.stdout and not list(tmp_path.iterdir()), done.stderr
    assert done.stderr.splitlines() == said
