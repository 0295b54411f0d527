"""Files that commands write, refused before anything is computed."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path

from tautline.durable import StoreError, check_regular, kind_of
from tautline.errors import InputError
from tautline.model.wording import either

# Endings of names by what is written.
RUN, PAGE, SCENARIO, STUDY = (".nc",), (".html", ".htm"), (".toml",), (".zarr",)
CSV, GIF, MP4, FMU, PDF = (".csv", ".txt", ".dat"), (".gif",), (".mp4",), (".fmu",), (".pdf",)
PICTURE = (".png", ".svg", ".pdf")
FOLDER: tuple[str, ...] = ()


def check_targets(
    targets: Mapping[Path | None, tuple[str, ...]], sources: Iterable[Path | None], overwrite: bool
) -> None:
    """Refuse targets that the command reads, that end like another kind of file, or that exist.

    Parameters
    ----------
    targets : dict
        Endings that a name may have, by path; None stands for an option that is not given.
    sources : list of path
        Nothing is written over what the command reads, nor into it.
    overwrite : bool
        Permission to replace files; True from commands that decide this later, by what the file holds.
    """
    read = [source.resolve() for source in sources if source is not None and source.exists()]
    for target, endings in targets.items():
        if target is None:
            continue
        if endings == FOLDER and target.exists() and not target.is_dir():
            raise StoreError(f"{target}: {kind_of(target) or 'is a file'}, expected a folder")
        if endings not in (FOLDER, STUDY) and target.exists():
            check_regular(target)
        real = target.resolve()
        if any(source in (real, *real.parents) or (real.exists() and real.samefile(source)) for source in read):
            raise InputError(f"{target}: expected another file than the one that is read")
        if endings == FOLDER:
            continue
        if target.suffix.lower() not in endings:
            raise InputError(f"{target}: expected a name that ends in {either(endings)}")
        if target.exists() and not overwrite:
            raise StoreError(f"{target}: exists already; allow overwriting with --overwrite")
