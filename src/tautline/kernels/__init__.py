"""The compiled part: numpy and numba only, plain floats and arrays in, arrays and a status code out."""
