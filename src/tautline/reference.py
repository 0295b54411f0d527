"""The continuous-time equations as an ordinary differential equation: the independent comparator.

Nothing here is shared with the kernels. The velocity field of the deployed string is taken as it stands
and integrated over each element by Gauss's rule, where the kernels use closed integrals; the equations are
solved for accelerations with a dense mass matrix, where the kernels work with momenta. Rotation matrices are
nine plain numbers without group structure, so that a conventional method shows what it does to them.
Agreement between the two routes therefore means something.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from tautline._version import __version__
from tautline.model import checks
from tautline.model.command import Brake, Command, Led, Locked, Spring, Torque, check_command, check_start
from tautline.model.pendulum import Pendulum
from tautline.model.state import State

if TYPE_CHECKING:
    import xarray as xr

Array = NDArray[np.float64]

# Gauss's two points on [0, 1]: exact for the kinetic energy, which is quadratic along an element.
_XI = 0.5 + np.array([-0.5, 0.5]) / np.sqrt(3.0)
_WEIGHT = 0.5
# Points along the wound string; its angle on the drum is some hundred radians at most.
_WOUND, _WOUND_WEIGHTS = np.polynomial.legendre.leggauss(400)
_METHODS = ("DOP853", "Radau", "RK45", "RK23", "BDF", "LSODA", "RK4")
# A run ends when less than this part of the initial length is out, or when s reaches the guide length.
_MINIMUM_LENGTH = 0.01
# Points of a step of a method of high order that are remembered.
_REMEMBERED = 8


class Fields(NamedTuple):
    """A state taken apart."""

    s: float
    q: Array  # (N + 1, 3)
    R: Array
    sigma: float
    v: Array  # (N + 1, 3)
    omega: Array


class Equations:
    """Right-hand side y' = f(t, y), y = (s, q_1..q_N, R, sigma, v_1..v_N, Omega, [friction,] work, loss).

    The friction's loss is there where the drum has friction. Dry friction is that of a drum that slips; it does not
    stick here.
    """

    remembers = False  # whether the future depends on more than y

    def __init__(self, pendulum: Pendulum, elements: int, command: Command) -> None:
        self.pendulum = pendulum
        self.N = elements
        self.locked = isinstance(command, Locked)
        self.rotates = not pendulum.body.is_point
        self.J = np.array(pendulum.body.inertia)
        self.rho = np.array(pendulum.body.center_of_mass)
        self.rho_hat = _hat(self.rho)
        self.command = command
        reel = pendulum.reel
        self.rubs = isinstance(command, Brake) or reel.viscous_friction > 0.0 or reel.coulomb_friction > 0.0
        self.limits = [np.inf if x is None else x for x in (reel.max_torque, reel.max_power)]
        self.curve: Any = None  # of the deployed length

    def begin(self, state: State) -> None:
        """Where a curve in time starts from is known only now."""
        if isinstance(self.command, Led | Spring):
            from scipy.interpolate import PPoly

            rows = self.command.curve(0.0, self.pendulum.string.length - state.reeled_length)
            knots = np.append(rows[:, 0], np.inf)
            self.curve = [PPoly(rows[:, :0:-1].T, knots).derivative(k) for k in range(3)]

    def planned(self, t: float) -> Array:
        """Reeled length, speed and acceleration of the curve."""
        deployed = np.array([float(self.curve[k](t)) for k in range(3)])
        reeled: Array = np.array([self.pendulum.string.length, 0.0, 0.0]) - deployed
        return reeled

    def radius(self, s: float) -> float:
        reel = self.pendulum.reel
        return float(np.sqrt(reel.drum_radius**2 + reel.layer_growth * (s - reel.guide_length)))

    def motor(self, t: float, x: Fields) -> float:
        """Its torque, within the limits."""
        command, d = self.command, self.radius(x.s)
        u = 0.0
        if isinstance(command, Torque):
            u = float(command.moment(t)) if command.is_function else float(np.interp(t, *command.table()))
        elif isinstance(command, Spring):
            rest, speed, _ = self.planned(t)
            u = d * (command.stiffness * (rest - x.s) + command.damping * (speed - x.sigma))
        torque, power = self.limits
        most = torque if x.sigma == 0.0 else min(torque, power * d / abs(x.sigma))
        return float(np.clip(u, -most, most))

    def friction(self, t: float, x: Fields) -> float:
        """Force on s of a drum that slips."""
        reel, d = self.pendulum.reel, self.radius(x.s)
        dry = reel.coulomb_friction
        if isinstance(self.command, Brake):
            dry += float(np.interp(t, *self.command.table()))
        return -reel.viscous_friction * x.sigma / d**2 - float(np.sign(x.sigma)) * dry / d

    def wound(self, s: float) -> tuple[float, float, float, float]:
        """Of the reel: inertia as a mass, and its rate by s; height of the wound string times its length, and its rate.

        By quadrature along the string; what is wound first lies on a smaller radius where the drum grows.
        """
        reel, mu = self.pendulum.reel, self.pendulum.string.density
        w, k = s - reel.guide_length, reel.layer_growth
        points = 0.5 * w * (_WOUND + 1.0)
        weights = 0.5 * w * _WOUND_WEIGHTS
        radii = np.sqrt(reel.drum_radius**2 + k * points)
        d = self.radius(s)
        inertia = reel.turning_mass * reel.drum_radius**2 + mu * weights @ radii**2
        behind = 2.0 * (w - points) / (d + radii)  # the integral of dw/d between two places
        mass = inertia / d**2 + mu * reel.guide_length
        return mass, mu - k * inertia / d**4, weights @ (radii * np.sin(behind)), weights @ (radii * np.cos(behind)) / d

    def pack(self, state: State) -> Array:
        return np.concatenate(
            [
                [state.reeled_length],
                state.nodes[1:].ravel(),
                np.asarray(state.attitude).ravel(),
                [state.reel_speed],
                state.node_velocities[1:].ravel(),
                np.asarray(state.angular_velocity),
                np.zeros(3 if self.rubs else 2),
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

    def torque(self, t: float, y: Array) -> float:
        """On the drum, as commanded or as needed."""
        x = self.unpack(y)
        return self.led(t, x)[1] if isinstance(self.command, Led) else self.motor(t, x)

    def led(self, t: float, x: Fields) -> tuple[Array, float]:
        """Accelerations with that of the reel given, and the torque that it takes."""
        mass, force = self.assemble(x, 0.0)
        force[0] += self.friction(t, x)
        acceleration = np.full(len(force), self.planned(t)[2])
        acceleration[1:] = np.linalg.solve(mass[1:, 1:], force[1:] - mass[1:, 0] * acceleration[0])
        return acceleration, float(mass[0] @ acceleration - force[0]) * self.radius(x.s)

    def guide_force(self, x: Fields) -> float:
        """Q of the guide law, from what the string is and does outside, after the jump, and from what is lost."""
        string, reel = self.pendulum.string, self.pendulum.reel
        if reel.guide_law == "none":
            return 0.0
        strain = self.guide_strain(x)
        tension = string.stiffness * strain
        if reel.guide_law == "momentum":
            # the pull and the momentum that enters, both from outside, less what the variational principle has of them
            flux = string.density * x.sigma * (1.0 + strain) * x.sigma - string.density * x.sigma**2
            lossless = tension * (1.0 + strain) - 0.5 * tension * strain
            lossless -= 0.5 * string.density * ((1.0 + strain) ** 2 - 1.0) * x.sigma**2
            return flux - tension + lossless
        Q = -0.5 * (string.density * x.sigma**2 + string.stiffness) * strain**2
        if reel.guide_law == "dissipative":
            Q *= x.sigma / np.hypot(x.sigma, reel.smoothing_speed)
        return Q

    def guide_strain(self, x: Fields) -> float:
        """Just outside the guide: of the first element, or the value there of the line through the first two."""
        l = (self.pendulum.string.length - x.s) / self.N
        strains = np.linalg.norm(np.diff(x.q[:3], axis=0), axis=1) / l - 1.0
        if self.pendulum.reel.guide_strain == "mean" or self.N == 1:
            return float(strains[0])
        return float(1.5 * strains[0] - 0.5 * strains[1])

    def accelerations(self, x: Fields, u: float) -> tuple[float, Array, Array]:
        """sigma', v' and Omega' from the mass matrix and the generalised forces."""
        mass, force = self.assemble(x, u)
        acceleration = np.zeros(len(force))
        first = 1 if self.locked else 0
        acceleration[first:] = np.linalg.solve(mass[first:, first:], force[first:])
        return acceleration[0], acceleration[1:-3], acceleration[-3:]

    def assemble(self, x: Fields, u: float) -> tuple[Array, Array]:
        """Mass matrix and generalised forces, in the order sigma, nodes, body."""
        p, N = self.pendulum, self.N
        mu, EA, g, M = p.string.density, p.string.stiffness, p.gravity, p.body.mass
        e3 = np.array([0.0, 0.0, 1.0])
        l = (p.string.length - x.s) / N
        l_rate = -x.sigma / N
        w = x.q[:-1] - x.q[1:]
        a = w / l
        a_rate = (x.v[:-1] - x.v[1:]) / l - a * (l_rate / l)

        size = 1 + 3 * N + 3
        mass = np.zeros((size, size))
        force = np.zeros(size)
        nodes = np.zeros((N + 1, 3))  # forces on the nodes
        border = np.zeros((N + 1, 3))  # mass between sigma and the nodes
        shape = np.zeros((N + 1, N + 1))
        diagonal = np.arange(N)
        for xi in _XI:
            k = mu * l * _WEIGHT
            phi = ((N - diagonal - xi) / N)[:, None]
            velocity = (1.0 - xi) * x.v[:-1] + xi * x.v[1:] + phi * a * x.sigma
            bias = phi * a_rate * x.sigma  # what remains of its rate without accelerations
            inertial = k * (bias + (l_rate / l) * velocity)
            gradient = (k / l) * phi * x.sigma * velocity  # dT/dw
            nodes[:-1] += gradient - (1.0 - xi) * inertial
            nodes[1:] += -gradient - xi * inertial
            along = np.sum(a * velocity, axis=1, keepdims=True) * phi
            slope = _WEIGHT * mu * (0.5 * np.sum(velocity**2, axis=1) - x.sigma * along[:, 0])
            force[0] += -slope.sum() / N
            force[0] -= np.sum(phi * a * inertial) + np.sum(k * phi * a_rate * velocity)
            shape[diagonal, diagonal] += k * (1.0 - xi) ** 2
            shape[diagonal + 1, diagonal + 1] += k * xi**2
            shape[diagonal, diagonal + 1] += k * xi * (1.0 - xi)
            shape[diagonal + 1, diagonal] += k * xi * (1.0 - xi)
            border[:-1] += k * (1.0 - xi) * phi * a
            border[1:] += k * xi * phi * a
            mass[0, 0] += np.sum(k * (phi * a) ** 2)

        lengths = np.linalg.norm(w, axis=1, keepdims=True)
        unit = np.divide(w, lengths, out=np.zeros_like(w), where=lengths > 0.0)
        tension = EA * (lengths / l - 1.0)
        nodes[:-1] += -tension * unit + 0.5 * mu * g * l * e3
        nodes[1:] += tension * unit + 0.5 * mu * g * l * e3
        nodes[N] += M * g * e3

        reel = p.reel
        r_p = np.array(reel.guide_position)
        inertia, inertia_rate, _, lever = self.wound(x.s)
        mass[0, 0] += inertia
        force[0] -= 0.5 * inertia_rate * x.sigma**2
        force[0] += mu * g * (r_p[2] - reel.guide_length - lever)
        depth = 2.0 * r_p[2] + x.q[:-1, 2] + x.q[1:, 2]
        strain_energy_rate = EA * ((lengths[:, 0] / l) ** 2 - 1.0)
        force[0] -= (mu * g * depth + strain_energy_rate).sum() / (2 * N)
        force[0] += u / self.radius(x.s) + self.guide_force(x)

        mass[1:-3, 1:-3] = np.kron(shape[1:, 1:], np.eye(3))
        mass[0, 1:-3] = mass[1:-3, 0] = border[1:].ravel()
        last = slice(3 * N - 2, 3 * N + 1)
        mass[last, last] += M * np.eye(3)
        if self.rotates:
            mass[last, -3:] = -M * x.R @ self.rho_hat
            mass[-3:, last] = M * self.rho_hat @ x.R.T
            mass[-3:, -3:] = self.J
            spin = np.cross(x.omega, np.cross(x.omega, self.rho))
            nodes[N] -= M * x.R @ spin
            force[-3:] = M * g * np.cross(self.rho, x.R.T @ e3) - np.cross(x.omega, self.J @ x.omega)
        else:
            mass[-3:, -3:] = np.eye(3)
        force[1:-3] = nodes[1:].ravel()
        return mass, force

    def __call__(self, t: float, y: Array) -> Array:
        x = self.unpack(y)
        d = self.radius(x.s)
        rub = self.friction(t, x)
        if isinstance(self.command, Led):
            acceleration, u = self.led(t, x)
            sigma_rate, v_rate, omega_rate = acceleration[0], acceleration[1:-3], acceleration[-3:]
        else:
            u = self.motor(t, x)
            sigma_rate, v_rate, omega_rate = self.accelerations(x, u + rub * d)
        power = u / d * x.sigma
        loss = -self.guide_force(x) * x.sigma
        return np.concatenate(
            [
                [x.sigma],
                x.v[1:].ravel(),
                (x.R @ _hat(x.omega)).ravel(),
                [sigma_rate],
                v_rate,
                omega_rate,
                [-rub * x.sigma, power, loss] if self.rubs else [power, loss],
            ]
        )

    def remember(self, y: Array) -> None:
        """Called with the state after each step, where the equations remember."""

    def figures(self, y: Array) -> dict[str, Any]:
        """Energies, angular momentum and orthogonality error of a state."""
        p, N, x = self.pendulum, self.N, self.unpack(y)
        mu, g, M = p.string.density, p.gravity, p.body.mass
        reel = p.reel
        l = (p.string.length - x.s) / N
        w = x.q[:-1] - x.q[1:]
        inertia, _, above, _ = self.wound(x.s)
        kinetic = 0.5 * inertia * x.sigma**2
        momentum = np.zeros(3)
        for xi in _XI:
            phi = ((N - np.arange(N) - xi) / N)[:, None]
            velocity = (1.0 - xi) * x.v[:-1] + xi * x.v[1:] + phi * w / l * x.sigma
            place = (1.0 - xi) * x.q[:-1] + xi * x.q[1:]
            kinetic += 0.5 * mu * l * _WEIGHT * np.sum(velocity**2)
            momentum += mu * l * _WEIGHT * np.cross(place, velocity).sum(axis=0)
        swing = x.R @ np.cross(x.omega, self.rho)
        rotational = 0.5 * x.omega @ self.J @ x.omega
        kinetic += M * (0.5 * x.v[N] @ x.v[N] + x.v[N] @ swing) + rotational
        momentum += M * np.cross(x.q[N], x.v[N] + swing)
        momentum += x.R @ (self.J @ x.omega + M * np.cross(self.rho, x.R.T @ x.v[N]))
        height = reel.guide_position[2]
        gravity = -mu * g * ((x.s - reel.guide_length) * (height - reel.guide_length) - above)
        gravity -= 0.5 * mu * g * l * (2.0 * height + x.q[:-1, 2] + x.q[1:, 2]).sum()
        gravity -= M * g * (height + x.q[N, 2] + (x.R @ self.rho)[2])
        elastic = 0.5 * p.string.stiffness / l * np.sum((np.linalg.norm(w, axis=1) - l) ** 2)
        return {
            "reeled_length": x.s,
            "reel_speed": x.sigma,
            "nodes": x.q,
            "velocity": x.v,
            "attitude": x.R,
            "angular_velocity": x.omega,
            "kinetic_energy": kinetic,
            "rotational_energy": rotational,
            "elastic_energy": elastic,
            "gravity_energy": gravity,
            "control_work": y[-2],
            "guide_loss": y[-1],
            "damping_loss": 0.0,
            "friction_loss": y[-3] if self.rubs else 0.0,
            "fluid_work": 0.0,
            "external_work": 0.0,
            "guide_work": 0.0,
            "angular_momentum": momentum[2],
            "orthogonality_error": float(np.linalg.norm(np.eye(3) - x.R.T @ x.R)),
        }


