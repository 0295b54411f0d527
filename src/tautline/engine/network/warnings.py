"""Warnings on a run of a system: reels at their stops, diagnostics, tables that steps do not follow."""

from __future__ import annotations

from tautline.engine.network.health import on_line
from tautline.engine.network.stepper import NetworkStepper
from tautline.engine.unfollowed import knots_of_command, knots_of_force, motion_of_command, motion_of_path, unfollowed
from tautline.engine.warnings import slip_warnings, stop_warnings
from tautline.kernels.network import data as kernels
from tautline.model.short_keys import spelled
from tautline.model.system.parts import Kinematic
from tautline.results.warnings import RunWarning


def network_warnings(stepper: NetworkStepper) -> list[RunWarning]:
    """Warnings on end stops, diagnostics, and tables that steps do not follow."""
    system, arrays = stepper.system, stepper.arrays
    found = []
    for x, reel in zip(stepper.strands, arrays.reels, strict=True):
        found += on_line(system, x.line, stop_warnings(reel))
        if x.wheel is not None and x.wheel.slips:
            slipped = slip_warnings(x.wheel.name, float(reel[kernels.SLIPPED]), float(reel[kernels.SLIP_TIME]))
            found += on_line(system, x.line, slipped)
    found += stepper.health.warnings(system, stepper.plan, arrays.totals)
    return found + _unfollowed(stepper)


def _unfollowed(stepper: NetworkStepper) -> list[RunWarning]:
    """Warnings on tables of forces and motions, named as files do where there are several lines or bodies."""
    system, step, time = stepper.system, stepper.health.step, stepper.time
    found = []
    for name, command in stepper.commands.items():
        given, kind = stepper.kernel_command(name, time, time), type(command).__name__
        forces, motions = {kind: knots_of_command(command, given)}, {kind: motion_of_command(command, given, time)}
        of_line = unfollowed(step, forces, motions, time)
        found += [w.prefixed(f"reel {name!r}: ") if len(system.lines) > 1 else w for w in of_line]
    forces = {
        spelled(system, "bodies", name, "applied_force"): knots_of_force(applied)
        for name, applied in system.applied_forces.items()
    }
    motions = {
        spelled(system, "bodies", name, key): motion_of_path(getattr(body, key), time)
        for key in ("path", "turning")
        for name, body in system.bodies.items()
        if isinstance(body, Kinematic)
    }
    return found + unfollowed(step, forces, motions, time)
