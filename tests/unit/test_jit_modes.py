"""The kernels without compiler, and with bounds checks: the same results, and no access out of bounds."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from tests.support.small_cases import final_states

ROOT = Path(__file__).parents[2]


@pytest.mark.parametrize(
    "asked",
    [
        pytest.param({"TAUTLINE_ENGINE": "python"}, marks=pytest.mark.long),
        pytest.param({"TAUTLINE_ENGINE": "compiled"}, marks=pytest.mark.long),  # compiles everything
        pytest.param({"TAUTLINE_ENGINE": "compiled", "NUMBA_BOUNDSCHECK": "1"}, marks=pytest.mark.long),
    ],
    ids=lambda asked: "-".join(asked.values()),
)
def test_same_results(asked: dict[str, str], tmp_path: Path) -> None:
    path = os.pathsep.join([str(ROOT / "src"), str(ROOT)])
    environment = os.environ | asked | {"TAUTLINE_CACHE_DIR": str(tmp_path), "PYTHONPATH": path}
    script = [sys.executable, "-m", "tests.support.small_cases"]
    done = subprocess.run(script, env=environment, capture_output=True, text=True, cwd=ROOT, check=False)
    assert done.returncode == 0, done.stderr[-2000:]
    expected = final_states()
    found = json.loads(done.stdout)
    assert found.keys() == expected.keys()
    for name, values in expected.items():
        # fused multiplications round differently: a few units in the last place, over about 50 steps; what is compiled
        # here is the library's code to the bit
        tolerance = 0.0 if asked == {"TAUTLINE_ENGINE": "compiled"} else 1e-12
        np.testing.assert_allclose(found[name], values, rtol=0.0, atol=tolerance, err_msg=name)
