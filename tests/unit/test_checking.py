"""`tautline check`: forces by hand, and steps as a run then takes them."""

from __future__ import annotations

import math
from typing import Any

import pytest

import tautline as tl
from tautline.cli import ahead, checking
from tautline.engine.runner import Runner
from tautline.engine.simulation import runner_of
from tautline.files import scenario
from tests.support import chains

G = 9.81
# 500 kg on 0.322 in cable in the sea, with 2000 m in layers on the drum when 20 m are out
CTD = """
[string]
length = "2100 m"
density = "0.262 kg/m"
stiffness = "2.6 MN"
diameter = "8.2 mm"
viscosity = {viscosity}
[reel]
drum_radius = "0.4 m"
guide_length = "2 m"
inertia = "60 kg*m^2"
rope_diameter = "8.2 mm"
drum_width = "0.8 m"
[body]
shape = "sphere"
mass = "500 kg"
radius = "0.4 m"
center_of_mass = [0, 0, 0.6]
[fluid]
density = 1025
volume = "0.12 m^3"
drag_area = "0.5 m^2"
[initial]
kind = "hanging"
deployed = "{deployed} m"
[command]
{command}
[run]
duration = "{duration} s"
elements = {elements}
sample = "0.1 s"
"""
HOIST = 'kind = "length"\ntarget = "20 m"\nspeed = "2 m/s"\nacceleration = "1 m/s^2"'


def ctd(**changes: Any) -> tl.Case:
    values = {"viscosity": 0, "deployed": 60, "duration": 30, "elements": 10, "command": HOIST} | changes
    case: tl.Case = scenario.parse(CTD.format(**values))
    return case


@pytest.mark.parametrize("duration", [3, 300])
def test_a_target_beyond_the_string_is_told(duration: float) -> None:
    """Also where the run ends before the string does."""
    case = ctd(duration=duration, command=HOIST.replace("20 m", "3 km"))
    (move,) = case.commands.values()
    staged = case.with_({"command": tl.Sequence(tl.Stage(tl.Locked(), duration=1.0), move)})
    words = "line 'line' is to move to 3000 m, but reaches 2098 m at most"
    for one in (case, staged):
        (warning,) = (x for x in checking.facts(one)["warnings"] if x["kind"] == "target")
        assert warning == {"kind": "target", "text": words, "value": 3000.0, "limit": 2098.0, "where": "line"}
    assert all(x["kind"] != "target" for x in checking.facts(ctd(duration=3))["warnings"])


def test_what_buoyancy_lifts_is_not_a_negative_weight() -> None:
    rows = checking.rows(checking.facts(tl.load("aerostat", {"run.duration": "1 s"})))
    assert rows["body"].startswith("lifted by 2.25") and "kN, buoyancy less weight; at rest at (" in rows["body"]
    assert " less buoyancy; at rest" in rows["line"]


def test_calls_of_many_steps_are_bounded() -> None:
    """A call makes as many base steps as it is asked for, up to a bound of its work."""
    case = ctd()
    simulation = runner_of(case)
    simulation.begin(case.commands, 0.1, 0.1)
    look, made = ahead.Ahead(simulation, 1e-3, 30.0), []
    for most in (1, 4, 1_000_000):
        before, allowed = simulation.time, simulation.stepper.allowed_step()
        assert look.go_on(most)
        made.append(simulation.time - before)
    assert made[1] == pytest.approx(4.0 * made[0]) and made[2] > 10.0 * made[1]
    assert made[2] <= ahead.STEPS_A_CALL * allowed


def steps_of(built: tl.Case) -> int:
    run = chains.simulate(built)
    return int(run.attrs["steps"])


