"""What is recorded of a pendulum in motion, and what becomes of it: variables, a dataset, figures of trust."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import numpy as np

from tautline._version import __version__
from tautline.engine.chain.motion import ChainInMotion
from tautline.engine.chain.recorder import Recorder
from tautline.engine.chain.samples import record_of_samples
from tautline.engine.chain.stepper import Stepper
from tautline.engine.criteria import on_only_line
from tautline.engine.warnings import chain_warnings
from tautline.errors import InputError
from tautline.kernels import data
from tautline.model.chain.systems import placed_system, system_state
from tautline.model.command import Locked
from tautline.model.description import fields_of
from tautline.model.file_keys import Tree
from tautline.model.run import Method, Run
from tautline.model.system.case import Case, timed
from tautline.model.system.commands import check_kinematic, check_known
from tautline.model.system.state import State
from tautline.model.system.system import System
from tautline.results.chain import system_values
from tautline.results.inputs import CASE
from tautline.results.network import layout as system_layout
from tautline.results.values import Values, values_of
from tautline.results.warnings import WARNINGS, RunWarning, encoded
from tautline.schema import SCHEMA, Layout

if TYPE_CHECKING:
    import xarray as xr

    from tautline.results.values import Record


class RecordedChain(ChainInMotion):
    """A motion whose samples are kept.

    Parameters
    ----------
    stepper, recorder
        As of `ChainInMotion`.
    method : Method
        How the motion is computed.
    """

    def __init__(self, stepper: Stepper, recorder: Recorder, method: Method) -> None:
        super().__init__(stepper, recorder)
        self.method = method
        self._given: Case | None = None  # what it is a run of
        self._case: Case | None = None  # the same with a mesh, made when somebody asks
        self.is_timed = False  # the case says how long
        self._sampled = 0  # STEP at the latest sample

    @property
    def case(self) -> Case:
        """The case of the system that it is run for, with the number of elements of its line."""
        if self._case is None and self._given is not None:
            self._case = self._given.meshed()
        if self._case is None:
            method = {name: getattr(self.method, name) for name in fields_of(Method)}
            system, state = placed_system(self.pendulum, self._stepper.initial)
            self._case = Case(system, state, {}, Run(duration=1.0, **method))
        return self._case

    @property
    def system(self) -> System:
        """The system that it is run for."""
        return self.case.system

    @property
    def system_state(self) -> State:
        """The present state of the system, in inertial coordinates."""
        x = self.present_sample().scalars[0]
        velocity = x[data.GUIDE_VELOCITY : data.GUIDE_VELOCITY + 3]
        return system_state(self.system, self.state, (self.guide_position, velocity))

    @property
    def has_record(self) -> bool:
        """Whether samples were kept."""
        return bool(self._recorder.times)

    def body(self, name: str) -> dict[str, data.Array]:
        """Position, velocity, attitude and angular velocity of a body now."""
        check_known(name, self.system.bodies, "bodies")
        x = self.system_state.bodies[name]
        return {
            "position": np.array(x.position),
            "velocity": np.array(x.velocity),
            "attitude": np.array(x.attitude),
            "angular_velocity": np.array(x.angular_velocity),
        }

    def string(self, name: str) -> dict[str, Any]:
        """Nodes, their velocities, deployed length and reel speed of the line now."""
        check_known(name, self.system.lines, "lines")
        x = self.system_state.lines[name]
        return {
            "nodes": np.array(x.nodes),
            "node_velocities": np.array(x.node_velocities),
            "deployed": self.unstretched_length,
            "reel_speed": self.reel_speed,
        }

    def deployed(self, name: str) -> float:
        """Unstretched length of the line outside its guide (m)."""
        check_known(name, self.system.lines, "lines")
        return self.unstretched_length

    def speed(self, name: str) -> float:
        """Rate of the reeled length; positive in retrieval (m/s)."""
        check_known(name, self.system.lines, "lines")
        return self.reel_speed

    def figures(self) -> dict[str, float]:
        """Figures that say how far the result can be trusted, by name."""
        return self.health()

    def present_values(self) -> Values:
        """Variables of the present state."""
        return self.named(values_of(self.pendulum, record_of_samples(np.array([self.time]), self.present_sample())))

    def force_on(self, name: str) -> data.Array:
        """Mean force of string and reel on the kinematic body that carries the reel, over the latest `advance` (N).

        Weight and inertia of all of the string, spooled or not, and of the body, and the drag on them (theory, equation
        76); inertial frame, third axis down. The drum's own mass belongs to the carrier.
        """
        check_kinematic(self.system, name)
        since, given = self.impulse_since()
        if self.time <= since:
            raise InputError("force_on: expected after an advance, got none yet")
        return given / (self.time - since)

    def first_sample(self, torques: bool = True) -> data.Samples:
        """The present state as a sample, for the beginning of a record; without torques that have to be found."""
        stepper = self._stepper
        out = data.empty_samples(1, self.elements)
        stepper.observe(out, self.time, torques)
        stepper.last.scalars[:], stepper.last.nodes[:] = out.scalars, out.nodes
        self._sampled = int(stepper.motion.clock[data.STEP])
        self._recorder.health.begin(self.pendulum, stepper.motion.reel, out.scalars[0], out.nodes[0])
        return out

    def keep(self, samples: data.Samples) -> None:
        """Record the latest samples."""
        if samples is self._stepper.last:
            samples = data.Samples(samples.scalars.copy(), samples.nodes.copy())
        self._recorder.keep(self.sample_times(len(samples.scalars)), samples)

    def forget_records(self) -> None:
        """Drop what was recorded; the motion stays as it is."""
        self._recorder.forget()

    def sample_times(self, rows: int) -> data.Array:
        """Times of the last so many samples, each from the counter and not from sums."""
        start, plan = self._stepper.motion.reel[data.T_START], self._stepper.plan
        if rows == 1:  # every tick of a control loop
            return np.array([start + self._sampled * plan.h])
        counts = self._sampled + plan.steps_per_sample * np.arange(1 - rows, 1, dtype=np.float64)
        times: data.Array = start + counts * plan.h
        return times

    @property
    def layout(self) -> Layout:
        """Variables and dimensions of its results."""
        return system_layout(self.system)

    def values(self, samples: data.Samples) -> Values:
        """Variables of the results from the latest samples."""
        times = self.sample_times(len(samples.scalars))
        return self.named(values_of(self.pendulum, record_of_samples(times, samples)))

    def named(self, values: Values, names: Iterable[str] = tuple(SCHEMA)) -> Values:
        """Variables as the results of its system have them, all or the wanted ones (`needed_for`)."""
        return system_values(self.system, values, names)

    def dataset(self) -> xr.Dataset:
        """All that was recorded, as `simulate` returns it."""
        from tautline.results import network

        return network.build(self.system, self.recorded(), self.attributes())

    def recorded(self) -> Values:
        """Variables of all that was recorded."""
        return self.named(values_of(self.pendulum, self.record()))

    def record(self) -> Record:
        """All that was recorded as plain arrays, for those who make thousands of runs."""
        self.turns.check()
        if not self._recorder.times:  # the present state alone
            return record_of_samples(np.array([self.time]), self.present_sample())
        return record_of_samples(*self._recorder.all_samples())

    def attributes(self) -> dict[str, Any]:
        """What a result says of itself."""
        stepper = self._stepper
        return {
            "status": self.status,
            "message": self.message,
            WARNINGS: encoded(self.warnings()),
            "end_time": self.time,
            "elements": self.elements,
            "step": stepper.plan.h / 2 ** int(stepper.motion.clock[data.LEVEL]),
            "steps": self.steps,
            "newton_iterations": int(stepper.motion.clock[data.ITERATIONS]),
            **self.health(),
            "order": self.method.order,
            "scheme": self.method.scheme,
            CASE: json.dumps(self.description()),
            "version": __version__,
        }

    def health(self) -> dict[str, float]:
        """Figures that say how far the result can be trusted, by name (docs/trust.md)."""
        self.turns.check()
        self._recorder.look()
        figures = self._recorder.health.figures(self.pendulum, self._stepper.plan, self._stepper.motion.reel)
        return {name: float(figure) for name, figure in figures.items()}

    def warnings(self) -> list[RunWarning]:
        """Warnings on the accuracy of the run, and on a reel at its stop."""
        found = chain_warnings(self._stepper, self._recorder.health, self.health())
        return on_only_line(self.system, found)

    def description(self) -> Tree:
        """All keys of the case, so that a result explains itself and a checkpoint can be read back."""
        case = self.case.with_(commands={next(iter(self.system.lines)): self._stepper.command or Locked()})
        return case.to_dict() if self.is_timed else timed(case, self.time).to_dict()
