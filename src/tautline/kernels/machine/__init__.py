"""Machine code of the kernels: as C functions, in a library that is made when tautline is installed."""
