"""FMUs: what the standard asks for, the bits of Simulation, states that go on elsewhere, wrong calls."""

from __future__ import annotations

import ctypes
import dataclasses
import random
import re
import shutil
import subprocess
import sys
import threading
import zipfile
from pathlib import Path
from typing import Any

import fmpy
import hatch_build
import numpy as np
import pytest
from fmpy.validation import validate_fmu

import tautline as tl
from tautline.errors import InputError
from tautline.files.scenario import built_in_names
from tautline.fmu import build
from tautline.kernels.machine.targets import machine
from tautline.model.system.commands import drives
from tests.support.fmus import Plain, Slave, memory, outputs_of

ROOT = Path(__file__).parents[2]
SYSTEMS: dict[str, dict[str, Any]] = {
    "fixed-length": {"commands": {"line": "case"}},
    "crane-hoist": {"velocities": ["line"]},
    "hook-and-load": {"velocities": ["jib"]},
    "hook-block-2": {},
    "gantry": {"velocities": ["trolley"], "commands": {"hoist": "length"}},
    "mine-winder": {"commands": {"left": "torque"}},
}


class Fmus(dict[tuple[str, int], Path]):
    """FMUs of the systems by name and version, each exported when it is first asked for."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def __missing__(self, key: tuple[str, int]) -> Path:
        name, fmi = key
        self[key] = self._folder / f"{name}-{fmi}.fmu"
        tl.export_fmu(tl.load(name), self[key], fmi=fmi, **SYSTEMS[name])
        return self[key]


@pytest.fixture(scope="session")
def fmus(tmp_path_factory: pytest.TempPathFactory) -> Fmus:
    return Fmus(tmp_path_factory.mktemp("fmus"))


def opened(path: Path, folder: Path, **parameters: float) -> Slave:
    return Slave(path, folder / path.stem, parameters)


@pytest.fixture
def network(monkeypatch: pytest.MonkeyPatch) -> None:
    """The kernels of FMUs also where those of a chain could run: the latter round otherwise."""
    monkeypatch.setenv("TAUTLINE_BACKEND", "network")


# Validating takes a second: each system in one version, and in both by `make verify`.
VERSIONS = [
    pytest.param(name, fmi, marks=[pytest.mark.long] * (fmi != 2 + k % 2))
    for k, name in enumerate(SYSTEMS)
    for fmi in (2, 3)
]


@pytest.mark.parametrize(("name", "fmi"), VERSIONS)
def test_the_description_is_valid(fmus: Fmus, name: str, fmi: int) -> None:
    assert validate_fmu(str(fmus[name, fmi])) == []


def test_an_fmu_holds_documentation_license_and_case(fmus: Fmus) -> None:
    for fmi in (2, 3):
        archive = zipfile.ZipFile(fmus["crane-hoist", fmi])
        text = archive.read("documentation/index.html").decode()
        assert "bodies.body.mass" in text and "fixed" in text
        assert b"MIT" in archive.read("documentation/licenses/license.txt")
        assert "drum_radius" in archive.read("resources/case.toml").decode()


@pytest.mark.parametrize("name", ("hook-2", "Körper"))
def test_names_that_are_no_identifiers_are_quoted(tmp_path: Path, name: str) -> None:
    case = tl.load("fixed-length")
    line = dataclasses.replace(case.system.lines["line"], end=name)
    system = dataclasses.replace(case.system, bodies={name: case.system.bodies["body"]}, lines={"north-east": line})
    state = case.state()
    start = tl.State({name: state.bodies["body"]}, {"north-east": state.lines["line"]})
    names = tl.export_fmu(tl.Case(system, start, {}, case.run), tmp_path / "named.fmu")
    assert "lines.'north-east'.deployed" in names and f"bodies.'{name}'.mass" in names
    assert validate_fmu(str(tmp_path / "named.fmu")) == []


def test_the_same_case_gives_the_same_bytes(tmp_path: Path, fmus: Fmus) -> None:
    tl.export_fmu(tl.load("crane-hoist"), tmp_path / "crane-hoist-2.fmu", velocities=["line"])
    assert (tmp_path / "crane-hoist-2.fmu").read_bytes() == fmus["crane-hoist", 2].read_bytes()


def test_every_function_of_the_headers_is_exported() -> None:
    """And nothing else, by the names in the headers of the standard; no library but that of C is needed."""
    listed = subprocess.run(["nm", "-D", str(build.wrapper())], capture_output=True, text=True, check=True).stdout
    names = {line.split()[-1] for line in listed.splitlines() if " T " in line}
    headers = Path(fmpy.__file__).parent / "c-code"
    declared = {
        name
        for fmi in (2, 3)
        for name in re.findall(rf"\b(fmi{fmi}\w+)TYPE\b", (headers / f"fmi{fmi}FunctionTypes.h").read_text())
    }
    assert len(declared) == 44 + 75 and names == declared
    needed = subprocess.run(["ldd", str(build.wrapper())], capture_output=True, text=True, check=True).stdout
    assert "python" not in needed


def test_the_wrapper_runs_on_old_systems() -> None:
    """Functions of glibc 2.17 or older alone; and the tag of a wheel looks at it, as it does at libtautline."""
    assert {*hatch_build.GLIBC_VERSION.findall(build.wrapper().read_bytes())} == {(b"2", b"2"), (b"2", b"14")}
    assert build.FOLDER.relative_to(ROOT).as_posix() in hatch_build.BUILT
    assert hatch_build.platform_of(ROOT) == f"manylinux_2_17_{machine()}"


def test_a_wheel_with_newer_functions_says_so(tmp_path: Path) -> None:
    for folder in hatch_build.BUILT:
        for name in hatch_build.BUILT:
            (tmp_path / name).mkdir(parents=True, exist_ok=True)
            (tmp_path / name / "lib.so").write_bytes(b"GLIBC_2.34" if name == folder else b"GLIBC_2.2.5")
        assert hatch_build.platform_of(tmp_path) == f"manylinux_2_34_{machine()}"


@pytest.mark.usefixtures("network")
@pytest.mark.parametrize("fmi", (2, 3))
def test_a_pendulum_has_the_bits_of_simulation(fmus: Fmus, tmp_path: Path, fmi: int) -> None:
    fmu = opened(fmus["fixed-length", fmi], tmp_path)
    sim = tl.Simulation.from_case(tl.load("fixed-length"))
    sim.body.push()
    for k in range(40):
        if k >= 10:  # forces from outside
            force, moment = (0.1 * np.sin(k), 0.05, 0.0), (0.0, 0.01 * k, 0.0)
            sim.body.push(force, moment)
            fmu.put_vector("bodies.body.command.force", force)
            fmu.put_vector("bodies.body.command.moment", moment)
        sim.advance(0.01)
        fmu.step(0.01)
        expected = outputs_of(sim)
        assert fmu.get(*expected) == list(expected.values())
    assert fmu.whole("status") == 0 and fmu.get("time") == [sim.time]
    fmu.close()


@pytest.mark.usefixtures("network")
@pytest.mark.parametrize("fmi", (2, 3))
def test_a_crane_by_torque_has_the_bits_of_simulation(fmus: Fmus, tmp_path: Path, fmi: int) -> None:
    """With steps of different lengths, and a guide that is moved."""
    fmu = opened(fmus["crane-hoist", fmi], tmp_path)
    case = tl.load("crane-hoist")
    line = case.system.lines["line"]
    bodies = {"guide": tl.Kinematic(None, line.start_point), **case.system.bodies}
    lines = {"line": dataclasses.replace(line, start="guide", start_point=(0.0, 0.0, 0.0))}
    state = case.state()
    start = tl.State({"guide": tl.BodyState(line.start_point), **state.bodies}, state.lines)
    sim = tl.Simulation(dataclasses.replace(case.system, bodies=bodies, lines=lines), start, **case.run.method())
    sim.body.push()
    for k, interval in enumerate([0.01] * 10 + [0.02, 0.005, 0.01, 0.02] * 5):
        torque = 1600.0 + (50.0 * np.sin(k) if k else 0.0)
        if k:
            sim.bodies["guide"].move((0.05 * k, 0.0, -0.01 * k))
            fmu.put_vector("bodies.guide.command.velocity", (0.05 * k, 0.0, -0.01 * k))
        fmu.put({"lines.line.command.torque": torque})
        sim.advance(interval, torque)
        fmu.step(interval)
        expected = outputs_of(sim)
        assert fmu.get(*expected) == list(expected.values())
    fmu.close()


@pytest.mark.parametrize("fmi", (2, 3))
def test_a_gantry_has_the_bits_of_simulation(fmus: Fmus, tmp_path: Path, fmi: int) -> None:
    """The trolley, whose sheaves carry the rope, is moved, the winch drives to lengths, the wind pushes the block."""
    fmu, case = opened(fmus["gantry", fmi], tmp_path), tl.load("gantry")
    interval, length, speed, knots, rows = 0.02, fmu.get("lines.hoist.command.length")[0], 0.0, [], []
    actions = [(38.0 - 0.001 * k**2, (0.02 * k, 0.0, 0.0), (0.0, 10.0 * k, 0.0)) for k in range(21)]
    for aim, velocity, force in actions:
        mean = (aim - length) / interval
        knots += fmu.get("time")
        rows.append((length, speed, 2.0 * (mean - speed) / interval, (speed - mean) / interval**2))
        length, speed = aim, mean
        fmu.put_vector("bodies.trolley.command.velocity", velocity)
        fmu.put_vector("bodies.block.command.force", force)
        fmu.put({"lines.hoist.command.length": aim})
        fmu.step(interval)
    trolley = tl.Kinematic(None, case.system.bodies["trolley"].position)
    bodies = {**case.system.bodies, "trolley": trolley}
    sim = tl.Simulation(dataclasses.replace(case.system, bodies=bodies), case.state(), **case.run.method())
    sim.bodies["block"].push()
    command = tl.Length(pieces=([*knots, *fmu.get("time")], [*rows, (length, speed, 0.0, 0.0)]))
    for k, (_, velocity, force) in enumerate(actions):
        if k:
            sim.bodies["trolley"].move(velocity)
            sim.bodies["block"].push(force)
        sim.advance(interval, {"hoist": command})
    expected = outputs_of(sim)
    assert fmu.get(*expected) == list(expected.values())
    assert fmu.get("lines.hoist.deployed")[0] == pytest.approx(length, abs=1e-11)  # rounding of 21 increments
    fmu.close()


def between_two_drums() -> tl.Case:
    """A load below two fixed sheaves, of which one is driven, and a pin, on a rope between two drums."""
    string = tl.String(30.0, 0.5, 2e6, damping_ratio=0.05)
    over: dict[str, tl.Sheave | tl.Pin] = {
        "left": tl.Sheave((2.0, 0.0, 0.0), 0.2, (0, 1, 0), inertia_mass=4.0, efficiency=0.97),
        "eye": tl.Pin((0.0, 0.0, 0.0), on="block", friction=0.05),
        "right": tl.Sheave((4.0, 0.0, 0.0), 0.2, (0, 1, 0), inertia_mass=4.0),
    }
    line = tl.Line(
        string,
        start_point=(0.0, 0.0, 0.0),
        end_point=(6.0, 0.0, 0.0),
        reel=tl.Reel(0.2, 0.5, 5.0),
        end_reel=tl.Reel(0.25, 0.5, 6.0),
        over=over,
        elements=2,
    )
    system = tl.System({"block": tl.RigidBody.point(150.0)}, {"rope": line}, gravity=9.81)
    return tl.Case(system, tl.Placed({"block": (3.0, 0.0, 5.0)}, settle=True), {}, tl.Run(duration=1.0, sample=0.01))


@pytest.mark.parametrize("fmi", (2, 3))
def test_drums_at_both_ends_and_a_driven_sheave_have_the_bits_of_simulation(tmp_path: Path, fmi: int) -> None:
    case, path = between_two_drums(), tmp_path / "drums.fmu"
    tl.export_fmu(case, path, fmi=fmi, commands=dict.fromkeys(("rope", "rope.end_reel", "rope.left"), "torque"))
    assert validate_fmu(str(path)) == []
    fmu, sim = Slave(path, tmp_path / "open"), tl.Simulation.from_case(case)
    sim.bodies["block"].push()
    heads = {"rope": "lines.rope", "rope.end_reel": "lines.rope.end_reel", "rope.left": "lines.rope.over.left"}
    for k in range(40):
        torques = {"rope": 150.0 + k, "rope.end_reel": 190.0 + k, "rope.left": -2.0 * k}
        sim.advance(0.01, torques)
        fmu.put({f"{heads[name]}.command.torque": torque for name, torque in torques.items()})
        fmu.step(0.01)
    expected = outputs_of(sim)
    assert {x for x in expected if ".over." in x or "end_reel" in x} <= fmu.references.keys()
    assert fmu.get(*expected) == list(expected.values())
    assert abs(fmu.get("lines.rope.over.left.passing_speed")[0]) > 0.01 < abs(fmu.get("lines.rope.end_reel.speed")[0])
    fmu.close()


def test_a_rope_that_slips_has_the_bits_of_simulation(tmp_path: Path) -> None:
    """The traction lift beyond its emergency stop; the warning is told as soon as the rope slips."""
    case, path = tl.load("traction-lift"), tmp_path / "lift.fmu"
    tl.export_fmu(case, path, commands={"ropes.traction": "case"})
    fmu, sim = Slave(path, tmp_path / "open"), tl.Simulation.from_case(case)
    for body in sim.bodies.values():
        body.push()
    for k in range(86):
        sim.advance(0.05, dict(case.commands) if k == 0 else None)
        fmu.step(0.05)
        slips = any(x.kind == "slip" for x in sim.runner.warnings())
        assert slips == bool(fmu.whole("warnings") & 64)
    expected = outputs_of(sim)
    assert slips and fmu.get(*expected) == list(expected.values())
    rim, rope = fmu.get(*(f"lines.ropes.over.traction.{x}" for x in ("rim_speed", "passing_speed")))
    assert abs(rim - rope) > 0.05
    fmu.close()


def test_blocks_that_meet_end_the_motion(tmp_path: Path) -> None:
    """At the time at which Simulation ends it."""
    path = tmp_path / "hook.fmu"
    case = tl.load("hook-block-2", {"run.minimum_length": "19.7 m"})
    tl.export_fmu(case, path, fmi=3, commands={"hoist": "case"})
    fmu, sim = Slave(path, tmp_path / "open"), tl.Simulation.from_case(case)
    sim.advance(4.0, dict(case.commands), sample=0.25)
    assert sim.status == "two_blocked"
    ended, reached, k = ctypes.c_bool(), ctypes.c_double(), 0
    while not ended.value and k < 16:
        flags = (ctypes.byref(ctypes.c_bool()), ctypes.byref(ended), ctypes.byref(ctypes.c_bool()))
        times = (ctypes.c_double(0.25 * k), ctypes.c_double(0.25), ctypes.c_bool(True))
        status = fmu.fmu.dll.fmi3DoStep(ctypes.c_void_p(fmu.fmu.component), *times, *flags, ctypes.byref(reached))
        assert status == (2 if ended.value else 0)
        k += 1
    # one march of Simulation and one a step locate the event by steps of other lengths
    assert reached.value == pytest.approx(sim.time, abs=1e-6) and fmu.get("time") == [reached.value]
    assert min(fmu.get("lines.hoist.spans[0].length", "lines.hoist.spans[1].length")) == pytest.approx(19.7, abs=1e-6)
    fmu.close()


QUICK = ("tethered-pod", "hook-block-2", "ship-crane")  # with drag; over a sheave; below a body that turns


@pytest.mark.usefixtures("network")
@pytest.mark.parametrize(
    "name",
    [
        pytest.param(x, marks=[] if x in QUICK else pytest.mark.long)
        for x in built_in_names()
        if x != "lift-brake"  # a sequence, which is refused
    ],
)
def test_every_scenario_has_the_bits_of_simulation(tmp_path: Path, name: str) -> None:
    """With the commands and paths of the case."""
    case, path = tl.load(name), tmp_path / "case.fmu"
    tl.export_fmu(case, path, commands=dict.fromkeys(drives(case.system), "case"))
    assert validate_fmu(str(path)) == []
    fmu, sim, interval = Slave(path, tmp_path / "open"), tl.Simulation.from_case(case), case.run.interval()
    for body, x in case.system.bodies.items():
        if isinstance(x, tl.RigidBody):
            sim.bodies[body].push()
    for k in range(8):
        sim.advance(interval, dict(case.commands) if k == 0 else None)
        fmu.step(interval)
    expected = outputs_of(sim)
    np.testing.assert_array_equal(fmu.get(*expected), list(expected.values()))
    fmu.close()


@pytest.mark.parametrize(
    ("name", "command", "value", "variables"),
    (
        ("crane-hoist", "lines.line.command.torque", 1650.0, ("lines.line.deployed", "lines.line.end_tension")),
        ("mine-winder", "lines.left.command.torque", 9e4, ("lines.left.deployed", "lines.right.end_tension")),
        ("fixed-length", "bodies.body.command.force[1]", 0.2, ("bodies.body.position[1]", "lines.line.end_tension")),
        ("hook-and-load", "bodies.load.command.force[1]", 500.0, ("bodies.load.position[1]", "lines.hoist.deployed")),
        (
            "hook-block-2",
            "bodies.block.command.force[1]",
            500.0,
            ("lines.hoist.end_tension", "bodies.block.position[1]"),
        ),
    ),
)
def test_libcosim_runs_an_fmu(
    fmus: Fmus, tmp_path: Path, name: str, command: str, value: float, variables: tuple[str, ...]
) -> None:
    """In a process of its own, which it tells much; same bits as FMPy."""
    pytest.importorskip("libcosimpy")
    fmu = opened(fmus[name, 2], tmp_path)
    for _ in range(50):
        fmu.put({command: value})
        fmu.step(0.01)
    arguments = [sys.executable, "-c", COSIM, str(fmus[name, 2]), command, str(value), *variables]
    done = subprocess.run(arguments, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    # libcosim sets inputs after the initialization, and counts time in nanoseconds
    assert str(fmu.get(*variables)) in done.stdout
    fmu.close()


COSIM = """
import sys
from libcosimpy.CosimExecution import CosimExecution
from libcosimpy.CosimManipulator import CosimManipulator
from libcosimpy.CosimObserver import CosimObserver
from libcosimpy.CosimSlave import CosimLocalSlave
path, command, value, *variables = sys.argv[1:]
execution = CosimExecution.from_step_size(step_size=1e7)
slave = execution.add_local_slave(local_slave=CosimLocalSlave(fmu_path=path, instance_name="crane"))
observer, manipulator = CosimObserver.create_last_value(), CosimManipulator.create_override()
execution.add_observer(observer=observer)
execution.add_manipulator(manipulator=manipulator)
places = {x.name.decode(): x.reference for x in execution.slave_variables(slave_index=slave)}
manipulator.slave_real_values(slave_index=slave, variable_references=[places[command]], values=[float(value)])
assert execution.step(step_count=50)
print(observer.last_real_values(slave_index=slave, variable_references=[places[name] for name in variables]))
"""


def led(fmu: Any, key: str, way: tuple[float, float, float], interval: float) -> tuple[tuple[float, ...], float]:
    """Coefficients of the cubic along which an FMU led a length to the next one, and the speed at its end."""
    length, speed, aim = way
    mean = (aim - length) / interval
    fmu.put({key: aim})
    fmu.step(interval)
    return (length, speed, 2.0 * (mean - speed) / interval, (speed - mean) / interval**2), mean


@pytest.mark.parametrize("fmi", (2, 3))
def test_hook_and_load_by_length_have_the_bits_of_one_long_command(fmus: Fmus, tmp_path: Path, fmi: int) -> None:
    """Cubics between the communication points are pieces of one Length, which is marched in one go."""
    fmu = opened(fmus["hook-and-load", fmi], tmp_path)
    case = tl.load("hook-and-load")
    interval, length, speed, knots, rows = 0.02, 20.0, 0.0, [], []
    for k in range(50):
        aim = 20.0 - 0.02 * (k * interval) ** 2
        knots += fmu.get("time")
        row, speed = led(fmu, "lines.hoist.command.length", (length, speed, aim), interval)
        rows.append(row)
        length = aim
    bodies = {**case.system.bodies, "jib": tl.Kinematic()}
    sim = tl.Simulation(dataclasses.replace(case.system, bodies=bodies), case.state(), **case.run.method())
    for name in ("hook", "load"):
        sim.bodies[name].push()
    knots, rows = [*knots, *fmu.get("time")], [*rows, (length, speed, 0.0, 0.0)]
    command = tl.Length(pieces=(knots, rows))
    for _ in range(50):
        sim.advance(interval, {"hoist": command})
    expected = outputs_of(sim)
    assert fmu.get(*expected) == list(expected.values())
    assert fmu.get("lines.hoist.deployed")[0] == pytest.approx(length, abs=1e-12)  # rounding of 50 increments
    fmu.close()


def test_a_length_of_a_drum_that_remembers_takes_the_work_of_a_run(tmp_path: Path) -> None:
    """Cubics between the communication points, given as one Length to a run that chooses its kernels itself."""
    case, interval, drop = tl.load("crane-hoist"), 0.02, 0.2
    case = case.with_({"reel.guide_law": "stretched", "string.law": "linear", "run.elements": 4})
    tl.export_fmu(case, tmp_path / "stretched.fmu", commands={"line": "length"})
    fmu = opened(tmp_path / "stretched.fmu", tmp_path)
    names = ("motor_work", "start_tension", "end_tension")
    length, speed, knots, rows, found = *fmu.get("lines.line.deployed"), 0.0, [], [], []
    for k in range(20):
        aim = 20.0 - drop * ((k + 1) * interval) ** 2
        knots += fmu.get("time")
        row, speed = led(fmu, "lines.line.command.length", (length, speed, aim), interval)
        rows.append(row)
        length = aim
        found.append(fmu.get(*(f"lines.line.{name}" for name in names)))
    command = tl.Length(pieces=([*knots, *fmu.get("time")], [*rows, (length, speed, 0.0, 0.0)]))
    run = tl.simulate(case.system, case.state(), command, duration=20 * interval, sample=interval)
    expected = np.stack([run[name].values.ravel()[1:] for name in names], axis=1)
    assert np.array_equal(found, expected)
    sim = tl.Simulation(case.system, case.state(), **case.run.method())
    for _ in found:
        sim.advance(interval, {"line": command})
    torque = outputs_of(sim)["lines.line.torque"]
    assert fmu.get("lines.line.torque")[0] == pytest.approx(torque, rel=1e-12)  # the chain is 1e-8 away
    fmu.close()


def test_a_speed_rises_along_lines(tmp_path: Path) -> None:
    """Deployed length is the integral of the given speeds, by trapezoids; the torque shows the drum's inertia."""
    path = tmp_path / "crane.fmu"
    tl.export_fmu(tl.load("crane-hoist"), path, commands={"line": "speed"})
    fmu = Slave(path, tmp_path / "open")
    speeds = [0.0, *(0.02 * k for k in range(1, 30)), 0.6, 0.6]
    for speed in speeds:
        fmu.put({"lines.line.command.payout": speed})
        fmu.step(0.01)
    paid = 0.01 * float(np.trapezoid([0.0, *speeds]))
    assert fmu.get("lines.line.deployed")[0] == pytest.approx(20.0 + paid, abs=1e-12)  # rounding
    assert fmu.get("lines.line.speed")[0] == pytest.approx(-0.6, abs=1e-12)
    fmu.close()


