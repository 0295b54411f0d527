"""A system with all that rope runs over: a hook block, an eye, drums on one shaft, and a sheave that is driven."""

from __future__ import annotations

from typing import Any

import tautline as tl

DATA: dict[str, Any] = {
    "bodies": {
        "block": {"shape": "box", "mass": 50.0, "sides": [0.6, 0.4, 0.8], "center_of_mass": [0.0, 0.0, 0.4]},
        "car": {"shape": "point", "mass": 30.0},
    },
    "lines": {
        "hoist": {
            "end": "car",
            "length": 60.0,
            "density": 0.5,
            "stiffness": 2e4,
            "elements": 3,
            "reel": {"drum_radius": 0.3, "guide_length": 0.5, "inertia_mass": 4.0, "shaft": "winch"},
            "over": {
                "lower": {
                    "on": "block",
                    "center": [0.0, 0.0, 0.0],
                    "radius": 0.2,
                    "axis": [0.0, 1.0, 0.0],
                    "inertia_mass": 2.0,
                    "bearing_friction": 0.1,
                    "bearing_radius": 0.03,
                },
                "eye": {"point": [1.0, 0.0, 0.5], "friction": 0.15, "inertia_mass": 0.5, "smoothing_speed": 0.05},
            },
            "command": {"kind": "torque", "torque": 30.0},
        },
        "guy": {
            "start_point": [3.0, 0.0, 0.0],
            "end": "block",
            "end_point": [0.3, 0.0, 0.0],
            "length": 60.0,
            "density": 0.5,
            "stiffness": 2e4,
            "elements": 2,
            "reel": {"drum_radius": 0.2, "guide_length": 0.5, "inertia_mass": 9.0, "shaft": "winch", "sense": -1},
        },
        "haul": {
            "start": "car",
            "end_point": [4.0, 0.0, 2.0],
            "length": 60.0,
            "density": 0.5,
            "stiffness": 2e4,
            "elements": 2,
            "over": {
                "drive": {
                    "center": [2.0, 0.0, 1.0],
                    "radius": 0.3,
                    "axis": [0.0, 1.0, 0.0],
                    "inertia_mass": 3.0,
                    "efficiency": 0.97,
                    "command": {"kind": "torque", "torque": 20.0},
                }
            },
            "end_reel": {"drum_radius": 0.25, "guide_length": 0.5, "inertia_mass": 3.0},
        },
    },
    "initial": {
        "bodies": {
            "block": {"position": [0.0, 0.1, 6.0], "velocity": [0.1, 0.0, -0.3]},
            "car": {"position": [1.5, 0.0, 7.0], "velocity": [0.0, 0.2, 0.4]},
        },
        "lines": {"hoist": {"deployed": 17.2}, "guy": {"deployed": 6.19}, "haul": {"deployed": 7.94}},
    },
    "run": {"duration": 0.1, "sample": 0.05, "step": 1e-3},
}


def tackle(**changes: Any) -> tl.Case:
    """The system in motion, for some steps."""
    return tl.Case.from_dict(DATA).with_(changes)
