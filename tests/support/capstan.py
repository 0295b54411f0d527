"""A rope over a wheel on which it sticks or slips, one element on each side, by Lagrange's equations and SciPy."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
import sympy
from scipy.integrate import solve_ivp

# The groove holds the rope, or pulls it to the start or to the end of the line.
STICKS, TO_START, TO_END = 0, 1, -1
INSTANT = 1e-9  # s


@cache
def _equations() -> tuple[Any, Any]:
    """Mass matrix and generalized forces without the groove's, of depths of both masses, rope passed, rim."""
    z1, z2, a, _, u1, u2, al, be = q = sympy.symbols("z1 z2 a b u1 u2 al be")
    mu, EA, c, M1, M2, L1, L2, wrap, kappa, g = p = sympy.symbols("mu EA c M1 M2 L1 L2 wrap kappa g")
    l1, l2 = L1 + a, L2 - a
    # the velocity of material along an element is linear: 0 at one end of the flow, its feed's at the other
    xi = sympy.Symbol("xi")
    first = (1 - xi) * u1 + xi * al * z1 / l1  # from the mass up to the wheel
    second = xi * u2 - (1 - xi) * al * z2 / l2  # from the wheel down to the other
    T = sum(mu * l / 2 * sympy.integrate(v**2, (xi, 0, 1)) for l, v in ((l1, first), (l2, second)))
    T += (M1 * u1**2 + M2 * u2**2 + mu * wrap * al**2 + kappa * be**2) / 2
    V = EA / 2 * ((z1 - l1) ** 2 / l1 + (z2 - l2) ** 2 / l2)
    V -= g * (M1 * z1 + M2 * z2 + mu * (l1 * z1 + l2 * z2) / 2)
    strain_rates = (u1 / l1 - z1 / l1**2 * al, u2 / l2 + z2 / l2**2 * al)
    R = c / 2 * (l1 * strain_rates[0] ** 2 + l2 * strain_rates[1] ** 2)
    places, rates = q[:4], q[4:]
    M = sympy.hessian(T, rates)
    F = []
    for x, v in zip(places, rates, strict=True):
        p_v = T.diff(v)
        F.append(T.diff(x) - V.diff(x) - R.diff(v) - sum(p_v.diff(y) * w for y, w in zip(places, rates, strict=True)))
    return sympy.lambdify((*q, *p), M, cse=True), sympy.lambdify((*q, *p), F, cse=True)


@dataclass(frozen=True)
class Capstan:
    """Numbers of the system; `torque` is that of the motor over time."""

    density: float
    stiffness: float
    viscosity: float
    car: float
    weight: float
    lengths: tuple[float, float]
    radius: float
    inertia_mass: float
    friction: float
    torque: Callable[[float], float]
    gravity: float = 9.81

    def _numbers(self) -> tuple[float, ...]:
        return (
            *(self.density, self.stiffness, self.viscosity, self.car, self.weight, *self.lengths),
            *(math.pi * self.radius, self.inertia_mass, self.gravity),
        )

    def cone(self, y: Any) -> tuple[float, float]:
        """Least and largest force of the groove on the rope, towards the start of the line."""
        grip = math.expm1(self.friction * math.pi)
        pressed = []
        for z, l in ((y[0], self.lengths[0] + y[2]), (y[1], self.lengths[1] - y[2])):
            pressed.append(max(0.0, self.stiffness * (z / l - 1.0) - self.density * y[6] ** 2 * z / l))
        return -grip * pressed[1], grip * pressed[0]

    def accelerations(self, t: float, y: Any, side: int) -> tuple[Any, float]:
        """Accelerations, and the force of the groove, or what it takes for the rope to stick."""
        mass, force = (f(*y, *self._numbers()) for f in _equations())
        M, F = np.array(mass, dtype=float), np.array(force, dtype=float)
        F[3] += self.torque(t) / self.radius
        pull = np.array([0.0, 0.0, 1.0, -1.0])
        if side == STICKS:
            A = np.block([[M, -pull[:, None]], [pull[None, :], np.zeros((1, 1))]])
            found = np.linalg.solve(A, [*F, 0.0])
            return found[:4], float(found[4])
        given = self.cone(y)[1 if side == TO_START else 0]
        return np.linalg.solve(M, F + given * pull), given

    def _next(self, t: float, y: Any) -> int:
        """What the groove does from a time on at which rope and rim are equally fast."""
        low, high = self.cone(y)
        needed = self.accelerations(t, y, STICKS)[1]
        return STICKS if low <= needed <= high else TO_START if needed > high else TO_END

    def integrate(self, start: Any, times: Any) -> tuple[Any, list[tuple[float, int]]]:
        """States at the times, from places and rates that stick; and when the groove began to do what."""
        y, t = np.array(start, dtype=float), 0.0
        side = self._next(t, y)
        states, phases = [y], [(t, side)]
        while t < times[-1]:
            if side != STICKS:  # from an instant later, so that the same event does not end this phase at once
                y = y + INSTANT * np.concatenate([y[4:], self.accelerations(t, y, side)[0]])
                t += INSTANT

            def rates(time: float, x: Any, now: int = side) -> Any:
                return np.concatenate([x[4:], self.accelerations(time, x, now)[0]])

            def leaves(time: float, x: Any, now: int = side) -> float:
                if now != STICKS:
                    return float(x[6] - x[7])
                low, high = self.cone(x)
                needed = self.accelerations(time, x, STICKS)[1]
                return min(needed - low, high - needed)

            leaves.terminal = True  # type: ignore[attr-defined]
            leaves.direction = 0.0 if side != STICKS else -1.0  # type: ignore[attr-defined]
            later = times[times > t + 1e-12]
            found = solve_ivp(
                rates, (t, times[-1]), y, "DOP853", later, events=leaves, rtol=1e-11, atol=1e-13, max_step=5e-3
            )
            states += list(np.array(found.y).T)
            if found.status == 0:
                break
            t, y = float(found.t_events[0][0]), found.y_events[0][0].copy()
            if side == STICKS:
                needed, (low, high) = self.accelerations(t, y, STICKS)[1], self.cone(y)
                side = TO_START if abs(needed - high) < abs(needed - low) else TO_END
            else:
                y[7] = y[6]
                side = self._next(t, y)
            phases.append((t, side))
        return np.array(states), phases
