"""`tl.modes` for every system: one line as other formulas have it, free drums, and runs that keep to a mode."""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np
import pytest

import tautline as tl
from tautline.analysis.linearized import linearized
from tautline.analysis.modes import displaced
from tautline.errors import InputError
from tautline.model.rest.drums import force_on_reel
from tautline.model.rest.forces import forces_of
from tautline.model.rest.network import Network, Places
from tautline.model.rest.states import network_of
from tautline.schema import MODES_SCHEMA
from tests.conftest import Report
from tests.support import chains
from tests.support.checking import check_below, check_close
from tests.support.hanging import frequency, system
from tests.support.pendulum_modes import squared_frequencies
from tests.support.resting import CASES, LAYERED, LOAD, NARROW, ROPE, SEA, WET, WINCH, crane

replace = dataclasses.replace
# Modes with added mass of string and body, besides the cases of the statics.
WETS: dict[str, tuple[chains.Chain, float, int, dict[str, Any]]] = {
    "added mass": (chains.Chain(WET, WINCH, LOAD, fluid=SEA), 20.0, 10, {}),
    "added mass in a current": (chains.Chain(WET, WINCH, LOAD, fluid=LAYERED), 20.0, 10, {}),
    "added mass at a surface": (chains.Chain(WET, WINCH, LOAD, fluid=replace(LAYERED, surface=20.0)), 20.0, 10, {}),
}
KNOWN = {**CASES, **WETS}
del KNOWN["accelerated at a surface"]  # the reference equations have the surface where the guide is at time 0


@pytest.mark.parametrize("name", KNOWN)
def test_one_line_has_the_frequencies_of_the_pendulum(name: str, report: Report) -> None:
    """Masses and stiffness of other programs; fast modes of stiff strings carry the rounding of the slow ones."""
    pendulum, deployed, elements, at = KNOWN[name]
    rest = chains.equilibrium(pendulum, deployed, elements, **at)
    found = chains.modes(pendulum, rest)
    ours = found.angular_frequency.values**2 - found.growth_rate.values**2
    theirs = squared_frequencies(pendulum, rest)
    shift = max(pendulum.gravity, 1e-2) / deployed
    rounding = 1e-15 * theirs**2 / shift + 1e-9 * shift
    errors = np.maximum(np.abs(ours - theirs) - rounding, 0.0) / np.maximum(np.abs(theirs), shift)
    report(f"{name}: squared frequencies of one line, relative error", check_below("error", errors.max(), 1e-9), "1e-9")


@pytest.mark.parametrize("reel", [WINCH, NARROW])
def test_a_free_drum_has_the_frequencies_of_the_pendulum(reel: tl.Reel) -> None:
    pendulum = chains.Chain(ROPE, reel, LOAD)
    rest = chains.equilibrium(pendulum, 20.0, 12)
    found = chains.modes(pendulum, rest, reel="free")
    ours = found.angular_frequency.values**2 - found.growth_rate.values**2
    theirs = squared_frequencies(pendulum, rest, free=True)
    errors = np.abs(ours - theirs) / np.maximum(np.abs(theirs), 1e-9)
    check_below("error", float(errors[np.abs(theirs) > 1e-6].max()), 1e-9)
    by_name = chains.modes(pendulum, rest, reel=["line"])
    np.testing.assert_allclose(by_name.frequency, found.frequency)
    assert by_name.attrs["reel"] == ["line"]


def winch_on_a_body(flow: Any = (0.0, 0.0, 0.0), surface: float | None = None) -> tuple[tl.System, tl.State]:
    """A carrier on a rope, with a winch from which a weight hangs."""
    carrier = tl.RigidBody.box(20.0, (0.6, 0.4, 0.5), (0.0, 0.0, 0.3))
    lines = {
        "rope": tl.Line(tl.String(5.0, 0.4, 4e4, diameter=0.02, law="linear"), end="carrier", elements=4),
        "hoist": tl.Line(
            tl.String(12.0, 0.3, 3e4, diameter=0.02, law="linear"),
            start="carrier",
            start_point=(0.0, 0.1, 0.6),
            end="weight",
            reel=tl.Reel(0.1, 0.4, 3.0, guide_law="none"),
            drum_axis=(1.0, 0.0, 0.0),
            elements=4,
        ),
    }
    fluid = None if surface is None and not any(flow) else tl.Fluid(1000.0, flow=flow, surface=surface)
    system = tl.System({"carrier": carrier, "weight": tl.RigidBody.point(8.0)}, lines, fluid=fluid)
    start = chains.hang(system, {"carrier": (0.0, 0.0, 5.4), "weight": (0.0, 0.1, 13.0)}, {"hoist": 7.0})
    return system, tl.statics(system, start).state


def wound(network: Network, places: Places, change: float) -> tuple[Network, Places]:
    """The network with so much more string on the drum of its second line."""
    line = network.lines[1]
    other = line._replace(deployed=line.deployed - change, spooled=line.spooled + change)
    return Network(network.bodies, [network.lines[0], other], network.gravity, network.fluid), places


