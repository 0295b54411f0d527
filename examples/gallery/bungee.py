"""
Bungee jump
===========

A jumper of 80 kg leaps from a bridge. The cord is a bundle of five shock cords: under MIL-C-5651D one has a stiffness
times length of 800 to 1500 N (quoted in MIT's RELATE wiki, "Bungee Jumping for the Brave"),
so EA = 4000 N for five of the softest. Rubber stiffens when it is stretched far, and a cord goes
slack: a table of tension over strain has both. Below 60 % strain the table follows 4000 N, beyond that its steepening
is a rounded estimate, since specifications give limits only. So is the damping: 30 N s for each cord. Air drags on
jumper (drag area 0.5 m², that of a person falling across) and cord.
"""

import matplotlib.pyplot as plt
import numpy as np

import tautline as tl

strains = np.array([-1.0, -0.05, 0.0, 0.05, 0.2, 0.4, 0.6, 0.8, 1.0, 1.2, 1.5])
tensions = np.where(strains > 0.0, 4000.0 * strains + 1500.0 * np.maximum(strains - 0.6, 0.0) ** 2, 0.0)
# 16 mm shock cord weighs about 0.18 kg/m by makers' lists
cord = tl.String.from_table(15.0, 5 * 0.18, strains, tensions, viscosity=150.0, diameter=0.036)
jumper = tl.RigidBody.box(mass=80.0, sides=(0.25, 0.4, 1.8), center_of_mass=(0.0, 0.0, 1.0))
anchor = tl.Reel(drum_radius=0.1, guide_length=0.1, inertia_mass=10.0)
air = tl.Fluid(density=1.2, drag_area=0.5, spin_damping=2.0)

# %%
# The cord hangs in a bight from the bridge to the ankles of the jumper, who stands 2 m beside the
# anchor: so the nodes begin on two verticals. The body is head up, and tips forward in the leap.

deployed, elements = 14.0, 28
pendulum = tl.pendulum(cord, anchor, jumper, fluid=air, elements=elements)
along = np.linspace(0.0, deployed, elements + 1)
low = (deployed - 2.0) / 2.0  # depth of the bight
nodes = np.zeros((elements + 1, 3))
nodes[:, 0] = np.clip(along - low, 0.0, 2.0)
nodes[:, 2] = np.minimum(along, low) - np.clip(along - low - 2.0, 0.0, None)
velocities = np.zeros_like(nodes)
velocities[-1] = (1.0, 0.0, -1.0)
upright, tipping = np.diag([1.0, -1.0, -1.0]), np.array([0.0, -1.2, 0.0])
center = upright @ jumper.center_of_mass  # from the ankles
moving = velocities[-1] + upright @ np.cross(tipping, jumper.center_of_mass)
start = tl.State(
    {"body": tl.BodyState(nodes[-1] + center, moving, upright, tipping)},
    {"line": tl.LineState(nodes, velocities, cord.length - deployed)},
)
run = tl.simulate(pendulum, start, duration=25.0, sample=0.02, step=5e-4)

# %%
# The same jump on a cord that obeys Hooke's law in compression too and has no losses.

hooke = tl.String(15.0, cord.density, 4000.0, law="linear")
plain = tl.simulate(tl.pendulum(hooke, anchor, jumper, elements=elements), start, duration=25.0, sample=0.02)

figure, axes = plt.subplots(3, 1, figsize=(7, 7), sharex=True, layout="constrained")
for result, name in ((run, "stiffening, slack, drag and damping"), (plain, "linear, no losses")):
    depth = result.position.isel(node=-1).sel(axis="z")
    axes[0].plot(result.time, -depth, label=name)
    axes[1].plot(result.time, result.tension.isel(element=-1) / 1e3)
    load = float(result.tension.isel(element=-1).max()) / (80.0 * 9.81)
    print(
        f"{name}: ankles {float(depth.max()):.1f} m below the bridge, at most {load:.1f} times the weight in the cord"
    )
axes[0].set_ylabel("height of the\nankles (m)")
axes[0].legend(loc="lower center", bbox_to_anchor=(0.5, 1.0), ncols=2)
axes[1].set_ylabel("tension at the\njumper (kN)")
axes[2].stackplot(
    run.time, run.damping_loss / 1e3, -run.fluid_work / 1e3, labels=["damping in the cord", "air"], alpha=0.8
)
axes[2].set(ylabel="energy lost (kJ)", xlabel="time (s)")
axes[2].legend(loc="lower right")
tl.figures.save(figure, "bungee", ["png"])

# %%
# The forces, and the first fall in pictures a third of a second apart.

figure, (left, right) = plt.subplots(1, 2, figsize=(8, 5), width_ratios=(1, 1.2), layout="constrained")
shown = np.linspace(-0.2, 1.2, 200)
left.plot(shown, cord.tension(shown) / 1e3, label="table")
left.plot(shown, hooke.tension(shown) / 1e3, "--", label="linear")
left.set(xlabel="strain", ylabel="tension (kN)")
left.legend()
for i, t in enumerate(np.arange(0.0, 4.0, 0.3)):
    row = run.sel(time=t, method="nearest")
    foot = row.position.isel(node=-1).values
    head = foot + row.attitude.sel(body="body").values @ np.array([0.0, 0.0, 1.8])
    x = 1.5 * i
    right.plot(x + row.position.sel(axis="x"), row.position.sel(axis="z"), "C0", linewidth=1)
    right.plot([x + foot[0], x + head[0]], [foot[2], head[2]], "C3", linewidth=3, solid_capstyle="round")
right.set(xlabel="x (m), moved by 1.5 m a picture", ylabel="z, down (m)")
right.invert_yaxis()
tl.figures.save(figure, "bungee-fall", ["png"])

fallen = run.time > 4.0
for result, name in ((run, "the table"), (plain, "the linear law")):
    least = float(result.tension.isel(element=-1).where(fallen).min())
    print(f"after the first fall the tension at the jumper is at least {least:.0f} N with {name}")
    assert (least < -100.0) == (name == "the linear law")
exchanged = np.ptp(run.gravity_energy.values)
unexplained = float(abs(tl.analysis.balance_error(run)).max())
print(f"balance of energy closed to {unexplained:.1e} J of {exchanged:.0f} J")
assert unexplained < 1e-4 * exchanged

# %%
# By hand, for the linear cord without losses: at the lowest point the cord stores the energy of the fall of jumper
# and cord, EA (D - X)²/(2 X) = M g (D + 2 m) + M v²/2 + m g (D/2 - z), where the center of mass goes from 1 m above
# the ankles to 1 m below them, and that of the cord is at z = 2.7 m in the bight.

X, M, m = deployed, 80.0, cord.density * deployed
fallen = (M + 0.5 * m) * 9.81
rest = (2.0 * M - m * float(np.mean(0.5 * (nodes[1:, 2] + nodes[:-1, 2])))) * 9.81 + 0.5 * M * 2.0
D = max(np.roots([4000.0 / (2 * X), -4000.0 - fallen, 4000.0 * X / 2 - rest]))
deepest = float(plain.position.isel(node=-1).sel(axis="z").max())
print(f"linear cord: {deepest:.1f} m deep, by hand at most {D:.1f} m if nothing moves there any more")
assert 0.95 * D < deepest < D

# %%
# The linear cord carries compression and oscillates; the other goes slack in the bounce. Left out: the hysteresis of
# rubber, which viscous damping models coarsely, and the jumper's joints.
