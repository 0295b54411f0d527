"""Cost of a step with lines over sheaves, over other lines and the chain. `python -m benchmarks.reeving`

Processor time of whole calls with nothing sampled in between, best of several. Machines are noisy: read the ratios.
"""

from __future__ import annotations

import tautline as tl
from benchmarks.network import LENGTH, REEL, SPRING, TORQUE, Cost, chain, measured, rope, step_for

BLOCK = tl.RigidBody.box(1.2, (0.3, 0.2, 0.2), (0.0, 0.0, 0.0))
PLACES = {"block": (0.0, 0.0, LENGTH)}
APART = 0.1


def two_falls(elements: int, viscosity: float = 0.0) -> Cost:
    """A hook block on two falls, from a drum over its sheave to a fixed point."""
    own = rope(20.0 + LENGTH)
    wheel = tl.Sheave((0.0, 0.0, 0.0), APART, (0, 1, 0), on="block", inertia_mass=0.2)
    line = tl.Line(
        tl.String(own.length, own.density, own.stiffness, viscosity=viscosity, law="linear"),
        start_point=(-APART, 0.0, 0.0),
        reel=REEL,
        over={"lower": wheel},
        end_point=(APART, 0.0, 0.0),
        elements=elements,
    )
    system = tl.System({"block": BLOCK}, {"hoist": line}, gravity=0.5)
    # a spring on the length of both falls
    spring = tl.Impedance(2.0 * LENGTH, SPRING.stiffness, SPRING.damping)
    return measured(system, PLACES, {"hoist": spring}, step_for(elements))


def two_lines(elements: int, viscosity: float = 0.0) -> Cost:
    """Cost of the block on two lines, each with a drum."""
    own = rope(20.0)
    lines = {
        name: tl.Line(
            tl.String(own.length, own.density, own.stiffness, viscosity=viscosity, law="linear"),
            start_point=(x, 0.0, 0.0),
            end="block",
            end_point=(x, 0.0, 0.0),
            reel=REEL,
            elements=elements,
        )
        for name, x in (("left", -APART), ("right", APART))
    }
    return measured(
        tl.System({"block": BLOCK}, lines, gravity=0.5), PLACES, dict.fromkeys(lines, SPRING), step_for(elements)
    )


def main() -> None:
    print("What a step costs")
    for N in (10, 20, 100):
        smooth, own = chain(2 * N, TORQUE), chain(2 * N, SPRING, shaken=True)
        found, apart = two_falls(N), two_lines(N)
        print(
            f"hook block on two falls of {N}: {found}; over one line of {2 * N} with a moving reel and one body that "
            f"moves smoothly ({smooth}) {found.time / smooth.time:.2f} x, with waves ({own}) "
            f"{found.time / own.time:.2f} x; over the block on two lines of {N} with reels ({apart}) "
            f"{found.time / apart.time:.2f} x"
        )
    found, apart = two_falls(10, viscosity=2.0), two_lines(10, viscosity=2.0)
    print(f"damped, N = 10: two falls {found}, two lines {apart} ({found.time / apart.time:.2f} x)")


if __name__ == "__main__":
    main()
