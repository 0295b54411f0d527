"""Scenario files: TOML with units, checked, and turned into plain SI objects."""

from __future__ import annotations

from tautline.files.scenario.origin import ScenarioError
from tautline.files.scenario.reading import (
    BUILT_IN,
    built_in_names,
    find,
    from_dict,
    json_schema,
    load,
    parse,
    read,
    unit_of,
)
from tautline.files.scenario.system import Built, Scenario, default_of

__all__ = [
    "BUILT_IN",
    "Built",
    "Scenario",
    "ScenarioError",
    "built_in_names",
    "default_of",
    "find",
    "from_dict",
    "json_schema",
    "load",
    "parse",
    "read",
    "unit_of",
]
