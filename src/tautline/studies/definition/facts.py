"""What all runs of a study have in common: sizes, times of samples, and which lines have a breaking load."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from tautline import schema
from tautline.model import checks
from tautline.model.assembly.sections import is_assembly
from tautline.model.run import Run
from tautline.model.sections import Tree
from tautline.schema import Layout
from tautline.studies.definition.scenario_keys import language_of


@dataclass(frozen=True)
class Facts:
    """Properties that all runs of a study have in common."""

    elements: int | None  # of all lines together; None where members may differ
    interval: float | None  # between samples (s)
    rows: int | None  # samples, the first included
    breaking_load: bool = False  # whether every member has one, of a string at least
    lines: Mapping[str, int | None] = field(default_factory=dict)  # elements by name; of an assembly alone
    bodies: tuple[str, ...] = ()  # of an assembly
    loaded: tuple[str, ...] = ()  # lines of an assembly that have a breaking load

    @property
    def assembly(self) -> bool:
        """Whether runs are of an assembly."""
        return bool(self.lines)

    @property
    def layout(self) -> Layout | None:
        """Variables and dimensions of the results, where these are the same for all members."""
        if self.elements is None:
            return None
        if not self.assembly:
            return schema.of_chain(self.elements)
        return schema.of_assembly(list(self.bodies), {name: n or 0 for name, n in self.lines.items()})


def facts_of(base: Tree, varied: tuple[str, ...]) -> Facts:
    """From the keys of a scenario in SI, and those that are varied."""
    run = Run(**base["run"])
    loose = {"run.duration", "run.sample"} | ({"run.step"} if run.sample is None else set())
    interval = rows = None
    if not loose & set(varied):
        interval = run.interval()
        rows = checks.whole_ratio("run.duration", run.duration, "sample", interval) + 1
    if not is_assembly(base):
        elements = None if "run.elements" in varied else run.number_of_elements()
        load = "string.breaking_load" in varied or base["string"].get("breaking_load") is not None
        return Facts(elements, interval, rows, load)
    lines = language_of(base).complete(base)["lines"]
    counts = {
        name: None if f"lines.{name}.elements" in varied else int(line["elements"]) for name, line in lines.items()
    }
    known = [n for n in counts.values() if n is not None]
    loaded = tuple(name for name, line in lines.items() if line.get("breaking_load") is not None)
    elements = sum(known) if len(known) == len(counts) else None
    return Facts(elements, interval, rows, bool(loaded), counts, tuple(base.get("bodies", {})), loaded)
