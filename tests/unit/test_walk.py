"""The walks of CONTRIBUTING.md, with the code of that page: laws, a command, a load and an output of one's own."""

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
SETUP = """
import dataclasses
import json
import os
import warnings
<law line>
<elastic line>
<command line>
<account>
<load line>
<output>
import tautline as tl
from tautline.files import runs
from tautline.gradients.keys import key_value
from tautline.gradients.runs import runs_of
from tautline.results.conservation import balance_error
<elastic formulas>
<command class>
<ramp>
<law reference>
<elastic reference>
<load numbers>
<load reference>
body = tl.RigidBody.box(1.0, (0.2, 0.2, 0.2), (0.0, 0.05, 0.1))
rope, reel = tl.String(10.0, 0.05, 300.0, law="hardening"), tl.Reel(0.2, 0.5, 0.5, guide_law="halfway")
crane = tl.System(
    {"hook": body, "load": tl.RigidBody.box(2.0, (0.3, 0.2, 0.2), (0.0, 0.0, 0.1))},
    {
        "hoist": tl.Line(rope, end="hook", reel=reel, elements=2),
        "sling": tl.Line(
            dataclasses.replace(rope, length=1.0), start="hook", start_point=(0.0, 0.0, 0.2), end="load", elements=2
        ),
    },
)
hung = tl.Placed({"hook": (1.0, 0.0, 3.6), "load": (1.2, 0.0, 5.0)}, {"hoist": tl.LineStart(3.5, 1.5)})
"""

# Orders and balances of the pendulum with each law, and with the new command.
PROGRAM = """
def stretched(system, command):
    straight = tl.Straight(4.0, direction=(1.0, 0.0, 2.0), end_velocity=(0.0, 1.0, 0.0), reel_speed=1.5)
    state = tl.Case(system, straight, command, tl.Run(duration=1.0)).state()
    line = dataclasses.replace(state.lines["line"], nodes=1.02 * state.lines["line"].nodes)
    end = dataclasses.replace(state.bodies["body"], position=line.nodes[-1] + body.center_of_mass)
    return tl.State({"body": end}, {"line": line})

def losses(guide_law="dissipative", law="linear", command=tl.Torque(2.0)):
    string = tl.String(10.0, 0.05, 300.0, law=law)
    system = tl.pendulum(string, tl.Reel(0.2, 0.5, 0.5, guide_law=guide_law, layer_growth=1e-3), body, elements=2)
    times = dict(duration=0.02, sample=0.02)
    start = stretched(system, command)
    exact = tl.reference.integrate(system, start, command, **times)
    runs = [tl.simulate(system, start, command, step=h, **times) for h in STEPS]
    return {
        "errors": [float(np.abs(run.position[-1] - exact.position[-1]).max()) for run in runs],
        "balance": [float(np.abs(balance_error(run)).max()) for run in runs],
        "scale": float(exact.kinetic_energy.max()),
        "guide_loss": [float(run.guide_loss[-1]) for run in (runs[-1], exact)],
        "magnet_work": [float(run.magnet_work[-1]) for run in (runs[-1], exact)],
        "torque": [float(run.torque[-1, 0]) for run in (runs[-1], exact)],
        "unit": runs[0].magnet_work.attrs["units"],
        "speed": float(np.abs(runs[0].body_speed - np.linalg.norm(runs[0].body_velocity, axis=2)).max()),
    }

found = {"dissipative": losses(), "halfway": losses("halfway"), "hardening": losses(law="hardening")}
print(json.dumps(found | {"pull": losses(command=Pull(8.0))}))
"""

