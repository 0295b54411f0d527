"""tautline: strings that are reeled out and in, and the rigid bodies they carry.

Everything is loaded when it is first used: `import tautline` alone imports neither numpy nor numba.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from tautline._version import __version__

if TYPE_CHECKING:
    from tautline import control, errors, figures, reference
    from tautline.analysis.fatigue import damage, rainflow
    from tautline.analysis.loads import motor_energy, slack_events, utilisation
    from tautline.analysis.lyapunov import lyapunov
    from tautline.analysis.modes import modes
    from tautline.analysis.spectra import exceedance, spectrum
    from tautline.engine.assembly.simulation import AssemblySimulation
    from tautline.engine.simulate import simulate
    from tautline.engine.simulation import Simulation
    from tautline.figures.fitted import fit_report
    from tautline.figures.report import report
    from tautline.files.runs.reading import open_run
    from tautline.files.runs.writing import resume, run_to_file
    from tautline.files.scenario.reading import load
    from tautline.fitting.fit import fit
    from tautline.fitting.result import Fit
    from tautline.gradients.api import jacobian, value_and_gradient
    from tautline.gradients.objectives import Final, Integral, Peak
    from tautline.gradients.segments import linearize
    from tautline.model.assembly.assembly import Assembly
    from tautline.model.assembly.case import AssemblyCase
    from tautline.model.assembly.parts import Held, Line, Orbit
    from tautline.model.assembly.rest import rest
    from tautline.model.assembly.state import AssemblyState, BodyState, LineStart, hang
    from tautline.model.assembly.statics import Statics, statics
    from tautline.model.body import RigidBody, Shape
    from tautline.model.case import Case
    from tautline.model.command import Brake, Command, Free, Impedance, Length, Locked, Speed, Torque
    from tautline.model.equilibrium import Equilibrium, equilibrium
    from tautline.model.fluid import AppliedForce, BodyInFluid, Fluid
    from tautline.model.force_law import ForceLaw, ForceState
    from tautline.model.hanging import hanging
    from tautline.model.motions import Sine, Sines, Waves
    from tautline.model.path import GuidePath
    from tautline.model.pendulum import Pendulum
    from tautline.model.reel import Reel
    from tautline.model.run import Run
    from tautline.model.starts import AtEquilibrium, Hanging, Straight
    from tautline.model.state import State, straight
    from tautline.model.statics import AtRest, at_rest
    from tautline.model.stop import StopWhen
    from tautline.model.string import String
    from tautline.optimal.optimise import optimise
    from tautline.optimal.result import Optimised
    from tautline.optimal.terms import AtEnd, Limit
    from tautline.results.one_string import one_string
    from tautline.studies.analysis.sensitivity import sensitivity
    from tautline.studies.analysis.uncertainty import bands, quantiles
    from tautline.studies.execution.run import resume_study, study
    from tautline.studies.store.archive import open_study
    from tautline.viewer import view, widget
    from tautline.viewer.opening import live

_HOMES = {
    "Assembly": "tautline.model.assembly.assembly",
    "AssemblyCase": "tautline.model.assembly.case",
    "AssemblySimulation": "tautline.engine.assembly.simulation",
    "AssemblyState": "tautline.model.assembly.state",
    "BodyState": "tautline.model.assembly.state",
    "Held": "tautline.model.assembly.parts",
    "Line": "tautline.model.assembly.parts",
    "LineStart": "tautline.model.assembly.state",
    "Orbit": "tautline.model.assembly.parts",
    "hang": "tautline.model.assembly.state",
    "rest": "tautline.model.assembly.rest",
    "Statics": "tautline.model.assembly.statics",
    "statics": "tautline.model.assembly.statics",
    "one_string": "tautline.results.one_string",
    "AtEnd": "tautline.optimal.terms",
    "Limit": "tautline.optimal.terms",
    "Optimised": "tautline.optimal.result",
    "optimise": "tautline.optimal.optimise",
    "damage": "tautline.analysis.fatigue",
    "rainflow": "tautline.analysis.fatigue",
    "motor_energy": "tautline.analysis.loads",
    "slack_events": "tautline.analysis.loads",
    "utilisation": "tautline.analysis.loads",
    "lyapunov": "tautline.analysis.lyapunov",
    "modes": "tautline.analysis.modes",
    "exceedance": "tautline.analysis.spectra",
    "spectrum": "tautline.analysis.spectra",
    "Fit": "tautline.fitting.result",
    "fit": "tautline.fitting.fit",
    "fit_report": "tautline.figures.fitted",
    "report": "tautline.figures.report",
    "Final": "tautline.gradients.objectives",
    "Integral": "tautline.gradients.objectives",
    "Peak": "tautline.gradients.objectives",
    "jacobian": "tautline.gradients.api",
    "value_and_gradient": "tautline.gradients.api",
    "linearize": "tautline.gradients.segments",
    "RigidBody": "tautline.model.body",
    "Shape": "tautline.model.body",
    "Equilibrium": "tautline.model.equilibrium",
    "equilibrium": "tautline.model.equilibrium",
    "hanging": "tautline.model.hanging",
    "AtEquilibrium": "tautline.model.starts",
    "Hanging": "tautline.model.starts",
    "Straight": "tautline.model.starts",
    "Case": "tautline.model.case",
    "Run": "tautline.model.run",
    "load": "tautline.files.scenario.reading",
    "Brake": "tautline.model.command",
    "Command": "tautline.model.command",
    "Length": "tautline.model.command",
    "Speed": "tautline.model.command",
    "Impedance": "tautline.model.command",
    "Free": "tautline.model.command",
    "Locked": "tautline.model.command",
    "Torque": "tautline.model.command",
    "BodyInFluid": "tautline.model.fluid",
    "Fluid": "tautline.model.fluid",
    "AppliedForce": "tautline.model.fluid",
    "ForceLaw": "tautline.model.force_law",
    "ForceState": "tautline.model.force_law",
    "GuidePath": "tautline.model.path",
    "Sine": "tautline.model.motions",
    "Sines": "tautline.model.motions",
    "Waves": "tautline.model.motions",
    "Pendulum": "tautline.model.pendulum",
    "Reel": "tautline.model.reel",
    "State": "tautline.model.state",
    "straight": "tautline.model.state",
    "AtRest": "tautline.model.statics",
    "at_rest": "tautline.model.statics",
    "String": "tautline.model.string",
    "Simulation": "tautline.engine.simulation",
    "simulate": "tautline.engine.simulate",
    "StopWhen": "tautline.model.stop",
    "open_run": "tautline.files.runs.reading",
    "resume": "tautline.files.runs.writing",
    "run_to_file": "tautline.files.runs.writing",
    "open_study": "tautline.studies.store.archive",
    "resume_study": "tautline.studies.execution.run",
    "study": "tautline.studies.execution.run",
    "sensitivity": "tautline.studies.analysis.sensitivity",
    "bands": "tautline.studies.analysis.uncertainty",
    "quantiles": "tautline.studies.analysis.uncertainty",
    "live": "tautline.viewer.opening",
    "view": "tautline.viewer",
    "widget": "tautline.viewer",
}
_MODULES = {
    "control": "tautline.control",
    "errors": "tautline.errors",
    "figures": "tautline.figures",
    "reference": "tautline.reference",
}

__all__ = [
    "AppliedForce",
    "Assembly",
    "AssemblyCase",
    "AssemblySimulation",
    "AssemblyState",
    "AtEnd",
    "AtEquilibrium",
    "AtRest",
    "BodyInFluid",
    "BodyState",
    "Brake",
    "Case",
    "Command",
    "Equilibrium",
    "Final",
    "Fit",
    "Fluid",
    "ForceLaw",
    "ForceState",
    "Free",
    "GuidePath",
    "Hanging",
    "Held",
    "Impedance",
    "Integral",
    "Length",
    "Limit",
    "Line",
    "LineStart",
    "Locked",
    "Optimised",
    "Orbit",
    "Peak",
    "Pendulum",
    "Reel",
    "RigidBody",
    "Run",
    "Shape",
    "Simulation",
    "Sine",
    "Sines",
    "Speed",
    "State",
    "Statics",
    "StopWhen",
    "Straight",
    "String",
    "Torque",
    "Waves",
    "__version__",
    "at_rest",
    "bands",
    "control",
    "damage",
    "equilibrium",
    "errors",
    "exceedance",
    "figures",
    "fit",
    "fit_report",
    "hang",
    "hanging",
    "jacobian",
    "linearize",
    "live",
    "load",
    "lyapunov",
    "modes",
    "motor_energy",
    "one_string",
    "open_run",
    "open_study",
    "optimise",
    "quantiles",
    "rainflow",
    "reference",
    "report",
    "rest",
    "resume",
    "resume_study",
    "run_to_file",
    "sensitivity",
    "simulate",
    "slack_events",
    "spectrum",
    "statics",
    "straight",
    "study",
    "utilisation",
    "value_and_gradient",
    "view",
    "widget",
]


if not TYPE_CHECKING:  # a type checker sees the imports above, and so finds names that do not exist

    def __getattr__(name: str) -> Any:
        if name in _MODULES:
            return importlib.import_module(_MODULES[name])
        if name in _HOMES:
            value = getattr(importlib.import_module(_HOMES[name]), name)
            globals()[name] = value
            return value
        raise AttributeError(f"module 'tautline' has no attribute {name!r}")


def __dir__() -> list[str]:
    return __all__
