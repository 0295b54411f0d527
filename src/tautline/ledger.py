"""The accounts of energy: what is stored, what work was done on the system, what was lost.

One table. The balance (docs/theory.md, equation 29) is energy less work plus losses, which stays constant but for the
error of the method. The kernels' sums, the columns of samples, the schema of results, viewer and studies follow from
it, and tests hold the tables of the documentation to it: a new account is one line here, and a kernel that books on it.
"""

from __future__ import annotations

import sys
from typing import Any, NamedTuple

STORED, WORK, LOSS = "stored", "work", "loss"
# How an account of each kind enters the balance.
SIGN = {STORED: 1.0, WORK: -1.0, LOSS: 1.0}


class Account(NamedTuple):
    """An account by its name in results."""

    name: str
    kind: str  # STORED, WORK or LOSS
    sentence: str
    unit: str = "J"


# Stored ones first, then those that are summed up step by step.
ACCOUNTS = [
    Account("kinetic_energy", STORED, "kinetic energy of string, reel and body, inertial"),
    Account("elastic_energy", STORED, "elastic energy of the deployed string"),
    Account("gravity_energy", STORED, "potential energy in gravity, spooled string included"),
    Account("control_work", WORK, "work done by the drum torque since the start"),
    Account("fluid_work", WORK, "work done by the drag of the fluid since the start"),
    Account("external_work", WORK, "work done by forces, moments and impulses on the body since the start"),
    Account("guide_work", WORK, "work done by the motion of the guide since the start"),
    Account("force_law_work", WORK, "work done by the user's force laws since the start"),
    Account("guide_loss", LOSS, "energy lost at the guide since the start"),
    Account("damping_loss", LOSS, "energy lost to damping inside the string since the start"),
    Account("friction_loss", LOSS, "energy lost to friction, brake and stops of the drum since the start"),
]
# Number of those that are tautline's own.
BUILT_IN = len(ACCOUNTS)


def names(*kinds: str) -> list[str]:
    """Names of the accounts of these kinds, in the order of the table."""
    return [account.name for account in ACCOUNTS if account.kind in kinds]


def booked() -> list[str]:
    """Names of the accounts that are summed up step by step."""
    return names(WORK, LOSS)


def register(account: Account) -> None:
    """Add an account, before the kernels are loaded."""
    refuse_late("an account", account.name, "tautline.schema")
    if account.kind not in (WORK, LOSS) or account.name in names(*SIGN):
        raise ValueError(f"account {account.name!r}: expected a new name, and the kind 'work' or 'loss'")
    ACCOUNTS.append(account)


def refuse_late(what: str, name: str, *others: str) -> None:
    """Refuse what the kernels, or other modules, could no longer take into account."""
    if any(module in sys.modules for module in ("tautline.kernels.data", *others)):
        raise RuntimeError(f"{what} {name!r}: expected before the kernels are loaded, at the beginning of the program")


def kept_energy(values: Any) -> Any:
    """Energy less work plus losses (equation 29), of a Dataset or of a mapping of numbers or arrays by name (J)."""
    stored, work, losses = ([values[name] for name in names(kind)] for kind in (STORED, WORK, LOSS))
    kept = sum(stored[1:], start=stored[0]) - sum(work[1:], start=work[0])
    for loss in losses:
        kept = kept + loss
    return kept