# The same in a system with two bodies, from a file and in a study.
EVERYWHERE = """
times = dict(duration=0.02, sample=0.02)
runs = [tl.simulate(crane, hung, {"hoist": Pull(8.0)}, step=h, **times) for h in STEPS]
kept = [float(np.abs(balance_error(run)).max()) for run in runs]
case = tl.Case(crane, hung, {"hoist": Pull(8.0)}, tl.Run(duration=0.02, sample=0.02, step=STEPS[0]))
with open("crane.toml", "w") as file:
    file.write(case.to_toml())
loaded = tl.load("crane.toml")
again = tl.simulate(loaded)
study = tl.study(
    {
        "scenario": "crane.toml",
        "vary": {"lines.hoist.command.pull": [8.0, 9.0]},
        "outputs": ["final body_speed", "final reeled_length"],
    },
    "pulls.zarr",
    workers=1,
)
print(json.dumps({"crane": {
    "kept": kept,
    "scale": float(runs[0].kinetic_energy.max()),
    "magnet_work": float(runs[-1].magnet_work[-1]),
    "equal": loaded == case and bool((again.position == runs[0].position).all()),
    "pulled": float(study.final_reeled_length.sel(line="hoist").diff(study.final_reeled_length.dims[0])[0]),
    "speed": float(np.abs(study.final_body_speed[0].values - runs[0].body_speed[-1].values).max()),
}}))
"""

# In sequences: on both backends, from Python and from a file, and resumed.
SEQUENCES = """
string = tl.String(10.0, 0.05, 300.0)
own = tl.pendulum(string, tl.Reel(0.2, 0.5, 0.5), body, elements=2)
stages = (
    tl.Stage(Ramp(0.2, 0.4), duration=0.1),
    tl.Stage(Ramp(0.2, 0.4), duration=0.1, name="again"),
    tl.Stage(Pull(3.0), duration=0.1),
    tl.Stage(Ramp(0.8, 0.2), transition=0.1),
)
times = tl.Run(duration=0.6, sample=0.05, step=0.0025)
found = {}
for name, case, line in (
    ("pendulum", tl.Case(own, tl.Straight(4.0), tl.Sequence(*stages), times), 0),
    ("crane", tl.Case(crane, hung, {"hoist": tl.Sequence(*stages)}, times), 0),
):
    run = tl.simulate(case)
    with open(f"{name}.toml", "w") as file:
        file.write(case.to_toml())
    tl.run_to_file(f"{name}.nc", tl.load(f"{name}.toml"), watch=lambda progress: progress.time > 0.1)
    runs.resume(f"{name}.nc")
    found[name] = {
        "torque": run.torque[:, line].values.tolist(),
        "equal": tl.open_run(f"{name}.nc").torque.equals(run.torque),
    }
refused = []
class Late(Pull, registered=False):
    def torques(self):
        return np.array([0.0, 1.0]), np.array([0.0, self.pull])
for stage in (lambda: tl.Stage(Pull(3.0), transition=0.1), lambda: tl.Stage(Late(3.0), duration=0.1)):
    try:
        stage()
    except tl.errors.InputError as error:
        refused.append(str(error))
print(json.dumps(found | {"refused": {"of": refused}}))
"""

