"""Layout of the file resources/system.bin of an FMU, for Python, which writes it, and for C, which reads it.

The file is the header, the block and the relocations, all in words of eight bytes. The block is the memory of an
instance: structures and arrays that machine code takes (kernels/machine/structures.py), tables for the wrapper, and its
own state. Where a word of the block is an address, the file has a place in the block, and the relocations list it.
"""

from __future__ import annotations

MAGIC = int.from_bytes(b"tautline", "little")
FORMAT = 2
# Intervals whose number of steps an instance remembers.
INTERVALS = 64

HEADER = (
    "magic",
    "format",
    "abi",
    "stamp",  # of libtautline: two words of text
    "stamp_end",
    "token",  # five words of text
    "token_1",
    "token_2",
    "token_3",
    "token_4",
    "words",  # of the block
    "kept",  # words at the beginning of the block that are the state of an instance
    "relocations",
    "before",  # place of the network before its commands are taken
    "network",
    "plan",
    "backups",
    "samples",
    "totals",  # places of arrays
    "clock",
    "whole",
    "state",
    "inputs",
    "parameters",
    "plan_step",  # places of words
    "plan_count",
    "adaptive",  # truth
    "allowed_ratio",  # number, as are those behind it
    "fixed_step",
    "last_time",
    "balance_limit",
    "step_limit",
    "compression_limit",
    "whole_tolerance",
    # tables: place and rows
    "variables",
    "variable_count",
    "lines",
    "line_count",
    "spans",
    "span_count",
    "drums",
    "drum_count",
    "reels",
    "reel_count",
    "carriers",
    "carrier_count",
    "moved",
    "moved_count",
    "forced",
    "forced_count",
    "changed",
    "changed_count",
    "parameter_count",
    "input_count",
    "accounts",
    "account_count",
    # places of quantities in arrays of the kernels
    "t_start",
    "stop_time",
    "kept_energy",
    "potential",
    "in_play",
    "ratios",
    "step_counter",
    "kinetic",
    "elastic",
    "gravity",
    "reel_torque",
    "reel_stop",
    "reel_slipped",
    "reel_held",
    "reel_control_work",
    "prescribed",  # value of `reel_held`, a number
)
# Words of the wrapper's own state.
STATE = (
    "begins",  # time of the host at which the case begins
    "status",  # how the motion ended, a code
    "stopped",  # truth
    "step",  # base step
    "count",  # base steps of the latest interval
    "known",  # intervals that are remembered
    "kept_at_start",
    "balance",
    "flags",
    "intervals",  # of the host, INTERVALS of them
)
# Columns of tables.
COLUMNS = {
    "variable": ("kind", "first", "least", "open", "whole"),
    "line": ("first_span", "span_count"),
    "span": (
        "elements",
        "nodes",
        "retracted",  # length of the line that is not in this span
        "near",  # speeds of what feeds its start and its stop
        "far",
        "far_sign",  # of the latter, a number; 0 without a feed
        "length",
        "stiffness",
        "density",
        "viscosity",
        "gravity",
        "law",
        "pieces",
        "piece_count",
        "buoyant",  # mass per length, a number
        "flow",
        "flow_count",  # depths; 0 without a fluid
        "flow_times",
        "flow_time_count",
        "normal",
        "tangential",
        "has_surface",
        "surface",
        "above",
        "lift",
    ),
    "drum": ("array", "reeled", "speed", "torque", "radius", "growth", "guide_length", "slips"),  # or a sheave
    "reel": (  # a drum or a sheave that follows a command
        "drum",
        "mode",
        "input",
        "torques",
        "profile",
        "length",  # reeled and deployed together, a number
        "limit",
        "power_limit",
        "finds_torque",
        "prescribes",
        "torque",  # numbers at the start
        "speed",
        "acceleration",
        "now",  # place of length and payout at the communication point, and of the torque that was set
    ),
    "carrier": ("given", "force", "before"),
    "moved": ("path", "place", "input"),
    "forced": ("place", "input"),
    "changed": ("parameter", "place", "form", "number"),
}
# Kinds of variables.
KINDS = (
    "time",
    "input",
    "parameter",
    "word",
    "deployed",
    "span_length",
    "start_tension",
    "end_tension",
    "power",
    "total_energy",
    "warnings",
    "status",
)
# What a reel follows.
MODES = ("as_case", "by_torque", "by_speed", "by_length")
# How a word follows from a parameter p whose number in the case is p0.
FORMS = ("copy", "power", "affine", "inverse")
LAWS = ("linear", "tension_only", "table")
# Bits of the variable `warnings`, by kind of warning.
FLAGS = {
    "energy_balance": "the balance of energy is off by more than a hundredth of the energy in play",
    "step": "the fixed step does not resolve the stretching of lines, the turning of bodies or the spring of a command",
    "compression": "a line of the law `linear` was pressed together, which no rope can bear",
    "end_stop": "a reel rests on its end stop",
    "motor_torque": "a prescribed motion took more torque than the motor has",
    "motor_power": "a prescribed motion took more power than the motor has",
    "slip": "a rope slipped on its sheave",
}


def _enumerated(prefix: str, names: tuple[str, ...]) -> str:
    return f"enum {{ {', '.join(f'{prefix}_{name.upper()}' for name in names)}, {prefix}_SIZE }};"


def header_text(actions: dict[str, int], statuses: dict[str, int]) -> str:
    """C declarations of the layout, with what the kernels can be asked to do and how a march may end."""
    fields = "".join(f"    int64_t {name};\n" for name in HEADER)
    lines = [
        "/* Made from layout.py; do not edit. */",
        "#include <stdint.h>",
        f"#define IMAGE_MAGIC INT64_C({MAGIC})",
        f"#define IMAGE_FORMAT {FORMAT}",
        f"#define REMEMBERED {INTERVALS}",
        f"typedef struct {{\n{fields}}} Header;",
        _enumerated("STATE", STATE),
        *(_enumerated(name.upper(), columns) for name, columns in COLUMNS.items()),
        _enumerated("KIND", KINDS),
        _enumerated("MODE", MODES),
        _enumerated("FORM", FORMS),
        _enumerated("LAW", LAWS),
        _enumerated("FLAG", tuple(FLAGS)),
        *(f"#define {name} {value}" for name, value in (actions | statuses).items()),
    ]
    return "\n".join(lines) + "\n"
