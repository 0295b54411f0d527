"""Vertical payout in other programs that have a variable length; writes peers.json.

Run by `make rest-length-peers`, which gives them an environment of their own. A load of 0.1 kg hangs still on 5 m of
the paper's string; 20 m more are paid out in 5 s, by a smooth curve that all of them can be given as a formula.
"""

from __future__ import annotations

import ctypes
import json
import os
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np

MU, EA, MASS, G = 0.025, 40.0, 0.1, 9.81
SHORT, LONG, PAYOUT, DURATION = 5.0, 25.0, 5.0, 8.0
SEGMENTS = 20
EVERY = 0.02  # s
TIMES = EVERY * np.arange(round(DURATION / EVERY) + 1)


def length(t: Any) -> tuple[Any, Any, Any]:
    """L(t), rate and acceleration: a polynomial of the fifth degree between two lengths."""
    x = np.clip(np.asarray(t) / PAYOUT, 0.0, 1.0)
    way = LONG - SHORT
    return (
        SHORT + way * x**3 * (10.0 - 15.0 * x + 6.0 * x**2),
        way / PAYOUT * 30.0 * x**2 * (1.0 - x) ** 2,
        way / PAYOUT**2 * 60.0 * x * (1.0 - x) * (1.0 - 2.0 * x),
    )


def hanging(n: int, mass: float = MU) -> np.ndarray:
    """Depths of the nodes at rest, SHORT deployed."""
    l = SHORT / n
    loads = MASS + mass * l * (n - 0.5 - np.arange(n))
    return np.concatenate([[0.0], np.cumsum(l * (1.0 + loads * G / EA))])


MOORDYN = """MoorDyn input
---------------------- LINE TYPES --------------------------
TypeName Diam MassDen EA BA/-zeta EI Cd Ca CdAx CaAx
(-) (m) (kg/m) (N) (N-s/-) (N-m^2) (-) (-) (-) (-)
string 1e-6 {mu} {EA} 0 0 0 0 0 0
---------------------- POINTS --------------------------
ID Attachment X Y Z Mass Volume CdA Ca
(#) (-) (m) (m) (m) (kg) (m^3) (m^2) (-)
1 Fixed 0 0 0 0 0 0 0
2 Free 0 0 {end} {M} 0 0 0
---------------------- LINES --------------------------
ID LineType AttachA AttachB UnstrLen NumSegs Outputs
(#) (-) (-) (-) (m) (-) (-)
1 string 2 1 {L} {n} -
---------------------- OPTIONS --------------------------
0 writeLog
{h} dtM
RK4 tScheme
0.0 WtrDnsty
{g} g
500 WtrDpth
1.0 ICDfac
0.01 ICdt
100 ICTmax
1e-6 ICthresh
---------------------- END --------------------------
"""


def _counted(function: Callable[..., Any]) -> Callable[..., Any]:
    """MoorDyn 2.7.2 gives away a reference to None that it does not own in every one of these calls."""

    def call(*arguments: Any) -> None:
        function(*arguments)
        ctypes.pythonapi.Py_IncRef(ctypes.py_object(None))

    return call


@contextmanager
def silent() -> Iterator[None]:
    """MoorDyn prints every step, from C."""
    sys.stdout.flush()
    kept = os.dup(1)
    with open(os.devnull, "w", encoding="utf-8") as nowhere:
        os.dup2(nowhere.fileno(), 1)
        try:
            yield
        finally:
            os.dup2(kept, 1)
            os.close(kept)


def moordyn() -> dict[str, Any]:
    """Its line length is set every millisecond, to that of the middle of it, and held in between."""
    import moordyn as md

    h = 1e-3
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "string.txt"
        text = MOORDYN.format(mu=MU, EA=EA, M=MASS, L=SHORT, n=SEGMENTS, h=1e-4, g=G, end=-hanging(SEGMENTS)[-1])
        path.write_text(text, encoding="utf-8")
        system = md.Create(str(path))
        md.Init(system, [], [])
        line = md.GetLine(system, 1)
        set_length, set_rate = (_counted(f) for f in (md.SetLineUnstretchedLength, md.SetLineUnstretchedLengthVel))
        tension = []
        for k in range(len(TIMES)):
            if k:
                for i in range(round(EVERY / h)):
                    t = float(TIMES[k - 1] + i * h)
                    set_length(line, float(length(t + 0.5 * h)[0]))
                    set_rate(line, 0.0)
                    md.Step(system, [], [], t, h)
            tension.append(float(np.linalg.norm(md.GetLineNodeTen(line, SEGMENTS))))
        ends = md.GetLineNodePos(line, 0)
        weight = sum(float(np.trace(md.GetLineNodeM(line, i))) / 3.0 for i in range(SEGMENTS + 1))
        md.Close(system)
    return {"tension": tension, "string_mass": weight, "end": -float(ends[2]), "version": version("moordyn")}


