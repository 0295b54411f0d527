"""Start of a run of a network, with derivatives by keys: dual numbers from the case to the kernels."""

from __future__ import annotations

import copy
import math
from functools import partial
from typing import TYPE_CHECKING, Any

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
from tautline.gradients.directions import Directions
from tautline.gradients.dual_cases import carries, dual_case
from tautline.gradients.dual_starts import (
    Midway,
    dual_quaternion,
    plain_state,
    start_torque,
    started,
)
from tautline.gradients.dual_tables import dual_command, with_dual_motions
from tautline.gradients.leaves import leaves
from tautline.gradients.marched import widened
from tautline.gradients.network.marching import NetworkSetting
from tautline.gradients.scales import IGNORED, Scales
from tautline.gradients.tangents_beside import plain_of, tangents_beside
from tautline.kernels import data
from tautline.kernels.network import data as kernels
from tautline.kernels.network.tangent_march import begin_network_with_tangents
from tautline.kernels.tangents import TANGENTS
from tautline.model.command import Command
from tautline.model.description import changed
from tautline.model.sequence import Sequence
from tautline.model.system.case import Case
from tautline.model.system.parts import Kinematic
from tautline.model.system.state import State
from tautline.model.system.system import System

if TYPE_CHECKING:
    from tautline.gradients.network.runs import BegunNetwork, NetworkRuns


def tangents_of_numbers(
    runs: NetworkRuns, begun: BegunNetwork, along: Directions, scales: Scales, at: Midway | None = None
) -> Array:
    """Derivatives of the numbers of a run, in the order of `flat`; arguments as of the chain's."""
    if runs.case.system.is_reeved:
        raise UnknownTangentsError("lines over sheaves")
    first = 0 if at is None else len(at.x)
    try:
        sizes = np.concatenate([np.ones(first), along.sizes])
        case = with_dual_motions(dual_case(runs.case, along, first), sizes, runs.steps.until)
        system, state = started(case, runs.case, partial(runs.search, along, first))
        found = _Lowered(runs, begun, case, system, state, sizes, at).tangents(scales)
    except (TypeError, ValueError, AttributeError) as error:  # InputError among them: a check of plain numbers
        raise UnknownTangentsError(str(error)) from error
    found[scales.groups == IGNORED] = 0.0
    if not np.isfinite(found).all():
        raise UnknownTangentsError("a derivative that is not finite")
    return found


class _Lowered:
    """A case with dual numbers as the kernels take it, at the start of its run or of a segment."""

    def __init__(
        self,
        runs: NetworkRuns,
        begun: BegunNetwork,
        case: Case,
        system: System,
        state: State,
        sizes: Array,
        at: Midway | None,
    ) -> None:
        self._begun, self._sizes, self._k, self._until = begun, sizes, len(sizes), runs.steps.until
        self._system, self._state, self._commands = system, state, case.commands
        stepper = begun.simulation.stepper
        self._stepper: NetworkStepper = stepper
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
            name: changed(line, reeled_length=self._state.lines[name].reeled_length)
            for name, line in state_of(begun.simulation.system, begun.first).lines.items()
        }
        return at.coordinates.state(at.dual(self._k), float(value_of(self._time)), lines, held)

    def _command(self, name: str, plain: Command) -> data.Command:
        """A command as the kernels have it."""
        command, string = self._commands.get(name, plain), self._system.lines[name].string
        deployed = string.length - self._state.lines[name].reeled_length
        known = self._begun.setting.network.strands[self._stepper.numbers[name]].command
        span = self._stepper.command_span(name, plain, 0.0, self._until)
        found: data.Command = dual_command(command, string.length, deployed, span, known, self._sizes)
        return found

    def _network(self) -> Any:
        """The network with its motion as it is placed, whose momenta are to be found."""
        stepper, span = self._stepper, (0.0, self._until)
        arrays = copy.copy(stepper.arrays)
        arrays.strands = strands_of(self._system)
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
        network = plain_of(self._setting.network)
        found = [x.reshape(*np.shape(x)[:-1], k) for x in _by_leaf(network, self._setting.network, k)]
        for first in range(0, k, TANGENTS):
            some = slice(first, first + TANGENTS)
            now = plain_of(self._setting.network)
            wide = widened([np.ascontiguousarray(t[..., some]) for t in found])
            nodes = sum(x.par.N + 1 for x in now.strands)
            out = kernels.empty_samples(1, len(now.bodies), len(now.strands), nodes)
            beside = [np.zeros((*x.shape, TANGENTS)) for x in out]
            begin_network_with_tangents((now, out), (wide, beside))
            for t, x in zip(found, wide, strict=True):
                t[..., some] = x[..., : t[..., some].shape[-1]]
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
            command, line = self._commands.get(name, self._stepper.commands[name]), self._system.lines[name]
            command = self._stepper.commands[name] if isinstance(command, Sequence) else command
            reel[data.TORQUE], tangent[data.TORQUE] = math.nan, 0.0
            if self._at is not None:  # of a sample there, which segments leave out
                reel[data.TORQUE] = self._plain.network.strands[strand].reel[data.TORQUE]
            elif not command.finds_torque:
                own = self._state.lines[name]
                drum = line.reel or wheel_reel(self._stepper.strands[strand])
                given = (line.string.length, command, self._lowered[name], own.reeled_length, own.reel_speed)
                torque = start_torque(drum, *given)
                reel[data.TORQUE] = value_of(torque)
                tangent[data.TORQUE] = torque.tangent if isinstance(torque, Dual) else 0.0


def _still(x: Array, k: int) -> Any:
    """Zeros that carry derivatives."""
    return Dual(np.zeros_like(x), np.zeros((*x.shape, k)))


def _by_leaf(plain: Any, dual: Any, k: int) -> list[Array]:
    """Derivatives by leaves."""
    columns = tangents_beside(plain, dual, k)
    sizes = np.cumsum([np.size(x) for x in leaves(plain)])
    parts = zip(leaves(plain), np.split(columns, sizes[:-1]), strict=True)
    return [np.ascontiguousarray(x.reshape(*np.shape(leaf), k)) for leaf, x in parts]


def _checked(here: Any, there: Any, plain: Any, columns: Array, scales: Scales) -> Array:
    """Derivatives without those of workspace; UnknownTangentsError where numbers are not those of the run."""
    tangents_beside(here, there, columns.shape[1], scales)
    ends = np.cumsum([np.size(x) for x in leaves(plain)])
    for end, x, y in zip(ends, leaves(plain), leaves(here), strict=True):
        if x is not y and isinstance(x, np.ndarray):
            columns[end - np.size(x) : end] = 0.0
    return columns
