"""What is known of a line or a body of a system in motion, and what can be done to it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tautline.engine.choose import LEAVE_PATH, PUSH
from tautline.kernels import data
from tautline.model.system.parts import Kinematic

if TYPE_CHECKING:
    from tautline.engine.backend import Backend
    from tautline.engine.simulation import Simulation


class View:
    """A part of a simulation, by its name; the backend may become another one."""

    __slots__ = ("_simulation", "name")

    def __init__(self, simulation: Simulation, name: str) -> None:
        self._simulation, self.name = simulation, name

    @property
    def _backend(self) -> Backend:
        return self._simulation.backend


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
    def nodes(self) -> data.Array:
        """Positions of the nodes (m; inertial frame, third axis down)."""
        return self._backend.nodes(self.name)["nodes"]

    @property
    def node_velocities(self) -> data.Array:
        """Velocities of the nodes of the mesh (m/s)."""
        return self._backend.nodes(self.name)["node_velocities"]

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

    def _now(self, variable: str) -> float:
        place = list(self._backend.system.lines).index(self.name)
        return float(self._backend.present_values()[variable][0, place])

    def stop(self) -> None:
        """Hold the drum at once, however fast it turns: an impulse on the reel alone, then `Locked`.

        Nodes and bodies keep their momenta. The energy that is lost is counted in `friction_loss`.
        """
        self._backend.stop_reel(self.name)


class BodyView(View):
    """A body of a simulation, as it is now."""

    __slots__ = ()

    def __repr__(self) -> str:
        return f"<body {self.name!r} at {self.position.tolist()} m>"

    @property
    def position(self) -> data.Array:
        """Position of the center of mass (m; inertial frame, third axis down)."""
        return self._backend.body(self.name)["position"]

    @property
    def velocity(self) -> data.Array:
        """Velocity of the center of mass (m/s)."""
        return self._backend.body(self.name)["velocity"]

    @property
    def attitude(self) -> data.Array:
        """Rotation matrix, body to inertial frame."""
        return self._backend.body(self.name)["attitude"]

    @property
    def angular_velocity(self) -> data.Array:
        """Angular velocity in the body frame (rad/s)."""
        return self._backend.body(self.name)["angular_velocity"]

    def push(self, force: Any = (0.0, 0.0, 0.0), moment: Any = (0.0, 0.0, 0.0), *, frame: str = "space") -> None:
        """Apply a force at the center of mass (N) and a moment (N m), from now on until the next push.

        Parameters
        ----------
        force, moment : three floats
        frame : str
            "space", or "body" for a thruster or a rotor that turns with the body.
        """
        self._simulation.backend_with(PUSH).push(self.name, force, moment, frame=frame)

    def strike(self, impulse: Any, moment: Any = (0.0, 0.0, 0.0)) -> None:
        """Strike the body: an impulse at its center of mass (N s) and an impulsive moment (N m s), inertial frame.

        Momenta jump, positions do not. The energy it brings is counted in `external_work`.
        """
        self._backend.apply_impulse(self.name, impulse, moment)

    def move(self, velocity: Any) -> None:
        """Let a kinematic body move with a velocity (m/s) from now on until another is given.

        A change is a jump (theory, equation 74): what is fastened to the body is jerked along. `force` tells what it
        takes. A body that has a path leaves it.
        """
        body = self._backend.system.bodies[self.name]
        leaves = isinstance(body, Kinematic) and body.path is not None
        backend = self._simulation.backend_with(LEAVE_PATH) if leaves else self._backend
        backend.move(self.name, velocity)

    @property
    def force(self) -> data.Array:
        """Mean force of lines and reels on a kinematic body over the latest `advance` (N), inertial frame.

        With weight and inertia of all of the line, spooled or not; the drum's own mass belongs to the body.
        """
        return self._backend.force_on(self.name)
