"""Views of a line or a body of a system in motion: what is known of it, and what can be done to it."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from tautline.engine.choose import LEAVE_PATH, PUSH, TURN
from tautline.engine.stages import stage_names
from tautline.errors import InputError
from tautline.kernels import data
from tautline.model import checks
from tautline.model.system.commands import check_free, check_kinematic, check_moment
from tautline.model.wording import near

if TYPE_CHECKING:
    from tautline.engine.backend import Backend
    from tautline.engine.runner import Runner
    from tautline.engine.simulation import Simulation


V = TypeVar("V", bound="View")


class Views(dict[str, V]):
    """Parts of a simulation by their names; other names are refused."""

    def __init__(self, key: str, parts: Iterable[V]) -> None:
        super().__init__((part.name, part) for part in parts)
        self._key = key

    def __missing__(self, name: Any) -> Any:
        raise InputError(f"{self._key}: expected one of {', '.join(self) or 'none'}, got {name!r}{near(name, self)}")


# Variables that sensors of lines show, those together that cost as one.
TENSIONS, OF_DRUM = {"start_tension", "end_tension"}, {"torque", "power"}


class View:
    """A part of a simulation, by its name; the backend may become another one."""

    __slots__ = ("_simulation", "name")

    def __init__(self, simulation: Simulation, name: str) -> None:
        self._simulation, self.name = simulation, name

    @property
    def _backend(self) -> Backend:
        return self._simulation.backend

    @property
    def _runner(self) -> Runner[Any]:
        return self._simulation.runner


class LineView(View):
    """A line of a simulation, as it is now."""

    __slots__ = ()

    def __repr__(self) -> str:
        return f"<line {self.name!r}: {self.deployed:.6g} m deployed, {self.speed:.6g} m/s in>"

    @property
    def deployed(self) -> float:
        """Unstretched length outside the guide (m)."""
        return self._backend.deployed(self.name)

    @property
    def reeled_length(self) -> float:
        """Unstretched length on the reel side of the guide entrance (m)."""
        return self._backend.system.lines[self.name].string.length - self.deployed

    @property
    def speed(self) -> float:
        """Rate of the reeled length; positive in retrieval (m/s)."""
        return self._backend.speed(self.name)

    @property
    def stage(self) -> str | None:
        """Name of the stage of the sequence that the reel follows; None if it follows none."""
        return stage_names(self._runner).get(self.name)

    @property
    def nodes(self) -> data.Array:
        """Positions of the nodes (m; inertial frame, third axis down)."""
        return self._nodes()["nodes"].copy()

    @property
    def node_velocities(self) -> data.Array:
        """Velocities of the nodes of the mesh (m/s)."""
        return self._nodes()["node_velocities"].copy()

    def _nodes(self) -> dict[str, data.Array]:
        return self._simulation.sensed(f"line {self.name}", lambda: self._backend.nodes(self.name))

    @property
    def start_tension(self) -> float:
        """Tension at the start of the line (N)."""
        return self._now("start_tension")

    @property
    def end_tension(self) -> float:
        """Tension at the end of the line (N)."""
        return self._now("end_tension")

    @property
    def torque(self) -> float:
        """Torque of motor or lock on the drum; positive retrieves (N m)."""
        return self._now("torque")

    @property
    def power(self) -> float:
        """Power of the motor; positive where it drives the drum (W)."""
        return self._now("power")

    @property
    def start_angle(self) -> float:
        """Angle between the line at its start and the vertical (rad); 0 where it hangs straight down."""
        return self._angle(0, 1)

    @property
    def end_angle(self) -> float:
        """Angle between the line at its end and the vertical (rad); 0 where it hangs straight down."""
        return self._angle(-2, -1)

    def _angle(self, first: int, second: int) -> float:
        nodes = self._nodes()["nodes"]
        x, y, z = (nodes[second] - nodes[first]).tolist()
        return math.atan2(math.hypot(x, y), z)

    def _now(self, variable: str) -> float:
        backend, names = self._backend, TENSIONS if variable in TENSIONS else OF_DRUM
        known: dict[str, Any] = self._simulation.sensed(f"values of {self.name}", dict)
        if variable not in known:
            now = np.array([self._runner.time])
            known |= backend.values_for(now, backend.present_sample(), names, self.name)
        return float(known[variable][0, 0])

    def stop(self) -> None:
        """Hold the drum at once, however fast it turns: an impulse on the reel alone, then `Locked`.

        Nodes and bodies keep their momenta. The energy that is lost is counted in `friction_loss`.
        """
        self._simulation.touch(jumped=True)
        if self._backend.system.lines[self.name].reel is None:
            raise InputError(f"lines.{self.name}: expected a string with a reel, got one without")
        self._backend.stop_reel(self.name)


class BodyView(View):
    """A body of a simulation, as it is now."""

    __slots__ = ()

    def __repr__(self) -> str:
        return f"<body {self.name!r} at {self.position.tolist()} m>"

    @property
    def position(self) -> data.Array:
        """Position of the center of mass (m; inertial frame, third axis down)."""
        return self._now("position")

    @property
    def velocity(self) -> data.Array:
        """Velocity of the center of mass (m/s)."""
        return self._now("velocity")

    @property
    def attitude(self) -> data.Array:
        """Rotation matrix, body to inertial frame."""
        return self._now("attitude")

    @property
    def angular_velocity(self) -> data.Array:
        """Angular velocity in the body frame (rad/s)."""
        return self._now("angular_velocity")

    def _now(self, variable: str) -> data.Array:
        return self._simulation.sensed(f"body {self.name}", lambda: self._backend.body(self.name))[variable].copy()

    @property
    def tilt(self) -> float:
        """Angle between the third axis of the body and the vertical (rad); 0 where it points down."""
        x, y, z = self.attitude[:, 2].tolist()
        return math.atan2(math.hypot(x, y), z)

    @property
    def acceleration(self) -> data.Array:
        """Mean acceleration of the center of mass over the latest `advance` (m/s^2), inertial frame.

        Change of the velocity over the time; 0 before the first `advance`. Without weight: a body at rest has none.
        """
        before = self._simulation.velocity_before(self.name)
        if before is None:
            return np.zeros(3)
        then, velocity = before
        found: data.Array = (self.velocity - velocity) / (self._simulation.time - then)
        return found

    def position_of(self, point: Any) -> data.Array:
        """Position of a point of the body (m; inertial frame), given in the body frame, as attachments are."""
        found: data.Array = self.position + self.attitude @ self._lever(point)
        return found

    def velocity_of(self, point: Any) -> data.Array:
        """Velocity of a point of the body (m/s; inertial frame), given in the body frame, as attachments are."""
        found: data.Array = self.velocity + self.attitude @ np.cross(self.angular_velocity, self._lever(point))
        return found

    def _lever(self, point: Any) -> data.Array:
        """A point of the body from its center of mass, in the body frame (m)."""
        center = self._backend.system.center_of(self.name)
        found: data.Array = checks.array("point", point, (3,), "m") - np.asarray(center)
        return found

    def push(self, force: Any = (0.0, 0.0, 0.0), moment: Any = (0.0, 0.0, 0.0), *, frame: str = "space") -> None:
        """Apply a force at the center of mass (N) and a moment (N m), from now on until the next push.

        Parameters
        ----------
        force, moment : three floats
        frame : str
            "space", or "body" for a thruster or a rotor that turns with the body.
        """
        self._simulation.touch()
        self._simulation.runner_with(PUSH).backend.push(self.name, force, moment, frame=frame)

    def strike(self, impulse: Any, moment: Any = (0.0, 0.0, 0.0)) -> None:
        """Strike the body: an impulse at its center of mass (N s) and an impulsive moment (N m s), inertial frame.

        Momenta jump, positions do not. The energy it brings is counted in `external_work`.
        """
        self._simulation.touch(jumped=True)
        system = self._backend.system
        check_free(system, self.name)
        J, L = checks.array("impulse", impulse, (3,), "N s"), checks.array("moment", moment, (3,), "N m s")
        check_moment(system, self.name, L)
        self._backend.strike(self.name, J, L)

    def move(self, velocity: Any, angular_velocity: Any = (0.0, 0.0, 0.0)) -> None:
        """Let a kinematic body move with a velocity (m/s), and turn (rad/s; body frame), until others are given.

        A change is a jump (theory, equation 74): what is fastened to the body is jerked along. `force` and `moment`
        tell what it takes. A body that has a path leaves it, and one that turns stops turning unless told otherwise.
        """
        self._simulation.touch(jumped=True)
        check_kinematic(self._backend.system, self.name)
        turning = checks.array("angular_velocity", angular_velocity, (3,), "rad/s")
        going = checks.array("velocity", velocity, (3,), "m/s")
        leaves = self._backend.system.bodies[self.name].path is not None
        ability = TURN if turning.any() else LEAVE_PATH if leaves else None
        runner = self._runner if ability is None else self._simulation.runner_with(ability)
        runner.backend.move(self.name, going, turning)

    @property
    def force(self) -> data.Array:
        """Mean force of lines and reels on a kinematic body over the latest `advance` (N), inertial frame.

        With weight and inertia of all of the line, spooled or not, and of what hangs on it, and the drag on them
        (theory, equation 76). The drum's own mass belongs to the body.
        """
        return self._mean("force")[:3]

    @property
    def moment(self) -> data.Array:
        """Mean moment of these forces about the origin of a kinematic body over the latest `advance` (N m), inertial.

        With what it takes to turn a drum along whose axis is given.
        """
        return self._mean("moment")[3:]

    def _mean(self, what: str) -> data.Array:
        """Impulse and moment on a kinematic body over the latest `advance`, over its time."""
        check_kinematic(self._backend.system, self.name)
        since, given = self._backend.impulse_since(self.name)
        if self._runner.time <= since:
            raise InputError(f"{what}: expected after an advance, got none yet")
        return given / (self._runner.time - since)
