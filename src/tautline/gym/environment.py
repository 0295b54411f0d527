"""An environment of any case, one motion at a time."""

from __future__ import annotations

import copy
from collections.abc import Mapping
from typing import Any

import gymnasium
import numpy as np

from tautline.arrays import Array
from tautline.engine.simulation import Simulation
from tautline.errors import InputError
from tautline.extras import need
from tautline.gym.task import Range, task_of
from tautline.model.system.case import Case

Values = dict[str, Array]
# Inches and dots an inch of a frame.
SIZE, DOTS = (5.0, 5.0), 80


class CaseEnv(gymnasium.Env[Array, Array]):
    """A case as an environment of Gymnasium.

    Parameters
    ----------
    case : Case
        System, start and commands; an episode is as long as its run.
    actions : dict
        Lower and upper limit by the key of a number of a command, in SI: {"command.torque": (0.0, 5.0)}. An action is a
        number from -1 to 1 for each, between the limits.
    observations : dict
        Lower and upper limit by the name of a variable, with components where it has any, or "time":
        {"body_position[0]": (-5.0, 5.0)}. Values beyond are cut off.
    reward : Objective or callable
        An objective such as `-1e-3 * tl.objectives.Integral("power")`, taken over each step; or a function of what was
        observed before and after a step, by name.
    interval : float, optional
        Time between actions (s); by default the sample interval of the run.
    randomize : dict, optional
        Limits by key of the case, such as {"body.mass": (0.8, 1.2)}: drawn evenly at each reset.
    failure : float
        Added to the reward where an event ends the motion early.
    render_mode : {"rgb_array"}, optional
        With it an episode is recorded: `render` draws the present state, `view` shows the episode in the viewer.
    """

    metadata: dict[str, Any] = {"render_modes": ["rgb_array"], "render_fps": 20}  # noqa: RUF012 - Gymnasium's own name

    def __init__(
        self,
        case: Case,
        actions: Mapping[str, Range],
        observations: Mapping[str, Range],
        reward: Any,
        interval: float | None = None,
        randomize: Mapping[str, Range] | None = None,
        failure: float = 0.0,
        render_mode: str | None = None,
    ) -> None:
        if render_mode not in (None, *self.metadata["render_modes"]):
            raise InputError(f"render_mode: expected 'rgb_array' or None, got {render_mode!r}")
        self.render_mode = render_mode
        self.task = task_of(case, actions, observations, reward, interval, randomize, failure)
        self._low, self._high = self.task.bounds()
        self.observation_space = gymnasium.spaces.Box(self._low, self._high, dtype=np.float64)
        self.action_space = gymnasium.spaces.Box(-1.0, 1.0, (len(self.task.actions),), dtype=np.float64)
        self._names = tuple(self.task.names)
        self._first: Simulation | None = None
        self.simulation: Any = None
        self._before: tuple[dict[str, float], Values] = ({}, {})

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Array, dict[str, Any]]:
        """Begin an episode from the start of the case."""
        super().reset(seed=seed)
        drawn = self.task.drawn(self.np_random)
        if drawn:
            self.simulation = begun(self.task.case.with_(drawn))
        else:
            self._first = self._first or begun(self.task.case)
            self.simulation = copy.copy(self._first)
        self._before = self._look()
        if self.render_mode is not None:
            self.simulation.runner.keep(self.simulation.runner.first_sample())
        return self._row(self._before[0]), drawn

    def step(self, action: Any) -> tuple[Array, float, bool, bool, dict[str, Any]]:
        """Give the commands of an action for an interval."""
        if self.simulation is None:
            raise InputError("step: call reset() first")
        status = self.simulation.advance(
            self.task.interval, self.task.commands(action), record=self.render_mode is not None
        )
        (seen, values), (before, earlier) = self._look(), self._before
        ended = status != "completed"
        over = not ended and self.simulation.time >= self.task.case.run.duration - 0.5 * self.task.interval

        def both() -> Values:
            return {name: np.concatenate([earlier[name], x]) for name, x in values.items()}

        reward = self.task.rewarded(before, seen, both) + (self.task.failure if ended else 0.0)
        self._before = (seen, values)
        return self._row(seen), reward, ended, over, {"status": status} if ended else {}

    def _look(self) -> tuple[dict[str, float], Values]:
        """Observations by name, and the variables that they and the reward are of."""
        values = present(self.simulation.runner, self._names)
        seen = {
            x.name: self.simulation.time if x.of is None else float(x.of.of(values)[-1]) for x in self.task.observations
        }
        return seen, values

    def _row(self, seen: Mapping[str, float]) -> Array:
        row: Array = np.clip(np.array(list(seen.values())), self._low, self._high)
        return row

    def render(self) -> Any:
        """The present state as a picture (height, width, 3)."""
        if self.render_mode is None:
            gymnasium.logger.warn("render: make the environment with render_mode='rgb_array' first")
            return None
        figures = need("tautline.figures", "render")
        drawn = figures.snapshots(self.simulation.dataset().isel(time=[-1]))
        drawn.set_size_inches(*SIZE)
        drawn.set_dpi(DOTS)
        drawn.canvas.draw()
        return np.asarray(drawn.canvas.buffer_rgba())[..., :3].copy()

    def view(self) -> Any:
        """The episode so far in the viewer, as `tl.view` has it; needs a render_mode."""
        from tautline.viewer import view

        return view(self.simulation.dataset())


def begun(case: Case) -> Simulation:
    """A simulation at the start of a case, its commands taken."""
    simulation = Simulation.from_case(case)
    simulation.runner.begin(case.commands, case.run.duration, case.run.interval())
    simulation.runner.first_sample()
    return simulation


def present(runner: Any, names: tuple[str, ...]) -> Values:
    """Variables of the present state (1, ...), with the time."""
    found = runner.backend.values_for(np.array([runner.time]), runner.backend.present_sample(), set(names))
    return {"time": np.array([runner.time]), **{name: np.asarray(found[name]) for name in names}}
