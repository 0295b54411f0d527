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

import numpy as np
import pytest

from tests.support.checking import check_below, check_close, check_order

ROOT = Path(__file__).parents[2]
STEPS = [2e-3, 1e-3, 5e-4]

# What a reader of the page does, in its order; the blocks of the page are put in for the names in angle brackets.
PROGRAM = """
import dataclasses
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

def stretched(system, command):
    straight = tl.Straight(4.0, direction=(1.0, 0.0, 2.0), end_velocity=(0.0, 1.0, 0.0), reel_speed=1.5)
    state = tl.Case(system, straight, command, tl.Run(duration=1.0)).state()
    line = dataclasses.replace(state.lines["line"], nodes=1.02 * state.lines["line"].nodes)
    end = dataclasses.replace(state.bodies["body"], position=line.nodes[-1] + body.center_of_mass)
    return tl.State({"body": end}, {"line": line})

def losses(law):
    system = tl.pendulum(string, tl.Reel(0.2, 0.5, 0.5, guide_law=law), body, elements=2)
    command, times = tl.Torque(2.0), dict(duration=0.02, sample=0.02)
    start = stretched(system, command)
    exact = tl.reference.integrate(system, start, command, **times)
    runs = [tl.simulate(system, start, command, step=h, **times) for h in STEPS]
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

# An elastic law from outside, and the guide law of the page: by eight keys and by nine, on the way back or not.
HARDENING = '''
from tautline.kernels.jit import kernel

@kernel
def tension_and_energy(par, strain):
    """EA (strain + 5 strain^3)."""
    square = strain * strain
    return par.EA * strain * (1.0 + 5.0 * square), 0.5 * par.EA * square * (1.0 + 2.5 * square)
'''
GRADIENTS = """
import json
import os
import numpy as np
from tautline import registry
<law line>
registry.register("hardening", registry.ElasticLaw("hardening", "stiffer when it is stretched"))
import tautline as tl
from tautline.gradients.keys import key_value
from tautline.gradients.chain.reverse import goes_back
from tautline.gradients.run import prepared_run

KEYS = [
    "string.stiffness", "string.density", "string.length", "body.mass", "reel.drum_radius", "reel.inertia_mass",
    "command.torque", "initial.end_velocity[0]", "initial.reel_speed",
]

def case(guide_law, law):
    reel = tl.Reel(0.2, 0.5, 0.5, guide_law=guide_law)
    body = tl.RigidBody.box(1.0, (0.2, 0.2, 0.2), (0.0, 0.05, 0.1))
    start = tl.Straight(4.0, direction=(1.0, 0.0, 2.0), end_velocity=(0.5, 1.0, 1.0), reel_speed=1.5)
    system = tl.pendulum(tl.String(10.0, 0.05, 300.0, law=law), reel, body, elements=2)
    return tl.Case(system, start, tl.Torque(2.0), tl.Run(duration=0.2, sample=0.1, step=0.01))

def last(case):
    return float(tl.simulate(case).reeled_length[-1, 0])

def slope(case, key):
    x = key_value(case, key)
    near, far = ([last(case.with_({key: x + sign * e * x}) ) for sign in (1.0, -1.0)] for e in (1e-5, 2e-5))
    return (8.0 * (near[0] - near[1]) - (far[0] - far[1])) / (12e-5 * x)

found = {}
for guide_law, law in (("halfway", "linear"), ("dissipative", "hardening"), ("dissipative", "linear")):
    it = case(guide_law, law)
    found[f"{guide_law}, {law}"] = own = {"goes_back": goes_back(prepared_run(it, []).begun.setting)}
    if os.environ.get("TAUTLINE_ENGINE") != "python":  # which has no tangents
        for count in (8, 9):
            own[str(count)] = tl.value_and_gradient(it, tl.Final("reeled_length"), KEYS[:count]).gradient.tolist()
        own["differences"] = [slope(it, key) for key in KEYS]
print(json.dumps(found))
"""


def blocks() -> list[str]:
    """Pieces of code of the two sections, in their order."""
    page = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8").split("## Adding a guide law")[1]
    return [textwrap.dedent(code) for code in re.findall(r"^ *```python\n(.*?)^ *```$", page, re.DOTALL | re.MULTILINE)]


def walk(folder: Path, program: str, **environment: str) -> dict[str, dict[str, Any]]:
    """Write the files of the page and run a program, in a process of its own."""
    law, law_line, law_reference, account, load, load_line, numbers, load_reference = blocks()
    (folder / "halfway.py").write_text(law)
    (folder / "magnet.py").write_text(load)
    (folder / "hardening.py").write_text(HARDENING)
    program = program.replace("STEPS", str(STEPS))
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


ENGINES = pytest.mark.parametrize(
    "environment",
    [
        pytest.param({"TAUTLINE_ENGINE": "python"}, id="interpreted"),
        pytest.param({}, id="compiled", marks=pytest.mark.long),  # compiles everything
    ],
)


@ENGINES
def test_the_walk(environment: dict[str, str], tmp_path: Path) -> None:
    """Order two against the reference, the balance closes, and the new law takes half of what `dissipative` takes."""
    found = walk(tmp_path, PROGRAM, **environment)
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


@ENGINES
def test_gradients_of_laws_from_outside(environment: dict[str, str], tmp_path: Path) -> None:
    """They go forward, so that a ninth key changes nothing, and are those of differences of runs."""
    found = walk(tmp_path, GRADIENTS, **environment)
    back = {laws: own.pop("goes_back") for laws, own in found.items()}
    assert back == {"halfway, linear": False, "dissipative, hardening": False, "dissipative, linear": True}
    for laws, own in found.items():
        assert bool(own) == (environment == {})
        if own:
            few, many, differences = (np.array(own[name]) for name in ("8", "9", "differences"))
            np.testing.assert_allclose(many[:8], few, rtol=1e-9, atol=1e-12, err_msg=laws)
            np.testing.assert_allclose(many, differences, rtol=1e-6, err_msg=laws)
