"""A march with tangents: what a run does to small changes of everything that it starts from."""

from __future__ import annotations

from typing import Any, Protocol

import numpy as np

from tautline.arrays import Array
from tautline.errors import FULLY_DEPLOYED, FULLY_RETRIEVED
from tautline.gradients.leaves import leaves
from tautline.gradients.marched import Marched, in_parts
from tautline.kernels import data


class AnySetting(Protocol):
    """All that a march depends on, by whichever kernels."""

    @property
    def plan(self) -> data.Plan:
        """Its steps, of one length."""

    def moving(self) -> list[Any]:
        """The arrays that a march changes, workspace aside."""

    def reel(self) -> Array:
        """The array that holds times of the motion."""

    def clock(self) -> Any:
        """The array that counts steps."""

    def march(self, tangents: list[Array], directions: int, rows: int) -> Marched:
        """March with tangents as the kernels take them, which are those at the end afterwards."""


def march_along(setting: AnySetting, tangents: list[Array], rows: int) -> Marched:
    """March along any number of directions, some after others; `tangents` are those at the end afterwards."""
    moving = setting.moving()
    begun, places = [x.copy() for x in moving], {id(x) for x in moving}

    def act(some: list[Array], directions: int) -> Marched:
        for array, start in zip(moving, begun, strict=True):
            array[:] = start
        return setting.march(some, directions, rows)

    found = in_parts(tangents, act, [i for i, x in enumerate(leaves(setting)) if id(x) in places])
    parts = zip(*(m.tangents for m in found), strict=True)
    together = type(found[0].tangents)(*(np.concatenate(x, axis=-1) for x in parts))
    return _ended(setting, found[0]._replace(tangents=together))


def march_once(setting: AnySetting, tangents: list[Array]) -> Any:
    """Derivatives of the sample of the present state, by a setting whose plan makes no steps."""
    return march_along(setting, [t.copy() for t in tangents], 1).tangents


def _ended(setting: AnySetting, marched: Marched) -> Marched:
    """Note when a march met the end of the string: at the end of a step."""
    if marched.status in (FULLY_RETRIEVED, FULLY_DEPLOYED):
        reel, step = setting.reel(), setting.clock()[data.STEP] + 1
        reel[data.STOP_TIME] = reel[data.T_START] + step * setting.plan.h
    return marched