@pytest.mark.usefixtures("network")
def test_parameters_give_what_a_case_with_these_keys_gives(fmus: Fmus, tmp_path: Path) -> None:
    """From the same start. Words that are powers of a key may differ in the last digit."""
    changed = {"bodies.hook.mass": 350.0, "lines.hoist.stiffness": 18e6, "gravity": 9.5, "lines.hoist.density": 2.5}
    fmu = opened(fmus["hook-and-load", 2], tmp_path, **changed)
    case = tl.load("hook-and-load")
    other = case.with_(changed)
    bodies = {**other.system.bodies, "jib": tl.Kinematic()}
    sim = tl.Simulation(dataclasses.replace(other.system, bodies=bodies), case.state(), **case.run.method())
    for name in ("hook", "load"):
        sim.bodies[name].push()
    for k in range(20):
        sim.advance(0.02, {"hoist": tl.Length(pieces=((0.0, 1.0), ((20.0, 0.0), (20.0, 0.0))))} if k == 0 else None)
        fmu.step(0.02)
    expected = outputs_of(sim)
    got = fmu.get("bodies.load.position[3]", "lines.hoist.start_tension", "accounts.energy")
    wanted = [expected[x] for x in ("bodies.load.position[3]", "lines.hoist.start_tension", "accounts.energy")]
    np.testing.assert_allclose(got, wanted, rtol=1e-9)  # 1e-16 of a parameter, over 20 samples of a stiff rope
    unchanged = opened(fmus["hook-and-load", 2], tmp_path)
    for _ in range(20):
        unchanged.step(0.02)
    assert abs(unchanged.get("lines.hoist.start_tension")[0] / got[1] - 1.0) > 0.01
    for slave in (fmu, unchanged):
        slave.close()


