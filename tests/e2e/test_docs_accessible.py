"""A site of some pages, built as `make docs` builds all of them: nothing on it keeps anybody from using it."""

from __future__ import annotations

import importlib.util
import shutil
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.support.pages import DESKTOP, PHONE, violations

if TYPE_CHECKING:
    from playwright.sync_api import Browser

pytestmark = pytest.mark.long

ROOT = Path(__file__).parents[2]
PAGES = ("index", "quickstart", "glossary", "viewer-protocol", "howto/index", "howto/look", "howto/heave", "trust")
PAGES_OF_REFERENCE = ("reference/index", "reference/viewer")
EXAMPLES = ("gallery/atwood", "gallery/slack", "gallery/replay", "tutorial/step_1_pendulum")


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    if importlib.util.find_spec("furo") is None:
        pytest.skip('needs Sphinx and its theme; pip install ".[docs]"')
    folder = tmp_path_factory.mktemp("site")
    for part in ("_ext", "_static", "images", "measured"):
        shutil.copytree(ROOT / "docs" / part, folder / "docs" / part)
    for name in ("conf.py", *(f"{page}.md" for page in (*PAGES, *PAGES_OF_REFERENCE))):
        (folder / "docs" / name).parent.mkdir(exist_ok=True)
        shutil.copy(ROOT / "docs" / name, folder / "docs" / name)
    for name in (
        *(f"{example}.py" for example in EXAMPLES),
        "gallery/GALLERY_HEADER.rst",
        "tutorial/GALLERY_HEADER.rst",
    ):
        (folder / "examples" / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / "examples" / name, folder / "examples" / name)
    for page in ROOT.glob("*.md"):
        shutil.copy(page, folder)
    # links to pages that are left out are warned of
    command = [sys.executable, "-m", "sphinx", "-b", "html", "-q", "docs", "site"]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return folder / "site"


@pytest.mark.parametrize(("theme", "size"), [("light", DESKTOP), ("dark", PHONE)])
def test_the_site_is_accessible(theme: str, size: tuple[int, int], site: Path, browser: Browser) -> None:
    pages = [page for page in site.rglob("*.html") if "_static" not in page.parts]
    assert len(pages) > len(PAGES) + len(PAGES_OF_REFERENCE) + len(EXAMPLES)
    viewport = {"width": size[0], "height": size[1]}
    page = browser.new_page(color_scheme=theme, viewport=viewport, bypass_csp=True)  # type: ignore[arg-type]
    found = {}
    for path in pages:
        page.goto(path.as_uri())
        found[str(path.relative_to(site))] = violations(page)
    page.close()
    assert {name: wrong for name, wrong in found.items() if wrong} == {}
