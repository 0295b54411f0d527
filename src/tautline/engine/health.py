"""How far a run can be trusted: figures that are gathered while it goes on, and their limits.

Thresholds and how they were found are in docs/trust.md.
"""

from __future__ import annotations

from dataclasses import dataclass, field, fields
from typing import Any

import numpy as np

from tautline.arrays import Figure
from tautline.engine.criteria import Criterion
from tautline.engine.mesh import MeshHealth, added, over
from tautline.engine.mesh_limits import mesh_criteria
from tautline.engine.turning import (
    attitude_criterion,
    attitude_error,
    missed_by_steps,
    missed_reaction,
    swings,
    turning_criterion,
)
from tautline.kernels import data
from tautline.kernels.limits import STABLE, Limits
from tautline.kernels.limits import TURNING as TURNING_LIMIT
from tautline.ledger import ACCOUNTS, kept_energy
from tautline.model.body import RigidBody
from tautline.model.chain.chain import Chain
from tautline.model.fluid import AppliedForce

# Error of the energy balance, over the energy in play.
BALANCE = 0.01
# Speed of the reel over that of waves in the string.
REEL_SPEED = 0.5
# A fixed step over one that resolves a motion with 126 steps a period.
RESOLUTION = 5.0
UNRESOLVED = {
    "stretching": "the stretching of lines",
    "turning": "the turning of bodies",
    "drum": "a drum on the spring and damper of its command",
}


@dataclass
class Health:
    """Figures of a run, as its samples come in. They do not depend on how the samples are cut into pieces.

    Of members that march together every figure is an array with one entry a member, and so are the numbers of the
    pendulum that differ; arrays of samples have the members as their last dimension.
    """

    kept: Any = np.nan  # energy less work plus losses, at the start (J)
    balance: Figure = 0.0  # largest change of that (J)
    reel_speed: Figure = 0.0  # largest (m/s)
    step: Figure = 0.0  # largest (s)
    turn: Figure = 0.0  # largest angle that the body turned by in a step (rad)
    turning: Figure = 0.0  # error of the angle that the body has turned by (rad)
    swung: Figure = 0.0  # and by the reaction of the string's waves that the mesh misses (rad)
    torques_found: bool = True
    impulse: Figure = 0.0  # of a torque that is a function, by size (N m s)
    bent: Figure = 0.0  # part of that by which it departs from lines between the ends of the steps (N m s)
    mesh: MeshHealth = field(default_factory=MeshHealth)

    def begin(self, pendulum: Chain, reel: data.Array, x: data.Array, nodes: data.Array) -> None:
        """Start from the first sample of a run: its scalars and nodes (places and velocities, N + 1, 3[, members]).

        The kernels' part of the balance is put into `reel`.
        """
        if not np.isnan(self.kept).all():
            return
        self.mesh.begin(pendulum, nodes[0], nodes[1], x[data.REELED_LENGTH])
        self.kept = kept_energies(x)
        reel[data.KEPT], reel[data.POTENTIAL] = self.kept, x[data.ELASTIC] + x[data.GRAVITY]
        reel[data.IN_PLAY] = x[data.KINETIC]
        self.reel_speed = np.abs(x[data.REEL_SPEED])

    def update(self, pendulum: Chain, times: data.Array, samples: data.Samples, order: int, free: bool) -> None:
        """Take note of samples of a method of this order, of a reel that forces move or not."""
        pending = 0.0
        if pendulum.applied_force is not None:
            steps = samples.scalars[:, data.STEP_LENGTH]
            pending = pending_energy(pendulum.applied_force, pendulum.body, times, steps)
        self.note(pendulum, samples.nodes.shape[2] - 1, times, samples.scalars, order, pending)
        reeled_length = samples.scalars[:, data.REELED_LENGTH]
        moved = pendulum.body.mass, pendulum.reel if free else None
        self.mesh.update(pendulum, times, samples.nodes[:, 0], samples.nodes[:, 1], reeled_length, *moved)

    def note(
        self, pendulum: Chain, elements: int, times: data.Array, x: data.Array, order: int, pending: Any = 0.0
    ) -> None:
        """Take note of the columns of samples; before their mesh, which keeps the time.

        `pending` is energy that is not booked yet at the samples.
        """
        elapsed = np.diff(times, axis=0, prepend=self.mesh.time)
        with np.errstate(all="ignore"):  # a run that overflowed says so in its status
            change = np.abs(kept_energies(np.moveaxis(x, 1, 0)) - self.kept) - pending
            omega = x[:, data.ANGULAR_VELOCITY : data.ANGULAR_VELOCITY + 3]
            spin = np.linalg.norm(omega, axis=1)
            turn = spin * x[:, data.STEP_LENGTH]
            if order == 2:
                self.turning = added(self.turning, missed_by_steps(spin, x[:, data.STEP_LENGTH]) * elapsed)
            if swings(pendulum.body):
                l = (pendulum.string.length - x[:, data.REELED_LENGTH]) / elements
                missed = missed_reaction(pendulum.body, pendulum.string.density, l, omega)
                self.swung = added(self.swung, missed * elapsed)
        self.balance = np.fmax(self.balance, change.max(axis=0))
        self.turn = np.fmax(self.turn, turn.max(axis=0))
        self.step = np.fmax(self.step, x[:, data.STEP_LENGTH].max(axis=0))
        self.reel_speed = np.fmax(self.reel_speed, np.abs(x[:, data.REEL_SPEED]).max(axis=0))

    def state(self) -> dict[str, Any]:
        """All of it, for a checkpoint."""
        return {f.name: getattr(self, f.name) for f in fields(self)} | {"mesh": self.mesh.state()}

    @classmethod
    def from_state(cls, state: dict[str, Any]) -> Health:
        return cls(**(state | {"mesh": MeshHealth(**state["mesh"])}))

    def figures(self, pendulum: Chain, plan: data.Plan, reel: data.Array) -> dict[str, Any]:
        """Figures by name; relative ones are parts, not per cent."""
        in_play = reel[data.IN_PLAY]
        return {
            "balance_error": over(self.balance, in_play),
            "energy_in_play": in_play,
            "reel_speed_ratio": self.reel_speed / pendulum.string.wave_speed,
            "turning_error": self.turning,
            "attitude_error": attitude_error(pendulum.body, self.swung, self.mesh.lost),
            **self.mesh.figures(),
            **step_ratios(reel, self.turn / plan.resolution),
        }

    def criteria(self, pendulum: Chain, elements: int, figures: dict[str, Any], adaptive: bool) -> list[Criterion]:
        """Limits on all figures, with what to do where one is exceeded."""
        return [
            balance_criterion(figures["balance_error"], adaptive),
            reel_speed_criterion(figures["reel_speed_ratio"]),
            turning_criterion(figures["turning_error"]),
            attitude_criterion(figures["attitude_error"], elements, "elements="),
            *step_criteria(figures, adaptive),
            Criterion(
                "torque", not self.torques_found, (), None, lambda: "some torques could not be found to full accuracy"
            ),
            *mesh_criteria(self.mesh, pendulum, elements),
        ]


