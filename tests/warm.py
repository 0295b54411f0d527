"""Compile the kernels before parallel tests need them: `python -m tests.warm [PART...]`. Two processes at a time."""

from __future__ import annotations

import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

PARTS = {
    "single runs": """
import tautline as tl
from tautline.files import scenario
for name in ("fixed-length", "retrieval"):
    built = scenario.load(name, {"run.duration": "0.01"}).build()
    tl.simulate(built.pendulum, built.state, built.command, **built.options)
tl.simulate(built.pendulum, built.state, tl.Speed(payout=0.0), **built.options)
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
import dataclasses
import tautline as tl
from tautline.files import scenario
built = scenario.load("retrieval", {"run.duration": "0.01"}).build()
string = dataclasses.replace(built.pendulum.string, viscosity=0.01)
pendulum = dataclasses.replace(built.pendulum, string=string)
for command in (built.command, tl.Locked(), tl.Speed(payout=0.0)):
    tl.simulate(pendulum, built.state, command, **built.options)
""",
}


def main() -> None:
    with ThreadPoolExecutor(2) as pool:
        parts = [PARTS[name] for name in sys.argv[1:] or PARTS]
        done = pool.map(lambda code: subprocess.run([sys.executable, "-c", code], check=False), parts)
        sys.exit(max(process.returncode for process in done))


if __name__ == "__main__":
    main()
