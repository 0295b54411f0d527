"""Cards in notebooks of systems, cases, their parts, states of rest and figures."""

from __future__ import annotations

import re
from importlib.resources import files
from typing import Any

import pytest

import tautline as tl
from tests.unit.test_sketch import reeved

SCENARIOS = sorted(
    path.name.removesuffix(".toml") for path in (files("tautline") / "scenarios").iterdir() if path.name[-5:] == ".toml"
)


def card_of(thing: Any) -> str:
    """Card in a notebook."""
    return str(thing._repr_html_())


def rows(card: str) -> list[list[str]]:
    """Cells of the tables of a card."""
    return [re.findall(r"<t[dh][^>]*>(.*?)</t[dh]>", row) for row in re.findall(r"<tr>(.*?)</tr>", card)]


def pairs(table: list[list[str]]) -> dict[str, str]:
    """Names and values of a table of two columns."""
    return {row[0]: row[1] for row in table}


@pytest.mark.parametrize("name", SCENARIOS)
def test_every_part_of_every_scenario_has_a_card(name: str) -> None:
    case = tl.load(name)
    card = card_of(case)
    assert card.count("<svg") == 1 and card.count("<div") == card.count("</div>")
    assert f"<b>{case.title}</b>" in card and ["duration", f"{case.run.duration:g} s"] in [
        row[1:] for row in rows(card)
    ]
    lines = case.system.lines
    parts: list[Any] = [case.run, *lines.values(), *(line.string for line in lines.values())]
    parts += [
        *case.system.bodies.values(),
        *case.commands.values(),
        *(line.reel for line in lines.values() if line.reel),
    ]
    for part in parts:
        text = card_of(part)
        assert f"<b>{type(part).__name__}</b>" in text
        assert not re.search(r"\bNone\b|array\(|object at|\bnan\b", text), text


def test_values_have_units() -> None:
    string = tl.String("60 m", "0.98 kg/m", "8.5 MN", law="tension_only", damping_ratio=0.05, breaking_load="60 kN")
    found = pairs(rows(card_of(string)))
    assert found["length"] == "60 m" and found["stiffness"] == "8.5 MN" and found["density"] == "0.98 kg/m"
    assert found["law"] == "tension only" and found["breaking load"] == "60 kN"
    assert pairs(rows(card_of(tl.Reel("0.16 m", "1 m", inertia="12 kg*m^2"))))["inertia"] == "12 kg m²"
    assert ["torque", "5 N m"] in rows(card_of(tl.Torque(5.0)))


def test_systems_that_nothing_places_have_their_inputs() -> None:
    bodies = {"a": tl.RigidBody.point(1.0), "b": tl.RigidBody.point(2.0)}
    floating = tl.System(bodies, {"cord": tl.Line(tl.String(1.0, 0.1, 1e3, law="linear"), start="a", end="b")})
    card = card_of(floating)
    assert "<svg" not in card and ["", "mass", "a 1 kg; b 2 kg"] in rows(card)
    assert "<svg" in card_of(reeved())


def test_a_state_of_rest_has_its_tensions() -> None:
    rest = tl.statics(reeved(), tl.Hanging("40 m"))
    card = card_of(rest)
    line = next(row for row in rows(card) if row[0] == "hoist")
    assert "<svg" in card and line[1] == "40 m" and line[2] == f"{rest.line.start_tension / 1e3:.4g} kN"


def test_figures_show_themselves() -> None:
    """Without `%matplotlib inline`, in which case IPython printed <Figure size ...>."""
    formatters = pytest.importorskip("IPython.core.formatters")
    run = tl.simulate(tl.load("crane-hoist", {"run.duration": "0.2 s"}))
    for figure in (tl.figures.tension(run), tl.figures.snapshots(run), tl.figures.path(run)):
        shown, _ = formatters.DisplayFormatter().format(figure)
        assert shown["image/png"].startswith(b"\x89PNG")
