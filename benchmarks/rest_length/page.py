"""docs/rest-length.md from results.json and peers.json; every figure and verdict in it is computed."""

from __future__ import annotations

import json
import textwrap
from collections.abc import Iterator
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
PAGE = HERE.parents[1] / "docs" / "rest-length.md"
PEERS = {"MoorDyn": "MoorDyn, line length", "Exudyn": "Exudyn, reeving spring", "MuJoCo": "MuJoCo, tendon servo"}
CASES = {"deployment": "example 2", "retrieval": "example 3", "fast": "fast payout"}
MODELS = {
    "tautline": "tautline",
    "follows": "rest length, mass follows",
    "momentum": "rest length, momentum form",
    "stays": "rest length, mass stays",
}
COLUMNS = {
    "distance": "attachment point, m",
    "guide_tension": "tension at the guide, %",
    "body_tension": "tension at the body, %",
    "energy": "energy, %",
    "angular_momentum": "angular momentum, %",
    "momentum": "momentum, %",
}
COARSE, FINE = "20", "80"
# Below this part an error counts as rounding, or as that of the time step.
NOTHING = 1e-6
# A refinement by four shrinks a first-order error to a quarter; what keeps half is no error of the mesh.
STAYS = 0.5
WIDTH = 120

TEXT = r"""# What rest-length scaling gets wrong

Most programs that reel do it like this: a chain of lumped masses, joined by springs, and when the deployed length
$L(t)$ changes, the rest length of every spring is set to $L(t)/n$. If the program is careful, the masses follow:
$m=\mu L(t)/n$. It is easy, it is right for a string that hangs still, and it moves the string in a way that no drum
can. This page measures the difference. It is written by `make rest-length`, from runs of both models with *the same*
$L(t)$; a test keeps it true.

**In short.** <summary>

## What is missing, in one derivation

Let $x\in[0,1]$ run along the mesh, from the guide to the body; $r(x,t)$ is where the string is. A spring of rest
length $L/n$ has the right tension, so the force per length of mesh is right too. But *what* is accelerated?
Rest-length scaling says that a mesh point is a particle:

$$ \mu L\,\frac{\partial^2 r}{\partial t^2}=\frac{\partial n}{\partial x}+\mu L\,g\,e_3 . $$

A mesh point is no particle. All string that is out was fed in at $x=0$, and runs through the mesh. The piece of
string that is $a$ away from the body is at $x=1-a/L(t)$, so it moves along the mesh with the speed $w=(1-x)\dot L/L$,
fastest at the guide. The acceleration of the string is that of the piece, with
$d/dt=\partial/\partial t+w\,\partial/\partial x$:

$$ \frac{d^2r}{dt^2}=\frac{\partial^2r}{\partial t^2}
+\underbrace{2w\,\frac{\partial^2r}{\partial x\,\partial t}}_{\text{Coriolis}}
+\underbrace{w^2\,\frac{\partial^2r}{\partial x^2}}_{\text{around bends}}
+\underbrace{(1-x)\left(\frac{\ddot L}{L}-\frac{2\dot L^2}{L^2}\right)\frac{\partial r}{\partial x}}_{\text{feed}} . $$

Everything after the first term is missing. It does not shrink with $n$: it is not an error of the mesh. Two cases
show what it does.

**Straight down.** $r=xL(t)\,e_3$. The string really moves with $\dot L$ everywhere; rest-length scaling says
$x\dot L$. So it has half of the string's momentum and a third of its kinetic energy, and the tension at the guide
lacks half of the string's inertia:

$$ \underbrace{(M+\mu L)(g-\ddot L)}_{\text{string that is fed in}}\qquad\text{against}\qquad
\underbrace{M(g-\ddot L)+\mu L\left(g-\tfrac12\ddot L\right)}_{\text{rest length}} . $$

**Swinging.** A straight string at the angle $\theta$, small or not, has the moment of inertia $(M+\mu L/3)L^2$.
String is fed in at the guide, where it has no angular momentum, so $(M+\mu L/3)L^2\,\dot\theta$ is conserved without
gravity. Rest-length scaling with masses that follow gives $L\ddot\theta+2\dot L\dot\theta=0$ instead, hence
$L^2\dot\theta$ constant: the angular momentum grows like $M+\mu L/3$, as if every node received mass that already
circles with it. With gravity and slow lowering the energy of the swing is wrong by the same factor,

$$ \frac{M+\mu L_1/3}{M+\mu L_0/3}, $$

**however slowly** the string is paid out.

At the drum, the motor is given the tension of the first spring as its load. The balance of a real reel also has the
momentum that string brings to or takes from the guide, and the energy that is lost there
([theory](theory.md#the-continuous-equations), equation (13)).

## The runs

Three motions of the paper's string (0.025 kg/m, 40 N) with its body of 0.1 kg:

- **example 2**: 1 m is drawn out by its load from a free drum, to <deployment-length> m in 4 s;
- **example 3**: 10 m, drawn in by a constant torque, to <retrieval-length> m in 5 s;
- **fast payout**: 5 m to 25 m, at up to 8 m/s and 4 m/s², while the load circles.

tautline runs freely, and its $L(t)$ is given to all others as the same polynomials: to tautline again, with the
command `Length` and other meshes, and to three variants of rest-length scaling. *Mass follows*: $m(t)\,\dot v=F$.
*Momentum form*: $\frac{d}{dt}(m(t)\,v)=F$, which makes each node bring its new mass to speed. *Mass stays*: the
string weighs what it weighed at the start. Their motion is solved by classical Runge-Kutta at a quarter of its
stability limit; half of that step moves the attachment point of the fast payout by <step> m. With a constant length
the model agrees with lumped-mass programs to all digits, and keeps its energy (a test shows it).

```{image} images/rest-length-tension.png
:alt: Tension at the guide and at the body over time, for three motions
```

Tensions, averaged over 0.2 s (a small delay of waves is no error of interest). In the fast payout, half of
the inertia of the string is missing at the guide, both when it sets off and when it is stopped.

```{image} images/rest-length-balance.png
:alt: Spurious energy, angular momentum and spurious momentum, for three motions
```

Spurious energy is the gain beyond the work of the motor, which turns drum and spooled
string against the tension of the first spring. Angular momentum about the vertical through the guide must be
constant: no torque acts about it. (*Momentum form* and *mass stays* conserve it, and are hidden behind tautline.)
Spurious momentum is what weight, the force at the guide and the string that comes in do not account for. *Mass stays*
has no string that comes in; it balances momentum, and its string has the wrong weight.

```{image} images/rest-length-path.png
:alt: The path of the attachment point, and its distance from the finest run
```

## Which errors vanish with the mesh

<tables>

Distances and tensions are root mean squares over the run, against tautline with 160 elements; energy, angular
momentum and momentum are the largest errors of their balances, in parts of the largest kinetic energy, angular momentum
and momentum. "Stays": at 80 elements more than half of what it is at 20. <waves>

```{image} images/rest-length-mesh.png
:alt: Errors of the fast payout over the number of elements
```

## Other programs

A load of 0.1 kg hangs still on 5 m of the same string, and 20 m are paid out in 5 s. This is a motion that programs
with a variable length can be given too: [MoorDyn](https://github.com/FloatingArrayDesign/MoorDyn) sets the length of
a line, [Exudyn](https://github.com/jgerstmayr/EXUDYN) has `ReevingSystemSprings`, and in
[MuJoCo](https://github.com/google-deepmind/mujoco) a position servo on a tendon does it.

```{image} images/rest-length-peers.png
:alt: Tension at the guide during a vertical payout, in four programs and in the small model
```

<peers>

<peer-verdict>

## When it is good enough

A load of 1 kg that swings by 0.05 rad is lowered from 5 m to 10 m, on strings of 0.01 to 3 times its mass and at up
to 0.5 to 4 m/s: 24 runs of both models (*mass follows*). Both formulas above are met:

```{image} images/rest-length-sweep.png
:alt: Measured errors over the predicted ones, and over the mass ratio
```

<sweep>

So, as a rule of thumb, for errors below one per cent:

- **the swing** (and anything with angular momentum): $\dfrac{\mu\,\lvert L_1-L_0\rvert}{3M}<0.01$. Slowness does not
  help; only a light string does.
- **the tension at the guide**: $\dfrac{\mu L\,\lvert\ddot L\rvert}{2T}<0.01$. A heavy string is fine if its speed
  changes gently.
- **waves and bends**: $\dfrac{\mu\dot L^2}{T}=\left(\dfrac{\dot L}{c}\right)^2$, where $c$ is the speed of waves
  across the string. Waves travel with $c\pm\dot L$ at the guide and not with $c$, so keep $\dot L/c$ below the error
  of phase that you can bear. In the runs here it is at most <transport>.

The crane of the gallery (1.05 kg/m of steel rope, one tonne, 6 m up at 0.5 m/s²) has 0.002 and 0.0004 for the first
two: there rest-length scaling is good enough. For a tether or a tow cable that weighs as much as its load it is not.
"""