class WithWoundString(Equations):
    """The guide law `stretched`: y is followed by the energy of the string on the drum.

    What came in is remembered as a curve, strain over material coordinate, with a point for every step; the kernels
    keep means of cells.
    """

    remembers = True

    def __init__(self, pendulum: Pendulum, elements: int, command: Command) -> None:
        super().__init__(pendulum, elements, command)
        self.coordinate: list[float] = []
        self.strain: list[float] = []
        self.turned = True  # the reel, since something was wound

    def pack(self, state: State) -> Array:
        wound = self.pendulum.reel.wound_strain
        self.coordinate, self.strain = [0.0, state.reeled_length], [wound, wound]
        return np.append(super().pack(state), self.density(wound) * state.reeled_length)

    def density(self, strain: float) -> float:
        """Elastic energy of a unit of unstretched length."""
        return 0.5 * self.pendulum.string.stiffness * strain**2

    def brought_in(self, x: Fields) -> float:
        """Elastic energy that comes in with a unit of unstretched length, smoothed at standstill."""
        wound = float(np.interp(x.s, self.coordinate, self.strain))
        share = x.sigma / float(np.hypot(x.sigma, self.pendulum.reel.smoothing_speed))
        return (1.0 - share) * self.density(wound) + share * self.density(self.guide_strain(x))

    def lost_and_stored(self, x: Fields) -> tuple[float, float]:
        """Energy that a unit of unstretched length loses at the guide, and that it has on the drum."""
        if x.sigma >= 0.0:
            return 0.0, self.brought_in(x)
        wound = float(np.interp(x.s, self.coordinate, self.strain))
        jump = self.guide_strain(x) - wound
        impact = 0.5 * self.pendulum.string.density * (jump * x.sigma) ** 2 + self.density(jump)
        share = abs(x.sigma) / float(np.hypot(x.sigma, self.pendulum.reel.smoothing_speed))
        return share * impact, self.density(wound)

    def guide_force(self, x: Fields) -> float:
        lost, stored = self.lost_and_stored(x)
        return -stored - float(np.sign(x.sigma)) * lost

    def __call__(self, t: float, y: Array) -> Array:
        rates = super().__call__(t, y[:-1])
        x = self.unpack(y)
        stored = self.lost_and_stored(x)[1] * x.sigma
        rates[-1] -= stored
        return np.append(rates, stored)

    def remember(self, y: Array) -> None:
        x = self.unpack(y)
        if x.s > self.coordinate[-1]:
            density = self.brought_in(x)
            entered = float(np.copysign(np.sqrt(2.0 * density / self.pendulum.string.stiffness), self.guide_strain(x)))
            if self.turned:  # what comes in after a time of deployment need not fit what is there
                self.coordinate.append(self.coordinate[-1])
                self.strain.append(entered)
            self.coordinate.append(x.s)
            self.strain.append(entered)
            self.turned = False
        elif x.s < self.coordinate[-1]:
            top = float(np.interp(x.s, self.coordinate, self.strain))
            while self.coordinate[-1] >= x.s:
                del self.coordinate[-1], self.strain[-1]
            self.coordinate.append(x.s)
            self.strain.append(top)
            self.turned = True

    def figures(self, y: Array) -> dict[str, Any]:
        figures = super().figures(y[:-1])
        figures["elastic_energy"] += y[-1]
        return figures


