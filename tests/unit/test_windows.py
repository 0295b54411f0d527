"""Tables of motions without end: where one ends and the next begins, a run has the bits of one with a single table."""

from __future__ import annotations

import dataclasses
import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tautline as tl

BODY = tl.RigidBody.box(2.0, (0.2, 0.3, 0.4), (0.05, 0.0, 0.2))
LINE = tl.Line(tl.String(10.0, 0.05, 3000.0, diameter=0.01), end="body", reel=tl.Reel(0.2, 0.5, 0.5), elements=3)
WET = tl.BodyInFluid(drag_area=0.05, volume=1e-3, added_mass=1.0)
SINES = tl.motions.Sines((0.1, 0.05), (1.7, 0.9))
TURBULENCE, WAVES = tl.flows.Turbulence(0.3, 5.0, interval=0.005), tl.flows.WaveFlow(SINES)
# A motion, and where it acts.
MOTIONS: dict[str, tuple[Any, dict[str, Any]]] = {
    "turbulence": (TURBULENCE, {"fluid": tl.Fluid(1000.0, flow=(1.0, 0.0, 0.0), unsteady=TURBULENCE)}),
    "waves": (WAVES, {"fluid": tl.Fluid(1000.0, unsteady=WAVES)}),
    "path": (SINES, {"path": SINES}),
    "length": (SINES, {"command": tl.Length(motion=SINES)}),
}
SAMPLES_A_BLOCK, BLOCKS = 4, 3


def simulation(network: bool, sample: float, **parts: Any) -> tl.Simulation:
    bodies: dict[str, Any] = {"body": BODY}
    line = LINE
    if "path" in parts:
        bodies["guide"], line = tl.Kinematic(path=parts["path"]), dataclasses.replace(LINE, start="guide")
    if network:
        line = dataclasses.replace(line, end_point=(0.0, 0.0, 0.05))
    fluid = {"fluid": parts["fluid"], "body_fluid": {"body": WET}} if "fluid" in parts else {}
    system = tl.System(bodies, {"line": line}, **fluid)
    run = tl.Run(duration=sample, sample=sample)
    return tl.Simulation.from_case(tl.Case(system, tl.Hanging(4.0), {"line": parts.get("command", tl.Locked())}, run))


@pytest.mark.parametrize("network", [False, True], ids=["chain", "network"])
@pytest.mark.parametrize("name", MOTIONS)
def test_samples_at_the_edges_of_tables_are_those_of_one_table(name: str, network: bool, tmp_path: Path) -> None:
    """A simulation that was loaded makes its own tables; those that begin at an edge are looked at from before it."""
    motion, parts = MOTIONS[name]
    sample = motion.covered(0.0) / SAMPLES_A_BLOCK
    assert 0.0 < sample < math.inf
    command, rows = parts.get("command", tl.Locked()), BLOCKS * SAMPLES_A_BLOCK
    whole, parted = (simulation(network, sample, **parts) for _ in range(2))
    whole.advance(rows * sample, command, sample=sample)
    expected = whole.dataset()
    assert float(np.ptp(expected.end_tension.values)) > 0.0
    for row in range(1, rows + 1):
        parted.advance(sample, command if row == 1 else None, sample=sample)
        found = parted.dataset()
        for variable in expected.data_vars:
            np.testing.assert_array_equal(found[variable][-1], expected[variable][row], err_msg=f"{variable}, {row}")
        parted.save(tmp_path / f"{row}.npz")
        parted = tl.Simulation.load(tmp_path / f"{row}.npz")
