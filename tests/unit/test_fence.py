"""Without chain kernels, lanes and reverse pass everything works, slower (tests/fence.py)."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]

WITHOUT = """
from tests import fence
import sys
import numpy as np
import tautline as tl

case = tl.load("retrieval", {"run.duration": "50 ms", "run.elements": 4, "run.sample": "10 ms"})
run = tl.simulate(case)
simulation = tl.Simulation.from_case(case)
assert simulation.backend.NAME == "network"
simulation.advance(0.05, dict(case.commands), sample=0.01)
np.testing.assert_array_equal(simulation.dataset().body_position, run.body_position)
found = tl.value_and_gradient(case, tl.objectives.Final("energy"), by=["string.stiffness", "body.mass"])
assert np.isfinite(found.gradient).all()
fixed = tl.load("fixed-length", {"run.elements": 4})
growth = tl.analysis.lyapunov(fixed.system, fixed.start, tl.Locked(), 0.2, interval=0.05, step=5e-4)
assert np.isfinite(growth.attrs["exponent"])
assert tl.study("tests/data/study.toml", sys.argv[1], workers=1).sizes
try:
    tl.simulate(case, scheme="paper")
except tl.errors.InputError as error:
    assert "chain" in str(error), error
else:
    raise AssertionError("scheme 'paper' without its kernels")
assert not [name for name in fence.HIDDEN if sys.modules[name] is not None]
print("all of it")
"""


def fenced(*args: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, *args], cwd=ROOT, capture_output=True, text=True)


def test_a_run_a_gradient_and_a_study_without_accelerators(tmp_path: Path) -> None:
    found = fenced("-c", WITHOUT, str(tmp_path / "study.zarr"))
    assert found.returncode == 0 and found.stdout.startswith("all of it"), found.stderr


@pytest.mark.long
def test_the_suite_passes_behind_the_fence() -> None:
    found = fenced("-m", "pytest", "-q", "-p", "tests.fence", "-m", "not long", "tests/unit")
    assert found.returncode == 0, found.stdout[-5000:]
