"""FMUs under test: exported, opened by FMPy, stepped; and random calls of their functions."""

from __future__ import annotations

import ctypes
import os
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import fmpy
import numpy as np
from fmpy.fmi2 import FMU2Slave
from fmpy.fmi3 import FMU3Slave

import tautline as tl
from tautline import ledger
from tautline.fmu import build
from tautline.fmu.variables import named
from tautline.kernels.data import CONTROL_WORK
from tautline.kernels.network.data import REELED, SPEED, TORQUE_NOW

if not build.is_current():
    build.build()


class Slave:
    """An instance of an FMU, at the start of its motion."""

    def __init__(self, path: Path, folder: Path, parameters: dict[str, float] | None = None) -> None:
        self.folder = folder
        if not (folder / "modelDescription.xml").exists():
            fmpy.extract(str(path), unzipdir=str(folder))
        self.model = fmpy.read_model_description(str(folder))
        self.references = {x.name: x.valueReference for x in self.model.modelVariables}
        self.is_2 = self.model.fmiVersion == "2.0"
        kind: Any = FMU2Slave if self.is_2 else FMU3Slave
        identifier = self.model.coSimulation.modelIdentifier
        self.fmu = kind(
            guid=self.model.guid, unzipDirectory=str(folder), modelIdentifier=identifier, instanceName="instance"
        )
        self.fmu.instantiate()
        self.begin(parameters or {})

    def begin(self, parameters: dict[str, float], time: float = 0.0) -> None:
        """Initialize it with values of parameters and inputs."""
        self.time = time
        self.put(parameters)
        if self.is_2:
            self.fmu.setupExperiment(startTime=time)
            self.fmu.enterInitializationMode()
        else:
            self.fmu.enterInitializationMode(startTime=time)
        self.fmu.exitInitializationMode()

    def put(self, values: dict[str, float]) -> None:
        """Set variables by name."""
        references = [self.references[name] for name in values]
        (self.fmu.setReal if self.is_2 else self.fmu.setFloat64)(references, [float(x) for x in values.values()])

    def put_vector(self, name: str, vector: Iterable[float]) -> None:
        """Set three components."""
        self.put({f"{name}[{k}]": x for k, x in enumerate(vector, 1)})

    def get(self, *names: str) -> list[float]:
        """Values of variables."""
        references = [self.references[name] for name in names]
        found: list[float] = list((self.fmu.getReal if self.is_2 else self.fmu.getFloat64)(references))
        return found

    def whole(self, name: str) -> int:
        """Value of an integer."""
        references = [self.references[name]]
        return int((self.fmu.getInteger if self.is_2 else self.fmu.getInt32)(references)[0])

    def vector(self, name: str) -> np.ndarray:
        """Three components."""
        return np.array(self.get(*(f"{name}[{k}]" for k in (1, 2, 3))))

    def step(self, interval: float) -> None:
        """Make a communication step."""
        self.fmu.doStep(self.time, interval)
        self.time += interval

    def numbers(self) -> list[float]:
        """All outputs that are numbers."""
        outputs = [
            x.name for x in self.model.modelVariables if x.causality == "output" and x.type in ("Real", "Float64")
        ]
        return self.get(*outputs)

    def close(self) -> None:
        """End it."""
        self.fmu.freeInstance()


def outputs_of(sim: tl.Simulation) -> dict[str, float]:
    """Outputs of an FMU by name, from a simulation of the same system."""
    values: Any = sim.runner.present_values()
    found: dict[str, float] = {}

    def put(name: str, vector: Any) -> None:
        for k, x in enumerate(vector, 1):
            found[f"{name}[{k}]"] = float(x)

    for k, (name, line) in enumerate(sim.lines.items()):
        head = named("lines", name)
        found |= {f"{head}.deployed": float(values["unstretched_length"][0, k]), f"{head}.speed": line.speed}
        for variable in ("start_tension", "end_tension", "torque", "power", "motor_work"):
            if variable.endswith("tension") or sim.system.lines[name].reel is not None:
                found[f"{head}.{variable}"] = float(values[variable][0, k])
    found |= of_sheaves(sim, values)
    for b, name in enumerate(sim.bodies):
        body, head = sim.system.bodies[name], named("bodies", name)
        put(f"{head}.position", values["body_position"][0, b])
        put(f"{head}.velocity", values["body_velocity"][0, b])
        if isinstance(body, tl.Kinematic):
            put(f"{head}.force", sim.bodies[name].force)
        if body.is_turned if isinstance(body, tl.Kinematic) else not body.is_point:
            put(f"{head}.angular_velocity", values["angular_velocity"][0, b])
            for i in range(9):
                found[f"{head}.attitude[{1 + i // 3},{1 + i % 3}]"] = float(values["attitude"][0, b].flat[i])
    found["accounts.energy"] = sim.energy
    for account in ledger.ACCOUNTS:
        found[f"accounts.{account.name}"] = float(values[account.name][0])
    put("linear_momentum", values["linear_momentum"][0])
    put("angular_momentum", values["angular_momentum"][0])
    return found


