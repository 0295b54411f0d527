"""The computation behind a study: some members in, their outputs out. Members are independent of each other."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import cached_property, partial
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from tautline import schema
from tautline.analysis.assembly_growth import growth_of_assembly
from tautline.analysis.lyapunov import DISTANCE, growth_rates
from tautline.analysis.predictability import estimate, predictability_time
from tautline.engine.cases import begin
from tautline.engine.ensemble import record_ensemble
from tautline.engine.family import Family, Look
from tautline.errors import RUNNING, InputError, TautlineError
from tautline.kernels.lanes import LANES
from tautline.model import keys
from tautline.model.assembly.case import Case
from tautline.model.assembly.sections import is_assembly
from tautline.model.case import ChainCase
from tautline.model.run import Run
from tautline.model.string import String
from tautline.results.values import Values, values_of
from tautline.studies.definition.evaluation import evaluate, evaluate_of_assembly
from tautline.studies.definition.outputs import HEALTH, OF_NEIGHBOURS, Array, Output
from tautline.studies.definition.work import FAILED, NOT_COMPUTED, REFUSED, STATUS_NAMES, Computed, Work
from tautline.studies.store import space

# For the samples of members that march together.
BYTES_TOGETHER = 64e6
_CODES = {name: code for code, name in STATUS_NAMES.items()}


class Started(NamedTuple):
    """A member that is ready to march."""

    place: int
    simulation: Any  # a Simulation, or an NetworkSimulation
    command: Any  # of the reel, or those of an assembly by the names of lines
    run: Run
    rows: int


def compute(work: Work, values: Mapping[str, NDArray[Any]]) -> Computed:
    """Run members, one value of each key for each."""
    count = len(next(iter(values.values())))
    found = Computed(
        {output.name: np.full((count, *output.sizes), np.nan) for output in work.outputs},
        np.full(count, NOT_COMPUTED, dtype=np.int8),
        [""] * count,
        np.zeros(count, dtype=np.int64),
        np.full((count, len(HEALTH)), np.nan),
        [""] * count,
    )
    members = Members(work, values)
    if is_assembly(work.scenario):
        for place in range(count):
            with _reported(found, place):
                _run_assembly(members.start(place), work.outputs, found)
        return found
    _run_family(members, found)
    started: dict[int, list[Started]] = {}
    for place in np.flatnonzero(found.status == NOT_COMPUTED).tolist():
        with _reported(found, place):
            one = members.start(place)
            started.setdefault(one.rows, []).append(one)
    for rows, alike in started.items():
        for group in _in_groups(alike, rows):
            _run(group, work.outputs, found)
    return found


@contextmanager
def _reported(found: Computed, place: int) -> Iterator[None]:
    """Turn an error of a member into its result, so that the others are computed."""
    try:
        yield
    except TautlineError as error:
        found.status[place], found.message[place] = REFUSED, _in_one_line(error)
    except MemoryError:
        raise
    except Exception as error:  # one member that fails in an unforeseen way must not end the others
        found.status[place], found.message[place] = FAILED, f"{type(error).__name__}: {error}"


def _in_groups(members: list[Started], rows: int) -> Iterator[list[Started]]:
    """So many at a time as fit into the memory meant for them; whole blocks of lanes."""
    bytes_each = 8 * rows * schema.row_length(members[0].simulation.elements)
    size = max(1, int(BYTES_TOGETHER / bytes_each) // LANES) * LANES
    for first in range(0, len(members), size):
        yield members[first : first + size]


def _in_one_line(error: TautlineError) -> str:
    return "; ".join(str(error).splitlines())


class Members:
    """Members of a study, with one value of each key for each.

    Attributes
    ----------
    base : ChainCase or None
        The case of the first values of all keys; None where these do not fit together, and of an assembly.
    """

    def __init__(self, work: Work, values: Mapping[str, NDArray[Any]]) -> None:
        self.work, self.values, self.base = work, values, _base(work)

    @cached_property
    def _tree(self) -> dict[str, Any]:
        return self.work.scenario if self.base is None else self.base.keys()

    def case(self, place: int) -> ChainCase | Case:
        """Case of a member; sections of a pendulum that are not varied are read and built once."""
        tree = dict(self._tree)
        for key in self.work.keys:
            keys.put(tree, keys.parse(key), self.values[key][place : place + 1].tolist()[0])
        if is_assembly(tree):
            return Case.from_dict(tree)
        return ChainCase.from_dict(tree, like=self.base)

    def start(self, place: int) -> Started:
        """A member at the start of its run; samples that cannot fit into memory are refused."""
        case = self.case(place)
        simulation, rows, _ = begin(case)
        space.check_samples(rows, simulation.layout)
        command = case.commands if isinstance(case, Case) else case.command
        return Started(place, simulation, command, case.run, rows)


def _base(work: Work) -> ChainCase | None:
    """Case of the scenario of a pendulum, if it is one."""
    if is_assembly(work.scenario):
        return None
    try:
        base = ChainCase.from_dict(work.scenario)
        base.state()
    except TautlineError:
        return None
    return base


def _run_family(members: Members, found: Computed) -> None:
    """Run those members that differ from each other in plain numbers alone; the others are left."""
    work, base = members.work, members.base
    if base is None or any(output.variable in OF_NEIGHBOURS for output in work.outputs):
        return
    try:
        family = Family(base, work.keys)
        space.check_samples(family.rows, schema.of_chain(family.elements))
    except TautlineError:
        return
    if not family.known or not all(output.fits(family.elements) for output in work.outputs):
        return
    for look in family.looks(members.values, _needed(work.outputs), partial(_kept, work.outputs)):
        _take_look(family, look, found)
        for k in look.left:
            place = int(look.places[k])
            if found.status[place] != NOT_COMPUTED:  # it was several times in its block
                continue
            with _reported(found, place):
                one = members.start(place)
                family.go_on(look, k, one.simulation)
                _take(one, work.outputs, found)


def _kept(outputs: tuple[Output, ...], values: Values, string: String) -> dict[str, Array]:
    """Outputs of members that have all their samples."""
    members, rows = next(x for name, x in values.items() if name != "time").shape[:2]
    return {output.name: evaluate(output, values, np.full(members, rows), string) for output in outputs}


def _take_look(family: Family, look: Look, found: Computed) -> None:
    """Outputs, steps and health of members that have come to the end of their samples."""
    ended, places = look.ended, look.places[look.ended]
    for name, result in look.kept.items():
        found.outputs[name][places] = result[ended]
    found.status[places], found.steps[places] = RUNNING, look.steps[ended]
    found.health[places] = np.stack([look.figures[name][ended] for name in HEALTH], axis=1)
    for k, remarks in family.remarks(look).items():
        if ended[k]:
            found.remarks[look.places[k]] = "\n".join(remarks)


def _needed(outputs: Sequence[Output]) -> set[str]:
    """Variables of a run that outputs are made of."""
    return {name for output in outputs for name in output.needs}


def _run(group: list[Started], outputs: tuple[Output, ...], found: Computed) -> None:
    """March members together, and take from each what is wanted: labels would cost as much as the run."""
    simulations = [one.simulation for one in group]
    watched = [output for output in outputs if output.variable in OF_NEIGHBOURS]
    rates = {
        interval: _growth_rates(group, interval) for interval in {output.interval for output in watched}
    }  # before the simulations themselves move on
    record_ensemble(simulations, group[0].rows)
    for k, one in enumerate(group):
        with _reported(found, one.place):
            _take(one, [output for output in outputs if output not in watched], found)
            for output in watched:
                found.outputs[output.name][one.place] = _parting(output, rates[output.interval][k])


def _parting(output: Output, rates: Array) -> float:
    """Lyapunov exponent (1/s) or predictability time (s), from the growth in every interval of a member."""
    exponent = estimate(rates[None])
    known = output.variable == "lyapunov"
    return float((exponent if known else predictability_time(exponent, output.known, output.lost))[0])


def _growth_rates(group: list[Started], interval: float) -> Array:
    twins = [one.simulation.twin() for one in group]
    for twin, one in zip(twins, group, strict=True):
        twin.begin(one.command, one.run.duration, interval)
    return growth_rates(twins, round(group[0].run.duration / interval)) / interval


def _run_assembly(one: Started, outputs: Sequence[Output], found: Computed) -> None:
    """March a member alone, as `simulate` does."""
    simulation = one.simulation
    watched = [output for output in outputs if output.variable in OF_NEIGHBOURS]
    for output in watched:
        twin = simulation.twin(one.run.duration)
        intervals = twin.begin(one.command, one.run.duration, output.interval)
        rates = growth_of_assembly(twin, intervals, output.interval, DISTANCE) / output.interval
        found.outputs[output.name][one.place] = _parting(output, rates)
    simulation.advance(one.run.duration, one.command, sample=one.run.interval())
    values = {name: x[None] for name, x in simulation.recorded().items()}
    rows = np.array([values["time"].shape[1]])
    with _missing_places_named():
        results = {
            x.name: evaluate_of_assembly(x, values, rows, simulation.assembly)[0] for x in outputs if x not in watched
        }
    _keep(one, results, simulation.attributes(), found)


def _take(one: Started, outputs: Sequence[Output], found: Computed) -> None:
    """Outputs, status and steps of a member that has come to its end."""
    simulation = one.simulation
    record = simulation.record()
    pendulum = simulation.pendulum
    values = {name: x[None] for name, x in values_of(pendulum, record, _needed(outputs)).items()}
    rows = np.array([len(record.time)])
    with _missing_places_named():
        results = {output.name: evaluate(output, values, rows, pendulum.string)[0] for output in outputs}
    _keep(one, results, simulation.health(), found)


@contextmanager
def _missing_places_named() -> Iterator[None]:
    """Errors about nodes and elements that a member does not have, in words."""
    try:
        yield
    except IndexError:
        raise InputError("outputs: expected nodes and elements that every member has, this one has fewer") from None


def _keep(one: Started, results: Mapping[str, Array], figures: Mapping[str, Any], found: Computed) -> None:
    """Results of a member, how it ended, and how far its numbers can be trusted; NaN for what is not measured."""
    for name, result in results.items():
        found.outputs[name][one.place] = result
    simulation = one.simulation
    found.status[one.place] = _CODES[simulation.status]
    found.message[one.place] = "" if simulation.status == "completed" else simulation.message
    found.steps[one.place] = simulation.steps
    found.health[one.place] = [figures.get(name, np.nan) for name in HEALTH]
    found.remarks[one.place] = "\n".join(simulation.remarks())