def test_forces_are_those_of_the_real_model() -> None:
    found = checking.facts(ctd(deployed=20, duration=1, command='kind = "locked"'))
    body = (500.0 - 1025.0 * 0.12) * G
    line = (0.262 - 1025.0 * math.pi * 0.0041**2) * G
    radius = math.sqrt(0.4**2 + 0.0082**2 / (math.pi * 0.8) * (2100.0 - 20.0 - 2.0))
    cable = found["lines"]["line"]
    assert found["bodies"]["body"]["weight"] == pytest.approx(body)
    assert cable["weight"] == pytest.approx(20.0 * line)
    assert cable["start_tension"] == pytest.approx(body + 20.0 * line)
    assert cable["end_tension"] == pytest.approx(body)
    assert cable["stretch"] == pytest.approx((body + 10.0 * line) * 20.0 / 2.6e6)
    assert cable["drum_radius"] == pytest.approx(radius)
    assert radius > 1.15 * 0.4
    # but for the strain's half and the spooled cable's weight out of balance
    assert cable["holding_torque"] == pytest.approx((body + 20.0 * line) * radius, rel=5e-3)


def test_forces_of_several_lines_are_told_by_name() -> None:
    """Hook and load by hand; a rope that would break at rest is warned of; an orbit has no rest."""
    found = checking.facts(tl.load("hook-and-load", {"lines.hoist.breaking_load": "20 kN"}))
    hoist, sling = found["lines"]["hoist"], found["lines"]["sling"]
    assert hoist["start_tension"] == pytest.approx(G * 2348.0) and sling["end_tension"] == pytest.approx(G * 2000.0)
    assert sling["holding_torque"] is None and hoist["utilization"] == pytest.approx(G * 2348.0 / 20e3)
    lines = checking.rows(found)
    assert "at rest 23.03 kN at jib and 22.64 kN at hook" in lines["line hoist"]
    assert lines["body load"].startswith("19.62 kN; at rest at")
    assert "line 'hoist' bears 1.15 times its breaking load at rest" in lines["warning"]
    assert lines["line hoist"].endswith("115 % of the breaking load")
    weak = checking.rows(checking.facts(tl.load("hook-and-load", {"lines.hoist.breaking_load": 1e-6})))
    assert weak["line hoist"].endswith("2.3e12 % of the breaking load") and "2.3e10 times its" in weak["warning"]
    assert "orbit" in checking.rows(checking.facts(tl.load("tethered-satellites")))["at rest"]
    upright = tl.load("tethered-satellites", {"initial.frame": "inertial"})
    assert "leave the local vertical; initial.frame" in checking.rows(checking.facts(upright))["note"]
    assert "note" not in checking.rows(checking.facts(tl.load("tethered-satellites")))
    assert "nothing pulls" in checking.rows(checking.facts(tl.load("thrown-bodies")))["at rest"]


@pytest.mark.parametrize(
    "built",
    [
        ctd(),
        ctd(viscosity=4000, duration=3, command='kind = "locked"', deployed=20),
        ctd(deployed=20, command='kind = "free"', duration=5),
        tl.load("crane-hoist"),
        tl.load("yo-yo"),
        tl.load("thrown-bodies"),
        tl.load("hook-and-load", {"run.duration": "12 s"}),
    ],
    ids=["driven", "damped", "free", "crane", "yo-yo", "thrown bodies", "hook and load"],
)
def test_steps_are_those_that_a_run_takes(built: tl.Case) -> None:
    found = checking.facts(built)
    assert found["steps"] == pytest.approx(steps_of(built), rel=0.2)
    assert found["steps_are_complete"]
    assert 0.0 < found["wall_time"] < 60.0


def test_the_limit_that_governs_is_named() -> None:
    waves = checking.facts(ctd(duration=25))
    name = "waves in the elements of the string"
    assert waves["governs"] == waves["governs_at_shortest"] == name
    assert waves["shortest"]["line"] == pytest.approx(20.0, abs=0.01)
    assert waves["longest"]["line"] == pytest.approx(60.0)
    # the step falls with the length, here from 60 m to 20 m, and damping does not change it
    limits = [waves[each][name] for each in ("step_limits", "step_limits_at_shortest")]
    assert limits[0] / limits[1] == pytest.approx(3.0, rel=1e-3)
    damped = checking.facts(ctd(viscosity=4e6, duration=25))
    assert damped["step_limits"] == waves["step_limits"]
    one = checking.facts(ctd(elements=1, duration=25))
    assert one["governs"] == "stretching of the string as a whole"
    lines = checking.rows(damped)
    assert name in lines["step when shortest"] and "start-up not counted" in lines["wall time"]


