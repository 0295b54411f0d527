"""Checkpoint files of Simulation.save: whole or refused, plausible or refused."""

from __future__ import annotations

import io
import json
import pickle
import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tautline as tl
from tautline.engine import checkpoints
from tautline.engine.saving import taken
from tautline.errors import InputError
from tautline.kernels import data
from tests.support import chains, damage


@pytest.fixture
def saved(tmp_path: Path) -> Path:
    pendulum = chains.Chain(
        tl.String(length=20.0, density=0.1, stiffness=500.0, law="linear"),
        tl.Reel(drum_radius=0.2, guide_length=0.5, inertia_mass=2.0),
        tl.RigidBody.sphere(mass=3.0, radius=0.1, center_of_mass=(0.0, 0.0, 0.1)),
    )
    simulation = chains.simulation(pendulum, chains.straight(pendulum, 10.0, 3), step=1e-3)
    simulation.advance(0.05, tl.Torque(6.0))
    simulation.save(tmp_path / "a.npz")
    return tmp_path / "a.npz"


def test_damage_is_refused(saved: Path) -> None:
    """Flips, cuts and zeros: refused, or without any effect on what is loaded."""
    rng = random.Random(3)
    raw = saved.read_bytes()
    whole = taken(tl.Simulation.load(saved).runner)
    refused = 0
    for _ in range(200):
        saved.write_bytes(raw)
        rng.choice((damage.flip, damage.cut, damage.zero))(saved, rng)
        try:
            motion, text = taken(tl.Simulation.load(saved).runner)
        except InputError as error:
            assert "a.npz" in str(error) and "\n" not in str(error)
            refused += 1
            continue
        assert text == whole[1]
        for name, array in motion._asdict().items():
            np.testing.assert_array_equal(array, getattr(whole[0], name))
    assert refused > 100


def infinite(saved: dict[str, Any], arrays: dict[str, Any]) -> None:
    arrays["nodes"] = np.full_like(arrays["nodes"], np.inf)


def negative_counter(saved: dict[str, Any], arrays: dict[str, Any]) -> None:
    arrays["clock"] = -np.ones_like(arrays["clock"])


def put(arrays: dict[str, Any], name: str, place: int, value: float) -> None:
    arrays[name] = arrays[name].copy()
    arrays[name][place] = value


def other_shape(saved: dict[str, Any], arrays: dict[str, Any]) -> None:
    arrays["reel"] = arrays["reel"][:3]


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda saved, arrays: saved.update(h=0.0), "positive h, got 0.0"),
        (lambda saved, arrays: saved.update(h=float("nan")), "positive h, got nan"),
        (lambda saved, arrays: saved.update(h="1"), "positive h, got '1'"),
        (lambda saved, arrays: saved.update(status="well"), "a known status, got 'well'"),
        (lambda saved, arrays: saved.update(base_steps=[[0.1, 0]]), "positive number of base steps"),
        (lambda saved, arrays: saved.update(checkpoint=0), "expected version"),
        (lambda saved, arrays: saved.pop("case"), "case"),
        (lambda saved, arrays: saved.update(event=None), "expected text for checkpoint.event"),
        (lambda saved, arrays: saved.update(origin=None), "expected a list of 2 for checkpoint.origin"),
        (lambda saved, arrays: saved.update(h=2e-3), "the step of the run"),
        (lambda saved, arrays: saved.update(base_steps=[[1.0, 10**18]]), "none for a fixed step"),
        (lambda saved, arrays: put(arrays, "clock", data.LEVEL, 62), "at most 20"),
        (lambda saved, arrays: put(arrays, "clock", data.STEP, 2**60), "at place 0"),
        (lambda saved, arrays: put(arrays, "reel", data.PENDING, 1e308), "times of steps"),
        (lambda saved, arrays: put(arrays, "reel", data.S, -3.0), "reeled length from 0 to 20"),
        (lambda saved, arrays: put(arrays, "reel", data.P_S, 1e300), "finite energy"),
        (infinite, "not finite"),
        (negative_counter, "counters from 0"),
        (other_shape, "an array of shape"),
        (lambda saved, arrays: arrays.pop("body"), "body"),
    ],
)
def test_what_cannot_be_is_refused(
    change: Callable[[dict[str, Any], dict[str, Any]], object], words: str, saved: Path
) -> None:
    """Files with a digest that fits, written by something else."""
    arrays, text = checkpoints.read(saved)
    tree = json.loads(text)
    change(tree, arrays)
    checkpoints.write(saved, arrays, json.dumps(tree))
    with pytest.raises(InputError, match=words) as caught:
        tl.Simulation.load(saved)
    assert "a.npz" in str(caught.value)


