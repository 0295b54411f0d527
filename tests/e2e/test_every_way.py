"""Every section, kind and key of files on further ways: copies, checkpoints, the live page, derivatives and FMUs.

The files are those of test_every_key.py and test_every_full_key.py, which see that nothing is left out.
"""

from __future__ import annotations

import copy
import json
import pickle
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import cloudpickle
import numpy as np
import pytest

import tautline as tl
from tautline.errors import InputError
from tautline.gradients.keys import number_keys
from tautline.model.refusals import REFUSALS
from tautline.viewer.session import Session

FOLDERS = [Path(__file__).parent / name for name in ("every_key", "every_full_key")]
FILES = {f"{path.parent.name}/{path.stem}": path for folder in FOLDERS for path in sorted(folder.glob("*.toml"))}
COPIES: dict[str, Callable[[Any], Any]] = {
    "pickle": lambda x: pickle.loads(pickle.dumps(x)),
    "deepcopy": copy.deepcopy,
    "copy": copy.copy,
    "cloudpickle": lambda x: cloudpickle.loads(cloudpickle.dumps(x)),
}
# Samples before the copy, and after it.
ROWS = 2
# By which derivatives are taken.
MOST_KEYS = 3
# Whose parameters take seconds to find.
SLOW_FMUS = {f"every_full_key/{name}" for name in ("ship", "wind", "sea")}


def each_but(slow: set[str]) -> pytest.MarkDecorator:
    """Of every file; the short form's and the slow ones in `make verify` alone."""
    long = {x: x in slow or x.startswith("every_key/") for x in FILES}
    return pytest.mark.parametrize("name", [pytest.param(x, marks=[pytest.mark.long] * long[x]) for x in FILES])


walked = each_but(set())


def bits(simulation: tl.Simulation) -> dict[str, bytes]:
    return {str(name): np.asarray(x).tobytes() for name, x in simulation.dataset().variables.items()}


def advance(simulation: tl.Simulation, case: tl.Case, first: bool = False) -> dict[str, bytes]:
    sample = case.run.interval()
    if simulation.status == "completed":
        simulation.advance(ROWS * sample, case.commands if first else None, sample=sample)
    return bits(simulation)


@walked
def test_copies_and_checkpoints_go_on_with_the_same_bits(name: str, tmp_path: Path) -> None:
    """Each by itself: the original goes on before its copy does."""
    case = tl.load(FILES[name])
    simulation = tl.Simulation.from_case(case)
    before = advance(simulation, case, first=True)
    copies = {way: make(simulation) for way, make in COPIES.items()}
    simulation.save(tmp_path / "saved.npz")
    expected, status = advance(simulation, case), simulation.status
    for way, other in copies.items():
        assert bits(other) == before, way
        assert advance(other, case) == expected and other.status == status, way
    loaded = tl.Simulation.load(tmp_path / "saved.npz")
    advance(loaded, case)
    whole, last = simulation.dataset().isel(time=-1), loaded.dataset().isel(time=-1)
    for variable in whole.data_vars:
        np.testing.assert_array_equal(last[variable], whole[variable], err_msg=str(variable))


@walked
def test_the_live_page_shows_it(name: str, tmp_path: Path) -> None:
    """Its program where it has one, a recording that opens, and the start again."""
    session = Session(tl.load(FILES[name]), "walk", tmp_path / "live.nc")
    try:
        json.dumps(session.meta(), allow_nan=False)
        session.waiting = False
        session.obey({"type": "record", "on": True})
        for _ in range(3):
            session.advance()
            assert len(session.state()) > 0 and len(session.past()) > 0
            json.dumps(session.status(), allow_nan=False)
        assert session.simulation.time > 0.0
        session.obey({"type": "record", "on": False})
        session.obey({"type": "reset"})
        assert session.simulation.time == 0.0
    finally:
        session.close()


def is_refused_by_table(error: InputError) -> bool:
    """Whether a message is that of a row of the table that docs/howto/systems.md prints."""
    return any(str(error).endswith(f"; {refusal.reason}") for refusal in REFUSALS)


@walked
def test_derivatives_are_had_or_refused(name: str) -> None:
    """By some keys, spread over all of them, one after the other: a few have no derivative, such as seeds."""
    case = tl.load(FILES[name])
    case = case.with_run(duration=2 * case.run.interval())
    keys = [key for key in number_keys(case) if not key.startswith("run.")]
    found, errors = [], []
    for key in keys[:: max(1, len(keys) // MOST_KEYS)]:
        try:
            found.append(tl.jacobian(case, ["energy", "tension"], [key]))
        except InputError as error:
            errors.append(error)
    assert found or any(map(is_refused_by_table, errors)), errors
    assert all(np.isfinite(x.energy_value).all() and np.isfinite(x.tension_value).all() for x in found)
    assert not found or any(x.energy.fillna(0.0).any() or x.tension.fillna(0.0).any() for x in found)


@each_but(SLOW_FMUS)
def test_an_fmu_is_written_or_refused(name: str, tmp_path: Path) -> None:
    try:
        names = tl.export_fmu(tl.load(FILES[name]), tmp_path / "case.fmu")
    except InputError as error:
        assert is_refused_by_table(error), error
        assert not list(tmp_path.iterdir())
        return
    assert len(names) == len(set(names)) > 5 and zipfile.is_zipfile(tmp_path / "case.fmu")
