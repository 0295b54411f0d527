"""The two walks of CONTRIBUTING.md, with the code of that page: a guide law and a load that tautline does not have."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import textwrap
from pathlib import Path
from typing import Any

import pytest

from tests.support.checking import check_below, check_close, check_order

ROOT = Path(__file__).parents[2]
STEPS = [2e-3, 1e-3, 5e-4]

# What a reader of the page does, in its order; the blocks of the page are put in for the names in angle brackets.
PROGRAM = """
import json
import numpy as np
from tautline import ledger, registry
<account>
<law line>
<load line>
import halfway, magnet
import tautline as tl
from tautline.engine import loads
from tautline.reference import guide
from tautline.reference import loads as reference_loads
from tautline.results.conservation import balance_error
<law reference>
<load numbers>
<load reference>
string = tl.String(10.0, 0.05, 300.0)
body = tl.RigidBody.box(1.0, (0.2, 0.2, 0.2), (0.0, 0.05, 0.1))

def start(pendulum):
    state = tl.straight(pendulum, 4.0, 2, (1.0, 0.0, 2.0), end_velocity=(0.0, 1.0, 0.0), reel_speed=1.5)
    return tl.State(state.reeled_length, 1.5, 1.02 * state.nodes, state.node_velocities)

def losses(law):
    pendulum = tl.Pendulum(string, tl.Reel(0.2, 0.5, 0.5, guide_law=law), body)
    command, times = tl.Torque(2.0), dict(duration=0.02, sample=0.02)
    exact = tl.reference.integrate(pendulum, start(pendulum), command, **times)
    runs = [tl.simulate(pendulum, start(pendulum), command, step=h, **times) for h in STEPS]
    return {
        "errors": [float(np.abs(run.position[-1] - exact.position[-1]).max()) for run in runs],
        "balance": [float(np.abs(balance_error(run)).max()) for run in runs],
        "scale": float(exact.kinetic_energy.max()),
        "guide_loss": [float(run.guide_loss[-1]) for run in (runs[-1], exact)],
        "magnet_work": [float(run.magnet_work[-1]) for run in (runs[-1], exact)],
        "unit": runs[0].magnet_work.attrs["units"],
    }

print(json.dumps({law: losses(law) for law in ("halfway", "dissipative")}))
"""


def blocks() -> list[str]:
    """Pieces of code of the two sections, in their order."""
    page = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8").split("## Adding a guide law")[1]
    return [textwrap.dedent(code) for code in re.findall(r"^ *```python\n(.*?)^ *```$", page, re.DOTALL | re.MULTILINE)]


def walk(folder: Path, **environment: str) -> dict[str, dict[str, Any]]:
    """Write the files of the page and run the program, in a process of its own."""
    law, law_line, law_reference, account, load, load_line, numbers, load_reference = blocks()
    (folder / "halfway.py").write_text(law)
    (folder / "magnet.py").write_text(load)
    program = PROGRAM.replace("STEPS", str(STEPS))
    for name, code in {
        "account": account,
        "law line": law_line,
        "load line": load_line,
        "law reference": law_reference,
        "load numbers": numbers,
        "load reference": load_reference,
    }.items():
        program = program.replace(f"<{name}>", code)
    path = os.pathsep.join([str(folder), str(ROOT / "src")])
    done = subprocess.run(
        [sys.executable, "-c", program],
        env=os.environ | {"PYTHONPATH": path, "TAUTLINE_CACHE_DIR": str(folder)} | environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-3000:]
    found: dict[str, dict[str, Any]] = json.loads(done.stdout)
    return found


@pytest.mark.parametrize(
    "environment",
    [
        pytest.param({"TAUTLINE_ENGINE": "python"}, id="interpreted"),
        pytest.param({}, id="compiled", marks=pytest.mark.long),  # compiles everything
    ],
)
def test_the_walk(environment: dict[str, str], tmp_path: Path) -> None:
    """Order two against the reference, the balance closes, and the new law takes half of what `dissipative` takes."""
    found = walk(tmp_path, **environment)
    for run in found.values():
        check_order(STEPS, run["errors"], 2.0)
        check_order(STEPS, run["balance"], 2.0)
        check_below("balance", run["balance"][-1], 1e-5 * run["scale"])
        assert abs(run["magnet_work"][1]) > 1e-3
        # of second order: the finest step leaves a part of about (h over the time of a wave through an element)^2
        for account in ("guide_loss", "magnet_work"):
            check_close(account, run[account][0], run[account][1], 1e-4 * abs(run[account][1]))
        assert run["unit"] == "J"
    # both motions are nearly the same in so short a time
    assert found["halfway"]["guide_loss"][0] == pytest.approx(0.5 * found["dissipative"]["guide_loss"][0], rel=0.01)
