"""Start of a run of a network, with derivatives by keys: dual numbers from the case to the kernels."""

from __future__ import annotations

import copy
import math
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from tautline.arrays import Array
from tautline.engine.loads import path_table
from tautline.engine.network import lowering
from tautline.engine.network.kinematic import KinematicMotion
from tautline.engine.network.samples import state_of
from tautline.engine.network.stepper import NetworkStepper
from tautline.engine.network.strands import strands_of, wheel_reel
from tautline.gradients.arrays import Dual, UnknownTangentsError, value_of
from tautline.gradients.coordinates import held_at
from tautline.gradients.dual_cases import carries
from tautline.gradients.dual_runs import DualRun
from tautline.gradients.dual_starts import (
    Midway,
    dual_quaternion,
    plain_state,
    start_torque,
    started,
)
from tautline.gradients.dual_tables import dual_command
from tautline.gradients.leaves import leaves, split
from tautline.gradients.marched import in_parts
from tautline.gradients.network.marching import NetworkSetting
from tautline.gradients.scales import Scales
from tautline.gradients.tangents_beside import plain_of, tangents_beside
from tautline.kernels import data
from tautline.kernels.network import data as kernels
from tautline.kernels.network.tangent_march import begin_network_with_tangents
from tautline.kernels.tangents import TANGENTS
from tautline.model.command import Command
from tautline.model.description import changed
from tautline.model.reel import Reel
from tautline.model.sequence import Sequence
from tautline.model.system.commands import feed_of, place_of
from tautline.model.system.parts import Kinematic
from tautline.model.system.state import State
from tautline.model.system.system import System

if TYPE_CHECKING:
    from tautline.gradients.network.runs import BegunNetwork, NetworkRuns


# Lengths of a line at the start from which those later on are counted.
LENGTHS = ("reeled_length", "span_lengths", "passed", "end_reeled_length")


def columns_of_network(runs: NetworkRuns, begun: BegunNetwork, dual: DualRun, scales: Scales) -> Array:
    """Derivatives of the numbers of a run, from its case with dual numbers."""
    system, state = started(dual.case, runs.case, dual.rest)
    return _Lowered(runs, begun, dual, system, state).tangents(scales)


class _Drum(NamedTuple):
    """Reel or sheave at the start of a run; numbers may carry derivatives."""

    reel: Reel
    deployed: Any  # length that it feeds (m)
    reeled: Any  # length that has come in (m)
    speed: Any  # rate of that (m/s)


