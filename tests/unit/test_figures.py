"""Figures: they show what the run holds, on any run, and come out the same twice."""

from __future__ import annotations

import importlib
import re
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import xarray as xr
from matplotlib.figure import Figure
from PIL import Image

import tautline as tl
from tautline.errors import InputError
from tautline.figures.scene import elastic_shades
from tautline.model.system.state import LineState
from tautline.paper.examples import run, system

# All figures; test_plot.py draws some of them.
pytestmark = pytest.mark.long

FIGURES: dict[str, Callable[[xr.Dataset], Figure]] = {
    "energy": tl.figures.energy,
    "lengths": tl.figures.lengths,
    "conservation": tl.figures.conservation,
    "strain_map": tl.figures.strain_map,
    "tension": tl.figures.tension,
    "drive": tl.figures.drive,
    "snapshots": lambda result: tl.figures.snapshots(result, every=0.1),
    "phase": tl.figures.phase,
    "attitude": tl.figures.attitude,
}


def with_body(body: tl.RigidBody, elements: int) -> tl.System:
    """The system of the examples with another body."""
    line = system().lines["line"]
    assert line.reel is not None
    return tl.pendulum(line.string, line.reel, body, elements=elements)


def point_run() -> xr.Dataset:
    """One element, a point mass, a moving reel."""
    pendulum = with_body(tl.RigidBody.point(0.1), 1)
    return tl.simulate(pendulum, tl.Straight(5.0, direction=(1, 0, 1)), tl.Free(), duration=0.3, sample=0.01)


@pytest.fixture(scope="module", params=[1, 3, "point"])
def result(request: pytest.FixtureRequest) -> xr.Dataset:
    return point_run() if request.param == "point" else run(request.param, duration=0.3)


@pytest.mark.parametrize("name", FIGURES)
def test_figure_is_drawn_and_labelled(name: str, result: xr.Dataset, tmp_path: Path) -> None:
    figure = FIGURES[name](result)
    for axes in figure.axes[:1]:
        assert axes.get_ylabel()
    assert any(axes.get_xlabel() for axes in figure.axes)
    files = tl.figures.save(figure, tmp_path / name)
    assert [f.suffix for f in files] == [".pdf", ".svg", ".png"]
    pixels = np.asarray(Image.open(files[-1]).convert("L"))
    assert pixels.std() > 3.0, "an empty picture"


@pytest.mark.parametrize("body", [tl.RigidBody.point(0.1), tl.RigidBody.box(0.5, (0.2, 0.3, 0.4), (0.1, 0.0, 0.2))])
def test_modal_plot_shows_the_shapes(body: tl.RigidBody, tmp_path: Path) -> None:
    result = tl.modes(with_body(body, 6), tl.Hanging(8.0))
    figure = tl.figures.modes(result, count=8)
    panels = [axes for axes in figure.axes if axes.get_title()]
    moving = result.isel(mode=result.kind.values != "rigid")
    assert len(panels) == 8
    for k, axes in enumerate(panels):
        mode = moving.isel(mode=k)
        assert axes.get_title() == f"{int(mode.mode)}: {float(mode.frequency):.3g} Hz\n{mode.kind.item()}"
        drawn = np.asarray(next(line.get_xdata() for line in axes.get_lines() if len(line.get_xdata()) == 7))  # type: ignore[arg-type]
        parallel = [np.abs(np.corrcoef(drawn, u)[0, 1]) for u in mode["shape"].values.T if np.ptp(u) > 1e-6]
        assert max(parallel) == pytest.approx(1.0)
    files = tl.figures.save(figure, tmp_path / "modes")
    assert np.asarray(Image.open(files[-1]).convert("L")).std() > 3.0
    with pytest.raises(InputError, match="not rigid"):
        tl.figures.modes(result.isel(mode=result.kind.values == "rigid"))


