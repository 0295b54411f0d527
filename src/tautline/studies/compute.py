"""The computation behind a study: some members in, their outputs out. Members know nothing of each other."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from tautline import dataset, errors, scenario
from tautline.errors import InputError, TautlineError
from tautline.scenario import Built, Scenario
from tautline.simulation import Simulation, default_sample
from tautline.studies import keys
from tautline.studies.outputs import Array, Output, evaluate

# How a member ended: as its run did, or before it could begin.
NOT_COMPUTED, REFUSED, FAILED = -1, len(errors.STATUS_NAMES), len(errors.STATUS_NAMES) + 1
STATUS_NAMES = {NOT_COMPUTED: "not_computed", **errors.STATUS_NAMES, REFUSED: "refused", FAILED: "failed"}
# What a study counts as failures; a string that is fully in or out is a result.
FAILURES = (errors.UNSTABLE_STEP, errors.NEWTON_FAILED, errors.NON_FINITE, REFUSED, FAILED)
_SOURCE = "member"  # where errors say that a value comes from
_CODES = {name: code for code, name in STATUS_NAMES.items()}


@dataclass(frozen=True)
class Work:
    """What all members have in common."""

    scenario: dict[str, Any]  # plain values in SI
    keys: tuple[str, ...]
    outputs: tuple[Output, ...]


class Computed(NamedTuple):
    """Results with a leading dimension of members."""

    outputs: dict[str, Array]
    status: NDArray[np.int8]
    message: list[str]
    steps: NDArray[np.int64]


def compute(work: Work, values: Mapping[str, NDArray[Any]]) -> Computed:
    """Run members, one value of each key for each."""
    count = len(next(iter(values.values())))
    found = Computed(
        {output.name: np.full((count, *output.sizes), np.nan) for output in work.outputs},
        np.full(count, NOT_COMPUTED, dtype=np.int8),
        [""] * count,
        np.zeros(count, dtype=np.int64),
    )
    for k, member in enumerate(_members(work, values)):
        try:
            _run(member, work.outputs, found, k)
        except TautlineError as error:
            found.status[k], found.message[k] = REFUSED, _in_one_line(error)
        except MemoryError:
            raise
        except Exception as error:  # one member that fails in an unforeseen way must not end the others
            found.status[k], found.message[k] = FAILED, f"{type(error).__name__}: {error}"
    return found


def _in_one_line(error: TautlineError) -> str:
    return "; ".join(line.removeprefix(f"{_SOURCE}: ") for line in str(error).splitlines())


class _Member:
    """A scenario that differs from the common one in some places; checked when it is built."""

    def __init__(self, tree: dict[str, Any], like: tuple[Scenario, Built] | None) -> None:
        self._tree, self._like = tree, like

    def build(self) -> Built:
        return scenario.from_dict(self._tree, _SOURCE).build(self._like)


def _members(work: Work, values: Mapping[str, NDArray[Any]]) -> Iterator[_Member]:
    """Sections that are not varied are checked and built once: 0.4 ms a member otherwise."""
    base = scenario.from_dict(work.scenario)
    try:
        like = (base, base.build())
    except TautlineError:  # the first values of all keys need not fit together
        like = None
    places = [keys.parse(key) for key in work.keys]
    varied = {place.section or place.name for place in places}
    tree: dict[str, Any] = {name: getattr(base, name) for name in Scenario.model_fields if name not in varied}
    tree |= {name: work.scenario[name] for name in varied if name in work.scenario}
    columns = [values[key].tolist() for key in work.keys]
    for row in zip(*columns, strict=True):
        member = dict(tree)
        for place, value in zip(places, row, strict=True):
            keys.put(member, place, value)
        yield _Member(member, like)


def _run(member: _Member, outputs: tuple[Output, ...], found: Computed, k: int) -> None:
    """As `simulate` does it, but for the labels, which cost as much as the run."""
    built = member.build()
    options = dict(built.options)
    duration, sample = options.pop("duration"), options.pop("sample")
    simulation = Simulation(built.pendulum, built.state, **options)
    interval = default_sample(duration, simulation.settings["step"]) if sample is None else sample
    simulation.advance(duration, built.command, sample=interval)
    record = simulation.record()
    wanted = {output.variable for output in outputs}
    values = {name: x[None] for name, x in dataset.values_of(built.pendulum, record, wanted).items()}
    rows = np.array([len(record.time)])
    try:
        results = {output.name: evaluate(output, values, rows)[0] for output in outputs}
    except IndexError:
        raise InputError("outputs: expected nodes and elements that every member has, this one has fewer") from None
    for name, result in results.items():
        found.outputs[name][k] = result
    found.status[k] = _CODES[simulation.status]
    found.message[k] = "" if simulation.status == "completed" else simulation.message
    found.steps[k] = simulation.steps
