"""A spring and a damper on the deployed length."""

from __future__ import annotations

import math
from typing import Any

from tautline.arrays import Array
from tautline.model import profile
from tautline.model.checks import non_negative, positive
from tautline.model.commands.length import LENGTHS, Length
from tautline.model.commands.speed import SPEEDS, Speed
from tautline.model.description import Number, declared, described, quantity
from tautline.model.file_keys import assemble_among, keys_of, to_keys
from tautline.model.kinds import Quantity, Way
from tautline.model.table_files import FILE, TableFile


def _curve(given: dict[str, Any]) -> Length | Speed:
    """The command whose keys are given beside those of the spring."""
    cls: Any = Speed if any(key in given for key in ("payout", "payouts", "retrieval", "retrievals")) else Length
    made: Length | Speed = assemble_among(cls, given)
    return made


def _keys(value: Any) -> dict[str, Any] | None:
    return to_keys(value, defaults=False) if isinstance(value, Length | Speed) else None


class Rest(Quantity):
    """A length, a table of them, or a command that moves it."""

    def __init__(self) -> None:
        keys = {**keys_of(Speed).kinds, **keys_of(Length).kinds}
        del keys[FILE]  # of either
        ways = (Way(keys, _curve, _keys, "the keys of a length or a speed"),)
        super().__init__("m", positive, "Where the spring is at rest: deployed, unstretched.", ways=ways)

    def check(self, name: str, value: Any) -> Any:
        if isinstance(value, (tuple, list)):
            return Length(value)
        return value if isinstance(value, Length | Speed) else super().check(name, value)

    def words(self) -> str:
        return "float, (times, lengths), Length or Speed"


@described
class Impedance:
    """A spring and a damper on the deployed length: proportional-derivative control without sampling.

    The pull on the string is stiffness (X - length) + damping (dX/dt - dlength/dt), X being what is deployed; the
    motor's limits of `Reel` hold.
    """

    _file = TableFile(LENGTHS, *SPEEDS)

    length: Any = declared(Rest())
    stiffness: Number = quantity("N/m", non_negative, "Pull per length.")
    damping: Number = quantity("N*s/m", non_negative, "Pull per speed.", default=0.0)

    def covered(self, until: float, origin: float) -> float:
        """Time up to which a curve that was asked for until then holds, of a command given at `origin` (s)."""
        return self.length.covered(until, origin) if isinstance(self.length, Length | Speed) else math.inf

    def curve(self, time: float, length: float, span: profile.Span | None = None) -> Array:
        """Rows of the profile of the length at rest; see `Length.curve`."""
        if isinstance(self.length, Length | Speed):
            return self.length.curve(time, length, span)
        return profile.constant(self.length)