# Derivatives by few keys and by many, of the pendulum and of the crane, and those of differences of runs.
GRADIENTS = """
def slope(case, key, last):
    x = key_value(case, key)
    near, far = ([last(tl.simulate(case.with_({key: x + sign * e * x}))) for sign in (1.0, -1.0)] for e in (1e-5, 2e-5))
    return (8.0 * (near[0] - near[1]) - (far[0] - far[1])) / (12e-5 * x)

def warned_gradient(case, objective, keys):
    found = tl.value_and_gradient(case, objective, keys)
    return {"gradient": found.gradient.values.tolist(), "warnings": [str(w) for w in found.warnings]}

run = tl.Run(duration=0.2, sample=0.1, step=0.0025)
start = tl.Straight(4.0, direction=(1.0, 0.0, 2.0), end_velocity=(0.5, 1.0, 1.0), reel_speed=1.5)
own = tl.pendulum(rope, reel, body, elements=2)
taut = tl.Straight(4.0, direction=(1.0, 0.0, 8.0), end_velocity=(0.5, 1.0, 3.0), reel_speed=0.5)
cases = {
    "pendulum": (
        tl.Case(own, start, Pull(8.0), run),
        ["lines.line.stiffness", "lines.line.command.pull", "lines.line.reel.inertia_mass"],
    ),
    "crane": (
        tl.Case(crane, hung, {"hoist": Pull(8.0)}, run),
        ["lines.hoist.stiffness", "lines.hoist.command.pull", "bodies.load.mass"],
    ),
    "reverse pass": (
        tl.Case(tl.pendulum(rope, tl.Reel(0.2, 0.5, 0.5), body, elements=2), taut, tl.Torque(-1.0), run),
        ["lines.line.stiffness", "lines.line.command.torque", "bodies.body.mass"],
    ),
}
found = {}
for name, (case, keys) in cases.items():
    if name == "reverse pass":
        loads.LOADS["magnet"] = lambda chain, laws: magnet.Magnet(False, (0.0, 0.0, 0.0), 0.0)
    line = list(case.system.lines).index(next(iter(case.system.lines)))
    many = (keys + [key for key in tl.gradients.differentiable_keys(case) if key not in keys])[:30]
    objective = tl.objectives.Final(f"reeled_length[{line}]") + tl.objectives.Final("body_speed[0]")
    last = lambda run: float(run.reeled_length[-1, line] + run.body_speed[-1, 0])
    found[name] = {
        "keys": len(many),
        "has adjoint": runs_of(case, many[:9]).begun({}).has_adjoint(),
        "few": tl.value_and_gradient(case, objective, keys).gradient.values.tolist(),
        "many": tl.value_and_gradient(case, objective, many).gradient.values.tolist(),
        "eight": warned_gradient(case, objective, many[:8]),
        "nine": warned_gradient(case, objective, many[:9]),
        "differences": [slope(case, key, last) for key in keys],
    }
print(json.dumps(found))
"""


BLOCKS = [
    "halfway",
    "law line",
    "law reference",
    "hardening",
    "elastic line",
    "elastic formulas",
    "elastic reference",
    "pull",
    "command line",
    "command class",
    "ramp",
    "account",
    "magnet",
    "load line",
    "load numbers",
    "load reference",
    "output",
]
FILES = ("halfway", "hardening", "pull", "magnet")


def blocks() -> dict[str, str]:
    """Pieces of code of the walks by name."""
    page = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8").split("## Adding a guide law")[1]
    found = re.findall(r"^ *```python\n(.*?)^ *```$", page, re.DOTALL | re.MULTILINE)
    return dict(zip(BLOCKS, map(textwrap.dedent, found), strict=True))


def walk(folder: Path, program: str, cache: Path | None = None, **environment: str) -> dict[str, dict[str, Any]]:
    """Write the files of the page and run a program, in a process of its own."""
    program = (SETUP + program).replace("STEPS", str(STEPS))
    for name, code in blocks().items():
        if name in FILES:
            (folder / f"{name}.py").write_text(code)
        program = program.replace(f"<{name}>", code)
    path = os.pathsep.join([str(folder), str(ROOT / "src")])
    done = subprocess.run(
        [sys.executable, "-c", program],
        env=os.environ | {"PYTHONPATH": path, "TAUTLINE_CACHE_DIR": str(cache or folder)} | environment,
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-3000:]
    found: dict[str, dict[str, Any]] = json.loads(done.stdout)
    return found


