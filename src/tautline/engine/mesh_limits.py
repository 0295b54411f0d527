"""Limits on the figures of a mesh, and what to do where one is exceeded.

Where they come from is on the page "How many elements?" (docs/howto/elements.md).
"""

from __future__ import annotations

import numpy as np

from tautline.engine.criteria import Criterion
from tautline.engine.mesh import MeshHealth, over
from tautline.engine.shape import InField
from tautline.engine.snaps import snap_criterion
from tautline.quantities import number, value

NOISE_LIMIT = 0.02
SMOOTH_NOISE = 0.5  # over N^2: what a tension that rises as a parabola from 0 shows without any noise
ADVISED_RATIO = 0.2  # of damping; ends the noise of a sudden stop
ERROR_LIMIT = 0.02
FOLD_LIMIT = 120.0  # degrees
SLACK_LIMIT = 0.03
# Compression over the largest tension.
PUSH_LIMIT = 0.01
FRONT_LIMIT = 0.05
FRONT_MISSING = 0.03  # of the largest tension, by the estimate below
# Of 509 pendulums of the trial in a current 10 are above it: 9 are wrong, 1 right to 1 %.
CURRENT_LIMIT = 0.1
# Of lines of systems whose ends others hold: of 256 systems of the trial 7 of 12 with wrong peaks are above it,
# and none of the 194 that are right to 1 %. A body that hangs on one line gives way: 12 of 531 pendulums that are right
# would be above it.
ARC_LIMIT = 0.07
# Part of the largest tension that swings with waves across the string which are too short for the mesh. Of lines whose
# ends others hold: of systems of the trial without another warning 21 are above it, 12 wrong by more than 4 %, 1 right
# to 1 %. A body that hangs on one line gives way.
SWING_LIMIT, FREE_SWING_LIMIT = 0.0065, 0.03