def test_a_given_step_that_gets_too_long_is_told() -> None:
    """The built-in retrieval is stopped by the paper's step before 12 s."""
    step = {"run.step": "0.5 ms"}
    built = tl.load("retrieval", {"run.duration": "12 s", **step})
    assert "will stop" in checking.rows(checking.facts(built))["warning"]
    assert "warning" not in checking.rows(checking.facts(tl.load("retrieval", step)))


def test_an_early_end_and_a_fold_are_told() -> None:
    case = tl.load("retrieval", {"run.minimum_length": "5 m"})
    found, run = checking.facts(case), chains.simulate(case)
    assert "fully_retrieved" in checking.rows(found)["ends early"] and checking.verdict(found) == "valid, ends early"
    assert found["end_is_certain"] and found["expected_status"] == run.attrs["status"]
    assert found["ends_at"] == pytest.approx(run.attrs["end_time"], rel=1e-6)
    text = CTD.format(viscosity=0, deployed=60, duration=1, elements=4, command='kind = "locked"')
    text = text.replace('kind = "hanging"', 'kind = "straight"').replace("0.12 m^3", "0.49 m^3")
    folded = checking.facts(scenario.parse(text))
    lift = (1025.0 * 0.49 - 500.0) * G
    assert folded["lines"]["line"]["end_tension"] == pytest.approx(lift)
    assert folded["bodies"]["body"]["weight"] == pytest.approx(-lift)


def test_a_cable_that_crosses_the_surface_is_balanced() -> None:
    """No closed form: figures of the equilibrium, by hand the weight less what is displaced."""
    text = CTD.format(viscosity=0, deployed=20, duration=1, elements=10, command='kind = "locked"')
    text = text.replace("density = 1025\n", "density = 1025\nsurface = 12\n").replace('"hanging"', '"equilibrium"')
    found = checking.facts(scenario.parse(text))
    by_hand = G * (500.0 - 1025.0 * 0.12 + 0.262 * 20.0 - 1025.0 * math.pi * 0.0041**2 * 8.0)
    assert found["lines"]["line"]["start_tension"] == pytest.approx(by_hand, rel=1e-4)
    assert f"{by_hand / 1e3:.4g} kN at the guide" in checking.rows(found)["line"]


@pytest.mark.long
def test_a_line_that_is_too_short_for_its_command_ends_the_run_early() -> None:
    """As a run then does."""
    plan = {"lines.north-east.command.target": "15 m", "lines.north-east.command.speed": "2 m/s"}
    case = tl.load("cable-robot", plan)
    found = checking.facts(case)
    said = checking.rows(found)["ends early"]
    run = chains.simulate(case)
    assert run.attrs["status"] == "fully_deployed"
    assert found["ending_line"] == "north-east" and found["expected_status"] == "fully_deployed"
    assert found["ends_at"] == pytest.approx(float(run.time[-1]), abs=0.03)
    assert said.startswith("about t = ") and said.endswith("s: line 'north-east' is fully deployed")
    assert "ends early" not in checking.rows(checking.facts(tl.load("cable-robot")))


def test_the_end_of_a_coarse_run_is_not_foretold() -> None:
    """A look at wide intervals once ended by its own steps; the run itself goes on for ever."""
    found = checking.facts(tl.load("fixed-length", {"run.duration": "1e8 s", "run.sample": "1 s"}))
    assert found["expected_status"] == "completed"
    assert not {"ends early", "may end early"} & checking.rows(found).keys()


