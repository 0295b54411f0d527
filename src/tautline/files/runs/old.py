"""Run files of formats 1 and 2, which earlier versions wrote: read only, through the netCDF library.

Their rows and attributes carry no checksums. The checkpoint does, and all that is said of the run comes from it.
"""

from __future__ import annotations

import json
import zlib
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from tautline.durable import StoreError
from tautline.files.runs.format import COPIES, Array
from tautline.files.runs.inputs import keys_of_old
from tautline.results.inputs import CASE

if TYPE_CHECKING:
    import netCDF4

FORMATS = ("tautline run 1", "tautline run 2")
_ARRAYS = ("nodes", "body", "reel", "clock")
# Places in the arrays `reel` and `clock` of these formats; the first format ended with the time of the start.
_WORST_RATIO, _T_START, _STOP, _STOP_TIME = 13, 14, 33, 34
_STEP, _LEVEL, _ITERATIONS, _TOTAL = range(4)


class OldRun:
    """An open run file of format 1 or 2."""

    def __init__(self, path: Path) -> None:
        self._handle = _open(path)
        try:
            if getattr(self._handle, "format", None) not in FORMATS:
                raise StoreError(f"{path}: a netCDF file, but not a run of tautline (attribute `format` says other)")
            self.rows, arrays, saved = self._newest()
            self.elements = len(self._handle.dimensions["element"])
            planned = int(self._handle.rows_planned)
            if not 1 <= self.rows <= planned == len(self._handle.dimensions["time"]):
                raise StoreError(f"{path}: damaged: it counts {self.rows} rows of {planned}")
            self.attrs = _attributes(arrays["reel"], arrays["clock"], saved)
        except BaseException:
            self._handle.close()
            raise
        if saved["status"] == "completed" and self.rows < planned:
            self.attrs["status"] = "unfinished"
            self.attrs["message"] = (
                f"unfinished at t = {self.attrs['end_time']:.6g} s, of {self._handle.format!r}, which this version "
                "reads and does not resume"
            )
        sample = float(self._handle.sample)
        self.attrs |= {
            "version": str(self._handle.version),
            "title": self._handle.title,
            "sample": sample,
            "duration": (planned - 1) * sample,
        }

    def _newest(self) -> tuple[int, dict[str, NDArray[Any]], dict[str, Any]]:
        """Rows that count, arrays and text of the newest whole checkpoint."""
        group = self._handle["checkpoint"]
        newest, found = 0, None
        for place in range(COPIES):
            number, rows, wanted = (int(x) for x in group["header"][place])
            arrays = {name: np.ascontiguousarray(group[name][place]) for name in _ARRAYS}
            text = bytes(np.ascontiguousarray(group["text"][place])).rstrip(b"\0")
            value = zlib.crc32(f"{number} {rows}".encode())
            for array in arrays.values():
                value = zlib.crc32(array.tobytes(), value)
            if number > newest and wanted == zlib.crc32(text, value):
                newest, found = number, (rows, arrays, json.loads(text))
        if found is None:
            raise StoreError("holds no data, or both copies of its checkpoint are damaged")
        return found

    def has(self, name: str) -> bool:
        return name in self._handle.variables

    def rows_of(self, name: str, wanted: range) -> Array:
        rows = slice(wanted.start, wanted.stop, wanted.step)
        return np.asarray(np.ma.filled(self._handle[name][rows], np.nan))

    def close(self) -> None:
        self._handle.close()


def _open(path: Path) -> netCDF4.Dataset:
    import netCDF4

    try:
        return netCDF4.Dataset(path)
    except (OSError, UnicodeError) as error:
        # locked by a writer, or on a file system without locks: a copy in memory can be read all the same
        try:
            return netCDF4.Dataset(str(path), "r", memory=path.read_bytes())
        except (OSError, RuntimeError, UnicodeError):
            raise StoreError(f"{path}: damaged: the netCDF library cannot open it ({error})") from None


def _attributes(reel: Array, clock: NDArray[np.int64], saved: dict[str, Any]) -> dict[str, Any]:
    """Status, message, remarks and diagnostics of such a run, from its checkpoint."""
    described = saved["description"]
    end = float(reel[_T_START] + clock[_STEP] * saved["h"])
    message = f"completed at t = {end:.6g} s" if saved["status"] == "completed" else saved["message"]
    return {
        "status": saved["status"],
        "message": message + _remarks(reel, saved),
        "end_time": end,
        "step": saved["h"] / 2 ** int(clock[_LEVEL]),
        "largest_step_ratio": float(reel[_WORST_RATIO]),
        "steps": int(clock[_TOTAL]),
        "newton_iterations": int(clock[_ITERATIONS]),
        "order": described["run"]["order"],
        "scheme": described["run"]["scheme"],
        CASE: json.dumps(keys_of_old(described)),
    }


def _remarks(reel: Array, saved: dict[str, Any]) -> str:
    text = ""
    if len(reel) > _STOP_TIME and reel[_STOP] != 0.0:
        side = "retrieved" if reel[_STOP] > 0.0 else "deployed"
        text += f"; held at the {side} end since t = {reel[_STOP_TIME]:.6g} s"
    limits = saved["description"]["pendulum"]["reel"]
    for name, needed, unit in zip(("max_torque", "max_power"), saved.get("needed", ()), ("N m", "W"), strict=False):
        limit = limits.get(name)
        if limit is not None and needed > limit:
            text += f"; the given motion of the reel took {needed:.4g} {unit}, more than {name} ({limit:g} {unit})"
    return text
