"""The bytes of a run file: places, digests, checksums of rows, checkpoints.

To other programs it is a plain netCDF-4 file of contiguous arrays. To us it is a file of fixed size in which every byte
belongs either to a place (the rows of one variable, the checksums, the checkpoints, the contents) or to the skeleton
(what HDF5 wrote when the file was made: names, units, attributes), which never changes again.

- *Contents*: found by `MAGIC`; where the places are, what was planned, the digest of the skeleton; with its own digest.
- *Rows*: pages of so many rows; a CRC-32 for every page and variable. That of the last page is in the checkpoint.
- *Checkpoint*: kept twice, in turns, each copy with a number and a digest.
"""

from __future__ import annotations

import hashlib
import json
import math
import re
import struct
import zlib
from collections.abc import Iterator
from typing import IO, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from tautline import __version__
from tautline.durable import StoreError
from tautline.schema import Layout

FORMAT = "tautline run 6"
MAGIC = b"\x89%b\n" % FORMAT.encode()
_ANY_MAGIC = re.compile(rb"\x89(tautline run \d+)\n")
COPIES = 2
# A page is what one checksum covers: small enough to look at a part of a run, large enough that checksums cost nothing.
BYTES_A_PAGE = 1 << 16
_ROOM = 1 << 14  # for the checkpoint's texts beyond those at the start: messages and warnings
_DIGEST = hashlib.sha256().digest_size
_PREFIX = struct.Struct(f"<QQ{_DIGEST}s")  # number of the copy, length of its content, digest of both

Array = NDArray[np.float64]


class Place(NamedTuple):
    """Where an array lies in the file, and its shape; 8 bytes a number but for plain bytes and checksums."""

    offset: int
    shape: tuple[int, ...]
    itemsize: int = 8

    @property
    def size(self) -> int:
        return self.itemsize * math.prod(self.shape)

    @property
    def row_size(self) -> int:
        return self.itemsize * math.prod(self.shape[1:])


class Contents(NamedTuple):
    """Contents of a run file, and where they are."""

    format: str
    version: str
    title: str
    sample: float
    rows_planned: int
    elements: int
    page: int  # rows that one checksum covers
    size: int  # of the file
    skeleton: str  # digest
    variables: dict[str, Place]
    checksums: Place
    copies: Place
    contents: Place

    def encode(self) -> bytes:
        text = json.dumps(self._asdict()).encode()
        return MAGIC + _PREFIX.pack(0, len(text), hashlib.sha256(text).digest()) + text

    @classmethod
    def find(cls, file: IO[bytes]) -> Contents | None:
        """Look for the contents; None where there is no sign of a run file."""
        import mmap

        with mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as whole:
            start = whole.find(MAGIC)
            other = None if start >= 0 else _ANY_MAGIC.search(whole)
            if start < 0 and other is None:
                if whole.find(FORMAT.encode()) >= 0:
                    raise StoreError("damaged: its table of contents is gone")
                return None
            start = start + len(MAGIC) if other is None else other.end()
            form = FORMAT if other is None else other[1].decode()
            prefix = whole[start : start + _PREFIX.size]
            if len(prefix) < _PREFIX.size:
                raise StoreError("damaged: it is cut off")
            _, length, digest = _PREFIX.unpack(prefix)
            text = whole[start + _PREFIX.size : start + _PREFIX.size + length]
            size = len(whole)
        if hashlib.sha256(text).digest() != digest:
            raise StoreError("damaged: its table of contents does not match its digest")
        tree = json.loads(text)
        if form != FORMAT:
            raise StoreError(of_another_version(form, tree["version"]))
        tree["variables"] = {name: _place(x) for name, x in tree["variables"].items()}
        for name in ("checksums", "copies", "contents"):
            tree[name] = _place(tree[name])
        contents = cls(**tree)
        if contents.size != size:
            raise StoreError(f"damaged: it has {size} bytes, and was made with {contents.size}")
        if contents.digest_of_skeleton(file) != contents.skeleton:
            raise StoreError("damaged: its header or an attribute was changed since the file was made")
        return contents

    def changing(self) -> list[Place]:
        """Places that are written while the run goes on."""
        return [*self.variables.values(), self.checksums, self.copies]

    def places(self) -> list[Place]:
        return [*self.changing(), self.contents]

    def digest_of_skeleton(self, file: IO[bytes]) -> str:
        """Digest of all bytes of the file that lie in no place."""
        digest = hashlib.sha256()
        position = 0
        for place in sorted(self.places()):
            digest.update(read_at(file, position, place.offset - position))
            position = place.offset + place.size
        digest.update(read_at(file, position, self.size - position))
        return digest.hexdigest()


def of_another_version(form: str, version: str) -> str:
    """Sentence about a run file that this version does not read."""
    return (
        f"was written by tautline {version} ({form!r}); this is tautline {__version__}, which reads {FORMAT!r}: "
        f"run the scenario again, or open the file with tautline {version}"
    )


