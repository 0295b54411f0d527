"""How far a run can be trusted: figures that are gathered while it goes on, and their limits.

Thresholds and how they were found are in docs/trust.md.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, fields
from typing import Any

import numpy as np

from tautline.arrays import Figure
from tautline.engine.criteria import Criterion
from tautline.engine.mesh import MeshHealth, added, over
from tautline.kernels import data
from tautline.kernels.limits import STABLE, Limits
from tautline.kernels.limits import TURNING as TURNING_LIMIT
from tautline.ledger import ACCOUNTS, kept_energy
from tautline.model.body import RigidBody
from tautline.model.chain.chain import Chain
from tautline.model.fluid import AppliedForce
from tautline.results.warnings import RunWarning

# Error of the energy balance, over the energy in play.
BALANCE = 0.01
# Speed of the reel over that of waves in the string.
REEL_SPEED = 0.5
# Angle that the body's attitude is off by, as the error of a step adds up (rad).
TURNING = 0.05
# And as the mesh misses the waves that it sends along the string by swinging about its center of mass (rad): below the
# 0.1 rad that are wrong, because the estimate is low as often as high.
ATTITUDE = 0.07
# Of the geometric mean of two estimates of that; fitted to runs against finer meshes (docs/howto/elements.md).
BY_MESH = 0.5
# A fixed step over one that resolves a motion with 126 steps a period.
RESOLUTION = 5.0
# Departure from a straight line within a step of a motion, over its range, or of a torque, over its size.
BENT = 0.05

# Times of the entries of a table, and the motion that it gives.
Motion = tuple[data.Array, Callable[[data.Array], data.Array]]


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
        self.mesh.update(pendulum, times, samples.nodes[:, 0], samples.nodes[:, 1], reeled_length, free)

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
                # a step turns a body of steady spin by x + x^3/6 instead of x (from equation 24)
                self.turning = added(self.turning, spin * turn**2 / 6.0 * elapsed)
            if not pendulum.body.is_point and any(pendulum.body.center_of_mass):
                l = (pendulum.string.length - x[:, data.REELED_LENGTH]) / elements
                self.swung = added(self.swung, missed_reaction(pendulum, l, omega) * elapsed)
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
        ratios = reel[data.RATIOS : data.RATIOS + len(Limits._fields)].copy()
        ratios[TURNING_LIMIT] = self.turn / plan.resolution
        return {
            "balance_error": over(self.balance, in_play),
            "energy_in_play": in_play,
            "reel_speed_ratio": self.reel_speed / pendulum.string.wave_speed,
            "turning_error": self.turning,
            "attitude_error": self.attitude_error(pendulum.body),
            **self.mesh.figures(),
            "largest_step_ratio": ratios[:STABLE].max(axis=0),
            **{f"step_over_{name}": ratio for name, ratio in zip(Limits._fields, ratios, strict=True)},
        }

    def attitude_error(self, body: RigidBody) -> Any:
        """Estimated error by the mesh of the attitude of a body that is held off its center of mass (rad).

        Two estimates of it, each of them right within a factor of ten, have errors of their own: the reaction of
        waves that are too short for the mesh, and the error of the place of the string's end over the distance from
        the center of mass, which stays where it is while the body swings about it. Taken is their geometric mean.
        """
        arm = 0.0 if body.is_point else float(np.linalg.norm(body.center_of_mass))
        return np.minimum(np.sqrt(over(BY_MESH * self.swung * self.mesh.lost, arm)), np.pi)

    def criteria(self, pendulum: Chain, elements: int, figures: dict[str, Any], adaptive: bool) -> list[Criterion]:
        """Limits on all figures, with what to do where one is exceeded."""
        unresolved = {"stretching": "the stretching of the string", "drum": "the drum on its spring"}
        return [
            balance_criterion(figures["balance_error"], adaptive),
            Criterion(
                "reel_speed",
                np.greater(figures["reel_speed_ratio"], REEL_SPEED),
                (figures["reel_speed_ratio"],),
                REEL_SPEED,
                lambda ratio: (
                    f"the reel reached {100 * ratio:.0f} % of the speed of waves in the string, "
                    "where a mesh needs many more elements"
                ),
            ),
            Criterion(
                "turning",
                np.greater(figures["turning_error"], TURNING),
                (figures["turning_error"],),
                TURNING,
                lambda error: (
                    f"the body's attitude is off by about {error:.2g} rad after all its turns; use a "
                    "smaller step or order=4 if that matters"
                ),
            ),
            Criterion(
                "attitude",
                np.greater(figures["attitude_error"], ATTITUDE),
                (figures["attitude_error"],),
                ATTITUDE,
                lambda error: (
                    f"the mesh of {elements} elements leaves the body's attitude uncertain by about {error:.2g} rad; "
                    f"try elements={elements * (2 if error < 4.0 * ATTITUDE else 4)} if that matters"
                ),
            ),
            *(step_criterion(figures[f"step_over_{name}"], what, adaptive) for name, what in unresolved.items()),
            Criterion(
                "torque", not self.torques_found, (), None, lambda: "some torques could not be found to full accuracy"
            ),
            *self.mesh.criteria(pendulum, elements),
        ]

    def unresolved(self, forces: dict[str, data.Array], motions: dict[str, Motion], time: float) -> list[RunWarning]:
        """Warnings on tables of forces and of motions that change within a step, as far as they have acted."""
        found = []
        for name, times in forces.items():
            apart = np.diff(times[times <= time])
            if len(apart) and self.step > apart.min():
                text = (
                    f"entries of the table of {name} are {apart.min():.2g} s apart, less than a step of "
                    f"{self.step:.2g} s: the impulse is exact, its course within a step is not followed"
                )
                found.append(RunWarning("force_table", text, self.step, apart.min()))
        for name, (times, places) in motions.items():
            acted = times[times <= time]
            if len(acted) > 1 and self.step > np.diff(acted).min():
                bent = bent_within(acted, places, self.step)
                text = (
                    f"the motion of {name} goes to and fro within a step of {self.step:.2g} s, which is not followed, "
                    "and may show as a slow motion that is not there; use a smaller step"
                )
                found += [RunWarning("prescribed_motion", text, bent, BENT)] if bent > BENT else []
        return found + function_warnings(self.impulse, self.bent)


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


def step_criterion(ratio: Any, what: str, adaptive: bool) -> Criterion:
    """Limit on a fixed step over the one that resolves a motion."""
    return Criterion(
        "step",
        np.greater(ratio, RESOLUTION) & (not adaptive),
        (ratio,),
        RESOLUTION,
        lambda ratio: f"the step is {ratio:.0f} times the one that resolves {what}; use a smaller one",
    )


def function_warnings(impulse: float, bent: float) -> list[RunWarning]:
    """Warning on a torque that is a function, by its impulse and the part that is not along steps (N m s)."""
    if bent <= BENT * impulse:
        return []
    part = bent / impulse
    text = (
        f"the function of Torque departs from straight lines over the steps by {part:.0%} on average, and "
        "only its values at their ends act; use a smaller step"
    )
    return [RunWarning("torque_function", text, part, BENT)]


def bent_within(times: data.Array, places: Callable[[data.Array], data.Array], step: float) -> float:
    """Largest distance of a motion from lines over a step about each of these times, over its range."""
    now = places(times)
    line = 0.5 * (places(times - 0.5 * step) + places(times + 0.5 * step))
    way = float(np.ptp(now, axis=0).max())
    return float(np.abs(now - line).max()) / way if way > 0.0 else 0.0


def missed_reaction(pendulum: Chain, l: data.Array, omega: data.Array) -> Any:
    """Rate (rad/s) at which a swinging body's angle goes wrong, by waves that are too short for elements of length l.

    A body that swings about its center of mass, at a distance a from its end, shakes the string with the frequency
    sqrt(T a/J) under a tension T, and is slowed down by the waves that it sends out at the rate sqrt(T mu) a^2/(2 J).
    Times the angle, that is a sqrt(mu a/J)/2 times its angular velocity: the tension cancels. The mesh gets a part of
    that wrong which grows with the squared phase of those waves between two nodes, mu l^2 a/J, up to all of it.
    """
    body, mu = pendulum.body, pendulum.string.density
    center = np.array(body.center_of_mass)
    a = float(np.linalg.norm(center))
    over_inertia = body.swing_frequency2(1.0) / body.mass  # a/J
    along = np.tensordot(omega, center / a, axes=(1, 0))
    across = np.sqrt(np.maximum(np.sum(omega**2, axis=1) - along**2, 0.0))
    phase2 = mu * over_inertia * l**2
    return 0.5 * a * np.sqrt(mu * over_inertia) * phase2 / (1.0 + phase2) * across


def pending_energy(applied: AppliedForce, body: RigidBody, times: data.Array, steps: data.Array) -> Any:
    """Energy (J) that forces give a body within a step of each time, at most, if it were free and at rest.

    They act where two steps join, and a sample lies in the middle of that: it has their velocity after one half, and
    their work at that velocity. Before and after a pulse that is right; within one the balance does not close.
    """
    masses = [(applied.force, 1.0 / body.mass)]
    if not body.is_point:
        softness = 1.0 / float(np.linalg.eigvalsh(body.central_inertia())[0])
        arm = float(np.linalg.norm(np.subtract(applied.point, body.center_of_mass)))
        masses = [(applied.force, 1.0 / body.mass + arm**2 * softness), (applied.moment, softness)]
    impulses = [(impulse_by(table, times + steps) - impulse_by(table, times - steps), s) for table, s in masses]
    # both at once give less than twice the sum of what each gives
    return len(masses) * 0.5 * sum(softness * impulse**2 for impulse, softness in impulses)


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
