"""`pendulum`: a system of one line on a reel and one body."""

from __future__ import annotations

import dataclasses
from typing import Any

from tautline.model import checks
from tautline.model.body import RigidBody
from tautline.model.checks import ZERO
from tautline.model.description import fields_of
from tautline.model.fluid import AppliedForce, BodyInFluid, Fluid
from tautline.model.forms import in_si
from tautline.model.kinds import AUTO
from tautline.model.motions import Sine, Sines, Waves
from tautline.model.path import GuideMotion, GuidePath
from tautline.model.reel import Reel
from tautline.model.string import String
from tautline.model.system.parts import ANCHOR, BODY, GUIDE, LINE, Kinematic, Line
from tautline.model.system.system import System


def pendulum(
    string: String,
    reel: Reel | None,
    body: RigidBody,
    *,
    gravity: Any = 9.81,
    fluid: Fluid | None = None,
    applied_force: AppliedForce | None = None,
    guide: GuideMotion | None = None,
    elements: int | str = AUTO,
) -> System:
    """System of one line, called "line", on a reel at the origin, with one body at its end, called "body".

    Parameters
    ----------
    string : String
        The string, all of it, spooled and deployed.
    reel : Reel or None
        Drum and guide; the guide is at `Reel.guide_position`. Without one the line is tied to the origin, or to a
        guide that moves.
    body : RigidBody
        The string is fastened to the origin of its frame.
    gravity : float
        Along the third axis, which points down (m/s^2).
    fluid : Fluid, optional
        Air or water around line and body, and how the body feels it.
    applied_force : AppliedForce, optional
        Force and moment on the body over time.
    guide : GuidePath, Sine, Sines or Waves, optional
        Path of a guide that moves: a kinematic body called "guide" carries the reel.
    elements : int or "auto"
        Elements of the line; "auto" takes as many as the case needs.
    """
    checks.instance("string", string, String)
    checks.instance("body", body, RigidBody)
    if reel is not None:
        checks.instance("reel", reel, Reel)
    gravity = checks.non_negative("gravity", in_si("gravity", gravity, "m/s^2"), "m/s^2")
    if guide is not None:
        checks.instance("guide", guide, GuidePath, Sine, Sines, Waves)
    if fluid is not None:
        checks.instance("fluid", fluid, Fluid)
    place, path = (ZERO, guide) if reel is None else (reel.guide_position, guide or reel.guide_path)
    reel = None if reel is None else dataclasses.replace(reel, guide_position=ZERO, guide_path=None)
    start = {"start": ANCHOR, "start_point": place} if path is None else {"start": GUIDE}
    line = Line(string, **start, end=BODY, reel=reel, elements=elements)
    bodies: dict[str, RigidBody | Kinematic] = {} if path is None else {GUIDE: Kinematic(path, place)}
    fluid, body_fluid = _parted(fluid, body)
    if applied_force is not None and body.is_point:
        applied_force = AppliedForce(applied_force.force)
    forces = {} if applied_force is None else {BODY: applied_force}
    return System(bodies | {BODY: body}, {LINE: line}, gravity, None, fluid, body_fluid, forces)


def _parted(fluid: Fluid | None, body: RigidBody) -> tuple[Fluid | None, dict[str, BodyInFluid]]:
    """The fluid alone, and how the body feels it; a point mass has no levers."""
    if fluid is None:
        return None, {}
    own = BodyInFluid(**{name: getattr(fluid, name) for name in fields_of(BodyInFluid)})
    if body.is_point:
        own = dataclasses.replace(own, drag_center=None, buoyancy_center=None, spin_damping=0.0)
    return fluid.around(BodyInFluid()), {} if own == BodyInFluid() else {BODY: own}
