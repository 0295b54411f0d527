"""Libraries that come with an extra of the package, and the sentence where one is missing."""

from __future__ import annotations

import importlib
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from tautline.errors import InputError

# The extra that brings a library, by the name under which the library is imported.
EXTRAS = {
    "matplotlib": "plot",
    "mpl_toolkits": "plot",
    "websockets": "viewer",
    "anywidget": "notebook",
    "IPython": "notebook",
    "traitlets": "notebook",
    "rich": "cli",
    "typer": "cli",
    "SALib": "studies",
    "dask": "studies",
    "distributed": "studies",
    "pandas": "studies",
    "zarr": "studies",
    "rainflow": "ropes",
    "imageio_ffmpeg": "video",
    "casadi": "optimal",
    "llvmlite": "numba",
    "numba": "numba",
    "trimesh": "mesh",
    "gymnasium": "gym",
    "control": "control",
}


class MissingLibraryError(InputError, ImportError):
    """A library of an extra is not installed."""

    def __init__(self, who: str, library: str) -> None:
        super().__init__(who, library)
        self.library = library

    def __str__(self) -> str:
        return f'{self.args[0]}: needs {self.library}; pip install "tautline[{EXTRAS[self.library]}]"'


@contextmanager
def needed_by(who: str) -> Iterator[None]:
    """Around imports: say in one sentence which library `who` needs, and which extra brings it."""
    try:
        yield
    except ModuleNotFoundError as error:
        library = (error.name or "").partition(".")[0]
        if library not in EXTRAS:
            raise
        raise MissingLibraryError(who, library) from None
    except MissingLibraryError as error:
        raise MissingLibraryError(who, error.library) from None


def need(module: str, who: str) -> Any:
    """Import a module of an extra for `who`."""
    with needed_by(who):
        return importlib.import_module(module)
