"""How far attitudes of bodies can be trusted: errors of steps, and of the meshes of the lines that hold them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import NamedTuple

import numpy as np

from tautline.engine.criteria import Criterion, warnings_from
from tautline.engine.mesh import MeshHealth, added
from tautline.engine.network.strands import key_in_files, meshes_of, strands_of
from tautline.engine.turning import (
    attitude_criterion,
    attitude_error,
    missed_by_steps,
    missed_reaction,
    swings,
    turning_criterion,
)
from tautline.kernels import data
from tautline.kernels.network import data as kernels
from tautline.model.body import RigidBody
from tautline.model.checks import Vector
from tautline.model.system.system import System
from tautline.results.warnings import RunWarning


@dataclass
class BodyHealth:
    """Errors of attitudes, gathered over the samples of a run."""

    turn: float = 0.0  # largest angle that a body turned by in a step (rad)
    turning: dict[str, float] = field(default_factory=dict)  # of angles that bodies turned by, by steps (rad)
    swung: dict[str, float] = field(default_factory=dict)  # and by waves that meshes miss, by the ends of lines (rad)

    def look(self, system: System, samples: kernels.WholeSamples, elapsed: data.Array, order: int) -> None:
        """See how bodies turn."""
        omega = samples.bodies[..., kernels.BODY_OMEGA : kernels.BODY_OMEGA + 3]
        for i, (name, body) in enumerate(system.bodies.items()):
            if isinstance(body, RigidBody) and not body.is_point:
                spin, steps = np.linalg.norm(omega[:, i], axis=1), samples.whole[:, kernels.STEP_LENGTH]
                self.turn = max(self.turn, float(np.nanmax(spin * steps, initial=0.0)))
                if order == 2:
                    missed = missed_by_steps(spin, steps)
                    self.turning[name] = float(added(self.turning.get(name, 0.0), missed * elapsed))
        number = {name: i for i, name in enumerate(system.bodies)}
        for end in ends_of(system):
            line = system.lines[end.line]
            l = (line.string.length - samples.strands[:, end.string, kernels.RETRACTED]) / line.count
            missed = missed_reaction(end.body, line.string.density, l, omega[:, number[end.name]])
            self.swung[end.key] = float(added(self.swung.get(end.key, 0.0), missed * elapsed))

    def errors(self, system: System, meshes: Mapping[str, MeshHealth]) -> list[tuple[float, End]]:
        """Errors of attitudes that meshes leave (rad), by the ends of lines on bodies."""
        ends = [end for end in ends_of(system) if end.key in self.swung and end.mesh in meshes]
        return [(float(attitude_error(end.body, self.swung[end.key], meshes[end.mesh].lost)), end) for end in ends]

    def figures(self, system: System, meshes: Mapping[str, MeshHealth]) -> dict[str, float]:
        """Figures by name, the largest of all bodies."""
        return {
            "turning_error": max(self.turning.values(), default=0.0),
            "attitude_error": max((error for error, _ in self.errors(system, meshes)), default=0.0),
        }

    def warnings(self, system: System, meshes: Mapping[str, MeshHealth]) -> list[RunWarning]:
        """Warnings on each body, and by the line that leaves it most uncertain."""
        found = [w for name, x in self.turning.items() for w in on_body(system, name, turning_criterion(x))]
        for name in system.bodies:
            own = [(error, end) for error, end in self.errors(system, meshes) if end.name == name]
            if own:
                error, end = max(own, key=lambda x: x[0])
                key = key_in_files(system, end.line)
                advised = f"{key}.elements = " if key else "elements="
                found += on_body(system, name, attitude_criterion(error, system.lines[end.line].count, advised))
        return found


class End(NamedTuple):
    """End of a line at a body that swings about its center of mass.

    Attributes
    ----------
    name, line, mesh : str
        Body, line, and key of the mesh of its span there.
    string : int
        Number of that span among the strings of the kernels.
    body : RigidBody
        The body, with the end of the line in the origin of its frame.
    """

    name: str
    line: str
    mesh: str
    string: int
    body: RigidBody

    @property
    def key(self) -> str:
        """Name of the end in a checkpoint."""
        return f"{self.mesh}@{self.name}"


def ends_of(system: System) -> Iterator[End]:
    """Ends of lines on bodies that are held by them alone, off their centers of mass."""
    for k, mesh, _, name in meshes_of(system):
        line = system.lines[name]
        span = strands_of(system)[k].span
        for on, point, outer in ((line.start, line.start_point, 0), (line.end, line.end_point, line.spans - 1)):
            body = system.bodies.get(on)
            if span == outer and isinstance(body, RigidBody) and not body.is_point:
                held = _seen_from(body, point)
                if swings(held):
                    yield End(on, name, mesh, k, held)


@lru_cache(maxsize=64)
def _seen_from(body: RigidBody, point: Vector) -> RigidBody:
    """The body with a point of it as the origin of its frame."""
    center = tuple(c - p for c, p in zip(body.center_of_mass, point, strict=True))
    return RigidBody.about_center(body.mass, body.central_inertia(), center)


def on_body(system: System, name: str, criterion: Criterion) -> list[RunWarning]:
    """Warning on a body if a limit is exceeded; its sentence names it where there are several."""
    words = f"body {name!r}: " if len(system.free_bodies) > 1 else ""
    return [replace(w, where=name).prefixed(words) for w in warnings_from([criterion])]
