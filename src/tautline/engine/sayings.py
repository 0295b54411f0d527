"""Sentences that are made of figures: of one run, or of members whose figures are in arrays."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

import numpy as np


class Saying(NamedTuple):
    """A sentence, made of some figures where these are beyond what a user would accept unseen."""

    beyond: Any
    figures: tuple[Any, ...]
    sentence: Callable[..., str]


def said(sayings: Iterable[Saying]) -> list[str]:
    """What is to be said of one run."""
    return [saying.sentence(*saying.figures) for saying in sayings if saying.beyond]


def said_of_members(sayings: Iterable[Saying]) -> dict[int, list[str]]:
    """What is to be said of members whose figures are in arrays; of those only of whom there is something."""
    found: dict[int, list[str]] = {}
    for saying in sayings:
        for k in np.flatnonzero(saying.beyond).tolist():
            found.setdefault(k, []).append(saying.sentence(*(x[k] for x in saying.figures)))
    return found