@pytest.mark.parametrize(("flow", "surface"), [((0.0, 0.0, 0.0), None), ((0.0, 0.0, 0.0), 9.0), ((0.6, 0.2, 0.0), 9.0)])
def test_stiffness_of_a_free_drum_is_that_of_its_energy(flow: Any, surface: float | None) -> None:
    """Differences of energy and forces by the reeled length; drag acts on s as far as string moves along itself."""
    system, state = winch_on_a_body(flow, surface)
    network, places = network_of(system, state)
    found = linearized(system, network, places, ["hoist"])
    n, h = network.count, 1e-4
    after, before = (forces_of(*wound(network, places, x)) for x in (h, -h))
    by_s = (after.gradient - before.gradient) / (2.0 * h)
    slope = -(after.energy - before.energy) / (2.0 * h)
    own = force_on_reel(system, network, places, 1)
    if any(flow):  # the drag's own part of the row, halved, is not in the energy
        ahead, behind = (
            force_on_reel(system, network, network.moved(places, x * np.eye(n)[-1]), 1) for x in (1e-5, -1e-5)
        )
        row = -(ahead - behind) / 2e-5
        check_close("row", found.K[n, n - 1], 0.5 * (row + by_s[-1]), 1e-5 * abs(row))
        return
    check_close("force", own, slope, 1e-6 * abs(slope))
    check_close("row", found.K[n, :n], by_s, 1e-6 * float(np.abs(by_s).max()))
    second = (after.energy - 2.0 * forces_of(network, places).energy + before.energy) / h**2
    check_close("diagonal", found.K[n, n], second, 1e-4 * abs(second))


@pytest.mark.parametrize("kind", ["swing", "longitudinal"])
def test_a_run_along_a_mode_of_a_system_keeps_to_it(kind: str, report: Report) -> None:
    """With a winch on a body, free and held by its torque."""
    system, state = winch_on_a_body()
    found = tl.modes(system, state, reel="free")
    reels = np.abs(found.reel.values[:, 1]) > (0.05 if kind == "longitudinal" else -1.0)
    chosen = (found.kind.values == kind) & (found.frequency.values > 0.0) & reels
    mode = int(found.mode.values[chosen][0])
    omega = float(found.angular_frequency.sel(mode=mode))
    start = displaced(found, mode, 1e-5)
    duration = (4.0 if kind == "longitudinal" else 1.5) * 2.0 * np.pi / omega
    torque = float(found.balancing_torque.sel(line="hoist"))
    run = tl.simulate(system, start, {"hoist": tl.Torque(torque)}, duration=duration, sample=duration / 400, order=4)
    moved = (run.position - found.position).values
    shape = found["shape"].sel(mode=mode).values
    coordinate = np.einsum("tna,na->t", moved, shape) / np.sum(shape**2)
    measured = frequency(run.time.values, coordinate, omega)
    report(
        f"winch on a body, {kind}: frequency of a run", check_below("error", abs(measured / omega - 1.0), 2e-4), "2e-4"
    )


def test_the_result_of_a_system_has_the_schema() -> None:
    system, start = crane()
    rest = tl.statics(system, start)
    found = tl.modes(system, rest, count=8)
    assert set(found.data_vars) == set(MODES_SCHEMA)
    for name, variable in MODES_SCHEMA.items():
        assert found[name].dims == variable.dims and found[name].attrs["units"] == variable.units
    assert list(found.kind.values[:2]) == ["rigid", "rigid"] and "swing" in found.kind.values
    assert list(found.line_end.values) == ["hook", "load"]
    np.testing.assert_allclose(found.frequency, tl.modes(system, rest.state, count=8).frequency, rtol=1e-12)
    assert float(found.balancing_torque.sel(line="hoist")) == pytest.approx(
        rest.lines["hoist"].holding_torque, rel=1e-3
    )
    with pytest.raises(InputError, match="reel: expected one of 'hoist'"):
        tl.modes(system, rest, reel=["sling"])
    with pytest.raises(InputError, match="unbalanced force"):
        tl.modes(system, chains.hang(system, tl.load("hook-and-load").start.bodies, {"hoist": 19.9}))
    picture = tl.figures.modes(found, line="sling")
    assert picture.axes
    with pytest.raises(InputError, match="line: expected one of 'hoist', 'sling'"):
        tl.figures.modes(found)


def test_modes_do_not_exchange_energy_in_a_system() -> None:
    system, state = winch_on_a_body((0.6, 0.2, 0.0), 9.0)
    found = tl.modes(system, state, reel="free")
    network, places = network_of(system, state)
    M = linearized(system, network, places, ["hoist"]).M
    y = np.zeros((found.sizes["mode"], len(M)))
    for b, (name, first) in enumerate(zip(network.body_names, network.first_of_body, strict=True)):
        y[:, first : first + 3] = found.body_shape.sel(body=name)
        if not network.bodies[b].body.is_point:
            y[:, first + 3 : first + 6] = found.rotation.sel(body=name).values @ places.attitudes[b].T
    y[:, network.first_of_line[0] : network.count] = found["shape"].values[:, network.inner].reshape(len(y), -1)
    y[:, network.count :] = found.reel.values[:, 1:]
    energies = y @ M @ y.T
    np.testing.assert_allclose(energies, np.diag(found.modal_mass.values), atol=1e-8 * float(energies.max()))


def test_one_line_without_a_body_and_too_many_elements() -> None:
    line = tl.Line(tl.String(10.0, 0.2, 5000.0, law="linear"), end_point=(10.1, 0, 0), elements=10)
    held = tl.System({}, {"s": line}, gravity=0.0)
    found = tl.modes(held, tl.statics(held, chains.hang(held, {})))
    assert "body" not in found.dims and set(found.kind.values) == {"transverse", "longitudinal"}
    many = tl.System({}, {"s": replace(line, elements=1001)}, gravity=0.0)
    with pytest.raises(InputError, match="elements: expected a whole number from 1 to 1000"):
        tl.modes(many, chains.hang(many, {}))
    moving = displaced(chains.modes(system(length=10.0), deployed=10.0, elements=3), 1, 0.1)
    assert isinstance(moving, tl.State) and moving.elements() == {"line": 3}
