"""The page with every figure: each function of `tautline.figures`, drawn for one line and for several."""

from __future__ import annotations

import inspect
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

import tautline as tl
from generated_pages import write_generated

if TYPE_CHECKING:
    from sphinx.application import Sphinx

HEAD = """# Every figure

Each picture is what one function of `tl.figures` makes with its defaults ([how](../howto/figures.md),
[reference](../reference/figures.md)). One line is reeled in for 8 s, the built-in scenario `retrieval`; below are the
four of `cable-robot`, with a winch each, which hold a platform.

"""
LINE, BODY = "south-east", "platform"


def sentence(name: str) -> str:
    """First sentence of a function's docstring."""
    return (inspect.getdoc(getattr(tl.figures, name)) or "").partition("\n\n")[0].replace("\n", " ")


def drawn(folder: Path) -> Iterator[tuple[str, str, str]]:
    """Draw all: heading, call and file of each."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", tl.errors.TautlineWarning)  # of the paper's string, which pushes
        run = tl.simulate(tl.load("retrieval", {"run.duration": "8 s"}))
    for name, draw in tl.figures.OF_A_RUN.items():
        yield name, f"tl.figures.{name}(run)", tl.figures.save(draw(run), folder / name, ["png"])[0].name
    swing = ["norm(body_velocity)", "body_position[x]"]
    curves = tl.figures.save(tl.figures.expressions(run, swing), folder / "expressions", ["png"])[0].name
    yield "expressions", f"tl.figures.expressions(run, {swing})".replace("'", '"'), curves
    case = tl.load("crane-hoist")
    found = tl.figures.modes(tl.modes(case.system.with_elements({"line": 10}), tl.Hanging(20.0)))
    yield "modes", "tl.figures.modes(tl.modes(...))", tl.figures.save(found, folder / "modes", ["png"])[0].name
    measured = tl.simulate(case, duration=4.0, sample=0.04)
    noise = 5.0 * np.random.default_rng(1).standard_normal(measured.time.size)
    data = {"time": measured.time.values, "start_tension": measured.start_tension.values[:, 0] + noise}
    fit = tl.fit(case.with_({"body.mass": "1.05 t"}), data, ["body.mass"], units="SI")
    residuals = tl.figures.save(tl.figures.fitted(fit, "start_tension"), folder / "fitted", ["png"])[0].name
    yield "fitted", 'tl.figures.fitted(tl.fit(...), "start_tension")', residuals
    tl.figures.animate(run, folder / "animate.gif", frames=40, rate=10)
    yield "animate", 'tl.figures.animate(run, "motion.gif")', "animate.gif"


def drawn_of_several(folder: Path) -> Iterator[tuple[str, str, str]]:
    """Draw all of a system with several lines."""
    run = tl.simulate(tl.load("cable-robot"))
    for name, draw in tl.figures.pictures_of(run.attrs, tl.figures.OF_A_RUN).items():
        function, _, part = name.partition("-")
        if part not in ("", LINE, BODY):
            continue  # one line is enough
        chosen = f', {"body" if part == BODY else "line"}="{part}"' if part else ""
        file = tl.figures.save(draw(run), folder / f"several-{name}", ["png"])[0].name
        yield function, f"tl.figures.{function}(run{chosen})", file


def page(folder: Path) -> str:
    """The page, its pictures in a folder beside it."""
    folder.mkdir(parents=True, exist_ok=True)
    text = [HEAD, "## One line", ""]
    for name, call, file in drawn(folder):
        text += [f"### {name}", "", f"{sentence(name)}", "", f"`{call}`", "", f"![{name}]({folder.name}/{file})", ""]
    text += ["## Several lines", ""]
    for name, call, file in drawn_of_several(folder):
        text += [f"`{call}`", "", f"![{name} of several lines]({folder.name}/{file})", ""]
    return "\n".join(text)


def write(app: Sphinx) -> None:
    write_generated(app, "figure-guide.md", page(Path(app.srcdir) / "generated" / "figures"))


def setup(app: Sphinx) -> dict[str, Any]:
    app.connect("builder-inited", write)
    return {"parallel_read_safe": True, "version": "1"}
