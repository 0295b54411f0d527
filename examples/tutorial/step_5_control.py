"""
Step 5: a controller
====================

A winch lowers a sensor by 8 m and has to arrive at rest. ``control`` is a function of yours: it is
called once every ``period`` with the :class:`~tautline.Simulation`, reads what a real winch could
read, and returns the torque of the motor. The torque is held until the next call, as a digital
controller does it.
"""

import matplotlib.pyplot as plt
import numpy as np

import tautline as tl

pendulum = tl.pendulum(
    string=tl.String(length=40.0, density=0.05, stiffness=2e4),
    reel=tl.Reel(drum_radius=0.15, guide_length=0.3, inertia_mass=4.0),
    body=tl.RigidBody.sphere(mass=5.0, radius=0.15, center_of_mass=(0.02, 0.0, 0.2)),
    elements=12,
)

# %%
# The plan is a length for every moment: from 4 m to 12 m in 6 s, with a smooth start and a smooth
# stop.


def planned(t: float) -> tuple[float, float]:
    """Length (m) and its rate (m/s)."""
    x = min(t / 6.0, 1.0)
    return 4.0 + 8.0 * x * x * x * (10 - 15 * x + 6 * x * x), 8.0 / 6.0 * 30 * x * x * (1 - x) ** 2


# %%
# ``sim.line`` is the only line as it is now, and ``sim.body`` the only body (with several, ``sim.lines`` and
# ``sim.bodies`` have them by name). The controller holds the weight and corrects errors of length and
# speed. A positive torque retrieves, so a string that is too long needs a positive correction.

torques: list[float] = []


def winch(sim: tl.Simulation) -> float:
    length, rate = planned(sim.time)
    weight = (5.0 + 0.05 * sim.line.deployed) * 9.81 * 0.15
    torque = weight + 60.0 * (sim.line.deployed - length) - 20.0 * (sim.line.speed + rate)
    torques.append(min(max(torque, 0.0), 15.0))  # the motor has its limits
    return torques[-1]


start = tl.Hanging(4.0, end_velocity=(0.4, 0, 0))
run = tl.simulate(pendulum, start, duration=9.0, control=winch, period=0.01)
own = run.squeeze(["line", "body"])  # there is only one of each

# %%
# The load swings as it goes down, because it has a small velocity at the start.

figure, axes = plt.subplots(4, 1, figsize=(6.4, 7), sharex=True, layout="constrained")
axes[0].plot(run.time, own.unstretched_length, label="length")
axes[0].plot(run.time, [planned(t)[0] for t in run.time.values], "k--", label="planned")
axes[0].set_ylabel("length (m)")
axes[0].legend()
axes[1].step(run.time[:-1], torques, where="post")
axes[1].set_ylabel("torque (N m)")
axes[2].plot(run.time, own.end_tension)
axes[2].set_ylabel("tension at\nthe body (N)")
axes[3].plot(run.time, run.position.isel(node=-1).sel(axis="x"))
axes[3].set(ylabel="sway (m)", xlabel="time (s)")
tl.figures.save(figure, "winch", ["png"])

miss = own.unstretched_length.values - np.array([planned(t)[0] for t in run.time.values])
print(f"largest miss on the way {1e3 * np.abs(miss).max():.0f} mm, at the end {1e3 * miss[-1]:.2f} mm")
print(f"speed at the end {1e3 * float(own.reel_speed[-1]):.2f} mm/s")
work = float(own.motor_work[-1])
by_hand = -(5.0 * 8.0 + 0.05 * (12.0**2 - 4.0**2) / 2) * 9.81  # of the weights of sensor and string
print(f"work of the motor {work:.0f} J: it brakes, so the work is negative; by hand {by_hand:.0f} J")
assert abs(work / by_hand - 1) < 0.01
assert np.abs(miss).max() < 0.05 and abs(miss[-1]) < 1e-3

# %%
# That is the tutorial. The :doc:`gallery </generated/gallery/index>` shows more effects, and the
# :doc:`how-tos </howto/index>` say how to get things done.
