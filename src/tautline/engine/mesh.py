"""Whether the mesh is fine enough: noise in its shortest waves, and the error that it causes.

Both are read off the samples of a run, without a second run. What they mean and how they were measured against finer
meshes is on the page "How many elements?" (docs/howto/elements.md); `benchmarks/elements.py` measures it again.
"""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass
from typing import Any, NamedTuple

import numpy as np

from tautline.arrays import Array
from tautline.engine.sayings import Saying, said
from tautline.model.pendulum import Pendulum
from tautline.results.values import lengths_of

# Beyond these a remark is made; where they come from is in docs/howto/elements.md.
NOISE_REMARK = 0.02
SMOOTH_NOISE = 0.5  # over N^2: what a tension that rises as a parabola from 0 shows without any noise
ERROR_REMARK = 0.02
FOLD_REMARK = 120.0  # degrees
SLACK_REMARK = 0.05
# Nodes of samples that are looked at together.
NODES_AT_ONCE = 16_000
# A strain that is not below 0 by more than this is a string at its natural length.
NO_STRAIN = 1e-9
# Times N: strain that may be rounding, since lengths of elements are differences of places along the whole string.
ROUNDING = 1e-14
# Waves that have lost their phase are wrong by their own size and no more. The size follows from the sag and from
# their squared phase between two nodes; fitted with the other constant of `mesh_error` to runs against finer meshes.
LOST_PHASE = 20.0
UNKNOWN_PHASE2 = 2.0  # squared phase where two elements cannot tell it
MOST_AT_GUIDE = 8.0  # of the length that a wrong strain at the guide let through
# Phase error of a linear element over the squared phase between two nodes, and sag over the second difference.
PHASE_ERROR, SAG = 1.0 / 24.0, 1.0 / 8.0


class Shape(NamedTuple):
    """What a sample tells of its mesh; one number for each sample."""

    tension: Array  # largest in size (N)
    rough: Array  # largest part of an element's tension that a mean over its neighbours does not have (N)
    sag: Array  # rms depth of the arc that an element cuts off (m)
    drift: Array  # rms rate at which short waves lose their phase (m/s)
    bend: Array  # mean squared second difference of the nodes (m^2)
    twist: Array  # and third one (m^2)
    guide_strain: Array  # of the first element
    guide_step: Array  # how far it is from the strain at the guide
    slack: Array  # part of the elements that is shorter than its natural length
    fold: Array  # largest angle between neighbouring elements (degrees)


def rough_part(tension: Array) -> Array:
    """Short waves along the second axis: (2 T_e - T_{e-1} - T_{e+1})/4 for all elements but the first and the last.

    A wave whose phase grows by theta from one element to the next keeps sin(theta/2)^2 of its height: the shortest
    one all of it, a long one nothing; a tension that rises evenly leaves nothing at all.
    """
    if tension.shape[1] < 3:
        return np.zeros_like(tension[:, :1])
    rough = 2.0 * tension[:, 1:-1]
    rough -= tension[:, :-2]
    rough -= tension[:, 2:]
    rough *= 0.25
    return np.asarray(rough)


def mesh_noise(tension: Array) -> float:
    """Largest part of a tension in the mesh's shortest waves, over the largest tension; samples by elements."""
    largest = float(np.abs(tension).max(initial=0.0))
    return float(np.abs(rough_part(tension)).max(initial=0.0)) / largest if largest > 0.0 else 0.0


def mesh_error(sag: Any, drift: Any, phase2: Any, guide: Any, length: Any) -> Any:
    """Estimated error of positions, rms along the string and largest in time, over the longest deployed length.

    Parameters
    ----------
    sag : float
        Largest rms depth of the arcs that the elements cut off (m).
    drift : float
        Way that waves have lost to the mesh's phase error (m), if it were not for a bound: they cannot be wrong by
        more than their own size.
    phase2 : float
        Squared phase of the waves between two nodes, which gives that size.
    guide : float
        Error of the reel's motion by the strain at the guide (m).
    length : float
        Longest deployed length (m).
    """
    bound = over(LOST_PHASE * sag, phase2)
    waves = np.where((bound > 0.0) & (bound < np.inf), over(drift * bound, drift + bound), drift)
    return over(sag + waves + guide, length)


