"""One environment for each peer in build/peers: made by venv and pip, measured, never shared."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path

from benchmarks.peers.catalogue import OURS, Peer

ROOT = Path(__file__).parents[2]
FOLDER = ROOT / "build" / "peers"
TOOLS = ("pip", "setuptools", "_distutils_hack", "pkg_resources")  # there before anything is installed


class PeerError(Exception):
    """A peer could not be installed or run; the others go on."""


def python_of(peer: Peer) -> Path:
    return FOLDER / peer.name / ("Scripts" if os.name == "nt" else "bin") / "python"


def clean_environment() -> dict[str, str]:
    """Ours without the paths that would let a peer see more than its own packages."""
    return {key: value for key, value in os.environ.items() if key not in ("PYTHONPATH", "VIRTUAL_ENV")}


def install(peer: Peer) -> None:
    """Make the environment, bring it to other versions if the catalogue names them, or bring ours up to date."""
    python = python_of(peer)
    stamp, wanted = FOLDER / peer.name / "installed", "\n".join(peer.requirements)
    found = stamp.read_text(encoding="utf-8") if stamp.exists() else None
    if found == wanted and (peer.kind != OURS or not newer(stamp)):
        return
    if not python.exists():
        subprocess.run([sys.executable, "-m", "venv", str(FOLDER / peer.name)], check=True)
    command = [str(python), "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
    if found is not None and peer.kind == OURS:
        command += ["--force-reinstall", "--no-deps"]
    done = subprocess.run(
        [*command, *peer.requirements], cwd=ROOT, env=clean_environment(), capture_output=True, text=True
    )
    if done.returncode != 0:
        raise PeerError(f"pip install {' '.join(peer.requirements)}: {done.stderr.strip().splitlines()[-1]}")
    stamp.write_text(wanted, encoding="utf-8")


def newer(stamp: Path) -> bool:
    """Whether our sources changed after a file was written."""
    written = stamp.stat().st_mtime
    return any(path.stat().st_mtime > written for path in (ROOT / "src").rglob("*.py"))


def remove(peer: Peer) -> None:
    shutil.rmtree(FOLDER / peer.name, ignore_errors=True)


def versions(peer: Peer) -> dict[str, str]:
    """Versions of everything that is installed there, but the tools."""
    command = [str(python_of(peer)), "-m", "pip", "list", "--format", "json", "--disable-pip-version-check"]
    done = subprocess.run(command, env=clean_environment(), capture_output=True, text=True, check=True)
    return {row["name"]: row["version"] for row in json.loads(done.stdout) if row["name"] not in TOOLS}


def sizes(peer: Peer, bytecode: bool = False) -> Counter[str]:
    """Bytes in site-packages by what stands at its top, without the tools, and without compiled Python files or not."""
    code = "import sysconfig; print(sysconfig.get_path('platlib'))"
    done = subprocess.run(
        [str(python_of(peer)), "-c", code], env=clean_environment(), capture_output=True, text=True, check=True
    )
    packages = Path(done.stdout.strip())
    found: Counter[str] = Counter()
    for path in packages.rglob("*"):
        inside = path.relative_to(packages).parts
        name = inside[0].split("-")[0]
        if name not in TOOLS and (bytecode or "__pycache__" not in inside) and path.is_file():
            found[name.split(".")[0].lower()] += 0 if path.is_symlink() else path.stat().st_size
    return found


def size(peer: Peer) -> int:
    """Bytes in site-packages, without the tools and without compiled Python files."""
    return sizes(peer).total()


def import_seconds(peer: Peer, repeats: int) -> float:
    """Best of several fresh processes, above a bare one."""

    def wall(code: str) -> float:
        start = time.perf_counter()
        subprocess.run([str(python_of(peer)), "-c", code], env=clean_environment(), check=True, capture_output=True)
        return time.perf_counter() - start

    code = f"import {peer.imports}"
    wall(code)
    bare, imported = ([wall(x) for _ in range(repeats)] for x in ("", code))
    return min(imported) - min(bare)


def model_lines(peer: Peer) -> int:
    """Lines between `# model` and `# end of model` that are neither empty nor a comment."""
    text = (Path(__file__).parent / f"{peer.name}.py").read_text(encoding="utf-8")
    inside = text.split("# model\n")[1].split("# end of model\n")[0]
    return sum(1 for line in inside.splitlines() if line.strip() and not line.strip().startswith("#"))
