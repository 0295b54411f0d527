"""Ctrl-C: heard within a sample, and a simulation goes on afterwards as if nothing had been."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path
from types import FrameType
from typing import Any

import numpy as np
import pytest

import tautline as tl
from tautline.kernels.machine.choice import engine
from tautline.kernels.machine.pulse import Pulse
from tests.support import chains
from tests.support.interrupting import interrupted

# Until a process has ended (s); alone on a machine it takes 0.1 to 0.5.
PATIENCE = 5.0

pytestmark = pytest.mark.skipif(engine().name == "python", reason="Python handles signals as it interprets kernels")


def bits(run: Any) -> list[bytes]:
    return [np.asarray(run[name]).tobytes() for name in sorted(run.data_vars)]


@pytest.mark.parametrize("step", ["auto", 1e-6])
@pytest.mark.parametrize("name", ["crane-hoist", "fixed-length", "hook-and-load"])
def test_a_march_stops_in_the_middle_of_a_sample(name: str, step: Any) -> None:
    """The motion is at the latest sample, and goes on with the bits of a run that was not stopped."""
    case: Any = tl.load(name, {"run.step": step})
    # for ever, with a reel that moves
    command = {"fixed-length": tl.Locked(), "crane-hoist": tl.Speed(payout=1e-9), "hook-and-load": None}[name]
    simulation, other = tl.Simulation.from_case(case), tl.Simulation.from_case(case)
    for each in (simulation, other):
        each.advance(2e-3, command, sample=1e-3)
    sample = 5e3 if name == "fixed-length" else 1e3  # some seconds of work, which "auto" can still divide
    assert interrupted(lambda: simulation.advance(2.0 * sample, sample=sample), 0.3) < PATIENCE
    assert simulation.time == pytest.approx(2e-3, rel=1e-12)
    if step == "auto":
        other.runner.sampling(sample)  # the base step of such a sample
    for each in (simulation, other):
        each.advance(2e-3, sample=1e-3)
    assert bits(simulation.dataset()) == bits(other.dataset())


def test_a_long_march_is_stopped_after_many_short_ones() -> None:
    """Each of them ends long before it is asked a second time."""
    simulation = tl.Simulation.from_case(tl.load("fixed-length", {"run.step": 1e-6}))
    for _ in range(200):
        simulation.advance(1e-4, tl.Locked(), record=False)
    assert interrupted(lambda: simulation.advance(1000.0), 0.3) < PATIENCE


def test_samples_that_are_complete_are_kept() -> None:
    simulation, other = (tl.Simulation.from_case(tl.load("retrieval", {"run.step": 1e-6})) for _ in range(2))
    command = tl.Torque(1.2)
    simulation.advance(1e-3, command)
    other.advance(1e-3, command)
    interrupted(lambda: simulation.advance(1.0, sample=1e-3), 0.1)
    rows = len(simulation.dataset().time) - 2
    assert 0 <= rows < 1000
    if rows:
        other.advance(rows * 1e-3, sample=1e-3)
    assert bits(simulation.dataset()) == bits(other.dataset())


def test_an_interrupt_at_any_line_of_an_answer_is_kept() -> None:
    """Python handles signals at jumps back too; one that were raised outside `try` would be lost, and all after it."""
    pulses, lines, passed, is_raised, before = [], 0, 0, True, sys.gettrace()

    def trace(frame: FrameType, event: str, argument: Any) -> Any:
        nonlocal passed, is_raised
        if frame.f_code is not Pulse._answers.__code__:
            return None
        passed += event == "line"
        if event == "line" and passed > lines:
            is_raised = True
            raise KeyboardInterrupt
        return trace

    while is_raised:
        pulses.append(pulse := Pulse())  # all are kept: the end of one would be traced
        passed, is_raised = 0, False
        sys.settrace(trace)
        try:
            steps = pulse._function()
        finally:
            sys.settrace(before)
        assert (steps == 0) == is_raised == isinstance(pulse._error, KeyboardInterrupt), lines
        assert pulse._function() > 0
        lines += 1
    assert lines > 5


def test_a_force_law_in_python_is_stopped() -> None:
    law = tl.ForceLaw(lambda t, state, parameters, force, moment: None)
    simulation = tl.Simulation.from_case(tl.load("fixed-length"), loads=[law])
    assert interrupted(lambda: simulation.advance(1000.0, sample=1000.0), 0.5) < PATIENCE
    assert simulation.time == 0.0 and np.isfinite(simulation.energy)


def test_gradients_are_stopped() -> None:
    case = tl.load("retrieval", {"run.duration": 8.0, "run.sample": 8.0, "run.step": 1e-6})
    assert interrupted(lambda: tl.jacobian(case, ["energy"], ["string.stiffness"]), 1.0) < PATIENCE


def test_a_handler_of_the_user_is_called_and_the_march_goes_on() -> None:
    """Signals that raise nothing change nothing."""
    heard: list[int] = []
    case = tl.load("retrieval", {"run.duration": 2.0, "run.sample": 2.0, "run.step": 1e-5})
    before = signal.signal(signal.SIGINT, lambda number, frame: heard.append(number))
    try:
        threading.Timer(0.1, os.kill, (os.getpid(), signal.SIGINT)).start()
        run = chains.simulate(case)
        while not heard:
            time.sleep(0.01)
    finally:
        signal.signal(signal.SIGINT, before)
    assert heard == [signal.SIGINT] and bits(run) == bits(chains.simulate(case))


LONG_RUN = ["run", "retrieval", "--set", 'run.step="1 us"', "--set", 'run.sample="10 s"', "--set", "run.elements=100"]
PROCESSES = {
    "command": [sys.executable, "-m", "tautline", *LONG_RUN],
    "python": [
        sys.executable,
        "-c",
        # a short run first: imports of other packages may swallow an interrupt
        "import tautline as tl\ncase = tl.load('hook-and-load')\ntl.simulate(case, duration=1.0)\n"
        "print('begun', flush=True)\ntl.simulate(case, duration=300.0)",
    ],
}


@pytest.mark.parametrize("name", PROCESSES)
def test_a_process_ends_soon(name: str, tmp_path: Path) -> None:
    home = {**os.environ, "PYTHONPATH": str(Path(str(tl.__file__)).parents[1])}
    process = subprocess.Popen(
        PROCESSES[name], cwd=tmp_path, env=home, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    )
    assert process.stdout is not None
    if name == "python":
        assert process.stdout.readline() == "begun\n"
    else:
        while not (tmp_path / "retrieval.nc").exists():
            assert process.poll() is None
            time.sleep(0.05)
    time.sleep(1.0)
    process.send_signal(signal.SIGINT)
    begun = time.perf_counter()
    try:
        said, _ = process.communicate(timeout=60.0)
    finally:
        process.kill()
    assert time.perf_counter() - begun < PATIENCE
    if name == "command":
        assert process.returncode == 130 and "tautline resume" in said
        assert len(tl.open_run(tmp_path / "retrieval.nc").time) == 1
    else:
        assert process.returncode != 0 and "KeyboardInterrupt" in said
