"""Parts of sentences that messages share: lists of names, and the name that was probably meant."""

from __future__ import annotations

import difflib
from collections.abc import Iterable
from typing import Any


def both(names: list[str]) -> str:
    """In a sentence: a, b and c; or none."""
    if len(names) < 2:
        return names[0] if names else "none"
    return f"{', '.join(names[:-1])} and {names[-1]}"


def either(names: Iterable[str]) -> str:
    """In a sentence: a, b or c."""
    *before, last = names
    return f"{', '.join(before)} or {last}" if before else last


def near(came: Any, options: Iterable[Any]) -> str:
    """A hint at the option that was meant, if one is close."""
    # get_close_matches takes time in proportion to the length
    words = [str(option) for option in options]
    found = difflib.get_close_matches(came, words, 1) if isinstance(came, str) and len(came) <= 100 else []
    return f"; did you mean {found[0]!r}?" if found else ""


def no_such(thing: str, came: Any, known: Iterable[Any]) -> str:
    """Sentence on a name that there is not: the one that was meant, or all that there are."""
    words = [str(name) for name in known]
    there = f"; expected one of {', '.join(words)}" if words else ""
    return f"no such {thing}{near(came, words) or there}"
