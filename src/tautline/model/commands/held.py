"""Commands without arguments: the drum is held, or let go."""

from __future__ import annotations

from tautline.model.commands.base import Command
from tautline.model.description import described


@described
class Locked(Command):
    """The drum is held: the deployed length stays constant."""

    holds = True


@described
class Free(Command):
    """The drum turns freely, but for its friction."""

    turns_freely = True