def of_sheaves(sim: tl.Simulation, values: Any) -> dict[str, float]:
    """Outputs of spans, sheaves, pins and reels at the ends of lines."""
    found: dict[str, float] = {}
    strands = sim.backend.present_sample().strands[0]
    span = sheave = 0
    for name, line in sim.system.lines.items():
        for number in range(line.spans if "span_length" in values else 0):
            head = f"{named('lines', name)}.spans[{number}]"
            for variable in ("length", "start_tension", "end_tension") if line.spans > 1 else ():
                found[f"{head}.{variable}"] = float(values[f"span_{variable}"][0, span])
            span += 1
        driven = {wheel: named("lines", name, "over", wheel) for wheel in line.over}
        for wheel, head in driven.items():
            for variable in ("passed", "passing_speed"):
                found[f"{head}.{variable}"] = float(values[variable][0, sheave])
            if isinstance(line.over[wheel], tl.Sheave):
                found[f"{head}.rim_speed"] = float(values["rim_speed"][0, sheave])
                found[f"{head}.torque"] = float(values["sheave_torque"][0, sheave])
            sheave += 1
        if line.end_reel is not None:
            own = strands[sim.backend.stepper.numbers[f"{name}.end_reel"]]
            head = f"{named('lines', name)}.end_reel"
            columns = {"reeled": REELED, "speed": SPEED, "torque": TORQUE_NOW, "motor_work": CONTROL_WORK}
            found |= {f"{head}.{variable}": float(own[column]) for variable, column in columns.items()}
            radius = line.end_reel.radius(own[REELED])
            found[f"{head}.power"] = float(own[TORQUE_NOW] * own[SPEED] / radius + 0.0)
    return found


TEXTS = (ctypes.c_char_p, ctypes.c_char_p)
LOGGERS = {
    2: ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_char_p, ctypes.c_int, *TEXTS, ctypes.c_char_p),
    3: ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_int, *TEXTS),
}


class Callbacks(ctypes.Structure):
    """Callbacks of FMI 2.0."""

    _fields_ = (
        ("logger", LOGGERS[2]),
        ("allocate", ctypes.c_void_p),
        ("free", ctypes.c_void_p),
        ("finished", ctypes.c_void_p),
        ("host", ctypes.c_void_p),
    )


class Plain:
    """The functions of an FMU by ctypes, without FMPy: messages are kept."""

    def __init__(self, folder: Path) -> None:
        model = fmpy.read_model_description(str(folder))
        self.fmi = int(model.fmiVersion[0])
        (path,) = (folder / "binaries").glob("*/*.so")
        self.code = ctypes.CDLL(str(path))
        self.instantiate = self.code.fmi2Instantiate if self.fmi == 2 else self.code.fmi3InstantiateCoSimulation
        self.instantiate.restype = ctypes.c_void_p
        resources = folder / "resources"
        self.token = model.guid.encode() if self.fmi == 2 else model.instantiationToken.encode()
        self.folder = (resources.as_uri() if self.fmi == 2 else f"{resources}/").encode()
        self.messages: list[str] = []
        self.logger = LOGGERS[self.fmi](lambda *given: self.messages.append(given[-1].decode()))
        self.count = len(model.modelVariables)

    def open(self, token: bytes | None = None, folder: bytes | None = None) -> ctypes.c_void_p | None:
        """A new instance, or None."""
        head = (b"a", *((1,) if self.fmi == 2 else ()), token or self.token, folder or self.folder)
        if self.fmi == 2:
            self.callbacks = Callbacks(logger=self.logger)
            found = self.instantiate(*head, ctypes.byref(self.callbacks), 0, 0)
        else:
            found = self.instantiate(*head, *(False,) * 4, None, ctypes.c_size_t(0), None, self.logger, None)
        return None if found is None else ctypes.c_void_p(found)

    def close(self, instance: ctypes.c_void_p) -> None:
        """End an instance."""
        getattr(self.code, f"fmi{self.fmi}FreeInstance")(instance)

    def call(self, name: str, *arguments: Any) -> int:
        """Call a function; its status."""
        return int(getattr(self.code, f"fmi{self.fmi}{name}")(*arguments))


def memory() -> int:
    """Resident memory of this process (bytes)."""
    return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")
