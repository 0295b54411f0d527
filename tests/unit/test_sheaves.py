"""Lines over sheaves and pins: the model, its keys, and what it refuses."""

from __future__ import annotations

import dataclasses
import json
import math
import tomllib
from typing import Any

import numpy as np
import pytest

import tautline as tl
from tautline.analysis.bending import cycles_of
from tautline.cli.checking import of_spans, wheel_notes
from tautline.errors import InputError
from tautline.files import scenario
from tautline.model.rest.falls import behind_over_ahead, falls_of

ROPE = tl.String(60.0, 2.0, 20e6, law="linear")
SHEAVE = tl.Sheave((0.0, 0.0, 0.0), "25 cm", (0, 2, 0), on="block", inertia="0.4 kg*m^2", efficiency=0.98)
REEL = tl.Reel(0.3, 0.5, inertia=9.0)
BLOCK = tl.RigidBody.box(250.0, (0.6, 0.4, 0.8), (0.0, 0.0, 0.4))
HOIST = tl.Line(
    ROPE,
    start_point=(-0.4, 0.0, 0.0),
    end_point=(0.4, 0.0, 0.0),
    reel=REEL,
    over={"lower": SHEAVE},
    elements=3,
)
CRANE = tl.System({"block": BLOCK}, {"hoist": HOIST})
START = tl.Placed({"block": (0.0, 0.0, 10.4)})


def case(system: tl.System = CRANE, start: Any = START, commands: Any = None) -> tl.Case:
    return tl.Case(system, start, commands or {}, tl.Run(duration=1.0))


def hoist(**changes: Any) -> tl.System:
    return dataclasses.replace(CRANE, lines={"hoist": dataclasses.replace(HOIST, **changes)})


def test_a_sheave_takes_its_points_from_its_diameter() -> None:
    (wheel,) = CRANE.wheels("hoist")
    assert wheel.entrance == (-0.25, 0.0, 0.0) and wheel.exit == (0.25, 0.0, 0.0)
    assert wheel.axis == pytest.approx((0.0, -1.0, 0.0))  # under the wheel rope to the start turns it so
    assert wheel.wrap == pytest.approx(math.pi * 0.25) and wheel.inertia_mass == pytest.approx(6.4)
    over = dataclasses.replace(SHEAVE, side="over").wheel("x", "y", True, False)
    assert over.axis == (0.0, 1.0, 0.0) and over.entrance == wheel.entrance
    quarter = tl.Sheave((0, 0, 0), 1.0, (0, 1, 0), entrance=(-1, 0, 0), exit=(0, 0, -1)).wheel("x", "y", False, False)
    assert quarter.wrap == pytest.approx(0.5 * math.pi)  # right-handed about the axis, from exit to entrance
    other = tl.Sheave((0, 0, 0), 1.0, (0, -1, 0), entrance=(-1, 0, 0), exit=(0, 0, -1), turns=1)
    assert other.wheel("x", "y", False, False).wrap == pytest.approx(3.5 * math.pi)


def test_spans_are_evenly_strained_and_pass_rope_evenly() -> None:
    places = {"block": tl.BodyState((0.3, 0.0, 8.4), (0.0, 0.0, 0.6))}
    state = case(start=tl.Placed(places, {"hoist": tl.LineStart(16.0, -1.2)})).state()
    own = state.lines["hoist"]
    ends = own.nodes.reshape(2, 4, 3)
    distances = np.linalg.norm(ends[:, -1] - ends[:, 0], axis=1)
    strains = distances / own.span_lengths - 1.0
    assert strains[0] == pytest.approx(strains[1], abs=1e-12) and own.span_lengths.sum() == pytest.approx(16.0)
    assert own.reeled_length == pytest.approx(60.0 - 16.0 - math.pi * 0.25)
    rates = np.array([own.passing[0] - own.reel_speed, -own.passing[0]])  # of the lengths of the spans
    moved = np.array([(e[-1] - e[0]) @ (0.0, 0.0, 0.6) for e in ends]) / distances * [1.0, -1.0]
    np.testing.assert_allclose(rates / own.span_lengths - moved / distances, np.ptp([0.0]), atol=2e-3)
    assert state.elements() == {"hoist": 3}


