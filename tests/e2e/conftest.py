"""A browser for the tests of a file, and pages of which none may have complained when a test ends."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest

from tests.support.browser import browsing
from tests.support.pages import Pages

if TYPE_CHECKING:
    from playwright.sync_api import Browser


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with browsing() as started:
        yield started


@pytest.fixture
def open_page(browser: Browser) -> Iterator[Pages]:
    pages = Pages(browser)
    yield pages
    pages.close()
