"""Inertials of URDF and MJCF files: mass, center and inertia of every link or body, in its own frame."""

from __future__ import annotations

import math
import xml.etree.ElementTree as ElementTree
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from tautline.arrays import Array
from tautline.model.forms import ROWS, WrongValueError
from tautline.model.kinds import Kind
from tautline.model.mesh_files import DataFile
from tautline.model.rotations import rotation_about
from tautline.model.table_files import printed
from tautline.units import shown

Element = ElementTree.Element


class Inertial(NamedTuple):
    """Mass (kg), center of mass (m) and inertia about it (kg m^2), in the frame of a link or body."""

    mass: float
    center: Array
    inertia: Array

    def numbers(self) -> list[float]:
        """All thirteen in a row."""
        return [float(self.mass), *self.center.tolist(), *self.inertia.ravel().tolist()]

    @classmethod
    def of(cls, row: list[float]) -> Inertial:
        """From a row of numbers."""
        return cls(row[0], np.array(row[1:4]), np.array(row[4:]).reshape(3, 3))


class Texts(Kind):
    """A list of texts."""

    def read(self, value: Any) -> Any:
        if not isinstance(value, list) or not all(isinstance(x, str) for x in value):
            raise WrongValueError(f"expected a list of texts, got {shown(value)}")
        return value

    def schema(self) -> dict[str, Any]:
        return {"type": "array", "items": {"type": "string"}}


class InertialFile(DataFile):
    """Name of a file with inertials; names and numbers of all of them are kept.

    Parameters
    ----------
    format : str
        "URDF" or "MJCF".
    sentence : str
    """

    def __init__(self, format: str, sentence: str) -> None:
        super().__init__(f"a {format} file", sentence, {"names": Texts("Names."), "numbers": ROWS})
        self._format = format

    def content(self, path: Path, content: bytes) -> dict[str, Any]:
        wanted, inertials = FORMATS[self._format]
        try:
            if b"<!DOCTYPE" in content or b"<!ENTITY" in content:
                raise ElementTree.ParseError
            root = ElementTree.fromstring(content)
        except (ElementTree.ParseError, ValueError, LookupError):  # the last two: of an encoding that there is not
            raise WrongValueError(f"{printed(path)}: expected XML without a DOCTYPE, got something else") from None
        if root.tag != wanted:
            raise WrongValueError(f"{printed(path)}: expected <{wanted}> as its root, got another one")
        try:
            found = inertials(root)
        except WrongValueError as error:
            raise WrongValueError(f"{printed(path)}: {error}") from None
        if not found:
            raise WrongValueError(f"{printed(path)}: expected an <inertial> with a name above it, got none")
        return {"names": list(found), "numbers": [x.numbers() for x in found.values()]}


def of_urdf(root: Element) -> dict[str, Inertial]:
    """Inertials of links; <origin> has the center, and roll, pitch and yaw of the axes of <inertia>."""
    found = {}
    for name, inertial, where in _inertials_in(root, "link"):
        parts = [inertial.find(tag) for tag in ("origin", "mass", "inertia")]
        origin, mass, moments = (Element(tag) if x is None else x for tag, x in zip("omi", parts, strict=True))
        center = _numbers(where, origin, "xyz", 3, "0 0 0")
        R = euler(_numbers(where, origin, "rpy", 3, "0 0 0"), "XYZ")
        (m,) = _numbers(where, mass, "value", 1)
        xx, yy, zz, xy, xz, yz = (_numbers(where, moments, f"i{x}", 1)[0] for x in ("xx", "yy", "zz", "xy", "xz", "yz"))
        J = np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])
        found[name] = Inertial(m, center, R @ J @ R.T)
    return found


