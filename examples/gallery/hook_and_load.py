"""
A hook block and its load
=========================

A crane on a ship: a hook block of 300 kg on the hoist rope, and a container of 2 t on a sling below it.
Such a crane swings in two ways, slowly as a whole and fast with hook and load against each other; a driver who knows
only one period excites the other. The built-in scenario ``hook-and-load`` has the
jib heave by 0.5 m every 8 s and hoists by 8 m; ``tautline show hook-and-load`` prints it.
"""

import matplotlib.pyplot as plt
import numpy as np
from numpy.typing import NDArray
from scipy.linalg import eigh

import tautline as tl

Array = NDArray[np.float64]
GRAVITY = 9.81
case = tl.load("hook-and-load")
crane = case.system
hook, load = crane.bodies["hook"], crane.bodies["load"]
hoist, sling = crane.lines["hoist"].string, crane.lines["sling"].string
assert isinstance(hook, tl.RigidBody) and isinstance(load, tl.RigidBody)

# %%
# At rest and small oscillations, for several lengths of the hoist rope, by :func:`tautline.statics`
# and :func:`tautline.modes`, with a jib that stands still.
#
# By hand, twice. The textbook has two points on two massless ropes: with the ratio of masses
# r = m2/m1 the frequencies are those of
#
# .. math::
#    \omega^2 = \tfrac12 g (1 + r) \left[\tfrac1{l_1} + \tfrac1{l_2} \mp
#    \sqrt{\left(\tfrac1{l_1} + \tfrac1{l_2}\right)^2 - \tfrac4{(1 + r)\, l_1 l_2}}\right].
#
# A chain of four rods that swing through small angles, rope, hook block, sling and container, has their
# moments of inertia as well.

still = tl.System({"jib": tl.Kinematic(), "hook": hook, "load": load}, crane.lines)


def two_points(length: float) -> Array:
    """Angular frequencies (rad/s) with the masses at the centers of mass of hook and load."""
    l1, l2, r = length + 0.4, 0.4 + 4.0 + 0.6, load.mass / hook.mass
    total, part = 1.0 / l1 + 1.0 / l2, 4.0 / ((1.0 + r) * l1 * l2)
    root = np.sqrt(total**2 - part)
    return np.asarray(np.sqrt(0.5 * GRAVITY * (1.0 + r) * np.array([total - root, total + root])))


def four_rods(length: float) -> Array:
    """Angular frequencies (rad/s) in the plane of x and z."""
    # mass, moment of inertia about the center of mass, length to the next rod, and to the center of mass
    rods = [
        (hoist.density * length, hoist.density * length**3 / 12.0, length, 0.5 * length),
        (hook.mass, hook.mass * (0.5**2 + 0.8**2) / 12.0, 0.8, 0.4),
        (sling.density * 4.0, sling.density * 4.0**3 / 12.0, 4.0, 2.0),
        (load.mass, load.mass * (2.4**2 + 1.2**2) / 12.0, 0.0, 0.6),
    ]
    inertia, stiffness = np.zeros((4, 4)), np.zeros((4, 4))
    for i, (mass, spin, _, center) in enumerate(rods):
        # the center of mass is moved by the angles of the rods above, and by its own
        reach = np.array([rods[j][2] if j < i else center if j == i else 0.0 for j in range(4)])
        inertia += mass * np.outer(reach, reach)
        inertia[i, i] += spin
        stiffness += mass * GRAVITY * np.diag(reach)
    return np.asarray(np.sqrt(eigh(stiffness, inertia)[0]))


lengths = np.array([6.0, 8.0, 10.0, 12.0, 16.0, 20.0])
found = []
for length in lengths:
    rest = tl.statics(still, tl.Hanging({"hoist": length}))
    modes = tl.modes(still, rest, count=12)
    # the hook moves along x in them; others are across, or turn hook and load about the vertical
    along = np.abs(modes.body_shape.sel(body="hook", axis="x").values) > 1e-6
    modes = modes.isel(mode=along & (modes.frequency.values > 1e-3))
    found.append(1.0 / modes.frequency.values[:3])
    exact, textbook = 2.0 * np.pi / four_rods(length)[:3], 2.0 * np.pi / two_points(length)
    print(
        f"{length:4.0f} m of rope: periods {found[-1].round(3)} s, by hand {exact.round(3)} s as four rods "
        f"and {textbook.round(3)} s as two points"
    )
    assert np.abs(found[-1] / exact - 1.0).max() < 3e-3  # the rope is no rod
    assert abs(found[-1][0] / textbook[0] - 1.0) < 3e-3

# %%
# The slow swing is that of the textbook. The fast one is not: the container is so long that its
# turning about the sling's end and the swing of the hook mix, and there are two where the textbook has one.

