"""Bodies whose mass, inertia and shape come from files: STL, OBJ, URDF and MJCF."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from tautline.arrays import Array
from tautline.errors import InputError
from tautline.model.body import MESH, RigidBody, Shape, Surface
from tautline.model.checks import UPWARD, ZERO, direction, positive, vector
from tautline.model.description import Number, OptionalNumber, Vector3, declared, described, quantity
from tautline.model.forms import VECTOR
from tautline.model.kinds import Text
from tautline.model.mesh_files import MeshFile
from tautline.model.robot_files import Inertial, InertialFile
from tautline.model.wording import either
from tautline.units import shown

_UP = "Direction that points up in the axes of the file; the third axis of the body points down."
_ATTACHMENT = "Attachment point of the line, in the axes of the file."


# Cosine of the angle to the upward direction above which an axis is no reference for another one.
ALONG = 0.99


class Name(Text):
    """A text, or None."""

    def check(self, name: str, value: Any) -> Any:
        return None if value is None else super().check(name, value)


class FileFrame(NamedTuple):
    """Where the axes of a file and the body frame are."""

    rotation: Array  # from the axes of the file to those of the body
    attachment: Array

    @classmethod
    def of(cls, up: Any, attachment: Any) -> FileFrame:
        """From the upward direction of a file, and the place of the attachment point in it (m).

        The first axis of the body is nearest to that of the file, or to the second one where the first points up.
        """
        down = -np.array(up) / np.linalg.norm(up)
        x = np.eye(3)[0 if abs(down[0]) < ALONG else 1]
        x = x - (x @ down) * down
        x /= np.linalg.norm(x)
        return cls(np.stack([x, np.cross(down, x), down]), np.array(attachment))

    def points(self, places: Any) -> Array:
        """Places of the file in the body frame (m)."""
        found: Array = (np.asarray(places) - self.attachment) @ self.rotation.T
        return found

    def body(self, mass: float, center: Any, inertia: Any, shape: Shape | None = None) -> RigidBody:
        """The body of a mass, its center and its inertia about it, in the axes of the file."""
        J = self.rotation @ np.asarray(inertia) @ self.rotation.T
        return RigidBody.about_center(mass, 0.5 * (J + J.T), self.points(center), shape)


@described(name="")
class MeshBody:
    """A homogeneous body with the closed surface of an STL or OBJ file."""

    file: Any = declared(MeshFile("STL or OBJ file beside the scenario, with a closed surface."))
    density: OptionalNumber = quantity("kg/m^3", positive, "Density of the material, or `mass`.", default=None)
    mass: OptionalNumber = quantity("kg", positive, "Mass M, or `density`.", default=None)
    unit: Number = quantity("m", positive, "Length of a unit of the file's coordinates.", default=1.0)
    up: Vector3 = quantity("", direction, _UP, default=UPWARD, form=VECTOR)
    attachment: Vector3 = quantity("m", vector, _ATTACHMENT, default=ZERO, form=VECTOR)

    def _check_together(self) -> None:
        if (self.density is None) == (self.mass is None):
            came = "neither" if self.mass is None else "both"
            raise InputError(f"density: expected either it, or mass, got {came}")

    def body(self) -> RigidBody:
        """The body."""
        m, known = self.unit, self.file
        frame = FileFrame.of(self.up, self.attachment)
        volume = known["volume"] * m**3
        mass = self.mass if self.mass is not None else self.density * volume
        inertia = np.array(known["inertia"]) * (m**5 * mass / volume)
        points = np.array(known["points"]) * m
        shape = Shape(MESH, (), Surface.of(frame.points(points), known["faces"]))
        return frame.body(mass, np.array(known["center"]) * m, inertia, shape)


def _inertial(known: dict[str, Any], key: str, name: str | None) -> Inertial:
    """The inertial of a name, or the only one."""
    names = known["names"]
    if name is None and len(names) == 1:
        name = names[0]
    if name not in names:
        came = "none" if name is None else shown(name)
        raise InputError(f"{key}: expected {either(map(repr, names))}, which have an <inertial>, got {came}")
    return Inertial.of(known["numbers"][names.index(name)])


@described(name="")
class UrdfBody:
    """A body with the inertial of a link of a URDF file."""

    file: Any = declared(InertialFile("URDF", "URDF file beside the scenario."))
    link: str | None = declared(Name("Name of the link; the only one that has an inertial by default."), default=None)
    up: Vector3 = quantity("", direction, _UP, default=UPWARD, form=VECTOR)
    attachment: Vector3 = quantity("m", vector, _ATTACHMENT, default=ZERO, form=VECTOR)

    def body(self) -> RigidBody:
        """The body."""
        return FileFrame.of(self.up, self.attachment).body(*_inertial(self.file, "link", self.link))


@described(name="")
class MjcfBody:
    """A body with the inertial of a body of an MJCF file."""

    file: Any = declared(InertialFile("MJCF", "MJCF file (MuJoCo) beside the scenario."))
    body_name: str | None = declared(
        Name("Name of the body; the only one that has an inertial by default."), default=None
    )
    up: Vector3 = quantity("", direction, _UP, default=UPWARD, form=VECTOR)
    attachment: Vector3 = quantity("m", vector, _ATTACHMENT, default=ZERO, form=VECTOR)

    def body(self) -> RigidBody:
        """The body."""
        return FileFrame.of(self.up, self.attachment).body(*_inertial(self.file, "body_name", self.body_name))
