"""Dense linear equations of bodies and reels."""

from __future__ import annotations

from tautline.arrays import Array2
from tautline.kernels.along import load, spread, store, width
from tautline.kernels.data import Array, put_triple, triple
from tautline.kernels.jit import kernel
from tautline.kernels.so3 import Matrix, Vector, apply, apply_transposed, dot, inverse3
from tautline.kernels.tangents import has_tangents


@kernel
def add_row(out: Array2, i: int, j: int, x: Vector) -> None:
    out[i, j] += x[0]
    out[i, j + 1] += x[1]
    out[i, j + 2] += x[2]


@kernel
def add_block(out: Array2, i: int, j: int, A: Matrix) -> None:
    add_row(out, i, j, A[0])
    add_row(out, i + 1, j, A[1])
    add_row(out, i + 2, j, A[2])


@kernel
def add_column(out: Array2, i: int, j: int, x: Vector) -> None:
    out[i, j] += x[0]
    out[i + 1, j] += x[1]
    out[i + 2, j] += x[2]


@kernel
def clear(matrix: Array2, right: Array) -> None:
    """Zeros, in the places behind the last column too."""
    nothing = spread(right, 0.0)
    for i in range(len(right)):
        right[i] = 0.0
        row = matrix[i]
        for k in range(0, len(right), width(row)):
            store(row, k, nothing)


@kernel
def eliminate(matrix: Array2, right: Array, last: int) -> None:
    """Eliminate the first `last` unknowns: vectors by blocks of three, what is left behind them one by one.

    No pivoting: the matrix is one of masses but for terms in h. Inverses of the pivots are left in their places. Rows
    are worked on in vectors: what they write left of the pivot, and behind the last column, is not read again.
    """
    n = len(right)
    blocks = last - last % 3
    for i in range(0, blocks, 3):
        a, b, c = matrix[i], matrix[i + 1], matrix[i + 2]
        inverse = inverse3((triple(a, i), triple(b, i), triple(c, i)))
        first = i + 3 - (i + 3) % width(a)
        for j in range(i + 3, n):
            row = matrix[j]
            x = triple(row, i)
            if x[0] != 0.0 or x[1] != 0.0 or x[2] != 0.0 or has_tangents(x[0]):
                f = apply_transposed(inverse, x)
                for k in range(first, n, width(row)):
                    store(row, k, load(row, k) - (f[0] * load(a, k) + f[1] * load(b, k) + f[2] * load(c, k)))
                right[j] -= dot(f, triple(right, i))
        put_triple(a, i, inverse[0])
        put_triple(b, i, inverse[1])
        put_triple(c, i, inverse[2])
    for i in range(blocks, last):
        pivot = matrix[i]
        inverse = 1.0 / pivot[i]
        first = i + 1 - (i + 1) % width(pivot)
        for j in range(i + 1, n):
            row = matrix[j]
            factor = row[i] * inverse
            if factor != 0.0 or has_tangents(factor):
                for k in range(first, n, width(row)):
                    store(row, k, load(row, k) - factor * load(pivot, k))
                right[j] -= factor * right[i]
        pivot[i] = inverse


@kernel
def substitute(matrix: Array2, right: Array, last: int, x: Array) -> None:
    """Unknowns before `last`, from those behind: each goes into all rows before it, which do not wait for another."""
    blocks = last - last % 3
    for k in range(len(right) - 1, blocks - 1, -1):
        if k < last:
            x[k] = right[k] * matrix[k, k]
        for i in range(min(k, last)):
            right[i] -= matrix[i, k] * x[k]
    for k in range(blocks - 3, -1, -3):
        own = (triple(matrix[k], k), triple(matrix[k + 1], k), triple(matrix[k + 2], k))
        found = apply(own, triple(right, k))
        put_triple(x, k, found)
        for i in range(k):
            right[i] -= dot(triple(matrix[i], k), found)
