"""A given speed of the string at the reel."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tautline.arrays import Array
from tautline.errors import InputError
from tautline.model import profile
from tautline.model.checks import finite
from tautline.model.commands.base import Command
from tautline.model.description import changed, declared, described
from tautline.model.motions import Motion, MotionOfALength
from tautline.model.piecewise import even_times
from tautline.model.table_files import TableFile, Values
from tautline.model.tables import Table, arrays, later

SPEEDS = (Values("payouts", ("payout",), "m/s"), Values("retrievals", ("retrieval",), "m/s"))


@described(kw_only=True)
class Speed(Command):
    """A given speed of the string at the reel, from the present length on; the torque that it takes is reported.

    One of payout and retrieval is given, by name, so that the sign cannot be mistaken.
    """

    _file = TableFile(*SPEEDS)
    kernel, prescribes, relative = "prescribed_motion", True, True

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

    motion: Motion | None = declared(
        MotionOfALength(
            "Motion of the deployed length, beside a constant speed: its rate is added. Positive pays out."
        ),
        default=None,
    )

    def _check_together(self) -> None:
        if (self.payout is None) == (self.retrieval is None):
            got = "neither" if self.payout is None else "both"
            raise InputError(f"Speed: expected either payout or retrieval (m/s), got {got}")
        if self.motion is not None and isinstance(self.given, tuple):
            raise InputError("Speed.motion: expected it together with a constant payout or retrieval, got a table")

    @property
    def given(self) -> Any:
        """The speed or the table of speeds that is given."""
        return self.payout if self.retrieval is None else self.retrieval

    @classmethod
    def of(
        cls,
        *,
        payout: Callable[[float], float] | None = None,
        retrieval: Callable[[float], float] | None = None,
        duration: float,
        interval: float,
    ) -> Speed:
        """From a function of time, taken every `interval` seconds and linear in between."""
        times = even_times(duration, interval)
        functions = {"payout": payout, "retrieval": retrieval}
        tables = {name: f and (times, [f(float(t)) for t in times]) for name, f in functions.items()}
        return cls(payout=tables["payout"], retrieval=tables["retrieval"])

    @property
    def is_tabulated(self) -> bool:
        """True unless the speed is that of a motion."""
        return self.motion is None

    def later(self, time: float, length: float) -> Speed:
        """The speed with its times counted from a time on."""
        return changed(self, payout=later(self.payout, time), retrieval=later(self.retrieval, time))

    def curve(self, time: float, length: float, span: profile.Span | None = None) -> Array:
        """Profile of the deployed length: the integral of the speed."""
        if self.motion is not None:
            rate = self.given if self.retrieval is None else -self.given
            return profile.endless(self.motion.harmonics(), time, span, length, rate, relative=True)
        times, speeds = arrays(self.given)
        return profile.integral(times, speeds if self.retrieval is None else -speeds, time, length)

    def shortest(self, length: float, time: float = 0.0) -> float | None:
        """Least length of a table that ends without retrieval; a motion names none."""
        if self.motion is not None:
            return None
        return profile.least_positive(self.curve(time, length), time)
