"""From a case to the memory of an instance of an FMU, with its inputs and outputs."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from tautline.arrays import Counters
from tautline.engine.health import BALANCE, RESOLUTION
from tautline.fmu import layout
from tautline.fmu.exported import Export
from tautline.fmu.image import bits, place_in
from tautline.fmu.inputs import Inputs
from tautline.fmu.memory import Memory
from tautline.fmu.outputs import Outputs, Row
from tautline.fmu.variables import Variable
from tautline.kernels import data
from tautline.kernels.balance import SIGNS
from tautline.kernels.limits import Limits
from tautline.kernels.machine.stamp import ABI, source_hash
from tautline.kernels.machine.structures import structure
from tautline.kernels.network import data as kernels
from tautline.kernels.network.march import Done
from tautline.model.checks import WHOLE
from tautline.model.system.commands import drives
from tautline.model.system.parts import Kinematic

# Strain as a compression, beyond which a line with a linear law was pressed together.
COMPRESSION = 1e-9
# Tables whose names have no plural.
NO_PLURAL = ("moved", "forced", "changed")


class Lowered(NamedTuple):
    """The memory of an instance."""

    header: dict[str, int]
    words: Counters
    relocations: list[int]
    variables: list[Variable]


def lower(what: Export, parameters: list[Variable] | None = None, changed: Any = ()) -> Lowered:
    """Memory of an instance of what is exported.

    Parameters
    ----------
    what : Export
    parameters : list of Variable
        With their numbers; they lie behind the inputs.
    changed : list
        Words that follow from parameters.
    """
    parameters = parameters or []
    inputs = Inputs(what)
    memory = Memory(what, inputs.start_values, [x.start or 0.0 for x in parameters])
    outputs = Outputs(memory)
    rows = outputs.rows | {
        "reel": [_reel(memory, inputs, name) for name in drives(memory.system)],
        "moved": [_moved(memory, name, first) for name, first in inputs.moved.items()],
        "forced": [[memory.image.array(memory.body(name).push) + row, k] for name, row, k in inputs.forces],
        "changed": list(changed),
    }
    variables = [
        Variable("time", "independent", "s", "Time.", kind="time"),
        *inputs.variables,
        *outputs.variables,
        *(x._replace(first=k) for k, x in enumerate(parameters)),
    ]
    rows["variable"] = [[layout.KINDS.index(x.kind), x.first, x.least, int(x.open), int(x.is_whole)] for x in variables]
    counts = {"parameter_count": len(parameters), "input_count": len(inputs.start_values)}
    header = _header(memory, rows, counts)
    return Lowered(header, memory.image.words(), memory.image.relocations, variables)


def _reel(memory: Memory, inputs: Inputs, name: str) -> Row:
    """Row of a reel or sheave, by the name of its command."""
    k, what, array = memory.stepper.numbers[name], memory.what, memory.image.array
    command, own = memory.stepper.commands[name], memory.network.strands[k].command
    mode = {"torque": "by_torque", "speed": "by_speed", "length": "by_length"}.get(what.modes[name], "as_case")
    torque, speed, acceleration = memory.begun[k][[data.TORQUE, data.HELD_SPEED, data.HELD_ACCELERATION]]
    return [
        k,
        layout.MODES.index(mode),
        inputs.reels.get(name, -1),
        array(own.torques),
        array(own.profile),
        float(memory.lengths[name]),
        memory.in_strand(k, ".par.max_torque"),
        memory.in_strand(k, ".par.max_power"),
        int(command.finds_torque),
        int(command.prescribes),
        float(torque),
        float(speed),
        float(acceleration),
        array(memory.now[name]),
    ]


def _moved(memory: Memory, name: str, first: int) -> Row:
    """Row of a kinematic body whose velocity is an input."""
    return [memory.image.array(memory.body(name).path), memory.sampled_body(name) + kernels.BODY_PLACE, first]


def _header(memory: Memory, rows: dict[str, list[Row]], counts: dict[str, int]) -> dict[str, int]:
    """Words of the header but for the token; tables are put behind the image."""
    image, arrays, plan = memory.image, memory.stepper.arrays, memory.stepper.plan
    members = [member.path for member in structure(Done).members]
    assert members == [".status", ".rows", ".strand", *(f".limits.{name}" for name in Limits._fields)]
    inputs = image.array(memory.values)
    places = {name: image.table(table, len(layout.COLUMNS[name])) for name, table in rows.items()}
    stamp = source_hash().encode()
    header = {
        "magic": layout.MAGIC,
        "format": layout.FORMAT,
        "abi": ABI,
        "stamp": int.from_bytes(stamp[:8], "little"),
        "stamp_end": int.from_bytes(stamp[8:16], "little"),
        "kept": memory.kept,
        "before": memory.before_place,
        "network": memory.network_place,
        "plan": memory.plan_place,
        "backups": memory.backups_place,
        "samples": memory.samples_place,
        "totals": image.array(arrays.totals),
        "clock": image.array(arrays.clock),
        "whole": image.array(memory.samples.whole),
        "state": image.array(memory.state),
        "inputs": inputs,
        "parameters": inputs + counts["input_count"],
        "plan_step": memory.plan_place + place_in(data.Plan, ".h"),
        "plan_count": memory.plan_place + place_in(data.Plan, ".steps_per_sample"),
        "adaptive": int(plan.adaptive),
        "allowed_ratio": bits(plan.allowed_ratio),
        "fixed_step": bits(0.0 if plan.adaptive else plan.h),
        "last_time": bits(float(memory.what.until if _has_end(memory) else np.inf)),
        "balance_limit": bits(BALANCE),
        "step_limit": bits(RESOLUTION),
        "compression_limit": bits(COMPRESSION),
        "whole_tolerance": bits(WHOLE),
        **{name if name in NO_PLURAL else f"{name}s": place for name, place in places.items()},
        **{f"{name}_count": len(table) for name, table in rows.items()},
        **counts,
        "accounts": image.array(np.array(SIGNS, dtype=np.float64)),
        "account_count": len(SIGNS),
        "t_start": data.T_START,
        "stop_time": data.STOP_TIME,
        "kept_energy": data.KEPT,
        "potential": data.POTENTIAL,
        "in_play": data.IN_PLAY,
        "ratios": data.RATIOS,
        "step_counter": data.STEP,
        "kinetic": data.KINETIC,
        "elastic": data.ELASTIC,
        "gravity": data.GRAVITY,
        "reel_torque": data.TORQUE,
        "reel_stop": data.STOP,
        "reel_slipped": kernels.SLIPPED,
        "reel_held": data.HELD,
        "reel_control_work": data.ACCOUNT_PLACES[data.CONTROL_WORK],
        "prescribed": bits(float(data.PRESCRIBED)),
    }
    return header | {"words": image.size, "relocations": len(image.relocations)}


def _has_end(memory: Memory) -> bool:
    """Whether motions and flows of the case are tabulated up to a time only."""
    what, fluid = memory.what, memory.system.fluid
    motions: list[Any] = [
        motion
        for name, body in memory.system.bodies.items()
        if isinstance(body, Kinematic) and name not in what.moved
        for motion in (body.path, body.rotation)
    ]
    motions.append(None if fluid is None else fluid.unsteady)
    commands = [what.commands[name] for name, mode in what.modes.items() if mode == "case" and name in what.commands]
    return any(x is not None and x.covered(0.0) < np.inf for x in motions) or any(
        x.covered(0.0, 0.0) < np.inf for x in commands
    )