def test_a_case_survives_files() -> None:
    pair = hoist(
        over={"lower": SHEAVE, "eye": tl.Pin((0.0, 0.0, -0.2), friction=0.1, turns=1)},
        end_reel=tl.Reel(0.2, 0.1, inertia=9.0, shaft="winch", sense=-1),
        reel=dataclasses.replace(REEL, shaft="winch"),
        end_point=(0.4, 0.0, 0.1),
    )
    one = case(pair, commands={"hoist": tl.Torque(3.0), "hoist.lower": tl.Brake(2.0)})
    for again in (one, case(pair, one.state(), one.commands)):
        read = scenario.parse(again.to_toml())
        assert read == again and dict(read.commands) == dict(one.commands)
        assert tl.Case.from_dict(json.loads(json.dumps(again.to_dict()))) == again
    other = one.with_({"lines.hoist.over.lower.radius": "30 cm", "lines.hoist.over.eye.friction": 0.2})
    wheels = other.system.wheels("hoist")
    assert wheels[0].radius == 0.3 and wheels[1].friction == 0.2
    assert "lower" in tomllib.loads(one.to_toml())["lines"]["hoist"]["over"]
    assert one.with_(commands={}).to_toml().count("command") == 0


WRONG = {
    "lines.hoist.over.lower.on": ("blok", "expected one of 'anchor', 'block', got 'blok'; did you mean 'block'?"),
    "lines.hoist.over.lower.wrap": (100.0, "expected less rope on sheaves than the string has (60 m), got 100 m"),
    "lines.hoist.over.lower.bearing_friction": (-1.0, "expected a finite number of at least 0, got -1.0"),
    "lines.hoist.over.lower.efficiency": (1.2, "expected a number above 0, at most 1, got 1.2"),
    "lines.hoist.over.lower.axis": ([0.0, 0.0, 0.0], "expected a vector that is not zero, got [0.0, 0.0, 0.0]"),
    "lines.hoist.over.lower.radios": (1.0, "no such key"),
    "lines.hoist.over.lower.exit": ([0.0, 0.0, 0.0], "expected entrance and exit together, got it alone"),
    "lines.hoist.over.lower.entrance": ([0.2, 0.0, 0.0], "expected entrance and exit together, got it alone"),
    "lines.hoist.over.lower.command": ({"kind": "spin"}, "expected one of"),
    "lines.hoist.reel.sense": (-1, "expected 1 for a reel without a shaft, got -1"),
}


@pytest.mark.parametrize("key", WRONG)
def test_a_wrong_key_is_named(key: str) -> None:
    value, sentence = WRONG[key]
    with pytest.raises(InputError) as caught:
        case().with_({key: value})
    name, _, words = str(caught.value).partition(": ")
    assert name in (key, f"{key}.kind") and sentence in words


@pytest.mark.parametrize(
    ("place", "noted"), [((-3.0, 0.0, 0.0), True), ((-0.4, 2.0, 0.0), True), ((-0.41, 0.0, 0.0), False)]
)
def test_check_notes_rope_that_meets_a_wheel_far_from_its_rim(place: tuple[float, float, float], noted: bool) -> None:
    case = tl.load("gantry")
    notes = wheel_notes(case.with_({"lines.hoist.over.left.entrance": place}).system)
    assert [x.startswith("lines.hoist.over.left.entrance is ") for x in notes] == [True] * noted
    assert wheel_notes(case.system) == []


HOOK = scenario.read(scenario.find("hook-block-2"))
ALONE = (
    "my.toml:6: bodies.block: expected a line that starts or ends on it or runs over a sheave or pin on it, got none; "
    "lines.hoist.over.lower would touch it with on = 'block'"
)
APART = ('["-0.25 m", 0, 0]', '["-3 m", 0, "-2 m"]')


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ([('on = "block"\n', "")], ALONE),
        ([('on = "block"\n', ""), APART], ALONE),
        ([('radius = "0.25 m"\n', "")], "my.toml:29: lines.hoist.over.lower.radius: missing"),
        (
            [("over.lower]", "over.0]")],
            "my.toml:29: lines.hoist.over.0: expected names of letters, digits, - and _ that begin",
        ),
        (
            [("efficiency = 0.98", 'efficiency = "97 %"')],
            "efficiency: expected a number, got '97 %'; write 0.97, a ratio",
        ),
    ],
)
def test_mistakes_with_sheaves_in_a_file(changes: list[tuple[str, str]], words: str) -> None:
    text = HOOK
    for old, new in changes:
        assert old in text
        text = text.replace(old, new, 1)
    with pytest.raises(InputError) as caught:
        scenario.parse(text, "my.toml").state()
    assert words in str(caught.value)


def test_ratios_in_python_are_no_percentages() -> None:
    with pytest.raises(InputError, match=r"Sheave.efficiency: .* got '97 %'; write 0.97, a ratio"):
        dataclasses.replace(SHEAVE, efficiency="97 %")


