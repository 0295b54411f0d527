"""A march with tangents: what a run does to small changes of everything that it starts from."""

from __future__ import annotations

from typing import Any, Protocol

import numpy as np

from tautline.arrays import Array
from tautline.errors import FULLY_DEPLOYED, FULLY_RETRIEVED
from tautline.gradients.marched import Marched
from tautline.kernels import data
from tautline.kernels.tangents import TANGENTS


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

    def march(self, tangents: list[Array], rows: int) -> Marched:
        """March with at most `TANGENTS` directions."""


def march_along(setting: AnySetting, tangents: list[Array], rows: int) -> Marched:
    """March along any number of directions, some after others; `tangents` are those at the end afterwards."""
    k = tangents[0].shape[-1]
    if k <= TANGENTS:
        return _ended(setting, setting.march(tangents, rows))
    begun, found = [x.copy() for x in setting.moving()], []
    for first in range(0, k, TANGENTS):
        for array, start in zip(setting.moving(), begun, strict=True):
            array[:] = start
        some = [np.ascontiguousarray(t[..., first : first + TANGENTS]) for t in tangents]
        found.append(setting.march(some, rows))
        for t, part in zip(tangents, some, strict=True):
            t[..., first : first + TANGENTS] = part
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
