"""Everything that programs of the tests load, machine code too: imported by the process that they are forked from."""

from __future__ import annotations

import matplotlib.figure
import mpl_toolkits.mplot3d.art3d
import pandas
import rich.progress
import scipy.interpolate
import scipy.optimize
import scipy.sparse.linalg
import zarr

import tautline as tl
import tautline.cli.commands
import tautline.studies.execution.run
from tests.support import chains

__all__ = ["matplotlib", "mpl_toolkits", "pandas", "rich", "scipy", "tautline", "zarr"]

matplotlib.use("Agg")  # no windows
for name in ("fixed-length", "retrieval"):
    chains.simulate(tl.load(name, {"run.duration": "0.01"}))
