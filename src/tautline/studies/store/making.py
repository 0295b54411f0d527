"""The store of a study that begins: the design, and room for all results, under digests."""

from __future__ import annotations

import json
import os
import secrets
import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from tautline import durable
from tautline._version import __version__
from tautline.extras import need
from tautline.schema import AXES, sheave_names, span_names
from tautline.studies.definition import work
from tautline.studies.definition.definition import Study
from tautline.studies.definition.outputs import HEALTH
from tautline.studies.store import guard
from tautline.studies.store.archive import FORMAT, Archive, open_archive, trouble
from tautline.studies.store.layout import Layout

# Values of parameters are read by batch but written once: fewer and larger files.
MEMBERS_A_COLUMN_CHUNK = 1 << 17
STEPS = "composed steps made"


def create(path: Path, study: Study, layout: Layout, seconds: float, replace: bool) -> Archive:
    """With the design and all metadata inside; it gets its name when they are."""
    part, old = durable.part_name(path), durable.part_name(path)
    zarr = need("zarr", "a study")
    try:
        durable.remove_leftovers(path)
        group = zarr.create_group(part, attributes=_attributes(study, layout, seconds))
        _Maker(group).make(study, layout)
        guard.seal(part, group)
        if replace and path.exists():
            os.rename(path, old)
        os.rename(part, path)
    except OSError as error:
        raise trouble(path, error) from None
    finally:
        shutil.rmtree(part, ignore_errors=True)
        shutil.rmtree(old, ignore_errors=True)
    return open_archive(path)


def _attributes(study: Study, layout: Layout, seconds: float) -> dict[str, Any]:
    sizes = {output.name: len(output.sizes) for output in study.work.outputs}
    return {
        "Conventions": "CF-1.11",
        "title": study.title or "tautline study",
        "description": study.description,
        "source": f"tautline {__version__}",
        "format": FORMAT,
        "version": __version__,
        "token": secrets.token_hex(8),
        "study": json.dumps(study.plan()),
        "shape": list(layout.shape),
        "chunk": list(layout.chunk),
        "seconds_a_member": seconds,
        # arrays that come batch by batch, with their dimensions beyond those of the members
        "batched": {**sizes, "status": 0, "message": 0, "steps": 0, "health": 1, "warnings": 0},
    }


