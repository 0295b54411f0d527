"""Every argument of every constructor and of simulate(): what is refused, and that the message says why."""

from __future__ import annotations

import inspect
import math
import re
from collections.abc import Callable
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tautline as tl
from tautline import simulate
from tautline.errors import InputError, TautlineError
from tautline.model.body import Shape
from tests.support import chains
from tests.support.checking import check_close
from tests.support.valid import BODY, NODES, PENDULUM, REEL, START, STEP, STRING, VALID, placed

POINT = tl.pendulum(STRING, REEL, tl.RigidBody.point(1.0), elements=1)


class Unprintable:
    """An object that cannot even be shown."""

    def __repr__(self) -> str:
        raise RuntimeError("no repr")


NOT_ANY: list[Any] = [
    None,
    True,
    "one",
    1j,
    (1.0, 2.0, 3.0),
    {},
    Decimal(1),
    np.array(1.0),
    Unprintable(),
    math.nan,
    10**400,
]
NEGATIVE = [*NOT_ANY, -1.0, -5e-324, Fraction(-1, 3)]
NOT_POSITIVE = [*NEGATIVE, 0, -0.0]
NOT_WHOLE = [*NOT_ANY, 0, -1, 2.0, np.float64(2.0), Fraction(2), 2**63]
NO_PARTS: list[Any] = [tl.Locked, 1.5, "part", Unprintable()]
BAD: list[tuple[str, str, list[Any]]] = [
    *(("String", name, NOT_POSITIVE) for name in ("length", "density")),
    ("String", "stiffness", NOT_POSITIVE[1:]),  # None: that of a table
    *(("Reel", name, NOT_POSITIVE) for name in ("drum_radius", "inertia_mass", "smoothing_speed")),
    ("Reel", "guide_length", NEGATIVE),
    ("Reel", "spooled_strain", [*NOT_ANY, -1.0, -2.5]),
    *((name, "mass", NOT_POSITIVE) for name in ("RigidBody", "about_center", "elliptic_cylinder", "box", "sphere")),
    ("point", "mass", NOT_POSITIVE),
    ("elliptic_cylinder", "height", NOT_POSITIVE),
    ("sphere", "radius", NOT_POSITIVE),
    ("pendulum", "gravity", NEGATIVE),
    *((name, "elements", NOT_WHOLE) for name in ("pendulum", "Line")),
    ("LineState", "reeled_length", NEGATIVE),
    *((name, "reel_speed", NOT_ANY) for name in ("LineState", "Straight")),
    ("Straight", "deployed", NOT_POSITIVE),
    ("Torque", "torque", NOT_ANY),
    *(("simulate", name, NOT_POSITIVE) for name in ("duration", "step")),
    *(("simulate", name, NOT_POSITIVE[1:]) for name in ("sample", "minimum_length")),  # None stands for the default
    *(("Reel", name, ["Mean", "", None, b"none", ["none"], 1]) for name in ("guide_law", "guide_strain")),
    ("simulate", "order", [3, 0, -2, 2.0, "2", True, None, [2], math.nan, Unprintable()]),
    ("simulate", "scheme", ["Paper", "", None, 0.5, ["paper"], b"paper", Unprintable()]),
    ("simulate", "step", ["fast", "AUTO", "", "1 m"]),
    ("simulate", "compensated", [1, 0, None, "yes", np.array([True, False])]),
    *((name, "string", NO_PARTS) for name in ("pendulum", "Line")),
    ("pendulum", "body", [None, *NO_PARTS]),
    ("pendulum", "reel", NO_PARTS),
    ("Line", "reel", NO_PARTS),
    ("RigidBody", "shape", NO_PARTS),
    *(("simulate", name, [None, *NO_PARTS]) for name in ("system", "start")),
    ("simulate", "command", ["locked", tl.Locked, Unprintable()]),
]
ARRAYS: list[tuple[str, str, tuple[int, ...]]] = [
    ("Reel", "guide_position", (3,)),
    ("RigidBody", "inertia", (3, 3)),
    ("about_center", "central_inertia", (3, 3)),
    ("elliptic_cylinder", "semi_axes", (2,)),
    ("box", "sides", (3,)),
    *((name, "center_of_mass", (3,)) for name in ("RigidBody", "about_center", "elliptic_cylinder", "box", "sphere")),
    *(("Line", name, (3,)) for name in ("start_point", "end_point")),
    *(("LineState", name, (2, 3)) for name in ("nodes", "node_velocities")),
    *(("BodyState", name, (3,)) for name in ("position", "velocity")),
    ("Straight", "end_velocity", (3,)),
    *((name, "attitude", (3, 3)) for name in ("BodyState", "Straight")),
    *((name, "angular_velocity", (3,)) for name in ("BodyState", "Straight")),
]


