"""Programs in processes of their own, forked from one that has loaded all that they import: 0.1 s instead of 2 to 3 s.

That each public name can be had in a fresh process is the business of tests/unit/test_package.py.
"""

from __future__ import annotations

import multiprocessing
import os
import runpy
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).parents[2]
SECONDS = 300.0
_SERVER = multiprocessing.get_context("forkserver")
_SERVER.set_forkserver_preload(["tests.support.loaded"])


def python(arguments: list[str], folder: Path) -> subprocess.CompletedProcess[str]:
    """Run `python -c CODE` or `python SCRIPT` in a folder; "tautline" in their place is the command."""
    with tempfile.TemporaryDirectory() as outputs:
        process = _SERVER.Process(target=_run, args=(arguments, str(folder), outputs, dict(os.environ)))
        process.start()
        process.join(SECONDS)
        if process.exitcode is None:
            process.kill()
            process.join()
        out, err = (Path(outputs, name).read_text(encoding="utf-8") for name in ("out", "err"))
        code = process.exitcode
        assert code is not None
        process.close()
    return subprocess.CompletedProcess(arguments, code, out, err)


def command(arguments: tuple[str, ...], folder: Path) -> subprocess.CompletedProcess[str]:
    """Run `tautline ARGUMENTS` in a folder."""
    return python(["tautline", *arguments], folder)


def _run(arguments: list[str], folder: str, outputs: str, environment: dict[str, str]) -> None:
    """Be the program, in the forked process, with the environment of now and not that of the first fork."""
    os.environ.clear()
    os.environ.update(environment)
    for name, number in (("out", 1), ("err", 2)):
        file = os.open(f"{outputs}/{name}", os.O_WRONLY | os.O_CREAT, 0o600)
        os.dup2(file, number)
    os.chdir(folder)
    sys.argv = arguments
    sys.path[:] = [path for path in sys.path if path != str(ROOT)]  # pytest's
    if arguments[0] == "tautline":  # installed: the working folder is not on its path
        from tautline.cli import main

        main()
    elif arguments[0] == "-c":
        sys.path.insert(0, "")
        exec(compile(arguments[1], "<string>", "exec"), {"__name__": "__main__"})
    else:
        sys.path.insert(0, str(Path(arguments[0]).parent))
        runpy.run_path(arguments[0], run_name="__main__")
