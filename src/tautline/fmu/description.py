"""modelDescription.xml of an FMU, for FMI 2.0 and 3.0."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from typing import Any, NamedTuple
from xml.etree import ElementTree

from tautline._version import __version__
from tautline.fmu.variables import Variable

# Exponents of the base units kg, m, s and rad of units of ours.
BASE = {
    "kg": (1, 0, 0, 0),
    "m": (0, 1, 0, 0),
    "s": (0, 0, 1, 0),
    "rad": (0, 0, 0, 1),
    "N": (1, 1, -2, 0),
    "J": (1, 2, -2, 0),
    "W": (1, 2, -3, 0),
    "Pa": (1, -1, -2, 0),
}
LOG_CATEGORIES = {
    "logStatusWarning": "Warnings",
    "logStatusDiscard": "Steps that ended early",
    "logStatusError": "Errors",
    "logStatusFatal": "Errors after which the FMU cannot be used",
    "logAll": "All messages",
}


class Model(NamedTuple):
    """Attributes of a model as a whole."""

    name: str
    identifier: str
    description: str
    token: str
    stop: float
    step: float
    any_step: bool  # whether communication steps may have any length


def exponents(unit: str) -> dict[str, int]:
    """Exponents of base units of a product such as N*s or kg*m^2/s^2."""
    total = [0, 0, 0, 0]
    for sign, factor, power in re.findall(r"([*/]?)([A-Za-z]+)(?:\^(\d+))?", unit):
        for k, exponent in enumerate(BASE[factor]):
            total[k] += (-1 if sign == "/" else 1) * exponent * int(power or 1)
    return {name: x for name, x in zip(("kg", "m", "s", "rad"), total, strict=True) if x}


def unit_name(unit: str) -> str:
    """A unit as the standard writes it: N.m"""
    return unit.replace("*", ".").replace("^", "")


def _add(parent: ElementTree.Element, tag: str, **attributes: Any) -> ElementTree.Element:
    return ElementTree.SubElement(parent, tag, {key: _text(x) for key, x in attributes.items() if x is not None})


def _text(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    return repr(value) if isinstance(value, float) else str(value)


def _head(model: Model, fmi: int, structured: bool) -> ElementTree.Element:
    root = ElementTree.Element("fmiModelDescription")
    token = "guid" if fmi == 2 else "instantiationToken"
    texts = {
        "fmiVersion": f"{fmi}.0",
        "modelName": model.name,
        token: model.token,
        "description": model.description or None,
        "license": "MIT",
        "generationTool": f"tautline {__version__}",
        "variableNamingConvention": "structured" if structured else "flat",
        "numberOfEventIndicators": "0" if fmi == 2 else None,
    }
    for key, text in texts.items():
        if text is not None:
            root.set(key, text)
    shared = {
        "modelIdentifier": model.identifier,
        "canHandleVariableCommunicationStepSize": model.any_step,
        "needsExecutionTool": False,
        "canBeInstantiatedOnlyOncePerProcess": False,
    }
    own: dict[str, Any] = {"canGetAndSetFMUState": True, "canSerializeFMUState": True}
    if fmi == 2:
        own = {
            "canGetAndSetFMUstate": True,
            "canSerializeFMUstate": True,
            "canInterpolateInputs": False,
            "maxOutputDerivativeOrder": 0,
            "canNotUseMemoryManagementFunctions": True,
        }
    _add(root, "CoSimulation", **shared, **own)
    return root


def description(model: Model, variables: Sequence[Variable], fmi: int) -> bytes:
    """Text of modelDescription.xml."""
    root = _head(model, fmi, all(x.name.isascii() for x in variables))  # structured names have no other letters
    units = _add(root, "UnitDefinitions")
    for unit in sorted({x.unit for x in variables if x.unit}):
        _add(_add(units, "Unit", name=unit_name(unit)), "BaseUnit", **exponents(unit))
    categories = _add(root, "LogCategories")
    for name, text in LOG_CATEGORIES.items():
        _add(categories, "Category", name=name, description=text)
    _add(root, "DefaultExperiment", startTime=0.0, stopTime=model.stop, stepSize=model.step)
    listed = _add(root, "ModelVariables")
    for k, x in enumerate(variables):
        _variable(listed, x, k, fmi)
    structure = _add(root, "ModelStructure")
    outputs = [k for k, x in enumerate(variables) if x.causality == "output"]
    if fmi == 2:
        for tag in ("Outputs", "InitialUnknowns"):
            parent = _add(structure, tag)
            for k in outputs:
                _add(parent, "Unknown", index=k + 1)
    else:
        for tag in ("Output", "InitialUnknown"):
            for k in outputs:
                _add(structure, tag, valueReference=k)
    ElementTree.indent(root)
    found: bytes = ElementTree.tostring(root, encoding="utf-8", xml_declaration=True)
    return found + b"\n"


def _variability(x: Variable) -> str:
    if x.causality == "parameter":
        return "fixed"
    return "discrete" if x.is_whole else "continuous"


def _of_number(x: Variable) -> dict[str, Any]:
    least = x.least if x.causality == "parameter" and math.isfinite(x.least) else None
    return {"unit": unit_name(x.unit) or None, "min": least, "start": x.start}


def _variable(parent: ElementTree.Element, x: Variable, reference: int, fmi: int) -> None:
    """A variable: FMI 2.0 has its type as an element inside, FMI 3.0 as its tag."""
    shared = {
        "name": x.name,
        "valueReference": reference,
        "description": x.sentence,
        "causality": x.causality,
        "variability": _variability(x),
        "initial": {"parameter": "exact", "output": "calculated"}.get(x.causality),
    }
    number = {} if x.is_whole else _of_number(x)
    if fmi == 2:
        _add(_add(parent, "ScalarVariable", **shared), "Integer" if x.is_whole else "Real", **number)
    else:
        _add(parent, "Int32" if x.is_whole else "Float64", **shared, **number)