@pytest.fixture(scope="module")
def cache(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where compiled kernels are kept: all programs register the same."""
    return tmp_path_factory.mktemp("kernels")


ENGINES = pytest.mark.parametrize(
    "environment",
    [
        pytest.param({"TAUTLINE_ENGINE": "python"}, id="interpreted"),
        pytest.param({}, id="compiled", marks=pytest.mark.long),  # compiles everything
    ],
)


@ENGINES
def test_the_walks(environment: dict[str, str], tmp_path: Path, cache: Path) -> None:
    """Order two against the reference, the balance closes, and the new law takes half of what `dissipative` takes."""
    found = walk(tmp_path, PROGRAM, cache, **environment)
    for run in found.values():
        check_order(STEPS, run["errors"], 2.0)
        check_order(STEPS, run["balance"], 2.0)
        check_below("balance", run["balance"][-1], 1e-5 * run["scale"])
        assert abs(run["magnet_work"][1]) > 1e-3
        # of second order: the finest step leaves a part of about (h over the time of a wave through an element)^2
        for account in ("guide_loss", "magnet_work", "torque"):
            check_close(account, run[account][0], run[account][1], 1e-4 * abs(run[account][1]))
        assert run["unit"] == "J"
        check_below("speed of bodies", run["speed"], 1e-14)
    # both motions are nearly the same in so short a time
    assert found["halfway"]["guide_loss"][0] == pytest.approx(0.5 * found["dissipative"]["guide_loss"][0], rel=0.01)


@ENGINES
def test_the_walks_in_a_system_from_a_file_and_in_a_study(
    environment: dict[str, str], tmp_path: Path, cache: Path
) -> None:
    found = walk(tmp_path, EVERYWHERE, cache, **environment)["crane"]
    check_order(STEPS, found["kept"], 2.0)
    # elements of the sling are four times as short as those of the pendulum above
    check_below("balance", found["kept"][-1], 1e-4 * found["scale"])
    assert abs(found["magnet_work"]) > 1e-3 and found["equal"]
    assert found["pulled"] > 0.0
    check_below("speed in the study", found["speed"], 1e-12)


@ENGINES
def test_the_walks_in_sequences(environment: dict[str, str], tmp_path: Path, cache: Path) -> None:
    """Times count from the stage, transitions begin with the torque before, and files and checkpoints keep it so."""
    found = walk(tmp_path, SEQUENCES, cache, **environment)
    first, second = found["refused"]["of"]
    assert "Stage.transition: expected none with a kernel of its own, got 0.1 s with Pull" in first
    assert "Late: expected a command that says what it is `later`" in second
    for name in ("pendulum", "crane"):
        torque = found[name]["torque"]
        assert found[name]["equal"]
        # a jump between two stages is at the sample there, on the one or the other side
        np.testing.assert_allclose([torque[k] for k in (0, 1, 3)], [0.0, 0.025, 0.025], atol=1e-12, err_msg=name)
        np.testing.assert_allclose(torque[5], 3.0 * 0.2, atol=1e-12, err_msg=name)
        # half of what was before, and half of 0.8 (0.05/0.2); then the ramp alone
        before = 3.0 * 0.2
        np.testing.assert_allclose(torque[7], 0.5 * before + 0.2, atol=1e-3, err_msg=name)
        np.testing.assert_allclose(torque[8:], [0.4, 0.6, 0.8, 0.8, 0.8], atol=1e-12, err_msg=name)


@pytest.mark.long  # compiles everything; what is interpreted has no tangents
def test_gradients_with_laws_commands_loads_and_outputs_of_ones_own(tmp_path: Path, cache: Path) -> None:
    """Equal to differences of runs, for one body and for two; the same by 8 and by 9 keys, with the same warnings.

    A law with partial derivatives takes the reverse pass by 9 keys, where nothing else hinders.
    """
    for name, own in walk(tmp_path, GRADIENTS, cache).items():
        assert own["keys"] == 30
        few, many, differences = (np.array(own[kind]) for kind in ("few", "many", "differences"))
        np.testing.assert_allclose(many[:3], few, rtol=1e-9, atol=1e-12, err_msg=name)
        np.testing.assert_allclose(few, differences, rtol=1e-6, err_msg=name)
        eight, nine = own["eight"], own["nine"]
        np.testing.assert_allclose(nine["gradient"][:8], eight["gradient"], rtol=1e-9, atol=1e-12, err_msg=name)
        assert eight["warnings"] == nine["warnings"], name
        assert own["has adjoint"] == (name == "reverse pass")
