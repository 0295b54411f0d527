"""Samples that are moved along their derivatives."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from tautline.arrays import Array
from tautline.gradients.rotations import rotation_by, turns_of
from tautline.kernels import data

ATTITUDE = slice(data.ROTATION, data.ROTATION + 9)
SPIN = slice(data.ANGULAR_VELOCITY, data.ANGULAR_VELOCITY + 3)
GUIDE = slice(data.GUIDE_VELOCITY, data.GUIDE_VELOCITY + 3)


class MovedSamples(NamedTuple):
    """Samples, and how the states in them move along directions.

    Of a sample along a direction, a distance of 1 is as far as makes a difference: the length of an element, its speed
    if that is above 1 m/s, an angle of 1.
    """

    samples: data.Samples
    nodes: Array  # (rows, 2, N + 1, 3, directions)
    scalars: Array  # (rows, SCALARS, directions) of spin, guide velocity and reeled length; zeros of the others
    turns: Array  # (rows, 3, directions): rotation vectors in the frame of the body
    pace: Array  # (rows, directions): that distance over a change of 1 along the direction; NaN where it is not known

    @classmethod
    def of(cls, par: data.Parameters, samples: Any, locked: bool) -> MovedSamples:
        """From samples that carry derivatives; the reeled length of a locked reel, which all share, stays."""
        plain = data.Samples(samples.scalars.value, samples.nodes.value)
        x, nodes = samples.scalars.tangent, samples.nodes.tangent
        turns = turns_of(samples.scalars[:, ATTITUDE].reshape(-1, 3, 3))
        length = par.L - plain.scalars[:, data.REELED_LENGTH]
        speed = np.abs(plain.nodes[:, 1]).max(axis=(1, 2), initial=1.0)
        spin = np.abs(plain.scalars[:, SPIN]).max(axis=1, initial=1.0)
        scalars, sizes = np.zeros_like(x), np.ones(plain.scalars.shape)
        for place, size in ((SPIN, spin), (GUIDE, speed), (data.REELED_LENGTH, length)):
            if place != data.REELED_LENGTH or not locked:
                scalars[:, place] = x[:, place]
            sizes[:, place] = size[:, None] if isinstance(place, slice) else size
        parts = [
            np.abs(nodes[:, 0]).max(axis=(1, 2)) / (length / par.N)[:, None],
            np.abs(nodes[:, 1]).max(axis=(1, 2)) / speed[:, None],
            np.abs(scalars / sizes[:, :, None]).max(axis=1),
            np.abs(turns).max(axis=1),
        ]
        return cls(plain, nodes, scalars, turns, np.max(parts, axis=0))

    def part(self, rows: slice) -> MovedSamples:
        """Some of the samples."""
        return MovedSamples(data.Samples(*(x[rows] for x in self.samples)), *(x[rows] for x in self[1:]))

    def at(self, distance: float) -> data.Samples:
        """All samples at a distance along all directions; those of one sample stand behind each other."""
        far = distance / np.where(self.pace > 0.0, self.pace, np.inf)
        nodes = self.samples.nodes[..., None] + far[:, None, None, None] * np.nan_to_num(self.nodes)
        scalars = self.samples.scalars[..., None] + far[:, None] * np.nan_to_num(self.scalars)
        vectors = np.moveaxis(far[:, None] * np.nan_to_num(self.turns), 1, 2)
        R = self.samples.scalars[:, ATTITUDE].reshape(-1, 1, 3, 3)
        scalars[:, ATTITUDE] = np.moveaxis((R @ rotation_by(vectors)).reshape(*far.shape, 9), 1, 2)
        behind = (np.moveaxis(x, -1, 1) for x in (scalars, nodes))
        return data.Samples(*(np.ascontiguousarray(x.reshape(-1, *x.shape[2:])) for x in behind))
