"""Every documented key that is a number: its derivatives are known, or a sentence says why they are not."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest

import tautline as tl
from tautline.errors import InputError
from tautline.gradients.directions import Directions
from tautline.gradients.lowering import tangents_of_run
from tautline.gradients.runs import check_case, runs_of
from tests.support.leaves import at_rest, chosen, short_name

# Keys that have no derivative by themselves, and a part of the sentence that says so.
REFUSED = {
    "string.viscosity": "switched|order: expected 2",  # 0 in these files but where loads act
    "string.damping_ratio": "switched|order: expected 2",
    "reel.coulomb_friction": "order: expected 2",
    "reel.spooled_strain": "guide_law is 'stretched'",
    "fluid.density_above": "together with Fluid.surface",
    "fluid.added_mass": "switched",  # of none
    "guide.ramp": "switched",  # of none
    "initial.azimuth": "together with inclination",
    "initial.attitude": "rotation matrix",
    "initial.bodies.body.attitude": "rotation matrix",
    "lines.line.end_point": "a point mass that has no lever",
    "initial.angular_velocity": "for a point",
    "initial.bodies.body.angular_velocity": "for a point",
    "initial.lines.line.end_reeled_length": "without a reel|no reeled length",
    "initial.lines.line.reel_speed": "0 with a locked reel",
    "initial.lines.line.end_reel_speed": "without a reel|no reeled length",
    "initial.deployed": "present deployed length",  # of a command that says the lengths
    "body.inertia": "symmetric",
    "applied_force.times": "switched",  # two tables at the same times
    "applied_force.moment_times": "equilibrium: none found",
    "applied_force.moments": "equilibrium: none found",
    "command.mean": "present deployed length",
    "command.coefficients": "present deployed length",
}
# Keys at which one of these files has no derivatives: the body hangs at its center of mass and turns over, by this key
# or by a force that has another point, or a body without volume gets one.
KINKS = {"body.center_of_mass", "body.attachment", "applied_force.point", "fluid.volume"}


CHOSEN = chosen()


def test_all_kinds_of_numbers_are_here() -> None:
    names = {short_name(tl.load(path), key) for path, keys in CHOSEN.items() for key in keys}
    assert len(names) > 90
    assert set(REFUSED) | KINKS <= names


LONG = {"equilibrium", "length-frequency", "impedance-jonswap", "impedance-sines"}


@pytest.mark.parametrize(
    "path", [pytest.param(path, id=path.stem, marks=[pytest.mark.long] * (path.stem in LONG)) for path in CHOSEN]
)
def test_a_key_has_derivatives_or_a_reason(path: Path) -> None:
    case = check_case(at_rest(tl.load(path)))
    steps = runs_of(case, []).steps
    for key in CHOSEN[path]:
        name = short_name(case, key)
        try:
            runs = runs_of(case, [key], steps)
            columns, warnings = tangents_of_run(Directions.single(case, [key]), runs, runs.begun({}))
        except InputError as error:
            assert name in REFUSED and re.search(REFUSED[name], str(error)), f"{key}: {error}"
            continue
        assert np.isfinite(columns).all() == (not warnings)
        assert not warnings or name in KINKS, f"{key}: {warnings}"
