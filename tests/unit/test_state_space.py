"""Linear models and step functions of plain arrays, against closed forms, runs and python-control."""

from __future__ import annotations

import control
import numpy as np
import pytest

import tautline as tl
from tautline.errors import InputError

DT = 0.02


def hoist(viscosity: float = 20.0) -> tl.Case:
    string = tl.String(10.0, 0.1, 2e3, viscosity=viscosity, law="linear")
    system = tl.pendulum(string, tl.Reel(0.1, 0.1, 5.0, guide_law="none"), tl.RigidBody.point(5.0), elements=2)
    torque = tl.statics(system, tl.Hanging(4.0)).lines["line"].holding_torque
    return tl.Case(system, tl.Hanging(4.0), tl.Torque(torque), tl.Run(duration=DT, step=1e-3, sample=DT))


OUTPUTS = ["unstretched_length", "reel_speed", "torque", "body_position[2]"]


def test_outputs_of_a_linear_model() -> None:
    """Length and speed are coordinates, the torque is the input, the place of a point mass is one too."""
    linear = tl.gradients.linearize(hoist(), by=["command.torque"])
    model = linear.to_ss(OUTPUTS)
    assert model.dt == DT and model.input_labels == ["command_torque"] and model.output_labels == OUTPUTS
    names = linear.names
    C = np.zeros((4, len(names)))
    C[0, names.index("reeled_length of line")] = -1.0
    C[1, names.index("reel_speed of line")] = 1.0
    C[3, names.index("position of body z")] = 1.0
    # differences of linear functions: rounding over the distance, 1e-16/1e-4 of meters
    np.testing.assert_allclose(model.C, C, atol=1e-9)
    np.testing.assert_allclose(model.D, [[0.0], [0.0], [1.0], [0.0]], atol=1e-8)
    np.testing.assert_array_equal(model.A, linear.A[0])


def test_a_linear_model_predicts_small_changes() -> None:
    case = hoist()
    step = tl.gradients.StepFunction(case, ["command.torque"], DT, OUTPUTS)
    model = tl.gradients.linearize(case, by=["command.torque"]).to_ss(OUTPUTS)
    errors = []
    for size in (0.25, 0.5, 1.0):
        inputs = size * np.sin(np.arange(12.0))
        x, still, found = step.x0, step.x0, []
        for u in inputs:
            found.append(step.observe(x, step.u0 + u) - step.observe(still))
            x, still = step(x, step.u0 + u), step(still)
        expected = control.forced_response(model, np.arange(12) * DT, inputs).outputs
        errors.append(np.abs(np.array(found).T - expected)[[0, 1, 3]].max())
    orders = np.diff(np.log2(errors))
    np.testing.assert_allclose(orders, 2.0, atol=0.3)  # what a linear model leaves out


def test_a_step_function_is_the_run() -> None:
    """Ten calls under changing torques, against `Simulation`; and python-control's own loop over the same function."""
    case = hoist(viscosity=0.0)
    step = tl.gradients.StepFunction(case, ["command.torque"], DT, ["unstretched_length", "start_tension"])
    torques = step.u0[0] + np.linspace(-1.0, 1.0, 10)
    simulation, x = tl.Simulation(case.system, case.start, step=1e-3), step.x0
    for torque in torques:
        simulation.advance(DT, float(torque))
        x = step(x, [torque])
    length, tension = step.observe(x, [torques[-1]])
    # a state is written as positions and velocities and read back at every call
    assert length == pytest.approx(simulation.line.deployed, rel=1e-9)
    assert tension == pytest.approx(simulation.line.start_tension, rel=1e-6)
    times = np.arange(10) * DT
    found = control.input_output_response(step.nlsys(), times, torques[None], step.x0)
    assert found.outputs.shape == (2, 10) and found.outputs[0, 0] == pytest.approx(4.0)


@pytest.mark.parametrize(("name", "body", "count"), (("hook-and-load", "load", 1), ("hook-block-2", "block", 4)))
def test_models_of_cranes_are_their_runs(name: str, body: str, count: int) -> None:
    """Two bodies below a jib that heaves, where calls start at time 0, and a rope over a sheave."""
    plain = tl.load(name, {"run.duration": DT, "run.sample": DT, "run.step": 2e-4, "lines.hoist.elements": 2})
    torque = float(tl.statics(plain.system, plain.start).lines["hoist"].holding_torque or 0.0)
    case, key = plain.with_({}, commands={"hoist": tl.Torque(torque)}), "lines.hoist.command.torque"
    outputs = [f"body_position[{body}].z", "unstretched_length[hoist]"]
    step = tl.gradients.StepFunction(case, [key], DT, outputs)
    torques, x = torque * (1.0 + 0.05 * np.arange(1.0, count + 1.0)), step.x0
    simulation = tl.Simulation.from_case(case)
    for given in torques:
        simulation.advance(DT, {"hoist": tl.Torque(float(given))})
        x = step(x, [given])
    expected = [simulation.bodies[body].position[2], simulation.lines["hoist"].deployed]
    np.testing.assert_allclose(step.observe(x, [torques[-1]]), expected, rtol=1e-9)  # as for the hoist above
    model = tl.gradients.linearize(case, by=[key]).to_ss(outputs)
    change = 1e-5 * torque
    found = step.observe(step(step.x0, [torque + change])) - step.observe(step(step.x0, [torque]))
    # the loss in the guide bends where the reel is as fast as its smoothing speed, a hundred times what comes of this
    np.testing.assert_allclose((model.C @ model.B)[:, 0] * change, found, rtol=5e-3, atol=1e-13)


def test_refusals() -> None:
    linear = tl.gradients.linearize(hoist(), by=["command.torque"])
    with pytest.raises(InputError, match="objective: expected a variable of a run, got 'lenght'"):
        linear.to_ss(["lenght"])
    with pytest.raises(InputError, match="interval: expected 0 to 0, got 1"):
        linear.to_ss(["reel_speed"], interval=1)
