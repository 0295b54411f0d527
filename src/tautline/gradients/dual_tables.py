"""Tables that have to be built anew for other numbers, with derivatives by differences: commands, paths of bodies."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cached_property
from typing import Any, TypeVar

import numpy as np

from tautline.arrays import Array
from tautline.engine import lowering
from tautline.engine.loads import path_table
from tautline.gradients.arrays import Dual, UnknownTangentsError
from tautline.gradients.differences import Changed, derivatives
from tautline.gradients.dual_cases import carries
from tautline.gradients.leaves import flat, leaves, split, with_leaves
from tautline.gradients.scales import scales_of
from tautline.kernels import data
from tautline.model.command import Command
from tautline.model.description import changed
from tautline.model.motions import Endless
from tautline.model.piecewise import evaluate
from tautline.model.places import with_value
from tautline.model.profile import Span
from tautline.model.sequence import Sequence
from tautline.model.ships import ShipMotion
from tautline.model.system.case import Case
from tautline.model.system.parts import Kinematic

T = TypeVar("T")


def dual_command(
    command: Command, length: Any, deployed: Any, span: Span | None, plain: data.Command, sizes: Array
) -> Any:
    """A command as the kernels have it, whose numbers carry derivatives; given at time 0.

    Parameters
    ----------
    command : Command
    length, deployed : float
        Of the string, and of what of it is out (m).
    span : tuple, optional
        Times that a motion without end is there for.
    plain : Command
        What it is without derivatives.
    sizes : array (k,)
        How far a change along each direction is that may be expected to make a difference.
    """
    if not carries((command, length, deployed)):
        return plain
    if isinstance(command, Sequence):
        raise UnknownTangentsError("a sequence, whose first command follows from the start")
    try:
        return lowering.kernel_command(command, length, 0.0, deployed, span)
    except (TypeError, ValueError):
        return by_differences(
            lambda x: lowering.kernel_command(x[0], x[1], 0.0, x[2], span), (command, length, deployed), sizes
        )


class DualMotion:
    """A path with derivatives at times that may carry some too; between time 0 and another (s)."""

    def __init__(self, path: Any, sizes: Array, until: float) -> None:
        self._path, self._sizes, self._until = path, sizes, until

    @cached_property
    def _table(self) -> Any:
        def made(path: Any) -> data.Loads:
            return data.Loads(False, True, path_table(path, 0.0, self._until), ())

        return by_differences(made, self._path, self._sizes).path

    def pieces(self, start: float = 0.0, until: float = 0.0) -> tuple[Any, Any]:
        """Knots, and coefficients (power, piece, axis) of the time since each."""
        return self._table[0], self._table[1:].reshape(3, 4, -1).transpose(1, 2, 0)

    def at(self, times: Any) -> tuple[Any, Any]:
        """Displacements (m) and velocities (m/s) at times."""
        t = np.atleast_1d(times)
        if isinstance(self._path, Endless):  # whose table is near it only
            found: tuple[Any, Any] = by_differences(lambda x: x[0].at(x[1]), (self._path, t), self._sizes)
            return found
        return evaluate(*self.pieces(), t), evaluate(*self.pieces(), t, 1)


def with_dual_motions(case: Case, sizes: Array, until: float) -> Case:
    """The case whose paths of bodies have derivatives, where their numbers or the times of segments carry some.

    UnknownTangentsError where a path also turns its body.
    """
    timed, found = carries(case.run.duration), dict(case.system.bodies)
    for name, body in case.system.bodies.items():
        if not isinstance(body, Kinematic) or body.path is None or not (timed or carries(body.path)):
            continue
        if not isinstance(body.path, ShipMotion):
            found[name] = changed(body, path=DualMotion(body.path, sizes, until))
        elif carries(body.path):
            raise UnknownTangentsError(f"the motion of {name}")
    return with_value(case, ("system", "bodies"), found)


def by_differences(make: Callable[[Any], Any], tree: Any, sizes: Array) -> Any:
    """Nested tuples of numbers with derivatives, made of others by a function that takes plain ones only."""
    here = make(_moved(tree, 0, 0.0))
    known, scales = Changed.of(here), scales_of(here)
    columns = np.zeros((len(flat(here)), len(sizes)))
    for j, size in enumerate(sizes.tolist()):

        def at(distance: float, j: int = j) -> Changed:
            return Changed.of(make(_moved(tree, j, distance)))

        if _changes(tree, j):
            columns[:, j] = derivatives(at, size, scales, known, "table").values
    return with_leaves(here, [Dual(x, t) for x, t in zip(leaves(here), split(here, columns), strict=True)])


def _moved(tree: Any, j: int, distance: float) -> Any:
    """Nested tuples, mappings and objects with plain numbers, at a distance along a direction."""
    if isinstance(tree, Dual):
        found = tree.value + distance * tree.tangent[..., j]
        return found if tree.ndim else float(found)
    if isinstance(tree, tuple):
        items = [_moved(x, j, distance) for x in tree]
        return type(tree)(*items) if hasattr(tree, "_fields") else tuple(items)
    if isinstance(tree, Mapping):
        return {name: _moved(x, j, distance) for name, x in tree.items()}
    if carries(tree):
        return changed(tree, **{name: _moved(x, j, distance) for name, x in vars(tree).items()})
    return tree


def _changes(tree: Any, j: int) -> bool:
    """Whether a number changes along a direction."""
    if isinstance(tree, Dual):
        return bool(tree.tangent[..., j].any())
    if isinstance(tree, tuple | Mapping):
        return any(_changes(x, j) for x in (tree.values() if isinstance(tree, Mapping) else tree))
    return carries(tree) and any(_changes(x, j) for x in vars(tree).values())
