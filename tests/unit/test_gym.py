"""Environments of Gymnasium: its own checker, the same motion as `simulate`, lanes beside single ones, refusals."""

from __future__ import annotations

import itertools
import warnings
from typing import Any

import gymnasium
import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env

import tautline as tl
import tautline.gym
from tautline.errors import InputError
from tautline.gym.ready import READY, make_vec

# Observations are computed from the same bits, in lanes by sums in another order.
ROUNDING = 1e-9


def retrieval(**others: Any) -> dict[str, Any]:
    return {**READY["Retrieval-v0"](), **others}


@pytest.mark.parametrize("name", READY)
def test_gymnasium_finds_nothing_to_warn_of(name: str) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        environment = gymnasium.make(name)
        check_env(environment.unwrapped)


def rolled_out(environment: Any) -> tuple[Any, float]:
    """Last observation of an episode with actions of 0, and the sum of its rewards."""
    seen, total, over = environment.reset(seed=0)[0], 0.0, False
    while not over:
        seen, reward, ended, over, _ = environment.step([0.0])
        total += reward
        assert not ended
    return seen, total


def test_an_episode_is_the_run_of_the_case() -> None:
    """With the middle of the range for the torque, against `simulate`; the return of an integral is the integral."""
    case = tl.load("retrieval", {"run.duration": "0.2 s", "run.step": "0.5 ms", "command.torque": "1.5 N*m"})
    environment = tautline.gym.CaseEnv(
        case,
        {"command.torque": (0.0, 3.0)},
        {"unstretched_length": (0.0, 100.0), "body_position[2]": (-100.0, 100.0), "time": (0.0, 1.0)},
        -1.0 * tl.objectives.Integral("power"),
        interval=0.02,
    )
    seen, total = rolled_out(environment)
    run = tl.simulate(case)
    expected = [run.unstretched_length[-1, 0], run.body_position[-1, 0, 2], 0.2]
    np.testing.assert_allclose(seen, np.ravel(expected).astype(float), rtol=ROUNDING)
    every = run.isel(time=slice(None, None, 2))
    np.testing.assert_allclose(total, -np.trapezoid(every.power.values[:, 0], every.time.values), rtol=ROUNDING)


def test_an_environment_of_a_reeved_crane_is_the_run_of_its_case() -> None:
    """With the middle of the range for the torque, a little above what holds the block on two falls."""
    plain = tl.load("hook-block-2", {"run.duration": 0.2, "run.sample": 0.02, "run.step": 5e-4})
    torque = 1.1 * float(tl.statics(plain.system, plain.start).lines["hoist"].holding_torque or 0.0)
    case = plain.with_({}, commands={"hoist": tl.Torque(torque)})
    observations = dict.fromkeys(
        ("body_position[block].z", "passed", "span_end_tension[1]"), (-1000000000.0, 1000000000.0)
    )
    environment = tautline.gym.CaseEnv(
        case,
        {"lines.hoist.command.torque": (0.0, 2.0 * torque)},
        observations,
        -1.0 * tl.objectives.Integral("power[hoist]"),
    )
    seen, total = rolled_out(environment)
    run = tl.simulate(case)
    expected = [run.body_position[-1, 0, 2], run.passed[-1, 0], run.span_end_tension[-1, 1]]
    np.testing.assert_allclose(seen, np.ravel(expected).astype(float), rtol=ROUNDING)
    np.testing.assert_allclose(total, -np.trapezoid(run.power.values[:, 0], run.time.values), rtol=ROUNDING)


def test_lanes_move_as_single_environments_do() -> None:
    """Eleven, more than one block; episodes that are over begin anew with the next step, as Gymnasium's own vectors."""
    arguments = retrieval(case=retrieval()["case"].with_run(duration=0.1), randomize={"string.stiffness": (35.0, 45.0)})
    lanes = make_vec(11, **arguments)
    assert isinstance(lanes, tautline.gym.LaneVectorEnv)
    single = gymnasium.vector.SyncVectorEnv([lambda: tautline.gym.CaseEnv(**arguments)] * 11)
    rng = np.random.default_rng(1)
    np.testing.assert_allclose(lanes.reset(seed=4)[0], single.reset(seed=4)[0], rtol=ROUNDING, atol=ROUNDING)
    for _ in range(45):  # two episodes of 20 steps
        actions = rng.uniform(-1.0, 1.0, (11, 1))
        ours, theirs = lanes.step(actions)[:4], single.step(actions)[:4]
        for one, other in zip(ours, theirs, strict=True):
            np.testing.assert_allclose(one, other, rtol=ROUNDING, atol=ROUNDING)


