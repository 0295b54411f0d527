"""Fields that are other described things: a section of a file each."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tautline.model import checks
from tautline.model.kinds import Kind


def _itself(thing: Any) -> Any:
    return thing


class Part(Kind):
    """A field that is an object of a described class, or of one of several.

    Parameters
    ----------
    options : dict
        Described classes by the text that tells them apart; a single one has no text.
    sentence : str
        What the field is.
    word : str
        The key of that text.
    wanted : type, optional
        Class of the objects; that of the only option by default.
    make, unmake : callable
        From an object of a described class to the object of the model, and back.
    **others
        As of a `Kind`.
    """

    def __init__(
        self,
        options: dict[str, type],
        sentence: str,
        *,
        word: str = "",
        wanted: Any = None,
        make: Callable[[Any], Any] = _itself,
        unmake: Callable[[Any], Any] = _itself,
        **others: Any,
    ) -> None:
        super().__init__(sentence, own_key=False, **others)
        self.options, self.word, self.make, self.unmake = options, word, make, unmake
        self.wanted = next(iter(options.values())) if wanted is None else wanted

    def check(self, name: str, value: Any) -> Any:
        if not (value is None and self.default is None) and not isinstance(value, self.wanted):
            options = [cls.__name__ for cls in self.options.values()]
            checks.refuse(name, f"a {getattr(self.wanted, '__name__', ' or '.join(options))}", value)
        return value

    def words(self) -> str:
        return getattr(self.wanted, "__name__", None) or " or ".join(c.__name__ for c in self.options.values())
