"""Protection of a study's store against damage: a checksum in every chunk, digests of all metadata.

Every chunk ends with the CRC-32C of what comes before it (Zarr's own codec, so other readers check it as well). A batch
that is marked has a chunk in every array of results; Zarr would read a missing one as fill values, so it is looked for
here. Metadata and attributes of all arrays have digests in the attributes of the group, which have one themselves.
"""

from __future__ import annotations

import hashlib
import importlib
import json
import shutil
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from tautline import durable
from tautline.files.runs import StoreError
from tautline.studies.store.layout import Layout

METADATA = "zarr.json"
MARKS = "done"
_CHECKSUM = 4  # bytes


class DamagedError(StoreError):
    """A study of ours was changed by something else than a study."""


class Kept(NamedTuple):
    """Which arrays of a store come batch by batch, and how batches lie in them."""

    layout: Layout
    batched: dict[str, int]  # dimensions beyond those of the members, by array

    def chunk(self, name: str, batch: int) -> str:
        """The place of a batch's chunk in the store."""
        if name == MARKS:
            return f"{name}/c/{batch}"
        places = [int(place) for place in np.unravel_index(batch, self.layout.counts)] + [0] * self.batched[name]
        return f"{name}/c/{'/'.join(map(str, places))}"

    def batch(self, name: str, places: list[int]) -> int:
        """The batch that a chunk belongs to."""
        if name == MARKS:
            return places[0]
        counts = self.layout.counts
        return int(np.ravel_multi_index(tuple(places[: len(counts)]), counts))


def kept(attributes: dict[str, Any]) -> Kept:
    """From the attributes of a group."""
    return Kept(Layout(tuple(attributes["shape"]), tuple(attributes["chunk"])), dict(attributes["batched"]))


@cache
def _crc32c() -> Callable[[bytes], int]:
    """CRC-32C of the library that Zarr's codec uses."""
    try:
        found: Callable[[bytes], int] = importlib.import_module("google_crc32c").value
    except ModuleNotFoundError:  # before Zarr 3.1
        found = importlib.import_module("crc32c").crc32c
    return found


def is_sound(raw: bytes) -> bool:
    """Whether a chunk ends with its checksum."""
    if len(raw) <= _CHECKSUM:
        return False
    return _crc32c()(raw[:-_CHECKSUM]) == int.from_bytes(raw[-_CHECKSUM:], "little")


def state_of(path: Path) -> str:
    """State of a chunk: `sound`, `missing` or `damaged`."""
    try:
        with durable.open_input(path) as file:
            return "sound" if is_sound(file.read()) else "damaged"
    except FileNotFoundError:
        return "missing"
    except (durable.NotAFileError, NotADirectoryError):
        return "damaged"


def remove(path: Path) -> None:
    """Whatever is in the place of a chunk."""
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path)
    else:
        path.unlink(missing_ok=True)


def damage_of(root: Path, batch: int, name: str, how: str, others: int = 0) -> str:
    """Sentence on what is wrong with a batch, and what helps."""
    what = "the mark" if name == MARKS else f"array {name}"
    why = " (its checksum does not match)" if how == "damaged" else ""
    more = "" if not others else f"; so {'is 1 other batch' if others == 1 else f'are {others} other batches'}"
    again = "that batch" if not others else "these batches"
    return (
        f"{root}: {what} of batch {batch} is {how}{why}{more}; `tautline study --resume {root}` computes {again} again"
    )


def damages(root: Path, known: Kept) -> dict[int, str]:
    """The first damaged array of every batch that is marked as complete; reads the whole store."""
    found: dict[int, str] = {}
    for batch in range(known.layout.batches):
        mark = state_of(root / known.chunk(MARKS, batch))
        if mark == "missing":
            continue
        names = (name for name in known.batched if state_of(root / known.chunk(name, batch)) != "sound")
        bad = MARKS if mark == "damaged" else next(names, None)
        if bad is not None:
            found[batch] = bad
    return found


def read_metadata(path: Path) -> dict[str, Any]:
    """Metadata of a group or an array."""
    try:
        found = json.loads(durable.read_text(path))
    except (durable.NotAFileError, UnicodeError, ValueError, RecursionError):
        raise StoreError(f"{path.parent}: damaged: {path.name} is no JSON text (any more)") from None
    if not isinstance(found, dict) or not isinstance(found.get("attributes"), dict):
        raise StoreError(f"{path.parent}: damaged: {path.name} holds no metadata of Zarr")
    return found


def _digest(metadata: dict[str, Any]) -> str:
    return hashlib.sha256(json.dumps(metadata, sort_keys=True).encode()).hexdigest()


def _digest_of_group(metadata: dict[str, Any]) -> str:
    attributes = {name: value for name, value in metadata["attributes"].items() if name != "digest"}
    return _digest({**metadata, "attributes": attributes})


def seal(root: Path, group: Any) -> None:
    """Write the digests, when all arrays are made."""
    arrays = sorted(path.parent.name for path in root.glob(f"*/{METADATA}"))
    digests = {name: _digest(read_metadata(root / name / METADATA)) for name in arrays}
    group.update_attributes({"digests": digests})
    group.update_attributes({"digest": _digest_of_group(read_metadata(root / METADATA))})


def check_seal(root: Path, metadata: dict[str, Any]) -> None:
    """Refuse metadata and attributes that are not as they were written."""
    cure = "take a copy of the store, or run the study anew with --overwrite"
    attributes = metadata["attributes"]
    if attributes.get("digest") != _digest_of_group(metadata):
        raise DamagedError(f"{root}: the study's attributes ({METADATA}) were changed after it was begun; {cure}")
    for name, digest in attributes["digests"].items():
        try:
            same = _digest(read_metadata(root / name / METADATA)) == digest
        except (OSError, StoreError):
            same = False
        if not same:
            raise DamagedError(
                f"{root}: the metadata of array {name} ({name}/{METADATA}) is missing or was changed after the study "
                f"was begun; {cure}"
            )
