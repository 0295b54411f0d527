"""
A crane in gusts
================

A crate of two tonnes hangs 20 m below the trolley of a crane, and gusts of wind push it. A linear-quadratic
regulator (LQR) moves the trolley so that the crate stays where it is. Its linear model comes from the program itself:
:func:`tautline.gradients.linearize` gives the matrix that propagates small changes of the state over one tick of the
controller.
"""

import matplotlib.pyplot as plt
import numpy as np
from scipy.linalg import solve_discrete_are

import tautline as tl

rope = tl.String(length=60.0, density=0.55, stiffness=5.5e6, viscosity=14e3)
reel = tl.Reel(drum_radius=0.16, guide_length=1.0, inertia_mass=470.0)
crate = tl.RigidBody.point(mass=2000.0)
tick, elements = 0.1, 2
crane = tl.pendulum(rope, reel, crate, elements=elements)
hanging = tl.Case(crane, tl.Hanging(20.0), tl.Locked(), tl.Run(duration=tick, step=5e-4, sample=tick))

# %%
# The regulator sees what moves along x: crate and nodes relative to the trolley, their velocities, and place and
# velocity of the trolley. It chooses the change of the trolley's velocity at every tick. Relative to the trolley
# that is a jump of all velocities the other way, so A contains its effect as well.

linear = tl.gradients.linearize(hanging)
along = [
    linear.names.index(f"{what} of {part} x")
    for what in ("position", "velocity")
    for part in ("body", *(f"node {k} of line" for k in range(1, elements)))
]
inner, nodes = linear.A[0][np.ix_(along, along)], elements
jump = np.concatenate([np.zeros(nodes), -np.ones(nodes)])
A, B = np.eye(2 * nodes + 2), np.zeros((2 * nodes + 2, 1))
A[: 2 * nodes, : 2 * nodes], B[: 2 * nodes, 0] = inner, inner @ jump
A[-2, -1], B[-2:, 0] = tick, (tick, 1.0)
slowest = np.abs(np.log(np.linalg.eigvals(inner.astype(complex)))).min() / tick
by_hand = np.sqrt(9.81 / 20.0)
print(f"the load swings with {slowest:.4f} rad/s in the linear model, by hand {by_hand:.4f} rad/s")
assert abs(slowest / by_hand - 1.0) < 0.01

# %%
# The cost weights the position of the load. The speed of the trolley counts a tenth of that, and a change of its
# velocity by 0.5 m/s in a tick as much as a meter.

load = np.zeros(2 * nodes + 2)
load[0] = load[-2] = 1.0
Q = np.outer(load, load) + np.diag([*np.zeros(2 * nodes), 0.0, 0.1])
R = np.array([[1.0 / 0.5**2]])
P = solve_discrete_are(A, B, Q, R)
K = np.linalg.solve(R + B.T @ P @ B, B.T @ P @ A)

# %%
# Two minutes of gusts of up to 600 N, with and without the regulator; four elements instead of two. The trolley
# is a kinematic body: it moves as commanded.

rng = np.random.default_rng(7)
times = np.arange(0.0, 121.0, 2.0)
forces = np.outer(600.0 * rng.uniform(-0.2, 1.0, len(times)) * (times < 90.0), (1.0, 0.0, 0.0))
gusty = tl.System(
    bodies={"trolley": tl.Kinematic(), "crate": crate},
    lines={"rope": tl.Line(rope, start="trolley", end="crate", reel=reel, elements=2 * elements)},
    applied_forces={"crate": tl.AppliedForce(force=(times, forces))},
)


class Regulator:
    """Moves the trolley against the sway of the load; it is asked once a tick."""

    def __init__(self, gain: np.ndarray) -> None:
        self.gain, self.velocity = gain, 0.0

    def __call__(self, sim: tl.Simulation) -> tl.Locked:
        """Moves the trolley, and returns the command for the drum."""
        if sim.time == 0.0:
            self.velocity = 0.0
        crate, trolley = sim.bodies["crate"], sim.bodies["trolley"]
        place = trolley.position[0]
        seen = np.array([crate.position[0], *sim.line.nodes[2:-1:2, 0]]) - place
        rates = np.array([crate.velocity[0], *sim.line.node_velocities[2:-1:2, 0]]) - self.velocity
        x = np.concatenate([seen, rates, [place, self.velocity]])
        self.velocity = float(np.clip(self.velocity - (self.gain @ x)[0], -1.0, 1.0))
        trolley.move((self.velocity, 0.0, 0.0))
        return tl.Locked()


in_gusts = tl.Case(gusty, tl.Hanging(20.0), {}, tl.Run(duration=120.0, step=2.5e-4, sample=tick))


run, left = (tl.simulate(in_gusts, control=Regulator(gain), period=tick) for gain in (K, np.zeros_like(K)))
assert run.attrs["status"] == left.attrs["status"] == "completed"
clock = run.time.values
places = {"trolley at rest": left.position.values[:, -1, 0], "regulator": run.position.values[:, -1, 0]}
figure, axis = plt.subplots(figsize=(7, 3.5), layout="constrained")
for name, x in places.items():
    axis.plot(clock, x, label=f"load, {name}")
axis.plot(clock, run.position.values[:, 0, 0], label="trolley", linewidth=0.8)
axis.set(xlabel="time (s)", ylabel="x (m)")
axis.legend()
tl.figures.save(figure, "feedback-crane", ["png"])
gusts, after = clock < 90.0, clock > 110.0
for name, x in places.items():
    print(f"{name:>15}: load within {np.abs(x[gusts]).max():.2f} m in gusts, {np.abs(x[after]).max():.3f} m after them")
alone, held = places.values()
assert np.abs(held[gusts]).max() < 0.6 * np.abs(alone[gusts]).max()
assert np.abs(held[after]).max() < 0.01 < np.abs(alone[after]).max()

# %%
# The regulator halves the travel of the load in the gusts, and leaves it still when they are over. The model of two
# elements was good enough for a rope of four; the regulator sees every other of its nodes.
#
# The same regulator holds the crate live, in the browser. Push it there, drag it with the mouse, and watch the
# trolley catch it::
#
#     tl.live(in_gusts, control=Regulator(K), period=tick)
