"""Commands without arguments: the drum is held, or let go."""

from __future__ import annotations

from tautline.model.description import described


@described
class Locked:
    """The drum is held: the deployed length stays constant."""


@described
class Free:
    """The drum turns freely, but for its friction."""
