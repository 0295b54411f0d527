"""Look at runs in a browser: replay, live control, and pages that need nothing but themselves."""

from __future__ import annotations

from tautline.viewer.page import View, view

__all__ = ["View", "view"]
