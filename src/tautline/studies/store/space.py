"""Memory and disk that a study needs, asked for before anything is made."""

from __future__ import annotations

import os
from pathlib import Path

from tautline.durable import free_space
from tautline.errors import InputError
from tautline.files.runs import StoreError
from tautline.schema import Layout

# Points of the unit cube, values in SI, and what the libraries hold while they make them.
COPIES_OF_A_DESIGN = 4
# Beside the samples of a block of lanes: those that a member keeps, and the variables made of them.
MORE_COPIES_OF_SAMPLES = 2
# One member may take this part of the memory, so that other workers and programs have some left.
PART_OF_MEMORY = 0.5
BLOCK_ON_DISK = 4096
# Files with the memory limit of a container.
_LIMITS = ("/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes")


def memory() -> float:
    """Memory of this machine, or of the container that this process runs in (bytes)."""
    try:
        there = float(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES"))
    except (AttributeError, ValueError, OSError):  # not on every system
        there = 2.0**40
    for limit in _LIMITS:
        try:
            there = min(there, float(Path(limit).read_text(encoding="ascii")))
        except (OSError, ValueError):  # no such limit, or "max"
            continue
    return there


def free_memory() -> float:
    """Memory that is free for this process (bytes)."""
    try:
        with open("/proc/meminfo", encoding="ascii") as file:
            sizes = dict(line.split(":", 1) for line in file)
        return min(memory(), 1024.0 * float(sizes["MemAvailable"].split()[0]))
    except (OSError, KeyError, ValueError):  # not on every system
        return memory()


def check_design(name: str, members: int, keys: int) -> None:
    """Refuse a table of values that memory cannot hold."""
    size, free = 8.0 * COPIES_OF_A_DESIGN * members * keys, free_memory()
    if size > free:
        raise InputError(
            f"{name}: expected few enough members for the memory; {members:.3g} members with {keys} varied "
            f"{'key' if keys == 1 else 'keys'} take {gigabytes(size)} while the design is made, and "
            f"{gigabytes(free)} are free; choose fewer"
        )


def check_samples(rows: int, layout: Layout) -> None:
    """Refuse a member whose samples memory cannot hold; by the size of the machine, and not by what is free now."""
    from tautline.kernels.lanes import LANES  # a store that is only read needs no kernels

    copies = LANES + MORE_COPIES_OF_SAMPLES
    size, most = 8.0 * copies * rows * layout.row_length(), PART_OF_MEMORY * memory()
    if size > most:
        elements = layout.lengths["element"]
        raise InputError(
            f"run.sample: expected few enough samples for the memory; {rows:.3g} of {elements} elements take "
            f"{gigabytes(size)}, and a member may take {gigabytes(most)}, half of the memory; choose a larger "
            "run.sample or a shorter run.duration"
        )


def check_disk(path: Path, members: int, bytes_a_member: float, files: int) -> None:
    """Refuse results that the disk cannot hold."""
    size, free = bytes_a_member * members + BLOCK_ON_DISK * files, free_space(path)
    if size > free:
        raise StoreError(
            f"{path}: needs up to {gigabytes(size)} for {members:.3g} members, but {gigabytes(free)} are free there; "
            "keep fewer outputs, series least of all, or choose fewer members"
        )


def gigabytes(size: float) -> str:
    return f"{size / 1e9:.3g} GB"
