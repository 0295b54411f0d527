"""Members of example 1 in MuJoCo, by `mujoco.batch`: one model, a row of numbers for each member, one thread."""

from __future__ import annotations

import mujoco.batch

from benchmarks.peers.mujoco import Pendulum
from benchmarks.peers.protocol import Method, State, ensembles, serve


class Members:
    def __init__(self, method: Method) -> None:
        self.pendulum, velocities = Pendulum(method), method.problem["members"]
        self.batch = mujoco.batch.Batch(self.pendulum.model, nsim=len(velocities), nthread=1)
        self.batch.reset()
        self.batch.qpos[:], self.batch.qvel[:] = self.pendulum.data.qpos, self.pendulum.data.qvel
        self.batch.qvel[:, -6:-3] = velocities
        self.step = method.knob

    def advance(self, seconds: float) -> int:
        steps = round(seconds / self.step)
        self.batch.step(nstep=steps)
        return steps

    def states(self) -> list[State]:
        found, data = [], self.pendulum.data
        for data.time, data.qpos[:], data.qvel[:] in zip(
            self.batch.time, self.batch.qpos, self.batch.qvel, strict=True
        ):
            found.append(self.pendulum.state())
        return found


if __name__ == "__main__":
    serve(Members, ensembles)