def _place(x: list[Any]) -> Place:
    return Place(x[0], tuple(x[1]), x[2])


class Copy(NamedTuple):
    """A checkpoint: rows that count, what the run says of itself, and all that its future depends on."""

    number: int
    rows: int
    closed: bool  # the writer left the file in order: both copies say the same
    page_sums: list[int]  # checksums of the last page as far as it is filled, by variable
    attributes: dict[str, Any]
    text: str
    arrays: dict[str, NDArray[Any]]

    def encode(self) -> bytes:
        arrays = {name: np.ascontiguousarray(x) for name, x in self.arrays.items()}
        head = json.dumps(
            {
                "rows": self.rows,
                "closed": self.closed,
                "page_sums": self.page_sums,
                "attributes": self.attributes,
                "arrays": [[name, x.dtype.str, x.shape] for name, x in arrays.items()],
            },
            default=_plain,
        ).encode()
        text = self.text.encode()
        content = b"".join(
            [struct.pack("<QQ", len(head), len(text)), head, text, *(x.tobytes() for x in arrays.values())]
        )
        return _PREFIX.pack(self.number, len(content), _digest_of_copy(self.number, content)) + content

    @classmethod
    def decode(cls, raw: bytes) -> Copy | None:
        """Read a copy back; None if it is not whole."""
        number, length, digest = _PREFIX.unpack_from(raw)
        content = raw[_PREFIX.size : _PREFIX.size + length]
        if len(content) != length or _digest_of_copy(number, content) != digest:
            return None
        sizes = struct.unpack_from("<QQ", content)
        position = 16 + sizes[0]
        head, text = json.loads(content[16:position]), content[position : position + sizes[1]].decode()
        position += sizes[1]
        arrays = {}
        for name, kind, shape in head.pop("arrays"):
            count = math.prod(shape)
            arrays[name] = np.frombuffer(content, np.dtype(kind), count, position).reshape(shape).copy()
            position += arrays[name].nbytes
        return cls(number, text=text, arrays=arrays, **head)

    def room(self) -> int:
        """Bytes to keep for this copy and all later ones."""
        return len(self.encode()) + _ROOM


def _digest_of_copy(number: int, content: bytes) -> bytes:
    digest = hashlib.sha256(struct.pack("<Q", number))
    digest.update(content)
    return digest.digest()


def _plain(value: Any) -> Any:
    """Numbers of NumPy as those of JSON."""
    return value.item()


class Copies(NamedTuple):
    """The two copies as found in a file."""

    newest: Copy
    another_is_broken: bool


def read_copies(file: IO[bytes], contents: Contents) -> Copies:
    """Read both copies of the checkpoint and choose the newest whole one."""
    place = contents.copies
    raws = [read_at(file, place.offset + k * place.row_size, place.row_size) for k in range(COPIES)]
    whole = sorted((copy for raw in raws if (copy := Copy.decode(raw)) is not None), key=lambda copy: copy.number)
    if not whole:
        raise StoreError(
            "damaged: both copies of its checkpoint are"
            if any(map(any, raws))
            else "holds no data yet; the run was killed before its first rows were written"
        )
    # the second place is empty until the second copy is written
    empty_yet = whole[-1].number == 1 and not any(raws[0])
    return Copies(whole[-1], len(whole) < COPIES and not empty_yet)


def file_size(rows: int, layout: Layout) -> int:
    """Size of a run file, nearly (bytes)."""
    return 8 * rows * layout.row_length() + 100_000


def page_rows(layout: Layout) -> int:
    """Rows of a page: by the widest variable."""
    widest = max(math.prod(layout.shape(name, 1)) for name in layout.variables)
    return max(1, BYTES_A_PAGE // (8 * max(1, widest)))


def pages(page: int, first: int, last: int) -> Iterator[tuple[int, int, int]]:
    """Cut rows first..last at the borders of pages: number of the page, first row, row behind the last."""
    while first < last:
        number = first // page
        end = min((number + 1) * page, last)
        yield number, first, end
        first = end


def checksum(rows: Array, before: int = 0) -> int:
    """CRC-32 of rows, or of the rows before and these."""
    return zlib.crc32(np.ascontiguousarray(rows).data.cast("B"), before)


def read_at(file: IO[bytes], offset: int, size: int) -> bytes:
    """Read bytes at an offset; fewer at the end of the file."""
    file.seek(offset)
    parts = []
    while size > 0 and (part := file.read(size)):
        parts.append(part)
        size -= len(part)
    return b"".join(parts)


def write_at(file: IO[bytes], offset: int, content: bytes | memoryview) -> None:
    """Write bytes at an offset, all of them."""
    file.seek(offset)
    rest = memoryview(content)
    while rest:
        rest = rest[file.write(rest) :]
