"""Example 1 in MoorDyn: one line of N segments, a free body, air instead of water, no sea bed.

The third axis of MoorDyn points up, so the world is turned half way round the first axis. A call of Step runs all inner
steps inside the library. The line would start as a catenary at rest; the state file that SaveState writes is
rewritten with the straight line and the body's velocity. A line of MoorDyn carries no compression, where the string of
example 1 pushes. Rotation matrix and velocities come from the state file as well, which has all digits.
"""

from __future__ import annotations

import math
import struct
import tempfile
from pathlib import Path

import moordyn

from benchmarks.peers.protocol import Method, State, rotated, serve

HEADER = 9 + 3 * 8 + 8  # bytes before the first number of a state file: name, version, sizes
FLIP = (1.0, -1.0, -1.0)
# MoorDyn 2.7.2 returns None without counting it, and Python before 3.12 ends when the count is used up.
SPARE = [None] * 10_000_000


# model
def description(method: Method) -> str:
    p = method.problem
    rho = p["center_of_mass"]
    square = sum(x * x for x in rho)
    central = [p["inertia"][i][i] - p["mass"] * (square - rho[i] ** 2) for i in range(3)]  # diagonal for this body
    center = "|".join(repr(x * s) for x, s in zip(rho, FLIP, strict=True))
    return f"""Example 1
---------------------- LINE TYPES ----------------------
TypeName Diam Mass/m EA BA EI Cd Ca CdAx CaAx
(name) (m) (kg/m) (N) (N-s) (N-m^2) (-) (-) (-) (-)
string 0.001 {p["density"]!r} {p["stiffness"]!r} 0 0 0 0 0 0
---------------------- BODIES ----------------------
ID Attachment X0 Y0 Z0 r0 p0 y0 Mass CG I Volume CdA Ca
(#) (word) (m) (m) (m) (deg) (deg) (deg) (kg) (m) (kg-m^2) (m^3) (m^2) (-)
1 free {p["length"]!r} 0 0 0 0 0 {p["mass"]!r} {center} {"|".join(map(repr, central))} 0 0 0
---------------------- POINTS ----------------------
ID Attachment X Y Z Mass Volume CdA Ca
(#) (word) (m) (m) (m) (kg) (m^3) (m^2) (-)
1 Fixed 0 0 0 0 0 0 0
2 Body1 0 0 0 0 0 0 0
---------------------- LINES ----------------------
ID LineType AttachA AttachB UnstrLen NumSegs LineOutputs
(#) (name) (#) (#) (m) (-) (-)
1 string 1 2 {p["length"]!r} {method.elements} -
---------------------- OPTIONS ----------------------
{method.name} tScheme
{method.knob!r} dtM
{p["gravity"]!r} g
0 rho
1000 WtrDpth
0 kBot
0 cBot
0 TmaxIC
0 writeLog
1e6 dtOut
---------------------- END ----------------------
"""


class Pendulum:
    def __init__(self, method: Method) -> None:
        self.N, self.step, self.time = method.elements, method.knob, 0.0
        self.folder = tempfile.TemporaryDirectory()
        path = Path(self.folder.name) / "example.txt"
        path.write_text(description(method))
        self.system = moordyn.Create(str(path))
        moordyn.SetVerbosity(self.system, moordyn.LEVEL_ERR)
        moordyn.Init_NoIC(self.system, [], [])
        self.file = Path(self.folder.name) / "state"
        l = method.problem["length"] / self.N
        body, nodes = self.read()
        body[7:10] = [x * s for x, s in zip(method.problem["end_velocity"], FLIP, strict=True)]
        for i in range(1, self.N):
            nodes[i - 1] = [i * l, 0.0, 0.0, 0.0, 0.0, 0.0]
        self.write(body, nodes)

    def read(self) -> tuple[list[float], list[list[float]]]:
        """Position, quaternion and velocities of the body; position and velocity of nodes 1..N-1."""
        moordyn.SaveState(self.system, str(self.file))
        raw = self.file.read_bytes()
        line = len(raw) - 6 * 8 * (self.N - 1)
        numbers = struct.unpack(f"<{6 * (self.N - 1)}d", raw[line:])
        return list(struct.unpack_from("<13d", raw, HEADER)), [
            list(numbers[6 * i : 6 * i + 6]) for i in range(self.N - 1)
        ]

    def write(self, body: list[float], nodes: list[list[float]]) -> None:
        raw = bytearray(self.file.read_bytes())
        struct.pack_into("<13d", raw, HEADER, *body)
        struct.pack_into(f"<{6 * len(nodes)}d", raw, len(raw) - 48 * len(nodes), *(x for row in nodes for x in row))
        self.file.write_bytes(raw)
        moordyn.LoadState(self.system, str(self.file))

    def advance(self, seconds: float) -> int:
        moordyn.Step(self.system, [], [], self.time, seconds)
        self.time += seconds
        return round(seconds / self.step)

    # end of model

    def state(self) -> State:
        body, nodes = self.read()
        position, velocity, omega = body[:3], body[7:10], body[10:13]
        x, y, z, w = body[3:7]
        size = math.sqrt(w * w + x * x + y * y + z * z)
        R = rotated([w / size, x / size, y / size, z / size])
        local = [sum(R[i][j] * omega[i] for i in range(3)) for j in range(3)]
        return State(
            time=self.time,
            nodes=[flipped(row[:3]) for row in [*nodes, position]],
            velocities=[flipped(row) for row in [*(row[3:] for row in nodes), velocity]],
            rotation=[flipped([R[i][j] * FLIP[i] for j in range(3)]) for i in range(3)],
            angular_velocity=flipped(local),
        )

    def __del__(self) -> None:
        moordyn.Close(self.system)
        self.folder.cleanup()


def flipped(x: list[float]) -> list[float]:
    return [a * s for a, s in zip(x, FLIP, strict=True)]


if __name__ == "__main__":
    serve(Pendulum)
