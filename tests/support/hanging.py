"""A hanging point mass, of which solutions are known, and how its frequency is measured."""

from __future__ import annotations

import numpy as np
from scipy.optimize import minimize_scalar

import tautline as tl
from tests.support import chains

G = 9.81


def system(
    *,
    length: float,
    density: float = 0.025,
    stiffness: float = 40.0,
    mass: float = 0.1,
    gravity: float = G,
    body: tl.RigidBody | None = None,
    law: str = "none",
) -> chains.Chain:
    """`length` is what is deployed; 90 m more are on the reel."""
    return chains.Chain(
        string=tl.String(length=length + 90.0, density=density, stiffness=stiffness, law="linear"),
        reel=tl.Reel(drum_radius=0.5, guide_length=0.5, inertia_mass=1.0, guide_law=law),
        body=body or tl.RigidBody.point(mass),
        gravity=gravity,
    )


def frequency(time: np.ndarray, signal: np.ndarray, expected: float) -> float:
    """Frequency of the sinusoid that fits best, searched within a tenth of the expected one."""

    def misfit(omega: float) -> float:
        basis = np.stack([np.cos(omega * time), np.sin(omega * time), np.ones_like(time)], axis=1)
        return float(np.linalg.norm(signal - basis @ np.linalg.lstsq(basis, signal)[0]))

    grid = expected * np.linspace(0.9, 1.1, 201)
    best = int(np.argmin([misfit(w) for w in grid]))
    around = (grid[max(best - 1, 0)], grid[min(best + 1, 200)])
    return float(minimize_scalar(misfit, bounds=around, method="bounded", options={"xatol": 1e-12}).x)
