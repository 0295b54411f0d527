"""
An emergency stop without slack
===============================

A lift of 800 kg goes up at 2.5 m/s on 60 m of rope and has to stop. If the drum brakes too hard, the cabin keeps
rising, the rope goes slack, and the cabin falls into it. :func:`tautline.optimize` finds the fastest stop
that keeps a fifth of the weight in the rope and leaves the cabin at rest.
"""

import dataclasses

import matplotlib.pyplot as plt
import numpy as np

import tautline as tl

mass, deployed, speed = 800.0, 60.0, 2.5
lift = tl.pendulum(
    tl.String(length=80.0, density=0.8, stiffness=4e6),
    tl.Reel(drum_radius=0.3, guide_length=1.0, inertia_mass=600.0),
    tl.RigidBody.point(mass=mass),
    elements=1,
)


def rising(elements: int) -> tl.State:
    """The cabin on its way up, and the rope above it."""
    rest = tl.statics(lift.with_elements({"line": elements}), tl.Hanging(deployed)).state
    rope, cabin = rest.lines["line"], rest.bodies["body"]
    # nodes of the mesh move as their part of the length, the cabin as the rope comes in
    velocities = np.outer(-speed * rope.nodes[:, 2] / deployed, (0.0, 0.0, 1.0))
    return tl.State(
        {"body": dataclasses.replace(cabin, velocity=velocities[-1])},
        {"line": dataclasses.replace(rope, node_velocities=velocities, reel_speed=speed)},
    )


# %%
# The search begins with constant braking within 1.2 s.

times = np.linspace(0.0, 1.2, 13)
ramp = tl.Case(
    lift,
    rising(1),
    tl.Speed(retrieval=(times, speed * (1.0 - times / 1.2))),
    tl.Run(duration=1.2, step=2.5e-3, sample=0.02),
)
weight = mass * 9.81
best = tl.optimize(
    ramp,
    vary={"command.retrievals[1:-1]": (-speed, 2.0 * speed), "run.duration": (0.2, 3.0)},
    minimize="time",
    subject_to=[
        tl.objectives.Limit("start_tension", least=0.2 * weight),
        tl.objectives.Limit("rate(reel_speed)", -20.0, 20.0),
        tl.objectives.AtEnd("velocity[-1, 2]", 0.0, within=0.01),
        tl.objectives.AtEnd("end_tension", weight, within=0.02 * weight),
    ],
    intervals=4,
)
print(f"{best.status}: stops within {best.objective:.3f} s; {best.message}; {best.seconds:.0f} s")
assert best.status == "completed"

# %%
# For comparison, constant braking that takes as long; both with eight elements, order 4 and a smaller step,
# for 2 s longer. By hand: a cabin that falls freely except for a fifth of its weight needs v/(0.8 g).

by_hand = speed / (0.8 * 9.81)
even = ramp.with_({"command": tl.Speed(retrieval=((0.0, best.objective), (speed, 0.0)))})
figure, axes = plt.subplots(2, 1, figsize=(7, 5), sharex=True, layout="constrained")
least, left = {}, {}
for name, case in {"even": even, "optimal": best.case}.items():
    fine = {"run.elements": 8, "run.order": 4, "run.step": "auto"}
    longer = best.objective + 2.0
    run = tl.simulate(case.with_({**fine, "run.duration": longer, "run.sample": longer / 1000}, start=rising(8)))
    assert run.attrs["status"] == "completed"
    after = run.sel(time=slice(best.objective, None))
    least[name] = float(run.start_tension.min()) / weight
    left[name] = float(abs(after.velocity[:, -1, 2]).max())
    axes[0].plot(run.time, run.reel_speed, label=name)
    axes[1].plot(run.time, run.start_tension / weight, linewidth=0.9)
    print(f"{name:>8}: least pull {least[name]:.2f} of the weight, then the cabin bounces with {left[name]:.2f} m/s")
print(f"by hand the stop takes {by_hand:.3f} s at least")
axes[0].set_ylabel("drum (m/s)")
axes[0].legend()
axes[1].set(ylabel="pull over weight", xlabel="time (s)")
tl.figures.save(figure, "optimal-stop", ["png"])
assert by_hand < best.objective < 1.6 * by_hand
assert least["even"] < 1e-3 and least["optimal"] > 0.05
assert left["optimal"] < 0.1 and left["even"] > 10.0 * left["optimal"]

# %%
# The search knew the bounce of the cabin and not the waves of the rope, which take the pull to a tenth of the
# weight for some milliseconds. With more elements, or a smoother drum, the search would handle them as well.
