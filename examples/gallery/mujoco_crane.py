"""
A crane in MuJoCo, its rope in tautline
=======================================

`MuJoCo <https://mujoco.org>`_ moves a tower crane: it slews, and a trolley runs along its jib. The rope, its
drum and the load are tautline's. Every 5 ms the two exchange the motion of the trolley and the pull of the rope.
:doc:`/howto/mujoco` explains the exchange line by line.

The rope of 12 mm is made as in :doc:`crane`; masses and speeds are those of a small tower crane.
"""

from typing import Any, NamedTuple

import matplotlib.pyplot as plt
import mujoco
import numpy as np

import tautline as tl

CRANE = """
<mujoco>
  <option timestep="{step}" integrator="RK4"><flag energy="enable" contact="disable"/></option>
  <worldbody>
    <body name="jib" pos="0 0 25">
      <joint name="slew" type="hinge" axis="0 0 1"/>
      <geom type="box" size="8 0.4 0.4" pos="4 0 0.6" mass="2500"/>
      <body name="trolley" pos="4 0 0">
        <joint name="travel" type="slide" axis="1 0 0"/>
        <geom type="box" size="0.5 0.4 0.2" mass="{trolley}"/>
      </body>
    </body>
  </worldbody>
  <actuator><motor joint="slew"/><motor joint="travel"/></actuator>
</mujoco>
"""
UP = np.array([1.0, -1.0, -1.0])  # from axes with z down to axes with z up, and back: half a turn about x
GRAVITY = np.array([0.0, 0.0, 9.81])
RUNAWAY = 20.0  # rad/s or m/s: no crane does that

rope = tl.String(length=60.0, density=0.409 * 1.2**2, stiffness=0.460 * 0.012**2 * 83e9, viscosity=2e3)
reel = tl.Reel(drum_radius=0.15, guide_length=0.5, inertia_mass=200.0)
load = tl.RigidBody.box(mass=400.0, sides=(1.0, 1.0, 0.8), center_of_mass=(0.0, 0.0, 1.2))
hoist = tl.System(
    bodies={"trolley": tl.Kinematic(), "load": load},  # a trolley that goes where MuJoCo says
    lines={"rope": tl.Line(rope, start="trolley", end="load", reel=reel, elements=4)},
)


class Coupled(NamedTuple):
    """Record of a run of both, once every exchange."""

    rope: Any  # the Dataset of tautline
    joints: np.ndarray  # slew (rad) and travel (m)
    trolley: np.ndarray  # its place, z up (m)
    force: np.ndarray  # on the trolley, z up (N)
    unexplained: np.ndarray  # energy (J)


# %%
# The loop. MuJoCo goes first, under the latest force (or its extrapolation), then tautline follows with the mean
# velocity of the trolley. String on the drum moves with the trolley, so MuJoCo's trolley gets a mass `shared` of that
# size, which is subtracted from the exchanged force again.


