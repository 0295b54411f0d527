"""The damping ratio of the mesh: on every path it is the viscosity of the mesh at the start of the run."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tautline as tl
from tautline.errors import InputError
from tautline.model.chain.systems import system_of
from tests.support import chains

N, DEPLOYED, RATIO = 4, 10.0, 0.2
# zeta = eta omega/(2 EA) with omega^2 = 12 EA/(mu l^2)
EA, MU = 40.0, 0.025
VISCOSITY = 2.0 * EA * RATIO / math.sqrt(12.0 * EA / (MU * (DEPLOYED / N) ** 2))


def pendulum(**string: Any) -> chains.Chain:
    return chains.Chain(
        tl.String(100.0, MU, EA, **{"law": "linear", **string}), tl.Reel(0.5, 0.5, 1.0), tl.RigidBody.point(0.1)
    )


def start(elements: int = N) -> chains.ChainState:
    return chains.straight(pendulum(), DEPLOYED, elements, (0.3, 0.0, 1.0))


def paid_out(system: chains.Chain, **others: Any) -> Any:
    return chains.simulate(system, start(), tl.Free(), duration=0.5, sample=0.05, **others)


@pytest.mark.parametrize("viscosity", [0.0, 0.1])
def test_a_ratio_is_a_viscosity_on_top_while_the_reel_moves(viscosity: float) -> None:
    by_ratio = paid_out(pendulum(damping_ratio=RATIO, viscosity=viscosity))
    by_viscosity = paid_out(pendulum(viscosity=viscosity + VISCOSITY))
    assert by_ratio.unstretched_length[-1] > 1.005 * DEPLOYED
    for name in ("position", "tension", "start_tension", "end_tension", "damping_loss"):
        np.testing.assert_allclose(by_ratio[name], by_viscosity[name], rtol=1e-9, atol=1e-12, err_msg=name)
    assert float(by_ratio.damping_loss[-1]) > 0.0


def test_the_reference_takes_the_same() -> None:
    ours = chains.simulate(pendulum(damping_ratio=RATIO), start(), tl.Free(), duration=0.2, sample=0.05, step=1e-4)
    theirs = chains.integrate(pendulum(damping_ratio=RATIO), start(), tl.Free(), duration=0.2, sample=0.05)
    np.testing.assert_allclose(ours.position, theirs.position, atol=1e-6)
    np.testing.assert_allclose(ours.tension, theirs.tension, atol=1e-4)


@pytest.mark.parametrize(
    ("ratio", "keys"), [(0.0, {"run.elements": [2, 8]}), (RATIO, {"string.damping_ratio": [0.0, 0.1, 0.4]})]
)
def test_members_of_a_study_have_that_of_their_own_mesh(
    ratio: float, keys: dict[str, list[float]], tmp_path: Path
) -> None:
    run = tl.Run(duration=0.2, step=1e-3, sample=0.05)
    system = system_of(pendulum(damping_ratio=ratio), N)
    case = tl.Case(system, tl.Straight(DEPLOYED, (0.3, 0.0, 1.0)), tl.Free(), run)
    study = {"scenario": case, "vary": keys, "outputs": ["final damping_loss"]}
    found = tl.study(study, tmp_path / "study.zarr", workers=1).load()
    ((key, values),) = keys.items()
    alone = [float(chains.simulate(case.with_({key: value})).damping_loss[-1]) for value in values]
    np.testing.assert_allclose(found.final_damping_loss.values, alone, rtol=1e-9)
    assert len(set(alone)) == (1 if ratio == 0.0 and key == "run.elements" else len(values))


def test_a_negative_ratio_is_refused() -> None:
    with pytest.raises(InputError, match=r"String\.damping_ratio"):
        pendulum(damping_ratio=-0.1)