def test_parameters_of_a_reeved_crane_give_what_a_case_with_these_keys_gives(tmp_path: Path) -> None:
    """Inertia of the sheave and density of the rope on it make one word together."""
    changed = {
        "bodies.block.mass": 2000.0,
        "lines.hoist.stiffness": 18e6,
        "lines.hoist.density": 1.5,
        "lines.hoist.over.lower.inertia": 0.7,
        "lines.hoist.over.lower.efficiency": 0.93,
    }
    case, path, torque = tl.load("hook-block-2"), tmp_path / "hook.fmu", {"hoist": 3500.0}
    tl.export_fmu(case, path, commands=dict.fromkeys(torque, "torque"))
    fmu = opened(path, tmp_path, **changed)
    sim, without = (tl.Simulation(x.system, case.state(), **case.run.method()) for x in (case.with_(changed), case))
    for _ in range(20):
        for simulation in (sim, without):
            simulation.bodies["block"].push()
            simulation.advance(0.02, torque)
        fmu.put({"lines.hoist.command.torque": 3500.0})
        fmu.step(0.02)
    names = (
        "bodies.block.position[3]",
        "lines.hoist.start_tension",
        "lines.hoist.over.lower.passed",
        "accounts.energy",
    )
    expected, other = outputs_of(sim), outputs_of(without)
    np.testing.assert_allclose(fmu.get(*names), [expected[x] for x in names], rtol=1e-9)  # as for the crane above
    assert all(abs(other[x] / expected[x] - 1.0) > 1e-4 for x in names)
    fmu.close()


