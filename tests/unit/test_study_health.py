"""Warnings of members on their own numbers, and which ways to end are failures."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import xarray as xr

import tautline as tl
from tautline import errors
from tautline.cli import output
from tautline.errors import InputError
from tautline.results.warnings import encoded
from tautline.studies.analysis.warnings import Counted, counted
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
    assert np.isnan(found.health[1]).all() and found.warnings[1] == ""
    for k in (0, 2):
        deployed = STUDY["vary"]["initial.deployed"][k]
        run = chains.simulate(tl.load("fixed-length", {"run.duration": 0.02, "initial.deployed": deployed}))
        # the balance is a small difference of energies, each with its rounding
        np.testing.assert_allclose(found.health[k], [run.attrs[name] for name in HEALTH], rtol=1e-6, atol=1e-12)
        assert found.warnings[k] == run.attrs["warnings"] != "[]"


def test_a_run_tells_its_largest_step() -> None:
    study = definition.read(STUDY)
    found = compute.compute(study.work, study.table)
    ratio = found.health[:, list(HEALTH).index("largest_step_ratio")]
    assert 0.0 < ratio[0] < 1.0 and np.isnan(ratio[1]) and 0.0 < ratio[2] < 1.0


def test_figures_of_health_are_no_outputs() -> None:
    with pytest.raises(InputError, match=r"mesh_noise is kept of every member in any case"):
        definition.read({**STUDY, "outputs": ["max mesh_noise"]})
    with pytest.raises(InputError, match="none of ours"):
        definition.read({**STUDY, "outputs": [{"variable": "energy", "reduce": "max", "name": "warnings"}]})


def test_only_the_numerics_fail() -> None:
    """Any other way to end is a result of the model, also one that later versions add."""
    failures = {work.STATUS_NAMES[code] for code in work.FAILURES}
    assert failures == {*output.NUMERICAL, "refused", "failed"}
    assert not {"fully_retrieved", "fully_deployed", "reel_outruns_waves"} & failures
    assert not {work.REFUSED, work.FAILED, work.NOT_COMPUTED} & set(errors.STATUS_NAMES)


def test_warnings_are_counted_by_kind() -> None:
    step, other = (tl.RunWarning("step", f"the step is {x} times too large", x, 5.0) for x in (7.0, 9.0))
    mesh = tl.RunWarning("mesh", "positions are uncertain", 0.03, 0.02, "line")
    told = [encoded([step, mesh]), "", encoded([other]), encoded([])]
    study = xr.Dataset({"warnings": (("x", "y"), np.array(told, dtype=object).reshape(2, 2))})
    found = counted(study)
    assert found.members == 2 and found.kinds == [Counted("step", 2, step.text), Counted("mesh", 1, mesh.text)]
    assert tl.warnings_of(study.isel(x=0, y=0)) == [step, mesh] and tl.warnings_of(study.isel(x=0, y=1)) == []
