"""Stamp of the sources of machine code: one number that changes with any of it."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping
from contextlib import suppress
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from importlib.util import find_spec
from pathlib import Path

from tautline import ledger, registry

KERNELS = "tautline.kernels"
# Of the C interface: raised where a caller in C would have to change though no structure has.
ABI = 2


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


def registered_outside() -> list[str]:
    """Laws, commands, loads and accounts from outside of tautline, which no library has: "guide law 'halfway'"."""
    kinds = ("guide law", "elastic law", "reel command", "load")
    every: tuple[Mapping[str, registry.Entry], ...] = registry.tables()
    tables = zip(kinds, every, strict=True)
    entries = [(kind, name) for kind, table in tables for name, entry in table.items() if _is_outside(entry.module)]
    accounts = [("account", account.name) for account in ledger.ACCOUNTS[ledger.BUILT_IN :]]
    return [f"{kind} {name!r}" for kind, name in (*entries, *accounts)]


def _is_outside(module: str) -> bool:
    return not module.startswith(f"{KERNELS}.")


def _registered_outside() -> Iterator[Path]:
    """Files of registered kernels that are not in this folder."""
    for law in (law for table in registry.tables() for law in table.values()):
        if _is_outside(law.module):
            found = find_spec(law.module)  # imports no kernel
            if found is not None and found.origin is not None:
                yield Path(found.origin)
