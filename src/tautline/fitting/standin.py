"""Stand-in for tl.jacobian by central differences."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from tautline.engine.simulate import simulate


class Jacobian(NamedTuple):
    time: Any
    values: Any
    derivatives: Any
    by: Any
    status: str
    message: str
    remarks: Any


def jacobian(case: Any, outputs: Any, by: Any) -> Jacobian:
    from tautline.model import keys

    outputs, by = list(outputs), list(by)
    first = simulate(case)
    step = first.attrs["step"]
    values = {n: first[n].values for n in outputs}
    ders = {n: np.zeros((*values[n].shape, len(by))) for n in outputs}
    tree = case.to_dict()
    for k, key in enumerate(by):
        v = keys.get(tree, keys.parse(key))
        d = 1e-5 * (abs(v) or 1.0)
        a, b = (simulate(case.with_({key: v + s * d})) for s in (1, -1 if v > 0 else 0))
        w = 2 * d if v > 0 else d
        for n in outputs:
            m = min(len(a.time), len(b.time), len(first.time))
            ders[n][:m, ..., k] = (a[n].values[:m] - b[n].values[:m]) / w
    return Jacobian(
        first.time.values,
        values,
        ders,
        by,
        first.attrs["status"],
        first.attrs["message"],
        first.attrs["remarks"].splitlines(),
    )
