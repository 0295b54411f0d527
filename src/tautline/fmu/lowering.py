"""From a case to the memory of an instance of an FMU, with its inputs and outputs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from tautline import ledger
from tautline.arrays import Array, Array2, Counters
from tautline.engine.health import BALANCE, RESOLUTION
from tautline.engine.network.simulation import NetworkSimulation
from tautline.fmu import layout
from tautline.fmu.image import Image, bits, item_place, place_in
from tautline.fmu.variables import Variable, named
from tautline.kernels import data
from tautline.kernels.balance import SIGNS
from tautline.kernels.machine.stamp import ABI, source_hash
from tautline.kernels.machine.structures import structure
from tautline.kernels.network import data as kernels
from tautline.kernels.network.march import Done
from tautline.model.body import RigidBody
from tautline.model.checks import WHOLE
from tautline.model.command import Command, Length, Torque
from tautline.model.string_loads import string_loads
from tautline.model.system.parts import ANCHOR, Kinematic
from tautline.model.system.state import BodyState, State
from tautline.model.system.system import System
from tautline.results.network import spans

AXES = (1, 2, 3)
# Strain as a compression, beyond which a line with a linear law was pressed together.
COMPRESSION = 1e-9
# Room for parameters behind the inputs: places in the memory do not depend on their number.
MOST_PARAMETERS = 256


class Export(NamedTuple):
    """What is exported of a case, and how."""

    system: System
    state: State
    method: Mapping[str, Any]
    commands: Mapping[str, Command]  # of reels that go on as the case says
    modes: Mapping[str, str]  # of reels, by line
    moved: tuple[str, ...]  # bodies whose velocities are inputs
    until: float  # up to which motions of the case are tabulated (s)
    interval: float  # of samples (s)
    guides: Mapping[str, str]  # bodies that carry lines in place of points in space, by line

    def adapted(self, system: System) -> System:
        """Another system of the same case, with these bodies."""
        return with_guides(system, self.guides)


def with_guides(system: System, guides: Mapping[str, str]) -> System:
    """The system with kinematic bodies that carry lines whose guides were fixed in space."""
    if not guides:
        return system
    lines, bodies = dict(system.lines), {}
    for name, guide in guides.items():
        bodies[guide] = Kinematic(None, lines[name].start_point)
        lines[name] = replace(lines[name], start=guide, start_point=(0.0, 0.0, 0.0))
    return replace(system, bodies=bodies | dict(system.bodies), lines=lines)


class Lowered(NamedTuple):
    """The memory of an instance."""

    header: dict[str, int]
    words: Counters
    relocations: list[int]
    variables: list[Variable]


def _commands(what: Export) -> dict[str, Command]:
    """Commands of all reels at the start."""
    found: dict[str, Command] = {}
    for name, mode in what.modes.items():
        line = what.state.lines[name]
        deployed, payout = what.system.lines[name].string.length - line.reeled_length, -line.reel_speed
        if mode == "torque":
            found[name] = Torque(_start_torque(what.commands.get(name)))
        elif mode in ("speed", "length"):
            rows = ((deployed, payout), (deployed + payout, payout))
            found[name] = Length(pieces=((0.0, 1.0), rows))
        elif name in what.commands:
            found[name] = what.commands[name]
    return found


def _start_torque(command: Command | None) -> float:
    """Torque at the start of a command of a torque; else 0."""
    return float(command.torques()[1][0]) if type(command) is Torque and not command.is_function else 0.0


class Lowering:
    """One walk from a case to an image.

    Parameters
    ----------
    what : Export
    parameters : list of Variable
        With their numbers; they lie behind the inputs.
    changed : list
        Words that follow from parameters.
    """

    def __init__(self, what: Export, parameters: list[Variable], changed: list[list[int | float]]) -> None:
        self.what, self.image = what, Image()
        backend = NetworkSimulation(what.system, what.state, **what.method)
        self.stepper = stepper = backend.stepper
        self.system = backend.system
        self.free = [name for name, body in self.system.bodies.items() if isinstance(body, RigidBody)]
        for name in self.free:
            backend.push(name)
        for name in what.moved:
            own = what.state.bodies[name]
            stepper.lead(name, 0.0, BodyState(own.position, attitude=own.attitude))
        self.before = self._network()
        backend.begin(_commands(what), what.interval, what.interval)
        self.network = self._network()
        arrays = stepper.arrays
        self.begun = [reel[: data.REEL_SIZE].copy() for reel in arrays.reels]
        arrays.place(self.system, stepper.initial)
        equations = (self.before.matrix, self.before.right, self.network.matrix, self.network.right)
        for work in (
            *equations,
            *arrays.works,
            *arrays.strand_works,
            *(x for s in arrays.scratch for x in s),
            arrays.backups,
        ):
            work[...] = 0.0
        self.variables: list[Variable] = [Variable("time", "independent", "s", "Time.", kind="time")]
        self.start_values: list[float] = []
        self._inputs()
        self.samples = stepper.samples_for(1)
        self._keep(parameters)
        self._structures()
        self._outputs()
        self._parameters(parameters)
        self._header(parameters, changed)

    def _network(self) -> kernels.Network:
        """The system as the kernels have it now, with motions up to the end."""
        self.stepper.lower(0.0, self.what.until)
        return self.stepper.network

    # -- inputs ------------------------------------------------------------------------------------------

    def _input(self, name: str, unit: str, sentence: str, start: float = 0.0) -> int:
        k = len(self.start_values)
        self.start_values.append(start)
        self.variables.append(Variable(name, "input", unit, sentence, start=start, kind="input", first=k))
        return k

    def _vector_input(self, name: str, unit: str, sentence: str) -> int:
        first, _, _ = (self._input(f"{name}[{axis}]", unit, sentence) for axis in AXES)
        return first

    def _inputs(self) -> None:
        self.reel_inputs: dict[str, int] = {}
        for name, mode in self.what.modes.items():
            head, line = f"{named('lines', name)}.command", self.what.state.lines[name]
            deployed = self.system.lines[name].string.length - line.reeled_length
            if mode == "torque":
                start = _start_torque(self.what.commands.get(name))
                words = "Torque of the motor, held over the step; positive retrieves."
                self.reel_inputs[name] = self._input(f"{head}.torque", "N*m", words, start)
            elif mode == "speed":
                words = "Rate of the deployed length at the end of the step; it changes linearly to there."
                self.reel_inputs[name] = self._input(f"{head}.payout", "m/s", words, 0.0 - line.reel_speed)
            elif mode == "length":
                words = "Deployed length at the end of the step; a cubic with continuous speed leads to it."
                self.reel_inputs[name] = self._input(f"{head}.length", "m", words, deployed)
        self.moved_inputs = {
            name: self._vector_input(
                f"{named('bodies', name)}.command.velocity", "m/s", "Velocity of the body, held over the step."
            )
            for name in self.what.moved
        }
        self.force_inputs: list[tuple[str, int, int]] = []  # body, row of its table, input
        for name in self.free:
            body, head = self.system.bodies[name], f"{named('bodies', name)}.command"
            assert isinstance(body, RigidBody)
            first = self._vector_input(f"{head}.force", "N", "Force at the center of mass, held over the step.")
            self.force_inputs += [(name, 1 + k, first + k) for k in range(3)]
            if not body.is_point:
                first = self._vector_input(f"{head}.moment", "N*m", "Moment in the inertial frame, held over the step.")
                self.force_inputs += [(name, 4 + k, first + k) for k in range(3)]

    # -- memory ------------------------------------------------------------------------------------------

    def _keep(self, parameters: list[Variable]) -> None:
        """Put in what the state of an instance consists of."""
        image, arrays = self.image, self.stepper.arrays
        self.state = np.zeros(len(layout.STATE) - 1 + 2 * layout.INTERVALS)
        plan = self.stepper.plan
        self.state[layout.STATE.index("step")] = 0.0 if plan.adaptive else plan.h
        self.values = np.zeros(len(self.start_values) + MOST_PARAMETERS)
        given = [*self.start_values, *(x.start or 0.0 for x in parameters)]
        self.values[: len(given)] = given
        self.now = {name: self._now(name) for name in self._reels()}
        names = [name for name, body in self.system.bodies.items() if isinstance(body, Kinematic)]
        held = any(ANCHOR in line.ends for line in self.system.lines.values())
        self.carriers = {name: np.zeros(6) for name in (*names, *((ANCHOR,) if held else ()))}
        bodies = [self.network.bodies[arrays.names.index(name)] for name in self.free]
        paths = [self.network.bodies[arrays.names.index(name)].path for name in self.what.moved]
        tables = [x for s in self.network.strands for x in (s.command.torques, s.command.profile)]
        self.places = [
            image.array(x)
            for x in (
                self.state,
                self.values,
                *self.now.values(),
                *self.carriers.values(),
                arrays.totals,
                arrays.clock,
                *arrays.bodies,
                *arrays.nodes,
                *arrays.reels,
                *self.samples,
                *(body.push for body in bodies),
                *paths,
                *tables,
            )
        ]
        self.kept = image.size

    def _reels(self) -> list[str]:
        return [name for name, line in self.system.lines.items() if line.reel is not None]

    def _now(self, name: str) -> Array:
        """Length and payout at the communication point, torque that was set."""
        line = self.what.state.lines[name]
        return np.array([self.system.lines[name].string.length - line.reeled_length, -line.reel_speed, np.nan])

    def _structures(self) -> None:
        image, stepper = self.image, self.stepper
        self.network_place = image.structure(self.network, kernels.Network)
        self.before_place = image.structure(self.before, kernels.Network)
        self.plan_place = image.structure(stepper.plan._replace(steps_per_sample=1), data.Plan)
        self.backups_place = image.structure(stepper.arrays.backups, Array2)
        self.samples_place = image.structure(self.samples, kernels.WholeSamples)
        self.words = image.words()

    def _strand(self, k: int, path: str) -> int:
        """Place of a number of a line."""
        return item_place(self.words, self.network_place, kernels.Network, ".strands", k) + place_in(
            kernels.Strand, path
        )

    # -- outputs -----------------------------------------------------------------------------------------

    def _output(self, name: str, unit: str, sentence: str, kind: str, first: int = 0) -> None:
        self.variables.append(Variable(name, "output", unit, sentence, kind=kind, first=first))

    def _vector(self, name: str, unit: str, sentence: str, place: int) -> None:
        for k, axis in enumerate(AXES):
            self._output(f"{name}[{axis}]", unit, sentence, "word", place + k)

    def _outputs(self) -> None:
        strands, bodies = self.image.array(self.samples.strands), self.image.array(self.samples.bodies)
        self.line_rows: list[list[int | float]] = []
        self.reel_rows: list[list[int | float]] = []
        for k, name in enumerate(self.system.lines):
            self._line(k, name, strands + k * kernels.STRAND_COLUMNS)
        self.carrier_rows: list[list[int | float]] = []
        for name, body in self.system.bodies.items():
            own = bodies + self.stepper.arrays.names.index(name) * kernels.BODY_COLUMNS
            head = named("bodies", name)
            self._vector(
                f"{head}.position", "m", "Position of the center of mass; third axis down.", own + kernels.BODY_PLACE
            )
            self._vector(f"{head}.velocity", "m/s", "Velocity of the center of mass.", own + kernels.BODY_VELOCITY)
            if isinstance(body, RigidBody) and not body.is_point:
                for i in range(9):
                    index = f"[{1 + i // 3},{1 + i % 3}]"
                    words = "Rotation matrix, body to inertial frame."
                    self._output(f"{head}.attitude{index}", "", words, "word", own + kernels.BODY_ATTITUDE + i)
                words = "Angular velocity in the body frame."
                self._vector(f"{head}.angular_velocity", "rad/s", words, own + kernels.BODY_OMEGA)
        for name, values in self.carriers.items():
            place = self.image.array(values)
            given = bodies + self.stepper.arrays.names.index(name) * kernels.BODY_COLUMNS + kernels.BODY_GIVEN
            self.carrier_rows.append([given, place, place + 3])
            head = "anchor" if name == ANCHOR else named("bodies", name)
            whose = "the fixed points in space, together" if name == ANCHOR else "the body"
            self._vector(f"{head}.force", "N", f"Mean force of lines and reels on {whose} over the latest step.", place)
        whole = self.image.array(self.samples.whole)
        for k, account in enumerate(ledger.ACCOUNTS):
            self._output(f"accounts.{account.name}", "J", f"Account of energy: {account.sentence}.", "word", whole + k)
        self._output("accounts.energy", "J", "Total energy.", "total_energy")
        self._vector("linear_momentum", "N*s", "Linear momentum.", whole + kernels.LINEAR_MOMENTUM)
        words = "Angular momentum about the origin."
        self._vector("angular_momentum", "N*m*s", words, whole + kernels.ANGULAR_MOMENTUM)
        flags = "; ".join(f"{1 << k} {text}" for k, text in enumerate(layout.FLAGS.values()))
        self._output("warnings", "", f"Sum of: {flags}.", "warnings")
        self._output("status", "", "0 while all is well, else the code of the event that ended the motion.", "status")

    def _line(self, k: int, name: str, place: int) -> None:
        line, head = self.system.lines[name], named("lines", name)
        law = line.string.law
        loads = string_loads(line.string, self.system.gravity or 0.0, self.system.fluid)
        fluid = self.system.fluid
        pieces = np.zeros(1) if law != "table" else np.concatenate([line.string.pieces()[0], *line.string.pieces()[1]])
        count = 0 if loads.flow is None else loads.flow.shape[1]
        nodes = self.image.array(self.samples.nodes) + 6 * spans(self.system)[name][0].start
        self.line_rows.append(
            [
                line.count,
                nodes,
                place + kernels.REELED,
                place + kernels.SPEED,
                place + kernels.TORQUE_NOW,
                self._strand(k, ".par.L"),
                self._strand(k, ".par.EA"),
                self._strand(k, ".par.mu"),
                self._strand(k, ".par.viscosity"),
                self.network_place + place_in(kernels.Network, ".field.g"),
                layout.LAWS.index(law),
                self.image.array(pieces),
                len(pieces) // 5,
                0.0 if fluid is None else float(fluid.least_density * line.string.area),
                self.image.array(np.zeros(1) if loads.flow is None else loads.flow),
                count,
                float(loads.normal),
                float(loads.tangential),
                int(loads.has_surface),
                float(loads.surface),
                float(loads.above),
                float(loads.lift),
                int(line.reel is not None),
                self._strand(k, ".par.d"),
                self._strand(k, ".par.growth"),
                self._strand(k, ".par.b"),
            ]
        )
        self._output(f"{head}.deployed", "m", "Unstretched length outside the guide.", "deployed", k)
        words = "Rate of the reeled length; positive in retrieval."
        self._output(f"{head}.speed", "m/s", words, "word", place + kernels.SPEED)
        self._output(f"{head}.start_tension", "N", "Tension at the start of the line.", "start_tension", k)
        self._output(f"{head}.end_tension", "N", "Tension at the end of the line.", "end_tension", k)
        if line.reel is not None:
            words = "Torque of motor or lock on the drum; positive retrieves."
            self._output(f"{head}.torque", "N*m", words, "word", place + kernels.TORQUE_NOW)
            self._output(f"{head}.power", "W", "Power of the motor.", "power", k)
            words = "Work of the motor since the start."
            self._output(f"{head}.motor_work", "J", words, "word", place + data.CONTROL_WORK)
            self._reel(k, name)

    def _reel(self, k: int, name: str) -> None:
        command, strand = _commands(self.what).get(name), self.network.strands[k]
        mode = {"torque": "by_torque", "speed": "by_speed", "length": "by_length"}.get(self.what.modes[name], "as_case")
        torque, speed, acceleration = self.begun[k][[data.TORQUE, data.HELD_SPEED, data.HELD_ACCELERATION]]
        self.reel_rows.append(
            [
                k,
                layout.MODES.index(mode),
                self.reel_inputs.get(name, -1),
                self.image.array(strand.command.torques),
                self.image.array(strand.command.profile),
                self.image.array(self.stepper.arrays.reels[k]),
                self._strand(k, ".par.L"),
                self._strand(k, ".par.max_torque"),
                self._strand(k, ".par.max_power"),
                int(command is None or command.finds_torque),
                int(command is not None and command.prescribes),
                float(torque),
                float(speed),
                float(acceleration),
                self.image.array(self.now[name]),
            ]
        )

    def _parameters(self, parameters: list[Variable]) -> None:
        self.variables += [x._replace(first=k) for k, x in enumerate(parameters)]

    # -- header ------------------------------------------------------------------------------------------

    def _header(self, parameters: list[Variable], changed: list[list[int | float]]) -> None:
        image, arrays, plan = self.image, self.stepper.arrays, self.stepper.plan
        members = [member.path for member in structure(Done).members]
        wanted = [".status", ".rows", ".strand", ".limits.waves", ".limits.stretching", ".limits.turning"]
        assert members[: len(wanted)] == wanted
        names = arrays.names
        inputs = self.image.array(self.values)
        tables: dict[str, list[list[int | float]]] = {
            "variable": [
                [layout.KINDS.index(x.kind), x.first, x.least, int(x.open), int(x.is_whole)] for x in self.variables
            ],
            "line": self.line_rows,
            "reel": self.reel_rows,
            "carrier": self.carrier_rows,
            "moved": [
                [
                    image.array(self.network.bodies[names.index(name)].path),
                    image.array(self.samples.bodies) + names.index(name) * kernels.BODY_COLUMNS + kernels.BODY_PLACE,
                    first,
                ]
                for name, first in self.moved_inputs.items()
            ],
            "forced": [
                [image.array(self.network.bodies[names.index(name)].push) + row, k]
                for name, row, k in self.force_inputs
            ],
            "changed": changed,
        }
        places = {name: image.table(rows, len(layout.COLUMNS[name])) for name, rows in tables.items()}
        plural = {name: name if name in ("moved", "forced", "changed") else f"{name}s" for name in tables}
        stamp = source_hash().encode()
        endless = self.what.until if self._has_end() else np.inf
        self.header = {
            "magic": layout.MAGIC,
            "format": layout.FORMAT,
            "abi": ABI,
            "stamp": int.from_bytes(stamp[:8], "little"),
            "stamp_end": int.from_bytes(stamp[8:16], "little"),
            "kept": self.kept,
            "before": self.before_place,
            "network": self.network_place,
            "plan": self.plan_place,
            "backups": self.backups_place,
            "samples": self.samples_place,
            "totals": image.array(arrays.totals),
            "clock": image.array(arrays.clock),
            "whole": image.array(self.samples.whole),
            "state": image.array(self.state),
            "inputs": inputs,
            "parameters": inputs + len(self.start_values),
            "plan_step": self.plan_place + place_in(data.Plan, ".h"),
            "plan_count": self.plan_place + place_in(data.Plan, ".steps_per_sample"),
            "adaptive": int(plan.adaptive),
            "allowed_ratio": bits(plan.allowed_ratio),
            "fixed_step": bits(0.0 if plan.adaptive else plan.h),
            "last_time": bits(float(endless)),
            "balance_limit": bits(BALANCE),
            "step_limit": bits(RESOLUTION),
            "compression_limit": bits(COMPRESSION),
            "whole_tolerance": bits(WHOLE),
            **{plural[name]: place for name, place in places.items()},
            **{f"{name}_count": len(rows) for name, rows in tables.items()},
            "parameter_count": len(parameters),
            "input_count": len(self.start_values),
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
            "reel_held": data.HELD,
            "reel_control_work": data.ACCOUNT_PLACES[data.CONTROL_WORK],
            "prescribed": bits(float(data.PRESCRIBED)),
            "words": image.size,
            "relocations": len(image.relocations),
        }

    def _has_end(self) -> bool:
        """Whether motions of the case are tabulated up to a time only."""
        paths = [
            motion
            for name, body in self.system.bodies.items()
            if isinstance(body, Kinematic) and name not in self.what.moved
            for motion in (body.path, body.rotation)
            if motion is not None
        ]
        commands = [self.what.commands[name] for name, mode in self.what.modes.items() if mode == "case"]
        return any(path.covered(0.0) < np.inf for path in paths) or any(x.covered(0.0, 0.0) < np.inf for x in commands)

    def lowered(self) -> Lowered:
        """The result."""
        return Lowered(self.header, self.image.words(), self.image.relocations, self.variables)


def lower(what: Export, parameters: list[Variable] | None = None, changed: Any = ()) -> Lowered:
    """Memory of an instance of what is exported."""
    return Lowering(what, parameters or [], list(changed)).lowered()