def read(name: str) -> Any:
    return json.loads((HERE / f"{name}.json").read_text(encoding="utf-8"))


def row(*cells: str) -> str:
    return "| " + " | ".join(cells) + " |"


def verdict(coarse: float, fine: float) -> str:
    """Behavior of an error from a coarse to a fine mesh."""
    if fine < NOTHING:
        return "none"
    return "stays" if fine > STAYS * coarse else "shrinks"


def shown(key: str, value: float) -> str:
    if value < NOTHING:
        return "0"
    if key == "distance":
        return f"{value:.2g}"
    return f"{100.0 * value:.2g}"


def table(rows: dict[str, Any]) -> Iterator[str]:
    yield row("", *COLUMNS.values())
    yield "|---" * (len(COLUMNS) + 1) + "|"
    for name, label in MODELS.items():
        cells = []
        for key in COLUMNS:
            coarse, fine = rows[name][COARSE][key], rows[name][FINE][key]
            said = verdict(coarse, fine)
            cells.append("none" if said == "none" else f"{shown(key, coarse)} → {shown(key, fine)}, {said}")
        yield row(label, *cells)


def tables(results: dict[str, Any]) -> Iterator[str]:
    for name, title in CASES.items():
        yield f"{title[0].upper()}{title[1:]}, at {COARSE} → {FINE} elements:"
        yield ""
        yield from table(results["cases"][name])
        yield ""


