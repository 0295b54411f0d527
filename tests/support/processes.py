"""Code in processes of its own."""

from __future__ import annotations

import os
import subprocess
import sys

QUIET = "import warnings, tautline.errors as e; warnings.simplefilter('ignore', e.TautlineWarning); del e, warnings\n"


def run(code: str, *arguments: str, **variables: str) -> subprocess.CompletedProcess[str]:
    """Run code in a fresh process; it must succeed, without warnings but for those on runs.

    Variables that decide about machine code are only those given.
    """
    decisive = ("TAUTLINE_CACHE_DIR", "TAUTLINE_ENGINE", "XDG_CACHE_HOME")
    environment = {name: value for name, value in os.environ.items() if name not in decisive}
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", QUIET + code, *arguments],
        env={**environment, **variables},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done