def exudyn() -> dict[str, Any]:
    """ReevingSystemSprings: a spring without mass, with a coordinate that adds to its length."""
    import exudyn as exu
    import exudyn.itemInterface as items  # noqa: N813 - its own name for it
    from exudyn.utilities import InertiaSphere

    container = exu.SystemContainer()
    mbs = container.AddSystem()
    ground = mbs.AddObject(items.ObjectGround())
    end = SHORT * (1.0 + MASS * G / EA)
    body = mbs.CreateRigidBody(
        referencePosition=[0.0, 0.0, -end], inertia=InertiaSphere(MASS, 0.05), gravity=[0.0, 0.0, -G]
    )
    top = mbs.AddMarker(items.MarkerBodyRigid(bodyNumber=ground))
    bottom = mbs.AddMarker(items.MarkerBodyRigid(bodyNumber=body))
    drum = mbs.AddNode(items.Node1D(referenceCoordinates=[0.0]))
    mbs.AddObject(items.Mass1D(nodeNumber=drum, mass=1.0))
    paid = mbs.AddMarker(items.MarkerNodeCoordinate(nodeNumber=drum, coordinate=0))
    still = mbs.AddMarker(items.MarkerNodeCoordinate(nodeNumber=mbs.AddNode(items.NodePointGround()), coordinate=0))

    def offset(mbs: Any, t: float, item: int, value: float) -> float:
        return float(length(t)[0] - SHORT)

    def rate(mbs: Any, t: float, item: int, value: float) -> float:
        return float(length(t)[1])

    mbs.AddObject(
        items.CoordinateConstraint(
            markerNumbers=[still, paid], offset=0.0, offsetUserFunction=offset, offsetUserFunction_t=rate
        )
    )
    rope = mbs.AddObject(
        items.ReevingSystemSprings(
            markerNumbers=[top, bottom, paid, still],
            hasCoordinateMarkers=True,
            coordinateFactors=[1.0, 0.0],
            stiffnessPerLength=EA,
            referenceLength=SHORT,
            sheavesAxes=exu.Vector3DList([[0, 0, 1], [0, 0, 1]]),
            sheavesRadii=[0.0, 0.0],
            regularizationForce=-1.0,
        )
    )
    force = mbs.AddSensor(
        items.SensorObject(
            objectNumber=rope,
            outputVariableType=exu.OutputVariableType.ForceLocal,
            storeInternal=True,
            writeToFile=False,
        )
    )
    place = mbs.AddSensor(
        items.SensorBody(
            bodyNumber=body, outputVariableType=exu.OutputVariableType.Position, storeInternal=True, writeToFile=False
        )
    )
    mbs.Assemble()
    settings = exu.SimulationSettings()
    settings.timeIntegration.numberOfSteps = round(DURATION / 1e-3)
    settings.timeIntegration.endTime = DURATION
    settings.timeIntegration.verboseMode = 0
    settings.timeIntegration.generalizedAlpha.spectralRadius = 0.9
    settings.solution.file.write = False
    settings.solution.sensors.writePeriod = EVERY
    mbs.SolveDynamic(settings)
    pull = mbs.GetSensorStoredData(force)
    z = mbs.GetSensorStoredData(place)
    return {
        "tension": np.interp(TIMES, pull[:, 0], np.abs(pull[:, 1])).tolist(),
        "string_mass": 0.0,
        "end": -float(z[-1, 3]),
        "version": version("exudyn"),
    }


MUJOCO = f"""
<mujoco>
  <option timestep="1e-3" integrator="RK4" gravity="0 0 -{G}"/>
  <worldbody>
    <site name="guide"/>
    <body pos="0 0 {{end}}">
      <joint type="slide" axis="0 0 1"/><geom type="sphere" size="0.05" mass="{MASS}"/><site name="load"/>
    </body>
  </worldbody>
  <tendon><spatial name="rope"><site site="guide"/><site site="load"/></spatial></tendon>
  <actuator><position name="winch" tendon="rope" kp="1" forcerange="-1000 0"/></actuator>
</mujoco>
"""


def mujoco() -> dict[str, Any]:
    """A position servo on a tendon: its target is the rest length, its gain EA/L, and it can only pull."""
    import mujoco as mj

    model = mj.MjModel.from_xml_string(MUJOCO.format(end=-SHORT * (1.0 + MASS * G / EA)))
    data = mj.MjData(model)
    tension = []
    for k, time in enumerate(TIMES):
        while k and data.time < time - 1e-9:
            L = float(length(data.time + 0.5e-3)[0])
            model.actuator_gainprm[0, 0], model.actuator_biasprm[0, 1] = EA / L, -EA / L
            data.ctrl[0] = L
            mj.mj_step(model, data)
        L = float(length(time)[0])
        model.actuator_gainprm[0, 0], model.actuator_biasprm[0, 1] = EA / L, -EA / L
        data.ctrl[0] = L
        mj.mj_forward(model, data)
        tension.append(-float(data.actuator_force[0]))
    return {
        "tension": tension,
        "string_mass": 0.0,
        "end": float(data.ten_length[0]),
        "version": version("mujoco"),
    }


def main(target: str) -> None:
    found = {}
    for name, run in (("MoorDyn", moordyn), ("Exudyn", exudyn), ("MuJoCo", mujoco)):
        with silent():
            found[name] = run()
        found[name]["tension"] = [round(x, 5) for x in found[name]["tension"]]
        print(name, found[name]["version"], found[name]["string_mass"], found[name]["end"], max(found[name]["tension"]))
    Path(target).write_text(json.dumps(found) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else "benchmarks/rest_length/peers.json")