def summary(results: dict[str, Any]) -> str:
    cases = results["cases"]
    follows, ours = cases["fast"]["follows"][FINE], cases["fast"]["tautline"][FINE]
    said = [verdict(cases[c]["follows"][COARSE][key], cases[c]["follows"][FINE][key]) for c in CASES for key in COLUMNS]
    part = f"{100 * follows['energy']:.0f} % of the largest kinetic energy"
    energy = f"loses {part}" if cases["fast"]["follows_energy_end"] < 0.0 else f"gains {part} without a source"
    return (
        f"In a fast payout the usual form (*mass follows*) is off by {100 * follows['guide_tension']:.0f} % in the "
        f"tension at the guide and by {follows['distance']:.2f} m in the path of the load, {energy}, and raises the "
        f"angular momentum by {100 * follows['angular_momentum']:.0f} %. Of its {len(said)} errors in the tables "
        f"below, {said.count('stays')} stay when the mesh is refined fourfold: they belong to the model. tautline's "
        f"own mesh error in that path is {ours['distance']:.1g} m. For a light string that is paid out gently, "
        "rest-length scaling is good enough; the [last section](#when-it-is-good-enough) says how light and how gently."
    )


def waves(results: dict[str, Any]) -> str:
    ours, follows = (results["cases"]["deployment"][name][FINE]["body_tension"] for name in ("tautline", "follows"))
    return (
        f"Example 2 snaps taut and is full of short waves: tautline's own tensions are known there to "
        f"{100 * ours:.0f} % only, where rest-length scaling is off by {100 * follows:.0f} %. tautline's "
        "momentum is summed up from samples every millisecond, and what is left of it there is the error of the sum."
    )


def largest_difference(a: list[float], b: list[float]) -> float:
    return max(abs(x - y) for x, y in zip(a, b, strict=True))


