"""Array types, and a length that counts as none."""

from __future__ import annotations

from typing import Annotated, Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
Counters = NDArray[np.int64]
Indices = NDArray[np.intp]
Figure = Any  # a number of a run, or an array with one for each member of a study
# Arrays with several indices, where their number has to be known: in what is handed to machine code.
Array2 = Annotated[Array, 2]
Array3 = Annotated[Array, 3]
Array4 = Annotated[Array, 4]
Counters2 = Annotated[Counters, 2]
# Shorter than any element that can be told from zero: keeps l/|w| finite, and |w| = 0 gives no force.
TINY_LENGTH = 1e-290
