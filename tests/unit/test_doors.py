"""Pages of how-tos and examples that readers can find: each stands in one group of its list."""

from __future__ import annotations

import re
import runpy
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
HOWTOS = ROOT / "docs" / "howto"
GALLERY = ROOT / "examples" / "gallery"
DOORS = ["Lift", "Lower and tow", "Tether and orbit", "Study the mechanics"]


def _groups(text: str, heading: str) -> list[str]:
    return [found.split(":")[0] for found in re.findall(heading, text, re.MULTILINE)]


def test_every_howto_is_in_one_group() -> None:
    listed = re.findall(r"^([a-z-]+)$", (HOWTOS / "index.md").read_text(encoding="utf-8"), re.MULTILINE)
    assert sorted(listed) == sorted(page.stem for page in HOWTOS.glob("*.md") if page.stem != "index")


def test_every_example_is_in_one_group() -> None:
    listed = re.findall(r":doc:`(\w+)`", (GALLERY / "GALLERY_HEADER.rst").read_text(encoding="utf-8"))
    assert sorted(listed) == sorted(script.stem for script in GALLERY.glob("*.py"))


def test_the_gallery_has_the_order_of_its_header() -> None:
    order = runpy.run_path(str(ROOT / "docs" / "_ext" / "gallery_order.py"))["HeaderOrder"]
    sorted_names = sorted((script.name for script in GALLERY.glob("*.py")), key=order(str(GALLERY)))
    assert (sorted_names[0], sorted_names[-1]) == ("crane_hoist.py", "replay.py")
    steps, mixed = ["step_1.py", "step_2.py", "step_3.py"], ["step_2.py", "step_3.py", "step_1.py"]
    assert sorted(mixed, key=order(str(ROOT / "examples" / "tutorial"))) == steps  # no links there
    assert sorted(mixed, key=order("")) == steps  # how settings are tried


@pytest.mark.parametrize(
    ("page", "heading"),
    [
        (ROOT / "docs" / "index.md", r"^## (.*)$"),
        (HOWTOS / "index.md", r"^## (.*)$"),
        (GALLERY / "GALLERY_HEADER.rst", r"^\*\*(.*?)\*\*"),
    ],
)
def test_lists_begin_with_the_doors(page: Path, heading: str) -> None:
    assert _groups(page.read_text(encoding="utf-8"), heading)[:4] == DOORS


def test_links_of_the_home_page_lead_to_pages() -> None:
    text = (ROOT / "docs" / "index.md").read_text(encoding="utf-8")
    links = [link.split("#")[0] for link in re.findall(r"\]\(([^)]+)\)", text)]
    assert len(links) > 30
    for link in links:
        if link.startswith("generated/"):
            folder, name = Path(link).parent.name, Path(link).stem
            source = ROOT / "examples" / folder / ("GALLERY_HEADER.rst" if name == "index" else f"{name}.py")
        else:
            source = ROOT / "docs" / link
        assert source.is_file(), link
