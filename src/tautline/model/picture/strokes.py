"""Strokes of a sketch: points, words, circles and signs as SVG, and outlines of points."""

from __future__ import annotations

import html

import numpy as np

from tautline.arrays import Array


def listed(points: Array) -> str:
    """Points as SVG has them in a row."""
    return " ".join(f"{x:.1f},{y:.1f}" for x, y in points.tolist())


def polyline(points: Array, look: str = "") -> str:
    """A line through points; `look` are further attributes."""
    return f'<polyline points="{listed(points)}"{look and " " + look}/>'


def text(words: str, x: float, y: float) -> str:
    """Words, the place of their lower left corner given."""
    return f'<text x="{x:.1f}" y="{y:.1f}" fill="currentColor" stroke="none">{html.escape(words)}</text>'


def ring(center: Array, radius: float) -> str:
    """A circle."""
    return f'<circle cx="{center[0]:.1f}" cy="{center[1]:.1f}" r="{radius:.1f}"/>'


def around(center: Array, radius: float) -> Array:
    """Points on a circle."""
    angle = np.linspace(0.0, 2.0 * np.pi, 16, endpoint=False)
    return center + radius * np.stack([np.cos(angle), np.sin(angle)], axis=1)


def fixed(point: Array) -> str:
    """Hatching above a point that stands still."""
    x, y = point.tolist()
    strokes = "".join(f"M{x + d:.1f} {y:.1f}l4 -5" for d in (-10, -5, 0, 5))
    return f'<path d="M{x - 11:.1f} {y:.1f}h22{strokes}" stroke-width="1"/>'


def arrow(point: Array, side: float) -> str:
    """One half of an arrow with two heads."""
    x, y = point.tolist()
    return f'<path d="M{x:.1f} {y:.1f}h{11 * side:.0f}m{-4 * side:.0f} -3l{4 * side:.0f} 3l{-4 * side:.0f} 3"/>'


def hull(points: Array) -> Array:
    """Convex outline of points of a plane (Andrew's monotone chain)."""
    rows = sorted({(round(x, 3), round(y, 3)) for x, y in points.tolist()})
    if len(rows) < 3:
        return np.array(rows)

    def half(ordered: list[tuple[float, float]]) -> list[tuple[float, float]]:
        chain: list[tuple[float, float]] = []
        for p in ordered:
            while len(chain) > 1 and _turn(chain[-2], chain[-1], p) <= 0.0:
                chain.pop()
            chain.append(p)
        return chain[:-1]

    return np.array(half(rows) + half(rows[::-1]))


def _turn(a: tuple[float, float], b: tuple[float, float], c: tuple[float, float]) -> float:
    return (b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0])
