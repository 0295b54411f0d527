"""Processors that machine code is made for."""

from __future__ import annotations

import os
import platform
from functools import cache
from pathlib import Path
from typing import NamedTuple


class Target(NamedTuple):
    """A kind of processor."""

    name: str  # as LLVM calls it
    features: str  # as LLVM takes them
    needs: frozenset[str] = frozenset()  # flags of the processor, as /proc/cpuinfo spells them


_V3 = ("avx", "avx2", "bmi2", "f16c", "fma", "movbe")
_V4 = (*_V3, "avx512f", "avx512bw", "avx512cd", "avx512dq", "avx512vl")


def _x86(name: str, flags: tuple[str, ...]) -> Target:
    """A kind with these flags, two of which LLVM and the system call by different names."""
    return Target(name, ",".join(f"+{flag}" for flag in (*flags, "bmi", "lzcnt")), frozenset((*flags, "bmi1", "abm")))


# The fastest first; the last needs nothing.
TARGETS = {
    "x86_64": (
        _x86("x86-64-v4", _V4),
        _x86("x86-64-v3", _V3),
        Target("x86-64", "+sse2"),
    ),
    "aarch64": (Target("generic", "+neon"),),
}


def machine() -> str:
    """Name of this machine's kind of processor."""
    name = platform.machine().lower()
    return {"amd64": "x86_64", "arm64": "aarch64"}.get(name, name)


@cache
def _flags() -> frozenset[str]:
    """Abilities of the processor; none where the system does not say."""
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        return frozenset()
    return next((frozenset(line.split(":", 1)[1].split()) for line in lines if line.startswith("flags")), frozenset())


def all_targets() -> tuple[Target, ...]:
    """Kinds that code is made for on machines like this one."""
    return TARGETS.get(machine(), (Target("generic", ""),))


def targets() -> tuple[Target, ...]:
    """Kinds that code is made for: all, or this processor's alone where TAUTLINE_TARGETS=own, for work on kernels."""
    return (best_target(),) if os.environ.get("TAUTLINE_TARGETS") == "own" else all_targets()


def best_target() -> Target:
    """The fastest kind that this processor is."""
    kinds = all_targets()
    return next(target for target in kinds if target.needs <= _flags() or target is kinds[-1])