class _Maker:
    """Makes arrays, each chunk of which ends with its checksum."""

    def __init__(self, group: Any) -> None:
        self._group = group
        codecs = need("zarr.codecs", "a study")
        self._codecs = (codecs.ZstdCodec(), codecs.Crc32cCodec())

    def _array(
        self, name: str, dims: list[str], shape: tuple[int, ...], chunks: tuple[int, ...], dtype: Any, fill: Any
    ) -> Any:
        return self._group.create_array(
            name,
            shape=shape,
            chunks=chunks,
            dtype=dtype,
            fill_value=fill,
            dimension_names=dims,
            compressors=self._codecs,
            config={"write_empty_chunks": True},  # a chunk that is not there is a loss
        )

    def make(self, study: Study, layout: Layout) -> None:
        self._write_design(study, layout)
        self._make_results(study, layout)
        for name, (dim, values, units) in _coordinates(study).items():
            self._write_column(name, dim, np.array(values), len(values), {"units": units} if units else {})

    def _write_column(self, name: str, dim: str, column: Any, chunk: int, attributes: Mapping[str, Any]) -> None:
        array = self._column(name, dim, column, len(column), chunk, attributes)
        array[:] = column.astype(object) if column.dtype.kind in "OU" else column

    def _column(self, name: str, dim: str, like: Any, count: int, chunk: int, attributes: Mapping[str, Any]) -> Any:
        """An empty column of so many values like some."""
        words = like.dtype.kind in "OU"
        array = self._array(name, [dim], (count,), (chunk,), str if words else like.dtype, "" if words else 0)
        array.update_attributes(attributes)
        return array

    def _write_design(self, study: Study, layout: Layout) -> None:
        whole = layout.chunk[0]
        chunk = min(study.members, whole * max(1, MEMBERS_A_COLUMN_CHUNK // whole))
        arrays = {}
        for axis, key in enumerate(study.keys):
            words = {"units": study.units[key] or "1", "long_name": f"{key} of the scenario", "axis_of_design": axis}
            if study.design.kind == "grid":
                self._write_column(key, key, study.given[key], len(study.given[key]), words)
            else:
                arrays[key] = self._column(key, "member", study.part(0, 1)[key], study.members, chunk, words)
        for first in range(0, study.members if arrays else 0, chunk):  # so that no process holds all of them
            for key, column in study.part(first, min(first + chunk, study.members)).items():
                arrays[key][first : first + chunk] = column

    def _make_results(self, study: Study, layout: Layout) -> None:
        """Arrays of results without a chunk."""
        owners = _owners(study)

        def make(name: str, dtype: Any, fill: Any, attrs: Mapping[str, Any], more: Mapping[str, int]) -> None:
            sizes = tuple(more.values())
            array = self._array(
                name, [*study.dims, *more], (*layout.shape, *sizes), (*layout.chunk, *sizes), dtype, fill
            )
            beside = [name for name, (dim, _, _) in owners.items() if dim in more]
            array.update_attributes({**attrs, "coordinates": " ".join([*study.keys, *beside])})

        nan = float("nan")
        for output in study.work.outputs:
            more = dict(zip(output.dims, output.sizes, strict=True))
            make(output.name, "f8", nan, {"units": output.units, "long_name": output.long_name}, more)
        names = work.STATUS_NAMES
        flags = {"flag_values": list(names), "flag_meanings": " ".join(names.values())}
        make("status", "i1", work.NOT_COMPUTED, {"long_name": "how the member ended", **flags}, {})
        make("message", str, "", {"long_name": "why it ended early or was refused"}, {})
        make("steps", "i8", 0, {"long_name": STEPS, "units": "1"}, {})
        health = {"long_name": "how far the numbers can be trusted", "units": "1"}
        make("health", "f8", nan, health, {"figure": len(HEALTH)})
        make("warnings", str, "", {"long_name": "warnings on the member, as JSON; empty where there are none"}, {})
        marks = self._array("done", ["batch"], (layout.batches,), (1,), "i4", -1)
        marks.update_attributes({"long_name": "members of a batch that failed; -1 where the batch is not complete"})


# Coordinates by name: their dimension, values and unit.
Coordinates = dict[str, tuple[str, Any, str]]


def _coordinates(study: Study) -> Coordinates:
    """Coordinates of the dimensions that results have beyond the members."""
    facts = study.facts
    found: Coordinates = {"figure": ("figure", list(HEALTH), "")}
    words = {"axis": AXES, "body": list(facts.bodies), "line": list(facts.lines), "sheave": sheave_names(facts.over)}
    words |= {"span": span_names({name: facts.spans(name) for name in facts.lines})}
    for output in study.work.outputs:
        sizes = dict(zip(output.dims, output.sizes, strict=True))
        found |= {dim: (dim, names, "") for dim, names in words.items() if dim in sizes}
        if "time" in sizes and facts.interval is not None:
            found["time"] = ("time", np.arange(sizes["time"]) * facts.interval, "s")
        own = f"{output.name}_time"
        if own in sizes:
            found[own] = (own, np.array(output.times), "s")
        found |= {name: x for name, x in _owners(study).items() if x[0] in sizes}
    return found


def _owners(study: Study) -> Coordinates:
    """Lines that nodes and elements of all lines belong to, where there are several."""
    facts, more = study.facts, {"node": 1, "element": 0}
    return {
        f"{dim}_line": (dim, [name for name in facts.lines for _ in range(facts.places(name, k) or 0)], "")
        for dim, k in more.items()
        if len(facts.lines) > 1
    }
