"""When steps and sample intervals are made again: to find the end of a string, and to let energy balance."""

from __future__ import annotations

# How far the reel may go beyond the end of the string, over the length of the string.
END_TOLERANCE = 1e-10
MOST_TRIALS = 80
MOST_SECANTS = 20  # before halving takes over
# Halvings that a sample interval may need beyond those of the limits.
MOST_EXTRA = 5
# A repeated interval whose balance is not better than this part of before is not repeated again.
IMPROVEMENT = 0.7
# An interval this much better than it need be lets the next one try a larger step.
ROOM_TO_SPARE = 1.0 / 16.0
