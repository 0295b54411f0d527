"""Pages made of stored figures: whether every part of the figures is on the page."""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator
from typing import Any

Tree = dict[str, Any]


def numbers(tree: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Places of all numbers in a tree of JSON."""
    inner = tree.items() if isinstance(tree, dict) else enumerate(tree) if isinstance(tree, list) else ()
    for key, value in inner:
        yield from numbers(value, (*path, key))
    if isinstance(tree, (int, float)) and not isinstance(tree, bool):
        yield path


def with_other_number(tree: Tree, path: tuple[Any, ...]) -> Tree:
    """A copy in which one number is a tenth larger, or one instead of zero."""
    changed = copy.deepcopy(tree)
    inside: Any = changed
    for key in path[:-1]:
        inside = inside[key]
    inside[path[-1]] = 1.1 * inside[path[-1]] or 1.0
    return changed


def unseen(page: Callable[[Tree], str], figures: Tree, paths: list[tuple[Any, ...]]) -> list[tuple[Any, ...]]:
    """Numbers that can change without the page, which therefore says something else than they do or nothing of them."""
    before = page(figures)
    return [path for path in paths if page(with_other_number(figures, path)) == before]
