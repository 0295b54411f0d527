"""Scenario files: TOML with units, read into cases and written from them."""

from __future__ import annotations

from tautline.files.scenario.origin import Options, said_of
from tautline.files.scenario.reading import BUILT_IN, beside, built_in_names, find, load, parse, read, tree_of
from tautline.files.scenario.schema import full_schema, json_schema, short_schema
from tautline.model.system.problems import ScenarioError

__all__ = [
    "BUILT_IN",
    "Options",
    "ScenarioError",
    "beside",
    "built_in_names",
    "find",
    "full_schema",
    "json_schema",
    "load",
    "parse",
    "read",
    "said_of",
    "short_schema",
    "tree_of",
]
