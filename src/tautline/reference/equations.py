"""The equations of motion, solved for accelerations with a dense mass matrix."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from tautline import ledger
from tautline.errors import InputError
from tautline.model.chain.chain import Chain
from tautline.model.chain.state import ChainState
from tautline.model.command import Command
from tautline.model.force_law import ForceLaw
from tautline.reference.bodies import cross, hat, inertia_of
from tautline.reference.curves import Array
from tautline.reference.drum import Drum
from tautline.reference.guide import Guide
from tautline.reference.loads import Acting, Fields, Loads, Motion
from tautline.reference.strings import StringLaw

# Gauss's two points on [0, 1]: exact for the kinetic energy, which is quadratic along an element.
XI = 0.5 + np.array([-0.5, 0.5]) / np.sqrt(3.0)
WEIGHT = 0.5
DOWN = np.array([0.0, 0.0, 1.0])
# Work and losses, integrated along with the motion.
ACCOUNTS = tuple(ledger.booked())


class Solved(NamedTuple):
    """Accelerations (sigma, nodes, body), and the torque on the drum that goes with them."""

    acceleration: Array
    torque: float


class Equations:
    """Right-hand side y' = f(t, y), y = (s, q_1..q_N, R, sigma, v_1..v_N, Omega, accounts).

    Nodes and velocities are relative to the guide entrance. Dry friction is that of a drum that slips one way; where it
    would stop, the equations end.
    """

    remembers = False  # whether the future depends on more than y

    def __init__(self, pendulum: Chain, elements: int, command: Command, laws: Sequence[ForceLaw] = ()) -> None:
        self.pendulum = pendulum
        self.N = elements
        self.command = command
        self.locked = command.holds
        self.rotates = not pendulum.body.is_point
        self.inertia = inertia_of(pendulum)
        self.law = StringLaw(pendulum.string)
        self.guide = Guide(pendulum)
        self.drum = Drum(pendulum, command)
        self.loads = Loads(pendulum, elements, laws)
        self.inside: float | None = None  # a time between the knots of all tables that the present time is between
        self.carried = 0.0  # energy of the guide's motion at the start

    def begin(self, state: ChainState) -> None:
        """Where curves in time start from, and which way dry friction acts, is known only now."""
        drum = self.drum
        drum.begin(state.reeled_length)
        y = self.pack(state)
        if drum.may_stick and not self.locked:
            drum.direction = float(np.sign(state.reel_speed)) or self._first_slip(y)
        self.carried = self._carried(0.0, self.unpack(y))

    def _first_slip(self, y: Array) -> float:
        """Direction in which a drum at rest is drawn over its dry friction."""
        x = self.unpack(y)
        _, mass, force = self.balance(0.0, x)
        rest = np.linalg.solve(mass[1:, 1:], force[1:])
        pull = float(force[0] - mass[0, 1:] @ rest) + self.drum.motor(0.0, x.s, 0.0) / self.drum.radius(x.s)
        stiction = self.drum.dry(0.0) / self.drum.radius(x.s)
        if abs(pull) <= stiction:
            raise InputError(
                f"reference.integrate: expected a drum that turns, got one that dry friction of {stiction:.6g} N holds "
                f"against a pull of {abs(pull):.6g} N; use simulate, which knows sticking"
            )
        return float(np.sign(pull))

    def pack(self, state: ChainState) -> Array:
        return np.concatenate(
            [
                [state.reeled_length],
                state.nodes[1:].ravel(),
                np.asarray(state.attitude).ravel(),
                [state.reel_speed],
                state.node_velocities[1:].ravel(),
                np.asarray(state.angular_velocity),
                np.zeros(len(ACCOUNTS)),
            ]
        )

    def unpack(self, y: Array) -> Fields:
        n = 3 * self.N
        q = np.zeros((self.N + 1, 3))
        v = np.zeros((self.N + 1, 3))
        q[1:] = y[1 : 1 + n].reshape(-1, 3)
        v[1:] = y[11 + n : 11 + 2 * n].reshape(-1, 3)
        R = y[1 + n : 10 + n].reshape(3, 3)
        return Fields(y[0], q, R, y[10 + n], v, y[11 + 2 * n : 14 + 2 * n])

    @property
    def accounts(self) -> slice:
        """Where the accounts are in y."""
        first = 14 + 6 * self.N
        return slice(first, first + len(ACCOUNTS))

    def element_length(self, x: Fields) -> float:
        return (self.pendulum.string.length - x.s) / self.N

    def guide_force(self, x: Fields) -> float:
        """Q of the guide law (N)."""
        return self.guide.force(self.guide.strain(x.q, self.element_length(x)), x.sigma)

    def assemble(self, x: Fields, u: float) -> tuple[Array, Array]:
        """Mass matrix and generalized forces without loads, in the order sigma, nodes, body; u acts on the drum."""
        p, N, body = self.pendulum, self.N, self.inertia
        mu = p.string.density
        l = self.element_length(x)
        l_rate = -x.sigma / N
        w = x.q[:-1] - x.q[1:]
        a = w / l
        a_rate = (x.v[:-1] - x.v[1:]) / l - a * (l_rate / l)

        size = 1 + 3 * N + 3
        mass = np.zeros((size, size))
        force = np.zeros(size)
        nodes = np.zeros((N + 1, 3))  # forces on the nodes
        border = np.zeros((N + 1, 3))  # mass between sigma and the nodes
        # at Gauss's points of all elements: (point, element, axis)
        k = mu * l * WEIGHT
        far = XI[:, None, None]
        near = 1.0 - far
        phi = (N - np.arange(N)[:, None] - far) / N
        velocity = near * x.v[:-1] + far * x.v[1:] + phi * a * x.sigma
        bias = phi * a_rate * x.sigma  # what remains of its rate without accelerations
        inertial = k * (bias + (l_rate / l) * velocity)
        gradient = (k / l) * phi * x.sigma * velocity  # dT/dw
        nodes[:-1] += (gradient - near * inertial).sum(axis=0)
        nodes[1:] -= (gradient + far * inertial).sum(axis=0)
        along = (a * velocity * phi).sum(axis=2)
        slope = WEIGHT * mu * (0.5 * (velocity**2).sum(axis=2) - x.sigma * along)
        force[0] -= slope.sum() / N
        force[0] -= (phi * a * inertial).sum() + (k * phi * a_rate * velocity).sum()
        border[:-1] += k * (near * phi * a).sum(axis=0)
        border[1:] += k * (far * phi * a).sum(axis=0)
        mass[0, 0] += k * ((phi * a) ** 2).sum()
        shape = np.zeros((N + 1, N + 1))
        flat = shape.ravel()  # whose every (N + 2)th is on the diagonal
        flat[: -1 : N + 2] += k * (near**2).sum()
        flat[N + 2 :: N + 2] += k * (far**2).sum()
        flat[1 :: N + 2] = flat[N + 1 :: N + 2] = k * (near * far).sum()

        lengths = np.linalg.norm(w, axis=1, keepdims=True)
        unit = np.divide(w, lengths, out=np.zeros_like(w), where=lengths > 0.0)
        strain = lengths / l - 1.0
        tension = self.law.tension(strain)
        weight = 0.5 * body.string_weight * l * DOWN
        nodes[:-1] += -tension * unit + weight
        nodes[1:] += tension * unit + weight
        nodes[N] += body.body_weight * DOWN

        reel, drum = p.reel, self.drum
        r_p = np.array(reel.guide_position)
        turning, turning_rate, _, lever = drum.spooled(x.s)
        mass[0, 0] += turning
        force[0] -= 0.5 * turning_rate * x.sigma**2
        force[0] += body.string_weight * (r_p[2] - reel.guide_length - lever)
        depth = r_p[2] + 0.5 * (x.q[:-1, 2] + x.q[1:, 2])
        # an element holds l W: its energy falls with its length, and rises with the strain that a shorter one has
        force[0] -= (body.string_weight * depth.sum() + (tension * (1.0 + strain) - self.law.energy(strain)).sum()) / N
        force[0] += u / drum.radius(x.s) + self.guide_force(x)

        for axis in range(1, 4):
            mass[axis:-3:3, axis:-3:3] = shape[1:, 1:]
        mass[0, 1:-3] = mass[1:-3, 0] = border[1:].ravel()
        last = slice(3 * N - 2, 3 * N + 1)
        mass[last, last] += body.mass * np.eye(3)
        if self.rotates:
            mass[last, -3:] = -x.R @ hat(body.moment)
            mass[-3:, last] = hat(body.moment) @ x.R.T
            mass[-3:, -3:] = body.J
            nodes[N] -= x.R @ cross(x.omega, cross(x.omega, body.moment))
            force[-3:] = cross(body.weight_moment, x.R.T @ DOWN) - cross(x.omega, body.J @ x.omega)
        else:
            mass[-3:, -3:] = np.eye(3)
        force[1:-3] = nodes[1:].ravel()
        return mass, force

    def first_moment_by_configuration(self, x: Fields) -> Array:
        """Slopes of the first moment of all mass about the guide entrance, a row for each generalized coordinate.

        Of the spooled string only the height is known.
        """
        N, body = self.N, self.inertia
        l = self.element_length(x)
        k = self.pendulum.string.density * l * WEIGHT
        at_nodes = np.zeros(N + 1)
        by_s = -self.pendulum.string.density * (self.pendulum.reel.guide_length + self.drum.spooled(x.s)[3]) * DOWN
        for xi in XI:
            phi = ((N - np.arange(N) - xi) / N)[:, None]
            at_nodes[:-1] += k * (1.0 - xi)
            at_nodes[1:] += k * xi
            by_s = by_s + np.sum(k * phi * (x.q[:-1] - x.q[1:]) / l, axis=0)
        at_nodes[N] += body.mass
        by_nodes = np.multiply.outer(at_nodes[1:], np.eye(3)).reshape(-1, 3)
        by_turn = (x.R @ hat(-body.moment)).T if self.rotates else np.zeros((3, 3))
        return np.vstack([by_s, by_nodes, by_turn])

    def balance(self, t: float, x: Fields) -> tuple[list[Acting], Array, Array]:
        """Loads by account, the mass matrix, and all generalized forces but those of motor and friction.

        Fluid that moves along is in the mass matrix and not among the loads.
        """
        acting = self.loads.acting(t, x, self.inside)
        mass, force = self.assemble(x, 0.0)
        guide = self.loads.guide(t, self.inside)
        for load in acting:
            force = force + load.generalized
        if guide.acceleration.any():
            force -= self.first_moment_by_configuration(x) @ guide.acceleration
        fluid = self.loads.carried(t, x, self.inside)
        if fluid is not None:
            mass = mass + fluid.inertia()
            force = force + fluid.reaction(np.zeros_like(force))[0]
        return acting, mass, force

    def solve(self, t: float, x: Fields, mass: Array, force: Array) -> Solved:
        """Accelerations and the torque on the drum: as commanded, or as needed for a motion that is given or held."""
        drum, d = self.drum, self.drum.radius(x.s)
        acceleration = np.zeros(len(force))
        if self.locked or self.command.prescribes:
            if not self.locked:
                acceleration[0] = drum.planned(t, self.inside)[2]
                force[0] += drum.friction(t, x.s, x.sigma, self.inside)
            acceleration[1:] = np.linalg.solve(mass[1:, 1:], force[1:] - mass[1:, 0] * acceleration[0])
            return Solved(acceleration, float(mass[0] @ acceleration - force[0]) * d)
        u = drum.motor(t, x.s, x.sigma, self.inside)
        force[0] += u / d + drum.friction(t, x.s, x.sigma, self.inside)
        acceleration[:] = np.linalg.solve(mass, force)
        return Solved(acceleration, u)

    def __call__(self, t: float, y: Array) -> Array:
        x = self.unpack(y)
        acting, mass, force = self.balance(t, x)
        solved = self.solve(t, x, mass, force)
        fluid = self.loads.carried(t, x, self.inside)
        if fluid is not None:
            acting = [*acting, Acting("fluid_work", *fluid.reaction(solved.acceleration), False)]
        rates = np.concatenate([[x.sigma], x.v[1:].ravel(), x.omega])
        rub = 0.0 if self.locked else self.drum.friction(t, x.s, x.sigma, self.inside)
        U = self.loads.guide(t, self.inside).velocity
        powers = {
            "control_work": solved.torque / self.drum.radius(x.s) * x.sigma,
            "guide_loss": -self.guide_force(x) * x.sigma,
            "friction_loss": -rub * x.sigma,
            "guide_work": self.guide_power(t, x, acting),
        }
        for load in acting:
            power = float(load.generalized @ rates + load.total @ U)
            powers[load.account] = powers.get(load.account, 0.0) + (-power if load.loses else power)
        turning = (x.R @ hat(x.omega)).ravel()
        accounts = [powers.get(name, 0.0) for name in ACCOUNTS]
        return np.concatenate([[x.sigma], x.v[1:].ravel(), turning, solved.acceleration, accounts])

    def guide_power(self, t: float, x: Fields, acting: list[Acting]) -> float:
        """Power of the force that moves the guide, less the rate of U.(P + m U/2): that is a difference of two times.

        The force is the rate of the momentum P + m U less all other forces.
        """
        guide = self.loads.guide(t, self.inside)
        if not (guide.velocity.any() or guide.acceleration.any()):
            return 0.0
        others = self.total_weight() * DOWN + sum(load.total for load in acting)
        return -float(guide.acceleration @ self.relative_momentum(x) + guide.velocity @ others)

    def torque(self, t: float, y: Array) -> float:
        """Torque on the drum: as commanded, or as needed for a motion that is given or held (N m)."""
        x = self.unpack(y)
        _, mass, force = self.balance(t, x)
        return self.solve(t, x, mass, force).torque

    def remember(self, y: Array) -> None:
        """Called with the state after each step, where the equations remember."""

    def total_weight(self) -> float:
        return self.inertia.string_weight * self.pendulum.string.length + self.inertia.body_weight

    def relative_momentum(self, x: Fields) -> Array:
        """Momentum of string and body relative to the guide."""
        rates = np.concatenate([[x.sigma], x.v[1:].ravel(), x.omega])
        momentum: Array = rates @ self.first_moment_by_configuration(x)
        return momentum

    def _carried(self, t: float, x: Fields) -> float:
        """Kinetic energy that the guide's velocity adds (J)."""
        U = self.loads.guide(t, self.inside).velocity
        if not U.any():
            return 0.0
        mass = self.pendulum.string.density * self.pendulum.string.length + self.inertia.mass
        return float(U @ (self.relative_momentum(x) + 0.5 * mass * U))

    def figures(self, t: float, y: Array) -> dict[str, Any]:
        """Energies, angular momentum, accounts and orthogonality error of a state."""
        p, N, x, body = self.pendulum, self.N, self.unpack(y), self.inertia
        mu, reel = p.string.density, p.reel
        guide: Motion = self.loads.guide(t, self.inside)
        l = self.element_length(x)
        w = x.q[:-1] - x.q[1:]
        turning, _, above, _ = self.drum.spooled(x.s)
        carried = self._carried(t, x)
        kinetic = 0.5 * turning * x.sigma**2 + carried
        momentum = np.zeros(3)
        for xi in XI:
            phi = ((N - np.arange(N) - xi) / N)[:, None]
            velocity = (1.0 - xi) * x.v[:-1] + xi * x.v[1:] + phi * w / l * x.sigma
            place = (1.0 - xi) * x.q[:-1] + xi * x.q[1:]
            kinetic += 0.5 * mu * l * WEIGHT * np.sum(velocity**2)
            momentum += mu * l * WEIGHT * np.cross(place, velocity).sum(axis=0)
        swing = x.R @ cross(x.omega, body.moment)
        rotational = 0.5 * x.omega @ body.J @ x.omega
        kinetic += 0.5 * body.mass * x.v[N] @ x.v[N] + x.v[N] @ swing + rotational
        momentum += cross(x.q[N], body.mass * x.v[N] + swing)
        momentum += x.R @ (body.J @ x.omega + cross(body.moment, x.R.T @ x.v[N]))
        height = reel.guide_position[2]
        weight = body.string_weight
        gravity = -weight * ((x.s - reel.guide_length) * (height - reel.guide_length) - above)
        gravity -= 0.5 * weight * l * (2.0 * height + x.q[:-1, 2] + x.q[1:, 2]).sum()
        gravity -= body.body_weight * (height + x.q[N, 2]) + (x.R @ body.weight_moment)[2]
        gravity -= self.total_weight() * guide.place[2]
        accounts = dict(zip(ACCOUNTS, y[self.accounts].tolist(), strict=True))
        accounts["guide_work"] += carried - self.carried
        return {
            "reeled_length": x.s,
            "reel_speed": x.sigma,
            "nodes": x.q,
            "node_velocities": x.v,
            "attitude": x.R,
            "angular_velocity": x.omega,
            "rotational_energy": rotational,
            "angular_momentum": momentum[2],
            "orthogonality_error": float(np.linalg.norm(np.eye(3) - x.R.T @ x.R)),
            "guide_displacement": guide.place,
            "guide_velocity": guide.velocity,
            "kinetic_energy": kinetic,
            "elastic_energy": l * float(self.law.energy(np.linalg.norm(w, axis=1) / l - 1.0).sum()),
            "gravity_energy": gravity,
            **accounts,
        }
