"""What members say of their own numbers, and which ways to end are failures."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import xarray as xr

import tautline as tl
from tautline import errors
from tautline.cli import output
from tautline.errors import InputError
from tautline.studies.analysis.remarks import remarks_of
from tautline.studies.definition import definition, work
from tautline.studies.definition.outputs import HEALTH
from tautline.studies.execution import compute
from tests.support import chains

STUDY: dict[str, Any] = {
    "scenario": "fixed-length",
    "set": {"run.duration": 0.02},
    "vary": {"initial.deployed": [10.0, 120.0, 9.0]},
    "outputs": ["final energy"],
}


def test_figures_of_health_are_kept_of_every_member() -> None:
    """Under the names by which a run tells them; none of a member that was refused."""
    study = definition.read(STUDY)
    found = compute.compute(study.work, study.table)
    assert np.isnan(found.health[1]).all() and found.remarks[1] == ""
    for k in (0, 2):
        deployed = STUDY["vary"]["initial.deployed"][k]
        run = chains.simulate(tl.load("fixed-length", {"run.duration": 0.02, "initial.deployed": deployed}))
        # the balance is a small difference of energies, each with its rounding
        np.testing.assert_allclose(found.health[k], [run.attrs[name] for name in HEALTH], rtol=1e-6, atol=1e-12)
        assert found.remarks[k] == run.attrs["remarks"] != ""


def test_a_run_tells_its_largest_step() -> None:
    study = definition.read(STUDY)
    found = compute.compute(study.work, study.table)
    ratio = found.health[:, list(HEALTH).index("largest_step_ratio")]
    assert 0.0 < ratio[0] < 1.0 and np.isnan(ratio[1]) and 0.0 < ratio[2] < 1.0


def test_figures_of_health_are_no_outputs() -> None:
    with pytest.raises(InputError, match=r"mesh_noise is kept of every member in any case"):
        definition.read({**STUDY, "outputs": ["max mesh_noise"]})
    with pytest.raises(InputError, match="none of ours"):
        definition.read({**STUDY, "outputs": [{"variable": "energy", "reduce": "max", "name": "remarks"}]})


def test_only_the_numerics_fail() -> None:
    """Any other way to end is a result of the model, also one that later versions add."""
    failures = {work.STATUS_NAMES[code] for code in work.FAILURES}
    assert failures == {*output.NUMERICAL, "refused", "failed"}
    assert not {"fully_retrieved", "fully_deployed", "reel_outruns_waves"} & failures
    assert not {work.REFUSED, work.FAILED, work.NOT_COMPUTED} & set(errors.STATUS_NAMES)


def test_remarks_that_differ_in_numbers_only_count_as_one() -> None:
    told = ["a step of 1.5e-3 s\nthe mesh is coarse", "", "a step of 2 s", "another"]
    study = xr.Dataset({"remarks": (("x", "y"), np.array(told, dtype=object).reshape(2, 2))})
    found = remarks_of(study)
    assert found.members == 3
    assert found.frequent == [(2, "a step of 1.5e-3 s"), (1, "the mesh is coarse"), (1, "another")]
