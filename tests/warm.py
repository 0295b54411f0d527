"""Compile the kernels before parallel tests need them: `python -m tests.warm [PART...]`. Two processes at a time."""

from __future__ import annotations

import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

PARTS = {
    "single runs": """
import tautline as tl
for name in ("fixed-length", "retrieval"):
    case = tl.load(name, {"run.duration": "0.01"})
    tl.simulate(case)
tl.simulate(case.with_(command=tl.Speed(payout=0.0)))
""",
    "members in lanes": """
from tautline.studies.definition import definition
from tautline.studies.execution.compute import compute
for name in ("retrieval", "fixed-length"):
    vary = {"string.stiffness": ["40 N", "41 N"]}
    study = definition.read({"scenario": name, "set": {"run.duration": "10 ms"}, "vary": vary, "outputs": ["energy"]})
    compute(study.work, study.table)
""",
    "loads": """
import tautline as tl
case = tl.load("retrieval", {"run.duration": "0.01"})
for command in (case.command, tl.Locked(), tl.Speed(payout=0.0)):
    tl.simulate(case.with_({"string.viscosity": 0.01}, command=command))
""",
}


def main() -> None:
    with ThreadPoolExecutor(2) as pool:
        parts = [PARTS[name] for name in sys.argv[1:] or PARTS]
        done = pool.map(lambda code: subprocess.run([sys.executable, "-c", code], check=False), parts)
        sys.exit(max(process.returncode for process in done))


if __name__ == "__main__":
    main()
