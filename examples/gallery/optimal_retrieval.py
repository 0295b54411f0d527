"""
A retrieval with little tumbling
================================

In the paper's third example a constant torque on the drum retrieves a light body, whose center of mass is away from the
string's end, and the body tumbles. :func:`tautline.optimize` finds a table of torques for the first five
seconds under which it turns as little as possible: the string comes in as far, and at the end as fast.
"""

import matplotlib.pyplot as plt
import numpy as np

import tautline as tl

lasts = 5.0
times = np.linspace(0.0, lasts, 21)
example = tl.load("retrieval")
constant = example.with_(
    {
        "command": tl.Torque((times, np.full(21, 2.09))),
        "run": tl.Run(duration=lasts, step=2e-3, sample=0.05),
        "run.elements": 4,
    }
)

# %%
# The search has four elements. It minimizes the integral of the squared angular velocity; the torque may be from
# about a half to one and a half of that of the example.

reached = tl.simulate(constant).isel(time=-1, line=0)
best = tl.optimize(
    constant,
    vary={"command.torques": (1.0, 3.2)},
    minimize={"integral": "angular_velocity[0]^2 + angular_velocity[1]^2 + angular_velocity[2]^2"},
    subject_to=[
        tl.objectives.AtEnd("unstretched_length", float(reached.unstretched_length), within=0.02),
        tl.objectives.AtEnd("reel_speed", float(reached.reel_speed), within=0.02),
    ],
    intervals=10,
)
print(f"{best.status}: {best.message}; {best.seconds:.0f} s")
assert best.status == "completed"

# %%
# Both run with the twenty elements of the example, at order 4 and another step:

figure, axes = plt.subplots(2, 1, figsize=(7, 5), sharex=True, layout="constrained")
turning, out, speed = {}, {}, {}
for name, case in {"constant": constant, "optimal": best.case}.items():
    run = tl.simulate(case.with_({"run.elements": 20, "run.order": 4, "run.step": "auto", "run.sample": 0.01}))
    assert run.attrs["status"] == "completed"
    run = run.squeeze(["line", "body"])  # there is only one of each
    rate = np.linalg.norm(run.angular_velocity, axis=1)
    turning[name] = float(np.sqrt(np.mean(rate**2)))
    out[name], speed[name] = float(run.unstretched_length[-1]), float(run.reel_speed[-1])
    axes[0].plot(run.time, run.torque, label=name)
    axes[1].plot(run.time, rate)
    print(
        f"{name:>8}: turns with {turning[name]:.2f} rad/s (root mean square), at most {rate.max():.1f} rad/s;", end=" "
    )
    print(f"{out[name]:.2f} m out, reeled in with {speed[name]:.2f} m/s")
axes[0].set_ylabel("torque (N m)")
axes[0].legend()
axes[1].set(ylabel="angular velocity (rad/s)", xlabel="time (s)")
tl.figures.save(figure, "optimal-retrieval", ["png"])
assert turning["optimal"] < 0.75 * turning["constant"]
assert abs(out["optimal"] - out["constant"]) < 0.05 and abs(speed["optimal"] - speed["constant"]) < 0.1

# %%
# The first turn is almost the same, because the pull of the drum takes a quarter of a second to travel along the
# string. From then on the drum pulls strongly and weakly in turns.
