"""A string between two free bodies in MuJoCo: as in mujoco.py, with a body at each end.

Edges of a flex are as long as the model has them, so it describes the string unstretched, along the first axis.
"""

from __future__ import annotations

import mujoco
import numpy as np

from benchmarks.peers.protocol import Body, Method, State, Turning, end_body, rotated, serve

INTEGRATORS = {"Euler": "Euler", "implicitfast": "implicitfast", "RK4": "RK4"}


# model
def free_body(method: Method, name: str, x: float, body: Body) -> str:
    made = end_body(method.problem, method.elements, body)
    J = made.inertia
    return f"""
        <body name="{name}" pos="{x!r} 0 0">
          <freejoint/>
          <inertial pos="{" ".join(map(repr, made.center_of_mass))}" mass="{made.mass!r}"
            fullinertia="{J[0][0]!r} {J[1][1]!r} {J[2][2]!r} {J[0][1]!r} {J[0][2]!r} {J[1][2]!r}"/>
        </body>"""


def description(method: Method) -> str:
    p, N = method.problem, method.elements
    first, last = p["bodies"]
    l = p["length"] / N
    points = "".join(
        f'<body name="n{i}" pos="{i * l} 0 0"><inertial pos="0 0 0" mass="{p["density"] * l}" diaginertia="1 1 1"/>'
        '<joint type="slide" axis="1 0 0"/><joint type="slide" axis="0 1 0"/><joint type="slide" axis="0 0 1"/></body>'
        for i in range(1, N)
    )
    return f"""
    <mujoco>
      <compiler balanceinertia="false"/>
      <option timestep="{method.knob!r}" gravity="0 0 0" integrator="{INTEGRATORS[method.name]}">
        <flag contact="disable" constraint="disable"/>
      </option>
      <worldbody>{free_body(method, "n0", 0.0, first)}{points}{free_body(method, f"n{N}", N * l, last)}</worldbody>
      <deformable>
        <flex name="string" dim="1" radius="0.001" body="{" ".join(f"n{i}" for i in range(N + 1))}"
          element="{" ".join(f"{i} {i + 1}" for i in range(N))}">
          <edge stiffness="{p["stiffness"] / l!r}"/>
          <contact contype="0" conaffinity="0" selfcollide="none"/>
        </flex>
      </deformable>
    </mujoco>"""


class Bodies:
    def __init__(self, method: Method) -> None:
        self.model = mujoco.MjModel.from_xml_string(description(method))
        self.data = mujoco.MjData(self.model)
        first, last = method.problem["bodies"]
        places = np.linspace(first["position"], last["position"], method.elements + 1)
        self.data.qpos[:3], self.data.qpos[-7:-4] = places[0], places[-1]
        self.data.qpos[7:-7] = (places[1:-1] - self.model.body_pos[2:-1]).ravel()  # sliders measure from there
        velocities = np.linspace(first["velocity"], last["velocity"], method.elements + 1)
        turning = first["angular_velocity"], last["angular_velocity"]
        self.data.qvel[:] = np.concatenate([velocities[0], turning[0], velocities[1:].ravel(), turning[1]])
        mujoco.mj_forward(self.model, self.data)

    def advance(self, seconds: float) -> int:
        steps: int = round(seconds / self.model.opt.timestep)
        mujoco.mj_step(self.model, self.data, nstep=steps)
        return steps

    # end of model

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
