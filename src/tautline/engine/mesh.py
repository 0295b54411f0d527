"""Whether the mesh is fine enough: noise in its shortest waves, and the error that it causes.

Both are read off the samples of a run, without a second run. What they mean and how they were measured against finer
meshes is on the page "How many elements?" (docs/howto/elements.md); `benchmarks/elements.py` measures it again.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from tautline.arrays import Array, Figure
from tautline.engine.shape import (
    ARC,
    NO_STRAIN,
    PHASE_ERROR,
    InField,
    Shape,
    current_tension,
    front_tension,
    shape_in_parts,
)
from tautline.engine.snaps import snaps_in
from tautline.model.reel import Reel
from tautline.results.values import lengths_of

# Noise counts where the tension of a sample, with so many times its noise, is beyond the largest tension by the noise's
# limit: that of a string far from its largest tension leaves the peak as it is.
NOISE_REACH = 8.0
# Missing at sharp fronts, of 20 to 320 elements and damping ratios up to 0.2 (docs/howto/elements.md).
AT_FRONT, BY_DAMPING = 1.9, 3.5
# Waves that have lost their phase are wrong by their own size and no more. The size follows from the sag and from
# their squared phase between two nodes; fitted with the other constant of `mesh_error` to runs against finer meshes.
LOST_PHASE = 20.0
MOST_AT_GUIDE = 8.0  # of the length that a wrong strain at the guide let through


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
    return over(sag + lost_way(sag, drift, phase2) + guide, length)


def lost_way(sag: Any, drift: Any, phase2: Any) -> Any:
    """Error of positions by waves that lost their phase (m); arguments as those of `mesh_error`."""
    bound = over(LOST_PHASE * sag, phase2)
    return np.where((bound > 0.0) & (bound < np.inf), over(drift * bound, drift + bound), drift)


@dataclass
class MeshHealth:
    """Noise and error of a mesh, gathered over the samples of a run in any number of pieces.

    The result does not depend on how the samples are cut into pieces, to the last bit. The fields are plain numbers:
    `state()` goes into a checkpoint, `MeshHealth(**state)` goes on.
    """

    samples: int = 0
    time: Figure = 0.0  # of the latest sample (s)
    reeled_length: Figure = 0.0  # then (m)
    length: Figure = 0.0  # longest deployed (m)
    tension: Figure = 0.0  # largest (N)
    rough: Figure = 0.0  # largest (N)
    sag: Figure = 0.0  # largest (m)
    drift: Figure = 0.0  # gathered over time (m)
    bend: Figure = 0.0  # summed over samples (m^2)
    twist: Figure = 0.0  # summed over samples (m^2)
    let_through: Figure = 0.0  # length reeled times the error of the strain at the guide (m)
    guide_speed: Figure = 0.0  # error of the reel's speed by it (m/s)
    guide: Figure = 0.0  # and of the reeled length (m)
    slack: Figure = 0.0  # summed over samples
    loose: Figure = 0.0  # whether it was slack, and has not taken load since
    snaps: Figure = 0.0  # times that it took load after that
    fold: Figure = 0.0  # largest (degrees)
    front: Figure = 0.0  # tension by jumps of the velocities at the start (N)
    current: Figure = 0.0  # and by a current that takes hold of the string at once (N)
    taut: Figure = 1.0  # whether it was, at the start
    arc: Figure = 0.0  # largest tension with what the elements miss by being straight (N)
    push: Figure = 0.0  # largest compression (N)
    missing: Figure = 0.0  # largest tension that the elements miss by being straight (N)
    pull: Figure = 0.0  # mean along the string, of the latest sample (N)
    rate: Figure = 0.0  # of that (N/s)
    pulls: Figure = 0.0  # summed over samples (N)
    rates2: Figure = 0.0  # and the squares of its rate (N^2/s^2)
    jerks2: Figure = 0.0  # and of the rate of that (N^2/s^4)
    reach: Figure = np.nan  # largest tension with NOISE_REACH times the noise of its sample (N); unknown before one

    def begin(self, line: InField, nodes: Array, velocities: Array, reeled_length: Any) -> None:
        """Look at the start: nodes and velocities (N + 1, 3[, members])."""
        with np.errstate(all="ignore"):
            self.front = front_tension(line, nodes, velocities, reeled_length)
            self.current = current_tension(line, nodes, velocities, reeled_length)
        l = (line.string.length - reeled_length) / (len(nodes) - 1)
        self.taut = 1.0 * np.all(lengths_of(nodes[None])[0] > (1.0 - NO_STRAIN) * l, axis=0)

    def update(
        self,
        line: InField,
        times: Array,
        nodes: Array,
        velocities: Array,
        reeled_length: Array,
        mass: Any = None,
        reel: Reel | None = None,
    ) -> None:
        """Take in n samples: nodes and velocities (n, N + 1, 3) relative to the guide entrance, in order of time.

        `mass` is that at its end, where nothing else holds it, and `reel` the one that forces move, and not a given
        motion. Samples with numbers that are not finite, of a run that failed, are left out.
        """
        shape = shape_in_parts(line, nodes, velocities, reeled_length, mass)
        fine = np.isfinite(np.stack([times, reeled_length, *shape])).all(axis=0)
        if not fine.any():
            return
        if not fine.all():
            times, reeled_length, shape = times[fine], reeled_length[fine], Shape(*(x[fine] for x in shape))
        self.take(line, times, reeled_length, shape, mass, reel)

    @np.errstate(all="ignore")  # a run that overflowed says so in its status
    def take(
        self,
        line: InField,
        times: Array,
        reeled_length: Array,
        shape: Shape,
        mass: Any = None,
        reel: Reel | None = None,
    ) -> None:
        """Take in the figures of n samples, in order of time; of members too, as the last dimension of arrays."""
        started = self.samples > 0
        elapsed = np.diff(times, axis=0, prepend=self.time if started else times[:1])
        reeled = np.diff(reeled_length, axis=0, prepend=self.reeled_length if started else reeled_length[:1])
        self._swing(elapsed, shape)
        self.samples += len(times)
        self.time, self.reeled_length = times[-1], reeled_length[-1]
        self.length = np.maximum(self.length, line.string.length - reeled_length.min(axis=0))
        self.loose, snaps = snaps_in(self.loose, self.tension, shape.slack, shape.tension)
        self.snaps = self.snaps + snaps
        self.tension = np.maximum(self.tension, shape.tension.max(axis=0))
        self.push = np.maximum(self.push, shape.push.max(axis=0))
        self.rough = np.maximum(self.rough, shape.rough.max(axis=0))
        self.arc = np.maximum(self.arc, (shape.tension + shape.arc).max(axis=0))
        self.reach = np.fmax(self.reach, (shape.tension + NOISE_REACH * shape.rough).max(axis=0))
        self.sag = np.maximum(self.sag, shape.sag.max(axis=0))
        self.fold = np.maximum(self.fold, shape.fold.max(axis=0))
        self.drift = added(self.drift, elapsed * shape.drift)
        self.bend, self.twist = added(self.bend, shape.bend), added(self.twist, shape.twist)
        if mass is not None and reel is not None and reel.guide_law != "none" and reel.guide_strain == "mean":
            string = line.string
            moved = reel.turning_mass + string.density * string.length + mass
            self._pass_guide(string.stiffness / moved, elapsed, reeled, shape)
        self.slack = added(self.slack, shape.slack)

    def _swing(self, elapsed: Array, shape: Shape) -> None:
        """Follow how fast the tension swings, from the second sample on, and how fast its rate does, from the third."""
        self.missing = np.maximum(self.missing, shape.arc.max(axis=0))
        rates = over(np.diff(_after(self.pull, shape.pull), axis=0), elapsed)
        rates[: max(0, 1 - self.samples)] = 0.0
        jerks = over(np.diff(_after(self.rate, rates), axis=0), elapsed)
        jerks[: max(0, 2 - self.samples)] = 0.0
        self.pull, self.rate, self.pulls = shape.pull[-1], rates[-1], added(self.pulls, shape.pull)
        self.rates2, self.jerks2 = added(self.rates2, rates**2), added(self.jerks2, jerks**2)

    def _pass_guide(self, stiffness: Any, elapsed: Array, reeled: Array, shape: Shape) -> None:
        """Follow what the guide law's force, (16), gets wrong with the mean strain of the first element.

        The stiffness is that of the string over the mass that it moves.
        """
        wrong = stiffness * shape.guide_strain * shape.guide_step * np.sign(reeled)
        speeds = np.cumsum(_after(self.guide_speed, elapsed * wrong), axis=0)
        self.guide_speed = speeds[-1]
        self.guide = added(self.guide, elapsed * speeds[1:])
        self.let_through = added(self.let_through, np.abs(reeled * shape.guide_step))

    def state(self) -> dict[str, Any]:
        """All fields, for a checkpoint."""
        return asdict(self)

    @property
    def noise(self) -> Any:
        """Largest tension in the mesh's shortest waves, over the largest tension."""
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

    @property
    def lost(self) -> Any:
        """Error of positions by waves that lost their phase (m); their size where a single element shows no phase."""
        return np.where(
            np.greater(self.bend, 0.0), lost_way(self.sag, self.drift, over(self.twist, self.bend)), self.sag
        )

    def damping_ratio(self, line: InField, elements: int) -> Any:
        """Ratio to critical damping of the mesh's highest mode, by the viscosity and by the ratio that is asked for."""
        string = line.string
        critical = self.length / elements * np.sqrt(string.stiffness * string.density / 3.0)
        return string.damping_ratio + over(string.viscosity, critical)

    def too_low(self, ratio: Any, elements: int) -> Any:
        """Part of the largest tension that is missing where it is that of a front of the start, with a damping ratio.

        The mesh spreads fronts over a part of the string that falls with the root of its elements, and damping spreads
        them more; a front that is higher than all that was seen is missing at least to that.
        """
        share = over(self.front, self.tension)
        spread = AT_FRONT * share / np.sqrt(elements) * (1.0 + BY_DAMPING * ratio)
        return np.minimum(np.maximum(spread, 1.0 - over(1.0, share)), 1.0)

    def swing(self, line: InField, elements: int) -> Any:
        """Part of the largest tension that swings with waves across the string which are too short for the mesh.

        A tension that swings with w pulls on the bends of the string, and sends waves across it of the same
        frequency, whose squared phase between two nodes is (w l)^2 mu/T: their phase error is a 24th of that, at most
        all. They react on the tension by what bends make of the strain, at most all of it. w and the size of the swing
        follow from the means of the squares of the first and the second derivative.
        """
        l, mean = self.length / elements, np.abs(over(self.pulls, self.samples))
        phase2 = over(over(self.jerks2, self.rates2) * l**2 * line.string.density, mean)
        size = over(over(self.rates2, np.sqrt(self.jerks2 * self.samples)), self.tension)
        by_bends = over(0.5 * over(self.missing, ARC * self.tension), over(self.twist, self.bend))
        return np.minimum(PHASE_ERROR * phase2, 1.0) * size * np.minimum(by_bends, 1.0)

    def figures(self) -> dict[str, float]:
        """Figures for the attributes of a result."""
        return {
            "mesh_noise": self.noise,
            "mesh_error": self.error,
            "front_share": over(self.front, self.tension),
            "current_share": over(self.current, self.tension),
            "slack_share": self.slack_share,
            "largest_fold_deg": self.fold,
        }


def over(x: Any, size: Any) -> Any:
    """Part x/size, 0 where the size is."""
    there = np.greater(size, 0.0)
    return np.where(there, x, 0.0) / np.where(there, size, 1.0)


def added(total: Any, increments: Array) -> Any:
    """Sum in order of time, so that pieces give the same as the whole."""
    return np.cumsum(_after(total, increments), axis=0)[-1]


def _after(first: Any, others: Array) -> Array:
    return np.concatenate([np.broadcast_to(first, others[:1].shape), others])
