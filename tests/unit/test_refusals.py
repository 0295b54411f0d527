"""Tables of what runs where and what cannot be had: each row by a case, and the page that prints them."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import tautline as tl
from tautline.engine.choose import ABILITIES, CHAIN, GIVEN_MOTION, NETWORK, backend_for
from tautline.engine.saving import taken
from tautline.errors import InputError
from tautline.model import refusals
from tautline.model.refusals import REFUSALS, Refusal
from tests.support.code_tables import code_tables
from tests.support.leaning_ball import leaning_ball

ROOT = Path(__file__).parents[2]
STRING, BODY = tl.String(10.0, 0.05, 300.0, law="linear"), tl.RigidBody.box(1.0, (0.2, 0.2, 0.2), (0.0, 0.0, 0.1))
REEL = tl.Reel(0.2, 0.5, 0.5)
PENDULUM, START = tl.pendulum(STRING, REEL, BODY, elements=2), tl.Straight(4.0)
LINE = tl.Line(STRING, end="body", reel=REEL, elements=2)
FREE = {"a": BODY, "b": BODY}
ORBIT = tl.Orbit("7000 km")
PLACED = tl.Placed({"a": (0.0, 0.0, 0.0), "b": (10.0, 0.0, 0.0)})
EYE = tl.Pin((1.0, 0.0, 0.0))
PLACED_BODY = tl.Placed({"body": (0.0, 0.0, 4.1)})
SLIPPERY = tl.Sheave((1.0, 0.0, 0.0), 0.1, (0, 1, 0), inertia_mass=1.0, groove_friction=0.1)
SEQUENCE = tl.Sequence(tl.Stage(tl.Free(), until="0.005 s"), tl.Locked())
REEVED_START = tl.Placed({"body": (1.0, 0.0, 3.0)})
SATELLITES = tl.System(FREE, {"tether": tl.Line(STRING, start="a", end="b", elements=2)}, orbit=ORBIT)


def reeved() -> tl.System:
    """A line that runs over an eye."""
    return system(dataclasses.replace(LINE, over={"eye": EYE}))


def system(line: tl.Line = LINE, **bodies: Any) -> tl.System:
    return tl.System({"body": BODY, **bodies}, {"line": line})


def whirling() -> tl.System:
    """A line from a body that turns."""
    return system(dataclasses.replace(LINE, start="arm"), arm=tl.Kinematic(turning=tl.motions.Spin((0.0, 0.0, 1.0))))


def run(what: Any = PENDULUM, start: Any = START, command: Any = (), **method: Any) -> Any:
    return tl.simulate(what, start, command or {}, duration=0.01, **method)


def saved(command: Any = None, stop: Any = (), loads: Any = ()) -> None:
    simulation = tl.Simulation(PENDULUM, START, stop=stop, loads=loads)
    simulation.advance(1e-3, command)
    simulation.save("never.npz")


def nothing(t: float, given: tl.ForceState, own: Any, force: Any, moment: Any) -> None:
    """A law that does nothing."""


def constant(t: float) -> float:
    return 0.1


def winged(flow: Any = (0.0, 0.0, 0.0)) -> tl.System:
    """A body with a wing on the line."""
    box = tl.RigidBody.box(2.0, (0.2, 0.3, 0.4), (0.0, 0.0, 0.2))
    fluid = tl.Fluid(1.2, flow, wing_area=0.1, wing_lift=1.0, wing_drag=0.1)
    return tl.pendulum(STRING, REEL, box, fluid=fluid, elements=2)


REFUSED: dict[Refusal, Callable[[], Any]] = {
    refusals.PAPER_SCHEME: lambda: tl.simulate(tl.load("hook-and-load"), scheme="paper"),
    refusals.PAPER_ORDER: lambda: run(command=tl.Torque(0.1), scheme="paper", order=4),
    refusals.LOADED_ORDER: lambda: run(
        tl.pendulum(dataclasses.replace(STRING, viscosity=1.0), REEL, BODY, elements=2), order=4
    ),
    refusals.STICKING_ORDER: lambda: run(command=tl.Brake(0.1), order=4),
    refusals.LAW_ORDER: lambda: run(
        tl.pendulum(STRING, dataclasses.replace(REEL, guide_law="stretched"), BODY, elements=2), order=4
    ),
    refusals.ORBIT_FLUID: lambda: dataclasses.replace(SATELLITES, fluid=tl.Fluid(1.0)),
    refusals.ORBIT_REEL: lambda: tl.System({"body": BODY}, {"line": LINE}, orbit=ORBIT),
    refusals.ORBIT_REST: lambda: tl.statics(SATELLITES, PLACED),
    refusals.SAVED_TORQUE: lambda: saved(tl.Torque(constant)),
    refusals.SAVED_CONDITION: lambda: saved(stop=tl.StopWhen(lambda sim: False)),
    refusals.SAVED_FORCE_LAW: lambda: saved(loads=tl.ForceLaw(nothing)),
    refusals.TORQUE_DERIVATIVE: lambda: tl.jacobian(
        tl.Case(PENDULUM, START, tl.Torque(constant), tl.Run(duration=0.01)), ["energy"], by=["body.mass"]
    ),
    refusals.SEQUENCE_PIECES: lambda: tl.gradients.linearize(tl.Case(PENDULUM, START, SEQUENCE, tl.Run(duration=0.01))),
    refusals.MOVING_REST_DERIVATIVE: lambda: tl.jacobian(
        tl.Case(PENDULUM, tl.Hanging(4.0, reel_speed=0.1), tl.Free(), tl.Run(duration=0.01)),
        ["energy"],
        by=["body.mass"],
    ),
    refusals.HELD_SPIN_DERIVATIVE: lambda: tl.jacobian(leaning_ball(), ["energy"], by=["lines.tail.start_point[1]"]),
    refusals.SEQUENCE_FMU: lambda: tl.export_fmu(
        tl.Case(PENDULUM, START, SEQUENCE, tl.Run(duration=0.01)), "never.fmu", commands={"line": "case"}
    ),
    refusals.REEVED_MODES: lambda: tl.modes(
        system(dataclasses.replace(LINE, end_point=(0.1, 0.0, 0.0), end_reel=REEL, end_drum_axis=(0, 1, 0))),
        tl.Placed({"body": (0.0, 0.0, 3.0)}),
        reel="free",
    ),
    refusals.DIRECTED_MODES: lambda: tl.modes(winged((1.0, 0.0, 0.0)), tl.Hanging(4.0)),
    refusals.REEVED_LAW: lambda: run(reeved(), REEVED_START, loads={"line": tl.ForceLaw(nothing)}),
    refusals.SLIP_STATES: lambda: tl.gradients.linearize(
        tl.Case(system(dataclasses.replace(LINE, over={"wheel": SLIPPERY})), REEVED_START, {}, tl.Run(duration=0.01))
    ),
    refusals.TURNING_REST: lambda: tl.statics(whirling(), PLACED_BODY, time=1.0),
    refusals.FMU_TURNING: lambda: tl.export_fmu(
        tl.Case(whirling(), PLACED_BODY, {}, tl.Run(duration=1.0)), "never.fmu"
    ),
    refusals.COMPARED_SYSTEM: lambda: tl.reference.integrate(
        dataclasses.replace(SATELLITES, orbit=None), PLACED, {}, duration=0.1, sample=0.1
    ),
}


@pytest.mark.parametrize("refusal", REFUSALS, ids=lambda x: x.what)
def test_what_cannot_be_had_is_refused_by_name(refusal: Refusal) -> None:
    with pytest.raises(InputError) as caught:
        REFUSED[refusal]()
    message = str(caught.value)
    assert f"{refusal.key}: expected {refusal.expected.partition('{')[0]}" in message
    assert message.endswith(f"; {refusal.reason}") and ",," not in message


def apart() -> tl.State:
    """The start with a body that is beside the end of the line, as after many steps."""
    state = tl.Case(PENDULUM, START, {}, tl.Run(duration=1.0)).state()
    body = dataclasses.replace(state.bodies["body"], position=(0.0, 0.0, 4.1 + 1e-10))
    return tl.State({"body": body}, dict(state.lines))


# What a case has that only one backend can run, by the words of the table.
ASKED: dict[str, Callable[[], tuple[Any, Any]]] = {
    "more than one line or free body": lambda: (dataclasses.replace(SATELLITES, orbit=None, gravity=0.0), PLACED),
    "a line that is not fastened by its end to the origin of the body's frame": lambda: (
        system(dataclasses.replace(LINE, end_point=(0.1, 0.0, 0.0))),
        tl.Hanging(4.0),
    ),
    "a kinematic body that carries nothing": lambda: (system(ship=tl.Kinematic()), tl.Hanging(4.0)),
    "a kinematic body that turns, or is turned": lambda: (whirling(), tl.Hanging(4.0)),
    "a body whose drag, added mass or lift has a direction": lambda: (winged(), tl.Hanging(4.0)),
    "a line without a reel": lambda: (system(dataclasses.replace(LINE, reel=None)), tl.Hanging({})),
    "a state whose line ends beside its guide or body, by more than rounding": lambda: (PENDULUM, apart()),
}


@pytest.mark.parametrize("what", ASKED)
def test_the_network_runs_what_the_table_says(what: str) -> None:
    parts, start = ASKED[what]()
    assert run(parts, start).attrs["status"] == "completed"
    case = tl.Case(parts, start, {}, tl.Run(duration=1.0))
    first = next(x for x in ABILITIES if x.asks and x.asks(case))
    assert first.what == what and backend_for(case) == first.by == NETWORK


def test_each_row_of_the_table_is_tried() -> None:
    """Those of systems here; an orbit always has two bodies or no reel; pushes and paths where they are tested."""
    others = {"an orbit", "sheaves and pins, a reel at the end of a line, reels on a shaft", 'scheme `"paper"`'}
    others.add(GIVEN_MOTION.what)  # below
    assert {x.what for x in ABILITIES if x.asks} == ASKED.keys() | others
    assert backend_for(tl.Case(PENDULUM, START, {}, tl.Run(duration=1.0))) == CHAIN
    simulation = tl.Simulation(PENDULUM, START)
    assert taken(simulation.runner)[1].count('"chain"') == 1
    simulation.body.push((1.0, 0.0, 0.0))
    assert taken(simulation.runner)[1].count('"network"') == 1
    assert {x.what for x in ABILITIES if x.by == NETWORK and not x.asks} == {
        "`push` on a body",
        "`move` of a kinematic body that has a path",
        "`move` of a kinematic body with an angular velocity",
    }


def test_the_network_gives_a_drum_its_motion_that_remembers() -> None:
    """From the start, as a stage of a sequence, and in the middle of a motion, which goes on as it was."""
    parts = tl.pendulum(STRING, dataclasses.replace(REEL, guide_law="stretched"), BODY, elements=2)
    paid_out, run_ = tl.Speed(payout=0.1), tl.Run(duration=1.0)
    staged = tl.Sequence(tl.Stage(tl.Torque(1.0), until=0.5), paid_out)
    for command, backend in ((tl.Torque(1.0), CHAIN), (tl.Locked(), CHAIN), (paid_out, NETWORK), (staged, NETWORK)):
        assert backend_for(tl.Case(parts, START, command, run_)) == backend
    simulation, other = (tl.Simulation(parts, START, step=1e-3) for _ in range(2))
    for each in (simulation, other):
        each.advance(0.02, tl.Torque(1.0))
    assert simulation.backend.NAME == CHAIN
    energy, lost = simulation.energy, simulation.dataset().guide_loss[-1]
    simulation.advance(0.01, {"line": paid_out})
    assert simulation.backend.NAME == NETWORK and simulation.line.speed == pytest.approx(-0.1)
    assert energy == pytest.approx(other.energy) and simulation.dataset().guide_loss[-1] > lost
    plain = tl.Simulation(PENDULUM, START, step=1e-3)
    plain.advance(0.01, paid_out)
    assert plain.backend.NAME == CHAIN


def test_the_page_prints_both_tables() -> None:
    page = (ROOT / "docs/howto/systems.md").read_text(encoding="utf-8")
    assert "```{include} ../generated/backends.md" in page
    rows = code_tables().backends().splitlines()
    for ability in ABILITIES:
        assert sum(row.startswith(f"| {ability.what} |") and ability.otherwise in row for row in rows) == 1
    for refusal in REFUSALS:
        assert f"| {refusal.what} | {refusal.reason} |" in rows
