"""Make reference.json: `python -m tests.verification.make_reference OUT.json [NAME...]`, in a few minutes.

Nothing of tautline is used, and nothing is differentiated by hand. The Lagrangian of the semi-discrete model
(docs/theory.md, section 2) is written down as it stands there; its derivatives by the configuration are taken by
complex steps, which lose no digits, and the kinetic energy is a quadratic form of the rates. DOP853 integrates

    d/dt (M z) = dL/dy + forces,    on SO(3)    d/dt p + Omega x p = tau,    R' = R hat(Omega).
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.integrate import solve_ivp

Array = NDArray[Any]
Entry = dict[str, Any]
RTOL, ATOL = 1e-11, 1e-13
COMPLEX_STEP = 1e-30
SIGMA_0 = 1e-3  # m/s, where the dissipative guide force turns its sign
GAUSS = np.array([0.5 - 0.5 / np.sqrt(3.0), 0.5 + 0.5 / np.sqrt(3.0)])  # exact for what is quadratic along an element


def hat(a: Array) -> Array:
    """Matrices of the cross product, of one vector or of many."""
    out = np.zeros((*a.shape, 3), dtype=a.dtype)
    out[..., 0, 1], out[..., 0, 2], out[..., 1, 2] = -a[..., 2], a[..., 1], -a[..., 0]
    out -= np.swapaxes(out, -1, -2).copy()
    return out


class Configuration(NamedTuple):
    """Reeled length, nodes from the guide entrance on, attitude; of one configuration, or of many (leading axis)."""

    s: Array  # (...)
    q: Array  # (..., N + 1, 3)
    R: Array  # (..., 3, 3)


class Model:
    """The semi-discrete string pendulum of one entry. Rates z are those of s, of the moving nodes, and Omega."""

    def __init__(self, entry: Entry) -> None:
        string, reel, body = entry["string"], entry["reel"], entry["body"]
        self.N = entry["elements"]
        self.mu, self.EA, self.L = string["density"], string["stiffness"], string["length"]
        self.d, self.b, self.kappa = reel["drum_radius"], reel["guide_length"], reel["inertia_mass"]
        self.r_p = np.array(reel["guide_position"])
        self.M, self.J, self.rho = body["mass"], np.array(body["inertia"]), np.array(body["center_of_mass"])
        self.g, self.law, self.torque = entry["gravity"], entry["guide_law"], entry["torque"]
        self.locked = entry["reel_mode"] == "locked"
        self.n = 1 + 3 * self.N
        element = np.arange(self.N)[:, None]
        self.behind = (self.N - element - GAUSS) / self.N  # part of the string beyond a Gauss point

    def velocities(self, at: Configuration, z: Array) -> Array:
        """Velocities of the material at all Gauss points: nodes move, and material moves through the mesh."""
        rates = np.concatenate([np.zeros((*z.shape[:-1], 3)), z[..., 1 : self.n]], axis=-1)
        dq = rates.reshape(*z.shape[:-1], self.N + 1, 3)[..., :, None, :]
        x = GAUSS[:, None]
        slope = -np.diff(at.q, axis=-2) / ((self.L - at.s) / self.N)[..., None, None]
        transport = self.behind[..., None] * slope[..., None, :]
        ds = z[..., 0][..., None, None, None]
        return np.asarray((1.0 - x) * dq[..., :-1, :, :] + x * dq[..., 1:, :, :] + ds * transport)

    def lever(self, at: Configuration, z: Array) -> Array:
        """Velocity of the center of mass relative to the attachment point: R (Omega x rho)."""
        return np.asarray(np.einsum("...ij,...j->...i", at.R, np.cross(z[..., self.n :], self.rho)))

    def pairing(self, at: Configuration, z: Array, w: Array) -> Array:
        """The bilinear form of which T(z) = pairing(z, z) / 2."""
        l = (self.L - at.s) / self.N
        string = 0.5 * self.mu * l * np.sum(self.velocities(at, z) * self.velocities(at, w), axis=(-3, -2, -1))
        u, v = z[..., self.n - 3 : self.n], w[..., self.n - 3 : self.n]
        moving = np.sum(u * v + u * self.lever(at, w) + v * self.lever(at, z), axis=-1)
        turning = np.einsum("...i,ij,...j->...", z[..., self.n :], self.J, w[..., self.n :])
        reel = (self.mu * at.s + self.kappa) * z[..., 0] * w[..., 0]
        return np.asarray(reel + string + self.M * moving + turning)

    def elastic(self, at: Configuration) -> Array:
        l = ((self.L - at.s) / self.N)[..., None]
        length = np.sqrt(np.sum(np.diff(at.q, axis=-2) ** 2, axis=-1))  # no modulus: it must stay analytic
        return np.asarray(np.sum(0.5 * self.EA / l * (length - l) ** 2, axis=-1))

    def gravity(self, at: Configuration) -> Array:
        """Energy of the string on the drum and along the guide, of the deployed one, and of the body; z points down."""
        spooled = at.s - self.b
        on_drum = spooled * (self.r_p[2] - self.b) + self.d**2 * (np.cos(spooled / self.d) - 1.0)
        l = (self.L - at.s) / self.N
        middle = self.r_p[2] + 0.5 * (at.q[..., :-1, 2] + at.q[..., 1:, 2])
        center = self.r_p[2] + at.q[..., -1, 2] + at.R[..., 2, :] @ self.rho
        return np.asarray(-self.g * (self.mu * (on_drum + l * middle.sum(axis=-1)) + self.M * center))

    def lagrangian(self, at: Configuration, z: Array) -> Array:
        return 0.5 * self.pairing(at, z, z) - self.elastic(at) - self.gravity(at)

    def moved(self, at: Configuration, directions: Array) -> Configuration:
        """Configurations a complex step away in some directions: of s, of the nodes, and of the rotation R exp(hat)."""
        a = 1j * COMPLEX_STEP * directions
        q = np.concatenate([np.zeros((*a.shape[:-1], 3)), a[..., 1 : self.n]], axis=-1)
        turn = np.einsum("ij,...jk->...ik", at.R, hat(a[..., self.n :]))
        return Configuration(at.s + a[..., 0], at.q + q.reshape(*a.shape[:-1], self.N + 1, 3), at.R + turn)

    def mass_matrix(self, at: Configuration) -> Array:
        basis = np.eye(self.n + 3)
        return self.pairing(at, basis[:, None], basis[None, :])

    def momenta(self, at: Configuration, z: Array) -> Array:
        return self.pairing(at, z, np.eye(self.n + 3))

    def guide_force(self, at: Configuration, ds: float) -> float:
        """Carnot's loss where the string passes the guide entrance, by the strain of the first element."""
        strain = np.linalg.norm(at.q[1]) / ((self.L - at.s) / self.N) - 1.0
        size = 0.5 * (self.mu * ds**2 + self.EA) * strain**2
        return float({"none": 0.0, "published": -size, "dissipative": -ds / np.hypot(ds, SIGMA_0) * size}[self.law])

    def accelerations(self, at: Configuration, z: Array) -> Array:
        gradient = self.lagrangian(self.moved(at, np.eye(self.n + 3)), z).imag / COMPLEX_STEP
        change = self.momenta(self.moved(at, z), z).imag / COMPLEX_STEP  # of the momenta at fixed rates
        force = gradient - change
        force[self.n :] -= np.cross(z[self.n :], self.momenta(at, z)[self.n :])
        force[0] += self.guide_force(at, z[0]) + self.torque / self.d
        free = slice(1 if self.locked else 0, None)
        out = np.zeros_like(z)
        out[free] = np.linalg.solve(self.mass_matrix(at)[free, free], force[free])
        return out

    def unpacked(self, x: Array) -> tuple[Configuration, Array]:
        nodes = np.concatenate([np.zeros(3), x[1 : self.n]]).reshape(self.N + 1, 3)
        return Configuration(x[0], nodes, x[self.n : self.n + 9].reshape(3, 3)), x[self.n + 9 :]

    def rate_of_change(self, t: float, x: Array) -> Array:
        at, z = self.unpacked(x)
        return np.concatenate([z[: self.n], (at.R @ hat(z[self.n :])).ravel(), self.accelerations(at, z)])

    def described(self, time: float, x: Array) -> dict[str, Any]:
        """A state, its energies, and its angular momentum about the vertical."""
        at, z = self.unpacked(x)
        p = self.momenta(at, z)
        about_guide = np.cross(at.q[1:], p[1 : self.n].reshape(-1, 3)).sum(axis=0) + at.R @ p[self.n :]
        return {
            "time": time,
            "reeled_length": float(at.s),
            "reel_speed": float(z[0]),
            "nodes": at.q.tolist(),
            "attitude": at.R.tolist(),
            "node_velocities": np.concatenate([np.zeros(3), z[1 : self.n]]).reshape(-1, 3).tolist(),
            "angular_velocity": z[self.n :].tolist(),
            "kinetic_energy": float(0.5 * p @ z),
            "elastic_energy": float(self.elastic(at)),
            "gravity_energy": float(self.gravity(at)),
            "angular_momentum": float(about_guide[2]),
        }


