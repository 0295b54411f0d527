"""Claims: one client at a time may write a store."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tautline import durable
from tautline.files.runs import StoreError
from tautline.studies.store.guard import METADATA


@contextmanager
def claimed(path: Path) -> Iterator[None]:
    """Be the only client that writes a store; the system ends the claim with the process, however that ends."""
    try:
        held = open(path / METADATA, "r+b")  # noqa: SIM115 - what is done meanwhile has errors of its own
    except OSError as error:
        raise StoreError(f"{path}: cannot be written: {error.strerror}") from None
    with held:
        if not durable.lock(held):
            raise StoreError(
                f"{path}: another process is computing this study; wait for it or end it, then "
                f"`tautline study --resume {path}` goes on"
            )
        yield