def spoilt(call: str, **changes: Any) -> Any:
    function, arguments = VALID[call]
    return function(**{**arguments, **changes})


def refusal(call: str, **changes: Any) -> str:
    """The message of the InputError that must come."""
    with pytest.raises(InputError) as caught:
        spoilt(call, **changes)
    assert isinstance(caught.value, ValueError) and isinstance(caught.value, TautlineError)
    return str(caught.value)


def bad_arrays(shape: tuple[int, ...]) -> list[Any]:
    """Not numbers, of other shapes, or with entries that are not finite."""
    good, poisoned = np.ones(shape), np.ones(shape)
    poisoned.flat[-1] = math.nan
    other = [np.ones((*shape, 1)), np.ones((*shape[:-1], shape[-1] + 1)), np.ones(shape[1:]), np.ones(0)]
    typed = [good.astype(kind) for kind in (bool, complex, object, "U3", "M8[s]")]
    no_arrays: list[Any] = [None, "abc", {}, {1.0, 2.0}, Unprintable(), [[1.0], [1.0, 2.0]], 1.0, [], [[[]]]]
    return [*no_arrays, *other, *typed, poisoned, poisoned.astype(np.float32), (np.inf * good).tolist()]


@pytest.mark.parametrize("call", VALID)
def test_what_the_other_tests_spoil_is_accepted(call: str) -> None:
    spoilt(call)


@pytest.mark.parametrize(
    ("call", "argument", "values"),
    [*BAD, *((call, argument, bad_arrays(shape)) for call, argument, shape in ARRAYS)],
)
def test_what_is_bad_is_refused_by_name(call: str, argument: str, values: list[Any]) -> None:
    for value in values[argument == "node_velocities" :]:  # None stands for rest
        message = refusal(call, **{argument: value})
        assert re.match(rf"(\w+\.)?{argument}\b.*: expected .*, got ", message), message


@pytest.mark.parametrize(
    ("changes", "what_came"),
    [
        ({"length": -1.5}, "-1.5"),
        ({"density": "heavy"}, "'heavy'"),
        ({"stiffness": Unprintable()}, "an object of type Unprintable"),
        ({"length": 10**5000}, "an object of type int"),
        ({"length": "x" * 1000}, "'xxx"),
    ],
)
def test_message_shows_what_came_in_one_short_line(changes: dict[str, Any], what_came: str) -> None:
    message = refusal("String", **changes)
    assert f"got {what_came}" in message
    assert len(message) < 200 and "\n" not in message


def test_message_about_an_array_shows_shape_or_entry() -> None:
    assert "got shape 2" in refusal("Reel", guide_position=(1.0, 2.0))
    assert "got shape a single number" in refusal("Reel", guide_position=1.0)
    assert "expected 3 x 3 " in refusal("RigidBody", inertia=np.eye(2))
    assert "got nan among them" in refusal("LineState", nodes=[[0, 0, 0], [0, math.nan, 0]])


