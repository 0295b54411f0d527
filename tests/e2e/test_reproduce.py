"""`tautline reproduce`: all panels, the claims, and a report that needs nothing but itself."""

from __future__ import annotations

import html
import json
import re
from pathlib import Path

import numpy as np
import pytest

from tautline.paper import claims
from tautline.paper.examples import only, run
from tests.support.commands import tautline


@pytest.mark.long
def test_reproduction(tmp_path: Path) -> None:
    done = tautline("reproduce", "-o", "out", "--no-animations", "--project", "Seminar 4", cwd=tmp_path)
    folder = tmp_path / "out"
    for number in (1, 2, 3):
        for panel in ("snapshots", "energy", "lengths", "conservation"):
            for kind in ("pdf", "svg", "png"):
                assert (folder / f"example-{number}-{panel}.{kind}").stat().st_size > 5_000
    found = json.loads((folder / "claims.json").read_text())
    rows = found["claims"]
    assert len(rows) == len(claims.CLAIMS)
    report = (folder / "report.html").read_text(encoding="utf-8")
    assert "<dt>project</dt><dd>Seminar 4</dd>" in report
    assert not re.search(r'(src|href)="(?!data:)', report), "the report must be self-contained"
    assert report.count("data:image/png") == 13
    # the verdicts stand in words on the first line of the table, and are printed
    table = report[report.index("<table>") :]
    for sentence in found["verdicts"]:
        assert sentence in done.stdout
        assert table.index(html.escape(sentence)) < table.index(html.escape(claims.CLAIMS[0].criterion))
    failed = [row for row in rows for m in row["measured"].values() if not m["holds"]]
    assert found["verdicts"][0] == f"{3 * len(rows) - len(failed)} of {3 * len(rows)} verdicts hold."
    for row in failed:
        assert any(row["statement"] in sentence and "does not hold" in sentence for sentence in found["verdicts"])
    assert sum(len(starts) for starts in found["start_of_tumbling"].values()) >= 30
    # order 4 meets every bound of the paper; the chaotic time of tumbling is not asserted
    for row in rows:
        if row["criterion"] == claims.SAME:
            assert row["measured"]["symmetric, order 4"]["holds"], row


@pytest.mark.parametrize("claim", claims.CLAIMS, ids=lambda claim: f"{claim.example}: {claim.statement}")
def test_a_verdict_can_be_negative(claim: claims.Claim) -> None:
    """The same measurement on a run that does not do what the claim says."""
    wrong = only(run(claim.example, order=2))
    wrong = wrong.isel(time=slice(None, None, -1)).assign_coords(
        time=wrong.time
    )  # backwards: peaks and trends turn round
    n = wrong.sizes["time"]
    spoilt = wrong.assign(
        energy=wrong.energy + np.linspace(0.0, -30.0, n),
        gravity_energy=("time", np.linspace(5.0, -5.0, n)),
        angular_momentum=wrong.angular_momentum * np.linspace(1.0, 1.1, n)[:, None],
        orthogonality_error=wrong.orthogonality_error + 1e-9,
        angular_velocity=wrong.angular_velocity * 0.0 + 1.0,
        rotational_energy=("time", np.linspace(1.0, 2.0, n)),
        elastic_energy=("time", 5.0 + np.linspace(1.0, -1.0, n) + 3.0 * np.sin(2.0 * np.pi * wrong.time.values / 2.0)),
        body_position=wrong.position[:, -1] + np.array([0.3, 0.2, 0.4]),
    )
    assert not claim.measure(spoilt).holds
