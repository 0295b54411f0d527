"""Two FMUs that exchange velocity and force: momentum and energy against the same system in one simulation."""

from __future__ import annotations

import subprocess
from pathlib import Path

import numpy as np
import pytest
from fmpy.fmi2 import FMU2Slave

import tautline as tl
from tautline.kernels.machine.linking import linker
from tests.support.fmus import Slave

SOURCE = Path(__file__).parents[1] / "support" / "boom.c"
DURATION = 2.0
MASS, STIFFNESS, LENGTH = 200.0, 2e4, 10.0  # of the boom, as in boom.c
DENSITY = 1e-7  # of its spring where that is a line (kg/m): a millionth of a millionth of the mass of the boom


def hung() -> tuple[tl.Line, tl.RigidBody, tl.State]:
    """A load of 50 kg on a rope of 5 m below the boom, let go 0.5 m aside."""
    string = tl.String(5.0, 0.2, 2e5, viscosity=500.0, law="linear")
    line = tl.Line(string, start="boom", end="load", elements=6)
    aside, down = 0.5, np.sqrt(25.0 - 0.25)
    nodes = np.linspace([0.0, 0.0, 10.0], [aside, 0.0, 10.0 + down], 7)
    bodies = {"boom": tl.BodyState((0.0, 0.0, 10.0)), "load": tl.BodyState(tuple(nodes[-1].tolist()))}
    lines = {"rope": tl.LineState(nodes, np.zeros_like(nodes), 0.0, 0.0)}
    return line, tl.RigidBody.point(50.0), tl.State(bodies, lines)


class Boom:
    """The other FMU."""

    def __init__(self, folder: Path) -> None:
        target = folder / "binaries" / "linux64" / "boom.so"
        target.parent.mkdir(parents=True)
        subprocess.run(
            [*linker(), "-std=c11", "-O2", "-shared", "-fPIC", str(SOURCE), "-o", str(target), "-lm"], check=True
        )
        self.fmu = FMU2Slave(guid="", unzipDirectory=str(folder), modelIdentifier="boom", instanceName="boom")
        self.fmu.instantiate()

    def get(self, first: int, count: int = 3) -> np.ndarray:
        return np.array(self.fmu.getReal(list(range(first, first + count))))


def alone(duration: float) -> tuple[np.ndarray, np.ndarray]:
    """Places of boom and load after a time, with the boom in the same simulation as a body on a light linear line."""
    line, load, state = hung()
    spring = tl.Line(tl.String(LENGTH, DENSITY, STIFFNESS * LENGTH, law="linear"), end="boom", elements=1)
    system = tl.System({"boom": tl.RigidBody.point(MASS), "load": load}, {"rope": line, "spring": spring}, gravity=9.81)
    nodes = np.array([[0.0, 0.0, 0.0], [0.0, 0.0, 10.0]])
    start = tl.State(dict(state.bodies), {**state.lines, "spring": tl.LineState(nodes, np.zeros((2, 3)), 0.0, 0.0)})
    sim = tl.Simulation(system, start, step=2e-5)
    sim.advance(duration)
    return sim.bodies["boom"].position, sim.bodies["load"].position


def coupled(path: Path, folder: Path, step: float) -> dict[str, float]:
    """Figures of a coupled run with communication steps of a length (s)."""
    ours, boom = Slave(path, folder / "ours"), Boom(folder / f"boom{step}")
    force, worked, impulse, received = np.zeros(3), 0.0, np.zeros(3), 0.0
    before = ours.get("accounts.energy")[0] + boom.get(9, 1)[0]
    momentum = ours.vector("linear_momentum")
    for _ in range(round(DURATION / step)):
        velocity, place = boom.get(6), boom.get(3)
        ours.put_vector("bodies.boom.command.velocity", velocity)
        boom.fmu.setReal([0, 1, 2], force.tolist())
        boom.fmu.doStep(ours.time, step)
        received += float(force @ (boom.get(3) - place))
        ours.step(step)
        force = ours.vector("bodies.boom.force")
        worked -= float(force @ velocity) * step
        impulse += force * step
    weight = np.array([0.0, 0.0, 9.81 * (50.0 + 5.0 * 0.2) * DURATION])
    places = alone(DURATION)
    figures = {
        "energy": ours.get("accounts.energy")[0] + ours.get("accounts.damping_loss")[0] + boom.get(9, 1)[0] - before,
        "exchanged": worked + received,
        "booked": ours.get("accounts.guide_work")[0] - worked,
        "momentum": float(np.abs(ours.vector("linear_momentum") - momentum - weight + impulse).max()),
        "largest impulse": float(np.abs(impulse).max()),
        "carried": 0.2 * 5.0 / 6 * float(np.abs(boom.get(6)).max()),
        "boom": float(np.linalg.norm(boom.get(3) - places[0])),
        "load": float(np.linalg.norm(ours.vector("bodies.load.position") - places[1])),
        "worked": abs(worked),
    }
    ours.close()
    return figures


@pytest.mark.long
def test_what_an_exchange_makes_halves_with_the_communication_step(tmp_path: Path) -> None:
    line, load, state = hung()
    system = tl.System({"boom": tl.Kinematic(None, (0.0, 0.0, 10.0)), "load": load}, {"rope": line}, gravity=9.81)
    path = tmp_path / "pendulum.fmu"
    tl.export_fmu(tl.Case(system, state, {}, tl.Run(duration=DURATION, sample=1e-3)), path)
    found = {step: coupled(path, tmp_path, step) for step in (4e-3, 2e-3, 1e-3)}
    for step, figures in found.items():
        print(f"| {1e3 * step:g} | " + " | ".join(f"{name} {x:.3e}" for name, x in figures.items()))
        # our momentum changes by the impulses alone; that of the node on the boom, half of an element, is the boom's
        assert figures["momentum"] < figures["carried"]
        # nothing else makes energy
        assert figures["energy"] == pytest.approx(figures["exchanged"], abs=1e-3 * abs(figures["exchanged"]) + 2e-3)
    # "booked": a jump of the velocity acts on the node at the mean of both velocities; the host counts the later one
    for name in ("energy", "boom", "load", "booked"):
        sizes = [abs(x[name]) for x in found.values()]
        assert 1.6 < sizes[0] / sizes[1] < 2.5 and 1.6 < sizes[1] / sizes[2] < 2.5  # first order