def balance_criterion(error: Any, adaptive: bool) -> Criterion:
    """Limit on the error of the energy balance, over the energy in play."""
    finer = "more damping, other elements or a smaller fixed step" if adaptive else "a smaller step or 'auto'"
    return Criterion(
        "energy_balance",
        ~np.less_equal(error, BALANCE),
        (error,),
        BALANCE,
        lambda error: f"the balance of energy is off by {100 * error:.2g} % of the energy in play; use {finer}",
    )


def reel_speed_criterion(ratio: Any) -> Criterion:
    """Limit on the speed of a reel, over that of waves in the string."""
    return Criterion.above(
        "reel_speed",
        ratio,
        REEL_SPEED,
        lambda ratio: (
            f"the reel reached {100 * ratio:.0f} % of the speed of waves in the string, "
            "where a mesh needs many more elements"
        ),
    )


def step_ratios(totals: data.Array, turned: Any) -> dict[str, Any]:
    """Largest step over each of its limits, as kernels have noted them; and over the one that resolves turning."""
    ratios = totals[data.RATIOS : data.RATIOS + len(Limits._fields)].copy()
    ratios[TURNING_LIMIT] = turned
    found = {f"step_over_{name}": ratio for name, ratio in zip(Limits._fields, ratios, strict=True)}
    return {"largest_step_ratio": ratios[:STABLE].max(axis=0), **found}


def step_criteria(figures: dict[str, Any], adaptive: bool) -> list[Criterion]:
    """Limits on a fixed step over those that resolve motions."""
    ratios = {} if adaptive else {what: figures[f"step_over_{name}"] for name, what in UNRESOLVED.items()}
    return [_step_criterion(ratio, what) for what, ratio in ratios.items()]


def _step_criterion(ratio: Any, what: str) -> Criterion:
    sentence = f"times the one that resolves {what}; use a smaller one"
    return Criterion.above("step", ratio, RESOLUTION, lambda ratio: f"the step is {ratio:.0f} {sentence}")


def pending_energy(applied: AppliedForce, body: RigidBody, times: data.Array, steps: data.Array) -> Any:
    """Energy (J) that forces give a body within a step of each time, at most, if it were free and at rest.

    They act where two steps join, and a sample lies in the middle of that: it has their velocity after one half, and
    their work at that velocity. Before and after a pulse that is right; within one the balance does not close.
    """
    masses = [(applied.force, 1.0 / body.mass)]
    if not body.is_point:
        by_inertia = 1.0 / body.least_inertia()
        arm = float(np.linalg.norm(np.subtract(applied.point, body.center_of_mass)))
        masses = [(applied.force, 1.0 / body.mass + arm**2 * by_inertia), (applied.moment, by_inertia)]
    impulses = [(impulse_by(table, times + steps) - impulse_by(table, times - steps), s) for table, s in masses]
    # both at once give less than twice the sum of what each gives
    return len(masses) * 0.5 * sum(by_inertia * impulse**2 for impulse, by_inertia in impulses)


def impulse_by(table: Any, times: data.Array) -> data.Array:
    """Size of a force over time, summed up from the first entry of its table to each of these times, at least."""
    knots, values = table if isinstance(table[0], tuple) else ((0.0,), (table,))
    at, size = np.array(knots), np.linalg.norm(np.array(values), axis=1)
    whole = np.concatenate([[0.0], np.cumsum(0.5 * (size[1:] + size[:-1]) * np.diff(at))])
    k = np.clip(np.searchsorted(at, times, side="right") - 1, 0, len(at) - 1)
    return np.asarray(whole[k] + 0.5 * (size[k] + np.interp(times, at, size)) * (times - at[k]))


def kept_energies(x: data.Array) -> Any:
    """Energy less work plus losses (J), from the columns of samples."""
    return kept_energy({account.name: x[k] for k, account in enumerate(ACCOUNTS)})
