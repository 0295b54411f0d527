"""Sphinx settings; `make docs` builds. Nothing is fetched while building or reading: the site opens from a folder."""

from __future__ import annotations

import importlib.util
import os
import sys
from pathlib import Path

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE / "_ext"))
os.environ.setdefault("MPLBACKEND", "Agg")

from saved_pictures import PAGES, SavedPictures  # noqa: E402 - from _ext
from tautline import __version__  # noqa: E402

project = "tautline"
author = "the tautline contributors"
copyright = author
release = version = __version__

extensions = [
    "accessible",
    "myst_parser",
    "numpydoc",
    "sphinx.ext.autodoc",
    "sphinx.ext.mathjax",
    "sphinx_copybutton",
    "sphinx_gallery.gen_gallery",
    "code_tables",
    "command_pages",
    "equation_links",
    "examples_of",
    "figure_guide",
    "gallery_order",
    "key_tables",
    "opening_page",
    "thumbnails",
]
default_role = "literal"
smartquotes = False  # quotes and dashes of commands stay as they are typed
INCLUDED = [f"generated/{name}.md" for name in ("backends", "commands", "keys", "laws", "names")]  # by other pages
exclude_patterns = ["_ext", *INCLUDED, "generated/*/*.ipynb", "generated/*/*.py"]
nitpicky = True

# Markdown
myst_enable_extensions = ["amsmath", "colon_fence", "deflist", "dollarmath"]
myst_heading_anchors = 3

# MathJax comes with a package from the index: one file that draws SVG, and so needs no fonts beside it.
_mathjax = importlib.util.find_spec("sphinx-mathjax-offline")
if _mathjax is None or _mathjax.origin is None:
    raise RuntimeError("sphinx-mathjax-offline is missing: pip install '.[docs]'")
mathjax_path = "tex-svg.js"
mathjax_scripts = Path(_mathjax.origin).parent / "static" / "mathjax"

# Pages that examples make of runs
PAGES.mkdir(parents=True, exist_ok=True)

# Reference, from the docstrings
autodoc_member_order = "bysource"
autodoc_typehints = "none"  # numpydoc sections name the types
autodoc_class_signature = "mixed"
numpydoc_show_class_members = False
numpydoc_class_members_toctree = False

# Examples: run by the build, in the order of the links in their headers; that with JAX only where JAX is installed
sphinx_gallery_conf = {
    "examples_dirs": ["../examples/tutorial", "../examples/gallery"],
    "gallery_dirs": ["generated/tutorial", "generated/gallery"],
    "filename_pattern": r"\.py$" if importlib.util.find_spec("jax") else r"(?<!jax_hoist)\.py$",
    "run_stale_examples": True,  # the package may have changed where an example did not
    "image_scrapers": (SavedPictures(),),
    "reset_modules": (),
    "within_subsection_order": "gallery_order.HeaderOrder",
    "default_thumb_file": str(Path(__file__).parent / "images" / "drive.png"),
    "download_all_examples": False,
    "show_memory": False,
    "show_signature": False,
    "min_reported_time": 1e9,
    "remove_config_comments": True,
    "abort_on_example_error": True,
    "copyfile_regex": r"$^",
    "write_computation_times": False,
    "doc_module": (),
    "backreferences_dir": None,
    "capture_repr": (),
}

# Looks
html_theme = "furo"
html_title = f"tautline {release}"
html_static_path = ["_static", str(PAGES), str(mathjax_scripts / mathjax_path)]
html_css_files = ["site.css"]
html_show_sphinx = False
html_copy_source = False
html_show_sourcelink = False
