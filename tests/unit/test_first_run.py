"""Modules that a first run loads: few, since importing takes nearly all of its time."""

from __future__ import annotations

import copy
import pickle
from pathlib import Path

import numpy as np
import pytest
import xarray as xr
from benchmarks import startup

import tautline as tl
from tautline.schema import OF_SHEAVES, SCHEMA
from tests.support import processes

COMPILERS = {"llvmlite", "numba"}
LABELS = {"pandas", "xarray"}
# SciPy is for tables, splines and states of rest; pint for unusual units; xarray would import pint and Dask to ask
# whether our arrays are theirs.
NEVER = COMPILERS | {"dask", "distributed", "matplotlib", "pint", "scipy", "zarr"}
COMMAND = """
import sys
from tautline.cli import main
sys.argv = ["tautline", "run", "fixed-length", "--set", "run.duration=0.1 s", "-o", sys.argv[1]]
try:
    main()
except SystemExit as end:
    assert not end.code, end.code
"""
LOOK = """
import sys
print("loaded:", sorted({{name.split(".")[0] for name in sys.modules}} & {names!r}))
"""


def loaded(code: str, names: set[str], folder: Path) -> str:
    """Which of some modules a process has loaded that ran some code on the library."""
    file = str(folder / "run.nc")
    return processes.run(code + LOOK.format(names=names), file, TAUTLINE_ENGINE="library").stdout.splitlines()[-1]


@pytest.mark.parametrize(
    ("code", "names"),
    [
        pytest.param(startup.PLAIN, NEVER | LABELS, id="Simulation"),
        pytest.param(startup.LANES, NEVER | LABELS, id="lanes"),
        pytest.param(COMMAND, NEVER | LABELS, id="tautline run"),
        *[
            # an index into a result, `run.tension[-1]`, is xarray's own business
            pytest.param(code.replace("start_tension[", "start_tension.values["), NEVER, id=row)
            for row, code in startup.CODES.items()
            if "tl.simulate" in code
        ],
    ],
)
def test_a_first_run_loads_nothing_that_it_does_not_need(code: str, names: set[str], tmp_path: Path) -> None:
    assert loaded(code, names, tmp_path) == "loaded: []"


def test_what_is_loaded_would_be_seen(tmp_path: Path) -> None:
    assert loaded(startup.LABELED.format(""), LABELS, tmp_path) == "loaded: ['pandas', 'xarray']"


def test_labels_are_those_that_xarray_gives_plain_arrays() -> None:
    """The dataset is put together from variables and indices; xarray's own way must give the same."""
    run = tl.simulate(tl.load("retrieval", {"run.duration": "0.05 s"}))
    names = {"body": ["body"], "line": ["line"], "axis": ["x", "y", "z"]}
    owners = {
        f"{dim}_line": (dim, ["line"] * run.sizes[dim], {"long_name": f"line of the {dim}"})
        for dim in ("node", "element")
    }
    plain = xr.Dataset(
        {name: (x.dims, run[name].values, run[name].attrs) for name, x in SCHEMA.items() if name not in OF_SHEAVES},
        {"time": ("time", run.time.values, run.time.attrs), **names, **owners},
        run.attrs,
    )
    xr.testing.assert_identical(run, plain)
    assert list(run.variables) == list(plain.variables)
    for name, expected in plain.variables.items():
        found = run.variables[name]
        assert (type(found), found.dtype, found.encoding) == (type(expected), expected.dtype, expected.encoding)
    for name, index in plain.indexes.items():
        assert run.indexes[name].identical(index) and run.indexes[name].dtype == index.dtype
    for again in (copy.deepcopy(run), pickle.loads(pickle.dumps(run)), xr.concat([run, plain], "case").isel(case=0)):
        xr.testing.assert_identical(again, plain)
    assert np.all(run.sel(axis="z", time=0.05).position == plain.position[-1, :, 2])
