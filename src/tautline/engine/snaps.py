"""Snaps of a line: it was slack, and takes load again. They are counted, so that a long run hides none."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from tautline.arrays import Array
from tautline.engine.criteria import Criterion

# Part of a line that is slack at once, and part of the largest tension until then that it takes afterwards.
SLACK_PART, LOAD_PART = 0.5, 0.5
# A start or a stop may make one or two. Of 949 pendulums of the trial without much slack on average 3 have more.
MOST = 2.0


class Snaps(NamedTuple):
    """Whether a line waits for its load after some samples, and how many times it took it in them."""

    slack: Any
    count: Any


def snaps_in(slack: Any, largest: Any, parts: Array, tensions: Array) -> Snaps:
    """Snaps in samples in order of time; of members too, as the last dimension of arrays.

    Parameters
    ----------
    slack : float
        1 if the line was slack before the samples and has not taken load since, otherwise 0.
    largest : float
        Largest tension before the samples (N).
    parts : array
        Part of the line that is slack.
    tensions : array
        Largest tension along the line (N).
    """
    falls = parts >= SLACK_PART
    if not falls.any() and not np.any(slack):
        return Snaps(slack, np.zeros(falls.shape[1:]))
    most = np.maximum.accumulate(np.maximum(tensions, largest), axis=0)
    takes = ~falls & (tensions > 0.0) & (tensions >= LOAD_PART * most)
    marks = np.concatenate(
        [np.broadcast_to(slack, falls[:1].shape), np.where(takes, 0.0, np.where(falls, 1.0, np.nan))]
    )
    rows = np.arange(len(marks)).reshape(-1, *[1] * (marks.ndim - 1))
    latest = np.maximum.accumulate(np.where(np.isnan(marks), 0, rows), axis=0)
    states = np.take_along_axis(marks, latest, axis=0)
    return Snaps(states[-1], 1.0 * np.count_nonzero(np.diff(states, axis=0) < 0.0, axis=0))


def snap_criterion(count: Any, slackens: bool) -> Criterion:
    """Limit on the number of snaps of a line that `slackens`: with a law that pushes instead it has none."""
    return Criterion(
        "snap",
        np.greater(count, MOST) & slackens,
        (count,),
        MOST,
        lambda count: (
            f"the string was slack over half of its length or more, and took load again, {count:.0f} times: each may "
            "be a snap, whose peak depends on mesh and samples; less motion or more load keeps it taut"
        ),
    )