@pytest.mark.parametrize("name", ["retrieval", "cable-robot"])
def test_numbers_of_steps_that_would_run_for_ever(name: str, tmp_path: Path) -> None:
    case: Any = tl.load(name, {"run.step": "auto"})
    simulation = tl.Simulation.from_case(case)
    simulation.advance(0.02, case.commands, sample=0.01)
    path = tmp_path / "a.npz"
    simulation.save(path)
    assert tl.Simulation.load(path).time == simulation.time
    arrays, text = checkpoints.read(path)
    tree = json.loads(text)
    for count, words in ((10**18, "expected"), (10**12, "fewer for a sample interval"), (True, "a whole number")):
        tree["base_steps"] = [[0.01, count]]
        tree["h"] = 0.01 / count
        checkpoints.write(path, arrays, json.dumps(tree))
        with pytest.raises(InputError, match=r"a\.npz") as caught:
            tl.Simulation.load(path)
        assert words in str(caught.value) or "times of steps" in str(caught.value)


def test_an_archive_that_unpacks_to_more_than_its_file_is_refused(saved: Path) -> None:
    np.savez_compressed(saved, x=np.zeros(10**6))
    with pytest.raises(InputError, match="8000128 bytes in a smaller file"):
        tl.Simulation.load(saved)


def test_a_file_without_a_digest_is_refused(saved: Path) -> None:
    arrays, text = checkpoints.read(saved)
    content: dict[str, Any] = {"checkpoint": np.frombuffer(text.encode(), dtype=np.uint8), **arrays}
    np.savez(saved, **content)
    with pytest.raises(InputError, match="digest"):
        tl.Simulation.load(saved)


class Executed:
    """Unpickling this would run code."""

    def __reduce__(self) -> tuple[Callable[..., Any], tuple[Any, ...]]:
        return (pytest.fail, ("a pickle was loaded",))


def archive(**parts: Any) -> bytes:
    file = io.BytesIO()
    np.savez(file, **parts)
    return file.getvalue()


FOREIGN: dict[str, Callable[[bytes], bytes]] = {
    "text": lambda good: b"precious",
    "empty": lambda good: b"",
    "cut": lambda good: good[:-40],
    "pickle": lambda good: pickle.dumps(Executed()),
    "other arrays": lambda good: archive(x=np.arange(3)),
    "objects": lambda good: archive(nodes=np.array([Executed()], dtype=object)),
    "no JSON": lambda good: archive(**(contents(good) | {"checkpoint": np.frombuffer(b"{", dtype=np.uint8)})),
    "other JSON": lambda good: archive(**(contents(good) | {"checkpoint": np.frombuffer(b"[1]", dtype=np.uint8)})),
}


def contents(raw: bytes) -> dict[str, Any]:
    with np.load(io.BytesIO(raw)) as arrays:
        return {name: arrays[name] for name in arrays.files}


@pytest.mark.parametrize("kind", FOREIGN)
def test_files_that_hold_no_checkpoint(kind: str, saved: Path, tmp_path: Path) -> None:
    """One sentence with the name of the file, of either backend."""
    case = tl.load("cable-robot")
    network, path = tmp_path / "good.npz", tmp_path / "foreign.npz"
    tl.Simulation(case.system, case.start).save(network)
    for own in (saved, network):
        path.write_bytes(FOREIGN[kind](own.read_bytes()))
        with pytest.raises(InputError, match="path: expected a checkpoint") as refused:
            tl.Simulation.load(path)
        assert path.name in str(refused.value) and "\n" not in str(refused.value)
    with pytest.raises(FileNotFoundError):
        tl.Simulation.load(tmp_path / "none.npz")
    with pytest.raises(InputError, match="expected a checkpoint"):
        tl.Simulation.load(tmp_path)


@pytest.mark.parametrize("name", ["fixed-length", "cable-robot"])
def test_a_simulation_that_has_not_begun_is_saved_and_goes_on(name: str, tmp_path: Path) -> None:
    case = tl.load(name, {"run.step": "auto"})
    simulation = tl.Simulation(case.system, case.start)
    simulation.save(tmp_path / "begun.npz")
    other = tl.Simulation.load(tmp_path / "begun.npz")
    for each in (simulation, other):
        each.advance(0.01)
    np.testing.assert_array_equal(simulation.dataset().position[-1], other.dataset().position[-1])


def test_ropes_over_sheaves_are_saved_while_they_slip_and_go_on(tmp_path: Path) -> None:
    """Whether a rope sticks, how far it slipped, and what stages remember: the same bits follow."""
    case = tl.load("traction-lift")
    simulation = tl.Simulation.from_case(case)
    simulation.advance(4.3, case.commands, sample=0.05)
    assert abs(float((simulation.dataset().rim_speed - simulation.dataset().passing_speed)[-1, 0])) > 0.1
    simulation.save(tmp_path / "slips.npz")
    other = tl.Simulation.load(tmp_path / "slips.npz")
    for each in (simulation, other):
        assert each.advance(0.5, sample=0.05) == "completed"
    since = simulation.dataset().isel(time=slice(-other.dataset().sizes["time"], None))
    for name, values in since.variables.items():
        np.testing.assert_array_equal(values, other.dataset()[name], err_msg=str(name))
    assert simulation.runner.warnings() == other.runner.warnings()
