"""tautline: strings that are reeled out and in, and the rigid bodies they carry.

Everything is loaded when it is first used: `import tautline` alone imports neither numpy nor numba.
The public names and their homes are in `__init__.pyi`, which type checkers read as well.
"""

from __future__ import annotations

from tautline._version import __version__ as __version__
from tautline.lazy import public_names

__getattr__, __dir__, __all__ = public_names(__name__, __file__)
