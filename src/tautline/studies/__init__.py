"""Studies: thousands to millions of runs of one scenario, with some of its values varied.

`study` makes and runs one, `resume_study` finishes one that was interrupted, `open_study` reads it.
"""

from __future__ import annotations