def states(entry: Entry) -> list[dict[str, Any]]:
    """Integrate an entry from its start through its times."""
    model, start = Model(entry), entry["initial"]
    nodes, velocities = (np.array(start[name])[1:].ravel() for name in ("nodes", "node_velocities"))
    attitude = np.array(start["attitude"]).ravel()
    x = np.concatenate(
        [[start["reeled_length"]], nodes, attitude, [start["reel_speed"]], velocities, start["angular_velocity"]]
    )
    times = [0.0, *entry["times"]]
    found = solve_ivp(model.rate_of_change, (0.0, times[-1]), x, "DOP853", t_eval=times, rtol=RTOL, atol=ATOL)
    if not found.success:
        raise RuntimeError(f"{entry['name']}: {found.message}")
    return [model.described(t, y) for t, y in zip(times, found.y.T, strict=True)]


def about_attachment(mass: float, about_center: Array, rho: Array) -> Array:
    """Steiner's theorem."""
    return np.asarray(about_center + mass * (rho @ rho * np.eye(3) - np.outer(rho, rho)))


def paper_entry(example: int, N: int, times: list[float], law: str) -> Entry:
    """An example of the paper, with N elements."""
    mass, rho = 0.1, np.array([0.3, 0.2, 0.4])
    a, b, height = 0.5, 0.4, 0.8
    cylinder = mass * np.diag([b**2 / 4 + height**2 / 12, a**2 / 4 + height**2 / 12, (a**2 + b**2) / 4])
    reeled = {1: 90.0, 2: 99.0, 3: 90.0}[example]
    tilt = np.radians(15.0)
    direction = np.array([np.sin(tilt), 0.0, np.cos(tilt)] if example == 3 else [1.0, 0.0, 0.0])
    velocities = np.zeros((N + 1, 3))
    velocities[N, 1] = 0.5
    return {
        "name": f"paper-example-{example}-N{N}-{law}",
        "gravity": 9.81,
        "elements": N,
        "guide_law": law,
        "torque": 2.09 if example == 3 else 0.0,
        "reel_mode": "locked" if example == 1 else "free",
        "string": {"length": 100.0, "density": 0.025, "stiffness": 40.0},
        "reel": {"drum_radius": 0.5, "guide_length": 0.5, "inertia_mass": 1.0, "guide_position": [0.0, 0.0, 0.0]},
        "body": {
            "mass": mass,
            "inertia": about_attachment(mass, cylinder, rho).tolist(),
            "center_of_mass": rho.tolist(),
        },
        "times": times,
        "initial": {
            "reeled_length": reeled,
            "reel_speed": 0.0,
            "nodes": (np.arange(N + 1)[:, None] * ((100.0 - reeled) / N) * direction).tolist(),
            "node_velocities": velocities.tolist(),
            "attitude": np.eye(3).tolist(),
            "angular_velocity": [0.0, 0.0, 0.0],
        },
    }


