"""Scenario files: TOML with units, read into cases and written from them."""

from __future__ import annotations

from tautline.files.scenario.reading import BUILT_IN, beside, built_in_names, find, load, parse, read, tree_of
from tautline.files.scenario.schema import assembly_schema, json_schema, pendulum_schema
from tautline.model.sections import ScenarioError

__all__ = [
    "BUILT_IN",
    "ScenarioError",
    "assembly_schema",
    "beside",
    "built_in_names",
    "find",
    "json_schema",
    "load",
    "parse",
    "pendulum_schema",
    "read",
    "tree_of",
]
