"""
One number changed on the command line
======================================

The third example of the paper with 3 N m in place of 2.09 N m:
``tautline run retrieval --set command.torque="3 N*m"``, here from Python.
"""

import matplotlib.pyplot as plt
import numpy as np

import tautline as tl

runs = {name: tl.simulate(tl.load("retrieval", {"command.torque": name})) for name in ("2.09 N*m", "3 N*m")}
for name, run in runs.items():
    assert run.attrs["status"] == "completed"
    print(f"{name}: {float(run.unstretched_length[-1, 0]):.2f} m are left; {[x.kind for x in tl.warnings_of(run)]}")

# %%
# By hand, the work of the motor is torque over radius times the retrieved length. What is left of it after the loss
# at the guide is in the motion: the whole account closes to the error that the run states.

run = runs["3 N*m"].sel(line="line")
pull = 3.0 / 0.5
by_hand = pull * float(run.unstretched_length[0] - run.unstretched_length[-1])
work = float(run.motor_work[-1])
gained = float(run.energy[-1] - run.energy[0] + run.guide_loss[-1])
print(f"work {work:.4f} J, by hand {by_hand:.4f} J; energy gained and lost {gained:.4f} J")
assert abs(work / by_hand - 1.0) < 1e-9 and abs(gained / work - 1.0) < 0.01

# %%
# By hand, the first moments: drum and string on it, M, are pulled by the torque and held by the wave that they send
# along the string, which pulls with :math:`\sqrt{\mu EA}` times the speed at which string leaves the guide. All of it
# is in free fall meanwhile, on its slope of 15 degrees. Until the wave returns from the body this gives :math:`M\dot
# v=F-Z\,(v+g\cos 15°\,t)`, where F also carries the half meter of string in the guide. Strain, which is up to 6 %, is
# left out.

string, reel = (getattr(tl.load("retrieval").system.lines["line"], part) for part in ("string", "reel"))
Z, M = np.sqrt(string.density * string.stiffness), reel.inertia_mass + string.density * (string.length - 10.0)
G, F = 9.81 * np.cos(np.radians(15.0)), pull - 9.81 * string.density * reel.guide_length
early = run.sel(time=slice(0.0, 0.25))
t = early.time.values
speed = (F / Z + G * M / Z) * (1.0 - np.exp(-Z * t / M)) - G * t
difference = np.abs(early.reel_speed.values - speed).max()
print(f"after {t[-1]:.2f} s: {float(early.reel_speed[-1]):.4f} m/s, by hand {speed[-1]:.4f} m/s")
assert difference < 0.03 * speed[-1]

figure, axes = plt.subplots(2, 1, figsize=(7, 4.5), sharex=True, layout="constrained")
for name, each in runs.items():
    axes[0].plot(each.time, each.unstretched_length, label=name)
    axes[1].plot(each.time, each.reel_speed)
axes[1].plot(t, speed, "k:", label="by hand")
axes[0].set_ylabel("outside the drum (m)")
axes[1].set(ylabel="speed of the reel (m/s)", xlabel="time (s)")
axes[0].legend()
axes[1].legend()
tl.figures.save(figure, "retrieval-torque", ["png"])
