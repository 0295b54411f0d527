"""Tables of docs/rest-length.md from results.json and peers.json, and the figures that its sentences are about."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from benchmarks import pages

HERE = Path(__file__).parent
PAGE = pages.ROOT / "docs" / "rest-length.md"
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


def read(name: str) -> Any:
    return json.loads((HERE / f"{name}.json").read_text(encoding="utf-8"))


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


def table(rows: dict[str, Any]) -> str:
    found = []
    for name, label in MODELS.items():
        cells = []
        for key in COLUMNS:
            coarse, fine = rows[name][COARSE][key], rows[name][FINE][key]
            said = verdict(coarse, fine)
            cells.append("none" if said == "none" else f"{shown(key, coarse)} → {shown(key, fine)}, {said}")
        found.append([label, *cells])
    return pages.table(["", *COLUMNS.values()], found)


def largest_difference(a: list[float], b: list[float]) -> float:
    return max(abs(x - y) for x, y in zip(a, b, strict=True))


def peer_table(results: dict[str, Any], peers: dict[str, Any]) -> str:
    vertical = results["vertical"]
    exact = vertical["tautline, fine"]
    highest = max(exact)
    rows = [["tautline, 160 elements", "0.625 kg", f"{highest:.2f} N", ""]]
    for label, values, mass in (
        ("tautline, 20 elements", vertical["tautline"], 0.625),
        ("rest length, mass follows, 20", vertical["follows"], 0.625),
        *((f"{PEERS[name]} ({p['version']})", p["tension"], p["string_mass"]) for name, p in peers.items()),
    ):
        error = largest_difference(values, exact) / highest
        rows.append([label, f"{mass:.3g} kg", f"{max(values):.2f} N", f"{100 * error:.0f} %"])
    head = [
        "",
        "string that weighs, at the end",
        "highest tension at the guide",
        "largest error, of the highest tension",
    ]
    return pages.table(head, rows)


def tables() -> dict[str, str]:
    """Tables of the page by name."""
    results = read("results")
    found = {name: table(rows) for name, rows in results["cases"].items()}
    return found | {"peers": peer_table(results, read("peers"))}


def figures() -> dict[str, float]:
    """Figures that sentences of the page are about: to be compared with them when runs were made anew."""
    results, peers = read("results"), read("peers")
    cases, points, vertical = results["cases"], results["sweep"], results["vertical"]
    fast = cases["fast"]["follows"][FINE]
    slow = [p for p in points if p["speed"] <= 2.0]
    gentle = [p for p in slow if p["mass_ratio"] <= 0.01 and p["speed"] <= 1.0]
    said = [verdict(cases[c]["follows"][COARSE][key], cases[c]["follows"][FINE][key]) for c in CASES for key in COLUMNS]
    return {
        **{f"fast payout, mass follows, {name}": fast[name] for name in COLUMNS},
        "fast payout, mass follows, energy at the end (J)": cases["fast"]["follows_energy_end"],
        "fast payout, tautline, distance (m)": cases["fast"]["tautline"][FINE]["distance"],
        "errors that stay": said.count("stays"),
        **{f"length at the end of {CASES[c]} (m)": cases[c]["length"][1] for c in ("deployment", "retrieval")},
        "half the step moves the attachment point by (m)": results["half_step"],
        **{f"example 2, tension at the body, {x}": cases["deployment"][x][FINE]["body_tension"] for x in MODELS},
        "MoorDyn against mass follows": largest_difference(peers["MoorDyn"]["tension"], vertical["follows"])
        / max(vertical["follows"]),
        "Exudyn against MuJoCo (N)": largest_difference(peers["Exudyn"]["tension"], peers["MuJoCo"]["tension"]),
        "swing over predicted, up to 2 m/s": max(abs(p["swing"] / p["swing_predicted"] - 1.0) for p in slow),
        "swing over predicted, at most": max(p["swing"] / p["swing_predicted"] for p in points),
        "tension over predicted": max(abs(p["tension"] / p["feed"] - 1.0) for p in points),
        "light and slow, swing": max(p["swing"] for p in gentle),
        "light and slow, tension": max(p["tension"] for p in gentle),
        "payout speed over that of waves": max(p["transport"] for p in points) ** 0.5,
    }


def write() -> None:
    pages.rewrite(PAGE, tables())
    print(*(f"{name}: {x:.3g}" for name, x in figures().items()), sep="\n")


if __name__ == "__main__":
    write()
