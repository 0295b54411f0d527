"""In the limit of many elements: the partial differential equations [EL0] to [EL3] of the paper.

Smooth motions only. The string hangs at rest with the body below it; at constant length it is given a smooth
velocity, with a moving reel the torque that holds it is raised smoothly.
"""

from __future__ import annotations

import functools

import numpy as np
import pytest
import xarray as xr
from scipy.interpolate import CubicSpline

import tautline as tl
from tautline.model.command import Command
from tests.conftest import Report
from tests.support import chains
from tests.support.checking import check_below, check_order

G, MU, EA, L, X = 9.81, 0.025, 40.0, 30.0, 10.0
M, RHO = 0.1, np.array([0.0, 0.0, 0.4])
DRUM, GUIDE, KAPPA = 0.5, 0.5, 1.0
DURATION, SAMPLE = 1.0, 0.0005
BODY = tl.RigidBody.elliptic_cylinder(M, (0.5, 0.4), 0.8, tuple(RHO))
E3 = np.array([0.0, 0.0, 1.0])


def pendulum(law: str, strain: str) -> chains.Chain:
    reel = tl.Reel(drum_radius=DRUM, guide_length=GUIDE, inertia_mass=KAPPA, guide_law=law, guide_strain=strain)
    return chains.Chain(tl.String(L, MU, EA, law="linear"), reel, BODY, G)


def smooth_torque(law: str) -> tl.Torque:
    """Holds the string, then rises by 1 N m along a polynomial with three vanishing derivatives at both ends."""
    strain = (M + MU * X) * G / EA
    factor = {"none": 0.5, "published": 1.0, "momentum": 0.0}[law]
    s = L - X
    force = EA * (strain + factor * strain**2) + MU * G * (DRUM * np.sin((s - GUIDE) / DRUM) + GUIDE)
    x = np.linspace(0.0, 1.0, 4001)
    rise = x**4 * (35.0 - 84.0 * x + 70.0 * x**2 - 20.0 * x**3)
    return tl.Torque((x * DURATION, DRUM * force + rise))


@functools.cache
def solution(law: str, N: int, strain: str = "mean") -> xr.Dataset:
    """law `locked` is the constant-length case."""
    x = np.linspace(0.0, X, N + 1)
    at_rest = np.outer(x + ((M + MU * X) * G * x - 0.5 * MU * G * x**2) / EA, E3)
    z = x / X
    command: Command = tl.Locked() if law == "locked" else smooth_torque(law)
    # vanishes with three derivatives at both ends, so that no kink starts from there
    bump = (4.0 * z * (1.0 - z)) ** 4
    v = 0.3 * np.stack([bump, np.zeros_like(z), 0.5 * bump], axis=1)
    state = chains.ChainState(L - X, 0.0, at_rest, v)
    system = pendulum("none" if law == "locked" else law, strain)
    run = chains.simulate(system, state, command, duration=DURATION, sample=SAMPLE, order=4)
    assert run.attrs["status"] == "completed"
    return run


def end_point(run: xr.Dataset) -> np.ndarray:
    return np.append(run.position.values[-1, -1], run.reeled_length.values[-1])


@pytest.mark.parametrize(
    ("law", "strain", "expected"),
    [
        ("locked", "mean", 2.0),
        ("none", "mean", 2.0),
        ("published", "mean", 1.0),
        ("published", "extrapolated", 2.0),
        ("momentum", "mean", 1.0),
        ("momentum", "extrapolated", 2.0),
    ],
)
def test_convergence_in_the_number_of_elements(law: str, strain: str, expected: float, report: Report) -> None:
    """Second order without a guide law; first with one and the first element's mean strain for that at the guide,
    second again with the strain extrapolated to the guide."""
    counts = [10, 20, 40, 80]
    limit = end_point(solution(law, 320, strain))
    errors = [float(np.abs(end_point(solution(law, N, strain)) - limit).max()) for N in counts]
    order = check_order([1.0 / N for N in counts], errors, expected)
    name = law if law in ("locked", "none") else f"{law}, {strain} strain"
    report(f"attachment point and reel, {name}: order in 1/N", order, f"{expected:g} +- 0.3")
    report(f"attachment point and reel, {name}: error at N = 80 (m)", errors[-1], "")