@pytest.mark.parametrize("kind", [int, float, Fraction, np.float32, np.float64, np.int64, np.longdouble])
def test_real_numbers_of_any_type_become_floats(kind: Callable[[int], Any]) -> None:
    string = tl.String(length=kind(2), density=kind(1), stiffness=kind(50), law="linear")
    assert string == tl.String(2.0, 1.0, 50.0, law="linear")
    assert type(string.length) is float


def test_body_refuses_inertia_that_no_body_has() -> None:
    skew = np.eye(3) + 1e-3 * np.eye(3, k=1)
    for inertia, complaint in (
        (skew, "symmetric"),
        (np.zeros((3, 3)), r"RigidBody\.point"),
        (-np.eye(3), "positive definite"),
        (np.diag([1.0, 1.0, 0.0]), "positive definite"),
        (np.diag([1.0, 1.0, 2.1]), "none exceeds the sum"),
    ):
        message = refusal("RigidBody", inertia=inertia, center_of_mass=(0.0, 0.0, 0.0))
        assert re.match(rf"RigidBody\.inertia: expected .*{complaint}", message), message


@pytest.mark.parametrize("offset", [0.0, 5e-324, 1e10])
def test_body_refuses_inertia_that_is_next_to_nothing(offset: float) -> None:
    """Its inverse, which the stability limit needs, would be no number."""
    message = refusal("RigidBody", inertia=np.diag([1e-300] * 3), center_of_mass=(offset, offset, offset))
    assert message.startswith("RigidBody.inertia: expected ")


def test_body_refuses_inertia_about_the_wrong_point() -> None:
    """The usual mistake: the inertia about the center of mass, handed over as if about the attachment point."""
    central = np.diag([0.01, 0.02, 0.025])
    message = refusal("RigidBody", inertia=central, center_of_mass=(0.0, 0.0, 1.0))
    assert "about the attachment point" in message and "-0.99" in message and "-0.98" in message
    assert tl.RigidBody.about_center(1.0, central, (0.0, 0.0, 1.0)).inertia[0][0] == pytest.approx(1.01)


@pytest.mark.parametrize("changes", [{"inertia": np.eye(3)}, {"center_of_mass": (0.0, 0.0, 0.1)}])
def test_point_has_no_extent(changes: dict[str, Any]) -> None:
    point = {"inertia": np.zeros((3, 3)), "center_of_mass": (0.0, 0.0, 0.0), "shape": Shape("point", ())}
    assert spoilt("RigidBody", **point) == tl.RigidBody.point(1.0)
    assert "RigidBody.point" in refusal("RigidBody", **{**point, **changes})


@pytest.mark.parametrize(
    "shape",
    [Shape("cube", (1.0,)), Shape("box", (1.0,)), Shape("sphere", (math.nan,)), Shape("sphere", "r")],  # type: ignore[arg-type]
    ids=repr,
)
def test_unknown_shape_is_refused(shape: Shape) -> None:
    """It ends in the result's description and in pictures, far from where it was given."""
    assert "RigidBody.shape" in refusal("RigidBody", shape=shape)


@pytest.mark.parametrize(
    ("call", "changes"),
    [
        ("elliptic_cylinder", {"semi_axes": (0.5, 0.0)}),
        ("elliptic_cylinder", {"semi_axes": (-0.5, 0.4)}),
        ("box", {"sides": (0.3, 0.2, 0.0)}),
        ("box", {"sides": (-0.3, 0.2, 0.1)}),
    ],
)
def test_sizes_of_a_body_are_positive(call: str, changes: dict[str, Any]) -> None:
    assert re.match(rf"{next(iter(changes))}: expected a positive", refusal(call, **changes))


Grid = tuple[np.ndarray[Any, Any], np.ndarray[Any, Any]]
# Gauss points for polynomials up to degree 7 in each variable; the integrands have degree 4 at most.
NODES_1D, WEIGHTS_1D = np.polynomial.legendre.leggauss(4)


