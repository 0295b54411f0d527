"""Events that end the motion of a network."""

from __future__ import annotations

import math

from tautline.engine.ending import FRICTION_OF_WHEELS, LOSS_AT_GUIDE, Ended
from tautline.engine.network.stepper import NetworkStepper
from tautline.engine.network.strands import words_for
from tautline.errors import TWO_BLOCKED
from tautline.kernels import data
from tautline.kernels.network import data as kernels
from tautline.model.system.system import System


def ended(stepper: NetworkStepper, status: int, plan: data.Plan, time: float) -> Ended:
    """Event that ended a motion at a time (s), while it followed a plan."""
    k, system, arrays = max(stepper.ended_at, 0), stepper.system, stepper.arrays
    strand, where = stepper.strands[k], ""
    short = [i for i, x in enumerate(stepper.strands) if x.line == strand.line and x.span >= 0]
    if status == TWO_BLOCKED:
        short = [k]
        where = f"{words_for(system, strand)}, is "
    elif len(system.lines) > 1:
        where = f"line {strand.line!r} is "
    par = [x.par for x in stepper.network.strands]
    speeds = [(abs(float(r[data.SIGMA])), math.sqrt(x.EA / x.mu)) for r, x in zip(arrays.reels, par, strict=True)]
    reel_speed, wave_speed = max(speeds, key=lambda pair: pair[0] / pair[1])
    return Ended(
        status=status,
        time=time,
        where=where,
        out=float(sum(par[i].L - stepper.sample_at(time).strands[0, i, kernels.RETRACTED] for i in short)),
        shortest=stepper.shortest.get(strand.line, 0.0),
        step=plan.h / 2 ** int(arrays.clock[data.LEVEL]),
        adaptive=plan.adaptive,
        limits=stepper.limits(),
        reel_speed=reel_speed,
        wave_speed=wave_speed,
        backward=_back_in_time(system) if len(plan.stages) > 1 else "",
    )


def _back_in_time(system: System) -> str:
    """Losses without a unique solution in stages that go back in time."""
    if any(wheel.law != "none" for name in system.lines for wheel in system.wheels(name)):
        return FRICTION_OF_WHEELS
    dissipative = any(x.reel is not None and x.reel.guide_law == "dissipative" for x in system.lines.values())
    return LOSS_AT_GUIDE if dissipative else ""
