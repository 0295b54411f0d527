"""Outputs of an FMU, and tables from which the wrapper computes those that the kernels do not write."""

from __future__ import annotations

import numpy as np

from tautline import ledger
from tautline.engine.network.strands import NO_SPAN, StrandOf
from tautline.fmu import layout
from tautline.fmu.exported import drive_head
from tautline.fmu.memory import Memory
from tautline.fmu.variables import AXES, Variable, named
from tautline.kernels import data
from tautline.kernels.network import data as kernels
from tautline.model.body import RigidBody
from tautline.model.string_loads import string_loads
from tautline.model.system.commands import END_REEL
from tautline.model.system.parts import ANCHOR

Row = list[int | float]


class Outputs:
    """Outputs.

    Attributes
    ----------
    variables : list of Variable
    rows : dict
        Rows of tables that they are computed from, by the names of the layout.
    """

    def __init__(self, memory: Memory) -> None:
        self.memory, self.system = memory, memory.system
        self.strands = memory.stepper.strands
        self.variables: list[Variable] = []
        self.rows: dict[str, list[Row]] = {"line": [], "span": [], "drum": [], "carrier": []}
        self.rows["drum"] = [self._drum(k) for k in range(len(self.strands))]
        for name in self.system.lines:
            self._line(name)
        self._bodies()
        self._carriers()
        self._of_all()

    def _add(self, name: str, unit: str, sentence: str, kind: str, first: int = 0) -> None:
        self.variables.append(Variable(name, "output", unit, sentence, kind=kind, first=first))

    def _vector(self, name: str, unit: str, sentence: str, place: int) -> None:
        for k, axis in enumerate(AXES):
            self._add(f"{name}[{axis}]", unit, sentence, "word", place + k)

    # -- lines -------------------------------------------------------------------------------------------

    def _line(self, name: str) -> None:
        line, head = self.system.lines[name], named("lines", name)
        own = {x.span: k for k, x in enumerate(self.strands) if x.line == name}
        first = len(self.rows["span"])
        self.rows["line"].append([first, line.spans])
        self.rows["span"] += [self._span(own[number]) for number in range(line.spans)]
        self._add(
            f"{head}.deployed", "m", "Unstretched length outside the guide.", "deployed", len(self.rows["line"]) - 1
        )
        words = "Rate of the reeled length; positive in retrieval."
        self._add(f"{head}.speed", "m/s", words, "word", self.memory.sampled_strand(own[0]) + kernels.SPEED)
        self._add(f"{head}.start_tension", "N", "Tension at the start of the line.", "start_tension", first)
        self._add(f"{head}.end_tension", "N", "Tension at the end of the line.", "end_tension", first + line.spans - 1)
        if line.reel is not None:
            self._motor(head, own[0])
        if line.end_reel is not None:
            self._end_reel(f"{head}.{END_REEL}", own[NO_SPAN])
        for number in range(line.spans if line.spans > 1 else 0):
            span, words = f"{head}.spans[{number}]", f"of span {number}, counted from the start of the line"
            self._add(f"{span}.length", "m", f"Unstretched length {words}.", "span_length", first + number)
            for end in ("start", "end"):
                sentence = f"Tension at the {end} {words}."
                self._add(f"{span}.{end}_tension", "N", sentence, f"{end}_tension", first + number)
        for k in range(own[0] + 1, own[0] + line.spans):
            self._wheel(k, own.get(NO_SPAN - self.strands[k].span, k))

    def _motor(self, head: str, k: int) -> None:
        """Outputs of what drives the reel or sheave of string k."""
        place = self.memory.sampled_strand(k)
        words = "Torque of motor or lock on the drum; positive retrieves."
        self._add(f"{head}.torque", "N*m", words, "word", place + kernels.TORQUE_NOW)
        self._add(f"{head}.power", "W", "Power of the motor.", "power", k)
        words = "Work of the motor since the start."
        self._add(f"{head}.motor_work", "J", words, "word", place + data.CONTROL_WORK)

    def _end_reel(self, head: str, k: int) -> None:
        place = self.memory.sampled_strand(k)
        self._add(f"{head}.reeled", "m", "Unstretched length on the reel.", "word", place + kernels.REELED)
        words = "Rate of the reeled length; positive in retrieval."
        self._add(f"{head}.speed", "m/s", words, "word", place + kernels.SPEED)
        self._motor(head, k)

    def _wheel(self, k: int, wheel: int) -> None:
        """Outputs of the sheave or pin at the start of string k; string `wheel` is the wheel where rope may slip."""
        own = self.strands[k].wheel
        assert own is not None
        head, place = drive_head(own.command), self.memory.sampled_strand(k)
        words = "Unstretched length that has passed towards the start of the line."
        self._add(f"{head}.passed", "m", words, "word", place + kernels.REELED)
        self._add(f"{head}.passing_speed", "m/s", "Rate of passed.", "word", place + kernels.SPEED)
        if own.is_pin:
            return
        words = "Speed of the rim; passing_speed unless rope slips."
        self._add(f"{head}.rim_speed", "m/s", words, "word", self.memory.sampled_strand(wheel) + kernels.SPEED)
        self._motor(head, wheel)

    def _drum(self, k: int) -> Row:
        """Row of the drum or wheel at the start of string k."""
        place, in_strand, wheel = self.memory.sampled_strand(k), self.memory.in_strand, self.strands[k].wheel
        return [
            self.memory.image.array(self.memory.stepper.arrays.reels[k]),
            place + kernels.REELED,
            place + kernels.SPEED,
            place + kernels.TORQUE_NOW,
            in_strand(k, ".reeving.par.d"),
            in_strand(k, ".reeving.par.growth"),
            in_strand(k, ".reeving.par.b"),
            int(wheel is not None and wheel.slips),
        ]

    def _span(self, k: int) -> Row:
        """Row of a span, string k."""
        memory, system, image = self.memory, self.system, self.memory.image
        line, fluid, strand = system.lines[self.strands[k].line], system.fluid, memory.network.strands[k]
        string, place, in_strand = line.string, memory.sampled_strand(k), memory.in_strand
        pieces = np.zeros(1) if string.law != "table" else np.concatenate([string.pieces()[0], *string.pieces()[1]])
        loads = string_loads(string, system.gravity, fluid, 0.0, memory.what.until)
        flow, times = (np.zeros((1, 0)), np.zeros(1)) if loads.flow is None else (loads.flow, loads.times)
        far, sign = _feed_at_stop(self.strands, k)
        return [
            line.count,
            image.array(memory.samples.nodes) + 6 * strand.first,
            place + (kernels.RETRACTED if line.is_reeved else kernels.REELED),
            place + kernels.SPEED,
            memory.sampled_strand(far) + kernels.SPEED,
            sign,
            in_strand(k, ".par.L"),
            in_strand(k, ".par.EA"),
            in_strand(k, ".par.mu"),
            in_strand(k, ".par.viscosity"),
            memory.in_network(".field.g"),
            layout.LAWS.index(string.law),
            image.array(pieces),
            len(pieces) // 5,
            0.0 if fluid is None else float(fluid.least_density * string.area),
            image.array(flow),
            flow.shape[1],
            image.array(times),
            len(times),
            float(loads.normal),
            float(loads.tangential),
            int(loads.has_surface),
            float(loads.surface),
            float(loads.above),
            float(loads.lift),
        ]

    # -- bodies and the whole ----------------------------------------------------------------------------

    def _bodies(self) -> None:
        for name, body in self.system.bodies.items():
            own, head = self.memory.sampled_body(name), named("bodies", name)
            words = "Position of the center of mass; third axis down."
            self._vector(f"{head}.position", "m", words, own + kernels.BODY_PLACE)
            self._vector(f"{head}.velocity", "m/s", "Velocity of the center of mass.", own + kernels.BODY_VELOCITY)
            if not body.is_point if isinstance(body, RigidBody) else body.is_turned:
                for i in range(9):
                    index = f"[{1 + i // 3},{1 + i % 3}]"
                    words = "Rotation matrix, body to inertial frame."
                    self._add(f"{head}.attitude{index}", "", words, "word", own + kernels.BODY_ATTITUDE + i)
                words = "Angular velocity in the body frame."
                self._vector(f"{head}.angular_velocity", "rad/s", words, own + kernels.BODY_OMEGA)

    def _carriers(self) -> None:
        for name, values in self.memory.carriers.items():
            place = self.memory.image.array(values)
            self.rows["carrier"].append([self.memory.sampled_body(name) + kernels.BODY_GIVEN, place, place + 3])
            head = "anchor" if name == ANCHOR else named("bodies", name)
            whose = "the fixed points in space, together" if name == ANCHOR else "the body"
            words = f"Mean force of lines, reels and sheaves on {whose} over the latest step."
            self._vector(f"{head}.force", "N", words, place)

    def _of_all(self) -> None:
        whole = self.memory.image.array(self.memory.samples.whole)
        for k, account in enumerate(ledger.ACCOUNTS):
            self._add(f"accounts.{account.name}", "J", f"Account of energy: {account.sentence}.", "word", whole + k)
        self._add("accounts.energy", "J", "Total energy.", "total_energy")
        self._vector("linear_momentum", "N*s", "Linear momentum.", whole + kernels.LINEAR_MOMENTUM)
        words = "Angular momentum about the origin."
        self._vector("angular_momentum", "N*m*s", words, whole + kernels.ANGULAR_MOMENTUM)
        flags = "; ".join(f"{1 << k} {text}" for k, text in enumerate(layout.FLAGS.values()))
        self._add("warnings", "", f"Sum of: {flags}.", "warnings")
        self._add("status", "", "0 while all is well, else the code of the event that ended the motion.", "status")


def _feed_at_stop(strands: tuple[StrandOf, ...], k: int) -> tuple[int, float]:
    """String whose reel or wheel is at the stop of span k, and the sign of its speed there; 0 where there is none."""
    behind = k + 1
    if behind == len(strands) or strands[behind].line != strands[k].line or strands[behind].span < NO_SPAN:
        return k, 0.0
    return behind, -1.0 if strands[behind].span == NO_SPAN else 1.0