def test_energy_of_a_hoist_shows_more_than_gravity() -> None:
    """A tonne over 3 m: 30 kJ of gravity, and kinetic and elastic energy on a scale of their own."""
    hoist = tl.pendulum(tl.String(30.0, 1.0, 5e6), tl.Reel(0.2, 0.5, 100.0), tl.RigidBody.point(1000.0), elements=4)
    up = tl.Length.to(5.0, speed=1.0, acceleration=0.5)
    result = tl.simulate(hoist, tl.Hanging(8.0), up, duration=6.0, sample=0.05)
    above, below, _ = tl.figures.energy(result).axes
    change = result.gravity_energy - result.gravity_energy[0]
    assert float(change[-1]) == pytest.approx(1000.0 * 9.81 * 3.0, rel=0.02)
    np.testing.assert_array_equal(np.asarray(above.get_lines()[1].get_ydata()), change.values)
    drawn = [np.asarray(line.get_ydata()) for line in below.get_lines()]
    for values, name in zip(drawn, ("kinetic_energy", "elastic_energy"), strict=True):
        np.testing.assert_array_equal(values, result[name].values)
    assert max(float(np.abs(values).max()) for values in drawn) < 2000.0


def test_the_shade_is_the_energy_of_the_law() -> None:
    """Nothing where a string is slack, and of a table the area below its curve."""
    slack = tl.String(20.0, 0.1, 100.0, law="tension_only")
    table = tl.String.from_table(20.0, 0.1, [0.0, 0.1, 0.2], [0.0, 10.0, 60.0])
    nodes = np.zeros((4, 3))
    nodes[:, 2] = np.cumsum([0.0, 0.9, 1.1, 1.2])  # strains -0.1, 0.1, 0.2 of elements of 1 m
    for string in (slack, table):
        hung = tl.pendulum(string, tl.Reel(0.5, 0.5, 1.0), tl.RigidBody.point(0.1))
        body = tl.BodyState(nodes[-1])
        start = tl.State({"body": body}, {"line": LineState(nodes, 0.0 * nodes, 17.0)})
        row = tl.simulate(hung, start, duration=1e-3, sample=1e-3).isel(time=0)
        (shade,) = elastic_shades([string], [row.strain.values])
        energy = string.energy_density([-0.1, 0.1, 0.2])
        np.testing.assert_allclose(shade, np.maximum(energy, 0.0) / energy[2], atol=1e-9)


def test_files_are_the_same_twice(tmp_path: Path) -> None:
    result = run(1, duration=0.3)
    for folder in ("a", "b"):
        (tmp_path / folder).mkdir()
        tl.figures.save(tl.figures.lengths(result), tmp_path / folder / "x")
    for kind in ("pdf", "svg", "png"):
        assert (tmp_path / "a" / f"x.{kind}").read_bytes() == (tmp_path / "b" / f"x.{kind}").read_bytes()


def test_settings_of_the_user_are_left_alone() -> None:
    import matplotlib as mpl

    before = dict(mpl.rcParams)
    tl.figures.energy(run(1, duration=0.1))
    assert dict(mpl.rcParams) == before


def test_animation(tmp_path: Path) -> None:
    path = tl.figures.animate(run(1, duration=0.5), tmp_path / "x.gif", frames=4)
    with Image.open(path) as picture:
        assert getattr(picture, "n_frames", 1) == 4
    with pytest.raises(InputError, match="ends in"):
        tl.figures.animate(run(1, duration=0.1), tmp_path / "x.avi")


def test_a_series_that_turns_too_often_is_a_band() -> None:
    """Between its least and greatest value in every column, with its mean as a line."""
    result = run(1, duration=0.3)
    time = np.linspace(0.0, 1.0, 20_001)
    wave = 5.0 + time + np.sin(2.0 * np.pi * 2000.0 * time)  # ten turns in each of 200 columns
    dense = result.isel(time=[0] * len(time)).assign_coords(time=time).assign(reel_speed=("time", wave))
    axes = tl.figures.drive(dense).axes[0]
    (band,), (mean,) = axes.collections, axes.get_lines()
    corners = np.asarray(band.get_paths()[0].vertices)
    assert corners[:, 1].min() == pytest.approx(4.0, abs=0.05) and corners[:, 1].max() == pytest.approx(7.0, abs=0.05)
    middle = np.asarray(mean.get_xdata())
    np.testing.assert_allclose(np.asarray(mean.get_ydata()), 5.0 + middle, atol=0.02)
    assert not tl.figures.drive(result).axes[0].collections  # a plain line


