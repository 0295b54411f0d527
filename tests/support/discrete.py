"""The discrete Lagrangian as SymPy sees it, and single steps of the kernels to compare."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from copy import deepcopy
from functools import cache
from typing import Any, NamedTuple

import numpy as np
import sympy as sp
from numpy.typing import NDArray

from tautline import registry
from tautline.engine.chain.lowering import initial_motion, kernel_parameters
from tautline.errors import RUNNING
from tautline.kernels import data
from tautline.kernels.compose import COMPOSITIONS
from tautline.kernels.fixed import momenta_with_kick
from tautline.kernels.march import march
from tautline.model.body import RigidBody
from tests.support.systems import random_system

Array = NDArray[np.float64]
SCHEMES = ("symmetric", "paper")
LAW = {name: code for code, name in enumerate(registry.GUIDE_LAWS)}
LAWS = ("none", "published", "dissipative", "momentum")
STEP = 0.01
SPOOLED_STRAIN = 0.04  # of the string on the drum, where the law stores it
TORQUE = data.Command(False, np.array([0.0, 0.1]), np.array([3.0, -5.0]))
LOCKED = data.Command(True, np.zeros(1), np.zeros(1))


def vector(name: str) -> Any:
    return sp.Matrix(sp.symbols(f"{name}_1:4", real=True))


def matrix(name: str) -> Any:
    return sp.Matrix(3, 3, sp.symbols(f"{name}_1:4_1:4", real=True))


def node_list(name: str, N: int) -> list[Any]:
    return [sp.zeros(3, 1), *(vector(f"{name}{i}") for i in range(1, N + 1))]


L, mu, EA, kappa, d, b, M, g, theta, h = sp.symbols("L mu EA kappa d b M g theta h", real=True)
growth = sp.Symbol("growth", nonnegative=True)  # of the drum's squared radius
r_p, rho, J = vector("r"), vector("rho"), matrix("J")
PARAMETERS = (L, mu, EA, kappa, d, b, *r_p, M, *J, *rho, g, theta, growth)


def parameter_values(par: data.Parameters) -> tuple[float, ...]:
    """In the order of PARAMETERS."""
    J_entries = (x for row in par.J for x in row)
    head = (par.L, par.mu, par.EA, par.kappa, par.d, par.b, *par.r_p)
    return (*head, par.M, *J_entries, *par.rho, par.weight / par.M, par.theta, par.growth)


class Configuration(NamedTuple):
    """Symbols, or numbers of the same shape: (s, q, R) of g, or (ds, dq, F) of f."""

    s: Any
    q: Any  # of nodes 0 to N; 0 at node 0
    R: Any

    def flat(self) -> list[Any]:
        """Without node 0."""
        return [self.s, *(x for q_i in self.q[1:] for x in q_i), *np.asarray(self.R).ravel()]


def configuration(s: str, q: str, R: str, N: int) -> Configuration:
    return Configuration(sp.Symbol(s, real=True), node_list(q, N), matrix(R))


@cache
def squared_speed() -> Any:
    """One component of rdot, squared, integrated over element e: a function of (v_e, v_{e+1}, w_e sigma/l, e, N)."""
    x, y, z, e, N, xi = sp.symbols("x y z e N xi")
    rdot = (1 - xi) * x + xi * y + (N - e - xi) / N * z
    return sp.Lambda((x, y, z, e, N), sp.integrate(sp.expand(rdot**2), (xi, 0, 1)))


def kinetic_string(s: Any, sigma: Any, q: list[Any], v: list[Any]) -> Any:
    """T_s = T_string + T_reel."""
    N = len(q) - 1
    l = (L - s) / N
    w = sp.Symbol("w")
    # all that is spooled turns with the drum, each piece on its own radius
    inertia = kappa * d**2 + sp.integrate(mu * (d**2 + growth * w), (w, 0, s - b))
    T = (inertia / (d**2 + growth * (s - b)) + mu * b) * sigma**2 / 2
    for e in range(N):
        flow = (q[e] - q[e + 1]) / l * sigma
        T += mu * l / 2 * sum(squared_speed()(x, y, z, e, N) for x, y, z in zip(v[e], v[e + 1], flow, strict=True))
    return T


def kinetic(x: Configuration, sigma: Any, v: list[Any], omega: Any) -> Any:
    """T of everything."""
    v_N = v[-1]
    body = M * v_N.dot(v_N) / 2 + M * v_N.dot(x.R * omega.cross(rho)) + omega.dot(J * omega) / 2
    return kinetic_string(x.s, sigma, x.q, v) + body


def potential(x: Configuration) -> Any:
    N = len(x.q) - 1
    l = (L - x.s) / N
    spooled = x.s - b
    angle = 2 * spooled / (d + sp.sqrt(d**2 + growth * spooled))
    above = (d**2 - growth**2 / 2) * (1 - sp.cos(angle)) + growth * (spooled - d * sp.sin(angle))
    V = -mu * g * (spooled * (r_p[2] - b) - above)
    V -= M * g * (r_p + x.q[N] + x.R * rho)[2]
    for e in range(N):
        w = x.q[e] - x.q[e + 1]
        V -= mu * g * l / 2 * (2 * r_p + x.q[e] + x.q[e + 1])[2]
        V += EA / (2 * l) * (sp.sqrt(w.dot(w)) - l) ** 2
    return V


@cache
def energies(N: int) -> tuple[Callable[..., Any], Callable[..., Any]]:
    """T(parameters, g, (sigma, v_1 ... v_N, Omega)) and V(parameters, g)."""
    x, v = configuration("s", "q", "R", N), node_list("v", N)
    sigma, omega = sp.Symbol("sigma"), vector("Omega")
    rates = [sigma, *(y for v_i in v[1:] for y in v_i), *omega]
    T = sp.lambdify([PARAMETERS, x.flat(), rates], kinetic(x, sigma, v, omega), "numpy", cse=True)
    V = sp.lambdify([PARAMETERS, x.flat()], potential(x), "numpy", cse=True)
    return T, V


def turning(F: Any) -> Any:
    J_d = J.trace() / 2 * sp.eye(3) - J
    return ((sp.eye(3) - F) * J_d).trace() / h


def discrete_lagrangian(x: Configuration, dx: Configuration) -> Any:
    x1 = Configuration(x.s + dx.s, [q + dq for q, dq in zip(x.q, dx.q, strict=True)], x.R * dx.R)
    sigma = dx.s / h
    v = [dq / h for dq in dx.q]
    string = (1 - theta) * kinetic_string(x.s, sigma, x.q, v) + theta * kinetic_string(x1.s, sigma, x1.q, v)
    swing = x.R * (dx.R - sp.eye(3)) * rho
    body = h * M * v[-1].dot(v[-1]) / 2 + M * v[-1].dot(swing) + turning(dx.R)
    return h * string + body - h / 2 * (potential(x) + potential(x1))


def hat(a: Any) -> Any:
    return sp.Matrix(3, 3, lambda i, j: -sum(sp.LeviCivita(i, j, k) * a[k] for k in range(3)))


HAT_BASIS = [hat(sp.eye(3).col(k)) for k in range(3)]


def along(f: Any, R: Any, dR: Any) -> Any:
    """Derivative of f as R changes by dR."""
    return sum(sp.diff(f, R[k]) * dR[k] for k in range(9))


def by_start(f: Any, x: Configuration, dx: Configuration) -> list[Any]:
    """D1 f, in the order of the momenta (p_s, p_1 ... p_N, Pi): g_{k+1} stays, so f_k changes against g_k.

    R_k exp(hat(eta)) F' = R_{k+1} gives dR = R hat(eta), dF = -hat(eta) F.
    """
    n = len(x.flat()) - 9
    straight = [sp.diff(f, y) - sp.diff(f, dy) for y, dy in zip(x.flat()[:n], dx.flat()[:n], strict=True)]
    return straight + [along(f, x.R, x.R * E) - along(f, dx.R, E * dx.R) for E in HAT_BASIS]


def by_end(f: Any, dx: Configuration) -> list[Any]:
    """D2 f: g_k stays; R_{k+1} exp(hat(eta)) is R_k F exp(hat(eta))."""
    return [sp.diff(f, dy) for dy in dx.flat()[:-9]] + [along(f, dx.R, dx.R * E) for E in HAT_BASIS]


@cache
def legendre_transforms(N: int) -> Callable[..., Any]:
    """(-D1 L_d, D2 L_d) as a function of (parameters, h, g_k, f_k)."""
    x, dx = configuration("s", "q", "R", N), configuration("ds", "dq", "F", N)
    L_d = discrete_lagrangian(x, dx)
    pair = (by_start(-L_d, x, dx), by_end(L_d, dx))
    function: Callable[..., Any] = sp.lambdify([PARAMETERS, h, x.flat(), dx.flat()], pair, "numpy", cse=True)
    return function


def quaternion_product(P: Array, Q: Array) -> Array:
    vector_part = P[0] * Q[1:] + Q[0] * P[1:] + np.cross(P[1:], Q[1:])
    return np.concatenate([[P[0] * Q[0] - P[1:] @ Q[1:]], vector_part])


def rotation(Q: Array) -> Array:
    """R of a quaternion (w, u) of any length: u u^T + (w I + hat(u))^2, over |Q|^2."""
    w, u = Q[0], Q[1:]
    A = w * np.eye(3) + np.cross(np.eye(3), u)
    R: Array = (np.outer(u, u) + A @ A) / (Q @ Q)
    return R


def sums(motion: data.Motion, N: int) -> tuple[Array, Array]:
    """Compensated sums (s, q, quaternion) and what each of them owes."""
    at = (data.S, data.POSITION, data.ATTITUDE)
    owed = (data.S_ERR, data.POSITION_ERR, data.ATTITUDE_ERR)
    x, err = (
        np.concatenate([motion.reel[[s]], data.nodes_of(motion.nodes[q], N).T.ravel(), motion.body[Q : Q + 4]])
        for s, q, Q in (at, owed)
    )
    return x, err


def configured(x: Array) -> Configuration:
    return Configuration(x[0], x[1:-4].reshape(3, -1).T, rotation(x[-4:]))


def increment(before: data.Motion, after: data.Motion, N: int) -> Configuration:
    """f_k of a step, to the digits that the compensated sums hold."""
    (x0, err0), (x1, err1) = sums(before, N), sums(after, N)
    dx = (x1 - x0) - (err1 - err0)
    Q = x0[-4:] - err0[-4:]
    # conj(Q) (Q + dQ), whose vector part is not a difference of large numbers
    dx[-4:] = quaternion_product(Q * [1, -1, -1, -1], dx[-4:])
    dx[-4] += Q @ Q
    return configured(dx)


def momenta(par: data.Parameters, motion: data.Motion) -> Array:
    """(p_s, p_1 ... p_N, Pi) with compensated sums completed and a pending kick paid."""
    scratch = data.empty_scratch(par.N)
    Pi = momenta_with_kick(par, motion, scratch)
    p = data.nodes_of(scratch.nodes[data.TARGET], par.N)
    return np.concatenate([[motion.reel[data.P_S] - motion.reel[data.P_S_ERR]], p[1:].ravel(), Pi])


def plan_of_step(step: float, order: int = 2) -> data.Plan:
    """One step a sample, no stability guard: the equations hold at any step."""
    return data.Plan(
        h=step,
        stages=COMPOSITIONS[order].stages,
        limit_multiple=1.0,
        adaptive=False,
        allowed_ratio=np.inf,
        resolution=1.0,
        minimum_length=0.0,
        end_mass=1.0,
        body_frequency2=0.0,
        steps_per_sample=1,
    )


def stepped(par: data.Parameters, plan: data.Plan, command: data.Command, motion: data.Motion) -> data.Motion:
    """One step on; the given motion stays."""
    after = deepcopy(motion)
    out = data.empty_samples(1, par.N)
    status, _ = march(par, plan, command, after, data.empty_scratch(par.N), data.empty_backups(after), out, None)
    assert status == RUNNING
    return after


class Case(NamedTuple):
    N: int = 2
    scheme: str = "symmetric"
    law: str = "none"
    is_point: bool = False
    strain: str = "mean"
    growth: float = 0.0


def random_motion(case: Case, seed: int, sigma: float) -> tuple[data.Parameters, data.Motion]:
    pendulum, state, _ = random_system(np.random.default_rng(seed), case.N, law=case.law)
    state = dataclasses.replace(state, reel_speed=sigma)
    pendulum = dataclasses.replace(pendulum, reel=dataclasses.replace(pendulum.reel, guide_strain=case.strain))
    if case.is_point:
        pendulum = dataclasses.replace(pendulum, body=RigidBody.point(pendulum.body.mass))
        state = dataclasses.replace(state, angular_velocity=np.zeros(3))
    pendulum = dataclasses.replace(pendulum, reel=dataclasses.replace(pendulum.reel, layer_growth=case.growth))
    par = kernel_parameters(pendulum, case.N, case.scheme, True)
    return par, initial_motion(par, state, SPOOLED_STRAIN)


def guide_force(par: data.Parameters, strain: Any, sigma: Any, spooled: Any = 0.0) -> Any:
    """Q of equations 16, 60 and 63."""
    if par.law == LAW["stretched"]:
        smooth_sign = sigma / np.sqrt(sigma**2 + par.sigma_0**2)
        if sigma >= 0.0:
            return -par.EA / 2.0 * (spooled**2 + smooth_sign * (strain**2 - spooled**2))
        return -par.EA / 2.0 * spooled**2 - smooth_sign * (par.mu * sigma**2 + par.EA) * (strain - spooled) ** 2 / 2.0
    if par.law == LAW["momentum"]:
        return (par.EA - par.mu * sigma**2) * strain**2 / 2.0
    smooth_sign = sigma / np.sqrt(sigma**2 + par.sigma_0**2)
    sign = {LAW["none"]: 0.0, LAW["published"]: 1.0, LAW["dissipative"]: smooth_sign}[par.law]
    return -sign * (par.mu * sigma**2 + par.EA) * strain**2 / 2.0
