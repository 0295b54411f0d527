"""Content-Security-Policy of the pages that are written: only their own scripts run, and nothing is loaded."""

from __future__ import annotations

import base64
import hashlib
import re
from collections.abc import Iterable
from functools import lru_cache

_SCRIPT = re.compile(r"<script>(.*?)</script>", re.DOTALL)


def script_hash(script: str) -> str:
    """Source expression that allows one inline script."""
    return f"'sha256-{base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()}'"


@lru_cache(maxsize=8)
def script_hashes(page: str) -> tuple[str, ...]:
    """Hashes of all inline scripts of a page; elements with a type hold data."""
    return tuple(script_hash(script) for script in _SCRIPT.findall(page))


def content_policy(scripts: Iterable[str] = (), connections: str = "'none'") -> str:
    """Element for the head of a page that needs no other file.

    Parameters
    ----------
    scripts : list of str
        Source expressions of inline scripts that may run.
    connections : str
        Source expressions of addresses that scripts may connect to.
    """
    rules = {
        "default-src": "'none'",
        "script-src": " ".join(scripts) or "'none'",
        "style-src": "'unsafe-inline'",
        "img-src": "data: blob:",
        "media-src": "data:",
        "connect-src": connections,
        "frame-src": "'self' blob:",
        "base-uri": "'none'",
        "form-action": "'none'",
    }
    text = "; ".join(f"{name} {value}" for name, value in rules.items())
    return f'<meta http-equiv="Content-Security-Policy" content="{text}">'
