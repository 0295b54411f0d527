"""Lists in the docs that have to name all there is: C functions of the library, and what `make test` leaves out."""

from __future__ import annotations

import ast
import re
from pathlib import Path

from tautline.kernels.machine.signatures import all_functions

ROOT = Path(__file__).parents[2]
VERIFICATION = ROOT / "tests" / "verification"


def section(path: str, heading: str) -> str:
    """Text of a page below a heading, up to the next one."""
    text = (ROOT / path).read_text(encoding="utf-8")
    _, found, rest = text.partition(f"{heading}\n")
    assert found, heading
    return re.split(r"\n#+ ", rest)[0]


def test_every_c_function_is_in_the_table() -> None:
    listed = re.findall(r"`(tl_\w+)`", section("docs/architecture.md", "### Machine code"))
    assert sorted(listed) == sorted(all_functions())


def long_tests() -> set[str]:
    """Tests of the verification that `make test` makes no case of."""
    found = set()
    for path in VERIFICATION.glob("test_*.py"):
        for item in ast.parse(path.read_text(encoding="utf-8")).body:
            if isinstance(item, ast.FunctionDef) and "pytest.mark.long" in map(ast.unparse, item.decorator_list):
                found.add(item.name)
    return found


def test_what_is_left_out_is_listed() -> None:
    listed = re.findall(r"`(test_\w+)`", section("CONTRIBUTING.md", "## What `make test` leaves out"))
    assert sorted(listed) == sorted(long_tests())
