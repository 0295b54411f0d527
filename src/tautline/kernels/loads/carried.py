"""Velocities of fluid that moves along with string and body, which its inertia opposes (docs/theory.md, equation 82).

Its force at a step boundary follows from the change of velocities since the middle of the step before.
"""

from __future__ import annotations

from tautline.kernels import data
from tautline.kernels.along import nodes_from, put_nodes, spread, width
from tautline.kernels.data import Array, Loads, Motion, Parameters, Scratch, copy_nodes, node, put_triple, triple
from tautline.kernels.jit import kernel, separate
from tautline.kernels.loads.acting import frame_change
from tautline.kernels.loads.boundary import StepBoundary
from tautline.kernels.loads.drag import velocity_at_body
from tautline.kernels.loads.resistance import DRAG
from tautline.kernels.rotation import attitude
from tautline.kernels.so3 import Vector, add, add_scaled, sub


@kernel
def carries_fluid(loads: Loads) -> bool:
    """Whether fluid moves along with string or body."""
    drag = loads.own[DRAG]
    return drag.acts and (drag.added > 0.0 or drag.body_added > 0.0)  # type: ignore[no-any-return]


@kernel
def body_velocity(par: Parameters, loads: Loads, time: float, motion: Motion) -> Vector:
    """Velocity of the body's centre of buoyancy some time ago, from VELOCITY and OMEGA."""
    v_N, omega = node(motion.nodes[data.VELOCITY], par.N), triple(motion.body, data.OMEGA)
    return velocity_at_body(loads.own[DRAG], attitude(motion.body), time, v_N, omega)


@kernel
def start_fluid(par: Parameters, loads: Loads, time: float, motion: Motion) -> None:
    """Let the fluid have the velocities in VELOCITY and OMEGA, of some time ago."""
    copy_nodes(motion.nodes[data.VELOCITY], motion.nodes[data.FLUID_VELOCITY])
    put_triple(motion.body, data.FLUID_AT_BODY, body_velocity(par, loads, time, motion))


@kernel
def beyond(par: Parameters, part: float, x: Array, y: Array, shift: Vector, out: Array) -> None:
    """x + part (y + shift - x) of all nodes."""
    moved = (spread(x, shift[0]), spread(x, shift[1]), spread(x, shift[2]))
    for i in range(0, par.N + 1, width(x)):
        here = nodes_from(x, i)
        put_nodes(out, i, add_scaled(here, part, sub(add(nodes_from(y, i), moved), here)))


@separate
def expect_fluid(par: Parameters, loads: Loads, boundary: StepBoundary, motion: Motion, scratch: Scratch) -> None:
    """Velocities of the step behind a boundary if they changed there alone: of nodes into GUESS, and FLUID_AT_BODY."""
    at, faster = boundary.at, frame_change(boundary.at, motion.reel)
    part = (at.back + at.ahead) / at.back
    v = scratch.nodes[data.MEAN_VELOCITY]
    beyond(par, part, motion.nodes[data.VELOCITY], v, faster, scratch.nodes[data.GUESS])
    x = body_velocity(par, loads, at.back, motion)
    y = velocity_at_body(loads.own[DRAG], at.R, 0.0, node(v, par.N), boundary.rates.omega)
    put_triple(motion.body, data.FLUID_AT_BODY, add_scaled(x, part, sub(add(y, faster), x)))


@separate
def move_fluid(
    par: Parameters, loads: Loads, h: float, back: float, slower: Vector, motion: Motion, scratch: Scratch
) -> None:
    """Velocities of the fluid in a step h, from those in VELOCITY and from what was expected of them.

    `back` is the half of the step before, and `slower` how much slower the guide was in it. What velocities change by
    inside of steps, and not where they join, is extrapolated to the step boundary behind.
    """
    if back == 0.0:
        start_fluid(par, loads, 0.5 * h, motion)
        return
    part = h / (h + 2.0 * back)
    beyond(par, part, motion.nodes[data.VELOCITY], scratch.nodes[data.GUESS], slower, motion.nodes[data.FLUID_VELOCITY])
    x = body_velocity(par, loads, 0.5 * h, motion)
    y = add(triple(motion.body, data.FLUID_AT_BODY), slower)
    put_triple(motion.body, data.FLUID_AT_BODY, add_scaled(x, part, sub(y, x)))