def peer_table(results: dict[str, Any], peers: dict[str, Any]) -> Iterator[str]:
    vertical = results["vertical"]
    exact = vertical["tautline, fine"]
    highest = max(exact)
    yield row(
        "", "string that weighs, at the end", "highest tension at the guide", "largest error, of the highest tension"
    )
    yield "|---|---|---|---|"
    yield row("tautline, 160 elements", "0.625 kg", f"{highest:.2f} N", "")
    for label, values, mass in (
        ("tautline, 20 elements", vertical["tautline"], 0.625),
        ("rest length, mass follows, 20", vertical["follows"], 0.625),
        *((f"{PEERS[name]} ({p['version']})", p["tension"], p["string_mass"]) for name, p in peers.items()),
    ):
        error = largest_difference(values, exact) / highest
        yield row(label, f"{mass:.3g} kg", f"{max(values):.2f} N", f"{100 * error:.0f} %")


def peer_verdict(results: dict[str, Any], peers: dict[str, Any]) -> str:
    follows = results["vertical"]["follows"]
    same = largest_difference(peers["MoorDyn"]["tension"], follows) / max(follows)
    massless = largest_difference(peers["Exudyn"]["tension"], peers["MuJoCo"]["tension"])
    if same < 0.02:
        first = "MoorDyn is rest-length scaling with masses that follow: its tension is that of our small model within"
    else:
        first = "MoorDyn differs from rest-length scaling with masses that follow by"
    relation = "agree with" if massless < 0.01 else "differ from"
    second = f"Exudyn's and MuJoCo's strings have no mass; they {relation} each other within {massless:.1g} N"
    return f"{first} {100 * same:.1g} %. {second}, and have the inertia of the load alone."


def sweep_words(points: list[dict[str, float]]) -> str:
    slow = [p for p in points if p["speed"] <= 2.0]
    swing = max(abs(p["swing"] / p["swing_predicted"] - 1.0) for p in slow)
    quick = max(p["swing"] / p["swing_predicted"] for p in points)
    tension = max(abs(p["tension"] / p["feed"] - 1.0) for p in points)
    light = max(
        (p for p in points if p["mass_ratio"] <= 0.01 and p["speed"] <= 1.0),
        key=lambda p: max(p["swing"], p["tension"]),
    )
    return (
        f"Up to 2 m/s the energy of the swing is met within {100 * swing:.0f} % of the prediction; at 4 m/s the payout "
        f"is faster than the swing, and the error is up to {quick:.1f} times the predicted one. The error of the "
        f"tension is met within {100 * tension:.0f} %. The light and slow corner: with a string of a hundredth of the "
        f"load's mass and up to 1 m/s, rest-length scaling is off by {100 * light['swing']:.2g} % in the swing and by "
        f"{100 * light['tension']:.1g} % in the tension. It is good enough there."
    )


def text() -> str:
    results, peers = read("results"), read("peers")
    cases = results["cases"]
    places = {
        "<summary>": summary(results),
        "<deployment-length>": f"{cases['deployment']['length'][1]:.1f}",
        "<retrieval-length>": f"{cases['retrieval']['length'][1]:.1f}",
        "<step>": f"{results['half_step']:.0e}",
        "<tables>": "\n".join(tables(results)).rstrip(),
        "<waves>": waves(results),
        "<peers>": "\n".join(peer_table(results, peers)),
        "<peer-verdict>": peer_verdict(results, peers),
        "<sweep>": sweep_words(results["sweep"]),
        "<transport>": f"{max(p['transport'] for p in results['sweep']) ** 0.5:.2f}",
    }
    page = TEXT
    for place, words in places.items():
        page = page.replace(place, words)
    return "\n".join(_wrapped(line) for line in page.splitlines()) + "\n"


def _wrapped(line: str) -> str:
    if len(line) <= WIDTH or line.startswith("|"):
        return line
    return textwrap.fill(line, WIDTH, break_long_words=False, break_on_hyphens=False)


def write() -> None:
    PAGE.write_text(text(), encoding="utf-8")


if __name__ == "__main__":
    write()
