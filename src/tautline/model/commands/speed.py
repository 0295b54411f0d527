"""A given speed of the string at the reel."""

from __future__ import annotations

from typing import Any

from tautline.arrays import Array
from tautline.errors import InputError
from tautline.model import profile
from tautline.model.checks import finite
from tautline.model.description import declared, described
from tautline.model.tables import Table, arrays


@described(kw_only=True)
class Speed:
    """A given speed of the string at the reel, from the present length on; the torque that it takes is reported.

    One of the two is given, by name, so that the sign cannot be mistaken.
    """

    payout: Any = declared(
        Table(
            "m/s",
            finite,
            "Rate at which the deployed length grows; a table is piecewise linear and held outside.",
            "payouts",
        ),
        default=None,
    )
    retrieval: Any = declared(
        Table("m/s", finite, "Rate at which it shrinks, which is `reel_speed` in results.", "retrievals"), default=None
    )

    def _check_together(self) -> None:
        if (self.payout is None) == (self.retrieval is None):
            got = "neither" if self.payout is None else "both"
            raise InputError(f"Speed: expected either payout or retrieval (m/s), got {got}")

    def curve(self, time: float, length: float) -> Array:
        """Rows of the profile of the deployed length, for a command that is given at `time` at this length."""
        times, speeds = arrays(self.payout if self.retrieval is None else self.retrieval)
        return profile.integral(times, speeds if self.retrieval is None else -speeds, time, length)