@pytest.mark.parametrize(
    "guide",
    [
        {"guide.peak_period": "10 ms"},
        pytest.param({"guide.peak_period": "1 ms", "guide.components": 10_000}, marks=pytest.mark.long),
        {"guide": {"kind": "sine", "amplitude": "1 m", "period": "8 s", "ramp": "5e-5 s"}},
    ],
    ids=["waves", "many sines", "short ramp"],
)
def test_motions_of_many_periods_are_looked_at_in_part(guide: dict[str, Any], monkeypatch: pytest.MonkeyPatch) -> None:
    """Work is counted, and what was not looked at is told."""
    monkeypatch.setattr(ahead, "MOST_TERMS", ahead.MOST_TERMS // 10)
    case = tl.load("ship-crane", guide)
    path = case.system.bodies["ship"].path
    sines = ahead.sines_of(path)
    assert sines is not None
    until = ahead.windows(path, case.run.duration)[-1]
    assert until < case.run.duration
    assert until / sines.spacing * len(sines.omega) <= (1.0 + 1e-9) * ahead.MOST_TERMS
    lines = checking.rows(checking.facts(case))
    assert f"in the first {until:.3g} s" in lines["motion of the ship"]


def test_motions_of_too_many_periods_in_a_step_are_refused_as_by_a_run() -> None:
    case = tl.load("ship-crane", {"guide.peak_period": "1 us", "guide.components": 10_000})
    for look in (checking.facts, tl.simulate):
        with pytest.raises(tl.errors.InputError, match="expected at most 4000 periods over a step"):
            look(case)


def test_steps_that_cannot_be_counted_are_refused_as_by_a_run() -> None:
    """A slack cord counts as if it held the bodies against their weight, so steps get short with gravity."""
    case = tl.load("thrown-bodies", {"gravity": 1e50})
    for look in (checking.facts, tl.simulate):
        with pytest.raises(tl.errors.InputError, match=r"run\.sample: expected fewer than 2\^53 steps in 0\.025 s"):
            look(case)


def test_an_end_in_the_first_step_is_told() -> None:
    case = tl.load("thrown-bodies", {"lines.cord.command": {"kind": "torque", "torque": -37302}})
    found = checking.facts(case)
    assert found["expected_status"] == chains.simulate(case).attrs["status"] != "completed"
    assert {"ends early", "may end early"} & checking.rows(found).keys()


@pytest.mark.parametrize("name", ["fixed-length", pytest.param("thrown-bodies", marks=pytest.mark.long)])
def test_runs_of_more_steps_than_can_be_counted_are_looked_at(name: str) -> None:
    """On both backends; halvings of a step are bounded, so a run that needs more of them ends at once."""
    for gravity in (1e20, 1e28):
        case = tl.load(name, {"gravity": gravity})
        found, run = checking.facts(case), tl.simulate(case)
        assert found["expected_status"] == run.attrs["status"] == "unstable_step"
        assert found["ends_at"] == run.time[-1] == 0.0 and found["steps"] == 0 and found["end_is_certain"]
        assert "ends early" in checking.rows(found) and "looked ahead" not in checking.rows(found)


def test_an_end_that_was_not_found_is_not_promised() -> None:
    """The body outruns the waves of the string, which a run with few elements does not show."""
    case = tl.load("deployment", {"initial.end_velocity": (0.0, 9340.0, 0.0)})
    found = checking.facts(case)
    assert tl.simulate(case).attrs["status"] == "reel_outruns_waves"
    assert found["expected_status"] == "completed" and not found["end_is_certain"]
    assert "looked ahead" in checking.rows(found)


@pytest.mark.parametrize(
    ("name", "changes"),
    [
        (
            "cable-robot",
            {
                "lines.north-west.command": {
                    "kind": "impedance",
                    "length": 6.76e-7,
                    "stiffness": 436416939,
                    "damping": 1.3e-7,
                }
            },
        ),
        ("tethered-satellites", {"initial.bodies.probe.position": [0, 0, 1.1e8]}),
    ],
)
def test_steps_of_a_look_are_counted(name: str, changes: dict[str, Any], monkeypatch: pytest.MonkeyPatch) -> None:
    """However small they are, and though a single sample of the run would have millions."""
    seen = []
    march = Runner.march

    def counted(self: Runner[Any], rows: int, plan: Any) -> Any:
        before = self.steps
        found = march(self, rows, plan)
        seen.append(self.steps - before)
        return found

    monkeypatch.setattr(Runner, "march", counted)
    case = tl.load(name, changes)
    steps = checking.facts(case)["steps"]
    assert steps > 1e6 and 0 < max(seen) <= 32 * ahead.STEPS_A_CALL