def test_a_torque_of_the_case_is_a_parameter(tmp_path: Path) -> None:
    """Where the command is kept; an input in its place has a start value instead. What is fixed is listed."""
    case, path = between_two_drums(), tmp_path / "drums.fmu"
    torques = {"rope": 150.0, "rope.end_reel": 190.0, "rope.left": -3.0}
    case = case.with_({}, commands={name: tl.Torque(torque) for name, torque in torques.items()})
    modes = {"rope": "case", "rope.end_reel": "torque", "rope.left": "case"}
    names = tl.export_fmu(case, path, commands=modes)
    kept = ("lines.rope.command.torque", "lines.rope.over.left.command.torque")
    assert {*kept} <= {*names} and names.count("lines.rope.end_reel.command.torque") == 1
    changed = dict(zip(kept, (170.0, -8.0), strict=True))
    fmu, sim = Slave(path, tmp_path / "open", changed), tl.Simulation.from_case(case.with_(changed))
    sim.bodies["block"].push()
    for k in range(20):
        sim.advance(0.01, dict(case.with_(changed).commands) if k == 0 else None)
        fmu.step(0.01)
    expected = outputs_of(sim)
    assert fmu.get(*expected) == list(expected.values())
    fmu.close()
    page = zipfile.ZipFile(path).read("documentation/index.html").decode()
    fixed = re.search(r"<p>Fixed: (.*), and all of the start", page)
    assert fixed is not None
    assert {"lines.rope.length", "lines.rope.start_point"} <= {*fixed[1].split(", ")}
    assert not {*kept, "lines.rope.end_reel.command.torque", "lines.rope.density"} & {*fixed[1].split(", ")}


