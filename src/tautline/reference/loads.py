"""Forces that are not in the Lagrangian: damping, drag, a push, and the inertia of a guide that moves.

Each is a vector of generalized forces, in the order sigma, nodes 1 to N, body: its product with the rates is its power.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np

from tautline import ledger, registry
from tautline.model.chain.chain import Chain
from tautline.model.force_law import ForceLaw, ForceState
from tautline.reference import wetting
from tautline.reference.bodies import cross, hat
from tautline.reference.curves import Array, Curve, Flow, of_path, through_table
from tautline.reference.strings import StringLaw


class Fields(NamedTuple):
    """A state taken apart."""

    s: float
    q: Array  # (N + 1, 3)
    R: Array
    sigma: float
    v: Array  # (N + 1, 3)
    omega: Array


LOSSES = ledger.names(ledger.LOSS)
# Generalized forces, and the sum of the forces with what the guide takes of them directly.
Forces = tuple[Array, Array]


class Acting(NamedTuple):
    """A load at one time."""

    account: str
    generalized: Array  # forces
    total: Array  # sum of its forces, with what the guide takes of it directly
    loses: bool  # its account is one of losses


class Dual(NamedTuple):
    """Fluid that moves along with points of string and body."""

    mass: Array  # at each point, a matrix
    by_rates: Array  # velocities of the points relative to the guide, by the rates
    bias: Array  # what their accelerations are without those of the coordinates

    def inertia(self) -> Array:
        """Part of it in the mass matrix."""
        part: Array = np.einsum("pai,pab,pbj->ij", self.by_rates, self.mass, self.by_rates)
        return part

    def reaction(self, acceleration: Array) -> Forces:
        """Forces that it holds against accelerations of the coordinates."""
        force = -np.einsum("pab,pb->pa", self.mass, self.by_rates @ acceleration + self.bias)
        return np.einsum("pai,pa->i", self.by_rates, force), force.sum(axis=0)


class Motion(NamedTuple):
    """Where the guide entrance is, and how it moves."""

    place: Array  # from Reel.guide_position
    velocity: Array
    acceleration: Array


STILL = Motion(np.zeros(3), np.zeros(3), np.zeros(3))


class Loads:
    """All loads of a pendulum. `inside` of a method is a time in the piece of the tables that holds."""

    def __init__(self, pendulum: Chain, elements: int, laws: Sequence[ForceLaw] = ()) -> None:
        self.pendulum = pendulum
        self.laws = tuple(laws)
        self.N = elements
        self.law = StringLaw(pendulum.string)
        self.rotates = not pendulum.body.is_point
        self.force: Curve | None = None
        self.moment: Curve | None = None
        if pendulum.applied_force is not None:
            self.force = through_table(*pendulum.applied_force.force)
            self.moment = through_table(*pendulum.applied_force.moment)
        self.flow = None if pendulum.fluid is None else Flow(pendulum.fluid)
        path = pendulum.reel.guide_path
        self.path = None if path is None else of_path(path)
        self._latest: tuple[float, float | None, Motion] | None = None  # the guide at a time, which is asked for often

    @property
    def knots(self) -> list[float]:
        """Times at which a force or the guide's acceleration may have a kink or a jump."""
        curves = (self.force, self.moment, self.path, self.flow)
        return [t for curve in curves if curve is not None for t in curve.knots]

    def guide(self, t: float, inside: float | None = None) -> Motion:
        """Motion of the guide entrance."""
        if self.path is None:
            return STILL
        if self._latest is None or self._latest[:2] != (t, inside):
            self._latest = t, inside, Motion(*(self.path.at(t, inside, k) for k in range(3)))
        return self._latest[2]

    def acting(self, t: float, x: Fields, inside: float | None = None) -> list[Acting]:
        """Every load that there is, at a state."""
        guide = self.guide(t, inside)
        found = ((load.account, LOADS[name](self, t, x, guide, inside)) for name, load in registry.LOADS.items())
        return [Acting(account, *forces, account in LOSSES) for account, forces in found if forces is not None]

    def packed(self, reel: float, nodes: Array, body: Array) -> Array:
        """Generalized forces from a force on s, forces on the nodes and a moment on the body."""
        turning = body if self.rotates else np.zeros(3)
        return np.concatenate([[reel], nodes[1:].ravel(), turning])

    def _damping(self, t: float, x: Fields, guide: Motion, inside: float | None) -> Forces | None:
        """From its power: each element takes l eta (strain rate)^2, and the strain rate is linear in the rates."""
        string, N = self.pendulum.string, self.N
        if string.viscosity == 0.0:
            return None
        nodes = np.zeros((N + 1, 3))
        l = (string.length - x.s) / N
        stretch = np.diff(x.q, axis=0)
        lengths = np.linalg.norm(stretch, axis=1)
        by_node = stretch / (lengths * l)[:, None]  # the strain rate's slope by the velocity of an element's far node
        by_reel = self._strain_rate_by_reel(lengths / l - 1.0) / l  # and by sigma
        rate = np.sum(by_node * np.diff(x.v, axis=0), axis=1) + by_reel * x.sigma
        pull = l * self.law.damped(lengths / l - 1.0, string.viscosity * rate)
        nodes[1:] -= pull[:, None] * by_node
        nodes[:-1] += pull[:, None] * by_node
        return self.packed(-float(pull @ by_reel), nodes, np.zeros(3)), np.zeros(3)

    def _strain_rate_by_reel(self, strain: Array) -> Array:
        """Rate of the material's strain at the middles of elements whose ends stand still, over sigma/l.

        In the mesh's coordinate x, 0 at the guide and 1 at the body, the strain is e(x, t) and material flows towards
        the guide by (1 - x) sigma. As l shrinks the mesh's own rate is (1 + e) sigma/(N l); of that the material has
        what is left without its flow along the gradient of e. The gradient at an element's middle is the mean of those
        at its ends, each with the flow there; beyond the guide it is taken as at the next node.
        """
        N = self.N
        inner = np.diff(strain)
        gradients = np.concatenate([inner[:1], inner, [0.0]]) if N > 1 else np.zeros(2)
        flow = 1.0 - np.arange(N + 1) / N
        carried = flow * gradients
        return (1.0 + strain) / N - 0.5 * (carried[:-1] + carried[1:])

    def _drag(self, t: float, x: Fields, guide: Motion, inside: float | None) -> Forces | None:
        """Drag on the elements at their middles and on the body at its center of drag; and the sum of the forces."""
        fluid, string, N = self.pendulum.fluid, self.pendulum.string, self.N
        if fluid is None or self.flow is None:
            return None
        nodes = np.zeros((N + 1, 3))
        depth = self.pendulum.reel.guide_position[2] + guide.place[2]
        l = (string.length - x.s) / N
        w = x.q[:-1] - x.q[1:]
        lengths = np.linalg.norm(w, axis=1, keepdims=True)
        unit = np.divide(w, lengths, out=np.zeros_like(w), where=lengths > 0.0)
        middle = 0.5 * (x.q[:-1] + x.q[1:])
        flows = (N - np.arange(N) - 0.5)[:, None] / N * w / l  # of the material through the mesh, by sigma
        u = 0.5 * (x.v[:-1] + x.v[1:]) + x.sigma * flows + guide.velocity - self.flow.at(t, depth + middle[:, 2])
        along = np.sum(u * unit, axis=1, keepdims=True) * unit
        across = u - along
        drag = string.normal_drag * np.linalg.norm(across, axis=1, keepdims=True) * across
        drag += np.pi * string.tangential_drag * np.linalg.norm(along, axis=1, keepdims=True) * along
        around = wetting.density_around_string(fluid, depth, x.q)[:, None]
        drag *= -0.5 * around * string.diameter * lengths
        # the fluid's acceleration pushes what is displaced, and across the string what moves along
        pushed = around * string.area * lengths * self.flow.acceleration(t, inside, depth + middle[:, 2])
        lengthwise = np.sum(pushed * unit, axis=1, keepdims=True) * unit
        drag += pushed + string.normal_added_mass * (pushed - lengthwise)
        nodes[:-1] += 0.5 * drag
        nodes[1:] += 0.5 * drag

        center = self.pendulum.body.center_of_mass if fluid.drag_center is None else fluid.drag_center
        arm = np.array(center)
        place = x.q[-1] + x.R @ arm
        u_body = x.v[-1] + x.R @ cross(x.omega, arm) + guide.velocity
        u_body = u_body - self.flow.at(t, np.array(depth + place[2]))
        density = wetting.density_around_body(self.pendulum, fluid, depth, x.q, x.R)
        on_body = -0.5 * density * fluid.drag_area * np.linalg.norm(u_body) * u_body
        nodes[-1] += on_body
        moment = cross(arm, x.R.T @ on_body) - density / fluid.density * fluid.spin_damping * x.omega
        at_center = np.array(wetting.buoyancy_center(self.pendulum, fluid))
        wave = self.flow.acceleration(t, inside, np.array(depth + (x.q[-1] + x.R @ at_center)[2]))
        push = density * (fluid.volume + fluid.added_mass / fluid.density) * wave
        nodes[-1] += push
        on_body = on_body + push
        moment = moment + cross(at_center, x.R.T @ push)
        lift = wetting.buoyancy(self.pendulum, fluid, depth, l, x.q, x.R)
        reel = float(np.sum(drag * flows)) + lift.reel
        total = drag.sum(axis=0) + on_body + lift.nodes.sum(axis=0) + [0.0, 0.0, lift.spooled]
        return self.packed(reel, nodes + lift.nodes, moment + lift.moment), total

    def carried(self, t: float, x: Fields, inside: float | None = None) -> Dual | None:
        """Fluid that moves along with the middles of the elements, across them, and with the body below a surface."""
        fluid, N = self.pendulum.fluid, self.N
        if fluid is None or (self.pendulum.string.normal_added_mass == 0.0 and fluid.surface is None):
            return None
        guide = self.guide(t, inside)
        depth = self.pendulum.reel.guide_position[2] + guide.place[2]
        arm = wetting.buoyancy_center(self.pendulum, fluid)
        mass, by_rates = np.zeros((N + 1, 3, 3)), np.zeros((N + 1, 3, 3 * N + 4))
        mass[:N] = wetting.moved_by_string(self.pendulum, fluid, depth, x.q)
        mass[N] = wetting.moved_by_body(self.pendulum, fluid, depth, x.q, x.R) * np.eye(3)
        for i in range(1, N + 1):  # node i moves the middles of elements i - 1 and i
            own = slice(3 * i - 2, 3 * i + 1)
            by_rates[i - 1 : i + 1, :, own] = 0.5 * np.eye(3)
        by_rates[N, :, own] = np.eye(3)
        bias = np.tile(guide.acceleration, (N + 1, 1))
        if self.rotates:
            by_rates[N, :, -3:] = -x.R @ hat(arm)
            bias[N] += x.R @ cross(x.omega, cross(x.omega, arm))
        return Dual(mass, by_rates, bias)

    def _applied_force(self, t: float, x: Fields, guide: Motion, inside: float | None) -> Forces | None:
        push = self.pendulum.applied_force
        if push is None or self.force is None or self.moment is None:
            return None
        nodes = np.zeros((self.N + 1, 3))
        force = self.force.at(t, inside)
        nodes[-1] = force
        moment = x.R.T @ self.moment.at(t, inside) + cross(np.array(push.point), x.R.T @ force)
        return self.packed(0.0, nodes, moment), force

    def _force_laws(self, t: float, x: Fields, guide: Motion, inside: float | None) -> Forces | None:
        """Forces on the material at the nodes, which passes them while the reel turns; and their sum.

        A point at the coordinate of node i lies on both elements beside it: its velocity by sigma is their mean.
        """
        if not self.laws:
            return None
        N = self.N
        deployed = self.pendulum.string.length - x.s
        slope = np.diff(x.q, axis=0) * (N / deployed)  # dr/d(material coordinate) of the elements
        at_nodes = np.vstack([slope[:1], 0.5 * (slope[:-1] + slope[1:]), slope[-1:]])
        passing = -at_nodes * (1.0 - np.arange(N + 1) / N)[:, None]
        place = np.array(self.pendulum.reel.guide_position) + guide.place
        velocity = x.v + passing * x.sigma + guide.velocity
        state = ForceState(x.q + place, velocity, x.R, x.omega, float(deployed), float(x.sigma))
        force, moment = np.zeros((N + 1, 3)), np.zeros(3)
        for law in self.laws:
            own = law.forces(t, state)
            force, moment = force + own[0], moment + own[1]
        return self.packed(float(np.sum(force * passing)), force, x.R.T @ moment), force.sum(axis=0)


# By name of the registry.
LOADS: dict[str, Callable[[Loads, float, Fields, Motion, float | None], Forces | None]] = {
    "damping": Loads._damping,
    "drag": Loads._drag,
    "applied_force": Loads._applied_force,
    "force_law": Loads._force_laws,
}