class _Lowered:
    """A case with dual numbers as the kernels take it, at the start of its run or of a segment."""

    def __init__(self, runs: NetworkRuns, begun: BegunNetwork, dual: DualRun, system: System, state: State) -> None:
        case, sizes, at = dual.case, dual.sizes, dual.at
        self._begun, self._sizes, self._k, self._until = begun, sizes, len(sizes), runs.steps.until
        self._system, self._state, self._commands = system, state, case.commands
        stepper = begun.simulation.stepper
        self._stepper: NetworkStepper = stepper
        self._strands = strands_of(system)
        self._lowered = {name: self._command(name, command) for name, command in stepper.commands.items()}
        h = runs.steps.length(case.run.duration)
        self._plain, self._at = begun.setting if at is None else at.setting, at
        self._time: Any = 0.0 if at is None else at.steps * h
        self._now = state if at is None else self._midway(at)
        self._setting = NetworkSetting(self._network(), begun.setting.plan._replace(h=h))

    def _midway(self, at: Midway) -> State:
        """The state in which a segment begins."""
        begun, bodies = self._begun, self._system.bodies
        held = {
            name: held_at(body, self._state.bodies[name], self._time)
            for name, body in bodies.items()
            if isinstance(body, Kinematic)
        }
        lines = {
            name: changed(line, **{key: getattr(self._state.lines[name], key) for key in LENGTHS})
            for name, line in state_of(begun.simulation.system, begun.first).lines.items()
        }
        return at.coordinates.state(at.dual(self._k), float(value_of(self._time)), lines, held)

    def _command(self, name: str, plain: Command) -> data.Command:
        """A command as the kernels have it."""
        command, drum = self._commands.get(name, plain), self._drum(name)
        known = self._begun.setting.network.strands[self._stepper.numbers[name]].command
        span = self._stepper.command_span(name, plain, 0.0, self._until)
        length, deployed = drum.reeled + drum.deployed, drum.deployed
        found: data.Command = dual_command(command, length, deployed, span, known, self._sizes)
        return found

    def _drum(self, name: str) -> _Drum:
        """Reel or sheave at the start that has a command of a name."""
        place, strand = place_of(name), self._strands[self._stepper.numbers[name]]
        reeled, speed = self._state.lines[place.line].feed(strand.span)
        return _Drum(wheel_reel(strand), feed_of(self._system, self._state, place).deployed, reeled, speed)

    def _network(self) -> Any:
        """The network with its motion as it is placed, whose momenta are to be found."""
        stepper, span = self._stepper, (0.0, self._until)
        arrays = copy.copy(stepper.arrays)
        arrays.strands = self._strands
        arrays.totals, arrays.clock = _still(arrays.totals, self._k), np.zeros_like(arrays.clock)
        for name in ("bodies", "nodes", "reels"):
            setattr(arrays, name, [_still(x, self._k) for x in getattr(arrays, name)])
        for name in ("works", "strand_works"):
            setattr(arrays, name, [np.zeros_like(x) for x in getattr(arrays, name)])
        arrays.scratch = [data.empty_scratch(x.par.N) for x in self._begun.setting.network.strands]
        arrays.place(self._system, plain_state(self._now))
        arrays.totals[data.T_START] = self._time
        placed: list[Any] = arrays.bodies
        for name, own in zip(self._system.bodies, placed, strict=False):
            place = slice(data.ATTITUDE, data.ATTITUDE + 4)
            own[place] = dual_quaternion(own.value[place], self._now.bodies[name].attitude)
        leads = {
            name: self._kinematic(name) for name, body in self._system.bodies.items() if isinstance(body, Kinematic)
        }
        method = stepper.method
        return lowering.system_of(
            self._system, arrays, self._lowered, {}, leads, stepper.shortest, {}, method.compensated, span
        )

    def _kinematic(self, name: str) -> KinematicMotion:
        """Motion of a kinematic body; UnknownTangentsError where it is turned and that carries derivatives."""
        body = self._begun.setting.network.bodies[self._stepper.arrays.names.index(name)]
        own, given = self._state.bodies[name], self._system.bodies[name]
        if carries((given.turning, given.angles)) or (body.rotates and carries(own.attitude)):
            raise UnknownTangentsError(f"the motion of {name}")
        path: Any = body.path
        if body.moves and carries((own.position, given.path)):
            place = _still(np.zeros((len(path), 1)), self._k)
            place[1::4] = (own.position - given.path.at(0.0)[0][0])[:, None]
            path = path_table(given.path, 0.0, self._until) + place
        return KinematicMotion(body.moves, path, body.rotates, body.angles, body.base, body.mount)

    def tangents(self, scales: Scales) -> Array:
        """Derivatives of the numbers of the setting."""
        plain, k = self._plain, self._k
        now = plain_of(self._setting.network)
        found = split(now, tangents_beside(now, self._setting.network, k))
        arrays = [x for x in leaves(now) if isinstance(x, np.ndarray)]
        placed = [x.copy() for x in arrays]
        nodes = sum(x.par.N + 1 for x in now.strands)

        def begin(tangents: list[Array], directions: int) -> None:
            for x, start in zip(arrays, placed, strict=True):
                x[...] = start
            out = kernels.empty_samples(1, len(now.bodies), len(now.strands), nodes)
            beside = [np.zeros((*x.shape, TANGENTS)) for x in out]
            begin_network_with_tangents((now, out), (tangents, beside))

        in_parts(found, begin)
        self._put_torques(now, found)
        begun = NetworkSetting(now, plain.plan)._replace(plan=plain_of(self._setting.plan))
        columns = [t.reshape(-1, k) for t in found] + [tangents_beside(plain.plan, self._setting.plan, k)]
        return _checked(plain.without_workspace(), begun.without_workspace(), plain, np.concatenate(columns), scales)

    def _put_torques(self, now: Any, found: list[Array]) -> None:
        """Put the torques of motors at the start, where they do not follow from the motion."""
        places = {id(x): i for i, x in enumerate(leaves(now))}
        for name in self._stepper.commands:
            strand = self._stepper.numbers[name]
            reel, tangent = now.strands[strand].reel, found[places[id(now.strands[strand].reel)]]
            command, drum = self._commands.get(name, self._stepper.commands[name]), self._drum(name)
            command = self._stepper.commands[name] if isinstance(command, Sequence) else command
            reel[data.TORQUE], tangent[data.TORQUE] = math.nan, 0.0
            if self._at is not None:  # of a sample there, which segments leave out
                reel[data.TORQUE] = self._plain.network.strands[strand].reel[data.TORQUE]
            elif not command.finds_torque:
                torque = start_torque(drum.reel, drum.deployed, command, self._lowered[name], drum.reeled, drum.speed)
                reel[data.TORQUE] = value_of(torque)
                tangent[data.TORQUE] = torque.tangent if isinstance(torque, Dual) else 0.0


def _still(x: Array, k: int) -> Any:
    """Zeros that carry derivatives."""
    return Dual(np.zeros_like(x), np.zeros((*x.shape, k)))


def _checked(here: Any, there: Any, plain: Any, columns: Array, scales: Scales) -> Array:
    """Derivatives without those of workspace; UnknownTangentsError where numbers are not those of the run."""
    tangents_beside(here, there, 0, scales)
    end = 0
    for x, y in zip(leaves(plain), leaves(here), strict=True):
        end += np.size(x)
        if x is not y and isinstance(x, np.ndarray):
            columns[end - np.size(x) : end] = 0.0
    return columns