def mesh_criteria(mesh: MeshHealth, line: InField, elements: int, key: str = "", held: bool = False) -> list[Criterion]:
    """Limits on the figures of a mesh, and what to do where one is exceeded.

    `key` is that of the line in files of systems; a system of one line and one body has short keys, and elements
    are an argument. `held` says whether others hold both ends of the line, which then do not give way.
    """
    advised = f"{key}.elements = " if key else "elements="
    key = key or "string"
    folded = np.greater(mesh.fold, FOLD_LIMIT)
    ratio, limit = mesh.damping_ratio(line, elements), NOISE_LIMIT + SMOOTH_NOISE / elements**2
    missing, swing = mesh.too_low(ratio, elements), mesh.swing(line, elements)
    swing_limit = SWING_LIMIT if held else FREE_SWING_LIMIT
    breaking = line.string.breaking_load
    used = over(mesh.tension, 0.0 if breaking is None else breaking)
    what = "slack"
    if line.string.law == "linear":
        what = f'in compression, where a real one is slack: {key}.law = "tension_only" does not push'
    return [
        Criterion(
            "mesh_noise",
            np.greater(mesh.noise, limit) & ~np.less_equal(mesh.reach, (1.0 + limit) * mesh.tension),
            (mesh.noise, ratio),
            limit,
            lambda noise, ratio: (
                f"the mesh carries noise: its shortest waves hold up to {_percent(noise)} of the largest tension, so "
                "peak tensions are not converged: ringing makes them too high, and those of sharp fronts are too "
                f"low; {_against_noise(ratio, key, f'{advised}{2 * elements}')}"
            ),
        ),
        Criterion(
            "front",
            np.greater(mesh.front, FRONT_LIMIT * mesh.tension) & np.greater(missing, FRONT_MISSING),
            (missing, mesh.front, mesh.tension),
            FRONT_MISSING,
            lambda low, front, tension: (
                "the start moves a node against its neighbor, a front as sharp as the mesh: it makes "
                f"about {_newtons(front)} at once, of a largest tension of {_newtons(tension)}, and leaves that too "
                f"low by about {_percent(low)}; let velocities rise along the string and reels gather speed, or take "
                "many more elements"
            ),
        ),
        Criterion(
            "current",
            np.greater(mesh.current, CURRENT_LIMIT * mesh.tension),
            (over(mesh.current, mesh.tension), mesh.current, mesh.tension),
            CURRENT_LIMIT,
            lambda _, current, tension: (
                "the current takes hold of the string at once, faster than bends cross an element: of a largest "
                f"tension of {_newtons(tension)} about {_newtons(current)} depend on the mesh; begin at rest in the "
                f"current (tl.AtEquilibrium), or compare with {advised}{2 * elements}"
            ),
        ),
        Criterion(
            "sag",
            np.greater(mesh.arc, (1.0 + ARC_LIMIT) * mesh.tension) & held,
            (over(mesh.arc - mesh.tension, mesh.tension), mesh.arc, mesh.tension),
            ARC_LIMIT,
            lambda _, arc, tension: (
                f"its {elements} elements are straight where it is curved, and shorter: with the missing length "
                f"its largest tension of {_newtons(tension)} would be {_newtons(arc)} if its ends stayed; try "
                f"{advised}{2 * elements}"
            ),
        ),
        Criterion.above(
            "swing",
            swing,
            swing_limit,
            lambda _: (
                f"the tension swings so fast that waves across the curved string are too short for {elements} "
                f"elements: peak tensions depend on the mesh; compare with {advised}{2 * elements}"
            ),
        ),
        Criterion(
            "mesh",
            np.greater(mesh.error, ERROR_LIMIT) & ~folded,
            (mesh.error,),
            ERROR_LIMIT,
            lambda error: (
                f"the mesh of {elements} elements leaves positions uncertain by about {_percent(error)} of the "
                f"deployed length; try {advised}{elements * (2 if error < 2.0 * ERROR_LIMIT else 4)}"
            ),
        ),
        Criterion(
            "fold",
            folded,
            (mesh.fold, ratio, mesh.taut),
            FOLD_LIMIT,
            lambda fold, ratio, taut: (
                f"the string folded, by up to {fold:.0f} degrees between neighboring elements: a fold is as "
                f"sharp as the mesh, and what follows depends on the mesh; {_against_folds(ratio, taut, key)}"
            ),
        ),
        Criterion.above(
            "slack",
            mesh.slack_share,
            SLACK_LIMIT,
            lambda share: f"on average {_percent(share)} of the string was {what}",
        ),
        snap_criterion(mesh.snaps, line.string.law != "linear"),
        Criterion(
            "compression",
            np.greater(mesh.push, PUSH_LIMIT * mesh.tension) & ~np.greater(mesh.slack_share, SLACK_LIMIT),
            (mesh.push,),
            None,
            lambda push: (
                f"the string was pressed together with up to {_newtons(push)}, which no rope can bear; "
                f'use {key}.law = "tension_only"'
            ),
        ),
        Criterion(
            "breaking_load",
            np.greater(used, 1.0),
            (used, mesh.tension),
            1.0,
            lambda used, tension: (
                f"the tension reached {value(tension, 'N')}, {number(used, 3)} times {key}.breaking_load: a real "
                "string parts, and what follows does not happen"
            ),
        ),
    ]


def _newtons(force: float) -> str:
    return value(force, "N", 3)


def _percent(share: float) -> str:
    return value(share, "%", 2)


def _against_noise(ratio: float, key: str, finer: str) -> str:
    """Advice, by the damping ratio that the mesh has already."""
    if ratio < 0.999 * ADVISED_RATIO:
        return (
            f"smooth starts and stops; {key}.damping_ratio = {ADVISED_RATIO:g} ends the ringing without smaller "
            "steps, but lowers sharp fronts further"
        )
    return f"smooth starts and stops, or compare with {finer}"


def _against_folds(ratio: float, taut: float, key: str) -> str:
    """Advice, by the damping ratio that the mesh has already, and by how the string started."""
    advice = [] if ratio >= 0.999 * ADVISED_RATIO else [f"damp it ({key}.damping_ratio = {ADVISED_RATIO:g})"]
    advice += [] if taut else ["begin with a taut string"]
    return ", or ".join(advice) or "compare runs with other numbers of elements, and trust what they have in common"
