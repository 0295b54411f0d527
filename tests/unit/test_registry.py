"""The registry: names, files and restrictions of laws, commands and loads, and everything that follows from it."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Mapping
from importlib import import_module
from pathlib import Path

import pytest

import tautline as tl
from tautline import ledger, registry
from tautline.engine import loads as lowered
from tautline.errors import InputError
from tautline.files.scenario import json_schema
from tautline.kernels.loads.resistance import DAMPING
from tautline.kernels.machine.structures import own_types
from tautline.reference import guide, loads, strings
from tests.support.code_tables import code_tables

ROOT = Path(__file__).parents[2]
KERNELS: dict[str, tuple[Mapping[str, registry.Entry], tuple[str, ...]]] = {
    "guide law": (registry.GUIDE_LAWS, ("force",)),
    "elastic law": (registry.ELASTIC_LAWS, ("tension_and_energy",)),
    "reel command": (registry.COMMANDS, ("drive", "motor_force")),
    "load": (registry.LOADS, ()),
}
MEMORY = ("spooled_strain", "spooled_force", "spooled_energy", "spool")

HASH = """
import sys
from tautline import registry
if len(sys.argv) > 1:
    registry.register("outside", registry.GuideLaw("outside_law", "a law from outside"))
from tautline.kernels.machine.stamp import source_hash
print(source_hash())
"""


@pytest.mark.parametrize("kind", KERNELS)
def test_every_file_has_its_kernels_and_says_what_it_is(kind: str) -> None:
    table, names = KERNELS[kind]
    for name, entry in table.items():
        module = import_module(entry.module)
        assert f"`{name}`" in str(module.__doc__).splitlines()[0]
        assert "docs/theory.md" in str(module.__doc__)
        for kernel in names + (MEMORY if isinstance(entry, registry.GuideLaw) and entry.remembers else ()):
            assert callable(getattr(module, kernel))


def test_every_load_acts_or_resists() -> None:
    """A file has its numbers, and a kernel that gives forces, unless it is one of those that resist."""
    assert len(own_types()) == len(registry.LOADS)
    for k, (name, entry) in enumerate(registry.LOADS.items()):
        assert hasattr(import_module(entry.module), "act") or k == DAMPING, name


def test_the_theory_page_has_the_table() -> None:
    page = (ROOT / "docs" / "theory.md").read_text(encoding="utf-8")
    section = page.split("## Laws, commands and loads")[1].split("\n## ")[0]
    assert "```{include} generated/laws.md" in section
    rows = code_tables().laws().splitlines()[2:]
    names = [(kind, name, entry.sentence) for kind, (table, _) in KERNELS.items() for name, entry in table.items()]
    assert len(rows) == len(names)
    for row, (kind, name, sentence) in zip(rows, names, strict=True):
        assert row.startswith(f"| {kind} | `{name}` | {sentence} | `")
        assert (ROOT / "src/tautline" / row.split("`")[-2]).is_file()


def test_scenario_files_offer_the_laws() -> None:
    fields = json_schema()["$defs"]
    assert fields["Reel"]["properties"]["guide_law"]["enum"] == list(registry.GUIDE_LAWS)
    assert fields["String"]["properties"]["law"]["enum"] == list(registry.ELASTIC_LAWS)


def test_the_reference_has_a_formula_for_each() -> None:
    assert set(guide.FORCES) == {name for name, law in registry.GUIDE_LAWS.items() if not law.remembers}
    assert set(strings.LAWS) == set(registry.ELASTIC_LAWS)
    assert set(loads.LOADS) == set(registry.LOADS) == set(lowered.LOADS)


def test_loads_are_booked_on_accounts_of_the_ledger() -> None:
    assert {load.account for load in registry.LOADS.values()} <= set(ledger.booked())


@pytest.mark.parametrize("name", [name for name, law in registry.GUIDE_LAWS.items() if law.strings])
def test_a_law_refuses_strings_that_it_cannot_work_with(name: str) -> None:
    string, body = tl.String(10.0, 0.05, 100.0, law="tension_only"), tl.RigidBody.point(1.0)
    with pytest.raises(
        InputError, match=f"guide_law: expected another law with String.law = 'tension_only', got '{name}'"
    ):
        tl.pendulum(string, tl.Reel(0.2, 0.5, 0.5, guide_law=name), body)
    with pytest.raises(InputError, match="guide_law: expected another law"):
        tl.Line(string, end="body", reel=tl.Reel(0.2, 0.5, 0.5, guide_law=name))


@pytest.mark.parametrize("name", [name for name, law in registry.GUIDE_LAWS.items() if law.highest_order < 6])
def test_a_law_refuses_orders_that_it_cannot_keep(name: str) -> None:
    string = tl.String(10.0, 0.05, 100.0, law="linear")
    pendulum = tl.pendulum(string, tl.Reel(0.2, 0.5, 0.5, guide_law=name), tl.RigidBody.point(1.0), elements=2)
    with pytest.raises(InputError, match=f"order: expected 2 with guide_law='{name}', got 6"):
        tl.simulate(pendulum, tl.Hanging(4.0), duration=0.1, order=6)


def test_what_comes_too_late_is_refused() -> None:
    with pytest.raises(RuntimeError, match="GuideLaw 'late': expected before the kernels are loaded"):
        registry.register("late", registry.GuideLaw("late", "a law that no kernel would know"))


def test_machine_code_is_kept_by_the_sources_of_laws_from_outside_too(tmp_path: Path) -> None:
    """Otherwise a changed law would go on with its old machine code."""

    def found(*arguments: str) -> str:
        path = os.pathsep.join([str(tmp_path), str(ROOT / "src")])
        script = [sys.executable, "-c", HASH, *arguments]
        return subprocess.run(
            script, env=os.environ | {"PYTHONPATH": path}, capture_output=True, text=True, check=True
        ).stdout

    law = tmp_path / "outside_law.py"
    law.write_text("force = 1\n")
    plain, with_law = found(), found("outside")
    law.write_text("force = 2\n")
    assert len({plain, with_law, found("outside")}) == 3