def random_entry(seed: int, N: int, times: list[float], mode: str, torque: float) -> Entry:
    """A system with nothing special about it, without loss at the guide; the order of the draws decides."""
    rng = np.random.default_rng(seed)
    length = float(rng.uniform(5, 60))
    deployed = float(rng.uniform(0.25, 0.6) * length)
    l = deployed / N
    density, mass = float(rng.uniform(0.02, 0.5)), float(rng.uniform(0.2, 3))
    stiffness = float(rng.uniform(5, 30) * (mass + density * deployed) * 9.81)
    A = rng.normal(size=(3, 3))
    second = A @ A.T + 0.3 * np.eye(3)  # second moments of mass: any such matrix is that of some body
    second *= mass * 0.1 / np.trace(second)
    rho = rng.normal(size=3) * 0.3
    half_turn = hat(rng.normal(size=3) * 0.4)
    direction = np.array([0.5, 0.2, 1.0]) + 0.3 * rng.normal(size=3)
    direction /= np.linalg.norm(direction)
    nodes = np.arange(N + 1)[:, None] * l * direction * 1.05 + 0.05 * l * rng.normal(size=(N + 1, 3))
    velocities = 0.3 * rng.normal(size=(N + 1, 3))
    nodes[0] = velocities[0] = 0.0
    speed = 0.0 if mode == "locked" else float(rng.normal() * 0.3)
    inertia_mass = float(rng.uniform(0.3, 4))
    guide = rng.normal(size=3)
    return {
        "name": f"random-{seed}",
        "gravity": 9.81,
        "elements": N,
        "guide_law": "none",
        "torque": torque,
        "reel_mode": mode,
        "string": {"length": length, "density": density, "stiffness": stiffness},
        "reel": {
            "drum_radius": 0.35,
            "guide_length": 0.8,
            "inertia_mass": inertia_mass,
            "guide_position": guide.tolist(),
        },
        "body": {
            "mass": mass,
            "inertia": about_attachment(mass, np.trace(second) * np.eye(3) - second, rho).tolist(),
            "center_of_mass": rho.tolist(),
        },
        "times": times,
        "initial": {
            "reeled_length": length - deployed,
            "reel_speed": speed,
            "nodes": nodes.tolist(),
            "node_velocities": velocities.tolist(),
            "attitude": np.linalg.solve(np.eye(3) - half_turn, np.eye(3) + half_turn).tolist(),
            "angular_velocity": rng.normal(size=3).tolist(),
        },
    }


def entries() -> dict[str, Entry]:
    """All inputs, by name, in the order of the file."""
    made = [
        paper_entry(1, 20, [0.5, 1.0, 2.0], "none"),
        paper_entry(2, 20, [0.25, 0.5], "published"),
        paper_entry(2, 20, [0.25, 0.5], "dissipative"),
        paper_entry(3, 20, [0.5, 1.0], "published"),
        paper_entry(3, 20, [0.5, 1.0], "dissipative"),
        paper_entry(3, 6, [0.5, 1.0], "none"),
        random_entry(1, 3, [0.2, 0.5], "free", 0.5),
        random_entry(2, 5, [0.2, 0.5], "locked", 0.0),
    ]
    return {entry["name"]: entry for entry in made}


def main() -> None:
    parser = argparse.ArgumentParser(description="Make reference.json.")
    parser.add_argument("out", type=Path)
    parser.add_argument("names", nargs="*", help="entries to make; all by default")
    chosen = parser.parse_args()
    made = [{**entry, "states": states(entry)} for name, entry in entries().items() if name in (chosen.names or [name])]
    chosen.out.write_text(json.dumps(made, indent=1), encoding="utf-8")


if __name__ == "__main__":
    main()
