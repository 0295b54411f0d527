"""Data of a fit: where columns are found in the results, units, gaps, and what is refused."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import tautline as tl
from tautline.files.export import columns_of, write_csv
from tautline.fitting.data import read
from tautline.schema import SCHEMA
from tautline.units import factor_to_si
from tests.support import chains, measured
from tests.support.measured import UNITS, small_case

TIMES = [0.0, 0.1, 0.2]


@pytest.fixture(scope="module")
def run() -> Any:
    return chains.simulate(small_case(duration=0.3))


def test_every_column_of_a_run_is_read_from_its_csv_file(run: Any, tmp_path: Path) -> None:
    write_csv([run], tmp_path / "run.csv")
    found = read(tmp_path / "run.csv", run)
    assert [x.column for x in found] == columns_of(run)
    for x in found:
        expected = run[x.column.variable].values[(slice(None), *x.column.index)]
        assert x.values.tolist() == expected.tolist() and x.time.tolist() == run.time.values.tolist()


def test_units_of_all_results_are_known() -> None:
    for variable in SCHEMA.values():
        assert factor_to_si(variable.units, variable.units) == 1.0
    assert factor_to_si("kN", "N") == 1000.0 and factor_to_si("mm/s", "m s-1") == 1e-3
    assert factor_to_si("mm s-1", "m s-1") == 1e-3 and factor_to_si("%", "1") == 0.01


@pytest.mark.parametrize("form", ["file", "arrays and units", "pairs", "frame", "frame with two lines of heads"])
def test_units_and_gaps_in_every_form(form: str, run: Any, tmp_path: Path) -> None:
    gap = float("nan")
    data: dict[Any, Any] = {
        "time": [0.0, 100.0, 200.0],
        "start_tension": [1.0, gap, 3.0],
        "position[-1,x]": [5.0, 6.0, 7.0],
    }
    units = {"time": "ms", "start_tension": "kN", "position[-1,x]": "cm"}
    path = measured.write_csv(data, tmp_path / "data.csv", units)
    if form == "file":
        found = read(path, run)
    elif form == "arrays and units":
        found = read(data, run, units)
    elif form == "pairs":
        found = read({(name, units[name]): x for name, x in data.items()}, run)
    elif form == "frame":
        found = read(pd.DataFrame(data), run, units)
    else:
        found = read(pd.read_csv(path, header=[0, 1]), run)
    tension, place = found
    assert (tension.column.variable, place.column.variable, place.column.index) == ("start_tension", "position", (4, 0))
    np.testing.assert_allclose(tension.time, [0.0, 0.2], rtol=1e-15)
    np.testing.assert_allclose(tension.values, [1000.0, 3000.0], rtol=1e-15)
    np.testing.assert_allclose(place.values, [0.05, 0.06, 0.07], rtol=1e-15)


def test_columns_are_chosen_and_named_otherwise(run: Any) -> None:
    data = {"time": TIMES, "F1": [1.0, 2.0, 3.0], "note": [7.0, 7.0, 7.0]}
    (found,) = read(data, run, units={"time": "s", "F1": "N"}, columns={"F1": "start_tension"})
    assert (found.name, found.column.name, found.values.tolist()) == ("F1", "start_tension", [1.0, 2.0, 3.0])
    (found,) = read(data | {"energy": [1.0, 2.0, 3.0]}, run, units="SI", columns=["energy"])
    assert found.column.units == "J"


def test_samples_are_put_in_order(run: Any) -> None:
    (found,) = read({"time": [0.2, 0.0, 0.1], "energy": [3.0, 1.0, 2.0]}, run, units="SI")
    assert found.time.tolist() == TIMES and found.values.tolist() == [1.0, 2.0, 3.0]


GOOD = {"time": TIMES, "start_tension": [1.0, 2.0, 3.0]}


@pytest.mark.parametrize(
    ("data", "options", "words"),
    [
        (GOOD, {}, "expected a unit of time, such as s; give them by units="),
        (GOOD, {"units": {"time": "s"}}, "expected a unit of start_tension, such as N; give them by units="),
        (GOOD, {"units": {"time": "s", "start_tension": "kg"}}, "unit of start_tension: expected a force"),
        (GOOD, {"units": 3}, "units: expected a dict"),
        ({"time": TIMES}, {"units": "SI"}, "expected columns beside time"),
        ({"start_tension": [1.0]}, {"units": "SI"}, "expected a column time, got start_tension"),
        ({"time": TIMES, "start_tensoin": TIMES}, {"units": "SI"}, "did you mean 'start_tension'?"),
        (
            {"time": TIMES, "position": TIMES},
            {"units": "SI"},
            "expected a component of position such as position[4,z]",
        ),
        ({"time": TIMES, "position[9,x]": TIMES}, {"units": "SI"}, "expected a component of position"),
        (
            {"time": TIMES, "start_tension": [1.0]},
            {"units": "SI"},
            "expected as many values of start_tension as",
        ),
        ({"time": TIMES, "start_tension": [np.nan] * 3}, {"units": "SI"}, "got missing samples only"),
        ({"time": TIMES, "start_tension": ["a", "b", "c"]}, {"units": "SI"}, "expected a row of finite numbers"),
        ({"time": TIMES, "start_tension": [1.0, np.inf, 2.0]}, {"units": "SI"}, "expected a row of finite numbers"),
        ({"time": [0.0, np.nan, 1.0], "start_tension": TIMES}, {"units": "SI"}, "expected a time for every sample"),
        (
            GOOD,
            {"units": "SI", "columns": ["F1"]},
            "expected columns of the data (time, start_tension), got F1",
        ),
        (GOOD, {"units": "SI", "columns": "energy"}, "columns: expected a list of names"),
        (
            GOOD | {"b": TIMES},
            {"units": "SI", "columns": dict.fromkeys(("start_tension", "b"), "start_tension")},
            "twice",
        ),
        ([1.0, 2.0], {"units": "SI"}, "expected a CSV file, a DataFrame or a dict of arrays, got list"),
        ({}, {"units": "SI"}, "expected a CSV file, a DataFrame or a dict of arrays"),
    ],
)
def test_arrays_that_are_refused(data: Any, options: dict[str, Any], words: str, run: Any) -> None:
    with pytest.raises(tl.errors.InputError) as caught:
        read(data, run, **options)
    assert words in str(caught.value) and "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (
            "time,start_tension\n0,1\n0.1,2\n",
            "data.csv:2: expected units such as s, got the number 0; the second",
        ),
        ("time,start_tension\ns,\n0.1,2\n", "data.csv:2: expected units such as N, got nothing; the second line has"),
        ("time,start_tension\ns,m\n0.1,2\n", "data.csv:2: expected a force"),
        ("time,start_tension\ns,N\n0.1,two\n", "data.csv:3: expected a finite number in column 2, got 'two'"),
        ("time,start_tension\ns,N\n0.1,\n", "got missing samples only"),
        ("time,start_tension\ns,N\n,1\n", "expected a time for every sample"),
        ("time\ns\n", "expected names, units and numbers below"),
        (None, "cannot be read"),
    ],
)
def test_files_that_are_refused(text: str | None, words: str, run: Any, tmp_path: Path) -> None:
    path = tmp_path / "data.csv"
    if text is not None:
        path.write_text(text, encoding="utf-8")
    with pytest.raises(tl.errors.InputError) as caught:
        read(path, run)
    assert words in str(caught.value) and "\n" not in str(caught.value)


def test_a_file_has_its_units_itself(run: Any, tmp_path: Path) -> None:
    path = measured.write_csv(measured.measured(small_case(duration=0.3)), tmp_path / "data.csv")
    with pytest.raises(tl.errors.InputError, match="units: expected without a CSV file"):
        read(path, run, UNITS)
