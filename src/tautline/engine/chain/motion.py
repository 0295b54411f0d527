"""What can be asked of a pendulum in motion at any time."""

from __future__ import annotations

import copy
from typing import Self

import numpy as np

from tautline import errors
from tautline.engine.chain.recorder import Recorder
from tautline.engine.chain.stepper import Stepper
from tautline.engine.turns import Turns
from tautline.kernels import data
from tautline.kernels.limits import Limits
from tautline.model.chain.chain import Chain
from tautline.model.chain.state import ChainState

# Events that are located in time, between two steps.
LOCATED = ("fully_retrieved", "fully_deployed", "condition_met")


class ChainInMotion:
    """A motion as it is now.

    Parameters
    ----------
    stepper : Stepper
        The motion and the kernels that change it.
    recorder : Recorder
        Samples that are kept, and their health.
    """

    def __init__(self, stepper: Stepper, recorder: Recorder) -> None:
        self.pendulum: Chain = stepper.pendulum
        self.status = errors.STATUS_NAMES[errors.RUNNING]
        self._event = ""  # what ended the motion, in a sentence
        self._stepper, self._recorder = stepper, recorder
        self._force_since = (0.0, np.zeros(3))  # time and impulse of the guide when the latest advance began

    @property
    def turns(self) -> Turns:
        """Who uses it."""
        return self._stepper.turns

    def __copy__(self) -> Self:
        """An independent copy; one that shared arrays of the motion would be of no use."""
        return copy.deepcopy(self)

    @property
    def time(self) -> float:
        """Simulated time (s)."""
        if self.status in LOCATED:
            return float(self._stepper.motion.reel[data.STOP_TIME])
        return self._stepper.time

    @property
    def message(self) -> str:
        """How far the motion has come, or what ended it, in a sentence."""
        return self._event or f"completed at t = {self.time:.6g} s"

    @property
    def steps(self) -> int:
        """Composed steps made so far."""
        return int(self._stepper.motion.clock[data.TOTAL])

    @property
    def kernel_loads(self) -> data.Loads:
        """Loads and path of the guide, as the kernels have them; all at rest where there are none."""
        return self._stepper.loads

    @property
    def halvings(self) -> int:
        """How often the base step is halved at present."""
        return int(self._stepper.motion.clock[data.LEVEL])

    @property
    def elements(self) -> int:
        """N."""
        return self._stepper.par.N

    @property
    def reeled_length(self) -> float:
        """s (m)."""
        return float(self._stepper.motion.reel[data.S])

    @property
    def unstretched_length(self) -> float:
        """Unstretched length of the deployed string (m)."""
        return float(self._stepper.par.L - self._stepper.motion.reel[data.S])

    @property
    def reel_speed(self) -> float:
        """Rate of reeled_length; positive in retrieval (m/s)."""
        return float(self.present_sample().scalars[0, data.REEL_SPEED])

    @property
    def energy(self) -> float:
        """Total energy (J)."""
        x = self.present_sample().scalars[0]
        return float(x[data.KINETIC] + x[data.ELASTIC] + x[data.GRAVITY])

    @property
    def state(self) -> ChainState:
        """The present state, as a value that another simulation can start from."""
        x = self.present_sample()
        row = x.scalars[0]
        return ChainState(
            row[data.REELED_LENGTH],
            row[data.REEL_SPEED],
            x.nodes[0, 0],
            x.nodes[0, 1],
            row[data.ROTATION : data.ROTATION + 9].reshape(3, 3),
            row[data.ANGULAR_VELOCITY : data.ANGULAR_VELOCITY + 3],
        )

    @property
    def guide_position(self) -> data.Array:
        """Where the guide is (m; inertial frame, third axis down)."""
        place = self.present_sample().scalars[0, data.GUIDE_PLACE : data.GUIDE_PLACE + 3]
        return np.array(self.pendulum.reel.guide_position) + place

    def impulse_since(self) -> tuple[float, data.Array]:
        """When the latest `advance` began (s), and the impulse of string and reel on their carrier since then (N s)."""
        return self._force_since[0], self._force_since[1] - self._stepper.guide_impulse()

    def limits(self, deployed: float | None = None) -> Limits:
        """Step limits of the present motion (s), or of one that is like it with another length deployed (m)."""
        return self._stepper.limits(deployed)

    def present_sample(self) -> data.Samples:
        """The present state as the kernels report it; written over by the next advance."""
        if self._stepper.command is None:
            self._stepper.observe(self._stepper.last, self.time)
        return self._stepper.last