figure, (left, *right) = plt.subplots(
    1, 4, figsize=(8, 4.2), layout="constrained", gridspec_kw={"width_ratios": [2.2, 1, 1, 1]}
)
smooth = np.linspace(6.0, 20.0, 60)
left.plot(smooth, 2 * np.pi / np.array([four_rods(x)[:3] for x in smooth]), "C0", label="four rods")
left.plot(smooth, 2 * np.pi / np.array([two_points(x) for x in smooth]), "0.6", ls="--", label="two points")
left.plot(lengths, np.array(found), "C3o", label="modes")
named = dict(zip(*reversed(left.get_legend_handles_labels()), strict=True))
left.legend(named.values(), named.keys(), loc="center left", bbox_to_anchor=(0.0, 0.42))
left.set(xlabel="hoist rope (m)", ylabel="period (s)", ylim=(0, None))
x, z = np.array([[-1.2, 0.0], [1.2, 0.0], [1.2, 1.2], [-1.2, 1.2], [-1.2, 0.0]]).T  # of the container, from above
hoisting, slung = rest.state.lines["hoist"].nodes, rest.state.lines["sling"].nodes
for k, (axis, period) in enumerate(zip(right, found[-1], strict=True)):
    sideways, turn = modes["shape"].values[k, :, 0], float(modes.rotation.sel(body="load", axis="y")[k])
    scale = min(2.5 / np.abs(sideways).max(), 0.5 / abs(turn))
    upper, lower = np.split(scale * sideways, [len(hoisting)])
    axis.plot(upper, hoisting[:, 2], "C0", lower, slung[:, 2], "C0")
    axis.plot([upper[-1], lower[0]], [hoisting[-1, 2], slung[0, 2]], "C1", linewidth=6, solid_capstyle="butt")
    c, s = np.cos(scale * turn), np.sin(scale * turn)
    axis.plot(lower[-1] + c * x + s * z, slung[-1, 2] - s * x + c * z, "C3")
    axis.set(title=f"{period:.2f} s", xlim=(-4, 4), ylim=(28, -1), xticks=[], aspect="equal")
    if k > 0:
        axis.set_yticks([])
right[0].set_ylabel("z, down (m)")
tl.figures.save(figure, "hook-modes", ["png"])

# %%
# The scenario: the jib heaves, and from 10 s on the winch hoists by 8 m with 0.8 m/s and 0.2 m/s².
# By hand: everything below the winch moves as one, with the acceleration of the jib and of the winch, so
# each rope carries the masses below it times gravity and acceleration together. A rope of
# 20 m is a spring on which the load bounces 3.3 times a second, far faster than heave.
#
# Sudden changes of the winch make it bounce. A jump of the acceleration by a gives a bounce of the tension by
# the mass times a, and a jump of the jerk by j one of the mass times j over the bounce's angular frequency. The
# winch starts and stops with four jumps of 0.2 m/s², or, with the jerk limited to 0.2 m/s³, with eight of that.

HEAVE = 2.0 * np.pi / 8.0  # rad/s
BOUNCE = np.sqrt(hoist.stiffness / (20.0 * (hook.mass + load.mass)))  # rad/s
figure, axes = plt.subplots(3, 1, figsize=(7, 6.5), sharex=True, layout="constrained")
for title, given in {"as in the file": {}, "jerk of 0.2 m/s³": {"lines.hoist.command.jerk": "0.2 m/s^3"}}.items():
    run = tl.simulate(case.with_(given))
    time = run.time.values
    still_up = time > 8.0  # the ramp of the heave is over
    jib = -0.5 * HEAVE**2 * np.sin(HEAVE * time)  # m/s^2, down
    winch = -np.gradient(run.reel_speed.sel(line="hoist").values, time)
    rope = run.unstretched_length.sel(line="hoist").values
    below = {
        "hoist": load.mass + hook.mass + sling.density * 4.0 + hoist.density * rope,
        "sling": np.full(time.size, load.mass + sling.density * 4.0),
    }
    print(title)
    for color, (name, mass) in enumerate(below.items()):
        carried = mass * (GRAVITY - jib - winch)
        tension = run.start_tension.sel(line=name).values
        before, after = (time > 8.1) & (time < 9.9), time > 25.0
        miss = np.abs(tension - carried)[before].max()
        mean = float(np.mean((tension - carried)[after]))
        rings = np.abs(tension - carried)[after].max()
        most = (8 * 0.2 / BOUNCE if given else 4 * 0.2) * mass[-1]
        print(
            f"  {name}: before hoisting within {miss:.1f} N of what it carries by hand, up to "
            f"{carried[before].max() / 1e3:.2f} kN; after it {mean:.1f} N in the mean, bouncing by {rings:.0f} N, "
            f"where the jumps add up to {most:.0f} N by hand"
        )
        assert miss < 5.0
        assert abs(mean) < 1e-3 * carried.mean()
        assert rings < 1.1 * most  # a little more, for the rope becomes shorter meanwhile
        axes[1 + bool(given)].plot(time, tension / 1e3, f"C{color}", linewidth=0.8, label=name)
        axes[1 + bool(given)].plot(time[still_up], carried[still_up] / 1e3, "k:", linewidth=1)
    axes[1 + bool(given)].set(ylabel="tension (kN)", title=title)
    assert np.isclose(rope[-1], 12.0)
axes[0].plot(time, run.body_position.sel(body="jib", axis="z"), "0.5", label="jib")
axes[0].plot(time, run.body_position.sel(body="load", axis="z"), "C3", label="load")
axes[0].set_ylabel("z, down (m)")
axes[0].invert_yaxis()
axes[0].legend(loc="center left")
axes[1].plot([], [], "k:", label="by hand")
axes[1].legend(loc="upper left", ncols=3, fontsize=8)
axes[2].set_xlabel("time (s)")
tl.figures.save(figure, "hook-heave", ["png"])
