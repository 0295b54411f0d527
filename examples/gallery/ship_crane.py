"""
A crane on a ship that rolls and pitches
========================================

The built-in scenario ``ship-crane``: a load of five tonnes hangs on a crane whose tip is 15 m aft, 9 m to starboard
and 38 m above the water line of a ship in waves. How much does the rope carry?
"""

import matplotlib.pyplot as plt
import numpy as np

import tautline as tl

case = tl.load("ship-crane")
ship, tip, line = case.system.bodies["ship"], np.array([-15.0, 9.0, -38.0]), case.system.lines["hoist"]
assert isinstance(ship, tl.Kinematic) and ship.path is not None
run = tl.simulate(case)
print(run.attrs["message"])

# %%
# By hand, the tip is at :math:`x+R\,p`, with place and attitude of the ship.

times, step, mass = run.time.values[20:-20], 0.01, 5000.0 + line.string.density * 30.0


def place(t: np.ndarray) -> np.ndarray:
    turned = np.array([ship.rotation.rotation(float(x)) @ tip for x in t])
    return np.asarray(ship.path.at(t)[0] + turned)


# nodes of the line begin at the tip
away = np.abs(run.position.isel(node=0).values[20:-20] - place(times)).max()
print(f"the rope begins within {away:.1e} m of where the tip is by hand")
assert away < 1e-9

# %%
# The load follows the tip, so the swing of the tension is mass times the tip's vertical acceleration.

rising = (place(times + step) - 2.0 * place(times) + place(times - step))[:, 2] / step**2
found = float(np.abs(run.start_tension.sel(line="hoist")[20:-20] - mass * 9.81).max())
by_hand = mass * np.abs(rising).max()
print(f"the tension swings by {found:.0f} N, by hand {by_hand:.0f} N")
assert abs(found / by_hand - 1.0) < 0.1  # the load sways

# %%
# Heave alone would give less: roll and pitch move a tip that is high and far out.

heave = mass * np.abs(np.gradient(np.gradient(ship.path.at(times)[0][:, 2], times), times)).max()
print(f"with heave alone {heave:.0f} N")
assert heave < 0.9 * by_hand

figure, axes = plt.subplots(2, 1, figsize=(7, 4.5), sharex=True, layout="constrained")
axes[0].plot(times, place(times)[:, 2] + 38.0)
axes[0].set_ylabel("tip, down (m)")
axes[1].plot(run.time, run.start_tension.sel(line="hoist") / 1e3)
axes[1].plot(times, mass * (9.81 - rising) / 1e3, "k:", linewidth=0.8)
axes[1].set(ylabel="tension (kN); dotted: by hand", xlabel="time (s)")
tl.figures.save(figure, "ship-crane", ["png"])
