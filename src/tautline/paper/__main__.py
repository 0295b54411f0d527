"""`python -m tautline.paper`: run the paper's examples and print what they conserve."""

from __future__ import annotations

import argparse
import time
import warnings

from tautline._version import __version__
from tautline.errors import TautlineWarning
from tautline.paper.claims import METHODS
from tautline.paper.examples import EXAMPLES, SAMPLE, Example, run
from tautline.results.conservation import conservation
from tautline.results.warnings import warnings_of

CLAIMS = {
    1: "paper: energy < 0.01 %, pi_3 < 3e-8 %",
    2: "paper: energy balance < 0.0003 %, |I - R^T R| < 1e-13",
    3: "paper: |I - R^T R| < 1e-13",
}


def row(example: Example, scheme: str, order: int, duration: float) -> str:
    start = time.perf_counter()
    result = run(example.number, scheme=scheme, order=order, duration=duration)
    wall = time.perf_counter() - start
    kept = conservation(result)
    left = float(result.unstretched_length[-1, 0])
    ends = ", ".join([result.attrs["status"], *(warning.kind for warning in warnings_of(result))])
    return (
        f"  {scheme:<10}{order:>5}   {100 * kept.energy:>12.2e}   {100 * kept.angular_momentum:>11.1e}   "
        f"{kept.orthogonality:>11.1e}   {left:>9.3f}   {wall:>6.2f}   {ends}"
    )


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m tautline.paper", description=__doc__)
    parser.add_argument("--quick", action="store_true", help="a few samples only; compiles the kernels")
    quick = parser.parse_args().quick
    warnings.simplefilter("ignore", TautlineWarning)  # the table names them
    print(f"tautline {__version__}: the paper's three examples, N = 20, h = 0.0005 s")
    for example in EXAMPLES:
        duration = 5 * SAMPLE if quick else example.duration
        print(f"\nExample {example.number}: {example.title}, {duration:g} s   ({CLAIMS[example.number]})")
        print(
            "  scheme    order   energy error   pi_3 drift   |I - R^T R|   string out   wall   status, warnings\n"
            "                    (% of max T)          (%)                         (m)    (s)"
        )
        for scheme, order in METHODS:
            print(row(example, scheme, order, duration), flush=True)


if __name__ == "__main__":
    main()