def test_a_motion_that_ends_leaves_its_lane() -> None:
    """One of nine is retrieved until nothing is left; the others go on."""
    arguments = retrieval(actions={"command.torque": (-1.0, 400.0)}, observations={"unstretched_length": (0.0, 110.0)})
    arguments["reward"] = lambda before, after: 0.0 * after["unstretched_length"]
    lanes, single = make_vec(9, **arguments), tautline.gym.CaseEnv(**arguments)
    assert isinstance(lanes, tautline.gym.LaneVectorEnv)
    lanes.reset(seed=0)
    single.reset(seed=0)
    actions = np.full((9, 1), -0.99)
    actions[4] = 1.0
    for count in itertools.count():
        _, rewards, ended, _, info = lanes.step(actions)
        _, reward, alone, _, _ = single.step(actions[4])
        assert ended[4] == alone and not np.delete(ended, 4).any() and rewards[4] == reward
        if alone:
            break
        assert count < 2000
    assert info["status"][4] == single.simulation.status != "completed" and reward == -20.0
    seen, rewards, ended, _, _ = lanes.step(actions)
    assert seen[4, 0] == 10.0 and rewards[4] == 0.0 and not ended.any(), "it begins anew"


def test_what_lanes_cannot_do_is_done_one_by_one() -> None:
    vector = gymnasium.make_vec("HookAndLoad-v0", num_envs=2)
    assert isinstance(vector, gymnasium.vector.SyncVectorEnv)
    vector.reset(seed=0)
    assert vector.step(np.zeros((2, 1)))[0].shape[0] == 2
    with pytest.raises(InputError, match="LaneVectorEnv: only the torque of one reel"):
        tautline.gym.LaneVectorEnv(2, **READY["HookAndLoad-v0"]())


def test_randomized_numbers_are_those_of_the_seed() -> None:
    environment = tautline.gym.CaseEnv(
        **retrieval(randomize={"body.mass": (0.05, 0.2), "string.stiffness": (30.0, 50.0)})
    )
    one, again = environment.reset(seed=5)[1], environment.reset(seed=5)[1]
    other = environment.reset()[1]
    assert one == again != other and 0.05 < one["body.mass"] < 0.2
    assert environment.simulation.system.bodies["body"].mass == other["body.mass"]


def test_pictures_and_the_page_of_an_episode(tmp_path: Any) -> None:
    environment = gymnasium.make("Retrieval-v0", render_mode="rgb_array")
    environment.reset(seed=0)
    for _ in range(3):
        environment.step(environment.action_space.sample())
    picture: Any = environment.render()
    assert picture.dtype == np.uint8 and picture.shape == (400, 400, 3) and picture.std() > 3.0
    environment.unwrapped.view().save(tmp_path / "episode.html")  # type: ignore[attr-defined]
    assert (tmp_path / "episode.html").stat().st_size > 100_000


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        ({"actions": {}}, "actions: expected at least one key of a command"),
        ({"actions": {"body.mass": (0, 1)}}, "actions: expected keys of commands such as 'command.torque'"),
        ({"actions": {"command.torques[0]": (0, 1)}}, "actions: expected a single number of the command (torque)"),
        (
            {"actions": {"command.torque": (1, 0)}},
            "actions['command.torque']: expected two limits, the lower one first",
        ),
        ({"observations": {"tenson": (0, 1)}}, "observations: expected a variable of a run, got 'tenson'"),
        ({"observations": {"rate(torque)": (0, 1)}}, "observations: expected variables of one moment"),
        ({"observations": {"body_position": (0, 1)}}, "observations: expected one number at each time"),
        ({"reward": 3}, "reward: expected an objective"),
        ({"reward": tl.objectives.Final}, "reward: expected an objective"),
        (
            {"reward": 1.0 - tl.objectives.Peak("abs(rate(rate(end_tension)))")},
            "reward: expected rates of variables over a step, got a rate of a rate",
        ),
        ({"reward": -tl.objectives.Final("position[99, 0]")}, "objective: expected node -21 to 20, got 99"),
        (
            {"reward": 2.0 * tl.objectives.Integral("power") - tl.objectives.Final("position")},
            "objective: expected one number at each time",
        ),
        ({"interval": 0.0031}, "run.duration: expected a multiple"),
        ({"randomize": {"body.mas": (0, 1)}}, "body.mas: no such key"),
        ({"render_mode": "human"}, "render_mode: expected 'rgb_array'"),
    ],
)
def test_refusals(change: dict[str, Any], expected: str) -> None:
    with pytest.raises(InputError) as caught:
        tautline.gym.CaseEnv(**retrieval(**change))
    assert str(caught.value).startswith(expected), caught.value
    with pytest.raises(InputError, match=r"step: call reset\(\) first"):
        tautline.gym.CaseEnv(**retrieval()).step([0.0])
    environment = tautline.gym.CaseEnv(**retrieval(reward=lambda before, after: None))
    environment.reset()
    with pytest.raises(InputError, match=r"^reward: expected a function that gives a number, got None"):
        environment.step([0.0])