@pytest.mark.parametrize(("step", "any_step"), (("auto", True), ("0.2 ms", False)))
def test_only_an_fmu_that_chooses_its_steps_takes_any_interval(tmp_path: Path, step: str, any_step: bool) -> None:
    tl.export_fmu(tl.load("fixed-length", {"run.step": step}), tmp_path / "a.fmu")
    model = fmpy.read_model_description(str(tmp_path / "a.fmu"))
    assert model.coSimulation.canHandleVariableCommunicationStepSize is any_step


GO_ON = """
import sys
from pathlib import Path
from tests.support.fmus import Slave
fmu = Slave(Path("none"), Path(sys.argv[1]))
state = fmu.fmu.deSerializeFMUstate(Path(sys.argv[2]).read_bytes()) if fmu.is_2 else \\
    fmu.fmu.deserializeFMUState(Path(sys.argv[2]).read_bytes())
fmu.fmu.setFMUstate(state) if fmu.is_2 else fmu.fmu.setFMUState(state)
(fmu.time,) = fmu.get("time")
for _ in range(10):
    fmu.step(0.01)
print([x.hex() for x in fmu.numbers()])
"""


@pytest.mark.parametrize("fmi", (2, 3))
@pytest.mark.parametrize(
    ("name", "parameters", "command", "start"),
    (
        ("crane-hoist", {"bodies.body.mass": 900.0}, "lines.line.command.torque", 1600.0),
        ("hook-block-2", {"lines.hoist.over.lower.efficiency": 0.9}, "bodies.block.command.force[2]", 0.0),
        ("mine-winder", {"lines.right.density": 5.0}, "lines.left.command.torque", 1e5),
    ),
)
def test_a_serialized_state_goes_on_in_another_process_bit_for_bit(
    fmus: Fmus, tmp_path: Path, name: str, parameters: dict[str, float], command: str, start: float, fmi: int
) -> None:
    fmu = opened(fmus[name, fmi], tmp_path, **parameters)
    for k in range(10):
        fmu.put({command: start + 10.0 * k})
        fmu.step(0.01)
    if fmu.is_2:
        saved: bytes = fmu.fmu.serializeFMUstate(fmu.fmu.getFMUstate())
    else:
        saved = fmu.fmu.serializeFMUState(fmu.fmu.getFMUState())
    (tmp_path / "state").write_bytes(saved)
    for _ in range(10):
        fmu.step(0.01)
    elsewhere = [sys.executable, "-c", GO_ON, str(fmu.folder), str(tmp_path / "state")]
    done = subprocess.run(elsewhere, capture_output=True, text=True, cwd=ROOT, check=False)
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip() == str([x.hex() for x in fmu.numbers()])
    fmu.close()