def product(*axes: Grid) -> tuple[list[np.ndarray[Any, Any]], np.ndarray[Any, Any]]:
    """Points and weights of the product of one-dimensional rules."""
    points = np.meshgrid(*(x for x, _ in axes), indexing="ij")
    weights = np.ones(points[0].shape)
    for w in np.meshgrid(*(w for _, w in axes), indexing="ij"):
        weights = weights * w
    return [x.ravel() for x in points], weights.ravel()


def interval(start: float, end: float) -> Grid:
    half = 0.5 * (end - start)
    return start + half * (NODES_1D + 1.0), half * WEIGHTS_1D


def circle() -> Grid:
    """Equal weights on equal angles integrate trigonometric polynomials up to degree 15 exactly."""
    return np.arange(16) * (math.pi / 8), np.full(16, math.pi / 8)


def cylinder_points(a: float, b: float, H: float) -> Grid:
    (r, phi, z), w = product(interval(0.0, 1.0), circle(), interval(-H / 2, H / 2))
    return np.stack([a * r * np.cos(phi), b * r * np.sin(phi), z], axis=1), w * a * b * r


def box_points(x: float, y: float, z: float) -> Grid:
    points, w = product(*(interval(-side / 2, side / 2) for side in (x, y, z)))
    return np.stack(points, axis=1), w


def ball_points(radius: float) -> Grid:
    (r, height, phi), w = product(interval(0.0, radius), interval(-1.0, 1.0), circle())
    ring = r * np.sqrt(1.0 - height**2)
    return np.stack([ring * np.cos(phi), ring * np.sin(phi), r * height], axis=1), w * r**2


@pytest.mark.parametrize("center", [(0.0, 0.0, 0.0), (0.3, -0.2, 0.4)])
@pytest.mark.parametrize(
    ("make", "grid", "volume"),
    [
        (
            lambda c: tl.RigidBody.elliptic_cylinder(1.7, (0.5, 0.4), 0.8, c),
            cylinder_points(0.5, 0.4, 0.8),
            math.pi * 0.5 * 0.4 * 0.8,
        ),
        (lambda c: tl.RigidBody.box(1.7, (0.5, 0.4, 0.8), c), box_points(0.5, 0.4, 0.8), 0.5 * 0.4 * 0.8),
        (lambda c: tl.RigidBody.sphere(1.7, 0.6, c), ball_points(0.6), 4 / 3 * math.pi * 0.6**3),
    ],
    ids=["elliptic_cylinder", "box", "sphere"],
)
def test_inertia_is_the_integral_over_the_volume(
    make: Callable[[Any], tl.RigidBody], grid: Grid, volume: float, center: tuple[float, float, float]
) -> None:
    points, weights = grid
    check_close("volume of the quadrature", weights.sum(), volume, 1e-14)
    body = make(center)
    for origin, inertia in ((np.array(center), body.inertia), (np.zeros(3), body.central_inertia())):
        x = points + origin
        dm = body.mass * weights / volume
        J = np.einsum("p,pi,pi", dm, x, x) * np.eye(3) - np.einsum("p,pi,pj->ij", dm, x, x)
        check_close("inertia", inertia, J, 1e-14)


def test_parallel_axes_for_a_cloud_of_masses() -> None:
    """About the attachment point, from the inertia about the center of mass and directly."""
    masses = np.array([0.1, 0.5, 0.2, 0.9, 0.4])
    x = np.array([[0.1, 0.7, -0.2], [0.3, -0.4, 0.5], [-0.6, 0.2, 0.9], [0.8, 0.3, 0.1], [-0.2, -0.5, -0.7]])

    def inertia_of(x: np.ndarray[Any, Any]) -> Any:
        return np.einsum("p,pi,pi", masses, x, x) * np.eye(3) - np.einsum("p,pi,pj->ij", masses, x, x)

    center = masses @ x / masses.sum()
    body = tl.RigidBody.about_center(masses.sum(), inertia_of(x - center), center)
    check_close("inertia about the attachment point", body.inertia, inertia_of(x), 1e-14)


