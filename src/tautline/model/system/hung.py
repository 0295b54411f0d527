"""Places of bodies that hang, each straight below what carries it."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from tautline.errors import InputError
from tautline.model import checks
from tautline.model.system.parts import Kinematic
from tautline.model.system.state import BodyState, LineStart, State, point_of
from tautline.model.system.straight_lines import floats, hang, kinematic_state
from tautline.model.system.system import System
from tautline.model.wording import both


def hung(system: System, deployed: Mapping[str, float]) -> State:
    """Every body straight below what carries it, in the order of the lines."""
    system.check_touched()
    places = carriers(system)
    lines = list(system.lines)
    while lines:
        ready = [name for name in lines if any(_is_placed(system, places, end) for end in system.holders(name))]
        if not ready:
            names = [name for name in system.bodies if name not in places]
            raise InputError(
                f"Hanging: expected lines from the anchor or kinematic bodies down to {both(names)}, got none; mend "
                "where lines start and end and what their sheaves are on, or say where bodies are with Placed"
            )
        for name in ready:
            lines.remove(name)
            below = [end for end in dict.fromkeys(system.holders(name)) if not _is_placed(system, places, end)]
            if below:
                places |= _below(system, places, name, below, deployed[name])
    free = {name: x for name, x in places.items() if system.is_free(name)}
    return hang(system, free, {name: LineStart(x) for name, x in deployed.items()})


def _below(
    system: System, places: Mapping[str, BodyState], name: str, bodies: list[str], deployed: float
) -> dict[str, BodyState]:
    """Bodies that hang in the spans of a line, straight below what carries them and all at one depth."""
    spans = system.spans(name)
    above = {}
    for body in bodies:
        beside = []
        for span in spans:
            for here, far in ((0, 1), (1, 0)):
                if span.ends[here] == body and _is_placed(system, places, span.ends[far]):
                    place, _ = point_of(system, places, span.ends[far], span.points[far])
                    beside.append((place, np.array(span.points[here])))
        if not beside:
            raise InputError(f"Hanging: {body!r} hangs between bodies of one line; say where bodies are with Placed")
        center = np.array(system.bodies[body].center_of_mass)
        above[body] = np.mean([place + center - point for place, point in beside], axis=0)

    def at(depth: float) -> dict[str, BodyState]:
        return {key: BodyState(floats(place + np.array([0.0, 0.0, depth]))) for key, place in above.items()}

    def longer(depth: float) -> float:
        own = {**places, **at(depth)}
        ends = [
            [point_of(system, own, end, point)[0] for end, point in zip(span.ends, span.points, strict=True)]
            for span in spans
        ]
        return float(sum(np.linalg.norm(b - a) for a, b in ends)) - deployed

    if len(spans) == 1:
        return at(deployed)
    from scipy.optimize import brentq

    if longer(0.0) >= 0.0:
        expected = f"more than {longer(0.0) + deployed:.6g} m, which {name!r} has between what carries it"
        checks.refuse(f"deployed.{name}", expected, deployed)
    return at(float(brentq(longer, 0.0, deployed, xtol=1e-12, rtol=1e-14)))


def _is_placed(system: System, places: Mapping[str, BodyState], end: str) -> bool:
    return end not in system.bodies or end in places


def carriers(system: System) -> dict[str, BodyState]:
    """States of all kinematic bodies at the start."""
    given = {name: body for name, body in system.bodies.items() if isinstance(body, Kinematic)}
    return {name: kinematic_state(body, body.position) for name, body in given.items()}
