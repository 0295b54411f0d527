"""How bent the mesh is at samples: sums over its nodes by which engine/shape.py judges it, of many samples at once."""

from __future__ import annotations

from tautline.arrays import Array2
from tautline.kernels.jit import entry

# Rows of what is found: least cosine of the angle between neighbouring elements; sums of the squared second and third
# differences of the nodes, and of the second ones of their velocities.
COSINE, BEND, TWIST, DRIFT = range(4)
FOUND = 4
# Squares of shorter lengths vanish.
LEAST_LENGTH = 1e-150


@entry
def measure_bends(q: Array2, v: Array2, lengths: Array2, found: Array2) -> None:
    """Measure samples, one a column.

    Parameters
    ----------
    q, v : array (3 (N + 1), samples)
        Positions and velocities of the nodes: first components of all nodes, then second, then third ones.
    lengths : array (N, samples)
        Of the elements.
    found : array (FOUND, samples)
        Filled.
    """
    N, samples = lengths.shape
    for k in range(samples):
        found[COSINE, k] = 1.0
        for row in range(BEND, FOUND):
            found[row, k] = 0.0
    for e in range(1, N):
        for k in range(samples):
            product = 0.0
            bend = 0.0
            drift = 0.0
            for i in range(3):
                at = i * (N + 1) + e
                before, after = q[at, k] - q[at - 1, k], q[at + 1, k] - q[at, k]
                product += before * after
                bend += (after - before) ** 2
                drift += ((v[at + 1, k] - v[at, k]) - (v[at, k] - v[at - 1, k])) ** 2
            product /= max(lengths[e - 1, k], LEAST_LENGTH) * max(lengths[e, k], LEAST_LENGTH)
            found[COSINE, k] = min(found[COSINE, k], product)
            found[BEND, k] += bend
            found[DRIFT, k] += drift
    for e in range(1, N - 1):
        for k in range(samples):
            twist = 0.0
            for i in range(3):
                at = i * (N + 1) + e
                middle = q[at + 1, k] - q[at, k]
                turn = middle - (q[at, k] - q[at - 1, k])
                twist += ((q[at + 2, k] - q[at + 1, k]) - middle - turn) ** 2
            found[TWIST, k] += twist
