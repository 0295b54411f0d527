"""Derivatives of systems by states: they keep the symplectic form where nothing is lost."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import tautline as tl
from tautline.gradients.leaves import split, with_leaves
from tautline.gradients.segments import Segments
from tautline.kernels import data
from tautline.kernels.network import data as kernels
from tests.conftest import Report
from tests.support.checking import check_symplectic

TOLERANCE = 1e-10
ELEMENTS = 3


def satellites(order: int, command: dict[str, Any]) -> tl.Case:
    """Two point masses in an eccentric orbit, a reel on one of them, and nothing that is lost."""
    mother = {"position": [1.0, 0.2, 0.0], "velocity": [0.0, 0.01, 0.02]}
    probe = {"position": [-19.5, 0.1, 0.3], "velocity": [0.03, -0.2, 0.1]}
    tether = {"start": "mother", "end": "probe", "length": 60.0, "density": 0.02, "stiffness": 900.0}
    reel = {"drum_radius": 0.1, "guide_length": 0.1, "inertia_mass": 1.5, "guide_law": "none"}
    return tl.Case.from_dict(
        {
            "orbit": {"semi_major_axis": 1e7, "eccentricity": 0.3, "mean_anomaly": 0.4},
            "bodies": {name: {"shape": "point", "mass": mass} for name, mass in (("mother", 40.0), ("probe", 6.0))},
            "lines": {"tether": {**tether, "elements": ELEMENTS, "reel": reel, "command": command}},
            "initial": {
                "bodies": {"mother": mother, "probe": probe},
                "lines": {"tether": {"deployed": 20.0}},
            },
            "run": {"duration": 0.4, "sample": 0.1, "step": 0.01, "order": order},
        }
    )


def form(segments: Segments, x: Any, k: int) -> Any:
    """The symplectic form at a state, in its coordinates: dq_1.dp_2 - dq_2.dp_1 with momenta as the kernels have them.

    Those of the ends of the string are part of the bodies'.
    """
    setting = segments.placed(segments.begun(segments.values), x, k).setting
    tangents = split(setting, segments._slopes.columns(setting, x, segments.values, k))
    system = with_leaves(setting, tangents).network
    (strand,) = system.strands
    momenta = [body.state[kernels.LINEAR : kernels.LINEAR + 3] for body in system.bodies[:2]]
    inner = strand.nodes[data.MOMENTUM].reshape(3, -1, len(x))[:, 1:ELEMENTS]
    momenta.append(inner.transpose(1, 0, 2).reshape(-1, len(x)))
    if strand.row >= 0:
        momenta.append(strand.reel[data.P_S][None])
    names, P = segments.coordinates.names, np.concatenate(momenta)
    Q = np.eye(len(names))[[i for i, name in enumerate(names) if name.startswith(("position", "reeled"))]]
    return Q.T @ P - P.T @ Q


@pytest.mark.parametrize("order", [2, 4, 6])
@pytest.mark.parametrize("command", [{"kind": "locked"}, {"kind": "torque", "torque": 0.05}], ids=lambda x: x["kind"])
def test_flow_in_an_orbit_is_symplectic(order: int, command: dict[str, Any], report: Report) -> None:
    segments = Segments(satellites(order, command), [0.0, 0.2, 0.4], [])
    x, largest = segments.start, 0.0
    for k in range(2):
        marched = segments.march(k, x)
        forms = form(segments, x, k), form(segments, marched.end, k)
        largest = max(largest, check_symplectic(marched.by_state, *forms, TOLERANCE))
        x = marched.end
    report(f"system in an orbit, {command['kind']} reel, order {order}: symplectic defect", largest, f"{TOLERANCE:g}")


def test_damping_is_not_symplectic(report: Report) -> None:
    case = satellites(2, {"kind": "locked"}).with_({"lines.tether.viscosity": 2.0})
    segments = Segments(case, [0.0, 0.4], [])
    marched = segments.march(0, segments.start)
    forms = form(segments, segments.start, 0), form(segments, marched.end, 0)
    with pytest.raises(AssertionError, match="symplectic defect"):
        check_symplectic(marched.by_state, *forms, TOLERANCE)
    defect = check_symplectic(marched.by_state, *forms, np.inf)
    report("control, system with damping: symplectic defect", defect, f"> {TOLERANCE:g}")
