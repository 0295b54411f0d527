"""The computation behind a study: some members in, their outputs out. Members are independent of each other."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from tautline import schema
from tautline.analysis.neighbors import DISTANCE, growth_of
from tautline.analysis.predictability import estimate, predictability_time
from tautline.engine.cases import begin
from tautline.engine.choose import LANES as TOGETHER
from tautline.engine.runner import Runner
from tautline.errors import RUNNING, TautlineError
from tautline.kernels.data import Plan
from tautline.kernels.lanes import LANES
from tautline.model import keys
from tautline.model.keys import dotted
from tautline.model.short_keys import short
from tautline.model.string import String
from tautline.model.system.case import Case
from tautline.model.system.system import System
from tautline.results.values import Values
from tautline.results.warnings import encoded
from tautline.studies.definition.evaluation import Parts, evaluate, parts_of
from tautline.studies.definition.outputs import AT_INTERVAL, HEALTH, OF_NEIGHBORS, Array, Output
from tautline.studies.definition.work import FAILED, NOT_COMPUTED, REFUSED, STATUS_NAMES, Computed, Work
from tautline.studies.store import space

if TYPE_CHECKING:
    from tautline.engine.chain.backend import ChainBackend
    from tautline.engine.chain.family import BatchResult, Family

# For the samples of members that march together.
BYTES_TOGETHER = 64e6
_CODES = {name: code for code, name in STATUS_NAMES.items()}


class Started(NamedTuple):
    """A member that is ready to march."""

    place: int
    simulation: Runner[Any]
    case: Case
    rows: int

    @property
    def in_lanes(self) -> bool:
        """Whether it may march together with others."""
        return TOGETHER.of(self.simulation.backend) and not self.case.run.stop


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
    _run_family(members, found)
    alike: dict[int, list[Started]] = {}
    for place in np.flatnonzero(found.status == NOT_COMPUTED).tolist():
        with _reported(found, place):
            one = members.start(place)
            if one.in_lanes:
                alike.setdefault(one.rows, []).append(one)
            else:
                _run_alone(one, work.outputs, found)
    for group in alike.values():
        for some in _in_groups(group):
            _run(some, work.outputs, found)
    return found


@contextmanager
def _reported(found: Computed, place: int) -> Iterator[None]:
    """Turn an error of a member into its result, so that the others are computed."""
    try:
        yield
    except TautlineError as error:
        found.status[place], found.message[place] = REFUSED, "; ".join(str(error).splitlines())
    except MemoryError:
        raise
    except Exception as error:  # one member that fails in an unforeseen way must not end the others
        found.status[place], found.message[place] = FAILED, f"{type(error).__name__}: {error}"


def _in_groups(members: list[Started]) -> Iterator[list[Started]]:
    """So many at a time as fit into the memory meant for them; whole blocks of lanes."""
    bytes_each = 8 * members[0].rows * members[0].simulation.layout.row_length()
    size = max(1, int(BYTES_TOGETHER / bytes_each) // LANES) * LANES
    for first in range(0, len(members), size):
        yield members[first : first + size]


class Members:
    """Members of a study, with one value of each key for each."""

    def __init__(self, work: Work, values: Mapping[str, NDArray[Any]]) -> None:
        self.work, self.values = work, values

    @cached_property
    def _base(self) -> Case | None:
        """Case of the first values of all keys; None where these do not fit."""
        with suppress(TautlineError):
            return self._read(self.work.scenario)
        return None

    def _read(self, tree: dict[str, Any]) -> Case:
        return Case.from_dict(tree, locate=_short if self.work.is_short else dotted)

    def family(self) -> Family | None:
        """The members as those that differ in plain numbers alone; None where they do not, or the first do not fit."""
        base = self._base
        if base is None or base.run.stop:
            return None
        with suppress(TautlineError):
            if TOGETHER.given(base):
                from tautline.engine.chain.family import Family

                family = Family(base, self.work.places.values())
                space.check_samples(
                    family.rows, _layout(base.system, dict.fromkeys(base.system.lines, family.elements))
                )
                return family if family.known else None
        return None

    def _values(self, place: int) -> dict[str, Any]:
        """Values of a member by the keys of the study."""
        return {name: self.values[name][place : place + 1].tolist()[0] for name in self.work.keys}

    def case(self, place: int) -> Case:
        """Case of a member; parts that are not varied are read and built once."""
        values = self._values(place)
        if self._base is not None:
            return self._base.with_(values)
        tree = dict(self.work.scenario)
        for name, value in values.items():
            keys.put(tree, keys.parse(self.work.places[name]), value)
        return self._read(tree)

    def start(self, place: int) -> Started:
        """A member at the start of its run; samples that cannot fit into memory are refused."""
        case = self.case(place)
        simulation, rows, _ = begin(case)
        space.check_samples(rows, _layout(case.system, case.state().elements()))
        return Started(place, simulation, case, rows)


def _short(path: list[str]) -> str:
    """The short key of a path."""
    return dotted(short(tuple(path)))


def _layout(system: System, elements: Mapping[str, int]) -> schema.Layout:
    over = {name: tuple(line.over) for name, line in system.lines.items()}
    return schema.of_system(list(system.bodies), elements, over)


def _parts(system: System, string: String, elements: Mapping[str, int]) -> Parts:
    """Parts of members that are chains."""
    return Parts(dict.fromkeys(system.lines, string), elements, dict.fromkeys(system.lines, 1))


def _run_family(members: Members, found: Computed) -> None:
    """Run those members that differ from each other in plain numbers alone; the others are left."""
    work = members.work
    if any(output.variable in OF_NEIGHBORS for output in work.outputs):
        return
    family = members.family()
    if family is None:
        return
    system = family.case.system
    elements = dict.fromkeys(system.lines, family.elements)
    if not all(output.fits(elements) for output in work.outputs):
        return
    values = {place: members.values[name] for name, place in work.places.items()}

    def keep(variables: Values, string: String) -> dict[str, Array]:
        return _kept(work.outputs, variables, _parts(system, string, elements))

    for result in family.results(values, _needed(work.outputs), keep):
        _take_result(family, result, found)
        for k in result.left:
            place = int(result.places[k])
            if found.status[place] != NOT_COMPUTED:  # it was several times in its block
                continue
            with _reported(found, place):
                one = members.start(place)
                family.go_on(result, k, _chain(one))
                _take(one, work.outputs, found)


def _kept(outputs: tuple[Output, ...], values: Values, parts: Parts) -> dict[str, Array]:
    """Outputs of members that have all their samples."""
    members, rows = next(x for name, x in values.items() if name != "time").shape[:2]
    return {output.name: evaluate(output, values, np.full(members, rows), parts) for output in outputs}


def _take_result(family: Family, result: BatchResult, found: Computed) -> None:
    """Outputs, steps and health of members that have come to the end of their samples."""
    ended, places = result.ended, result.places[result.ended]
    for name, kept in result.kept.items():
        found.outputs[name][places] = kept[ended]
    found.status[places], found.steps[places] = RUNNING, result.steps[ended]
    found.health[places] = np.stack([result.figures[name][ended] for name in HEALTH], axis=1)
    for k, warnings in family.warnings(result).items():
        if ended[k]:
            found.warnings[result.places[k]] = encoded(warnings)


def _needed(outputs: Sequence[Output]) -> set[str]:
    """Variables of a run that outputs are made of."""
    return {name for output in outputs for name in output.needs}


def _run(group: list[Started], outputs: tuple[Output, ...], found: Computed) -> None:
    """March members together, and take from each what is wanted: labels would cost as much as the run."""
    from tautline.engine.chain.ensemble import record_ensemble

    simulations = [_chain(one) for one in group]
    watched = [output for output in outputs if output.variable in OF_NEIGHBORS]
    rates = {
        interval: _growth_rates(group, interval) for interval in {output.interval for output in watched}
    }  # before the simulations themselves move on
    record_ensemble(simulations, group[0].rows)
    for k, one in enumerate(group):
        with _reported(found, one.place):
            _take(one, [output for output in outputs if output not in watched], found)
            for output in watched:
                found.outputs[output.name][one.place] = _parting(output, rates[output.interval][k])


def _chain(one: Started) -> Runner[ChainBackend]:
    """A member that marches in lanes."""
    return one.simulation


def march(one: Started, rows: int, plan: Plan) -> None:
    """March a member alone for so many samples, as it would be marched with others."""
    if TOGETHER.of(one.simulation.backend):
        from tautline.engine.chain.ensemble import march_ensemble

        march_ensemble([_chain(one)], rows)
    else:
        one.simulation.march(rows, plan)


def _parting(output: Output, rates: Array) -> float:
    """Lyapunov exponent (1/s) or predictability time (s), from the growth in every interval of a member."""
    exponent = estimate(rates[None])
    known = output.variable == "lyapunov"
    return float((exponent if known else predictability_time(exponent, output.known, output.lost))[0])


def _growth_rates(group: list[Started], interval: float) -> Array:
    """Growth (1/s) of the distance to a neighboring motion in every interval, a row a member."""
    from tautline.analysis.chain_growth import growth_rates

    copies = [_chain(one).copy() for one in group]
    for other, one in zip(copies, group, strict=True):
        other.begin(one.case.commands, one.case.run.duration, interval)
    return growth_rates(copies, round(group[0].case.run.duration / interval), DISTANCE) / interval


def _growth_rates_alone(one: Started, interval: float) -> Array:
    """Growth rates of one member on its own backend."""
    other = one.simulation.copy(one.case.run.duration)
    return growth_of(other, other.begin(one.case.commands, one.case.run.duration, interval), interval) / interval


def _run_alone(one: Started, outputs: Sequence[Output], found: Computed) -> None:
    """March a member alone, as `simulate` does."""
    watched = [output for output in outputs if output.variable in OF_NEIGHBORS]
    for output in watched:
        found.outputs[output.name][one.place] = _parting(output, _growth_rates_alone(one, output.interval))
    one.simulation.advance(one.case.run.duration, one.case.commands, sample=one.case.run.interval())
    _take(one, [output for output in outputs if output not in watched], found)


def _take(one: Started, outputs: Sequence[Output], found: Computed) -> None:
    """Outputs of a member at its end, how it ended, and how far its numbers can be trusted; NaN for what is unknown."""
    simulation, figures = one.simulation, one.simulation.figures()
    parts, values = parts_of(one.case.system, one.case.state().elements()), simulation.recorded(_needed(outputs))
    rows = np.array([len(values["time"])])
    at_interval = rows - simulation.timing.after_sample
    of_all = {name: x[None] for name, x in values.items()}
    results = {
        output.name: evaluate(output, of_all, at_interval if output.reduce in AT_INTERVAL else rows, parts)[0]
        for output in outputs
    }
    for name, result in results.items():
        found.outputs[name][one.place] = result
    found.status[one.place] = _CODES[simulation.status]
    found.message[one.place] = "" if simulation.status == "completed" else simulation.message
    found.steps[one.place] = simulation.steps
    found.health[one.place] = [figures.get(name, np.nan) for name in HEALTH]
    warnings = simulation.warnings()
    found.warnings[one.place] = encoded(warnings) if warnings else ""