def couple(
    duration: float,
    interval: float,
    *,
    command: Any = None,
    drive: Any = None,
    end_velocity: tuple[float, float, float] = (0.0, 0.0, 0.0),
    scheme: str = "extrapolated",
    shared: float = 0.0,
    trolley: float = 150.0,
) -> Coupled:
    sim = tl.Simulation(hoist, tl.Hanging(14.0, end_velocity=end_velocity))
    guide = sim.bodies["trolley"]
    model = mujoco.MjModel.from_xml_string(CRANE.format(step=interval / 2, trolley=trolley + shared))
    data = mujoco.MjData(model)
    carrier = model.body("trolley").id
    mujoco.mj_forward(model, data)

    place, velocity, motors = data.xipos[carrier].copy(), np.zeros(3), 0.0
    force = given = -((load.mass + rope.density * rope.length) - shared) * GRAVITY
    energies, joints, places, forces = [data.energy.sum()], [data.qpos.copy()], [place], [force]
    work = [0.0]
    for _ in range(round(duration / interval)):
        data.xfrc_applied[carrier, :3] = given
        data.ctrl[:] = (0.0, 0.0) if drive is None else drive(sim.time, data.qpos, data.qvel)
        before, old_velocity, old_force = data.qpos.copy(), velocity, force
        mujoco.mj_step(model, data, nstep=2)
        mujoco.mj_forward(model, data)
        velocity = (data.xipos[carrier] - place) / interval
        place = data.xipos[carrier].copy()

        given = old_velocity if scheme == "parallel" else velocity
        guide.move(UP * given)
        status = sim.advance(interval, command if sim.time == 0.0 else None)
        if status != "completed" or np.abs(data.qvel).max() > RUNAWAY:
            raise RuntimeError(f"{status}; {scheme}, trolley of {trolley} kg")
        force = UP * guide.force + shared * ((given - old_velocity) / interval + GRAVITY)
        given = 2.0 * force - old_force if scheme == "extrapolated" else force

        motors += float(data.ctrl @ (data.qpos - before))
        energies.append(data.energy.sum())
        joints.append(data.qpos.copy())
        places.append(place)
        forces.append(force)
        work.append(motors)
    run = sim.dataset()
    moved = run.velocity.isel(node=0).values
    # the shared mass is in both, and must count once
    twice = shared * (0.5 * np.sum(moved**2, axis=1) + 9.81 * np.array(places)[:, 2])
    total = np.array(energies) + run.energy.values - twice
    outside = np.array(work) + (run.motor_work.sel(line="rope") - run.guide_loss - run.damping_loss).values
    unexplained = (total - total[0]) - outside
    return Coupled(run, np.array(joints), np.array(places), np.array(forces), unexplained)


# %%
# The task: slew by 100 degrees, run the trolley out by 3 m, and hoist by 5 m, all at the same time. Two motors follow
# smooth plans; their controllers do not measure the sway of the load.


SLEW = np.radians(100.0)


def plan(t: float, way: float, duration: float) -> tuple[float, float]:
    x = min(max((t - 1.0) / duration, 0.0), 1.0)
    return way * x**3 * (10 - 15 * x + 6 * x**2), way / duration * 30 * x**2 * (1 - x) ** 2


def drive(t: float, joints: np.ndarray, rates: np.ndarray) -> tuple[float, float]:
    angle, slewing = plan(t, SLEW, 16.0)
    out, traveling = plan(t, 3.0, 12.0)
    return (
        2e5 * (angle - joints[0]) + 1.5e5 * (slewing - rates[0]),
        1e4 * (out - joints[1]) + 4e3 * (traveling - rates[1]),
    )


spooled = rope.density * (rope.length - 14.0)
lift = tl.Length.to(9.0, speed=1.0, acceleration=0.5, jerk=0.5, start=2.0)
work = couple(20.0, 0.005, command=lift, drive=drive, shared=spooled)
t = work.rope.time.values
center = work.rope.body_position.sel(body="load").values
seen = UP * center + np.array([4.0, 0.0, 25.0])
sway = np.linalg.norm((seen - work.trolley)[:, :2], axis=1)
off = np.degrees(work.joints[:, 0] - np.array([plan(x, SLEW, 16.0)[0] for x in t]))
print(f"sway at most {sway.max():.2f} m, which pulls the jib off its plan by up to {np.abs(off).max():.2f} degrees")
largest = float(work.rope.kinetic_energy.max())
print(f"error of the energy balance: {np.abs(work.unexplained).max():.2g} J; the load has up to {largest:.0f} J")
assert np.abs(work.unexplained).max() < 1e-3 * largest

figure = plt.figure(figsize=(9, 5.5), layout="constrained")
halves: Any = figure.subfigures(1, 2, width_ratios=[1.1, 1.0])
axis = halves[0].subplots()
for k in range(0, len(t), 500):
    tip = 12.0 * np.array([np.cos(work.joints[k, 0]), np.sin(work.joints[k, 0])])
    axis.plot(
        [0, tip[0]], [0, tip[1]], color="0.88", linewidth=5, zorder=0, label="jib, every 2.5 s" if k == 0 else None
    )
    axis.plot(*np.array([work.trolley[k, :2], seen[k, :2]]).T, ".-", color="0.3", linewidth=1, markersize=4)