def test_a_step_can_be_taken_back(fmus: Fmus, tmp_path: Path) -> None:
    fmu = opened(fmus["crane-hoist", 2], tmp_path)
    fmu.step(0.01)
    saved, before = fmu.fmu.getFMUstate(), fmu.numbers()
    fmu.put({"lines.line.command.torque": 0.0})
    fmu.step(0.05)
    assert fmu.numbers() != before
    fmu.fmu.setFMUstate(saved)
    assert fmu.numbers() == before
    fmu.fmu.freeFMUstate(saved)
    fmu.close()


def test_a_line_that_is_fully_in_ends_the_motion(fmus: Fmus, tmp_path: Path) -> None:
    """The step is discarded, and the time of the event is the last one that was reached."""
    fmu = opened(fmus["crane-hoist", 3], tmp_path)
    fmu.put({"lines.line.command.torque": 4000.0})
    ended, reached, k = ctypes.c_bool(), ctypes.c_double(), -1
    while not ended.value and k < 100:
        k += 1
        flags = (ctypes.byref(ctypes.c_bool()), ctypes.byref(ended), ctypes.byref(ctypes.c_bool()))
        times = (ctypes.c_double(0.1 * k), ctypes.c_double(0.1), ctypes.c_bool(True))
        status = fmu.fmu.dll.fmi3DoStep(ctypes.c_void_p(fmu.fmu.component), *times, *flags, ctypes.byref(reached))
        assert status == (2 if ended.value else 0)
    last = reached.value
    assert ended.value and 0.1 * k < last <= 0.1 * (k + 1)
    assert fmu.whole("status") == 1 and fmu.get("time") == [last]
    assert fmu.get("lines.line.deployed")[0] == pytest.approx(0.2, abs=60e-10)  # END_TOLERANCE of 60 m
    fmu.close()