def residuals(run: xr.Dataset, index: int) -> dict[str, float]:
    """[EL0] to [EL3] at one instant, as accelerations; derivatives from splines and central differences."""
    t = slice(index - 1, index + 2)
    s = run.reeled_length.values[t]
    q = run.position.values[t]
    R = run.attitude.values[index]
    omega = run.angular_velocity.values[t]
    dt = float(run.time[1] - run.time[0])
    mesh = np.linspace(0.0, 1.0, q.shape[1])
    curves = [CubicSpline(s_k + mesh * (L - s_k), q_k) for s_k, q_k in zip(s, q, strict=True)]

    def tension(point: np.ndarray) -> np.ndarray:
        slope = curves[1](point, 1)
        length = np.linalg.norm(slope, axis=-1, keepdims=True)
        return np.asarray(EA * (length - 1.0) / length * slope)

    def acceleration(point: np.ndarray) -> np.ndarray:
        return np.asarray((curves[2](point) - 2.0 * curves[1](point) + curves[0](point)) / dt**2)

    inside = s[1] + (L - s[1]) * np.linspace(0.2, 0.8, 13)
    step = 1e-4 * X
    force_slope = (tension(inside + step) - tension(inside - step)) / (2.0 * step)
    el1 = -acceleration(inside) + force_slope / MU + G * E3

    end_acceleration = (q[2, -1] - 2.0 * q[1, -1] + q[0, -1]) / dt**2
    omega_rate = (omega[2] - omega[0]) / (2.0 * dt)
    swing = np.cross(omega_rate, RHO) + np.cross(omega[1], np.cross(omega[1], RHO))
    el2 = -end_acceleration - R @ swing + G * E3 - tension(np.array(L)) / M
    J = np.array(BODY.inertia)
    el3 = -J @ omega_rate - M * np.cross(RHO, R.T @ end_acceleration) - np.cross(omega[1], J @ omega[1])
    el3 = np.linalg.solve(J, el3 + M * G * np.cross(RHO, R.T @ E3))

    stretch = curves[1](s[1], 1)
    speed = float(run.reel_speed[index])
    reel_acceleration = (s[2] - 2.0 * s[1] + s[0]) / dt**2
    torque = np.interp(float(run.time[index]), *smooth_torque("published").torques())
    el0 = -(MU * s[1] + KAPPA) * reel_acceleration - MU * G * GUIDE - MU * G * DRUM * np.sin((s[1] - GUIDE) / DRUM)
    el0 += -tension(np.array(s[1])) @ stretch + MU * (np.linalg.norm(stretch) - 1.0) * speed**2 + torque / DRUM
    return {
        "EL0": abs(float(el0)) / (MU * s[1] + KAPPA),
        "EL1": float(np.abs(el1).max()),
        "EL2": float(np.abs(el2).max()),
        "EL3": float(np.abs(el3).max()),
    }


@pytest.mark.parametrize(
    ("law", "names", "least_order"), [("locked", ["EL1", "EL2"], 1.7), ("published", ["EL0", "EL1"], 0.7)]
)
def test_residual_of_the_partial_differential_equations(
    law: str, names: list[str], least_order: float, report: Report
) -> None:
    """The residual of the continuous equations on the discrete solution falls as the mesh is refined."""
    counts = [20, 40, 80]
    index = round(0.8 * DURATION / SAMPLE)
    found = [residuals(solution(law, N), index) for N in counts]
    for name in names:
        sizes = [r[name] for r in found]
        order = -float(np.polyfit(np.log(counts), np.log(sizes), 1)[0])
        report(f"[{name}], {law}: order of the residual in 1/N", order, f">= {least_order:g}")
        report(f"[{name}], {law}: residual at N = 80 (m/s^2 or rad/s^2)", sizes[-1], "")
        assert order >= least_order, f"{name}: residuals {sizes}"
    # [EL3] has no derivative along the string: the elements satisfy it as it stands, up to the time differences
    report(f"[EL3], {law}: residual at N = 80 (rad/s^2)", found[-1]["EL3"], "1e-5")
    check_below("EL3", found[-1]["EL3"], 1e-5)
