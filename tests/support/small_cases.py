"""Small runs through all branches of the kernels; prints the final states as JSON.

Run by test_jit_modes.py in processes with the compiler switched off or with bounds checks on.
"""

from __future__ import annotations

import json

import numpy as np

import tautline as tl
from tautline import registry
from tautline.engine.chain.backend import ChainBackend
from tautline.engine.chain.ensemble import march_ensemble
from tautline.engine.runner import Runner
from tests.support import chains


def final_states() -> dict[str, list[float]]:
    results = {}
    for law, entry in registry.GUIDE_LAWS.items():
        strain = "extrapolated" if law == "dissipative" else "mean"
        for body in (tl.RigidBody.point(0.5), tl.RigidBody.box(0.5, (0.2, 0.3, 0.4), (0.1, 0.0, 0.2))):
            pendulum = chains.Chain(
                string=tl.String(length=10.0, density=0.05, stiffness=100.0, law="linear"),
                reel=tl.Reel(0.3, 0.4, 0.8, guide_law=law, guide_strain=strain),
                body=body,
            )
            for N in (1, 3):
                start = chains.straight(pendulum, 4.0, N, (1.0, 0.0, 1.0), end_velocity=(0.0, 1.0, 0.0))
                table = tl.Torque(([0.0, 0.02], [1.0, -1.0]))
                high = min(entry.highest_order, 4)
                for command, order in ((tl.Locked(), 2), (tl.Locked(), high), (tl.Free(), 2), (table, high)):
                    run = chains.simulate(pendulum, start, command, duration=0.04, sample=0.02, order=order)
                    name = f"{law} {body.shape} {N} {command} {order}"
                    parts = [run.position[-1], run.attitude[-1], run.reeled_length[-1], run.energy[-1]]
                    results[name] = np.concatenate([np.ravel(p) for p in parts]).tolist()
    return results | driven_states() | ensemble_states()


def ensemble_states() -> dict[str, list[float]]:
    """Members of a study, which march in lanes where there is a compiler."""
    results = {}
    for command in (tl.Locked(), tl.Torque(1.0), tl.Length.to(4.001, speed=1.0, acceleration=10.0, jerk=100.0)):
        simulations = []
        for stiffness in (90.0, 100.0, 110.0):
            pendulum = chains.Chain(
                string=tl.String(length=10.0, density=0.05, stiffness=stiffness, law="linear"),
                reel=tl.Reel(0.3, 0.4, 0.8, guide_law="stretched", coulomb_friction=0.1),
                body=tl.RigidBody.box(0.5, (0.2, 0.3, 0.4), (0.1, 0.0, 0.2)),
            )
            start = chains.straight(pendulum, 4.0, 3, (1.0, 0.0, 1.0), end_velocity=(0.0, 1.0, 0.0))
            simulation = Runner(ChainBackend(pendulum, start, step=1e-3))
            rows = simulation.begin(command, 0.02, 0.01)
            simulations.append(simulation)
        for i, samples in enumerate(march_ensemble(simulations, rows)):
            results[f"ensemble {command} {i}"] = np.concatenate([np.ravel(x[-1]) for x in samples]).tolist()
    return results


def driven_states() -> dict[str, list[float]]:
    """Everything that a drum can have and be told."""
    results = {}
    pendulum = chains.Chain(
        string=tl.String(length=10.0, density=0.05, stiffness=100.0, law="linear"),
        reel=tl.Reel(
            drum_radius=0.3,
            guide_length=0.4,
            inertia_mass=0.8,
            viscous_friction=0.2,
            coulomb_friction=0.1,
            max_torque=2.0,
            max_power=1.0,
            layer_growth=0.01,
        ),
        body=tl.RigidBody.box(0.5, (0.2, 0.3, 0.4), (0.1, 0.0, 0.2)),
    )
    start = chains.straight(pendulum, 4.0, 3, (1.0, 0.0, 1.0), end_velocity=(0.0, 1.0, 0.0))
    for command in (
        tl.Torque(3.0),
        tl.Brake(0.01),
        tl.Brake(5.0),
        tl.Length.to(4.001, speed=1.0, acceleration=10.0, jerk=100.0),
        tl.Speed(payout=([0.0, 0.02], [0.0, 0.3])),
        tl.Impedance(3.9, 50.0, 5.0),
    ):
        run = chains.simulate(pendulum, start, command, duration=0.04, sample=0.02, at_end="hold", minimum_length=3.995)
        parts = [run.position[-1], run.attitude[-1], run.reeled_length[-1], run.energy[-1], run.torque[-1]]
        results[f"driven {command}"] = np.concatenate([np.ravel(p) for p in parts]).tolist()
    return results


if __name__ == "__main__":
    print(json.dumps(final_states()))
