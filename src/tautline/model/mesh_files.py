"""Closed surfaces of STL and OBJ files: volume, center and inertia of what they enclose, and triangles to draw."""

from __future__ import annotations

import io
import math
import warnings
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from tautline import durable
from tautline.arrays import Array
from tautline.errors import InputError
from tautline.extras import need
from tautline.model.checks import finite, path
from tautline.model.forms import MATRIX, SCALAR, VECTOR, VECTORS, Form, WrongValueError, read_numbers
from tautline.model.kinds import Kind, Quantity, plain
from tautline.model.table_files import NAME, printed
from tautline.model.wording import both, either
from tautline.units import shown

SUFFIXES = (".stl", ".obj")
# Triangles that are drawn, and kept in every run file (100 kB): finer surfaces are drawn coarser.
MOST_DRAWN = 2000
# Of coordinates that are drawn.
DIGITS = 6


class Triangles(Kind):
    """Three numbers of points for each triangle."""

    def read(self, value: Any) -> Any:
        fits = isinstance(value, (list, tuple)) and all(isinstance(x, (list, tuple)) and len(x) == 3 for x in value)
        if not fits or any(type(k) not in (int, float) or k % 1 for x in value for k in x):
            raise WrongValueError(
                f"expected a list of three whole numbers each, such as [[0, 1, 2]], got {shown(value)}"
            )
        return [[int(k) for k in x] for x in value]

    def check(self, name: str, value: Any) -> Any:
        try:
            return None if value is None else tuple(map(tuple, self.read(plain(value))))
        except WrongValueError as error:
            raise InputError(f"{name}: {error}") from None

    def schema(self) -> dict[str, Any]:
        three = {"type": "array", "items": {"type": "integer"}, "minItems": 3, "maxItems": 3}
        return {"type": "array", "items": three}

    def words(self) -> str:
        return "triples of int"


# What is kept of a file, in its own unit and axes; the inertia is that of density 1 about the center.
KEPT: dict[str, Form | Kind] = {
    "volume": SCALAR,
    "center": VECTOR,
    "inertia": MATRIX,
    "points": VECTORS,
    "faces": Triangles("Triangles."),
}


class DataFile(Kind):
    """Name of a file that is read once; the value that is kept has its name and all that is needed of it.

    Parameters
    ----------
    what : str
        What it is, in words.
    sentence : str
    kept : dict
        Forms of what is kept beside the name, by key.
    """

    def __init__(self, what: str, sentence: str, kept: Mapping[str, Form | Kind]) -> None:
        super().__init__(sentence)
        self._what, self._kept = what, kept

    def read(self, value: Any) -> Any:
        if isinstance(value, Mapping):
            return self._carried(value)
        if not isinstance(value, str) or not value:
            raise WrongValueError(f"expected the name of {self._what}, got {shown(value)}")
        try:
            content = durable.read_input(value)
        except (OSError, ValueError) as error:  # a name with a null character is a ValueError
            why = getattr(error, "strerror", None) or error
            raise WrongValueError(f"{printed(Path(value))}: cannot be read: {why}") from None
        return {NAME: Path(value).name, **self.content(Path(value), content)}

    def content(self, path: Path, content: bytes) -> dict[str, Any]:
        """Values that are kept of a file."""
        raise NotImplementedError

    def _carried(self, value: Mapping[str, Any]) -> dict[str, Any]:
        """Value that was read before."""
        keys = [NAME, *self._kept]
        if set(value) != set(keys) or not isinstance(value[NAME], str):
            raise WrongValueError(f"expected the name of {self._what}, or {both(keys)} of one, got {both(list(value))}")
        read = {
            key: kind.read(value[key]) if isinstance(kind, Kind) else read_numbers(value[key], kind, "")
            for key, kind in self._kept.items()
        }
        return {NAME: value[NAME], **read}

    def check(self, name: str, value: Any) -> Any:
        try:
            return self.read(value if isinstance(value, Mapping) else str(path(name, value)))
        except WrongValueError as error:
            raise InputError(f"{name}: {error}") from None

    def schema(self) -> dict[str, Any]:
        kept = {
            key: (kind if isinstance(kind, Kind) else Quantity("", finite, "", kind)).schema()
            for key, kind in self._kept.items()
        }
        return {"anyOf": [{"type": "string"}, {"type": "object", "properties": {NAME: {"type": "string"}, **kept}}]}

    def words(self) -> str:
        return "str"


class MeshFile(DataFile):
    """Name of an STL or OBJ file with a closed surface."""

    def __init__(self, sentence: str) -> None:
        super().__init__(f"a file with a closed surface ({either(SUFFIXES)})", sentence, KEPT)

    def content(self, path: Path, content: bytes) -> dict[str, Any]:
        suffix = path.suffix.lower()
        if suffix not in SUFFIXES:
            raise WrongValueError(
                f"{printed(path)}: expected {either(SUFFIXES)} at the end of the name, got {suffix!r}"
            )
        trimesh = need("trimesh", "body.file")
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # of files with numbers that are none, which are refused below
                options = {"skip_materials": True} if suffix == ".obj" else {}
                mesh = trimesh.load_mesh(io.BytesIO(content), file_type=suffix[1:], **options)
            points, faces = np.array(mesh.vertices, dtype=np.float64), np.array(mesh.faces)
            readable = len(faces) > 0 and bool(np.isfinite(points).all())
        except Exception:  # of a foreign file, whatever the library meets in it
            readable = False
        if not readable:
            raise WrongValueError(f"{printed(path)}: expected triangles of finite points, got none that can be read")
        if not (mesh.is_watertight and mesh.is_winding_consistent):
            raise WrongValueError(
                f"{printed(path)}: expected a closed surface, got one with holes, or triangles that face both ways; "
                "repair it where it was drawn, or give mass, inertia and center_of_mass with shape = 'custom'"
            )
        shift = points.mean(axis=0)  # integrals about a far origin would lose digits
        mesh.apply_translation(-shift)
        found = mesh.mass_properties
        sign = math.copysign(1.0, found.volume)  # of a surface whose normals point inwards
        size = float(np.ptp(points, axis=0).max())
        if not sign * found.volume > np.finfo(float).eps * size**3:
            raise WrongValueError(f"{printed(path)}: expected a surface around some volume, got none")
        drawn, triangles = coarser(points, faces)
        return {
            "volume": sign * float(found.volume),
            "center": (np.array(found.center_mass) + shift).tolist(),
            "inertia": (sign * np.array(found.inertia)).tolist(),
            "points": np.round(drawn, DIGITS - math.ceil(math.log10(size))).tolist(),
            "faces": triangles.tolist(),
        }


def coarser(points: Array, faces: Any, most: int = MOST_DRAWN) -> tuple[Array, Any]:
    """A surface with at most so many triangles: points in the same cell of a grid become one, their mean."""
    low, size, cells = points.min(axis=0), float(np.ptp(points, axis=0).max()), 256
    found = points, faces
    while len(found[1]) > most:
        cell = np.floor((points - low) * (cells / size)).astype(np.int64)
        _, own, count = np.unique(cell, axis=0, return_inverse=True, return_counts=True)
        own = own.ravel()
        means = np.stack([np.bincount(own, x) / count for x in points.T], axis=1)
        corners = own[faces]
        a, b, c = corners.T
        corners = corners[(a != b) & (b != c) & (c != a)]
        _, first = np.unique(np.sort(corners, axis=1), axis=0, return_index=True)
        found = means, corners[np.sort(first)]
        cells = cells * 4 // 5
    return found
