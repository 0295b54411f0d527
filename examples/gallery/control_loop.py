"""
A hoist at 1 kHz with a load cell
=================================

A hoist is to lift any load at 0.5 m/s. Its controller ticks a thousand times a second. It bases its torque on the
nominal weight of the load, or on the reading of a load cell, which is noisy, sampled and late.
"""

import time

import matplotlib.pyplot as plt
import numpy as np
from numpy.typing import NDArray

import tautline as tl

RADIUS, SPEED, GAIN, NOMINAL, REAL, NOISE, DELAY = 0.1, 0.5, 2000.0, 100.0, 130.0, 8.0, 0.004
hoist = tl.pendulum(
    tl.String("30 m", "0.1 kg/m", "500 kN", damping_ratio=0.1),
    tl.Reel(RADIUS, "0.5 m", inertia_mass=60.0),
    tl.RigidBody.point(REAL),
    elements=4,
)


def lift(weighed: bool) -> NDArray[np.float64]:
    """Time, speed, tension and reading of the cell at every tick."""
    cell = tl.control.LoadCell(noise=NOISE, delay=DELAY, sample_time="2 ms", seed=1)
    sim, rows, pull = tl.Simulation(hoist, tl.Hanging("12 m")), [], NOMINAL * 9.81
    for _ in range(3000):
        tension = sim.line.start_tension
        reading = cell(sim.time, tension)
        rows.append((sim.time, sim.line.speed, tension, reading))
        if weighed:
            pull += 0.05 * (reading - pull)
        wanted = SPEED * min(sim.time, 1.0)
        sim.advance(0.001, tl.Torque(RADIUS * (pull + GAIN * (wanted - sim.line.speed))))
    return np.array(rows).T


begun = time.process_time()
runs = {"nominal weight": lift(False), "load cell": lift(True)}
print(f"{1e6 * (time.process_time() - begun) / 6000:.0f} µs of processor a tick")

# %%
# By hand: a controller that assumes too little weight pulls too little, and its drum is too slow by the missing
# torque over the gain. With the nominal weight that is the difference between it and load and rope; with the load
# cell only the half meter of rope in the guide, and the stretch of the rope that comes in.

late, rope = slice(2000, 3000), hoist.lines["line"].string
tension = 9.81 * (REAL + rope.density * 11.4)  # 11.4 m are out then
others = 9.81 * rope.density * 0.5 + tension**2 / rope.stiffness
for name, missing in (("nominal weight", tension - NOMINAL * 9.81 + others), ("load cell", others)):
    found, by_hand = runs[name][1][late].mean(), SPEED - missing / GAIN
    print(f"{name:>14}: {found:.4f} m/s, by hand {by_hand:.4f} m/s")
    assert abs(found / by_hand - 1.0) < 2e-3

# %%
# The cell's readings are those of 4 ms before, with a noise of 8 N.

times, _, true, reading = runs["load cell"]
noise = float((reading[4::2] - true[:-4:2]).std())
print(f"noise of the cell {noise:.2f} N; at most {np.abs(reading - true).max():.0f} N from the tension of the moment")
assert abs(noise / NOISE - 1.0) < 0.06  # 1500 values

figure, axes = plt.subplots(2, 1, figsize=(7, 4.5), sharex=True, layout="constrained")
for name, (t, speed, _, _) in runs.items():
    axes[0].plot(t, speed, label=name)
axes[0].set_ylabel("speed of the drum (m/s)")
axes[0].legend()
axes[1].plot(times, reading, color="0.7", linewidth=0.5, label="cell")
axes[1].plot(times, true, label="rope")
axes[1].set(xlabel="time (s)", ylabel="tension (N)")
axes[1].legend()
tl.figures.save(figure, "control-loop", ["png"])