def _hat(a: Array) -> Array:
    return np.array([[0.0, -a[2], a[1]], [a[2], 0.0, -a[0]], [-a[1], a[0], 0.0]])


def integrate(
    pendulum: Pendulum,
    state: State,
    command: Command,
    *,
    duration: float,
    sample: float,
    method: str = "DOP853",
    rtol: float = 1e-10,
    atol: float = 1e-12,
    step: float | None = None,
    equations: type[Equations] | None = None,
) -> xr.Dataset:
    """Solve the equations by a general method; same Dataset as `simulate`.

    Parameters
    ----------
    pendulum, state, command, duration, sample
        As in `simulate`.
    method : str
        One of SciPy's ("DOP853", "Radau", "RK45", "RK23", "BDF", "LSODA"), or "RK4", the classical
        Runge-Kutta method with a fixed `step`.
    rtol, atol : float
        Tolerances of SciPy's methods.
    step : float, optional
        Of "RK4" (s); a sample is made of whole steps no longer than this.
    equations : type, optional
        A subclass of `Equations`, to try another model; by default what the guide law needs.
    """
    checks.choice("method", method, _METHODS)
    checks.instance("pendulum", pendulum, Pendulum)
    checks.instance("state", state, State)
    state.check_against(pendulum)
    check_command(command, state.reel_speed)
    check_start(command, 0.0, pendulum.string.length - state.reeled_length, state.reel_speed)
    duration = checks.positive("duration", duration, "s")
    sample = checks.positive("sample", sample, "s")
    count = checks.whole_ratio("duration", duration, "sample", sample)
    for name, tolerance in (("rtol", rtol), ("atol", atol)):
        checks.positive(name, tolerance, "relative" if name == "rtol" else "SI")
    if equations is None:
        equations = WithWoundString if pendulum.reel.guide_law == "stretched" else Equations
    system = equations(pendulum, state.elements, command)
    system.begin(state)
    times = np.arange(count + 1, dtype=np.float64) * np.float64(sample)
    y0 = system.pack(state)
    if method == "RK4":
        step = checks.positive("step", step, "s")
        status, states = _rk4(system, y0, times, max(1, int(np.ceil(sample / step - 1e-9))))
    elif system.remembers:
        status, states = _stepwise(system, y0, times, method, rtol, atol)
    else:
        status, states = _scipy(system, y0, times, method, rtol, atol)
    return labelled(system, states, times[: len(states)], status, method)