@pytest.mark.parametrize("argument", ["nodes", "node_velocities"])
def test_first_node_stays_at_the_guide(argument: str) -> None:
    rows = np.array(VALID["LineState"][1][argument])
    rows[0, 1] = 0.01
    message = refusal("simulate", start=placed({argument: rows}))
    assert message.startswith(f"state.lines.line.{argument}: expected (0, 0, 0) at the start of the line")
    assert message.endswith("as 'anchor' has it, got (0, 0.01, 0)")


def test_the_end_of_a_line_is_where_its_body_is() -> None:
    message = refusal("simulate", start=placed(body={"position": (0.1, 0.0, 1.3)}))
    assert message.startswith("state.lines.line.nodes: expected (0, 0, 1.1) at the end of the line, as 'body' has it")
    message = refusal("simulate", start=placed(body={"angular_velocity": (0.0, 0.0, 1.0)}))
    assert message.startswith("state.lines.line.node_velocities: expected (0, -0.1, 0) at the end of the line")
    assert spoilt("simulate", start=placed()).attrs["status"] == "completed"


def test_a_state_has_the_parts_of_its_system() -> None:
    other = placed()._replace(bodies={"load": placed().bodies["body"]})
    assert refusal("simulate", start=other) == "state.bodies: expected 'body', as the system has, got 'load'"
    rows = {"nodes": np.linspace(NODES[0], NODES[1], 3), "node_velocities": np.zeros((3, 3))}
    assert refusal("simulate", start=placed(rows)).startswith("state.lines.line.nodes: expected elements + 1 = 2 nodes")


@pytest.mark.parametrize("count", [0, 1])
def test_state_has_at_least_one_element(count: int) -> None:
    message = refusal("LineState", nodes=np.zeros((count, 3)), node_velocities=np.zeros((count, 3)))
    assert message.startswith("LineState.nodes: expected at least 2") and message.endswith(f"got {count}")


@pytest.mark.parametrize(
    "attitude",
    [-np.eye(3), (1.0 + 1e-6) * np.eye(3), np.zeros((3, 3)), np.full((3, 3), 1e40), np.eye(3) + np.eye(3, k=1)],
    ids=["inversion", "slightly scaled", "zero", "huge", "sheared"],
)
@pytest.mark.parametrize("call", ["BodyState", "Straight"])
def test_attitude_is_a_rotation(call: str, attitude: Any) -> None:
    assert re.match(r"(BodyState\.)?attitude: expected a rotation matrix", refusal(call, attitude=attitude))


def test_arrays_of_a_state_cannot_be_changed_from_outside() -> None:
    nodes = np.array(NODES)
    state = spoilt("LineState", nodes=nodes)
    nodes[1, 2] = 7.0
    assert state.nodes[1, 2] == 1.0
    with pytest.raises(ValueError, match="read-only"):
        state.nodes[1, 2] = 7.0


@pytest.mark.parametrize(("length", "guide_length"), [(2.0, 0.5), (100.0, 0.3), (1.1, 0.7), (3.3, 1.1), (7.0, 0.0)])
def test_all_that_straight_accepts_can_be_simulated(length: float, guide_length: float) -> None:
    """length - (length - guide_length) may round to less than guide_length."""
    string, reel = tl.String(length, 0.1, 50.0, law="linear"), tl.Reel(0.2, guide_length, 1.0)
    pendulum = tl.pendulum(string, reel, tl.RigidBody.point(1.0), elements=1)
    start = tl.Straight(length - guide_length)
    run = simulate(pendulum, start, tl.Locked(), duration=STEP, step=STEP, sample=STEP)
    assert run.attrs["status"] == "completed"


