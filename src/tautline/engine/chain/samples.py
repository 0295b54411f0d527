"""Samples that the kernels wrote, as variables by name."""

from __future__ import annotations

from tautline import ledger
from tautline.arrays import Array
from tautline.kernels import data
from tautline.results.values import Values


def recorded_values(time: Array, samples: data.Samples) -> Values:
    """Samples of the kernels as `values_of` takes them; of many members these are the last dimension of all arrays."""
    x = samples.scalars
    return {
        "time": time,
        "reeled_length": x[:, data.REELED_LENGTH],
        "reel_speed": x[:, data.REEL_SPEED],
        "nodes": samples.nodes[:, 0],
        "node_velocities": samples.nodes[:, 1],
        "attitude": x[:, data.ROTATION : data.ROTATION + 9].reshape(len(x), 3, 3, *x.shape[2:]),
        "angular_velocity": x[:, data.ANGULAR_VELOCITY : data.ANGULAR_VELOCITY + 3],
        **{account.name: x[:, k] for k, account in enumerate(ledger.ACCOUNTS)},
        "rotational_energy": x[:, data.ROTATIONAL],
        "torque": x[:, data.DRUM_TORQUE],
        "angular_momentum": x[:, data.ANGULAR_MOMENTUM],
        "orthogonality_error": x[:, data.ORTHOGONALITY],
        "guide_displacement": x[:, data.GUIDE_PLACE : data.GUIDE_PLACE + 3],
        "guide_velocity": x[:, data.GUIDE_VELOCITY : data.GUIDE_VELOCITY + 3],
    }
