"""
The fastest way of a crane
==========================

A crane lifts two tonnes from 45 m to 20 m below its trolley while the trolley goes 20 m along the jib, in the
least time, and the load must hang still in the end: it may sway by no more than a centimetre. Drum and
trolley have limits of speed and acceleration, the winch of torque and power, and the rope must stay taut.
:func:`tautline.optimise` finds entries of the table of speeds and points of the trolley's path, and the
time that it takes. Beside it stand input shapers, which know the limits of the trolley and the swing on
one length of rope.
"""

import matplotlib.pyplot as plt
import numpy as np

import tautline as tl

rope = tl.String(length=80.0, density=0.55, stiffness=5.5e6, viscosity=14e3, law="tension_only")
reel = tl.Reel(drum_radius=0.16, guide_length=1.0, inertia_mass=12.0 / 0.16**2)
load = tl.RigidBody.point(mass=2000.0)
crane = tl.Pendulum(rope, reel, load)
hoist_speed, hoist_acceleration = 1.6, 0.4
trolley_speed, trolley_acceleration = 1.2, 0.3
torque, power = 3350.0, 30e3

# %%
# The search begins from a slow ride: 40 s at even speeds. One element is enough for it: the load swings, and
# bounces on the rope. Whether that was enough is looked at in the end.

times = np.linspace(0.0, 40.0, 11)
speeds = np.array([0.0, *[25.0 / 36.0] * 9, 0.0])
path = tl.GuidePath(tuple(times), tuple((x, 0.0, 0.0) for x in 0.5 * times))
slow = tl.Case(
    tl.Pendulum(rope, tl.Reel(drum_radius=0.16, guide_length=1.0, inertia_mass=12.0 / 0.16**2, guide_path=path), load),
    tl.Hanging(deployed=45.0),
    tl.Speed(retrieval=(times, speeds)),
    tl.Run(duration=40.0, elements=1, step=0.02, sample=0.2),
)

# %%
# What the winch gives is the pull of the rope, and what turns the drum and the rope on it, 500 kg in all.

best = tl.optimise(
    slow,
    vary={
        "command.retrievals[1:-1]": (-hoist_speed, hoist_speed),
        "guide.displacements[1:-1][0]": (-5.0, 25.0),
        "run.duration": (15.0, 60.0),
    },
    minimise="time",
    subject_to=[
        tl.Limit("rate(reel_speed)", -hoist_acceleration, hoist_acceleration),
        tl.Limit("velocity[0, 0]", -trolley_speed, trolley_speed),
        tl.Limit("rate(velocity[0, 0])", -trolley_acceleration, trolley_acceleration),
        tl.Limit("0.16*(guide_tension + 500*rate(reel_speed))", most=torque),
        tl.Limit("guide_tension*reel_speed", most=power),
        tl.Limit("guide_tension", least=1e3),
        tl.AtEnd("unstretched_length", 20.0),
        tl.AtEnd("position[-1, 0]", 20.0, within=4e-3),
        tl.AtEnd("velocity[-1, 0]", 0.0, within=3e-3),
        tl.AtEnd("velocity[-1, 2]", 0.0, within=3e-3),
    ],
    intervals=5,
)
print(f"{best.status}: {best.objective:.2f} s; {best.message}")
print(f"{best.history[-1].iteration} iterations in {best.seconds:.0f} s")
assert best.status == "completed" and 20.0 < best.objective < 26.0

# %%
# The result is a case. Here it runs at ten elements, order 4 and another step, and 20 s longer, so that one
# can see what is left of the sway. The shapers drive the trolley for the swing on the mean length while the
# hoist goes on, or, with the hoist done, for the swing on 20 m.


def judged(case: tl.Case, end: float, **changes: object) -> tuple[float, float, dict[str, object]]:
    """Time of the ride (s), what is left of its sway (m), and curves."""
    run = tl.simulate(case.with_({"run.duration": end + 20.0, "run.sample": (end + 20.0) / 2000, "run.step": "auto", **changes}))
    assert run.attrs["status"] == "completed"
    sway = (run.position[:, -1, 0] - run.position[:, 0, 0]).values
    after = run.time.values > end
    left = float(np.abs(sway[after]).max())
    return end, left, {"run": run, "sway": sway}


fine = {"run.elements": 10, "run.order": 4}
rides = {"optimal": judged(best.case, best.objective, **fine)}
hoist = tl.Length.to(20.0, speed=hoist_speed, acceleration=hoist_acceleration)
hoisted = 25.0 / hoist_speed + hoist_speed / hoist_acceleration
for name, shaper, length, start in (
    ("ZV, at once", "ZV", 32.5, 0.0),
    ("ZVD, at once", "ZVD", 32.5, 0.0),
    ("ZV, then", "ZV", 20.0, hoisted),
    ("ZVD, then", "ZVD", 20.0, hoisted),
):
    way = tl.control.shaped_path(
        crane, length, 20.0, speed=trolley_speed, acceleration=trolley_acceleration, shaper=shaper, start=start, elements=4
    )
    case = slow.with_({"guide": way, "command": hoist, "run.elements": 10})
    rides[name] = judged(case, max(hoisted, way.times[-1]))
for name, (end, left, _) in rides.items():
    print(f"{name:>13}: there after {end:.1f} s, then sways by {1e3 * left:.1f} mm")