TOGETHER: dict[str, Any] = {
    "lines.hoist.over.other: expected a wheel for each rope, side by side, got the place of 'hoist.lower'": lambda: (
        hoist(over={"lower": SHEAVE, "other": dataclasses.replace(SHEAVE, entrance=(0, 0, 0.25), exit=(0.25, 0, 0))})
    ),
    "Line.over.lower: expected a wheel with inertia or rope on it (wrap above 0), got neither": lambda: hoist(
        over={"lower": dataclasses.replace(SHEAVE, inertia_mass=0.0, wrap=0.0)}
    ),
    "lines.hoist.over.lower: expected two different points, got a string from a point to itself": lambda: hoist(
        end="block", end_point=(0.25, 0.0, 0.0)
    ),
    "lines.hoist.over.lower: expected ends apart from each other, got both at one place": lambda: case(
        hoist(end_point=(0.25, 0.0, 10.0))
    ).state(),
    "lines.hoist.over.lower.center: expected (0, 0, 0) of 'block', a point mass that has no lever, got": lambda: (
        tl.System(
            {"block": tl.RigidBody.point(3.0)},
            {"hoist": dataclasses.replace(HOIST, over={"lower": dataclasses.replace(SHEAVE, center=(0, 0, 1))})},
        )
    ),
    "lines.hoist.end_reel.inertia: expected 9 kg m^2, that of the shaft 'winch' as lines.hoist has it, got 8": lambda: (
        hoist(reel=dataclasses.replace(REEL, shaft="winch"), end_reel=tl.Reel(0.2, 0.1, inertia=8.0, shaft="winch"))
    ),
    "commands.hoist.eye: expected none for a pin, which does not turn, got Torque": lambda: case(
        hoist(over={"eye": tl.Pin((0, 0, 0), on="block")}), commands={"hoist.eye": tl.Torque(1.0)}
    ),
    "lines.hoist.over.upper: no such name in the line": lambda: case(commands={"hoist.upper": tl.Free()}),
    "lines.lower: no such name in the system; did you mean 'hoist.lower'?": lambda: case(commands={"lower": tl.Free()}),
    "Straight: only for a line that runs over no sheaves": lambda: case(hoist(end="block"), tl.Straight(5.0)).state(),
}


@pytest.mark.parametrize("sentence", TOGETHER)
def test_what_does_not_go_together_is_refused(sentence: str) -> None:
    with pytest.raises(InputError) as caught:
        TOGETHER[sentence]()
    assert sentence in str(caught.value)


def test_a_sheave_may_have_the_name_of_a_line() -> None:
    named = case(hoist(over={"hoist": SHEAVE}), commands={"hoist": tl.Torque(1.0)})
    assert named.commands["hoist"] == tl.Torque(1.0)


def test_a_sheave_on_a_point_mass_has_both_falls_at_it() -> None:
    system = dataclasses.replace(CRANE, bodies={"block": tl.RigidBody.point(250.0)})
    (wheel,) = system.wheels("hoist")
    assert wheel.entrance == wheel.exit == (0.0, 0.0, 0.0) and wheel.wrap == pytest.approx(math.pi * 0.25)


LIGHT = tl.String(60.0, 1e-3, 1e5, law="tension_only")

# -- rest ----------------------------------------------------------------------------------------------------


def falls(count: int, density: float = 2.0) -> tl.System:
    """A block of 1 t on so many falls 0.4 m apart, with sheaves on the block and at the boom in turn."""
    places = [0.4 * k - 0.2 * (count - 1) for k in range(count)]
    over = {
        f"s{k}": tl.Sheave((places[k] + 0.2, 0, 0), 0.2, (0, 1, 0), on=("block", "anchor")[k % 2], inertia=0.1)
        for k in range(count - 1)
    }
    line = tl.Line(
        tl.String(80.0, density, 20e6, law="linear"),
        start_point=(places[0], 0.0, 0.0),
        reel=REEL,
        over=over,
        end=("block", "anchor")[(count + 1) % 2],
        end_point=(places[-1], 0.0, 0.0),
        elements=4,
    )
    return tl.System({"block": tl.RigidBody.box(1000.0, (1, 1, 1), (0, 0, 0.5))}, {"hoist": line})


