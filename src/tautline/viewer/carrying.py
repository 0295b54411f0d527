"""Bodies that hang on a line."""

from __future__ import annotations

from collections.abc import Mapping

from tautline.model.string_loads import string_loads
from tautline.model.system.system import System


def pull_at_rest(system: System, name: str, deployed: Mapping[str, float]) -> float | None:
    """Weight that hangs on the start of a line, buoyancy taken off (N).

    None without gravity, where both sides of the line are held otherwise, and where neither is held.

    Parameters
    ----------
    system : System
    name : str
        The line.
    deployed : dict
        Unstretched lengths of all lines that are out (m).
    """
    line = system.lines[name]
    if not system.gravity or line.is_reeved:
        return None
    at_start, at_end = (_hanging(system, end, name) for end in line.ends)
    if (at_start is None) == (at_end is None):
        return None
    return _weight(system, at_start, deployed) if at_start else _weight(system, at_end or set(), deployed, name)


def _hanging(system: System, end: str, without: str) -> set[str] | None:
    """Free bodies that an end of a line is connected with, but for that line; None where something holds them."""
    found = system.joined([end], without)
    return found if all(map(system.is_free, found)) else None


def _weight(system: System, bodies: set[str], deployed: Mapping[str, float], *lines: str) -> float:
    """Weight of bodies, of what is out of all lines between them, and of some other lines (N)."""
    fluid, g = system.fluid, float(system.gravity)
    total = 0.0
    for name in bodies:
        own = system.body_fluid.get(name)
        total += g * system.bodies[name].mass
        total -= 0.0 if fluid is None or own is None else g * fluid.least_density * own.volume
    between = {name for name, line in system.lines.items() if set(line.ends) <= bodies}
    for name in between.union(lines):
        total += float(string_loads(system.lines[name].string, g, fluid).weight) * deployed[name]
    return total