def labelled(system: Equations, states: Sequence[Array], times: Array, status: str, method: str) -> xr.Dataset:
    """The Dataset of states that any method has found."""
    from tautline import dataset

    rows = [system.figures(y) for y in states]
    columns = {name: np.array([row[name] for row in rows]) for name in rows[0]}
    columns["torque"] = np.array([system.torque(float(t), y) for t, y in zip(times, states, strict=True)])
    still = np.zeros((len(times), 3))
    record = dataset.Record(time=times, **columns, guide_displacement=still, guide_velocity=still)
    attrs = {
        "status": status,
        "message": f"{status} at t = {times[-1]:.6g} s",
        "scheme": f"reference {method}",
        "version": __version__,
    }
    return dataset.build(system.pendulum, record, attrs)


def _scipy(
    equations: Equations, y0: Array, times: Array, method: str, rtol: float, atol: float
) -> tuple[str, list[Array]]:
    from scipy.integrate import solve_ivp

    L, b = equations.pendulum.string.length, equations.pendulum.reel.guide_length
    end = L - _MINIMUM_LENGTH * (L - y0[0])

    def retrieved(t: float, y: Array) -> float:
        return float(end - y[0])

    def deployed(t: float, y: Array) -> float:
        return float(y[0] - b)

    retrieved.terminal = deployed.terminal = True  # type: ignore[attr-defined]
    events: list[Callable[..., float]] = [] if equations.locked else [retrieved, deployed]
    result = solve_ivp(
        equations,
        (0.0, times[-1]),
        y0,
        method,
        t_eval=times,
        events=events,
        rtol=rtol,
        atol=atol,
    )
    names = {0: "completed", 1: "event", -1: "failed"}
    status = names[result.status]
    if status == "event":
        status = "fully_retrieved" if len(result.t_events[0]) else "fully_deployed"
    return status, list(result.y.T)


