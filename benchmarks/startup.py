"""What a user waits for before the first result. `python benchmarks/startup.py`"""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
import tempfile
import time

FIRST_RUN = "from tautline.paper.examples import run; run(1)"


def wall(code: str, environment: dict[str, str] | None = None) -> float:
    """Seconds for a fresh Python process."""
    start = time.perf_counter()
    subprocess.run([sys.executable, "-c", code], check=True, env=environment, capture_output=True)
    return time.perf_counter() - start


def median(code: str, repeats: int = 9) -> float:
    return statistics.median(wall(code) for _ in range(repeats))


def main() -> None:
    bare = median("pass")
    imported = median("import tautline")
    print(f"import tautline      {imported - bare:6.3f} s above bare Python (target 0.15)")
    with tempfile.TemporaryDirectory() as folder:
        cold = wall(FIRST_RUN, os.environ | {"NUMBA_CACHE_DIR": folder})
    print(f"cold first run       {cold:6.2f} s, compilation included (target 20)")
    wall(FIRST_RUN)
    print(f"warm process         {median(FIRST_RUN, 5):6.2f} s to the first result of example 1 (target 2)")


if __name__ == "__main__":
    main()
