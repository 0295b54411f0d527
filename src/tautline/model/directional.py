"""Forces of a fluid on a body by direction: drag and added mass along its axes, and the lift of a wing."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from tautline.errors import InputError
from tautline.model import checks
from tautline.model.forms import SCALAR, VECTOR, Form
from tautline.model.kinds import ByDepth, Quantity
from tautline.model.stacking import stacked
from tautline.model.tables import arrays

# What the least eigenvalue of a matrix may differ from 0, over its largest number, and angles from half a turn.
TOLERANCE = 1e-9
# Sine of the least angle between two axes of a wing.
LEAST_ANGLE = 1e-3
_ROW = Form("six numbers", 6, "[1, 0, 0, 0, 0, 0]", "", "six floats", SCALAR)
SIX = Form("six rows of six", 6, "[[1, 0, 0, 0, 0, 0], ...]", "", "6 x 6 floats", _ROW)


def _three(name: str, value: Any, unit: str) -> Any:
    x, y, z = (checks.non_negative(name, item, unit) for item in checks.array(name, value, (3,), unit).tolist())
    return (x, y, z)


def _six(name: str, value: Any, unit: str) -> Any:
    """A symmetric matrix of which no motion takes energy."""
    M = checks.symmetric(name, checks.array(name, value, (6, 6), "kg, kg m, kg m^2"))
    size = float(np.abs(M).max())
    scale = np.sqrt(np.maximum(np.diag(M), 0.0))
    scale[scale == 0.0] = 1.0  # rows have different units
    least = float(np.linalg.eigvalsh(M / np.outer(scale, scale))[0])
    if least < -TOLERANCE * max(size, 1.0):
        raise InputError(
            f"{name}: expected a matrix without negative eigenvalues, got one that some motion takes energy of"
        )
    return tuple(map(tuple, M.tolist()))


def one_or_more(unit: str, sentence: str, *, matrix: bool = False) -> ByDepth:
    """A number that is not negative; or three, one along each axis of the body; or a matrix where that may be given."""
    whole = (Quantity("", _six, sentence, SIX),) if matrix else ()
    numbers = Quantity(unit, checks.non_negative, sentence), Quantity(unit, _three, sentence, VECTOR)
    return ByDepth(sentence, *numbers, *whole)


def checked_angles(name: str, table: Any) -> None:
    """Refuse angles of attack beyond half a turn."""
    if max(map(abs, table[0])) > math.pi * (1.0 + TOLERANCE):
        raise InputError(f"{name}: expected angles from -180 to 180 degrees, got some beyond")


def check_wing(name: str, own: Any) -> None:
    """Refuse coefficients without an area, and axes that are too near to each other."""
    if own.wing_area == 0.0:
        given = [key for key in ("wing_lift", "wing_drag") if getattr(own, key) != 0.0]
        if given:
            raise InputError(f"{name}.{given[0]}: expected together with {name}.wing_area, got it alone")
    c, s = (np.array(x) / np.linalg.norm(x) for x in (own.wing_chord, own.wing_span))
    if np.linalg.norm(np.cross(c, s)) < LEAST_ANGLE:
        raise InputError(f"{name}.wing_span: expected an axis across {name}.wing_chord, got one along it")


class Wing(NamedTuple):
    """Axes of a wing in the frame of the body, unit vectors at right angles, and its coefficients."""

    chord: Any  # from the trailing to the leading edge
    span: Any
    normal: Any  # to the side of which the flow comes at positive angles of attack
    polar: Any  # (3, n): angles, lift, drag


def wing_of(own: Any) -> Wing:
    """Axes and coefficients of a wing; numbers may carry derivatives."""
    chord, span = stacked(own.wing_chord), stacked(own.wing_span)
    span = span / (span @ span) ** 0.5
    chord = chord - (chord @ span) * span
    chord = chord / (chord @ chord) ** 0.5
    (at, lift), (also, drag) = arrays(own.wing_lift), arrays(own.wing_drag)
    if len(also) == 1:
        also, drag = at, drag[0] + 0.0 * lift
    elif len(at) == 1:
        at, lift = also, lift[0] + 0.0 * drag
    if not np.array_equal(at, also):
        angles = np.union1d(at, also)
        lift, drag, at = np.interp(angles, at, lift), np.interp(angles, also, drag), angles
    return Wing(chord, span, np.cross(chord, span), np.stack([at, lift, drag]))


def drag_areas(own: Any) -> Any:
    """Drag areas along the three axes of the body (m^2)."""
    return stacked(own.drag_area) if isinstance(own.drag_area, tuple) else np.stack([own.drag_area] * 3)


def added_matrix(own: Any, center: Any) -> Any:
    """Added mass of a body as blocks (kg, kg m, kg m^2) about its center of mass: of velocity, across, of rotation.

    Numbers may carry derivatives.
    """
    m, zero = own.added_mass, np.zeros((3, 3))
    A, B, D = zero, zero, zero
    if not isinstance(m, tuple):
        A = m * np.eye(3)
    elif len(m) == 3:
        A = stacked(m)[:, None] * np.eye(3)
    else:
        whole = stacked(m)
        A, B, D = whole[:3, :3], whole[:3, 3:], whole[3:, 3:]
    place = own.added_mass_center or own.buoyancy_center or center
    x, y, z = (q - p for p, q in zip(center, place, strict=True))
    P = stacked(((0.0, -z, y), (z, 0.0, -x), (-y, x, 0.0)))
    across = B - A @ P
    return A, across, D + P @ across - B.T @ P


def is_directional(own: Any) -> bool:
    """Whether what the fluid does to a body depends on how the body is turned."""
    several = isinstance(own.drag_area, tuple) or isinstance(own.added_mass, tuple)
    return several or own.added_mass_center is not None or own.wing_area != 0.0


def without_directions(own: Any) -> dict[str, Any]:
    """Values of the fields of a body in a fluid whose directions are seen to elsewhere."""
    if not is_directional(own):
        return {}
    drag = 0.0 if isinstance(own.drag_area, tuple) else own.drag_area
    return {"drag_area": drag, "added_mass": 0.0, "added_mass_center": None, "wing_area": 0.0}


def moves_fluid(own: Any) -> bool:
    """Whether fluid moves along with a body."""

    def some(mass: Any) -> bool:
        return any(map(some, mass)) if isinstance(mass, tuple) else bool(mass != 0.0)

    return some(own.added_mass)
