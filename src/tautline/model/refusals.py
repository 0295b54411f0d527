"""What cannot be had, each with its sentence and its reason; errors and the table in docs/howto/systems.md use it."""

from __future__ import annotations

from typing import Any, NamedTuple

from tautline.errors import InputError


class Refusal(NamedTuple):
    """Things that do not go together.

    Attributes
    ----------
    what : str
        As the docs name it.
    key : str
        Of the input that is refused.
    expected : str
        In its place.
    reason : str
    """

    what: str
    key: str
    expected: str
    reason: str

    def error(self, got: object, *, at: str = "", **words: Any) -> InputError:
        """The error; `at` stands in front of the key, `words` in the braces of `expected`."""
        return InputError(f"{at}{self.key}: expected {self.expected.format(**words)}, got {got}; {self.reason}")


PAPER_SCHEME = Refusal(
    'scheme `"paper"` for other systems than one line on a reel with one free body',
    "scheme",
    "'symmetric' with {what}",
    "the paper's scheme is written for one line on a reel with one free body",
)
PAPER_ORDER = Refusal(
    'orders 4 and 6 with the scheme `"paper"` and a moving reel',
    "order",
    "2 with scheme='paper' and a moving reel",
    "that scheme is not symmetric there, so composing it gains no order. Use scheme='symmetric'",
)
LOADED_ORDER = Refusal(
    "orders 4 and 6 with a load or a moving guide",
    "order",
    "2 with a moving guide or a load ({loads})",
    "higher orders step back in time inside, where damping would feed energy in",
)
STICKING_ORDER = Refusal(
    'orders 4 and 6 with `Brake`, dry friction or `at_end="hold"`',
    "order",
    "2 with {what}",
    "orders 4 and 6 have stages that go back in time, where what sticks or strikes has no unique motion. Use order=2",
)
LAW_ORDER = Refusal(
    'orders 4 and 6 with the guide law `"stretched"`',
    "order",
    "{highest} with guide_law={law!r}",
    "higher orders go back in time for a while, which what happens at the guide cannot",
)
ORBIT_FLUID = Refusal(
    "a fluid in an orbit", "fluid", "none in an orbit", "a fluid is at rest or flows in a frame that does not fall"
)
ORBIT_REEL = Refusal(
    "a reel on a fixed or kinematic body in an orbit",
    ".reel",
    "a reel on a free body in an orbit",
    "what holds it would have to be moved along the orbit",
)
ORBIT_REST = Refusal(
    "`statics`, `modes` and starts at rest in an orbit",
    "system",
    "one in uniform gravity",
    "rest is a motion there",
)
SAVED_TORQUE = Refusal(
    "saving a run whose torque is a function",
    "Torque.torque",
    "a number or a table in a run that is saved",
    "a file cannot hold a function",
)
SAVED_CONDITION = Refusal(
    "saving a run that a function ends",
    "stop",
    "conditions on variables in a run that is saved",
    "a file cannot hold a function",
)
SAVED_FORCE_LAW = Refusal(
    "saving a run with a force law of your own",
    "loads",
    "no force law in a run that is saved",
    "a file cannot hold a function",
)
TORQUE_DERIVATIVE = Refusal(
    "derivatives of a run whose torque is a function",
    "case",
    "a torque that is a number or a table",
    "derivatives of a function are not known. Use Torque((times, torques))",
)
REEVED_LOADS = Refusal(
    "fluids, damping and force laws on lines over sheaves and pins, with a reel at their end, or on a shared shaft",
    "system",
    "no fluid, no damping and no force laws beside sheaves, pins, end reels and shared shafts",
    "loads act on lines that one reel at their start feeds",
)
REEVED_SLIP = Refusal(
    "ropes that slip on a sheave (`groove_friction`) in a run",
    "system",
    "no groove_friction of sheaves in a run",
    "ropes do not slip on wheels; a Pin has the friction of a rope that slides",
)
REEVED_GRADIENT = Refusal(
    "derivatives of runs of lines over sheaves and pins, with a reel at their end, or on a shared shaft",
    "system",
    "no sheaves, pins, end reels and shared shafts where derivatives are asked for",
    "compare runs with other values of a key",
)
REEVED_MODES = Refusal(
    "`modes` of lines over sheaves, with a reel at their end, or on a shaft with others",
    "system",
    "no sheaves, no end_reel and no shared shaft",
    "the linear model has no rope that passes a sheave",
)
COMPARED_SYSTEM = Refusal(
    "`tl.reference.integrate` for other systems than one line on a reel with one free body",
    "system",
    "one line on a reel and one body at its end",
    "the comparator is written for the paper's system",
)
REFUSALS = tuple(x for x in list(globals().values()) if isinstance(x, Refusal))
