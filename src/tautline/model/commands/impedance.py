"""A spring and a damper on the deployed length."""

from __future__ import annotations

from typing import Any

from tautline.arrays import Array
from tautline.model import profile
from tautline.model.checks import non_negative, positive
from tautline.model.commands.base import Command, Drum
from tautline.model.commands.length import LENGTHS, Length
from tautline.model.commands.speed import SPEEDS, Speed
from tautline.model.description import Number, declared, described, quantity
from tautline.model.file_keys import assemble_among, keys_of, to_keys
from tautline.model.kinds import Quantity, Way
from tautline.model.motions import Motion
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
class Impedance(Command):
    """A spring and a damper on the deployed length: proportional-derivative control without sampling.

    The pull on the string is stiffness (X - length) + damping (dX/dt - dlength/dt), X being what is deployed; the
    motor's limits of `Reel` hold.
    """

    _file = TableFile(LENGTHS, *SPEEDS)
    kernel = "impedance"

    length: Any = declared(Rest())
    stiffness: Number = quantity("N/m", non_negative, "Pull per length.")
    damping: Number = quantity("N*s/m", non_negative, "Pull per speed.", default=0.0)

    @property
    def follower(self) -> Length | Speed | None:
        """Command that moves the length at rest; None where that is constant."""
        return self.length if isinstance(self.length, Length | Speed) else None

    @property
    def motion(self) -> Motion | None:
        """Motion of the length at rest."""
        return None if self.follower is None else self.follower.motion

    @property
    def move(self) -> Length | None:
        """Move of the length at rest."""
        return None if self.follower is None else self.follower.move

    @property
    def is_tabulated(self) -> bool:
        """Whether the length at rest is a table."""
        return self.follower is not None and self.follower.is_tabulated

    def curve(self, time: float, length: float, span: profile.Span | None = None) -> Array:
        """Profile of the length at rest."""
        return profile.constant(self.length) if self.follower is None else self.follower.curve(time, length, span)

    def check_start(self, time: float, length: float, reel_speed: float) -> None:
        """Refuse a move of the length at rest that does not begin at rest; elsewhere the spring may be stretched."""
        if isinstance(self.length, Length) and self.length.target is not None:
            self.length.check_start(time, length, reel_speed)

    def shortest(self, length: float, time: float = 0.0) -> float | None:
        """Least length at rest."""
        if self.follower is None:
            return profile.least_positive(self.curve(time, length), time)
        return self.follower.shortest(length, time)

    def motor_torque(self, now: Drum, origin: tuple[float, float]) -> float:
        """Torque of spring and damper."""
        rest, rate, _ = profile.values_at(self.curve(*origin, (now.time, now.time)), now.time)
        return now.radius * (self.stiffness * (now.deployed - rest) + self.damping * (now.payout - rate))