def _stepwise(
    equations: Equations, y0: Array, times: Array, method: str, rtol: float, atol: float
) -> tuple[str, list[Array]]:
    """SciPy's methods step by step, for equations that remember; events end a run with the step that they are in."""
    from scipy import integrate as scipy_integrate

    L, b = equations.pendulum.string.length, equations.pendulum.reel.guide_length
    end = L - _MINIMUM_LENGTH * (L - y0[0])
    solver = getattr(scipy_integrate, method)(equations, 0.0, y0, times[-1], rtol=rtol, atol=atol)
    states = [y0]
    while solver.status == "running":
        solver.step()
        if solver.status == "failed":
            return "failed", states
        between = solver.dense_output()
        for t in np.linspace(solver.t_old, solver.t, _REMEMBERED + 1)[1:]:
            equations.remember(between(t))
        while len(states) < len(times) and times[len(states)] <= solver.t:
            states.append(between(times[len(states)]))
        if not b < solver.y[0] < end:
            return "fully_deployed" if solver.y[0] <= b else "fully_retrieved", states
    return "completed", states


def _rk4(equations: Equations, y0: Array, times: Array, steps: int) -> tuple[str, list[Array]]:
    """Classical Runge-Kutta, on the plain numbers."""
    h = (times[1] - times[0]) / steps
    y, states = y0, [y0]
    for t0 in times[:-1]:
        for i in range(steps):
            t = t0 + i * h
            k1 = equations(t, y)
            k2 = equations(t + 0.5 * h, y + 0.5 * h * k1)
            k3 = equations(t + 0.5 * h, y + 0.5 * h * k2)
            k4 = equations(t + h, y + h * k3)
            y = y + h / 6.0 * (k1 + 2.0 * k2 + 2.0 * k3 + k4)
            equations.remember(y)
        if not np.isfinite(y).all():
            return "non_finite", states
        states.append(y)
    return "completed", states