def shape_of(
    pendulum: Pendulum, nodes: Array, velocities: Array, reeled_length: Array, lengths: Array | None = None
) -> Shape:
    """Figures of n samples: nodes and velocities (n, N + 1, 3[, members]) relative to the guide entrance.

    `lengths` are those of the elements, where they are known.
    """
    N = nodes.shape[1] - 1
    l = (pendulum.string.length - reeled_length) / N
    lengths = lengths_of(nodes) if lengths is None else lengths
    cosine, bend, twist, drift = _products(nodes, velocities)
    strain = lengths / l[:, None]
    strain -= 1.0
    strain[np.abs(strain) < ROUNDING * N] = 0.0
    tension = pendulum.string.tension(strain)
    short = strain < -NO_STRAIN
    slack = np.add.reduce(short, axis=1, dtype=np.int32) / N if short.any() else np.zeros_like(l)
    largest, rough = _largest(tension), _largest(rough_part(tension))
    if N == 1:
        sag, no = _single_sag(pendulum, nodes[:, 1] - nodes[:, 0], l), np.zeros_like(l)
        step = 0.5 * pendulum.gravity * pendulum.string.density * l / pendulum.string.stiffness
        return Shape(largest, rough, sag, no, no, no, strain[:, 0], step, slack, no)
    lengths = np.maximum(lengths, 1e-150)  # whose squares do not vanish
    cosine /= lengths[:, 1:] * lengths[:, :-1]
    cosine = np.minimum(np.maximum(np.minimum.reduce(cosine, axis=1), -1.0), 1.0)
    bend = _mean(bend)
    return Shape(
        largest,
        rough,
        SAG * np.sqrt(bend),
        PHASE_ERROR * np.sqrt(_mean(drift)),
        bend,
        _mean(twist) if N > 2 else UNKNOWN_PHASE2 * bend,
        strain[:, 0],
        0.5 * (strain[:, 0] - strain[:, 1]),
        slack,
        np.degrees(np.arccos(cosine)),
    )


def _products(nodes: Array, velocities: Array) -> list[Array]:
    """Products of neighbouring elements; squares of the second and third differences of nodes, and of the second ones
    of velocities. One component after the other, as in `lengths_of`.
    """
    sums: list[Array] = []
    for axis in range(3):
        along = _differences(nodes[:, :, axis])
        turns = _differences(along)
        thirds, rates = _differences(turns), _differences(_differences(velocities[:, :, axis]))
        factors = (along[:, 1:], along[:, :-1]), (turns, turns), (thirds, thirds), (rates, rates)
        for k, (a, b) in enumerate(factors):
            if axis == 0:
                sums.append(a * b)
            else:
                sums[k] += a * b
    return sums


