"""Input of drag, added mass and wings by direction: what is refused, and what keys give."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import tautline as tl
from tautline.errors import InputError
from tautline.model.directional import added_matrix, wing_of

SKEW = np.eye(6) + np.eye(6, k=1)
TAKES = np.diag([1.0, 1.0, -1.0, 1.0, 1.0, 1.0])
WING: dict[str, Any] = {"wing_area": 1.0, "wing_lift": 1.0}


@pytest.mark.parametrize(
    ("given", "sentence"),
    [
        ({"drag_area": (1.0, 2.0)}, r"BodyInFluid.drag_area: expected 3 finite numbers \(m\^2\), got shape 2"),
        ({"drag_area": (1.0, -2.0, 1.0)}, r"BodyInFluid.drag_area: expected a finite number of at least 0"),
        ({"drag_area": ["1 m^2", "2 m", 1]}, r"BodyInFluid.drag_area\[1\]: expected an area"),
        ({"added_mass": np.eye(5)}, r"BodyInFluid.added_mass: expected 6 x 6 finite numbers"),
        ({"added_mass": SKEW}, r"BodyInFluid.added_mass: expected a symmetric matrix, got an asymmetry of 1"),
        ({"added_mass": TAKES}, r"BodyInFluid.added_mass: expected a matrix without negative eigenvalues"),
        ({"wing_lift": 1.0}, r"BodyInFluid.wing_lift: expected together with BodyInFluid.wing_area"),
        ({**WING, "wing_span": (2.0, 0.0, 0.0)}, r"BodyInFluid.wing_span: expected an axis across"),
        ({**WING, "wing_chord": (0.0, 0.0, 0.0)}, r"BodyInFluid.wing_chord: expected a vector that is not zero"),
        ({"wing_area": 1.0, "wing_drag": -0.1}, r"BodyInFluid.wing_drag: expected a finite number of at least 0"),
        ({"wing_area": 1.0, "wing_drag": ([0, 1], [0.1, -0.1])}, r"wing_drag\[1\] \(drag_coefficients\): expected"),
        ({"wing_area": 1.0, "wing_lift": ([0, 4], [0.1, 0.1])}, r"wing_lift: expected angles from -180 to 180 degrees"),
        ({"wing_area": 1.0, "wing_lift": ([1, 0], [0.1, 0.1])}, r"wing_lift\[0\] \(angles\): expected increasing"),
    ],
)
def test_what_is_refused(given: dict[str, Any], sentence: str) -> None:
    with pytest.raises(InputError, match=sentence):
        tl.BodyInFluid(**given)


def test_files_are_refused_by_key() -> None:
    case = tl.load("tests/e2e/every_key/wing.toml")
    for key, value, sentence in (
        ("fluid.drag_area", ["1 m^2", 2], "fluid.drag_area: expected a list of three"),
        ("fluid.added_mass[0][1]", 3.0, "fluid.added_mass: expected a symmetric matrix"),
        ("fluid.added_mass", [[1.0] * 6] * 5 + [[1.0, [2.0]]], "fluid.added_mass.5: expected six numbers"),
        ("fluid.drag_area", [1.0, [2.0, 3.0], 4.0], "fluid.drag_area.1: expected an area"),
        ("fluid.wing_area", "2 m", "fluid.wing_area: expected an area"),
        ("fluid.wing_chord", [0, 0], "fluid.wing_chord: expected a list of three"),
    ):
        with pytest.raises(InputError, match=sentence.replace("[", r"\[").replace(".", r"\.")):
            case.with_({key: value})


def test_a_point_mass_has_no_axes() -> None:
    line = tl.Line(tl.String(1.0, 1.0, 1.0), end="point")
    for own in ({"drag_area": (1, 2, 3)}, {"added_mass": (1, 2, 3)}, WING):
        with pytest.raises(InputError, match=r"^bodies\.point\.fluid: expected one drag_area"):
            tl.System(
                {"point": tl.RigidBody.point(1.0)},
                {"line": line},
                fluid=tl.Fluid(1.0),
                body_fluid={"point": tl.BodyInFluid(**own)},
            )


def test_numbers_have_units() -> None:
    one = tl.BodyInFluid(wing_area="2 m^2", wing_lift=(["-10 deg", "10 deg"], [-1, 1]), added_mass=["1 g", "2 kg", 3])
    assert one.wing_lift == (tuple(np.radians([-10.0, 10.0])), (-1.0, 1.0))
    assert one.added_mass == (1e-3, 2.0, 3.0)
    assert tl.BodyInFluid(drag_area=["10 cm^2", 2, "3 m^2"]).drag_area == (1e-3, 2.0, 3.0)


def test_coefficients_are_on_all_angles_and_axes_at_right_angles() -> None:
    wing = wing_of(
        tl.BodyInFluid(
            wing_area=1.0,
            wing_lift=([-1.0, 0.0, 1.0], [-2.0, 0.0, 1.0]),
            wing_drag=([-0.5, 0.5], [0.2, 0.4]),
            wing_chord=(2.0, 1.0, 0.0),
            wing_span=(0.0, 3.0, 0.0),
        )
    )
    np.testing.assert_allclose(wing.polar[0], [-1.0, -0.5, 0.0, 0.5, 1.0])
    np.testing.assert_allclose(wing.polar[1], [-2.0, -1.0, 0.0, 0.5, 1.0])
    np.testing.assert_allclose(wing.polar[2], [0.2, 0.2, 0.3, 0.4, 0.4])
    np.testing.assert_allclose([wing.chord, wing.span, wing.normal], [[1, 0, 0], [0, 1, 0], [0, 0, 1]], atol=1e-15)


def test_a_mass_at_a_point_has_the_inertia_of_one() -> None:
    """Seen from the center of mass: of a mass at an arm, by Steiner."""
    own = tl.BodyInFluid(added_mass=2.0, added_mass_center=(1.0, 0.0, 3.0))
    mass, across, inertia = added_matrix(own, (0.0, 0.0, 1.0))
    arm = np.array([1.0, 0.0, 2.0])
    np.testing.assert_allclose(mass, 2.0 * np.eye(3))
    np.testing.assert_allclose(across @ [0.0, 1.0, 0.0], 2.0 * np.cross([0.0, 1.0, 0.0], arm))
    np.testing.assert_allclose(inertia, 2.0 * (arm @ arm * np.eye(3) - np.outer(arm, arm)))
