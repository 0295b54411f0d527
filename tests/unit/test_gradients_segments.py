"""Segments of a run: coordinates of states, derivatives by them, and linear models."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import tautline as tl
from tautline.errors import InputError
from tautline.gradients.chain.marching import Setting
from tautline.gradients.coordinates import coordinates_of
from tautline.gradients.differences import Changed, difference
from tautline.gradients.directions import Directions
from tautline.gradients.dual_runs import tangents_of_numbers
from tautline.gradients.leaves import flat, places_in
from tautline.gradients.scales import scales_of
from tautline.gradients.segment_slopes import SegmentSlopes, by_state
from tautline.gradients.segments import Segments
from tautline.kernels import data
from tests.support import chains
from tests.support.duals import far_apart
from tests.support.hoist import hoist
from tests.support.tackle import tackle

BOX = tl.RigidBody.box(0.5, (0.2, 0.3, 0.4), (0.1, 0.0, 0.2))
ROTATION = slice(6, 9)  # of the only body, among coordinates
TUMBLING = {"initial.angular_velocity": [3.0, -20.0, 8.0]}
CASES: dict[str, tuple[tl.Case, list[str]]] = {
    "torque": (hoist(TUMBLING, BOX), ["command.torques[1]", "body.mass", "run.duration"]),
    "point": (hoist(), ["string.stiffness"]),
    "locked": (hoist({"command": {"kind": "locked"}, **TUMBLING}, BOX), ["string.stiffness", "gravity"]),
    "length": (
        hoist({"command": {"kind": "length", "target": 3.95, "speed": 0.47, "acceleration": 10.0, "jerk": 410.0}}),
        ["command.target", "body.mass"],
    ),
    "guide": (
        hoist({"guide": {"kind": "sine", "amplitude": [0.1, 0.0, 0.05], "period": 0.7}, "string.viscosity": 0.05}),
        ["guide.amplitude[0]", "string.viscosity"],
    ),
    "impedance": (
        hoist({"command": {"kind": "impedance", "length": 3.8, "stiffness": 30.0, "damping": 4.0}}),
        ["command.length"],
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_segments_join_to_the_run(name: str) -> None:
    case, by = CASES[name]
    segments = Segments(case, [0.0, 0.08, 0.2], by, ["position", "tension"])
    run = chains.simulate(case)
    first = segments.march(0, segments.start, derivatives=False)
    second = segments.march(1, first.end, derivatives=False)
    positions = np.concatenate([first.outputs["position"], second.outputs["position"]])
    times = np.concatenate([first.time, second.time])
    np.testing.assert_allclose(times, run.time.values[1:], rtol=1e-12)
    # with loads a start begins with its own first step, which changes what is of second order
    tolerance = 1e-3 if name == "guide" else 1e-9
    np.testing.assert_allclose(positions, run.position.values[1:], atol=tolerance)


@pytest.mark.parametrize("name", CASES)
def test_derivatives_by_state_and_keys(name: str) -> None:
    case, by = CASES[name]
    segments = Segments(case, [0.0, 0.1, 0.2], by, ["tension"])
    x = segments.march(0, segments.start, derivatives=False).end
    found = segments.march(1, x)
    n, m = len(x), len(by)
    assert found.by_state.shape == (n, n) and found.by_keys.shape == (n, m)
    assert found.outputs_by_state["tension"].shape == (5, 4, n) and found.outputs_by_keys["tension"].shape == (5, 4, m)

    def marched(dx: Any, du: Any) -> tuple[Any, Any]:
        there = segments.march(1, x + dx, segments.values + du, derivatives=False)
        return there.end, there.outputs["tension"]

    random = np.random.default_rng(5)
    dx, du = random.normal(size=n), random.normal(size=m) * 0.1 * np.abs(segments.values)
    du[[key == "run.duration" for key in by]] = 0.0  # knots of the torque lie at ends of steps: a kink of second order
    e = 1e-6
    (up, above), (down, below) = marched(e * dx, e * du), marched(-e * dx, -e * du)
    expected, of_tension = (up - down) / (2.0 * e), (above - below) / (2.0 * e)
    error = np.abs(found.by_state @ dx + found.by_keys @ du - expected).max()
    assert error <= 1e-6 * np.abs(expected).max()
    outputs = found.outputs_by_state["tension"] @ dx + found.outputs_by_keys["tension"] @ du
    assert np.abs(outputs - of_tension).max() <= 1e-6 * np.abs(of_tension).max()


def _reel(setting: Any, i: int) -> Any:
    return setting.motion.reel if isinstance(setting, Setting) else setting.network.strands[i].reel


BY_DIFFERENCES = {"command.length"}
ROBOT = ("cable-robot", ["bodies.platform.mass", "lines.north-east.command.speed"])
HOOK = ("hook-and-load", ["bodies.load.mass", "lines.hoist.stiffness", "bodies.load.center_of_mass[1]"])
OVER = "lines.haul.over.drive"
TACKLE = tackle(**{f"{OVER}.command": {"kind": "torque", "times": [0.0, 0.1], "torques": [20.0, 25.0]}})
REEVED = [f"{OVER}.command.torques[1]", f"{OVER}.radius", "lines.hoist.over.eye.friction", "lines.haul.length"]
BLOCK = ["bodies.block.mass", "lines.hoist.over.lower.efficiency", "lines.hoist.density", "lines.hoist.command.target"]
SYSTEMS: dict[str, tuple[tl.Case | str, list[str]]] = {
    "throw": ("thrown-bodies", ["bodies.ball.mass"]),
    "hook": HOOK,
    "robot": ROBOT,
    "tackle": (TACKLE, REEVED),
    "block": ("hook-block-2", BLOCK),
}


@pytest.mark.parametrize(
    "name", [*CASES, "throw", "hook", "tackle", "block", pytest.param("robot", marks=pytest.mark.long)]
)
def test_dual_numbers_of_segments_are_what_differences_find(name: str) -> None:
    """By the state in the middle of a run, and by keys; all but the torque of a sample there, which is left out."""
    case, by = CASES.get(name) or SYSTEMS[name]
    if isinstance(case, str):
        case = tl.load(case)
        case = case.with_({"run.duration": 8.0 * case.run.interval()})
    by = [key for key in by if key not in BY_DIFFERENCES]
    segments = Segments(case, [0.0, 0.5 * case.run.duration, case.run.duration], by)
    x, u, slopes = segments.march(0, segments.start, derivatives=False).end, segments.values, segments._slopes
    assert isinstance(slopes, SegmentSlopes)
    setting = segments.placed(segments.begun(u), x, 1).setting
    at, setting = segments.midway(setting, x, u, 1), setting.without_workspace()
    here, scales = Changed.of(setting), scales_of(setting)
    runs, begun = segments.runs(u), segments.begun(u)
    found = tangents_of_numbers(runs, begun, Directions.single(segments.case, by), scales, at)
    expected = by_state(segments, setting, scales, x, u, 1)
    expected = np.column_stack([expected, *(slopes._along(here, scales, x, u, 1, j) for j in range(len(by)))])
    reels = range(1 if isinstance(setting, Setting) else len(setting.network.strands))
    torques = [places_in(setting, lambda other, i=i: [_reel(other, i)])[data.TORQUE] for i in reels]  # type: ignore[misc]
    for column, true, key in zip(found.T, expected.T, [*segments.coordinates.names, *by], strict=True):
        column[torques] = true[torques] = 0.0
        assert far_apart(column, true, setting, scales) < 1e-8, key


@pytest.mark.parametrize("case", [CASES["torque"][0], TACKLE], ids=["chain", "network"])
def test_placing_a_state_leaves_the_run_as_it_was(case: tl.Case) -> None:
    segments = Segments(case, [0.0, case.run.duration], [])
    begun, x = segments.begun(segments.values), segments.start + 0.01
    before = flat(begun.setting)
    placed = segments.placed(begun, x, 0)
    np.testing.assert_array_equal(flat(begun.setting), before)
    assert np.nanmax(np.abs(difference(flat(placed.setting), before))) > 1e-3
    np.testing.assert_array_equal(flat(segments.placed(begun, x, 0).setting), flat(placed.setting))


KNOTS = [0.0, 0.05, 0.1, 0.15, 0.2]
POINTS = [[0.0, 0.0, 0.0], [0.01, 0.0, 0.0], [0.03, 0.01, 0.0], [0.02, 0.02, 0.01], [0.0, 0.02, 0.0]]
ON_A_PATH = hoist(
    {"guide": {"kind": "points", "times": KNOTS, "displacements": POINTS}, "command": {"kind": "torque", "torque": 1.0}}
)


@pytest.mark.parametrize("backend", ["chain", "network"])
def test_a_duration_that_takes_the_times_of_a_path_along(backend: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """In a segment that begins on a knot: there by both a derivative, which neither has alone."""
    if backend == "network":
        monkeypatch.setattr("tautline.gradients.runs.BACKWARD", SimpleNamespace(given=lambda case: False))
    duration, entries = ON_A_PATH.run.duration, [f"guide.displacements[{k}][0]" for k in (2, 4)]
    names = ("run.duration", *(f"guide.times[{k}]" for k in range(1, 5)), *entries)
    by = np.zeros((7, 3))
    by[0, 0], by[1:5, 0], by[5, 1], by[6, 2] = 1.0, np.array(KNOTS[1:]) / duration, 1.0, 1.0
    along = Directions(names, by, np.array([duration, 0.1, 0.1]), ("stretched", *entries))
    segments = Segments(ON_A_PATH, [0.0, 0.1, 0.2], names, ["position"], along)
    x, u = segments.march(0, segments.start, derivatives=False).end, segments.values
    found = segments.march(1, x)
    assert np.isfinite(found.by_keys).all() and np.isfinite(found.outputs_by_keys["position"]).all()
    for j, size in enumerate(1e-4 * along.sizes):
        ends = [segments.march(1, x, u + p * size * by[:, j], derivatives=False).end for p in (1, -1, 2, -2)]
        expected = (8.0 * (ends[0] - ends[1]) - (ends[2] - ends[3])) / (12.0 * size)
        np.testing.assert_allclose(found.by_keys[:, j], expected, rtol=0.0, atol=3e-8 * np.abs(expected).max())


def test_two_segments_are_one_by_the_chain_rule() -> None:
    case, by = CASES["torque"]
    halves, whole = Segments(case, [0.0, 0.1, 0.2], by), Segments(case, [0.0, 0.2], by)
    a = halves.march(0, halves.start)
    b = halves.march(1, a.end)
    c = whole.march(0, whole.start)
    np.testing.assert_allclose(b.end, c.end, atol=1e-10)
    np.testing.assert_allclose(b.by_state @ a.by_state, c.by_state, atol=1e-6 * np.abs(c.by_state).max())
    np.testing.assert_allclose(
        b.by_state @ a.by_keys + b.by_keys, c.by_keys, atol=1e-6 * np.abs(c.by_keys).max(axis=0).max()
    )


def test_a_segment_agrees_with_the_jacobian_of_the_run() -> None:
    case = hoist(TUMBLING, BOX)
    by = ["command.torques[1]", "string.stiffness"]
    run = tl.jacobian(case, ["position"], by)
    found = Segments(case, [0.0, 0.2], by, ["position"]).march(0, Segments(case, [0.0, 0.2], by).start)
    np.testing.assert_allclose(
        found.outputs_by_keys["position"],
        run["position"].values[1:],
        atol=1e-6 * np.abs(run["position"].values).max(),
    )


def test_coordinates_and_states_give_each_other() -> None:
    case = hoist(TUMBLING, BOX)
    found = coordinates_of(case)
    assert found.size == len(found.names) == len(set(found.names)) == 6 * 4 + 8
    x = np.random.default_rng(1).normal(size=found.size) * 0.5
    x[-2] = 3.0
    np.testing.assert_allclose(found.of(found.state(x)), x, atol=1e-13)
    assert coordinates_of(hoist({"command": {"kind": "locked"}})).size == 24
    with pytest.raises(InputError, match="expected 32 coordinates"):
        found.state(x[:5])


def test_rotation_vectors_may_go_beyond_half_a_turn() -> None:
    found = coordinates_of(hoist(TUMBLING, BOX))
    x = np.zeros(found.size)
    x[ROTATION], x[-2] = (0.0, 3.0, 2.5), 3.0
    state = found.state(x)
    assert np.linalg.norm(found.of(state)[ROTATION]) < np.pi
    np.testing.assert_allclose(found.of(state, near=x + 0.1)[ROTATION], x[ROTATION], atol=1e-12)


def test_a_body_that_tumbles_is_followed_through_half_turns() -> None:
    body = tl.RigidBody.box(0.5, (0.2, 0.3, 0.4), (0.0, 0.02, 0.0))
    case = hoist({"initial.angular_velocity": [0.0, 25.0, 0.0], "command": {"kind": "locked"}}, body)
    segments = Segments(case, [0.0, 0.1, 0.2], [])
    x = segments.march(1, segments.march(0, segments.start, derivatives=False).end, derivatives=False).end
    assert np.linalg.norm(x[ROTATION]) > np.pi
    np.testing.assert_allclose(
        segments.coordinates.state(x).bodies["body"].attitude, chains.simulate(case).attitude.values[-1], atol=1e-10
    )


def test_linear_models_follow_small_changes() -> None:
    case = hoist(TUMBLING, BOX)
    by = ["command.torques[1]"]
    found = tl.gradients.linearize(case, at=[0.0, 0.06, 0.12, 0.2], by=by)
    n = len(found.names)
    assert found.states.shape == (4, n) and found.A.shape == (3, n, n) and found.B.shape == (3, n, 1)
    assert (found.status, found.by) == ("completed", by)
    changed = tl.gradients.linearize(case.with_({"command.torques[1]": 2.0 + 1e-4}), at=found.times, by=by)
    dx = np.zeros(n)
    for A, B in zip(found.A, found.B, strict=True):
        dx = A @ dx + B[:, 0] * 1e-4
    np.testing.assert_allclose(dx, changed.states[-1] - found.states[-1], atol=1e-3 * np.abs(dx).max())
    later = tl.gradients.linearize(case, at=[0.06, 0.2])
    np.testing.assert_allclose(later.states[0], found.states[1], atol=1e-10)
    assert later.B.shape == (1, n, 0)


def test_an_end_that_is_not_reached_is_not_a_number() -> None:
    case = hoist({"run.minimum_length": 3.99, "command": {"kind": "torque", "torque": 3.0}})
    found = Segments(case, [0.0, 0.2], ["command.torque"]).march(0, Segments(case, [0.0, 0.2], []).start)
    assert found.status == "fully_retrieved" and np.isnan(found.end).all() and np.isnan(found.by_keys).all()
    again = tl.gradients.linearize(case, at=[0.0, 0.02, 0.2])
    assert again.status == "fully_retrieved" and np.isfinite(again.A[0]).all() and np.isnan(again.A[1]).all()


@pytest.mark.parametrize(
    ("make", "sentence"),
    [
        (lambda: Segments(hoist(), [0.0], []), "times: expected at least two"),
        (lambda: Segments(hoist(), [0.0, 0.013], []), "multiples of the sample interval"),
        (lambda: Segments(hoist(), [0.0, 0.4], []), "from 0 to 0.2 s"),
        (lambda: Segments(hoist(), [0.0, 0.2], ["string.law"]), "expected a number"),
        (lambda: Segments(hoist(), [0.0, 0.2], []).march(1, np.zeros(26)), "segment from 0 to 0"),
        (lambda: Segments(hoist(), [0.0, 0.2], []).march(0, np.zeros(3)), "expected 26 coordinates"),
        (lambda: Segments(hoist(), [0.0, 0.2], []).march(0, np.zeros(26), [1.0]), "expected 0 values"),
        (lambda: Segments(hoist({"reel.guide_law": "stretched"}), [0.0, 0.2], []), "without memory"),
    ],
)
def test_bad_segments_are_refused(make: Any, sentence: str) -> None:
    with pytest.raises(InputError, match=sentence):
        make()
