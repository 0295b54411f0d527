"""Numbers inside an offline page, unpacked as docs/viewer-protocol.md has them."""

from __future__ import annotations

import base64
import gzip

import numpy as np


def unpacked(text: str) -> bytes:
    """The bytes of a script of the page."""
    return gzip.decompress(base64.b64decode(text))


def summed(text: str, kind: str, series: int) -> np.ndarray:
    """Numbers as bits, a row for each series: there, bytes place after place, and differences along a series."""
    raw = np.frombuffer(unpacked(text), np.uint8).reshape(np.dtype(kind).itemsize, -1)
    found: np.ndarray = np.cumsum(np.ascontiguousarray(raw.T).view(kind).reshape(series, -1), axis=1, dtype=kind)
    return found
