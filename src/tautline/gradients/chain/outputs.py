"""Variables of results with their derivatives, from samples of a chain and theirs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from tautline.arrays import Array
from tautline.engine.chain.samples import recorded_values
from tautline.gradients.outputs import DualValues, dual_loads, dual_reel, dual_string
from tautline.kernels import data
from tautline.kernels.network import data as network
from tautline.model.chain.chain import Chain
from tautline.model.description import changed
from tautline.model.system.system import System
from tautline.results.chain import Inertia, needed_for, system_values
from tautline.results.values import values_of

ATTITUDE = slice(data.ROTATION, data.ROTATION + 9)
OMEGA = slice(data.ANGULAR_VELOCITY, data.ANGULAR_VELOCITY + 3)
GUIDE = slice(data.GUIDE_PLACE, data.GUIDE_PLACE + 3)
GUIDE_VELOCITY = slice(data.GUIDE_VELOCITY, data.GUIDE_VELOCITY + 3)


def dual_values(
    system: System, chain: Chain, setting: Any, counts: Array, samples: Any, names: Sequence[str]
) -> DualValues:
    """Variables of a system by name, and the time.

    Parameters
    ----------
    system : System
        Whose results they are.
    chain : Chain
        That it is.
    setting : Setting
        Carries derivatives, as at the start.
    counts : array
        Steps made before each sample.
    samples : Samples
        Carry derivatives.
    names : sequence of str
        The wanted variables.
    """
    times = setting.motion.reel[data.T_START] + counts * setting.plan.h
    recorded = recorded_values(times, samples)
    loads = dual_loads(chain.fluid, setting.par.mu_g, setting.loads)
    string, reel = dual_string(chain.string, setting.par), dual_reel(chain.reel, setting.par)
    own: Any = values_of(changed(chain, string=string, reel=reel), recorded, needed_for(names), loads=loads)
    found: Any = system_values(system, own, names, _inertia(setting))
    return DualValues({name: found[name] for name in ("time", *names)})


def _inertia(setting: Any) -> Inertia:
    """Inertia of a setting, as arrays."""
    density, mass, center, inertia = setting.inertia
    return Inertia(density, mass, np.stack(center), np.stack([np.stack(row) for row in inertia]))


def network_samples(system: System, setting: Any, samples: Any) -> network.WholeSamples:
    """Samples of a chain as those of a network: places and motions alone, and of its reel length and speed."""
    line, x = next(iter(system.lines.values())), samples.scalars
    place, velocity = np.stack(setting.par.r_p) + x[:, GUIDE], x[:, GUIDE_VELOCITY]
    nodes = np.concatenate([samples.nodes[:, 0] + place[:, None], samples.nodes[:, 1] + velocity[:, None]], axis=2)
    R, omega, c = x[:, ATTITUDE].reshape(-1, 3, 3), x[:, OMEGA], _inertia(setting).center
    arm = R @ c
    swing = np.stack([omega[:, i] * c[j] - omega[:, j] * c[i] for i, j in ((1, 2), (2, 0), (0, 1))], axis=1)
    moving = nodes[:, -1, 3:] + (R * swing[:, None, :]).sum(axis=-1)
    none = np.zeros((len(x), 3))
    own = {network.BODY_PLACE: nodes[:, -1, :3] + arm, network.BODY_VELOCITY: moving, network.BODY_OMEGA: omega}
    own |= {network.BODY_ATTITUDE: x[:, ATTITUDE], network.BODY_GIVEN: none}
    carrier = {network.BODY_PLACE: place - np.array(line.start_point), network.BODY_VELOCITY: velocity}
    upright = np.broadcast_to(np.eye(3).ravel(), (len(x), 9))
    carrier |= {network.BODY_OMEGA: none, network.BODY_ATTITUDE: upright, network.BODY_GIVEN: none}
    rows = [own if name == line.end else carrier for name in system.bodies]
    bodies = [np.concatenate([row[column] for column in sorted(row)], axis=1) for row in rows]
    reel = x[:, [data.REELED_LENGTH, data.REEL_SPEED]]
    strands = np.concatenate([np.zeros((len(x), network.REELED)), reel, none[:, :1], reel[:, :1]], axis=1)
    return network.WholeSamples(np.zeros((len(x), 0)), np.stack(bodies, axis=1), strands[:, None], nodes)
