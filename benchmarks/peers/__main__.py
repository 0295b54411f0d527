"""tautline and the others, in one sitting. `python -m benchmarks.peers [--quick] [--only NAME ...] [--again]`

Makes an environment for each peer in build/peers, of the versions that catalogue.py names, measures all of them and
ours, and writes results.json, results.md and work-precision.png into benchmarks/peers/results. A quick run writes into
build/peers/quick instead.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path

from benchmarks.peers import report
from benchmarks.peers.catalogue import PEERS
from benchmarks.peers.environments import FOLDER, remove
from benchmarks.peers.measure import FULL, QUICK, sitting

RESULTS = Path(__file__).parent / "results"


def write(result: report.Result, folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "results.json").write_text(json.dumps(result, indent=1) + "\n", encoding="utf-8")
    render(folder)


def render(folder: Path) -> None:
    result = json.loads((folder / "results.json").read_text(encoding="utf-8"))
    (folder / "results.md").write_text(report.markdown(result), encoding="utf-8")
    report.draw(result, folder / "work-precision.png")


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.peers", description=__doc__)
    names = [peer.name for peer in PEERS[1:]]
    parser.add_argument("--quick", action="store_true", help="a smoke test of about a minute once all is installed")
    parser.add_argument("--only", nargs="+", choices=names, default=[], help="these peers, and ours")
    parser.add_argument("--again", action="store_true", help="make the environments anew")
    parser.add_argument("--render", action="store_true", help="only the tables and the plot, from results.json")
    chosen = parser.parse_args()
    folder = FOLDER / "quick" if chosen.quick else RESULTS
    if chosen.render:
        render(folder)
        return
    if chosen.again:
        for peer in PEERS:
            remove(peer)
    write(sitting(QUICK if chosen.quick else FULL, chosen.only, lambda text: print(text, flush=True)), folder)
    print((folder / "results.md").read_text(encoding="utf-8"))


if __name__ == "__main__":
    main()