@pytest.mark.usefixtures("network")
def test_a_compressed_line_is_told(fmus: Fmus, tmp_path: Path) -> None:
    """As Simulation does: a linear string that is pushed together, which it is not at first."""
    fmu = opened(fmus["fixed-length", 2], tmp_path)
    sim = tl.Simulation.from_case(tl.load("fixed-length"))
    assert fmu.whole("warnings") == 0
    sim.body.push((-5.0, 0.0, 0.0))
    fmu.put_vector("bodies.body.command.force", (-5.0, 0.0, 0.0))
    for _ in range(20):
        sim.advance(0.01)
        fmu.step(0.01)
    assert {"compression", "slack"} & {w.kind for w in sim.runner.warnings()}  # the latter where it lasts
    assert fmu.whole("warnings") & 4
    fmu.close()


def test_instances_in_threads_do_not_meet(fmus: Fmus, tmp_path: Path) -> None:
    slaves = [opened(fmus["crane-hoist", 2], tmp_path, **{"bodies.body.mass": 1000.0 + k}) for k in range(4)]
    alone = opened(fmus["crane-hoist", 2], tmp_path, **{"bodies.body.mass": 1002.0})

    def run(slave: Slave) -> None:
        for _ in range(50):
            slave.step(0.01)

    threads = [threading.Thread(target=run, args=(slave,)) for slave in slaves]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    run(alone)
    assert slaves[2].numbers() == alone.numbers() != slaves[1].numbers()
    for slave in (*slaves, alone):
        slave.close()


@pytest.fixture(params=(2, 3))
def plain(fmus: Fmus, tmp_path: Path, request: pytest.FixtureRequest) -> Plain:
    zipfile.ZipFile(fmus["fixed-length", request.param]).extractall(tmp_path / "with space")
    return Plain(tmp_path / "with space")


