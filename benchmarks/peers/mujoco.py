"""Example 1 in MuJoCo: point masses on three sliders, joined by the edges of a one-dimensional flex, and a free body.

The steps run in mj_step(nstep=...), inside the library. Constraints and contacts are switched off: there are none.
"""

from __future__ import annotations

import mujoco

from benchmarks.peers.protocol import EndBody, Method, State, end_body, rotated, serve

INTEGRATORS = {"Euler": "Euler", "implicitfast": "implicitfast", "RK4": "RK4"}


# model
def free_body(name: str, x: float, body: EndBody) -> str:
    J = body.inertia
    return f"""
        <body name="{name}" pos="{x!r} 0 0">
          <freejoint/>
          <inertial pos="{" ".join(map(repr, body.center_of_mass))}" mass="{body.mass!r}"
            fullinertia="{J[0][0]!r} {J[1][1]!r} {J[2][2]!r} {J[0][1]!r} {J[0][2]!r} {J[1][2]!r}"/>
        </body>"""


def description(method: Method, first: str, last: str, gravity: float) -> str:
    """A string, unstretched along the first axis, between bodies that are called n0 and nN."""
    p, N = method.problem, method.elements
    l = p["length"] / N
    points = "".join(
        f'<body name="n{i}" pos="{i * l} 0 0"><inertial pos="0 0 0" mass="{p["density"] * l}" diaginertia="1 1 1"/>'
        '<joint type="slide" axis="1 0 0"/><joint type="slide" axis="0 1 0"/><joint type="slide" axis="0 0 1"/></body>'
        for i in range(1, N)
    )
    return f"""
    <mujoco>
      <compiler balanceinertia="false"/>
      <option timestep="{method.knob!r}" gravity="0 0 {gravity}" integrator="{INTEGRATORS[method.name]}">
        <flag contact="disable" constraint="disable"/>
      </option>
      <worldbody>{first}{points}{last}</worldbody>
      <deformable>
        <flex name="string" dim="1" radius="0.001" body="{" ".join(f"n{i}" for i in range(N + 1))}"
          element="{" ".join(f"{i} {i + 1}" for i in range(N))}">
          <edge stiffness="{p["stiffness"] / l!r}"/>
          <contact contype="0" conaffinity="0" selfcollide="none"/>
        </flex>
      </deformable>
    </mujoco>"""


class Stepped:
    """A model that moves by the library's own loop."""

    def __init__(self, text: str) -> None:
        self.model = mujoco.MjModel.from_xml_string(text)
        self.data = mujoco.MjData(self.model)

    def advance(self, seconds: float) -> int:
        steps: int = round(seconds / self.model.opt.timestep)
        mujoco.mj_step(self.model, self.data, nstep=steps)
        return steps


class Pendulum(Stepped):
    def __init__(self, method: Method) -> None:
        p, N = method.problem, method.elements
        body = free_body(f"n{N}", p["length"], end_body(p, N))
        super().__init__(description(method, '<body name="n0"/>', body, p["gravity"]))
        self.data.qvel[-6:-3] = p["end_velocity"]
        mujoco.mj_forward(self.model, self.data)

    # end of model

    def state(self) -> State:
        q, v = self.data.qpos, self.data.qvel
        nodes = q[:-7].reshape(-1, 3)
        rest = self.model.body_pos[2:-1]  # sliders measure from there
        return State(
            time=self.data.time,
            nodes=[*(nodes + rest).tolist(), q[-7:-4].tolist()],
            velocities=v[:-3].reshape(-1, 3).tolist(),
            rotation=rotated((q[-4:] / (q[-4:] @ q[-4:]) ** 0.5).tolist()),
            angular_velocity=v[-3:].tolist(),
        )


if __name__ == "__main__":
    serve(Pendulum)