def shape_in_parts(pendulum: Pendulum, nodes: Array, velocities: Array, reeled_length: Array) -> Shape:
    """Figures of samples, of so many at a time that what is made on the way stays in the cache."""
    rows = max(1, NODES_AT_ONCE * 3 // math.prod(nodes.shape[1:]))
    parts = [slice(first, first + rows) for first in range(0, max(1, len(nodes)), rows)]
    with np.errstate(all="ignore"):  # a run that overflowed says so in its status
        shapes = [shape_of(pendulum, nodes[part], velocities[part], reeled_length[part]) for part in parts]
    return shapes[0] if len(shapes) == 1 else Shape(*map(np.concatenate, zip(*shapes, strict=True)))


def _single_sag(pendulum: Pendulum, along: Array, l: Array) -> Array:
    """Depth of the arc that a single element cuts off (m): the string's weight across it over the pull of all.

    It has no neighbours to compare with. Along the string the same ratio is the unevenness of its strain.
    """
    mass = pendulum.string.density * l
    length = np.sqrt(along[:, 0] ** 2 + along[:, 1] ** 2 + along[:, 2] ** 2)
    tilt = np.sqrt(along[:, 0] ** 2 + along[:, 1] ** 2) / np.maximum(length, 1e-290)
    across = np.where(np.asarray(pendulum.gravity) > 0.0, tilt, 1.0)
    return np.asarray(SAG * l * mass / (pendulum.body.mass + 0.5 * mass) * (across + np.abs(length / l - 1.0)))


def _differences(x: Array) -> Array:
    """From each to the next along the second axis; `numpy.diff` takes as long again to see that."""
    return np.asarray(x[:, 1:] - x[:, :-1])


def _mean(x: Array) -> Array:
    return np.asarray(np.add.reduce(x, axis=1) / x.shape[1])


def _largest(x: Array) -> Array:
    return np.asarray(np.maximum.reduce(np.abs(x), axis=1))


@dataclass
class MeshHealth:
    """Noise and error of a mesh, gathered over the samples of a run in any number of pieces.

    The result does not depend on how the samples are cut into pieces, to the last bit. The fields are plain numbers:
    `state()` goes into a checkpoint, `MeshHealth(**state)` goes on.
    """

    samples: int = 0
    time: float = 0.0  # of the latest sample (s)
    reeled_length: float = 0.0  # then (m)
    length: float = 0.0  # longest deployed (m)
    tension: float = 0.0  # largest (N)
    rough: float = 0.0  # largest (N)
    sag: float = 0.0  # largest (m)
    drift: float = 0.0  # gathered over time (m)
    bend: float = 0.0  # summed over samples (m^2)
    twist: float = 0.0  # summed over samples (m^2)
    let_through: float = 0.0  # length reeled times the error of the strain at the guide (m)
    guide_speed: float = 0.0  # error of the reel's speed by it (m/s)
    guide: float = 0.0  # and of the reeled length (m)
    slack: float = 0.0  # summed over samples
    fold: float = 0.0  # largest (degrees)

    def update(
        self,
        pendulum: Pendulum,
        times: Array,
        nodes: Array,
        velocities: Array,
        reeled_length: Array,
        reel_is_free: bool = True,
    ) -> None:
        """Take in n samples: nodes and velocities (n, N + 1, 3) relative to the guide entrance, in order of time.

        The reel is free where forces move it, and not a given motion. Samples with numbers that are not finite, of a
        run that failed, are left out.
        """
        shape = shape_in_parts(pendulum, nodes, velocities, reeled_length)
        fine = np.isfinite(np.stack([times, reeled_length, *shape])).all(axis=0)
        if not fine.any():
            return
        if not fine.all():
            times, reeled_length, shape = times[fine], reeled_length[fine], Shape(*(x[fine] for x in shape))
        self.take(pendulum, times, reeled_length, shape, reel_is_free)

    def take(
        self, pendulum: Pendulum, times: Array, reeled_length: Array, shape: Shape, reel_is_free: bool = True
    ) -> None:
        """Take in the figures of n samples, in order of time; of members too, as the last dimension of arrays."""
        started = self.samples > 0
        elapsed = np.diff(times, axis=0, prepend=self.time if started else times[:1])
        reeled = np.diff(reeled_length, axis=0, prepend=self.reeled_length if started else reeled_length[:1])
        self.samples += len(times)
        self.time, self.reeled_length = times[-1], reeled_length[-1]
        self.length = np.maximum(self.length, pendulum.string.length - reeled_length.min(axis=0))
        self.tension = np.maximum(self.tension, shape.tension.max(axis=0))
        self.rough = np.maximum(self.rough, shape.rough.max(axis=0))
        self.sag = np.maximum(self.sag, shape.sag.max(axis=0))
        self.fold = np.maximum(self.fold, shape.fold.max(axis=0))
        self.drift = added(self.drift, elapsed * shape.drift)
        self.bend, self.twist = added(self.bend, shape.bend), added(self.twist, shape.twist)
        if reel_is_free and pendulum.reel.guide_law != "none" and pendulum.reel.guide_strain == "mean":
            self._pass_guide(pendulum, elapsed, reeled, shape)
        self.slack = added(self.slack, shape.slack)

    def _pass_guide(self, pendulum: Pendulum, elapsed: Array, reeled: Array, shape: Shape) -> None:
        """Follow what the guide law's force, (16), gets wrong with the mean strain of the first element."""
        string = pendulum.string
        moved = pendulum.reel.turning_mass + string.density * string.length + pendulum.body.mass
        wrong = string.stiffness * shape.guide_strain * shape.guide_step * np.sign(reeled) / moved
        speeds = np.cumsum(_after(self.guide_speed, elapsed * wrong), axis=0)
        self.guide_speed = speeds[-1]
        self.guide = added(self.guide, elapsed * speeds[1:])
        self.let_through = added(self.let_through, np.abs(reeled * shape.guide_step))

    def state(self) -> dict[str, Any]:
        """All fields, for a checkpoint."""
        return asdict(self)

    @property
    def noise(self) -> Any:
        """Largest tension in the mesh's shortest waves, over the largest tension: see `mesh_noise`."""
        return over(self.rough, self.tension)

    @property
    def error(self) -> Any:
        """Estimated error of positions over the longest deployed length: see `mesh_error`."""
        guide = np.minimum(np.abs(self.guide), MOST_AT_GUIDE * self.let_through)
        return mesh_error(self.sag, self.drift, over(self.twist, self.bend), guide, self.length)

    @property
    def slack_share(self) -> Any:
        """Part of the string that was shorter than its natural length, mean over the samples."""
        return self.slack / self.samples if self.samples else 0.0

    def figures(self) -> dict[str, float]:
        """Figures for the attributes of a result."""
        return {
            "mesh_noise": self.noise,
            "mesh_error": self.error,
            "slack_share": self.slack_share,
            "largest_fold_deg": self.fold,
        }

    def sayings(self, pendulum: Pendulum, elements: int) -> list[Saying]:
        """What there is to say of a mesh, and what to do about it."""
        folded = np.greater(self.fold, FOLD_REMARK)
        viscosity = pendulum.string.stiffness * (self.length / elements) / pendulum.string.wave_speed
        what = "slack"
        if pendulum.string.law == "linear":
            what = "in compression, where a real one is slack: String.law = 'tension_only' does not push"
        return [
            Saying(
                np.greater(self.noise, NOISE_REMARK + SMOOTH_NOISE / elements**2),
                # damping that stops waves of about two elements within one oscillation is EA l/c
                (self.noise, viscosity),
                lambda noise, viscosity: (
                    f"the mesh carries noise: its shortest waves hold up to {noise:.0%} of the largest tension, so "
                    "peak tensions are not converged, and more elements alone seldom help; smooth starts and stops, or "
                    f"add damping at the price of smaller steps (String.viscosity, {float(f'{viscosity:.1g}'):g} N s "
                    "or less)"
                ),
            ),
            Saying(
                np.greater(self.error, ERROR_REMARK) & ~folded,
                (self.error,),
                lambda error: (
                    f"the mesh of {elements} elements leaves positions uncertain by about {error:.1%} of the deployed "
                    f"length; try elements={elements * (2 if error < 2.0 * ERROR_REMARK else 4)}"
                ),
            ),
            Saying(
                folded,
                (self.fold,),
                lambda fold: (
                    f"the string folded, by up to {fold:.0f} degrees between neighbouring elements: a fold is as "
                    "sharp as the mesh, and what follows depends on the mesh; add damping, or begin with a taut string"
                ),
            ),
            Saying(
                np.greater(self.slack_share, SLACK_REMARK),
                (self.slack_share,),
                lambda share: f"on average {share:.0%} of the string was {what}",
            ),
        ]

    def remarks(self, pendulum: Pendulum, elements: int) -> list[str]:
        """Sentences on what a user would not accept unseen; none if all is well."""
        return said(self.sayings(pendulum, elements))


def over(x: Any, size: Any) -> Any:
    """Part x/size, 0 where the size is."""
    there = np.greater(size, 0.0)
    return np.where(there, x, 0.0) / np.where(there, size, 1.0)


def added(total: Any, increments: Array) -> Any:
    """Sum in order of time, so that pieces give the same as the whole."""
    return np.cumsum(_after(total, increments), axis=0)[-1]


def _after(first: Any, others: Array) -> Array:
    return np.concatenate([np.broadcast_to(first, others[:1].shape), others])
