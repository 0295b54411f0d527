"""Load `force_law`: forces of the user's own functions (docs/theory.md, equation 81).

The kernel calls a C function by its address, so that nothing is compiled anew for a law, whatever it was written in:

    void law(double t, int64 nodes, double *position, double *velocity, double *state,
             double *parameters, int64 count, double *force, double *result)

`position`, `velocity` and `force` hold all first components, then all second ones, then all third ones; inertial
frame. The velocity is that of the material at a node, which runs through the mesh while the reel turns, so that force
times velocity is the power. `state` is the attitude (9, by rows), the angular velocity (3, body frame), the deployed
length and the reel speed; `result` takes the moment on the body about its attachment point (3, inertial frame) and a 1
behind it that says that the law came to its end.
"""

from __future__ import annotations

import ctypes
import math
from typing import NamedTuple

from tautline.kernels import data
from tautline.kernels.data import Array, Counters, Motion, Parameters, Scratch, add_to_node, clear_nodes, node, put_node
from tautline.kernels.energy import element_length
from tautline.kernels.jit import kernel
from tautline.kernels.loads.acting import Instant, Push, node_flow, shares_at
from tautline.kernels.so3 import add, add_scaled, apply_transposed, dot

_NUMBERS = ctypes.POINTER(ctypes.c_double)
# The C function above, for ctypes.
LAW = ctypes.CFUNCTYPE(
    None,
    ctypes.c_double,
    ctypes.c_int64,
    _NUMBERS,
    _NUMBERS,
    _NUMBERS,
    _NUMBERS,
    ctypes.c_int64,
    _NUMBERS,
    _NUMBERS,
)
STATE_SIZE, RESULT_SIZE = 14, 4
Result = tuple[float, float, float, float]


class ForceLaws(NamedTuple):
    """All laws of a run."""

    acts: bool
    addresses: Counters
    parameters: Array  # of all laws, one after the other
    ends: Counters  # where those of each law end
    failed: Array  # time at which a law did not come to its end; NaN if none did so
    rate: float  # bound on how fast they slow any small motion (1/s)


def call_law(
    address: int, t: float, position: Array, velocity: Array, state: tuple[float, ...], parameters: Array, out: Array
) -> Result:
    """Moment on the body, and 1 if the law came to its end; forces on the nodes into `out`."""
    result = (ctypes.c_double * RESULT_SIZE)()
    arrays = [x.ctypes.data_as(_NUMBERS) for x in (position, velocity, parameters, out)]
    nodes = len(position) // 3
    numbers = (ctypes.c_double * STATE_SIZE)(*state)
    LAW(int(address))(t, nodes, arrays[0], arrays[1], numbers, arrays[2], len(parameters), arrays[3], result)
    return result[0], result[1], result[2], result[3]


@kernel
def act(par: Parameters, own: ForceLaws, at: Instant, motion: Motion, v: Array, scratch: Scratch, out: Array) -> Push:
    """Sum over the laws. A law that fails gives no number, which ends the run."""
    q = motion.nodes[data.POSITION]
    l = element_length(par, motion.reel[data.S])
    places = 3 * (par.N + 1)  # laws are given nodes without filling
    position = scratch.nodes[data.RIGHT][:places]
    velocity = scratch.nodes[data.BORDER][:places]
    force = scratch.nodes[data.IMPULSE][:places]
    for i in range(par.N + 1):
        put_node(position, i, add(at.place, node(q, i)))
        near, far = shares_at(par, i)
        passing = near * at.speeds[0]
        if len(at.speeds) > 1:
            passing += far * at.speeds[len(at.speeds) - 1]
        material = add_scaled(node(v, i), passing, node_flow(par, l, q, i))
        put_node(velocity, i, add(at.frame, material))
    deployed = par.L - motion.reel[data.S]
    state = (*at.R[0], *at.R[1], *at.R[2], *at.rates.omega, deployed, at.speeds[0])
    moment = (0.0, 0.0, 0.0)
    first = 0
    for k in range(len(own.addresses)):
        clear_nodes(force)
        parameters = own.parameters[first : own.ends[k]]
        x, y, z, done = call_law(own.addresses[k], at.t, position, velocity, state, parameters, force)
        if done != 1.0:
            own.failed[k] = at.t
            x = math.nan
        moment = add(moment, (x, y, z))
        finite = math.isfinite(x + y + z)
        for i in range(par.N + 1):
            add_to_node(out, i, node(force, i))
        if not finite:  # also where what is at the end cannot turn
            add_to_node(out, par.N, (math.nan, math.nan, math.nan))
        first = own.ends[k]
    on_reel, on_far = 0.0, 0.0
    for i in range(par.N + 1):
        near, far = shares_at(par, i)
        along = dot(node(out, i), node_flow(par, l, q, i))
        on_reel += near * along
        if len(at.speeds) > 1:
            on_far += far * along
    return Push(on_reel, on_far, apply_transposed(at.R, moment))


@kernel
def rate(own: ForceLaws) -> float:
    """Bound that the user gives with the laws."""
    return own.rate
