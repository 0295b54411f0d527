"""
A crane in gusts
================

A crate of two tonnes hangs 20 m below the trolley of a crane, and gusts of wind push it. A linear-quadratic
regulator (LQR) moves the trolley so that the crate stays where it is. Its linear model is that of the program
itself: :func:`tautline.linearize` gives the matrix by which small changes of the state grow over one tick of the
controller.
"""

import matplotlib.pyplot as plt
import numpy as np
from scipy.linalg import solve_discrete_are

import tautline as tl

crane = tl.Pendulum(
    tl.String(length=60.0, density=0.55, stiffness=5.5e6, viscosity=14e3),
    tl.Reel(drum_radius=0.16, guide_length=1.0, inertia_mass=470.0),
    tl.RigidBody.point(mass=2000.0),
)
tick, elements = 0.1, 2
hanging = tl.Case(
    crane, tl.Hanging(deployed=20.0), tl.Locked(), tl.Run(duration=tick, elements=elements, step=5e-4, sample=tick)
)

# %%
# The regulator sees what moves along x: nodes relative to the trolley, their velocities, and place and velocity
# of the trolley. It chooses the change of the trolley's velocity at every tick. Relative to the trolley that is
# a jump of all velocities the other way, so that A has the effect of it as well.

linear = tl.linearize(hanging)
along = [k for k, name in enumerate(linear.names) if name.endswith(" x")]
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
# What counts: the place of the load. Speed of the trolley counts a tenth of that, and a change of its velocity
# by 0.5 m/s in a tick as much as a metre.

load = np.zeros(2 * nodes + 2)
load[nodes - 1] = load[-2] = 1.0
Q = np.outer(load, load) + np.diag([*np.zeros(2 * nodes), 0.0, 0.1])
R = np.array([[1.0 / 0.5**2]])
P = solve_discrete_are(A, B, Q, R)
K = np.linalg.solve(R + B.T @ P @ B, B.T @ P @ A)

# %%
# Two minutes of gusts of up to 600 N, with and without the regulator; four elements in the place of two.

rng = np.random.default_rng(7)
times = np.arange(0.0, 121.0, 2.0)
forces = np.outer(600.0 * rng.uniform(-0.2, 1.0, len(times)) * (times < 90.0), (1.0, 0.0, 0.0))
gusty = tl.Pendulum(crane.string, crane.reel, crane.body, applied_force=tl.AppliedForce(force=(times, forces)))
start = tl.hanging(crane, deployed=20.0, elements=2 * elements)


def ride(gain: np.ndarray) -> tuple[np.ndarray, np.ndarray, tl.Simulation]:
    """Places of the load and of the trolley at the ticks (m), and the simulation."""
    sim = tl.Simulation(gusty, start, step=2.5e-4)
    place, velocity, found = 0.0, 0.0, []
    for _ in range(1200):
        state = sim.state
        seen = state.nodes[2::2, 0], state.node_velocities[2::2, 0]
        x = np.concatenate([*seen, [place, velocity]])
        velocity = float(np.clip(velocity - (gain @ x)[0], -1.0, 1.0))
        assert sim.advance(tick, tl.Locked(), guide_velocity=(velocity, 0.0, 0.0)) == "completed"
        place += tick * velocity
        found.append((place + sim.state.nodes[-1, 0], place))
    return np.array(found)[:, 0], np.array(found)[:, 1], sim


held = ride(K)
left = ride(np.zeros_like(K))
run = held[2].dataset()
clock = tick * np.arange(1, 1201)
figure, axis = plt.subplots(figsize=(7, 3.5), layout="constrained")
axis.plot(clock, left[0], label="load, trolley at rest")
axis.plot(clock, held[0], label="load, regulator")
axis.plot(clock, held[1], label="trolley", linewidth=0.8)
axis.set(xlabel="time (s)", ylabel="x (m)")
axis.legend()
tl.figures.save(figure, "feedback-crane", ["png"])
gusts, after = clock < 90.0, clock > 110.0
for name, (x, *_) in {"trolley at rest": left, "regulator": held}.items():
    print(f"{name:>15}: load within {np.abs(x[gusts]).max():.2f} m in gusts, {np.abs(x[after]).max():.3f} m after them")
largest = [np.abs(x[gusts]).max() for x, *_ in (held, left)]
assert largest[0] < 0.6 * largest[1] and np.abs(held[0][after]).max() < 0.01 < np.abs(left[0][after]).max()

# %%
# The regulator halves the way of the load in the gusts, and leaves it still when they are over. The model of two
# elements was good enough for a rope of four; the regulator sees every other of its nodes.
