"""Numbers inside nested objects, mappings and tuples: found, and replaced in copies whose fields are not checked."""

from __future__ import annotations

from collections.abc import Mapping
from functools import reduce
from typing import Any, TypeVar, cast

from tautline.model.description import changed

T = TypeVar("T")
# Names of fields and things on the way from a case to one of its numbers, and the component of a vector at its end.
Place = tuple[Any, ...]


def value_at(thing: Any, place: Place) -> Any:
    """Value at a place of a thing."""
    return reduce(_inside, place, thing)


def _inside(thing: Any, name: Any) -> Any:
    return thing[name] if isinstance(thing, Mapping) or isinstance(name, int) else getattr(thing, name)


def with_value(thing: T, place: Place, value: Any) -> T:
    """The thing with another value at a place: things on the way are copied, their fields not checked."""
    if not place:
        return cast(T, value)
    name, inner = place[0], with_value(_inside(thing, place[0]), place[1:], value)
    if isinstance(thing, tuple):
        if isinstance(name, str):
            return cast(T, cast(Any, thing)._replace(**{name: inner}))
        return cast(T, (*thing[:name], inner, *thing[name + 1 :]))
    return cast(T, {**thing, name: inner}) if isinstance(thing, Mapping) else changed(thing, **{name: inner})
