"""Refusals, each with its sentence and its reason; errors and the table in docs/howto/systems.md use them."""

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
    'orders 4 and 6 with `Brake`, dry friction, `groove_friction` or `at_end="hold"`',
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
    'rest is a motion there; tl.Placed(..., frame="orbital") starts at rest in the frame that turns with it',
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
SEQUENCE_PIECES = Refusal(
    "linear models and optima of a run with a sequence of commands",
    "case",
    "one command for each reel, no sequence",
    "a state does not say in which stage of its sequence a reel is",
)
MOVING_REST_DERIVATIVE = Refusal(
    "derivatives of a run that starts at rest with a reel that turns",
    "initial.reel_speed",
    "0, or a start from a state",
    "its velocities are found from two more states of rest",
)
HELD_SPIN_DERIVATIVE = Refusal(
    "derivatives of a start at rest by a key that takes hold of a body which is free to spin",
    "",
    "a key that leaves {body!r} as free to spin about an axis as it is",
    "however small a change, the body turns until forces balance about that axis, if they do, so its attitude at rest "
    "jumps. Give the key a value at which the body is held, or start from a state",
)
SEQUENCE_FMU = Refusal(
    "a sequence of commands in an FMU",
    "case",
    "one command for each reel, or an input in its place (`commands=`)",
    "the host gives commands one after the other",
)
REEVED_LAW = Refusal(
    "force laws of your own on lines over sheaves and pins",
    "loads",
    "no force law on line {line!r}, which runs over {over!r}",
    "a law acts on a line of one span",
)
SLIP_STATES = Refusal(
    "linear models and optimal control with ropes that may slip on a sheave (`groove_friction`)",
    "system",
    "no groove_friction of sheaves where derivatives by states are asked for",
    "a state does not say whether a rope sticks. tl.jacobian and tl.fit take it",
)
REEVED_MODES = Refusal(
    "`modes` with a free drum on a shared shaft, or of a line with a reel at its end",
    "reel",
    "drums that are alone on their shaft and on their line",
    "the linear model has drums at the starts of lines, each by itself",
)
DIRECTED_MODES = Refusal(
    "`modes` in a flow of bodies whose drag, added mass or wing has a direction",
    "fluid",
    "still water or air beside drag, added mass or a wing with a direction",
    "forces that turn with a body have a stiffness that is not symmetric",
)
TURNING_REST = Refusal(
    "states of rest under a body that turns as given, at another time than 0 or with `acceleration`",
    "",
    "0 with kinematic bodies that turn",
    "what hangs on them is at rest in no frame",
)
FMU_TURNING = Refusal(
    "velocities as inputs of an FMU, of kinematic bodies that turn",
    ".turning",
    "none for a body whose velocity is an input",
    "angular velocities are no inputs; give the body a path, with which it moves and turns as in the case",
)
COMPARED_SYSTEM = Refusal(
    "`tl.reference.integrate` for other systems than one line on a reel with one free body",
    "system",
    "one line on a reel and one body at its end",
    "the comparator is written for the paper's system",
)
REFUSALS = tuple(x for x in list(globals().values()) if isinstance(x, Refusal))
