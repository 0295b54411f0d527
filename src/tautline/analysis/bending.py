"""Bending of a rope: how often each of its sections runs over each sheave and onto each drum."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from tautline.arrays import Array
from tautline.files.runs.given import Run, run_from
from tautline.model import checks
from tautline.results.dataset import build_reading
from tautline.results.inputs import system_of
from tautline.results.one_line import line_of, one_line
from tautline.schema import BENDING_SCHEMA

if TYPE_CHECKING:
    import xarray as xr

SECTIONS = 200


def bending_cycles(run: Run, *, line: str | None = None, sections: int = SECTIONS) -> xr.Dataset:
    """Cycles of bending of the sections of a rope: bent and straightened once is one cycle.

    A section is bent where it comes onto a sheave, from either side, and where a drum winds it up. What is on a wheel
    or drum at the start counts when it comes there again. Bending wears ropes out: compare with the number of cycles
    that the maker of a rope gives for the ratio of the diameters of wheel and rope.

    Parameters
    ----------
    run : Dataset, or path of a run file
    line : str, optional
        Name of the line, where there are several.
    sections : int
        Number of sections, of equal unstretched lengths.

    Returns
    -------
    Dataset
        `cycles` by `wheel` (names of sheaves, "reel", "end_reel") and `section`, and the places of the sections along
        the rope from its start on the drum (m, unstretched); attributes `most` and `worst` (m), the largest sum of
        cycles and where it is.
    """
    checks.whole("sections", sections, 1, 10**6)
    whole = run_from(run, ("reeled_length",))
    one = one_line(whole, line)
    name, own = str(one["line"].item()), line_of(one)
    wheels = system_of(whole.attrs).wheels(name)
    places = (np.arange(sections) + 0.5) * own.string.length / sections
    reeled = one.reeled_length.values
    found: dict[str, Array] = {}
    if own.reel is not None:
        found["reel"] = cycles_of(places, np.full_like(reeled, -np.inf), reeled)
    if wheels:
        lengths = whole.span_length.sel(span=[f"{name}.{k}" for k in range(own.spans)]).values
        begins = reeled.copy()
        for wheel, span in zip(wheels, lengths.T, strict=False):
            begins = begins + span
            found[wheel.name] = cycles_of(places, begins, begins + wheel.wrap)
            begins = begins + wheel.wrap
        if own.end_reel is not None:
            on_end = begins + lengths[:, -1]
            found["end_reel"] = cycles_of(places, on_end, np.full_like(on_end, np.inf))
    cycles = np.array(list(found.values())).reshape(len(found), sections)
    total = cycles.sum(axis=0) if len(found) else np.zeros(sections)
    worst = int(np.argmax(total))
    values = {"wheel": np.array(list(found)), "section": places, "cycles": cycles}
    return build_reading(BENDING_SCHEMA, values, {"line": name, "most": int(total[worst]), "worst": places[worst]})


def cycles_of(places: Array, first: Array, last: Array) -> Array:
    """How often each place comes between two places that move over time, in equal steps of the samples.

    Between samples both move steadily: a place that one of them passes and the other does not has come in.
    """
    count = np.zeros(len(places), dtype=int)
    for a0, b0, a1, b1 in zip(first[:-1], last[:-1], first[1:], last[1:], strict=True):
        # outside before: below the first or beyond the last; inside, or on the other side, after
        below, beyond = places < a0, places > b0
        count += (below & (places >= a1)) | (beyond & (places <= b1))
    return count
