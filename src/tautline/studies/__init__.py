"""Studies: thousands to millions of runs of one scenario, with some of its values varied.

`tl.study` makes and runs one, `tl.open_study` reads it; here is what finishes one that was interrupted, and what
analyzes one.
"""

from __future__ import annotations

from tautline.lazy import public_names

__getattr__, __dir__, __all__ = public_names(__name__, __file__)