@pytest.mark.parametrize("size", [5e-324, 1e-200, 2.0, 1e40])
def test_direction_may_have_any_length(size: float) -> None:
    case = tl.Case(PENDULUM, tl.Straight(1.0, direction=(size, 0.0, -size)), {}, tl.Run(duration=1.0))
    check_close("last node", case.state().lines["line"].nodes[-1], np.array([1.0, 0.0, -1.0]) / math.sqrt(2.0), 1e-15)


@pytest.mark.parametrize("elements", [10**15, 2**62, 2**63 - 2])
def test_more_elements_than_fit_into_memory_are_refused(elements: int) -> None:
    assert refusal("pendulum", elements=elements).startswith("Line.elements: expected ")


@pytest.mark.parametrize(
    ("torque", "complaint"),
    [
        (([0.0, 1.0, 1.0], [1.0, 2.0, 3.0]), r"torque\[0\] \(times\): expected increasing"),
        (([1.0, 0.0], [1.0, 2.0]), r"torque\[0\] \(times\): expected increasing"),
        (([], []), r"torque\[0\] \(times\): expected at least 1 number"),
        (([0.0, math.nan], [1.0, 2.0]), r"torque\[0\] \(times\): .*nan"),
        ((["a", "1"], [1.0, 2.0]), r"torque\[0\] \(times\)\[0\]: expected a time such as"),
        ((0.0, 1.0), r"torque\[0\] \(times\): expected n finite"),
        (([[0.0, 1.0]], [[1.0, 2.0]]), r"torque\[0\] \(times\): .*shape 1 x 2"),
        (([0.0, 1.0], [1.0, 2.0, 3.0]), r"torque\[1\] \(torques\): expected 2 .*shape 3"),
        (([0.0, 1.0], 1.0), r"torque\[1\] \(torques\): expected 2"),
        (([0.0, 1.0], [1.0, math.inf]), r"torque\[1\] \(torques\): .*inf"),
        (([0.0, 1.0], [True, False]), r"torque\[1\] \(torques\): expected 2 finite"),
        (([0.0, 1.0],), r"torque: expected a number or a pair"),
        ([1.0, 2.0, 3.0], r"torque: expected a number or a pair"),
        (np.array([[0.0, 1.0], [1.0, 2.0]]), r"torque: expected "),
    ],
)
def test_bad_table_is_refused(torque: Any, complaint: str) -> None:
    message = refusal("Torque", torque=torque)
    assert re.match(rf"Torque\.{complaint}", message), message


# The last one is on the network: its line does not end at the origin of its body.
ASIDE = tl.Line(STRING, end="body", end_point=(0.0, 0.0, 0.05), reel=REEL, elements=1)
SYSTEMS = {
    "one element": tl.pendulum(STRING, REEL, BODY, elements=1),
    "five elements": tl.pendulum(STRING, REEL, BODY, elements=5),
    "network": tl.System({"body": BODY}, {"line": ASIDE}),
}


@pytest.mark.parametrize("system", SYSTEMS.values(), ids=SYSTEMS)
@pytest.mark.parametrize("order", [2, 4, 6])
def test_step_above_the_limit_is_refused_and_the_limit_named(order: int, system: tl.System) -> None:
    def run(step: float) -> Any:
        return simulate(system, START, tl.Free(), duration=step, step=step, sample=step, order=order)

    with pytest.raises(InputError, match=r"^step: expected at most .* s \(0\.9 of the stability limit .*'auto'") as too:
        run(10.0)
    largest = float(re.findall(r"at most (\S+) s", str(too.value))[0])
    # the message gives three digits
    assert run(0.995 * largest).attrs["largest_step_ratio"] == pytest.approx(0.9, rel=0.01)
    with pytest.raises(InputError, match=r"^step: "):
        run(1.005 * largest)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"sample": 2.5 * STEP}, r"sample: expected a multiple of step \(0\.0009765\d* s\)"),
        ({"sample": 0.5 * STEP}, r"sample: expected a multiple of step"),
        ({"sample": STEP * (1 + 1e-5)}, r"sample: expected a multiple of step .* the nearest is 0\.0009765625$"),
        ({"duration": 5 * STEP}, r"duration: expected a multiple of sample \(0\.0019531\d* s\)"),
        ({"duration": STEP}, r"duration: expected a multiple of sample .* the nearest is 0\.001953125$"),
        ({"duration": 5 * STEP, "step": "auto"}, r"duration: expected a multiple of sample"),
        ({"minimum_length": 1.0}, r"minimum_length: expected less than the 1 m deployed .* got 1\.0"),
        ({"minimum_length": 1.5}, r"minimum_length: expected less than the 1 m deployed .* got 1\.5"),
    ],
)
def test_times_and_lengths_that_do_not_fit_are_refused(changes: dict[str, Any], message: str) -> None:
    got = refusal("simulate", **changes)
    assert re.match(message, got), got