def test_snapshots_say_their_times_and_show_the_drum() -> None:
    result = run(3, duration=0.6)
    figure = tl.figures.snapshots(result, every=0.3)
    words = [text.get_text() for text in figure.axes[0].texts]
    assert words[0] == "0 s" and set(words) <= {"0 s", "0.3 s", "0.6 s"}
    rims = [np.array(line.get_data_3d()) for line in figure.axes[0].get_lines() if len(line.get_data_3d()[0]) > 20]  # type: ignore[attr-defined]
    assert len(rims) == 3
    for rim, t in zip(rims, (0.0, 0.3, 0.6), strict=True):
        reel = system().lines["line"].reel
        assert reel is not None
        radius = reel.radius(float(result.reeled_length.sel(line="line").sel(time=t, method="nearest")))
        assert np.ptp(rim[2]) == pytest.approx(2.0 * radius, rel=1e-6)


def test_strains_of_both_signs_part_at_zero() -> None:
    result = run(1, duration=0.3)
    pressed = result.assign(strain=result.strain - float(result.strain.max()) / 2.0)
    for data, parted in ((result.assign(strain=abs(result.strain)), False), (pressed, True)):
        axes, bar = tl.figures.strain_map(data).axes
        low, high = axes.collections[0].get_clim()
        assert (low == -high) is parted
        assert [x.get_text() for x in axes.get_yticklabels()] == ["guide", "middle", "body"]
        assert ("0 in the middle" in bar.get_ylabel()) is parted


def test_an_animation_is_not_clipped(tmp_path: Path) -> None:
    """At its default size nothing touches the edges."""
    path = tl.figures.animate(run(1, duration=0.5), tmp_path / "x.gif", frames=2)
    with Image.open(path) as picture:
        pixels = np.asarray(picture.convert("L"))
    edges = np.concatenate([pixels[0], pixels[-1], pixels[:, 0], pixels[:, -1]])
    assert edges.min() > 250


ROOT = Path(__file__).parents[2]


def part_of_the_site(name: str) -> Any:
    """A module that the site is built with."""
    folder = str(ROOT / "docs" / "_ext")
    sys.path.insert(0, folder)
    try:
        return importlib.import_module(name)
    finally:
        sys.path.remove(folder)


@pytest.mark.parametrize("name", ["fixed-length", "crane-hoist", "cable-robot"])
def test_thumbnails_show_a_run_in_space(name: str) -> None:
    """Strings, bodies and the paths of these stand off the ground and the sky, and clear of the edges."""
    thumbnails = part_of_the_site("thumbnails")
    data = tl.simulate(tl.load(name), duration=1.0, sample=0.1)
    pixels = np.asarray(thumbnails.thumbnail(data, thumbnails.Look(ground=False))).astype(int)
    assert pixels.shape == (336, 480, 3)
    drawn = np.abs(pixels - pixels[:, :1]).max(axis=2) > 40
    rows, columns = (np.flatnonzero(drawn.any(axis=k)) for k in (1, 0))
    assert np.ptp(rows) > 0.6 * 336 or np.ptp(columns) > 0.6 * 480
    assert rows[0] > 5 and rows[-1] < 330 and columns[0] > 5 and columns[-1] < 474
    assert len(np.unique(pixels[drawn], axis=0)) > 50


@pytest.mark.long
def test_every_figure_is_on_the_page_of_all(tmp_path: Path) -> None:
    guide = part_of_the_site("figure_guide")
    text = guide.page(tmp_path / "figures")
    makers = set(tl.figures.__all__) - {"OF_A_RUN", "pictures_of", "save"}
    assert {line[4:] for line in text.splitlines() if line.startswith("### ")} == makers
    named = set(re.findall(r"\]\(figures/([^)]*)\)", text))
    assert named == {file.name for file in (tmp_path / "figures").iterdir()} and len(named) > 25
    for file in (tmp_path / "figures").iterdir():
        with Image.open(file) as picture:
            assert np.asarray(picture.convert("L")).std() > 3.0, file.name
