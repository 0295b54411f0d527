"""Whatever is thrown at the constructors and at simulate(): they accept it or raise InputError, nothing else.

Warnings are errors in these tests, so an overflow on the way counts as a failure too.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, assume, given, reject, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

import tautline as tl
from tautline.engine.timing import Timing
from tautline.errors import STATUS_NAMES, InputError
from tautline.model.body import Shape
from tautline.model.chain.systems import chain_of, placed_system
from tautline.model.command import Command
from tests.support import chains
from tests.support.valid import BODY, NODES, PENDULUM, REST, START, STEP, VALID

# Above this an accepted run is legitimate but takes too long for a test.
MOST_STEPS = 20_000


class Named:
    """Shown by Hypothesis, whatever its repr does."""

    def _repr_pretty_(self, printer: Any, _: bool) -> None:
        printer.text(type(self).__name__)


class BrokenRepr(Named):
    def __repr__(self) -> str:
        raise RuntimeError("no repr")


class WrongRepr(Named):
    def __repr__(self) -> Any:
        return 1


class BrokenFloat(Named, float):
    def __float__(self) -> float:
        raise ZeroDivisionError("no float")


class BrokenInt(Named, int):
    def __int__(self) -> int:
        raise ZeroDivisionError("no int")


class Huge(Named, int):
    """More digits than Python agrees to print."""


class BrokenArray(Named):
    def __array__(self, *_: Any, **__: Any) -> Any:
        raise KeyError("no array")


class BrokenLength(Named):
    def __len__(self) -> int:
        raise RuntimeError("no length")

    def __getitem__(self, _: Any) -> Any:
        raise RuntimeError("no item")


class BrokenEquality(Named):
    __hash__ = None  # type: ignore[assignment]

    def __eq__(self, _: object) -> bool:
        raise RuntimeError("not comparable")

    def __bool__(self) -> bool:
        raise RuntimeError("neither true nor false")


SIGNALLING_NAN = np.array([0x7FA00000, 0, 0], dtype=np.uint32).view(np.float32)
OBJECTS: list[Any] = [
    BrokenRepr(),
    WrongRepr(),
    BrokenFloat(1.0),
    BrokenInt(1),
    Huge(10**5000),
    BrokenArray(),
    BrokenLength(),
    BrokenEquality(),
    SIGNALLING_NAN,
    SIGNALLING_NAN[0],
    np.longdouble("1e4000"),
    np.ma.masked_array([1.0, 2.0, 3.0], [True, False, False]),
    np.datetime64("2000-01-01"),
    Shape("point", ()),
    Shape(np.ones(2), object()),  # type: ignore[arg-type]
    object,
    Ellipsis,
    iter([1.0, 2.0, 3.0]),
    tl.Locked(),
    tl.Locked,
    PENDULUM,
    START,
    STEP,
]
finite = st.floats(allow_nan=False, allow_infinity=False)
extreme = st.sampled_from([5e-324, 1e-308, 1e-200, 1e-100, 1.0, 1e100, 1e154, 1e200, 1e308]) | finite


def orders(decades: int) -> st.SearchStrategy[float]:
    """Numbers of either sign, all orders of magnitude alike."""
    return st.builds(lambda sign, k: sign * 10.0**k, st.sampled_from([1.0, -1.0]), st.floats(-decades, decades))


usual = orders(3)
# Not sensible, but nothing overflows when a few of them are multiplied.
large = orders(49)
# From 10**13 on, a count is beyond any memory; counts that merely fill this machine's are not drawn.
whole = st.integers(-(10**4), 10**4) | st.integers(10**13, 10**30)
plain = st.one_of(
    st.none(),
    st.booleans(),
    st.text(max_size=5),
    st.binary(max_size=5),
    whole,
    st.fractions(),
    st.decimals(),
    st.complex_numbers(),
    st.floats(),
    extreme,
)


def strange_object(index: int) -> Any:
    """By index, because Hypothesis shows the elements of sampled_from."""
    return OBJECTS[index]


scalars = plain | st.integers(0, len(OBJECTS) - 1).map(strange_object)
dtypes = st.one_of(hnp.scalar_dtypes(), hnp.array_dtypes(max_size=2), st.just(np.dtype("g")))
arrays = dtypes.flatmap(lambda kind: hnp.arrays(kind, hnp.array_shapes(min_dims=0, max_dims=3, min_side=0, max_side=3)))
objects = hnp.arrays(object, hnp.array_shapes(max_dims=2, max_side=3), elements=plain)
lists = st.recursive(scalars, lambda inner: st.lists(inner, max_size=3) | st.tuples(inner, inner), max_leaves=9)
# Of the shapes that are asked for, so that the checks behind those of the shape are reached as well.
shaped = st.sampled_from([(2,), (3,), (2, 3), (3, 3)]).flatmap(
    lambda shape: hnp.arrays(np.float64, shape, elements=st.floats() | extreme)
)
tables = st.integers(1, 3).flatmap(
    lambda n: st.tuples(
        st.lists(extreme | large, min_size=n, max_size=n, unique=True).map(sorted),
        st.lists(extreme | large, min_size=n, max_size=n),
    )
)
mappings = st.dictionaries(st.text(max_size=2), st.floats(), max_size=2)
garbage = st.one_of(scalars, arrays, objects, lists, shaped, tables, mappings)


def vectors(shape: int | tuple[int, int], of: st.SearchStrategy[float]) -> st.SearchStrategy[Any]:
    return hnp.arrays(np.float64, shape, elements=of)


def positive(of: st.SearchStrategy[float]) -> st.SearchStrategy[float]:
    return of.map(lambda x: abs(x) or 1.0)


@pytest.fixture(scope="module", autouse=True)
def _only_cheap_runs() -> Iterator[None]:
    """Drop an example where the library is about to start a run that is valid but too long for a test."""
    planned = Timing.plan

    def cheap(self: Timing, duration: Any, sample: Any) -> Any:
        plan, rows = planned(self, duration, sample)
        parts = max(1.0, plan.h / min(self._stepper.limits())) if plan.adaptive else 1.0
        if rows * plan.steps_per_sample * parts > MOST_STEPS:
            reject()
        return plan, rows

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Timing, "plan", cheap)
        yield


many = settings(max_examples=40, suppress_health_check=[HealthCheck.filter_too_much, HealthCheck.too_slow])


@pytest.mark.parametrize("call", VALID)
@given(drawn=st.data())
@many
def test_garbage_in_one_argument_is_refused_by_name(call: str, drawn: st.DataObject) -> None:
    function, arguments = VALID[call]
    name = drawn.draw(st.sampled_from(sorted(arguments)), label="argument")
    value = drawn.draw(garbage, label="value")
    assume(name != "control" or not callable(value))  # what the user's own function raises is not ours
    try:
        function(**{**arguments, name: value})
    except InputError as error:
        # where two arguments contradict each other the message may name the other one first
        assert any(argument in str(error) for argument in (*arguments, "inertia")), error
        assert len(str(error)) < 500


@pytest.mark.parametrize("call", [call for call, (_, arguments) in VALID.items() if len(arguments) > 1])
@given(drawn=st.data())
@many
def test_garbage_in_several_arguments_is_refused(call: str, drawn: st.DataObject) -> None:
    function, arguments = VALID[call]
    spoilt = drawn.draw(st.dictionaries(st.sampled_from(sorted(arguments)), garbage, min_size=2), label="spoilt")
    assume(not callable(spoilt.get("control")))
    try:
        function(**{**arguments, **spoilt})
    except InputError as error:
        assert ": expected " in str(error)


sizes = st.sampled_from([usual, large, extreme])


@st.composite
def bodies(draw: st.DrawFn, of: st.SearchStrategy[float]) -> tl.RigidBody:
    """Bodies of any constructor, from the given numbers."""
    mass, sizes = draw(positive(of)), draw(st.tuples(positive(of), positive(of), positive(of)))
    # not far outside the body, because rounding would leave nothing of its own inertia
    center = draw(vectors(3, of) | vectors(3, st.floats(-10.0, 10.0)).map(lambda x: x * min(max(sizes), 1e300)))
    make = draw(st.sampled_from(["RigidBody", "about_center", "elliptic_cylinder", "box", "sphere", "point"]))
    if make == "RigidBody":
        A = draw(vectors((3, 3), of))
        inertia = draw(st.sampled_from([A, np.triu(A) + np.triu(A, 1).T, np.diag(sizes)]))
        return tl.RigidBody(mass, inertia, center)
    if make == "about_center":
        return tl.RigidBody.about_center(mass, np.diag(sizes), center)
    if make == "elliptic_cylinder":
        return tl.RigidBody.elliptic_cylinder(mass, sizes[:2], sizes[2], center)
    if make == "box":
        return tl.RigidBody.box(mass, sizes, center)
    if make == "sphere":
        return tl.RigidBody.sphere(mass, sizes[0], center)
    return tl.RigidBody.point(mass)


@given(drawn=st.data())
@many
def test_bodies_of_any_size(drawn: st.DataObject) -> None:
    """Accepted ones give numbers to the integrator, refused ones are refused without a warning."""
    try:
        body = drawn.draw(bodies(drawn.draw(sizes)), label="body")
    except InputError:
        return
    assert np.isfinite(body.inertia).all()
    assert np.isfinite(body.central_inertia()).all()
    assert 0.0 < body.least_effective_mass() <= body.mass * (1.0 + 1e-9)
    assert body.swing_frequency2(9.81) >= 0.0


@given(drawn=st.data())
@many
def test_runs_of_any_size(drawn: st.DataObject) -> None:
    """A pendulum, a state and a command of finite numbers of any size: a result or an InputError."""
    x, of = drawn.draw, drawn.draw(sizes)
    some = positive(of)
    try:
        length = x(some)
        guide = length * x(st.floats(0.0, 1.0))
        deployed = (length - guide) * x(st.floats(1e-3, 1.0))
        law = x(st.sampled_from(["dissipative", "published", "momentum", "stretched", "none"]))
        pendulum = chains.Chain(
            tl.String(length, x(some), x(some), law="linear"),
            tl.Reel(x(some), guide, x(some), x(vectors(3, of)), law, x(some)),
            x(bodies(of) | st.just(BODY)),
            x(of.map(abs)),
        )
        idle: st.SearchStrategy[Command] = st.sampled_from([tl.Locked(), tl.Free()])
        command = x(idle | st.builds(tl.Torque, of | tables))
        speed = 0.0 if isinstance(command, tl.Locked) else x(of)
        start = chains.straight(pendulum, deployed, 1, (1, 2, 3), end_velocity=x(vectors(3, of)), reel_speed=speed)
        if x(st.booleans()):
            nodes, velocities = np.zeros((2, 2, 3))
            nodes[1], velocities[1] = x(vectors(3, of)), x(vectors(3, of))
            omega = np.zeros(3) if pendulum.body.is_point else x(vectors(3, of))
            start = chains.ChainState(start.reeled_length, speed, nodes, velocities, angular_velocity=omega)
        duration = x(some)
        step = x(st.just("auto") | some | st.integers(1, 100).map(lambda n: duration / n))
        sample = x(st.sampled_from([None, duration]) | some)
        run = tl.simulate(*placed_system(pendulum, start), command, duration=duration, step=step, sample=sample)
    except InputError as error:
        assert len(str(error)) < 500
        return
    assert isinstance(run.attrs["message"], str)
    texts = [w.text for w in tl.warnings_of(run)]
    assert all(len(sentence) < 400 for sentence in (run.attrs["message"], *texts))
    assert math.isfinite(run.attrs["end_time"]) and run.attrs["end_time"] <= duration * (1.0 + 1e-6)
    assert run.attrs["status"] != "completed" or np.isfinite(run.position).all()


@given(
    nodes=vectors((2, 3), large) | st.just(np.array(NODES)),
    velocities=vectors((2, 3), large) | st.just(np.array(REST)),
    speed=large,
    omega=vectors(3, large),
    locked=st.booleans(),
    scheme=st.sampled_from(["symmetric", "paper"]),
)
@many
def test_states_of_any_size(nodes: Any, velocities: Any, speed: float, omega: Any, locked: bool, scheme: str) -> None:
    """An ordinary pendulum from a state of finite numbers: whatever happens to it is told by the status."""
    nodes, velocities = nodes.copy(), velocities.copy()
    nodes[0] = velocities[0] = 0.0
    state = chains.ChainState(1.0, 0.0 if locked else speed, nodes, velocities, angular_velocity=omega)
    command = tl.Locked() if locked else tl.Free()
    run = tl.simulate(
        *placed_system(chain_of(PENDULUM), state), command, duration=4 * STEP, step=STEP, sample=STEP, scheme=scheme
    )
    assert run.attrs["status"] in STATUS_NAMES.values()
    if run.attrs["status"] == "completed":
        assert np.isfinite(run.attitude).all() and np.isfinite(run.position).all()
