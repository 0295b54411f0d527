"""Members of example 1 in tautline: the march of studies, which takes members in lanes of the processor."""

from __future__ import annotations

import tautline as tl
from benchmarks.peers.protocol import Method, State, ensembles, serve
from benchmarks.peers.tautline import Pendulum
from tautline.engine.chain.ensemble import march_ensemble


class Members:
    def __init__(self, method: Method) -> None:
        self.members = []
        for velocity in method.problem["members"]:
            self.members.append(Pendulum(method._replace(problem={**method.problem, "end_velocity": velocity})))

    def advance(self, seconds: float) -> int:
        runners = [member.simulation.runner for member in self.members]
        before = runners[0].steps
        for runner in runners:
            runner.begin(tl.Locked(), seconds, seconds)
        march_ensemble(runners, 1)
        for member in self.members:
            member.simulation.touch()
        return int(runners[0].steps - before)

    def states(self) -> list[State]:
        return [member.state() for member in self.members]


if __name__ == "__main__":
    serve(Members, ensembles)
