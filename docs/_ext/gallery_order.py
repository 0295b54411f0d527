"""Order of the pages of a gallery: that of the links in its header."""

from __future__ import annotations

import re
from pathlib import Path


class HeaderOrder:
    """Sort key of the scripts in a folder; scripts without a link come last, by name."""

    def __init__(self, src_dir: str) -> None:
        header = Path(src_dir, "GALLERY_HEADER.rst")  # the settings are tried with an empty name of a folder
        self.listed = re.findall(r":doc:`(\w+)`", header.read_text(encoding="utf-8")) if header.is_file() else []

    def __call__(self, file_name: str) -> tuple[int, str]:
        name = Path(file_name).stem
        return (self.listed.index(name) if name in self.listed else len(self.listed), name)
