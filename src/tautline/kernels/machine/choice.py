"""Which engine runs the kernels: the library, code that is compiled in this process, or Python itself."""

from __future__ import annotations

import os
from functools import cache
from importlib.util import find_spec
from typing import Protocol

from tautline.errors import EngineError
from tautline.kernels.machine import library
from tautline.kernels.machine.signatures import Function
from tautline.kernels.machine.stamp import registered_outside

# Environment variable that asks for one of them.
VARIABLE = "TAUTLINE_ENGINE"
NAMES = ("library", "compiled", "python")


class Engine(Protocol):
    """Engine that runs the kernels.

    Attributes
    ----------
    name : str
        One of NAMES.
    why : str
        Why this one and no other, as a sentence.
    """

    name: str
    why: str

    def address(self, function: Function) -> int:
        """Address of the machine code of a function."""


class Python:
    """No machine code: the kernels are the Python that they are written in."""

    name = "python"
    why = f"{VARIABLE} asks for it"

    def address(self, function: Function) -> int:
        raise EngineError(f"{function.name}: there is no machine code where Python runs the kernels")


@cache
def engine() -> Engine:
    """The engine of this process."""
    asked = os.environ.get(VARIABLE, "")
    if asked and asked not in NAMES:
        raise EngineError(f"{VARIABLE}: expected one of {', '.join(NAMES)}, got {asked!r}")
    if asked == "python":
        return Python()
    why_not = f"{VARIABLE} asks for it"
    if asked != "compiled":
        try:
            return library.load()
        except EngineError as error:
            if asked == "library":
                raise
            why_not = str(error)
    if find_spec("numba") is None:
        again = "" if registered_outside() else "install tautline again, or "
        raise EngineError(f"{why_not}; {again}install tautline[numba] to compile the kernels in every new process")
    from tautline.kernels.machine.in_process import InProcess

    return InProcess(why_not)


def compiling_time() -> float:
    """Seconds that this process has spent on compiling kernels."""
    return float(getattr(engine(), "seconds", 0.0))
