"""Kinds of warnings: who issues them, what they mean, and what helps."""

from __future__ import annotations

from typing import NamedTuple


class Kind(NamedTuple):
    """Kind of warnings, as a row of the table of docs/trust.md."""

    issued_by: str
    value: str  # what `value` is; empty if there is none
    meaning: str
    advice: str
    where: str = ""  # what `where` names: "line", "body" or "key"


_CHECK, _RUN, _DERIVATIVES, _FIT, _ANALYSIS = "check", "run", "derivatives", "fit", "analysis"
KINDS = {
    "energy_balance": Kind(
        _RUN, "`balance_error`", "energy appeared or vanished", "use a smaller step, more damping or other elements"
    ),
    "step": Kind(
        _RUN,
        "step over the one that resolves the motion",
        "a fixed step does not resolve stretching, turning or the drum on its spring",
        'use a smaller step or "auto"',
    ),
    "turning": Kind(
        _RUN,
        "`turning_error` (rad)",
        "the errors of the steps add up in the attitude of a body that spins",
        "use a smaller step or `order=4`, if the attitude matters",
        "body",
    ),
    "attitude": Kind(
        _RUN,
        "`attitude_error` (rad)",
        "the mesh misses waves that a swinging body sends along the line",
        "use more elements, if the attitude matters",
        "body",
    ),
    "mesh": Kind(_RUN, "`mesh_error`", "positions depend on the mesh", "use more elements", "line"),
    "mesh_noise": Kind(
        _RUN,
        "`mesh_noise`",
        "waves as short as the elements distort the peaks of the tension",
        "smooth starts and stops, damp the mesh (`damping_ratio`), or compare with more elements",
        "line",
    ),
    "front": Kind(
        _RUN,
        "missing part of the largest tension",
        "the start moves a node against its neighbor, and the mesh lowers the front",
        "let velocities rise along the line and reels gather speed, or use many more elements",
        "line",
    ),
    "current": Kind(
        _RUN,
        "`current_share`",
        "a current takes hold of the line at once, and the largest tension depends on the mesh",
        "start at rest in the current, or compare with more elements",
        "line",
    ),
    "sag": Kind(
        _RUN,
        "missing part of the largest tension",
        "straight elements are shorter than the curved line that they stand for",
        "use more elements",
        "line",
    ),
    "swing": Kind(
        _RUN,
        "part of the largest tension",
        "the tension swings so fast that waves across a curved line are too short for the mesh",
        "compare with more elements",
        "line",
    ),
    "fold": Kind(
        _RUN,
        "`largest_fold_deg` (degrees)",
        "the line folded as sharply as the mesh allows, and what follows depends on the mesh",
        "damp the mesh, start taut, or trust only what runs with other meshes have in common",
        "line",
    ),
    "slack": Kind(
        _RUN,
        "`slack_share`",
        "a part of the line was slack, or pushed if its law is linear",
        'expected of ropes that hang loose; otherwise use `law = "tension_only"`',
        "line",
    ),
    "snap": Kind(
        _RUN,
        "number of snaps",
        "half of a line or more was slack, and took load again, more than twice",
        "less motion or more load; compare peaks with more elements and closer samples",
        "line",
    ),
    "compression": Kind(
        _RUN,
        "largest compression (N)",
        "a line with a linear law pushed, which no rope can",
        'use `law = "tension_only"`',
        "line",
    ),
    "breaking_load": Kind(
        _RUN,
        "tension over `breaking_load`",
        "the tension exceeded the breaking load: a real line parts, the model goes on",
        "a stronger line, a smaller load, or slower starts and stops",
        "line",
    ),
    "reel_speed": Kind(
        _RUN,
        "`reel_speed_ratio`",
        "the reel is nearly as fast as the waves in the line",
        "use many more elements, or reel more slowly",
        "line",
    ),
    "end_stop": Kind(
        _RUN, "time (s)", "the reel is held at an end stop since that time", "expected with `at_end`", "line"
    ),
    "slip": Kind(_RUN, "length (m)", "a rope slipped on its wheel", "expected with `groove_friction`", "line"),
    "slack_sheave": Kind(
        _RUN,
        "time (s)",
        "a rope was slack on both sides of a sheave or pin; a real one may come off, the model keeps it there",
        "slower starts and stops, or more load on the rope",
        "line",
    ),
    "motor_torque": Kind(
        _RUN,
        "torque (N m)",
        "a prescribed motion took more than `max_torque`",
        "move the reel more slowly, or choose a stronger motor",
        "line",
    ),
    "motor_power": Kind(
        _RUN,
        "power (W)",
        "a prescribed motion took more than `max_power`",
        "move the reel more slowly, or choose a stronger motor",
        "line",
    ),
    "torque": Kind(_RUN, "", "some torques could not be found to full accuracy", "use a smaller step", "line"),
    "torque_function": Kind(
        _RUN,
        "part that is not along lines over the steps",
        "a function of `Torque` varies within a step",
        "use a smaller step",
        "line",
    ),
    "force_table": Kind(
        _RUN,
        "step (s)",
        "entries of a table of forces are closer than a step; its impulse is exact",
        "use a smaller step, if the course of the force matters",
    ),
    "prescribed_motion": Kind(
        _RUN,
        "departure from lines over the steps, over the range",
        "a motion of reel or guide goes to and fro within a step",
        "use a smaller step",
    ),
    "record_end": Kind(
        _RUN,
        "time (s)",
        "a record of flow, force or motion ends before the run does while it still varies, and its last value stays",
        "give a longer record, or end the run there",
    ),
    "strain": Kind(
        _CHECK,
        "strain",
        "a line is stretched at rest or at the start beyond what ropes bear",
        "correct stiffness, lengths, positions or loads; give rubber a table",
        "line",
    ),
    "stage": Kind(
        _CHECK,
        "",
        "a stage of a sequence ends before the first step",
        "correct its `until`, or leave the stage out",
        "line",
    ),
    "target": Kind(
        _CHECK,
        "length (m)",
        "a move goes beyond the string that there is",
        "correct the target, or give more string",
        "line",
    ),
    "derivative_growth": Kind(
        _DERIVATIVES,
        "relative displacement by relative change of a key",
        "derivatives grew beyond use, since the motion is chaotic",
        "shorten the run, or compare runs with other values",
    ),
    "derivative_kink": Kind(
        _DERIVATIVES,
        "time (s)",
        "a line is exactly unstretched, and rounding decides whether it is slack or taut",
        "start a little stretched",
        "line",
    ),
    "derivative_unknown": Kind(
        _DERIVATIVES,
        "samples without a derivative",
        "a derivative does not exist or could not be found: NaN",
        "change the key away from a kink, or leave it out",
    ),
    "derivative_side": Kind(
        _DERIVATIVES,
        "time (s)",
        "an entry of a table, or the end of a stage, lies at the end of a step: derivatives to both sides differ",
        "move it by a part of a step",
        "key",
    ),
    "fit_bound": Kind(
        _FIT, "value", "the best value may lie beyond a bound", "widen the bound, or fix the key", "key"
    ),
    "fit_undetermined": Kind(
        _FIT, "", "the data do not determine some values", "fix a key, or measure more", "key"
    ),
    "fit_correlation": Kind(
        _FIT, "size of the correlation", "two values can hardly be told apart", "fix one, or measure more", "key"
    ),
    "fit_residuals": Kind(
        _FIT,
        "probability, below the limit",
        "residuals are not noise: the model does not explain all, and standard errors are too small",
        "vary other keys, or improve the model",
    ),
    "fit_sigma": Kind(
        _FIT,
        "probability, below the limit",
        "residuals are not of the size of `sigma`",
        "correct `sigma`, or improve the model",
    ),
    "fit_sampling": Kind(
        _FIT,
        "error of the interpolation over the noise",
        "samples of the run are too far apart for the times of the data",
        "use a smaller `run.sample`",
    ),
    "fit_step": Kind(
        _FIT,
        "shift over the standard error",
        "the step of the runs moves a value by a considerable part of its standard error",
        "use the `run.step` that the warning names",
        "key",
    ),
    "fit_left_out": Kind(
        _FIT, "number of samples", "some data lie outside of the run", "change `run.duration` or the bounds of `offset`"
    ),
    "sampling": Kind(
        _ANALYSIS,
        "part of the range or of the variance",
        "samples are too far apart to show peaks or fast motion",
        "use a smaller `run.sample`",
    ),
    "interpolated": Kind(
        _ANALYSIS, "spacing (s)", "samples were not evenly spaced", "give the run a fixed `sample`"
    ),
    "sensitivity": Kind(
        _ANALYSIS,
        "first index less the total one",
        "estimates contradict each other, since the design is too small",
        "enlarge `design.base`",
        "key",
    ),
}  # fmt: skip
