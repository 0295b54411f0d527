"""What a run shows: strings, reels and bodies of a pendulum or an assembly, and the curves beside them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from tautline.arrays import Array
from tautline.model.assembly.assembly import System
from tautline.model.assembly.parts import Line
from tautline.model.body import RigidBody
from tautline.model.pendulum import Chain
from tautline.model.reel import Reel
from tautline.model.shapes import body_mesh
from tautline.model.string import String
from tautline.results.assembly import assembly_of, spans
from tautline.results.inputs import CASE, pendulum_of
from tautline.viewer import curves
from tautline.viewer.curves import Curve, Plot

# The straight guide in front of a drum, and the drum's axis, right-handed in retrieval, where the model does not say.
GUIDE = (1.0, 0.0, 0.0)
AXIS = (0.0, -1.0, 0.0)
PENDULUM = ("time", "reeled_length", "position", "attitude", "tension", "strain")


class Mount(NamedTuple):
    """A reel, and how it stands: directions in the frame of the body that carries it, or in space."""

    reel: Reel
    guide: tuple[float, ...] = GUIDE
    axis: tuple[float, ...] = AXIS


class Strand(NamedTuple):
    """A string as it is drawn: its nodes and elements among those of all, what holds its ends (None for a point)."""

    name: str
    string: String
    nodes: slice
    elements: slice
    ends: tuple[int | None, int | None]
    mount: Mount | None


class Subject(NamedTuple):
    """What is drawn and plotted of a run."""

    strands: list[Strand]
    bodies: dict[str, RigidBody | None]  # None for one that is held
    gravity: float
    surface: float | None  # depth of the water's (m)
    plots: tuple[Plot, ...]
    curves: tuple[Curve, ...]
    variables: tuple[str, ...]  # that frames are made from

    def origins(self, values: Mapping[str, Array]) -> Array:
        """Origins of the bodies' frames: of a pendulum's the last node, else beside the centre of mass."""
        if "body_position" not in values:
            return values["position"][:, -1:]
        return values["body_position"] - self._offsets(values)

    def centers(self, values: Mapping[str, Array]) -> Array:
        """Centres of mass of the bodies."""
        return values["body_position"] if "body_position" in values else self.origins(values) + self._offsets(values)

    def _offsets(self, values: Mapping[str, Array]) -> Array:
        """From the origins of the bodies' frames to their centres of mass, in space."""
        places = np.array([body.center_of_mass if body else (0.0, 0.0, 0.0) for body in self.bodies.values()])
        attitudes = values["attitude"].reshape(len(values["attitude"]), -1, 3, 3)
        offsets: Array = np.einsum("tbij,bj->tbi", attitudes, places.reshape(-1, 3))
        return offsets

    def energy_density(self, strain: Array) -> Array:
        """Elastic energy of the elements, per length of unstretched string (J/m)."""
        return np.concatenate([x.string.energy_density(strain[:, x.elements]) for x in self.strands], axis=1)

    def reach(self) -> list[float]:
        """How far the shapes of the bodies reach from the origins of their frames (m)."""
        return [float(np.linalg.norm(body_mesh(x)[0], axis=1).max()) if x else 0.0 for x in self.bodies.values()]


def subject_of(attributes: Mapping[Any, Any]) -> Subject:
    """What a run shows, from the attributes of its dataset or file."""
    assembly = assembly_of(str(attributes[CASE])) if CASE in attributes else None
    return of_chain(pendulum_of(attributes)) if assembly is None else of_assembly(assembly)


def of_chain(pendulum: Chain) -> Subject:
    """One string from a reel in space to one body; neither has a name."""
    strand = Strand("", pendulum.string, slice(None), slice(None), (None, 0), Mount(pendulum.reel))
    surface = None if pendulum.fluid is None else pendulum.fluid.surface
    return Subject([strand], {"": pendulum.body}, pendulum.gravity, surface, curves.PLOTS, curves.CURVES, PENDULUM)


def of_assembly(assembly: System) -> Subject:
    """All strings and bodies, by their names."""
    number = {name: k for k, name in enumerate(assembly.bodies)}
    strands = []
    for name, (nodes, elements) in spans(assembly).items():
        line = assembly.lines[name]
        ends = (number.get(line.start), number.get(line.end))
        strands.append(Strand(name, line.string, nodes, elements, ends, _mount(assembly, line)))
    bodies = {name: body if isinstance(body, RigidBody) else None for name, body in assembly.bodies.items()}
    assert assembly.gravity is not None
    return Subject(
        strands, bodies, assembly.gravity, None, *curves.of_assembly(assembly), variables=(*PENDULUM, "body_position")
    )


def _mount(assembly: System, line: Line) -> Mount | None:
    """The reel of a line; on a free body its guide leads outwards, at right angles to the drum's axis."""
    if line.reel is None:
        return None
    if line.drum_axis is None:
        return Mount(line.reel)
    axis, body = np.array(line.drum_axis), assembly.bodies[line.start]
    assert isinstance(body, RigidBody)
    outwards = np.array(line.start_point) - body.center_of_mass
    for wish in (outwards, *np.eye(3)):
        guide = wish - (wish @ axis) * axis
        if np.linalg.norm(guide) > 1e-6 * max(1.0, float(np.linalg.norm(wish))):
            break
    return Mount(line.reel, tuple((guide / np.linalg.norm(guide)).tolist()), tuple(axis.tolist()))
