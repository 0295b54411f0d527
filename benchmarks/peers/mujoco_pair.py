"""A string between two free bodies in MuJoCo, from the parts of mujoco.py.

Edges of a flex are as long as the model has them, so it describes the string unstretched; it is stretched afterwards.
"""

from __future__ import annotations

import mujoco
import numpy as np

from benchmarks.peers.mujoco import Stepped, description, free_body
from benchmarks.peers.protocol import Method, State, Turning, end_body, rotated, serve


class Bodies(Stepped):
    def __init__(self, method: Method) -> None:
        p, N = method.problem, method.elements
        first, last = p["bodies"]
        here, there = free_body("n0", 0.0, end_body(p, N, first)), free_body(f"n{N}", p["length"], end_body(p, N, last))
        super().__init__(description(method, here, there, gravity=0.0))
        places = np.linspace(first["position"], last["position"], N + 1)
        self.data.qpos[:3], self.data.qpos[-7:-4] = places[0], places[-1]
        self.data.qpos[7:-7] = (places[1:-1] - self.model.body_pos[2:-1]).ravel()  # sliders measure from there
        velocities = np.linspace(first["velocity"], last["velocity"], N + 1)
        turning = first["angular_velocity"], last["angular_velocity"]
        self.data.qvel[:] = np.concatenate([velocities[0], turning[0], velocities[1:].ravel(), turning[1]])
        mujoco.mj_forward(self.model, self.data)

    def state(self) -> State:
        q, v = self.data.qpos, self.data.qvel
        inner = q[7:-7].reshape(-1, 3) + self.model.body_pos[2:-1]
        bodies = [
            Turning(rotation=rotated((x / (x @ x) ** 0.5).tolist()), angular_velocity=omega.tolist())
            for x, omega in ((q[3:7], v[3:6]), (q[-4:], v[-3:]))
        ]
        return State(
            time=self.data.time,
            nodes=[q[:3].tolist(), *inner.tolist(), q[-7:-4].tolist()],
            velocities=[v[:3].tolist(), *v[6:-3].reshape(-1, 3).tolist()],
            bodies=bodies,
        )


if __name__ == "__main__":
    serve(Bodies)