@pytest.mark.parametrize("count", [2, 3, 4])
def test_falls_share_the_load(count: int) -> None:
    """Tension at the block: its weight and that of the rope on its sheaves over the falls; at the boom with the rope's.

    The search leaves 1e-9 of the load; three falls are not symmetric, so that the block tilts by what it stretches.
    """
    system = falls(count)
    found = tl.statics(system, tl.Hanging(10.0 * count)).line
    on_block = sum(2.0 * wheel.wrap for wheel in system.wheels("hoist") if wheel.on == "block")
    at_block = (1000.0 + on_block) * 9.81 / count
    at_boom = at_block + 2.0 * 9.81 * 10.0
    within = 1e-8 if count % 2 == 0 else 1e-5
    expected = [(at_boom, at_block) if k % 2 == 0 else (at_block, at_boom) for k in range(count)]
    np.testing.assert_allclose(found.span_tensions, expected, rtol=within)
    np.testing.assert_allclose(found.span_lengths, 10.0, rtol=1e-4)
    assert found.holding_torque == pytest.approx(0.3 * at_boom, rel=0.01)  # and the weight of what is in the guide


def test_rope_passes_a_sheave_until_tensions_are_equal() -> None:
    """From spans of 12 and 8 m that hang between anchors 6 m apart, with a light rope: the block is in the middle."""
    line = dataclasses.replace(HOIST, string=LIGHT, start_point=(-3, 0, 0), end_point=(3, 0, 0))
    point = dataclasses.replace(SHEAVE, wrap=0.5, inertia_mass=1.0)
    system = tl.System({"block": tl.RigidBody.point(10.0)}, {"hoist": dataclasses.replace(line, over={"x": point})})
    found = tl.statics(system, tl.Placed({"block": (2.0, 0.0, 7.0)}, {"hoist": 20.0}))
    # T from the hand formula: 2 T cos = weight, with the half length of 10 m stretched by T/EA
    weight = (10.0 + 1e-3 * 0.5) * 9.81
    tension = weight / 2.0
    for _ in range(50):
        half = 10.0 * (1.0 + tension / 1e5)
        tension = weight / 2.0 / math.sqrt(1.0 - (3.0 / half) ** 2)
    assert found.body.position == pytest.approx((0.0, 0.0, math.sqrt(half**2 - 9.0)), abs=5e-3)  # rope weighs 0.02 %
    np.testing.assert_allclose(found.line.span_tensions, tension, rtol=2e-3)
    held = tl.statics(system, tl.Placed({"block": (2.0, 0.0, 9.0)}, {"hoist": 20.0}), locked=["hoist.x"])
    assert held.body.position[0] > 0.5
    with pytest.raises(InputError, match=r"locked: expected names of sheaves, got 'hoist\.y'"):
        tl.statics(system, START, locked=["hoist.y"])


def test_hanging_finds_the_depth_of_a_block() -> None:
    state = case(falls(4), tl.Hanging(40.0)).state()
    assert state.bodies["block"].position == pytest.approx((0.0, 0.0, 10.5), abs=0.01)
    with pytest.raises(InputError, match=r"deployed: expected at most 77\.6\S+ m \(length less reel.guide_length and"):
        case(falls(4), tl.Hanging(79.0)).state()


# -- hand formulas and bending -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("count", "share"), [(2, 0.505051), (4, 0.257626), (6, 0.175196), (8, 0.134015)]
)  # (1 - eta)/(1 - eta^n) with eta 0.98
def test_pulls_by_hand(count: int, share: float) -> None:
    light = falls(count, density=1e-6)
    line = light.lines["hoist"]
    over = {k: dataclasses.replace(x, efficiency=0.98) for k, x in line.over.items() if isinstance(x, tl.Sheave)}
    system = dataclasses.replace(light, lines={"hoist": dataclasses.replace(line, over=over)})
    found = falls_of(system, case(system, tl.Placed({"block": (0.0, 0.0, 8.5)})).state(), "hoist")
    assert found is not None and found.falls == count and found.advantage == pytest.approx(count)
    assert found.holding / found.load == pytest.approx(1.0 / count, rel=1e-6)
    assert found.hoisting / found.load == pytest.approx(share, abs=1e-6)
    back = (1.0 - 1.0 / 0.98) / (1.0 - 0.98**-count)
    assert found.lowering / found.load == pytest.approx(back, rel=1e-6)