axis.plot(0, 0, "ks", label="tower")
axis.plot(*work.trolley[:, :2].T, color="#0072B2", linewidth=2, label="trolley (MuJoCo)")
axis.plot(*seen[:, :2].T, color="#D55E00", label="load (tautline)")
axis.set(title="from above", xlabel="x (m)", ylabel="y (m)", aspect="equal")
axis.legend(loc="upper right", fontsize="small")
axes = halves[1].subplots(4, 1, sharex=True)
axes[0].plot(t, off, color="#0072B2")
axes[0].set_ylabel("jib off its\nplan (deg)")
axes[1].plot(t, sway, color="#D55E00")
axes[1].set_ylabel("sway (m)")
axes[2].plot(t, work.rope.tension.isel(element=0) / 1e3, color="0.2", linewidth=0.8)
axes[2].set_ylabel("rope at the\nguide (kN)")
axes[3].plot(t, work.unexplained, color="#009E73", linewidth=0.8)
axes[3].set(ylabel="error of the\nenergy (J)", xlabel="time (s)")
for axis in axes:
    axis.grid(alpha=0.4)
tl.figures.save(figure, "mujoco-crane", ["png"])

# %%
# How good is the exchange? The motors are off, and the load starts with a velocity. The total energy should be
# constant, so every change of it is an error of the coupling.

intervals = np.array([0.04, 0.02, 0.01, 0.005])
schemes: dict[str, dict[str, Any]] = {
    "both at once": {"scheme": "parallel"},
    "MuJoCo first": {"scheme": "serial"},
    "extrapolated force": {"scheme": "extrapolated"},
    "extrapolated, shared mass": {"scheme": "extrapolated", "shared": spooled},
}
without_motors: dict[str, Any] = {"end_velocity": (1.0, 1.5, 0.0)}
figure, axes = plt.subplots(1, 2, figsize=(9, 3.6), layout="constrained")
for (name, options), mark in zip(schemes.items(), "os^D", strict=True):
    errors = [np.abs(couple(2.0, H, **without_motors, **options).unexplained).max() for H in intervals]
    order = np.polyfit(np.log(intervals), np.log(errors), 1)[0]
    print(f"{name:>26}: {errors[-1]:.2g} J at 5 ms, order {order:.1f}")
    assert order > {"extrapolated": 1.3, "serial": 0.8, "parallel": 0.8}[options["scheme"]]
    axes[0].loglog(intervals * 1e3, errors, mark + "-", markersize=4, label=f"{name}, order {order:.1f}")
axes[0].set(title="without motors", xlabel="exchange every (ms)", ylabel="error of the energy (J)")
axes[0].set_xticks(intervals * 1e3, [f"{H * 1e3:g}" for H in intervals])
axes[0].minorticks_off()

# %%
# A trolley that is light compared with the string on the drum cannot be coupled so simply: the force follows the
# acceleration one exchange late, which is unstable. Smaller intervals make it worse. The shared mass cures it.

ratios = np.array([0.3, 0.8, 1.1, 1.5, 1.9, 2.4, 5.0])
for (name, options), mark in zip(schemes.items(), "os^D", strict=True):
    stable, errors = [], []
    for ratio in ratios:
        try:
            run = couple(1.0, 0.005, trolley=spooled / ratio, **without_motors, **options)
        except RuntimeError:
            break
        error = np.abs(run.unexplained).max()
        if error > 10.0:  # J, and growing
            break
        stable.append(ratio)
        errors.append(error)
    print(f"{name:>26}: runs with up to {stable[-1]:g} times the trolley's mass on the drum")
    (line,) = axes[1].loglog(stable, errors, mark + "-", markersize=4)
    if len(stable) < len(ratios):
        axes[1].axvline(np.sqrt(stable[-1] * ratios[len(stable)]), color=line.get_color(), linestyle=":")
axes[1].set(title="in 1 s, every 5 ms; dotted: unstable", xlabel="string on the drum over trolley, by mass")
axes[1].set_ylim(0.005, 2.0)
axes[1].set_xticks([0.3, 0.5, 1, 2, 5], ["0.3", "0.5", "1", "2", "5"])
axes[1].minorticks_off()
for axis in axes:
    axis.grid(alpha=0.4)
figure.legend(*axes[0].get_legend_handles_labels(), loc="outside lower center", ncols=2)
tl.figures.save(figure, "mujoco-coupling", ["png"])
