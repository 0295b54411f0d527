"""Figures: they show what the run holds, on any run, and come out the same twice."""

from __future__ import annotations

import errno
import importlib
import re
import shutil
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
from tautline.durable import StoreError
from tautline.errors import InputError
from tautline.figures.scene import draw, elastic_shades, scene_of
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
def test_figure_is_drawn_and_labeled(name: str, result: xr.Dataset, tmp_path: Path) -> None:
    figure = FIGURES[name](result)
    for axes in figure.axes[:1]:
        assert axes.get_ylabel()
    assert any(axes.get_xlabel() for axes in figure.axes)
    files = tl.figures.save(figure, tmp_path / name)
    assert [f.suffix for f in files] == [".pdf", ".svg", ".png"]
    pixels = np.asarray(Image.open(files[-1]).convert("L"))
    assert pixels.std() > 3.0, "an empty picture"


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
        assert picture.convert("RGB").getpixel((picture.width // 2, 2)) == (255, 255, 255)
    with pytest.raises(InputError, match="ends in"):
        tl.figures.animate(run(1, duration=0.1), tmp_path / "x.avi")


def test_what_is_drawn_over_the_rest_is_what_would_be_drawn_whole() -> None:
    """Body, string and trace of a moment, beside a figure that is drawn anew at that moment."""
    from tautline.figures.animation import Moving

    moving = Moving(run(1, duration=0.5), (4.0, 3.0), 100.0, (12.0, -75.0))
    moving.at(0)
    quick = moving.at(3).astype(int)
    for artist in (*moving.cursors, *moving.trails, moving.stamp):
        artist.set_animated(False)
    draw(moving.box, moving.scene, 3)
    moving.canvas.draw()
    whole = np.asarray(moving.canvas.buffer_rgba()).astype(int)
    assert (np.abs(whole - quick).max(axis=-1) > 60).mean() < 1e-3
    assert (np.abs(moving.at(0).astype(int) - quick).max(axis=-1) > 60).mean() > 3e-3


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"frames": -1}, "frames: expected a whole number from 1"),
        ({"frames": 0}, "frames: expected a whole number from 1"),
        ({"rate": 0}, "rate: expected frames a second from 0.1 to 100, got 0"),
        ({"rate": "fast"}, "rate: expected a finite number"),
        ({"size": 5}, "size: expected 2 finite numbers"),
        ({"size": (0, 0)}, "size: expected width and height of at least 2 inches"),
        ({"size": (1e4, 3)}, "size: expected sides of 16 to 8192 dots, of which dpi=150"),
        ({"dpi": 0}, "dpi: expected a positive finite number"),
        ({"view": 12}, "view: expected 2 finite numbers"),
    ],
)
def test_wrong_arguments_of_an_animation(arguments: dict[str, Any], words: str, tmp_path: Path) -> None:
    with pytest.raises(InputError, match=re.escape(words)):
        tl.figures.animate(run(1, duration=0.1), tmp_path / "x.gif", **arguments)
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("size", [(5.2, 3.0), (6.4, 4.8)])
def test_a_slim_motion_leaves_its_width_to_the_charts(
    size: tuple[float, float], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The drum above the axes is whole, numbers are clear of the ticks, and the legend stays where it is."""
    from tautline.figures import animation

    figures: list[Any] = []
    legends = []

    class Watching(animation.Moving):
        def at(self, k: int) -> Any:
            found = super().at(k)
            figures.append(self.figure)
            legend: Any = self.figure.axes[2].get_legend()
            legends.append(legend.get_window_extent().bounds)
            return found

    monkeypatch.setattr(animation, "Moving", Watching)
    hoist = tl.simulate(tl.load("crane-hoist", {"run.duration": "2 s"}))
    tl.figures.animate(hoist, tmp_path / "x.gif", frames=3, size=size)
    space, *charts = figures[0].axes
    renderer = figures[0].canvas.get_renderer()
    assert all(chart.get_position().width > 0.5 for chart in charts)
    assert len(set(legends)) == 1
    numbers = [tick.label1.get_window_extent(renderer) for tick in space.zaxis.get_major_ticks()]
    axis = space.zaxis.line.get_window_extent(renderer)
    assert min(text.x0 for text in numbers if text.x0 > 0.0) > axis.x1 + 2.0
    scene = scene_of(hoist)
    for artist in draw(space, scene, 0):
        assert not artist.get_clip_on()


def test_an_animation_that_cannot_be_written_leaves_what_was_there(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from tautline.figures import animation

    def full(*_: Any) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    drawn = run(1, duration=0.1)
    (tmp_path / "x.gif").write_text("before")
    monkeypatch.setattr(shutil, "copyfileobj", full)
    with pytest.raises(StoreError, match=r"x\.gif: cannot be written: No space left"):
        tl.figures.animate(drawn, tmp_path / "x.gif", frames=2)
    program = tmp_path / "ffmpeg"
    program.write_text("#!/bin/sh\ncat > /dev/null\nexit 228\n")
    program.chmod(0o755)
    monkeypatch.setattr(animation, "require_video", lambda: str(program))
    with pytest.raises(StoreError, match=r"x\.mp4: cannot be written: ffmpeg ended with code 228"):
        tl.figures.animate(drawn, tmp_path / "x.mp4", frames=2)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["ffmpeg", "x.gif"]
    assert (tmp_path / "x.gif").read_text() == "before"


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


ROOT = Path(__file__).parents[2]


def part_of_the_site(name: str) -> Any:
    """A module that the site is built with."""
    folder = str(ROOT / "docs" / "_ext")
    sys.path.insert(0, folder)
    try:
        return importlib.import_module(name)
    finally:
        sys.path.remove(folder)


@pytest.mark.long
def test_every_figure_is_on_the_page_of_all(tmp_path: Path) -> None:
    guide = part_of_the_site("figure_guide")
    text = guide.page(tmp_path / "figures")
    makers = set(tl.figures.__all__) - {"OF_A_RUN", "pictures_of", "save", "fit_report"}  # the last writes a page
    assert {line[4:] for line in text.splitlines() if line.startswith("### ")} == makers
    named = set(re.findall(r"\]\(figures/([^)]*)\)", text))
    assert named == {file.name for file in (tmp_path / "figures").iterdir()} and len(named) > 25
    for file in (tmp_path / "figures").iterdir():
        with Image.open(file) as picture:
            assert np.asarray(picture.convert("L")).std() > 3.0, file.name


def test_a_phase_portrait_is_of_the_plane_of_the_swing() -> None:
    hanging = with_body(tl.RigidBody.point(0.1), 1)
    for direction, words in (((0, 1, 1), "y-z"), ((1, 0.5, 1), "x-z"), ((0, 0, 1), "does not swing")):
        swung = tl.simulate(hanging, tl.Straight(5.0, direction=direction), duration=0.3, sample=0.01)
        axes = tl.figures.phase(swung).axes[0]
        assert words in " ".join([axes.get_xlabel(), *(x.get_text() for x in axes.texts)])
        assert ("does not" in words) == bool(axes.texts)
