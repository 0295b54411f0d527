"""Lines over sheaves in tautline, through its public interface: rope with mass, wheels with inertia and efficiency."""

from __future__ import annotations

import math

import numpy as np

import tautline as tl
from benchmarks.peers.protocol import Method, Passage, reeved, serve

ORDERS = {"order 2": 2, "order 4": 4, "order 6": 6}


class Reeved:
    """A case, and the ends of its two spans whose tensions count."""

    def __init__(self, case: tl.Case, ends: tuple[str, str]) -> None:
        self.simulation, self.commands, self.ends = tl.Simulation.from_case(case), case.commands, ends

    def advance(self, seconds: float, sample: float | None = None) -> int:
        before = self.simulation.steps
        if self.simulation.advance(seconds, self.commands, sample=sample) != "completed":
            raise RuntimeError(self.simulation.message)
        return self.simulation.steps - before

    def trace(self, duration: float, sample: float) -> list[Passage]:
        self.advance(duration, sample)
        run = self.simulation.dataset()
        depths = run.body_position.sel(axis="z").values
        tensions = np.stack([run[f"span_{end}_tension"].values[:, k] for k, end in enumerate(self.ends)], axis=1)
        rows = zip(run.time.values.tolist(), (depths[0] - depths).tolist(), tensions.tolist(), strict=True)
        return [Passage(time=t, heights=x, tensions=T) for t, x, T in rows][1:]  # without the start


def atwood(method: Method) -> Reeved:
    """The machine from rest, with the strains that it has as it accelerates."""
    p, N = method.problem, method.elements
    (light, heavy), l, r, mu = p["masses"], p["side"], p["radius"], p["density"]
    wrap = math.pi * r
    a = p["gravity"] * (heavy - light) / (light + heavy + mu * (2.0 * l + wrap) + p["wheel"])
    middles = (np.arange(N) + 0.5) * l / N
    spans = []
    for m, g in ((light, p["gravity"] + a), (heavy, p["gravity"] - a)):
        lengths = l / N * (1.0 + (m + mu * middles) * g / p["stiffness"])
        spans.append(np.concatenate([[0.0], np.cumsum(lengths)]))
    depths = np.concatenate([spans[0][-1] - spans[0], (spans[1][-1] - spans[1])[::-1]])
    nodes = np.zeros((2 * N + 2, 3))
    nodes[:, 0], nodes[:, 2] = np.repeat([-r, r], N + 1), depths
    wheel = tl.Sheave((0.0, 0.0, 0.0), r, (0.0, 1.0, 0.0), inertia_mass=p["wheel"])
    rope = tl.String(2.0 * l + wrap, mu, p["stiffness"], law="linear")
    system = tl.System(
        {"light": tl.RigidBody.point(light), "heavy": tl.RigidBody.point(heavy)},
        {"rope": tl.Line(rope, "light", end="heavy", elements=N, over={"top": wheel})},
        gravity=p["gravity"],
    )
    bodies = {"light": tl.BodyState(tuple(nodes[0])), "heavy": tl.BodyState(tuple(nodes[-1]))}
    state = tl.State(bodies, {"rope": tl.LineState(nodes, span_lengths=np.array([l, l]))})
    run = tl.Run(duration=10.0, step=method.knob, order=ORDERS[method.name])
    return Reeved(tl.Case(system, state, {}, run), ("end", "start"))


def hoist(method: Method) -> Reeved:
    """The block at rest, then hauled by a drum with a given length."""
    p = method.problem
    r, l = p["radius"], p["fall"]
    wheel = tl.Sheave(
        (0.0, 0.0, 0.0), r, (0.0, 1.0, 0.0), on="block", inertia_mass=p["wheel"], efficiency=p["efficiency"]
    )
    rope = tl.String(3.0 * l, p["density"], p["stiffness"], viscosity=p["damping"], law="linear")
    line = tl.Line(
        rope,
        start_point=(-r, 0.0, 0.0),
        reel=tl.Reel(r, r, inertia_mass=1.0),
        over={"lower": wheel},
        end_point=(r, 0.0, 0.0),
        elements=method.elements,
    )
    # with an attitude, so that the falls meet the wheel at the ends of a diameter
    block = tl.RigidBody.box(p["load"], (1.0, 1.0, 1.0), (0.0, 0.0, 0.5))
    system = tl.System({"block": block}, {"hoist": line}, gravity=p["gravity"])
    start, ramp, speed = p["program"]
    slow, swift = [2.0 * l, 0.0, -0.5 * speed / ramp], [2.0 * l - 0.5 * speed * ramp, -speed, 0.0]
    program = tl.Length(pieces=([0.0, start, start + ramp], [[2.0 * l, 0.0, 0.0], slow, swift]))
    run = tl.Run(duration=10.0, step=method.knob, order=ORDERS[method.name])
    case = tl.Case(system, tl.Hanging(2.0 * l), {"hoist": program}, run)
    return Reeved(case, ("start", "end"))


if __name__ == "__main__":
    serve(lambda method: {"atwood": atwood, "hoist": hoist}[method.problem["case"]](method), reeved)