def test_an_fmu_can_be_moved_and_refuses_damaged_files(plain: Plain, tmp_path: Path) -> None:
    instance = plain.open()
    assert instance is not None
    plain.close(instance)
    assert plain.open(token=b"{other}") is None and "GUID" in plain.messages[-1]
    nowhere = b"file:///nowhere" if plain.fmi == 2 else b"/nowhere/"
    assert plain.open(folder=nowhere) is None and "system.bin" in plain.messages[-1]
    shutil.copytree(tmp_path / "with space" / "resources", tmp_path / "damaged")
    system = tmp_path / "damaged" / "system.bin"
    content, damaged = system.read_bytes(), tmp_path / "damaged"
    for cut in (0, 100, len(content) // 2, len(content) - 8):
        system.write_bytes(content[:cut])
        assert plain.open(folder=(damaged.as_uri() if plain.fmi == 2 else f"{damaged}/").encode()) is None
        assert "system.bin" in plain.messages[-1]


def _random_calls(plain: Plain, count: int, seed: int) -> tuple[int, int]:
    """Call functions in any order with any references; numbers of calls that succeeded and that failed."""
    choose = random.Random(seed)
    instance = plain.open()
    assert instance is not None
    state, size, flags = ctypes.c_void_p(), ctypes.c_size_t(), (ctypes.c_int * 4)()
    numbers, integers = (ctypes.c_double * 4)(), (ctypes.c_int * 4)()
    time, succeeded, failed = 0.0, 0, 0
    for _ in range(count):
        references = (ctypes.c_uint * 4)(
            *(choose.choice((0, 1, plain.count - 1, 2**32 - 1, choose.randrange(80))) for _ in range(4))
        )
        n = ctypes.c_size_t(choose.randrange(5))
        room = n if choose.random() < 0.9 else ctypes.c_size_t(choose.randrange(5))
        for k in range(4):
            numbers[k] = choose.choice((0.0, 1.0, -1.0, 1e300, float("nan"), float("inf"), choose.uniform(-10, 10)))
        step = choose.choice((0.01, 0.005, -1.0, 0.0, float("nan"), 1e-3))
        at = choose.choice((time, time, time, 5.0, -1.0))
        other = choose.choice((state, ctypes.c_void_p(12345), None))
        buffer = (ctypes.c_char * 100)()
        where = (ctypes.c_double(at), ctypes.c_double(step), True)
        begun = (0, *(ctypes.c_double(0.0),) * 2, 0, ctypes.c_double(1.0))
        flag = ctypes.cast(flags, ctypes.c_void_p)
        calls: dict[str, tuple[Any, ...]] = {
            "ExitInitializationMode": (),
            "Terminate": (),
            "Reset": (),
            "EnterEventMode": (),
            "SetTime": (ctypes.c_double(1.0),),
            "SetDebugLogging": (choose.randrange(2), n, None),
        }
        stepping: tuple[Any, ...]
        values: tuple[tuple[Any, ...], ...]
        if plain.fmi == 2:
            reading, stepping = "GetReal", where
            values = ((references, n, numbers), (references, n, integers))
            calls |= {
                "SetupExperiment": begun,
                "EnterInitializationMode": (),
                "GetReal": values[0],
                "SetReal": values[0],
                "GetInteger": values[1],
                "SetInteger": values[1],
                "GetBoolean": values[1],
                "GetString": (references, n, None),
                "GetFMUstate": (ctypes.byref(state),),
                "SetFMUstate": (other,),
                "FreeFMUstate": (ctypes.byref(state),),
                "SerializedFMUstateSize": (state, ctypes.byref(size)),
                "SerializeFMUstate": (state, buffer, ctypes.c_size_t(100)),
                "DeSerializeFMUstate": (buffer, ctypes.c_size_t(100), ctypes.byref(state)),
                "CancelStep": (),
                "GetRealStatus": (choose.randrange(4), numbers),
                "GetBooleanStatus": (choose.randrange(4), flag),
                "GetDerivatives": (numbers, n),
            }
        else:
            reading, stepping = "GetFloat64", (*where, flag, flag, flag, numbers)
            values = ((references, n, numbers, room), (references, n, integers, room))
            calls |= {
                "EnterInitializationMode": begun,
                "GetFloat64": values[0],
                "SetFloat64": values[0],
                "GetInt32": values[1],
                "SetInt32": values[1],
                "GetFloat32": values[0],
                "GetBoolean": values[1],
                "GetString": (references, n, None, room),
                "GetBinary": (references, n, None, None, room),
                "GetClock": (references, n, flag),
                "GetFMUState": (ctypes.byref(state),),
                "SetFMUState": (other,),
                "FreeFMUState": (ctypes.byref(state),),
                "SerializedFMUStateSize": (state, ctypes.byref(size)),
                "SerializeFMUState": (state, buffer, ctypes.c_size_t(100)),
                "DeserializeFMUState": (buffer, ctypes.c_size_t(100), ctypes.byref(state)),
                "EnterConfigurationMode": (),
                "EnterStepMode": (),
                "UpdateDiscreteStates": (flag,) * 5 + (numbers,),
                "GetNumberOfContinuousStates": (choose.choice((None, ctypes.byref(size))),),
                "GetContinuousStates": (numbers, n),
            }
        calls["DoStep"] = stepping
        name = choose.choice([*calls, reading, "DoStep", "DoStep", reading.replace("Get", "Set")])
        given = None if choose.random() < 0.02 else instance
        status = plain.call(name, given, *calls[name])
        assert 0 <= status <= 3
        succeeded, failed = succeeded + (status == 0), failed + (status != 0)
        now = ((ctypes.c_uint * 1)(0), ctypes.c_size_t(1), (ctypes.c_double * 1)(), ctypes.c_size_t(1))
        if plain.call(reading, instance, *now[: 3 if plain.fmi == 2 else 4]) == 0:
            time = now[2][0]
    plain.close(instance)
    return succeeded, failed


def test_wrong_calls_are_errors_and_never_crashes(plain: Plain) -> None:
    succeeded, failed = 0, 0
    for seed in range(50):
        one, other = _random_calls(plain, 200, seed)
        succeeded, failed = succeeded + one, failed + other
    assert succeeded > 1000 and failed > 1000
    assert not [x for x in plain.messages if not re.search(r"expected|must|ended|\w+(\[\d+\]| \d+)?: \w", x)]
    if plain.fmi == 2:
        assert "fmi2GetRealStatus: expected fmi2LastSuccessfulTime" in plain.messages
        assert "fmi2GetBooleanStatus: expected fmi2Terminated" in plain.messages


def test_instances_leave_no_memory_behind(plain: Plain) -> None:
    _open_and_close(plain, 500)


@pytest.mark.long
def test_a_hundred_thousand_instances_leave_no_memory_behind(plain: Plain) -> None:
    _open_and_close(plain, 100_000)


def _open_and_close(plain: Plain, count: int) -> None:
    def once() -> None:
        instance = plain.open()
        assert instance is not None
        plain.close(instance)

    for _ in range(100):
        once()
    before = memory()
    for _ in range(count):
        once()
    assert memory() - before < 2**20  # less than two instances, of 600 kB each


def test_what_cannot_be_exported_is_refused(tmp_path: Path) -> None:
    case, path = tl.load("crane-hoist"), tmp_path / "a.fmu"
    with pytest.raises(InputError, match="fmi: expected"):
        tl.export_fmu(case, path, fmi=1)
    with pytest.raises(InputError, match=r"commands: expected names of reels and sheaves \(line\), got 'x'"):
        tl.export_fmu(case, path, commands={"x": "torque"})
    with pytest.raises(InputError, match=r"velocities: expected names of kinematic bodies or lines \(line\), got 'x'"):
        tl.export_fmu(case, path, velocities=["x"])
    with pytest.raises(InputError, match=r"path: expected a file whose name ends in \.fmu"):
        tl.export_fmu(case, tmp_path / "a.zip")
    assert not path.exists()
