"""
Thrown bodies
=============

Two bodies fly through free space and turn about each other on a cord, as a bola does; one of them has a reel and hauls
the cord in, from 6 m to 3 m: the built-in scenario ``thrown-bodies``. Nothing acts from outside, so linear and angular
momentum of the whole stay constant, whatever motor, drum and cord do, and that decides the motion.
"""

import matplotlib.pyplot as plt
import numpy as np

import tautline as tl

case = tl.load("thrown-bodies")
reeler, ball, cord = case.system.bodies["reeler"], case.system.bodies["ball"], case.system.lines["cord"].string
assert isinstance(reeler, tl.RigidBody) and isinstance(ball, tl.RigidBody)
run = tl.simulate(case)
print(run.attrs["message"], "after", run.attrs["steps"], "steps")

# %%
# Momenta. The center of mass flies straight on; the figures below show rounding.

time = run.time.values
mass = reeler.mass + ball.mass + cord.density * cord.length
drifts = {}
for name, unit in (("linear_momentum", "kg m/s"), ("angular_momentum", "kg m²/s")):
    values = run[name].values
    size = np.linalg.norm(values[0])
    drifts[name.replace("_", " ")] = np.linalg.norm(values - values[0], axis=1) / size
    print(f"{name}: {size:.4f} {unit}, changes by {drifts[name.replace('_', ' ')].max():.0e} of itself")
    assert drifts[name.replace("_", " ")].max() < 1e-13

# %%
# By hand, from angular momentum: a line of masses that turns as one has the moment of inertia of bodies,
# deployed and spooled cord about the common center of mass. The spin rate is the angular momentum over it.


def inertia(out: float, stretch: float) -> float:
    """Moment of inertia about the center of mass with so much cord out, stretched (kg m^2)."""
    length = out * (1.0 + stretch)
    wound, free = cord.density * (cord.length - out), cord.density * out
    # mass, place along the line from the reeler, and moment of inertia about its own center
    parts = [
        (reeler.mass, 0.0, reeler.mass * 2 * 0.3**2 / 12.0),
        (wound, 0.15, 0.0),
        (free, 0.15 + 0.5 * length, free * length**2 / 12.0),
        (ball.mass, 0.15 + length + 0.1, 0.0),  # turns by itself: the cord does not hold it
    ]
    center = sum(m * x for m, x, _ in parts) / mass
    return float(sum(m * (x - center) ** 2 + own for m, x, own in parts))


out = run.unstretched_length.sel(line="cord").values
stretch = run.strain.mean("element").values
moment = np.array([inertia(*x) for x in zip(out, stretch, strict=True)])
spin_of_all = 2.0 * moment[0]  # kg m^2/s, at 2 rad/s
by_hand = spin_of_all / moment
line = np.diff(run.body_position.values, axis=1)[:, 0]
parting = np.diff(run.body_velocity.values, axis=1)[:, 0]
spin = np.cross(line, parting)[:, 2] / np.sum(line**2, axis=1)
print(f"spin rate {spin[0]:.3f} rad/s at first, {spin[-1]:.3f} at last, by hand {by_hand[-1]:.3f} rad/s")
assert np.abs(spin / by_hand - 1.0).max() < 5e-3

# %%
# Half the cord makes the pair turn three and a half times as fast, and that takes work: the motor's, for
# the energy of rotation, half the squared angular momentum over the moment of inertia, and for that of
# the stretched cord.

rotation = 0.5 * spin_of_all**2 * (1.0 / moment[-1] - 1.0 / moment[0])
pull = run.end_tension.sel(line="cord").values
stretched = 0.5 * (pull[-1] ** 2 * out[-1] - pull[0] ** 2 * out[0]) / cord.stiffness
work = float(run.motor_work.sel(line="cord")[-1])
print(f"work of the motor {work:.1f} J, by hand {rotation:.1f} + {stretched:.1f} = {rotation + stretched:.1f} J")
assert abs(work / (rotation + stretched) - 1.0) < 0.01

figure, axes = plt.subplots(2, 2, figsize=(9, 4.6), layout="constrained", gridspec_kw={"height_ratios": [0.7, 1]})
for axis in axes[0]:
    axis.remove()
way = figure.add_subplot(axes[0, 0].get_gridspec()[0, :])
for k in range(0, time.size, 16):
    nodes = run.position.values[k]
    way.plot(nodes[:, 0], nodes[:, 1], "0.7", linewidth=0.8)
for name, color in (("reeler", "C0"), ("ball", "C3")):
    way.plot(*run.body_position.sel(body=name).values[:, :2].T, color, linewidth=1.2, label=name)
way.set(xlabel="x (m)", ylabel="y (m)", aspect="equal")
way.legend(loc="lower right", bbox_to_anchor=(1.0, 1.0), ncols=2, borderaxespad=0.2)
left, right = axes[1]
left.plot(time, spin, "C0", label="run")
left.plot(time, by_hand, "k:", label="by hand")
left.set(xlabel="time (s)", ylabel="spin rate (rad/s)", ylim=(0, None))
left.legend()
for name, drift in drifts.items():
    right.semilogy(time, np.maximum(drift, 1e-17), linewidth=1, label=name)
right.set(xlabel="time (s)", ylabel="relative change", ylim=(1e-17, 1e-12))
right.legend()
tl.figures.save(figure, "thrown-bodies", ["png"])
