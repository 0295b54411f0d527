"""Systems of several bodies as objects, files and results: what is refused, commands, forces, saving, resuming."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from typer.testing import CliRunner

import tautline as tl
from tautline.cli.commands import app
from tautline.errors import InputError
from tests.support import chains
from tests.support.checking import check_close

BOX = tl.RigidBody.box(2.0, (0.2, 0.2, 0.2), (0.0, 0.0, 0.1))
ROPE = tl.String(6.0, 0.1, 5000.0, law="tension_only", viscosity=2.0)
REEL = tl.Reel(0.1, 0.2, 2.0)
WRONG: Any = 3

SMALL = """
title = "Two bodies"
[bodies.hook]
shape = "box"
mass = "2 kg"
sides = [0.2, 0.2, 0.2]
center_of_mass = [0, 0, 0.1]
[bodies.load]
shape = "sphere"
mass = "5 kg"
radius = "20 cm"
center_of_mass = [0, 0, 0.2]
[lines.hoist]
end = "hook"
length = "6 m"
density = 0.1
stiffness = "5 kN"
law = "tension_only"
viscosity = 2
elements = 3
reel = { drum_radius = 0.1, guide_length = 0.2, inertia_mass = 2 }
command = { kind = "torque", torque = "8 N*m" }
[lines.sling]
start = "hook"
start_point = [0, 0, 0.2]
end = "load"
length = "1 m"
density = 0.1
stiffness = "5 kN"
elements = 2
[initial.bodies.hook]
position = [0.1, 0, 3.1]
[initial.bodies.load]
position = [0.1, 0, 4.41]
velocity = [0.2, 0, 0]
[initial.lines.hoist]
deployed = "3 m"
[run]
duration = 0.5
sample = 0.01
"""


@pytest.fixture
def small(tmp_path: Path) -> Path:
    path = tmp_path / "small.toml"
    path.write_text(SMALL, encoding="utf-8")
    return path


def line(**others: Any) -> tl.Line:
    given: dict[str, Any] = {"end": "box", "reel": REEL, "elements": 3} | others
    return tl.Line(ROPE, **given)


def test_keys_can_be_changed_by_their_dotted_names(small: Path) -> None:
    case = tl.load(small, {"lines.hoist.reel.drum_radius": "0.2 m", "bodies.load.mass": "7 kg"})
    assert case.system.lines["hoist"].reel.drum_radius == 0.2
    other = case.with_({"initial.bodies.load.velocity[1]": 0.5, "run.duration": "1 s"})
    assert other.start.bodies["load"].velocity == (0.2, 0.5, 0.0)
    assert other.run.duration == 1.0


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        (
            {"lines.hoist.end": "hok"},
            "lines.hoist.end: expected one of 'anchor', 'hook', 'load', got 'hok'; did you",
        ),
        ({"lines.sling.length": "9 m", "lines.sling.law": "linear"}, "no longer than the distance of its ends"),
        ({"lines.sling.stifness": 3}, "lines.sling.stifness: no such key; did you mean 'stiffness'?"),
        ({"bodies.hook.mass": 0}, "bodies.hook.mass: expected a positive finite number"),
        ({"lines.hoist.drum_axis": [0, 1, 0]}, "lines.hoist.drum_axis: expected none where 'anchor' does not turn"),
        ({"lines.sling.end": "hook", "lines.sling.end_point": [0, 0, 0.2]}, "bodies.load: expected a line that"),
        (
            {"lines.sling.start": "load", "lines.sling.start_point": [0, 0, 0], "lines.sling.end_point": [0, 0, 0]},
            "a string from a point to itself",
        ),
        ({"initial.lines.hoist.deployed": "60 m"}, "deployed: expected at most 5.8 m"),
        ({"initial.bodies.load.positon": [0, 0, 1]}, "initial.bodies.load.positon: no such key"),
        ({"orbit.semi_major_axis": "6000 km"}, "orbit.semi_major_axis: expected an orbit above the ground"),
        ({"run.elements": 7}, "run.elements: expected none: every string has its own"),
        ({"bodies.hook.kind": "kinematic"}, "bodies.hook.shape: no such key"),
        ({"bodies.jib": "{shape='kinematic'}"}, "bodies.jib.kind: missing; expected kind = 'kinematic' and no shape"),
        ({"bodies.jib": "{path={kind='sine'}}"}, "bodies.jib.kind: missing; expected kind = 'kinematic'"),
        ({"bodies.jib.kind": "kinematc"}, "expected 'kinematic', or no such key for a body that moves freely, got"),
        ({"bodies.load.colour": 1}, "bodies.load.colour: no such key; expected one of shape, mass, radius"),
        ({"lines.sling.command.kind": "free"}, "expected none for a string without a reel"),
        ({"fluid.density": 1025, "fluid.volume": 1}, "fluid.volume: set it per body, under [bodies.NAME.fluid]"),
        ({"bodies.load.fluid.volume": 1}, "bodies.load.fluid: expected together with a fluid of the system"),
        ({"bodies.load.fluid.volum": 1}, "bodies.load.fluid.volum: no such key; did you mean 'volume'?"),
        (
            {"fluid.density": 1025, "bodies.load.fluid.body_height": 1},
            "bodies.load.fluid.body_height: expected together with fluid.surface",
        ),
        (
            {"run.stop": "[{variable='tension[slink, 0]', above=1}]"},
            "expected a whole number for the element or one of hoist, sling, got 'slink'; did you mean 'sling'?",
        ),
    ],
)
def test_wrong_files_are_refused_with_the_key(small: Path, changes: dict[str, Any], sentence: str) -> None:
    result = CliRunner().invoke(
        app, ["run", str(small), *[x for k, v in changes.items() for x in ("--set", f"{k}={v}")]]
    )
    assert result.exit_code == 2, result.output
    assert sentence in result.stderr
    assert "Traceback" not in result.output


@pytest.mark.parametrize(
    ("make", "sentence"),
    [
        (lambda: tl.System({}, {}), "System.lines: expected at least one line"),
        (lambda: tl.System({"box": BOX}, {"box": line()}), "got 'box' for a body and for a string"),
        (lambda: tl.System({"anchor": BOX}, {"s": line()}), "another name than 'anchor'"),
        (lambda: tl.System({"box": WRONG}, {"s": line()}), "System.bodies['box']: expected a RigidBody or a Kinematic"),
        (lambda: tl.System({"box": BOX}, {"s": line(start="box", end="anchor")}), "drum_axis: expected the axis"),
        (
            lambda: tl.System({"box": BOX}, {"s": line()}, orbit=tl.Orbit(7e6)),
            "expected a reel on a free body in an orbit",
        ),
        (
            lambda: tl.System({"box": BOX}, {"s": line(reel=None)}, orbit=tl.Orbit(7e6), fluid=tl.Fluid(1.2)),
            "fluid: expected none in an orbit",
        ),
        (
            lambda: tl.System(
                {"ship": tl.Kinematic()}, {"s": line(end="ship")}, applied_forces={"ship": tl.AppliedForce()}
            ),
            "bodies.ship.applied_force: expected none for a body whose motion is given",
        ),
        (lambda: tl.Line(ROPE, drum_axis=(0, 0, 1)), "none for a line without a reel"),
        (lambda: tl.Orbit(7e6, 1.2), "Orbit.eccentricity: expected less than 1"),
        (lambda: tl.Simulation(tl.System({"box": BOX}, {"s": line()}), tl.Placed()), "box: expected its position"),
        (
            lambda: tl.Simulation(
                tl.System({"box": BOX}, {"s": line()}), tl.Placed({"box": (0, 0, 1), "bix": (0, 0, 2)})
            ),
            "bodies.bix: no such name in the system; did you mean 'box'?",
        ),
    ],
)
def test_wrong_objects_are_refused(make: Any, sentence: str) -> None:
    with pytest.raises(InputError, match=re.escape(sentence)):
        make()


def test_forces_and_controllers() -> None:
    """A body without strings that pull: thrust in its own frame turns with it."""
    system = tl.System({"box": BOX}, {"s": line(reel=None)}, gravity=0.0)
    simulation = tl.Simulation(system, tl.Placed({"box": (0.0, 0.0, 0.5)}), step=1e-3)
    simulation.body.push(force=(0.0, 0.0, -0.4), frame="body")
    simulation.bodies["box"].push(moment=(0.0, 1e-3, 0.0))
    simulation.advance(0.5, sample=0.1)
    run = simulation.dataset()
    assert float(run.external_work[-1]) > 0.0
    assert run.attrs["balance_error"] < 1e-4
    with pytest.raises(tl.errors.InputError, match="bodies: expected one of box, got 'bix'"):
        simulation.bodies["bix"].push()

    seen = []

    def control(now: tl.Simulation) -> dict[str, float]:
        seen.append(now.lines["s"].deployed)
        return {"s": 5.0}

    hung = tl.System({"box": BOX}, {"s": line()})
    run = tl.simulate(hung, tl.Placed({"box": (0, 0, 3.1)}), control=control, period=0.1, duration=0.5, sample=0.05)
    assert len(seen) == 5
    check_close("torque", run.torque[1:, 0], np.full(10, 5.0), 0.0)


@pytest.mark.parametrize(
    ("command", "torque"),
    [
        (tl.Brake(50.0), 0.0),  # no motor
        (tl.Torque(3.0), 3.0),
        (tl.Torque(((0.0, 1.0), (3.0, 5.0))), 3.0),
        (tl.Free(), 0.0),
        (tl.Impedance(2.5, 100.0), 0.1 * 100.0 * (3.0 - 2.5)),  # radius times stiffness times stretch of the spring
    ],
)
def test_the_first_sample_has_the_torque_of_the_motor(command: tl.Command, torque: float) -> None:
    """By hand, on both backends; the next samples are near it."""
    system = tl.System({"load": BOX}, {"hoist": tl.Line(ROPE, end="load", reel=REEL, elements=3)})
    for backend in (chains.CHAIN, chains.NETWORK):
        with chains.on(backend):
            run = tl.simulate(system, tl.Straight(3.0), command, duration=0.002, sample=1e-3).torque[:, 0]
        assert float(run[0]) == pytest.approx(torque, abs=1e-12)
        assert float(run[1]) == pytest.approx(torque, abs=0.02)


def test_methods_that_a_network_does_not_have() -> None:
    system = tl.System({"box": BOX}, {"s": line(), "t": line(reel=None, start_point=(1, 0, 0))})
    start = tl.Placed({"box": (0, 0, 3.1)})
    for method, sentence in (
        ({"scheme": "paper"}, "scheme: expected 'symmetric'"),
        ({"at_end": "hold", "order": 4}, "order: expected 2 with at_end='hold'"),
        ({"order": 4}, "order: expected 2 with"),
    ):
        with pytest.raises(InputError, match=sentence):
            tl.Simulation(system, start, **method)


def test_a_held_body_moves_as_its_path_says(small: Path) -> None:
    case = tl.load(small)
    tree = case.to_dict()
    tree["bodies"]["jib"] = {"kind": "kinematic", "path": {"kind": "sine", "amplitude": [0.0, 0.0, 0.2], "period": 0.5}}
    tree["lines"]["hoist"]["start"] = "jib"
    run = tl.simulate(tl.Case.from_dict(tree))
    place = run.sel(body="jib").body_position.values[:, 2]
    assert np.ptp(place) > 0.1
    nodes = run.position.sel(node=run.node_line == "hoist").values[:, 0, 2]
    check_close("the hoist begins at the jib", nodes, place, 1e-12)
    assert run.attrs["balance_error"] < 1e-3
    assert abs(float(run.guide_work[-1])) > 1.0


def test_a_wire_between_two_anchors_needs_no_body(tmp_path: Path) -> None:
    wire = tl.System({}, {"wire": tl.Line(ROPE, end_point=(6.1, 0, 0), elements=4)})
    tl.run_to_file(tmp_path / "wire.nc", wire, tl.Placed(), duration=0.1, sample=0.01)
    run = tl.open_run(tmp_path / "wire.nc")
    assert run.attrs["status"] == "completed"
    assert "body_position" not in run
    assert float(run.position[-1, 2, 2]) > 0.0
    assert CliRunner().invoke(app, ["info", str(tmp_path / "wire.nc")]).exit_code == 0


def test_refusals_of_pure_numbers_have_no_unit() -> None:
    with pytest.raises(InputError, match=r"Orbit.eccentricity: expected a finite number of at least 0, got -0.1"):
        tl.Orbit("7000 km", eccentricity=-0.1)