def test_multiples_are_judged_with_rounding_in_mind() -> None:
    run = spoilt("simulate", step=0.001, sample=0.003, duration=0.3)
    assert len(run.time) == 101


def test_a_duration_of_whole_steps_needs_no_sample() -> None:
    """The default interval is the library's choice, so a duration is never refused because of it."""
    run = spoilt("simulate", command=tl.Locked(), step=0.001, duration=1.501, sample=None)
    assert run.attrs["end_time"] == pytest.approx(1.501)


@pytest.mark.parametrize(
    ("duration", "step", "sample"),
    [(1e25, 1e-3, None), (1e25, 1e-3, 1e-3), (1e15, 1e-3, 1e-3), (1e15, "auto", 1e-3), (1e40, 1e-40, None)],
)
def test_more_samples_or_steps_than_can_be_are_refused(duration: float, step: Any, sample: float | None) -> None:
    """What neither memory nor a counter of 64 bits can hold."""
    message = refusal("simulate", duration=duration, step=step, sample=sample)
    assert re.match(r"(duration|sample)\b.*: expected ", message), message


@pytest.mark.parametrize("order", [2, 4, 6])
@pytest.mark.parametrize("command", [tl.Locked(), tl.Free(), tl.Torque(1.0)], ids=repr)
def test_published_scheme_is_composed_only_with_the_reel_locked(order: int, command: Any) -> None:
    changes = {"order": order, "scheme": "paper", "command": command}
    if order == 2 or isinstance(command, tl.Locked):
        assert spoilt("simulate", **changes).attrs["status"] == "completed"
    else:
        message = refusal("simulate", **changes)
        assert message.startswith("order: expected 2 with scheme='paper'") and f"got {order}" in message


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"control": None, "period": STEP}, "period: expected together with control"),
        ({"control": 1.0}, "control: expected something that can be called, got 1.0"),
        ({"control": tl.Free()}, r"control: expected something that can be called, got Free\(\)"),
        ({"control": Unprintable()}, "control: expected something that can be called, got an object"),
        ({"period": 3 * STEP, "sample": STEP}, "period: expected a whole part of duration"),
        ({"period": 3 * STEP, "sample": 2 * STEP, "duration": 6 * STEP}, "period: expected a multiple of sample"),
        ({"control": lambda _: "full"}, "control: Torque.torque: expected a torque such as 3 or '3 N\\*m', got 'full'"),
        ({"control": lambda _: math.nan}, "control: Torque.torque: expected a finite number, got nan"),
        ({"period": 2.5 * STEP, "sample": None, "duration": 10 * STEP}, "period: expected a multiple of step"),
        *(
            ({"control": lambda _, x=x: x}, "control: Torque.torque: expected")
            for x in (math.inf, [1.0], True, 1e60, 1j)
        ),
        *(({"period": value}, "period: expected a positive finite number") for value in (0.0, -1.0, math.nan, True)),
    ],
)
def test_control_that_does_not_fit_is_refused(changes: dict[str, Any], message: str) -> None:
    got = refusal("simulate", **{"control": lambda _: 0.0, "period": 2 * STEP, **changes})
    assert re.match(message, got), got


