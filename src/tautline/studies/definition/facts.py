"""Facts that all runs of a study have in common: sizes, times of samples, and which lines have a breaking load."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from tautline import schema
from tautline.model import checks
from tautline.model.file_keys import Tree
from tautline.model.kinds import AUTO
from tautline.model.run import Run
from tautline.model.system.sections import KIND
from tautline.schema import Layout


@dataclass(frozen=True)
class Facts:
    """Properties that all runs of a study have in common."""

    interval: float | None  # between samples (s); None where members may differ
    rows: int | None  # samples, the first included
    lines: Mapping[str, int | None]  # elements by name; None where members may differ
    bodies: tuple[str, ...]
    free_body: str | None  # the only one, if there is only one
    loaded: tuple[str, ...] = ()  # lines that have a breaking load
    is_short: bool = False  # messages name short keys
    over: Mapping[str, tuple[str, ...]] = field(default_factory=dict)  # what lines run over, by name

    @property
    def only_line(self) -> str | None:
        """The only line, if there is only one."""
        return next(iter(self.lines)) if len(self.lines) == 1 else None

    @property
    def elements(self) -> int | None:
        """Elements of all lines together; None where members may differ."""
        known = [n for n in (self.places(name) for name in self.lines) if n is not None]
        return sum(known) if len(known) == len(self.lines) else None

    def places(self, line: str, extra: int = 0) -> int | None:
        """Elements of all spans of a line, with so many more in each; None where members may differ."""
        n = self.lines[line]
        return None if n is None else self.spans(line) * (n + extra)

    def spans(self, line: str) -> int:
        return len(self.over.get(line, ())) + 1

    @property
    def layout(self) -> Layout | None:
        """Variables and dimensions of the results, where these are the same for all members."""
        if self.elements is None:
            return None
        return schema.of_system(list(self.bodies), {name: n or 0 for name, n in self.lines.items()}, self.over)

    def key_of(self, line: str, name: str) -> str:
        """A key of a line as a message names it."""
        if self.is_short:
            return f"run.{name}" if name == "elements" else f"string.{name}"
        return f"lines.{line}.{name}"


def facts_of(base: Tree, varied: tuple[str, ...], is_short: bool = False) -> Facts:
    """From all keys of a system in SI, and those that are varied."""
    run = Run(**base["run"])
    loose = {"run.duration", "run.sample"} | ({"run.step"} if run.sample is None else set())
    interval = rows = None
    if not loose & set(varied):
        interval = run.interval()
        rows = checks.whole_ratio("run.duration", run.duration, "sample", interval) + 1
    lines, bodies = base["lines"], base.get("bodies", {})
    counts = {
        name: line["elements"] if f"lines.{name}.elements" not in varied and line["elements"] != AUTO else None
        for name, line in lines.items()
    }
    loaded = tuple(name for name, line in lines.items() if line.get("breaking_load") is not None)
    free = [name for name, body in bodies.items() if KIND not in body]
    over = {name: tuple(line.get("over") or ()) for name, line in lines.items()}
    return Facts(interval, rows, counts, tuple(bodies), free[0] if len(free) == 1 else None, loaded, is_short, over)
