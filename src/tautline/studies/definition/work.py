"""Work that a study asks of its members, and what comes back; no engine is needed to read either."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from tautline import errors
from tautline.studies.definition.outputs import Array, Output

# How a member ended: as its run did, or before it could begin. Codes are stored, and runs may learn new ways to end.
NOT_COMPUTED, REFUSED, FAILED = -1, 100, 101
STATUS_NAMES: dict[int, str] = {
    NOT_COMPUTED: "not_computed",
    **errors.STATUS_NAMES,
    REFUSED: "refused",
    FAILED: "failed",
}
# What a study counts as failures; a string that is fully in or out is a result.
FAILURES = (errors.UNSTABLE_STEP, errors.NEWTON_FAILED, errors.NON_FINITE, REFUSED, FAILED)


@dataclass(frozen=True)
class Work:
    """Settings that all members have in common."""

    scenario: dict[str, Any]  # keys of a system, plain values in SI
    places: dict[str, str]  # its keys by those that are varied, which may be short
    outputs: tuple[Output, ...]
    is_short: bool = False  # messages name short keys

    @property
    def keys(self) -> tuple[str, ...]:
        """Keys that are varied, as the study says them."""
        return tuple(self.places)


class Computed(NamedTuple):
    """Results with a leading dimension of members."""

    outputs: dict[str, Array]
    status: NDArray[np.int8]
    message: list[str]
    steps: NDArray[np.int64]
    health: Array  # in the order of HEALTH
    warnings: list[str]  # JSON