def test_friction_of_wheels_by_hand() -> None:
    """A bearing with 0.1 x 0.16 at 180 and 90 degrees, pins with half a turn."""
    up, down, aside = (np.array(x) for x in ((0.0, 0.0, -1.0), (0.0, 0.0, 1.0), (1.0, 0.0, 0.0)))
    bearing = tl.Sheave((0, 0, 0), 1.0, (0, 1, 0), bearing_friction=0.1, bearing_radius=0.16)
    wheel = bearing.wheel("a", "b", False, False)
    assert 1.0 / behind_over_ahead(wheel, up, down) == pytest.approx(1.032520, abs=5e-7)
    assert 1.0 / behind_over_ahead(wheel, up, aside) == pytest.approx(1.022888, abs=5e-7)
    for friction, ratio in ((0.1, 1.369108), (0.2, 1.874456)):
        pin = tl.Pin((0, 0, 0), friction=friction).wheel("a", "b", False, False)
        assert 1.0 / behind_over_ahead(pin, up, down) == pytest.approx(ratio, abs=5e-7)


def test_cycles_of_bending_are_counted() -> None:
    """A wheel with 1 m of rope on it that moves 3 m along the rope and back twice; and a drum."""
    places = np.array([0.5, 1.5, 2.5, 3.5, 4.5])
    begins = np.array([0.0, 1.6, 3.0, 1.6, 0.0, 3.0, 0.0])
    # 0.5 is on it at first: bent anew on each way back; 2.5 on every way; 3.5 is reached from below and left again
    assert cycles_of(places, begins, begins + 1.0).tolist() == [2, 4, 4, 2, 0]
    reeled = np.array([1.0, 3.0, 2.0, 3.0])
    assert cycles_of(places, np.full(4, -np.inf), reeled).tolist() == [0, 1, 2, 0, 0]


def test_check_prints_hand_formulas() -> None:
    system = falls(2)
    own = of_spans(system, tl.statics(system, tl.Hanging(20.0)).state, "hoist")
    assert list(own["spans"]) == ["start to s0", "s0 to end"]
    assert own["falls"]["holding"] == pytest.approx(tl.statics(system, tl.Hanging(20.0)).line.start_tension, rel=1e-6)


# -- results -------------------------------------------------------------------------------------------------


def test_results_by_span_and_by_sheave() -> None:
    run = tl.simulate(CRANE, START, tl.Torque(900.0), duration=0.1, sample=0.02, step=2e-4)
    assert run.sheave.values.tolist() == ["hoist.lower"] and run.span.values.tolist() == ["hoist.0", "hoist.1"]
    whole = run.span_length.sum("span") + run.reeled_length.sel(line="hoist") + CRANE.wraps("hoist")
    np.testing.assert_allclose(whole, ROPE.length, rtol=1e-14)
    moved = run.span_length.sel(span="hoist.1") - run.span_length.values[0, 1]
    np.testing.assert_allclose(moved, -run.passed.sel(sheave="hoist.lower"), atol=1e-14)
    assert run.passing_speed.values[-1, 0] > 0.0
    # all friction there is: the guide's loss has an account of its own
    np.testing.assert_allclose(run.sheave_loss.sum("sheave"), run.friction_loss, rtol=1e-12)
    assert float(run.sheave_loss[-1, 0]) > 0.0 and not run.sheave_torque.values.any()
    place = tl.analysis.evaluate(run, "passed[hoist.lower]")
    assert np.array_equal(place, run.passed.values[:, 0])
    assert np.array_equal(tl.analysis.evaluate(run, "position[hoist, -1].z"), run.position.values[:, -1, 2])
    assert tl.analysis.bending_cycles(run).cycles.sel(wheel="lower").sum() == pytest.approx(
        200 * float(run.passed[-1, 0]) / ROPE.length * 2.0, abs=2.0
    )


def test_a_run_stops_when_rope_has_passed_a_sheave() -> None:
    stop = tl.StopWhen("passed['hoist.lower']", above="1 mm")
    run = tl.simulate(CRANE, START, tl.Torque(900.0), duration=1.0, sample=0.01, stop=stop)
    assert run.attrs["status"] == "condition_met" and float(run.passed[-1, 0]) == pytest.approx(1e-3, rel=0.05)


def test_systems_without_sheaves_have_no_results_of_them() -> None:
    bare = hoist(over={})
    run = tl.simulate(bare, tl.Placed({"block": (0.0, 0.0, 10.4)}), duration=0.01)
    assert not {"passed", "span_length"} & set(run.variables)
    with pytest.raises(InputError, match="expected another variable in a system without sheaves, got 'passed'"):
        tl.simulate(bare, START, duration=0.01, stop=tl.StopWhen("passed[0]", above="1 m"))
    with pytest.raises(InputError, match="expected variables of a result, got 'passed'"):
        tl.jacobian(tl.Case(bare, START, {}, tl.Run(duration=0.01)), ["passed"], ["gravity"])
