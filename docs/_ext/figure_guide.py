"""The page with every figure: each function of `tautline.figures`, drawn for a pendulum and for an assembly."""

from __future__ import annotations

import inspect
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
[reference](../reference/figures.md)). A pendulum is reeled in for 8 s, the built-in scenario `retrieval`; below it is
an assembly, `cable-robot`: a platform on four ropes with a winch each.

"""
STRING, BODY = "south-east", "platform"


def sentence(name: str) -> str:
    """What a function says of itself first."""
    return (inspect.getdoc(getattr(tl.figures, name)) or "").partition("\n\n")[0].replace("\n", " ")


def drawn(folder: Path) -> Iterator[tuple[str, str, str]]:
    """Draw all: heading, call and file of each."""
    run = tl.simulate(tl.load("retrieval", {"run.duration": "8 s"}))
    for name, draw in tl.figures.OF_A_RUN.items():
        yield name, f"tl.figures.{name}(run)", tl.figures.save(draw(run), folder / name, ["png"])[0].name
    case = tl.load("crane-hoist")
    found = tl.figures.modes(tl.modes(case.pendulum, deployed=20.0, elements=10))
    yield "modes", "tl.figures.modes(tl.modes(...))", tl.figures.save(found, folder / "modes", ["png"])[0].name
    measured = tl.simulate(case, duration=4.0, sample=0.04)
    noise = 5.0 * np.random.default_rng(1).standard_normal(measured.time.size)
    data = {"time": measured.time.values, "guide_tension": measured.guide_tension.values + noise}
    fit = tl.fit(case.with_({"body.mass": "1.05 t"}), data, ["body.mass"], units="SI")
    residuals = tl.figures.save(tl.figures.fitted(fit, "guide_tension"), folder / "fitted", ["png"])[0].name
    yield "fitted", 'tl.figures.fitted(tl.fit(...), "guide_tension")', residuals
    tl.figures.animate(run, folder / "animate.gif", frames=40, rate=10)
    yield "animate", 'tl.figures.animate(run, "motion.gif")', "animate.gif"


def drawn_of_assembly(folder: Path) -> Iterator[tuple[str, str, str]]:
    """Draw all of an assembly."""
    run = tl.simulate(tl.load("cable-robot"))
    for name, draw in tl.figures.pictures_of(run.attrs, tl.figures.OF_A_RUN).items():
        function, _, part = name.partition("-")
        if part not in ("", STRING, BODY):
            continue  # one string is enough
        chosen = f', {"body" if part == BODY else "line"}="{part}"' if part else ""
        file = tl.figures.save(draw(run), folder / f"assembly-{name}", ["png"])[0].name
        yield function, f"tl.figures.{function}(run{chosen})", file


def page(folder: Path) -> str:
    """The page, its pictures in a folder beside it."""
    folder.mkdir(parents=True, exist_ok=True)
    text = [HEAD, "## A pendulum", ""]
    for name, call, file in drawn(folder):
        text += [f"### {name}", "", f"{sentence(name)}", "", f"`{call}`", "", f"![{name}]({folder.name}/{file})", ""]
    text += ["## An assembly", ""]
    for name, call, file in drawn_of_assembly(folder):
        text += [f"`{call}`", "", f"![{name} of an assembly]({folder.name}/{file})", ""]
    return "\n".join(text)


def write(app: Sphinx) -> None:
    write_generated(app, "figure-guide.md", page(Path(app.srcdir) / "generated" / "figures"))


def setup(app: Sphinx) -> dict[str, Any]:
    app.connect("builder-inited", write)
    return {"parallel_read_safe": True, "version": "1"}
