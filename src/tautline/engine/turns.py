"""Turns: a simulation is used by one caller at a time."""

from __future__ import annotations

from collections.abc import Callable
from threading import get_ident
from typing import Any, TypeVar

from tautline.errors import InUseError

T = TypeVar("T")

REFUSAL = (
    "simulation: already in use; only one thread may use it at a time, and its controller and force laws must not "
    "advance it; give each thread a copy of its own (copy.deepcopy)"
)


class Turns:
    """Keeps track of who uses a simulation; a copy has its own.

    As a context it is the turn of one caller that moves the simulation on. Flags do as locks here: between asking and
    setting one, Python neither changes threads nor handles signals.
    """

    def __init__(self) -> None:
        self._owner: int | None = None
        self._at_work = False

    def __enter__(self) -> None:
        me = get_ident()
        if self._owner is not None:
            raise InUseError(REFUSAL)
        self._owner = me

    def __exit__(self, *_: object) -> None:
        self._owner = None

    def check(self) -> None:
        """Refuse what another thread asks for while the simulation moves on."""
        if self._owner is not None and self._owner != get_ident():
            raise InUseError(REFUSAL)

    def run(self, kernel: Callable[..., T], *args: Any) -> T:
        """Call a kernel that works on the motion; refuse to while another one does."""
        if self._at_work:
            raise InUseError(REFUSAL)
        self._at_work = True
        try:
            return kernel(*args)
        finally:
            self._at_work = False

    def __reduce__(self) -> tuple[Any, ...]:
        return Turns, ()