def of_mjcf(root: Element) -> dict[str, Inertial]:
    """Inertials of bodies; `pos` is the center, one of `quat`, `axisangle`, `xyaxes`, `zaxis`, `euler` turns the axes.

    Bodies whose inertia MuJoCo would infer from their geoms are left out.
    """
    compiler: dict[str, str] = {}
    for element in root.iter("compiler"):
        compiler |= element.attrib
    for key, harmless in (
        ("inertiafromgeom", ("auto", "false")),
        ("settotalmass", ("-1",)),
        ("coordinate", ("local",)),
    ):
        if compiler.get(key, harmless[0]) not in harmless:
            raise WrongValueError(f"compiler: expected {key} = {harmless[0]!r}, got {compiler[key]!r}")
    radians = 1.0 if compiler.get("angle", "degree") == "radian" else math.pi / 180.0
    found = {}
    for name, inertial, where in _inertials_in(root, "body"):
        (mass,) = _numbers(where, inertial, "mass", 1)
        center = _numbers(where, inertial, "pos", 3)
        R = _orientation(where, inertial, radians, compiler.get("eulerseq", "xyz"))
        if "fullinertia" in inertial.attrib:
            xx, yy, zz, xy, xz, yz = _numbers(where, inertial, "fullinertia", 6)
            J = np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])
        else:
            J = np.diag(_numbers(where, inertial, "diaginertia", 3))
        found[name] = Inertial(mass, center, R @ J @ R.T)
    return found


def _inertials_in(root: Element, tag: str) -> Iterator[tuple[str, Element, str]]:
    """Names of what has an <inertial>, these elements, and words for errors in them."""
    for element in root.iter(tag):
        name, inertial = element.get("name"), element.find("inertial")
        if name is not None and inertial is not None:
            yield name, inertial, f"inertial of {tag} {name!r}"


FORMATS: dict[str, tuple[str, Callable[[Element], dict[str, Inertial]]]] = {
    "URDF": ("robot", of_urdf),
    "MJCF": ("mujoco", of_mjcf),
}


def _numbers(where: str, element: Element, key: str, count: int, default: str = "") -> Array:
    """Numbers of an attribute."""
    text = element.get(key, default)
    try:
        found = np.array([float(x) for x in text.split()])
    except ValueError:
        found = np.zeros(0)
    if len(found) != count or not np.isfinite(found).all():
        few = f"{count} finite numbers" if count > 1 else "a finite number"
        raise WrongValueError(f"{where}: expected {few} for {key}, got {shown(text) if text else 'none'}")
    return found


def _orientation(where: str, element: Element, radians: float, sequence: str) -> Array:
    """Rotation from the axes of an inertia to those of the body; `radians` are those of a unit of angles."""
    given = [key for key in ("quat", "axisangle", "xyaxes", "zaxis", "euler") if key in element.attrib]
    if len(given) > 1:
        raise WrongValueError(f"{where}: expected one orientation, got {' and '.join(given)}")
    if not given:
        return np.eye(3)
    key = given[0]
    x = _numbers(where, element, key, {"quat": 4, "axisangle": 4, "xyaxes": 6}.get(key, 3))
    if key == "euler":
        return euler(radians * x, sequence)
    if key == "quat":
        return about(x[1:], 2.0 * math.atan2(float(np.linalg.norm(x[1:])), float(x[0])))
    if key == "axisangle":
        return about(x[:3], radians * float(x[3]))
    if key == "zaxis":  # the shortest rotation from z
        z = x / np.linalg.norm(x)
        axis = np.cross([0.0, 0.0, 1.0], z)
        half_turn = np.array([1.0, 0.0, 0.0])
        return about(axis if axis.any() else half_turn, math.atan2(float(np.linalg.norm(axis)), float(z[2])))
    first = x[:3] / np.linalg.norm(x[:3])
    second = x[3:] - (x[3:] @ first) * first
    second /= np.linalg.norm(second)
    return np.stack([first, second, np.cross(first, second)], axis=1)


def about(axis: Array, angle: float) -> Array:
    """Rotation about an axis of any length (Rodrigues); the identity about none."""
    length = float(np.linalg.norm(axis))
    if length == 0.0:
        return np.eye(3)
    return rotation_about(axis / length, math.sin(angle), math.cos(angle))


def euler(angles: Array, sequence: str) -> Array:
    """Rotation by three angles (rad) about axes that turn along (x, y, z) or stay (X, Y, Z)."""
    R = np.eye(3)
    for angle, axis in zip(angles, sequence, strict=True):
        turn = about(np.eye(3)["xyz".index(axis.lower())], float(angle))
        R = R @ turn if axis.islower() else turn @ R
    return R
