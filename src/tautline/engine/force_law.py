"""From a user's force law to a C function that the kernels call by its address."""

from __future__ import annotations

import ctypes
import sys
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from functools import lru_cache
from typing import Any

import numpy as np

from tautline import registry
from tautline.errors import ForceLawError, InputError
from tautline.kernels.data import Loads, code
from tautline.kernels.loads.force_law import LAW, STATE_SIZE, ForceLaws
from tautline.kernels.machine.choice import engine
from tautline.model.force_law import ForceLaw, ForceState

_MOMENT_SIZE = 3


class CallableLaw:
    """A law with its C function, which lives as long as this object, and the error that a call may have raised."""

    def __init__(self, law: ForceLaw) -> None:
        self.law = law
        self.error: BaseException | None = None
        compiled = _is_numbas(law.function) and engine().name != "python"
        function: Any = _compiled(law.function, law.name) if compiled else LAW(self._call)
        self.address = function.address if compiled else ctypes.cast(function, ctypes.c_void_p).value
        self._function = function  # is alive as long as this is

    def __reduce__(self) -> tuple[Any, ...]:
        """A copy has a C function of its own."""
        return CallableLaw, (self.law,)

    def _call(self, t: float, nodes: int, *pointers: Any) -> None:
        """Call a plain Python function; an error must not pass through the kernel, so it is kept for later."""
        if self.error is not None:
            return  # the kernel takes no answer for the end of the step, and returns
        position, velocity, state, parameters, count, force, out = pointers
        view = np.ctypeslib.as_array
        try:
            x = view(state, (STATE_SIZE,))
            given = ForceState(
                view(position, (3, nodes)).T, view(velocity, (3, nodes)).T, x[:9].reshape(3, 3), x[9:12], x[12], x[13]
            )
            own = view(parameters, (count,)) if count else np.zeros(0)
            self.law.function(t, given, own, view(force, (3, nodes)).T, view(out, (_MOMENT_SIZE,)))
            out[_MOMENT_SIZE] = 1.0
        except BaseException as error:
            self.error = self.error or error


def _is_numbas(function: Any) -> bool:
    """Whether a function was decorated with numba.njit; Numba is loaded then."""
    return "numba" in sys.modules and hasattr(function, "py_func") and hasattr(function, "overloads")


@lru_cache(maxsize=64)
def _compiled(function: Any, name: str) -> Any:
    """The C function of a law that Numba compiles; once for all runs with it."""
    import numba
    from numba import types
    from numba.core.errors import NumbaError

    numbers = types.CPointer(types.float64)
    signature = types.void(
        types.float64, types.int64, numbers, numbers, numbers, numbers, types.int64, numbers, numbers
    )

    def call(
        t: Any, nodes: Any, position: Any, velocity: Any, state: Any, parameters: Any, count: Any, force: Any, out: Any
    ) -> None:
        x = numba.carray(state, (STATE_SIZE,))
        result = numba.carray(out, (_MOMENT_SIZE + 1,))
        given = ForceState(
            numba.farray(position, (nodes, 3)),
            numba.farray(velocity, (nodes, 3)),
            x[:9].reshape(3, 3),
            x[9:12],
            x[12],
            x[13],
        )
        own = numba.carray(parameters, (count,))
        try:
            function(t, given, own, numba.farray(force, (nodes, 3)), result[:_MOMENT_SIZE])
            result[_MOMENT_SIZE] = 1.0
        except Exception:  # known by the number that is missing; what was raised cannot be kept here
            result[_MOMENT_SIZE] = 0.0

    try:
        return numba.cfunc(signature)(call)
    except NumbaError as error:
        why = next((line.strip() for line in str(error).splitlines() if line.strip()), "")
        raise InputError(
            f"ForceLaw.function: expected one that Numba can compile, got {name!r} ({why}); try it without numba.njit"
        ) from error


def kernel_laws(laws: Sequence[CallableLaw]) -> ForceLaws:
    """All laws of a run, as the kernels take them."""
    counts = [len(law.law.parameters) for law in laws]
    return ForceLaws(
        acts=len(laws) > 0,
        addresses=np.array([law.address for law in laws], dtype=np.int64),
        parameters=np.array([x for law in laws for x in law.law.parameters], dtype=np.float64),
        ends=np.cumsum(counts, dtype=np.int64),
        failed=np.full(len(laws), np.nan),
        rate=float(sum(law.law.rate for law in laws)),
    )


def with_laws(loads: Loads, laws: Sequence[CallableLaw]) -> Loads:
    """Loads with the addresses of other force laws; those of a copy, or none."""
    place = code(registry.LOADS, "force_law")
    own = loads.own[place]._replace(addresses=np.array([law.address for law in laws], dtype=np.int64))
    return loads._replace(own=(*loads.own[:place], own, *loads.own[place + 1 :]))


def heeding_interrupts(laws: Sequence[CallableLaw]) -> AbstractContextManager[None]:
    """Keep an interrupt that Python handles on the way into a law, before the law can keep it."""
    return _heeding(laws[0]) if laws else nullcontext()


@contextmanager
def _heeding(law: CallableLaw) -> Iterator[None]:
    before = sys.unraisablehook

    def heed(found: Any) -> None:
        if isinstance(found.exc_value, Exception):
            before(found)
        else:
            law.error = found.exc_value

    sys.unraisablehook = heed
    try:
        yield
    finally:
        sys.unraisablehook = before


def raise_failure(laws: Sequence[CallableLaw], failed: Any) -> None:
    """Raise what a law did in the kernel, as an error that says which one and when; forget it."""
    for k, (law, t) in enumerate(zip(laws, failed.tolist(), strict=True)):
        error = law.error
        law.error, failed[k] = None, np.nan
        if error is not None and not isinstance(error, Exception):
            raise error  # an interrupt
        if error is not None or not np.isnan(t):
            said = f"{type(error).__name__}: {error}" if error is not None else "an error; try it without numba.njit"
            raise ForceLawError(f"loads: the force law {law.law.name!r} raised at t = {t:.6g} s {said}") from error