def test_point_does_not_turn() -> None:
    message = refusal("simulate", system=POINT, start=placed(body={"angular_velocity": (0.0, 0.0, 1e-9)}))
    assert message.startswith("state.bodies.body.angular_velocity: expected (0, 0, 0) for a point")
    assert "1e-09" in message


def test_auto_that_would_need_more_steps_than_can_be_counted() -> None:
    message = refusal("simulate", duration=1e40, step="auto", sample=None)
    assert "2^53 steps" in message and "step='auto'" not in message


def test_spooled_strain_belongs_to_the_law_that_stores_it() -> None:
    _, arguments = VALID["Reel"]
    with pytest.raises(InputError, match="spooled_strain: expected 0 unless guide_law is 'stretched'"):
        tl.Reel(**(arguments | {"guide_law": "dissipative"}))


def test_the_name_of_a_scenario_in_place_of_a_case_is_refused_with_the_call_that_reads_it() -> None:
    name: Any = "crane-hoist"
    hint = re.escape("; tl.load('crane-hoist') reads a scenario")
    for look in (tl.simulate, tl.gradients.linearize, lambda case: tl.export_fmu(case, "a.fmu")):
        with pytest.raises(InputError, match=f"{hint}$"):
            look(name)
    path: Any = Path("my.toml")
    with pytest.raises(InputError, match=re.escape("tl.load('my.toml') reads a scenario, and its .system is one")):
        tl.statics(path, START)


def test_a_wrong_kind_of_system_is_refused_in_good_english() -> None:
    wrong: Any = 3
    with pytest.raises(InputError, match="system: expected a System or a Case, got 3"):
        tl.simulate(wrong)
    with pytest.raises(InputError, match="expected a System, got 3"):
        tl.Simulation(wrong, START)
    with pytest.raises(InputError, match=re.escape("System.bodies['a']: expected a RigidBody or a Kinematic, got 3")):
        tl.System(bodies={"a": wrong}, lines={})
    with pytest.raises(InputError, match=re.escape("['a']: expected an AppliedForce, got 3")):
        tl.System(bodies={}, lines={}, applied_forces={"a": wrong})


def test_the_limit_of_an_unstable_step_is_named_in_good_english() -> None:
    run = chains.simulate(
        tl.load("retrieval", {"command.torque": "3 N*m", "run.duration": "8 s", "run.step": "0.5 ms"})
    )
    assert run.attrs["status"] == "unstable_step"
    assert re.search(
        r"limit \S+ s, set by waves in the elements of the string with \S+ m of string left; use", run.attrs["message"]
    )


def test_a_wrong_keyword_beside_an_inertia_is_named() -> None:
    """The inertia of a drum needs its radius; where that is missing, the constructor says so."""
    wrong: Any = {"radius": 0.3, "inertia": 5.0}
    with pytest.raises(TypeError, match="unexpected keyword argument 'radius'"):
        tl.Reel(**wrong)
    with pytest.raises(TypeError, match=r"missing .*'drum_radius'"):
        tl.Reel(inertia=5.0, guide_length=0.1)  # type: ignore[call-arg]
    with pytest.raises(TypeError, match=r"Reel\.inertia_mass: expected either it, or inertia, got neither"):
        tl.Reel(0.3, 0.1)
    assert "inertia" in inspect.signature(tl.Reel).parameters
    assert "inertia : float, by keyword" in str(tl.Reel.__doc__)


def test_an_empty_table_in_the_place_of_a_file_is_refused() -> None:
    with pytest.raises(InputError, match=r"expected the name of a CSV file, or .* of one, got none"):
        tl.load("retrieval", {"command.kind": "length", "command.file": {}})
