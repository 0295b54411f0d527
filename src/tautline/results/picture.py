"""Sketches of runs: a system as it is at a sample."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tautline.model.picture.sketch import Place, sketch
from tautline.results.inputs import system_of
from tautline.results.network import spans

if TYPE_CHECKING:
    import xarray as xr


def sketch_of_sample(run: xr.Dataset, number: int = 0) -> str:
    """Sketch of the system of a run, which has the dimensions of lines and bodies, at one of its samples."""
    system, moment = system_of(run.attrs), run.isel(time=number)
    nodes = {name: moment.position.values[own] for name, (own, _) in spans(system).items()}
    places = {
        name: Place(moment.body_position.sel(body=name).values, moment.attitude.sel(body=name).values)
        for name in system.bodies
    }
    return sketch(system, nodes, places)
