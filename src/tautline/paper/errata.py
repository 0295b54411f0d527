"""Errors in the paper's text, and what each would do to its examples. `python -m tautline.paper.errata` measures them.

The slips live here, as variants of the continuous-time equations and of commands, never in the kernels.
"""

from __future__ import annotations

import numpy as np

from tautline import reference
from tautline.engine.simulate import simulate
from tautline.model.command import Torque
from tautline.paper.examples import EXAMPLES, run, start, system
from tautline.reference import Array, Equations

ELEMENTS = 6


class WithoutStretchFactor(Equations):
    """M^3 as printed in the paper's appendix: without the factor |w|^2/l^2 that its velocity field implies.

    The kinetic energy then lacks A(s, q) sigma^2/2 with A = sum mu gamma_e (|w_e|^2/l - l).
    """

    def assemble(self, x: reference.Fields, u: float) -> tuple[Array, Array]:
        mass, force = super().assemble(x, u)
        N, mu = self.N, self.pendulum.string.density
        l = (self.pendulum.string.length - x.s) / N
        k = N - np.arange(N)
        gamma = mu * (3.0 * k * (k - 1.0) + 1.0) / (3.0 * N**2)
        w = x.q[:-1] - x.q[1:]
        w2 = np.sum(w**2, axis=1)
        A = float(np.sum(gamma * (w2 / l - l)))
        A_s = float(np.sum(gamma * (w2 / l**2 + 1.0)) / N)
        A_q = np.zeros((N + 1, 3))
        A_q[:-1] += (2.0 * gamma / l)[:, None] * w
        A_q[1:] -= (2.0 * gamma / l)[:, None] * w
        rate = A_s * x.sigma + float(np.sum(A_q * x.v))
        mass[0, 0] -= A
        force[0] += rate * x.sigma - 0.5 * x.sigma**2 * A_s
        force[1:-3] -= 0.5 * x.sigma**2 * A_q[1:].ravel()
        return mass, force


def stretch_factor(number: int, duration: float) -> tuple[float, float]:
    """How far the missing factor moves the attachment point and the reel (m) of example 2 or 3."""
    example = EXAMPLES[number - 1]
    right, slipped = (
        reference.integrate(
            system("published", ELEMENTS),
            start(example),
            example.command,
            duration=duration,
            sample=duration / 10,
            rtol=1e-8,
            atol=1e-10,
            equations=kind,
        )
        for kind in (Equations, WithoutStretchFactor)
    )
    place = np.linalg.norm(right.position[-1, -1] - slipped.position[-1, -1])
    return float(place), float(abs(right.reeled_length[-1, 0] - slipped.reeled_length[-1, 0]))


def carnot_sign() -> tuple[float, float, float, float]:
    """Example 2: string out at the end and energy lost at the guide, dissipative law and the printed sign."""
    right, printed = run(2), run(2, guide_law="published")
    return (
        float(right.unstretched_length[-1, 0]),
        float(printed.unstretched_length[-1, 0]),
        float(right.guide_loss[-1]),
        float(printed.guide_loss[-1]),
    )


def torque_sign() -> tuple[float, float]:
    """Example 3 with the torque's sign of the printed discrete equation: string out at 3 s, right and printed."""
    right = run(3, duration=3.0)
    printed = simulate(system(), start(EXAMPLES[2]), Torque(-2.09), duration=3.0, step=5e-4, sample=0.01)
    return float(right.unstretched_length[-1, 0]), float(printed.unstretched_length[-1, 0])


def scheme_order() -> tuple[float, float]:
    """Example 3 to 0.5 s, step 0.0005 s: error of the printed and of the symmetric discretization (m)."""
    exact = run(3, duration=0.5, sample=0.5, order=6, guide_law="published")
    errors = [
        float(
            np.abs(
                run(3, duration=0.5, sample=0.5, scheme=scheme, guide_law="published").position[-1] - exact.position[-1]
            ).max()
        )
        for scheme in ("paper", "symmetric")
    ]
    return errors[0], errors[1]


def main() -> None:
    for number, duration in ((2, 4.0), (3, 4.0)):
        place, reel = stretch_factor(number, duration)
        print(f"missing stretch factor, example {number} at {duration:g} s: body {place:.3g} m, reel {reel:.3g} m off")
    right, printed, lost, gained = carnot_sign()
    print(
        f"Carnot sign, example 2 at 8 s: {right:.2f} m out and {lost:.2f} J lost, "
        f"printed {printed:.2f} m and {gained:.2f} J"
    )
    right, printed = torque_sign()
    print(f"sign of the torque, example 3 at 3 s: {right:.2f} m out, printed {printed:.2f} m")
    first, second = scheme_order()
    print(f"discretization, example 3 at 0.5 s: {first:.2g} m printed, {second:.2g} m symmetric")


if __name__ == "__main__":
    main()
