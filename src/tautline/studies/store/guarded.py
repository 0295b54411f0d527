"""The folder of a study's store as Zarr reads it, with every chunk checked; needs Zarr when it is imported."""

from __future__ import annotations

from typing import Any

from zarr.core.buffer import default_buffer_prototype
from zarr.storage import LocalStore

from tautline.studies.store.guard import (
    MARKS,
    METADATA,
    DamagedError,
    Kept,
    damage_of,
    is_sound,
    kept,
    read_metadata,
)


class GuardedStore(LocalStore):  # type: ignore[misc]
    """Raises a DamagedError for a chunk that is damaged, or missing where a batch is marked."""

    _kept: Kept | None = None

    async def get(self, key: str, prototype: Any = None, byte_range: Any = None) -> Any:
        return self._checked(key, await super().get(key, prototype, byte_range))

    def get_sync(self, key: str, *, prototype: Any = None, byte_range: Any = None) -> Any:
        return self._checked(key, super().get_sync(key, prototype=prototype, byte_range=byte_range))

    def _checked(self, key: str, found: Any) -> Any:
        name, inside, places = key.partition("/c/")
        if not inside:
            return found
        if found is not None and is_sound(found.to_bytes()):
            return found
        if self._kept is None:
            self._kept = kept(read_metadata(self.root / METADATA)["attributes"])
        how = "missing" if found is None else "damaged"
        if name not in self._kept.batched and name != MARKS:
            raise DamagedError(
                f"{self.root}: array {name}, which belongs to the design, is {how} and cannot be computed "
                "again; take a copy of the store, or run the study anew with --overwrite"
            )
        batch = self._kept.batch(name, [int(place) for place in places.split("/")])
        if found is None:
            if name == MARKS or not (self.root / self._kept.chunk(MARKS, batch)).exists():
                return None  # not computed yet
            # looked for before its mark: the batch may have been written in between
            if (self.root / key).exists():
                return default_buffer_prototype().buffer.from_bytes((self.root / key).read_bytes())
        raise DamagedError(damage_of(self.root, batch, name, how))
