"""Laws, commands and loads by name, each with the file of its kernels.

One line each; the order gives the number by which kernels tell them apart. Imports no kernel, so that the model can
offer the names and refuse what a law cannot do without loading any kernel. CONTRIBUTING.md walks through an addition.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from tautline.ledger import refuse_late

KERNELS = "tautline.kernels"


class GuideLaw(NamedTuple):
    """Law for the energy where the string enters or leaves the guide (docs/theory.md, "The guide")."""

    module: str
    sentence: str
    strings: tuple[str, ...] = ()  # elastic laws that it can work with; all where empty
    highest_order: int = 6
    force_at_rest: float = 0.0  # force on s at standstill, over the energy of a unit of length at the guide's strain
    remembers: bool = False  # the drum keeps how strained the string came in


class ElasticLaw(NamedTuple):
    """How tension follows from strain (docs/theory.md, "Strings that go slack, and other laws")."""

    module: str
    sentence: str
    lanes: bool = True  # can step in lanes with other members of an ensemble


class ReelCommand(NamedTuple):
    """Kind of command that moves the drum (docs/theory.md, "Commands, friction and stops of the reel")."""

    module: str
    sentence: str


class Load(NamedTuple):
    """A force that is not in the Lagrangian (docs/theory.md, "Loads")."""

    module: str
    sentence: str
    account: str  # that its work or loss is booked on


GUIDE_LAWS = {
    "dissipative": GuideLaw(f"{KERNELS}.guide_laws.dissipative", "loses the energy of the jump in both directions"),
    "published": GuideLaw(
        f"{KERNELS}.guide_laws.published", "the paper's formula, right for retrieval only", force_at_rest=-1.0
    ),
    "momentum": GuideLaw(
        f"{KERNELS}.guide_laws.momentum", "keeps the momentum along the string", ("linear",), force_at_rest=1.0
    ),
    "stretched": GuideLaw(
        f"{KERNELS}.guide_laws.stretched",
        "the drum keeps the string as strained as it came in",
        ("linear",),
        highest_order=2,
        remembers=True,
    ),
    "none": GuideLaw(f"{KERNELS}.guide_laws.none", "neither takes nor gives: the conservative limit"),
}

ELASTIC_LAWS = {
    "linear": ElasticLaw(f"{KERNELS}.elastic_laws.linear", "pulls and pushes in proportion to the strain"),
    "tension_only": ElasticLaw(f"{KERNELS}.elastic_laws.tension_only", "as linear when stretched, slack when not"),
    "table": ElasticLaw(f"{KERNELS}.elastic_laws.table", "a monotone curve through a table", lanes=False),
}

COMMANDS = {
    "torque": ReelCommand(f"{KERNELS}.commands.torque", "torque of the motor; zero for a free drum"),
    "brake": ReelCommand(f"{KERNELS}.commands.brake", "dry friction that holds up to a torque"),
    "prescribed_motion": ReelCommand(f"{KERNELS}.commands.prescribed_motion", "a given length over time"),
    "impedance": ReelCommand(f"{KERNELS}.commands.impedance", "a spring and a damper on the length"),
}

LOADS = {
    "damping": Load(f"{KERNELS}.loads.damping", "Kelvin-Voigt damping inside the string", "damping_loss"),
    "drag": Load(f"{KERNELS}.loads.drag", "drag of a fluid on string and body", "fluid_work"),
    "applied_force": Load(f"{KERNELS}.loads.applied_force", "a force and a moment on the body", "external_work"),
    "force_law": Load(f"{KERNELS}.loads.force_law", "forces of the user's own functions", "force_law_work"),
}

Entry = GuideLaw | ElasticLaw | ReelCommand | Load


def tables() -> tuple[dict[str, GuideLaw], dict[str, ElasticLaw], dict[str, ReelCommand], dict[str, Load]]:
    """Everything that is registered."""
    return GUIDE_LAWS, ELASTIC_LAWS, COMMANDS, LOADS


def register(name: str, entry: Entry) -> None:
    """Add a law, command or load from outside of tautline, before the kernels are loaded."""
    refuse_late(type(entry).__name__, name)
    kinds: dict[type[Entry], Any] = dict(zip((GuideLaw, ElasticLaw, ReelCommand, Load), tables(), strict=True))
    table = kinds[type(entry)]
    if name in table:
        raise ValueError(f"{type(entry).__name__} {name!r}: expected a new name, this one is taken")
    table[name] = entry
