"""Actions from outside on a system in motion: pushes, impulses, motions that are given, drums that are stopped."""

from __future__ import annotations

from typing import Any

import numpy as np

from tautline.engine.network import lowering
from tautline.engine.network.placed import PlacedNetwork
from tautline.errors import InputError
from tautline.kernels import data
from tautline.kernels.network import data as kernels
from tautline.kernels.network.march import RELEASE
from tautline.model import checks
from tautline.model.body import RigidBody
from tautline.model.command import Locked
from tautline.model.system.commands import check_free, check_kinematic, check_known
from tautline.model.system.parts import Kinematic

FLUID_WORK = data.account("fluid_work")
# Time in which an impulse acts (s).
INSTANT = 1e-12


class ActedOnNetwork(PlacedNetwork):
    """A system in motion that others push, strike and lead."""

    # Held bodies that were given other velocities: time, energy that this brings, impulses of all bodies.
    _jump: tuple[float, float, data.Array] | None = None

    def push(
        self, name: str, force: Any = (0.0, 0.0, 0.0), moment: Any = (0.0, 0.0, 0.0), *, frame: str = "space"
    ) -> None:
        """Apply a force at the center of mass of a body (N) and a moment (N m), from now on until another is given.

        Parameters
        ----------
        name : str
            The body.
        force, moment : three floats
        frame : str
            "space", or "body" for a thruster or a rotor that turns with the body.
        """
        self.turns.check()
        check_free(self.system, name)
        checks.choice("frame", frame, ("space", "body"))
        values = [*checks.vector("force", force, "N"), *checks.vector("moment", moment, "N m")]
        self._check_moment(name, values[3:])
        if name not in self._pushes:
            self._pushes[name] = (lowering.NO_PUSH.copy(), lowering.NO_PUSH.copy())
            self._changed = True
            self._lower(self.time, self.time)
        self._pushes[name][("space", "body").index(frame)][1:, 0] = values

    def apply_impulse(self, name: str, impulse: Any, moment: Any = (0.0, 0.0, 0.0)) -> None:
        """Strike a body: an impulse at its center of mass (N s) and an impulsive moment (N m s), inertial frame.

        Momenta jump, positions do not. The energy it brings is counted in `external_work`.
        """
        self.turns.check()
        check_free(self.system, name)
        J = checks.array("impulse", impulse, (3,), "N s")
        L = checks.array("moment", moment, (3,), "N m s")
        self._check_moment(name, L)
        self.take(None)
        time, struck = self.time, self.body(name)
        before = self._moving_energy(time)
        self._release(time)
        booked = self._booked(data.CONTROL_WORK, FLUID_WORK)
        state = self.arrays.bodies[self.arrays.names.index(name)]
        self._let_fluid_move_along(time)
        state[kernels.LINEAR : kernels.LINEAR + 3] += J
        state[kernels.ANGULAR : kernels.ANGULAR + 3] += L
        self.call(RELEASE, time)
        for string in self._commands:
            self._lead(string, time)
        now = self.body(name)
        work = 0.5 * float(J @ (struck["velocity"] + now["velocity"]))
        work += 0.5 * float(L @ now["attitude"] @ (struck["angular_velocity"] + now["angular_velocity"]))
        self.arrays.totals[data.ACCOUNT_PLACES[data.EXTERNAL_WORK]] += work
        if self._network.carries_fluid:
            booked = self._booked(data.CONTROL_WORK, FLUID_WORK) - booked
            self.arrays.totals[data.ACCOUNT_PLACES[FLUID_WORK]] += self._moving_energy(time) - before - booked - work

    def stop_reel(self, name: str) -> None:
        """Hold a drum at once, however fast it turns: an impulse on the reel alone, then `Locked`.

        Nodes and bodies keep their momenta. The energy that is lost is counted in `friction_loss`.
        """
        self.turns.check()
        check_known(name, self.system.lines, "lines")
        if self.system.lines[name].reel is None:
            raise InputError(f"lines.{name}: expected a string with a reel, got one without")
        self.take(None)
        time, k = self.time, list(self.system.lines).index(name)
        before = self._moving_energy(time)
        self._release(time)
        booked = self._booked(data.CONTROL_WORK)
        self._commands[name], self._origins[name] = Locked(), (time, self.deployed(name))
        self.arrays.reels[k][data.STOP] = 0.0
        self._changed = True
        self._lower(time, time)
        self.call(RELEASE, time)
        for string in self._commands:
            self._lead(string, time)
        lost = before + self._booked(data.CONTROL_WORK) - booked - self._moving_energy(time)
        self.arrays.reels[k][data.ACCOUNT_PLACES[data.FRICTION_LOSS]] += lost

    def move(self, name: str, velocity: Any) -> None:
        """Let a held body move with a velocity (m/s) from now on until another is given: motion from another program.

        `force_on` tells what that takes.
        """
        self.turns.check()
        check_kinematic(self.system, name)
        self._note_impulses()
        time = self.time
        before, given = self._moving_energy(time), self._given_impulses()
        self.lead(name, time, self.body(name)["position"], checks.vector("velocity", velocity, "m/s"))
        self._lower(time, time)
        energy, impulses = self._moving_energy(time) - before, self._given_impulses() - given
        if self._jump is not None and self._jump[0] == time:
            energy, impulses = energy + self._jump[1], impulses + self._jump[2]
        self._jump = (time, energy, impulses)

    def _release(self, time: float) -> None:
        """Let all velocities be those of momenta.

        The next step counts what a held body that jumped has given at the velocity that it has from now on.
        """
        jump, self._jump = self._jump, None
        super()._release(time)
        if jump is not None and jump[0] == time:
            velocities = self.present_sample().bodies[0, :, kernels.BODY_VELOCITY : kernels.BODY_VELOCITY + 3]
            self.arrays.totals[data.ACCOUNT_PLACES[data.GUIDE_WORK]] += jump[1] - float((jump[2] * velocities).sum())

    def force_on(self, name: str) -> data.Array:
        """Mean force of lines and reels on a held body over the latest `advance` (N), inertial frame.

        With weight and inertia of all of the string, spooled or not; the drum's own mass belongs to the body.
        """
        check_kinematic(self.system, name)
        passed = self.time - self._impulses[0]
        if passed <= 0.0:
            raise InputError("force_on: expected after an advance, got none yet")
        i = self.arrays.names.index(name)
        given: data.Array = (self._impulses[1][i] - self._given_impulses()[i]) / passed
        return given

    def have_given(self, name: str, since: float, impulse: data.Array) -> None:
        """Have a held body that has felt an impulse (N s) since a time (s); from now on more of it is counted."""
        found = np.zeros((len(self.arrays.names), 3))
        found[self.arrays.names.index(name)] = impulse
        self._impulses = (since, found)

    def _note_impulses(self) -> None:
        """Let forces on held bodies, where there are some, be means from now on."""
        held = any(isinstance(body, Kinematic) for body in self.system.bodies.values())
        if held and self._impulses[0] != self.time:
            self._impulses = (self.time, self._given_impulses())

    def _given_impulses(self) -> data.Array:
        """Impulses since the start of what holds or moves bodies."""
        found: data.Array = self.present_sample().bodies[0, :, kernels.BODY_GIVEN : kernels.BODY_GIVEN + 3].copy()
        return found

    def _let_fluid_move_along(self, time: float) -> None:
        """Let fluid that moves along with lines and bodies take its part of a jump of their momenta.

        It has their velocities, and loads act for so short a time that only its inertia counts.
        """
        if not self._network.carries_fluid:
            return
        sample = self._observed(time)
        for line, strand in zip(self.system.lines.values(), self._network.strands, strict=True):
            velocities = sample.nodes[0, strand.first : strand.first + line.count + 1, 3:]
            data.nodes_of(strand.nodes[data.FLUID_VELOCITY], line.count)[:] = velocities
        for i, state in enumerate(self.arrays.bodies):
            row = sample.bodies[0, i]
            R = row[kernels.BODY_ATTITUDE : kernels.BODY_ATTITUDE + 9].reshape(3, 3)
            omega = row[kernels.BODY_OMEGA : kernels.BODY_OMEGA + 3]
            spun = R @ np.cross(omega, self._network.around[i].buoyancy_center)
            velocity = row[kernels.BODY_VELOCITY : kernels.BODY_VELOCITY + 3]
            state[kernels.FLUID : kernels.FLUID + 3] = velocity + spun
        self.arrays.totals[data.LOADS_PENDING] = INSTANT

    def _booked(self, *accounts: int) -> float:
        """What is booked on some accounts, of all lines and of the whole."""
        places = [data.ACCOUNT_PLACES[account] for account in accounts]
        return float(sum(reel[places].sum() for reel in [*self.arrays.reels, self.arrays.totals]))

    def _moving_energy(self, time: float) -> float:
        return float(self._observed(time).whole[0, data.KINETIC])

    def _check_moment(self, name: str, moment: Any) -> None:
        body = self.system.bodies[name]
        if isinstance(body, RigidBody) and body.is_point and np.any(moment):
            checks.refuse("moment", "zero for a point mass", list(moment))
