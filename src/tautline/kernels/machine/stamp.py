"""Stamp of the sources of machine code: one number that changes with any of it."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from contextlib import suppress
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from importlib.util import find_spec
from pathlib import Path

from tautline import ledger, registry

KERNELS = "tautline.kernels"
# Of the C interface: raised where a caller in C would have to change though no structure has.
ABI = 3


@cache
def source_hash() -> str:
    """Digest of all kernel sources, so that any change of any of them asks for new machine code.

    With what is compiled into the kernels from elsewhere: status codes, and the laws, commands, loads and accounts that
    are registered, from outside of tautline too. The layout of every structure follows from these.
    """
    digest = hashlib.sha256(repr((ABI, registry.tables(), ledger.ACCOUNTS)).encode())
    folder = Path(__file__).parents[1]
    ours = (*sorted(folder.rglob("*.py")), folder.parent / "arrays.py", folder.parent / "errors.py")
    for path in (*ours, *_registered_outside()):
        digest.update(path.name.encode())
        digest.update(path.read_bytes())
    return digest.hexdigest()[:16]


@cache
def compiler() -> str:
    """Versions of what makes machine code, as far as it is installed: others may make another."""
    found = []
    for name in ("numba", "llvmlite"):
        with suppress(PackageNotFoundError):
            found.append(f"{name} {version(name)}")
    return ", ".join(found)


def _registered_outside() -> Iterator[Path]:
    """Files of registered kernels that are not in this folder."""
    for law in (law for table in registry.tables() for law in table.values()):
        if not law.module.startswith(f"{KERNELS}."):
            found = find_spec(law.module)  # imports no kernel
            if found is not None and found.origin is not None:
                yield Path(found.origin)
