"""
Payout without a spike
======================

A cable of 100 m with a weight at its end is paid out by 5 m. The motion of the reel is prescribed:
``Length.to`` with a limit on the jerk, an S-curve. In the model the string flows through the guide and
through the mesh, so the tension follows the acceleration and nothing else.

Programs for mooring and towing lines often do this differently: the number of lumps stays, and the *rest length* of all
their springs is scaled to the new length. Here is such a line, in a few lines of NumPy, paid out along the same curve:
once with the rest length as a smooth function of time, once as a winch controller does it that updates the length every
tenth of a second.
"""

import matplotlib.pyplot as plt
import numpy as np

import tautline as tl

MU, EA, MASS, G, N = 1.0, 2e5, 50.0, 9.81, 20
FROM, TO, DURATION, HANDOVER = 100.0, 105.0, 12.0, 0.1

pendulum = tl.pendulum(
    string=tl.String(length=200.0, density=MU, stiffness=EA),
    reel=tl.Reel(drum_radius=0.5, guide_length=1.0, inertia_mass=100.0),
    body=tl.RigidBody.point(MASS),
    elements=N,
)
payout = tl.Length.to(TO, speed=1.0, acceleration=0.5, jerk=0.5, start=1.0)
run = tl.simulate(pendulum, tl.Hanging(FROM), payout, duration=DURATION, step=1e-3, sample=0.01)
run = run.squeeze(["line", "body"])  # there is only one of each


def scaled_line(lengths: np.ndarray, step: float) -> np.ndarray:
    """Tension at the top of N lumps on springs whose rest length follows `lengths`, one for every step."""
    z = run.position.values[0, :, 2].copy()
    v = np.zeros(N + 1)
    tension = np.empty(len(lengths))
    for i, length in enumerate(lengths):
        rest = length / N
        pull = EA * (np.diff(z) / rest - 1.0)
        mass = np.full(N + 1, MU * rest)
        mass[N] = 0.5 * MU * rest + MASS
        force = mass * G
        force[1:] -= pull
        force[:-1] += pull
        v[1:] += step * force[1:] / mass[1:]
        z += step * v
        tension[i] = pull[0]
    return tension


step = 1e-3
times = np.arange(round(DURATION / step)) * step
smooth = np.interp(times, run.time, run.unstretched_length)
handed = smooth[(times // HANDOVER * round(HANDOVER / step)).astype(int)]
curves = {
    "rest length handed over every 0.1 s": scaled_line(handed, step),
    "rest length scaled smoothly": scaled_line(smooth, step),
    "tautline": np.interp(times, run.time, run.tension.isel(element=0)),
}

jumps: dict[str, float] = {}
spans: dict[str, float] = {}
figure, (top, bottom) = plt.subplots(2, 1, figsize=(6.4, 5.4), sharex=True, layout="constrained")
top.plot(run.time, run.unstretched_length - FROM, label="paid out (m)")
top.plot(run.time, -run.reel_speed, label="its rate (m/s)")
top.legend()
for (name, tension), color in zip(curves.items(), ("0.75", "tab:orange", "tab:blue"), strict=True):
    bottom.plot(times, tension, color=color, label=name, lw=1.0)
    jump = np.abs(np.diff(tension)).max()
    print(f"{name}: {tension.min():.0f} to {tension.max():.0f} N, largest change in a millisecond {jump:.1f} N")
    jumps[name], spans[name] = jump, np.ptp(tension)
bottom.set(xlabel="time (s)", ylabel="tension at the top (N)", ylim=(1280, 1760))
bottom.legend(loc="upper left", fontsize="small")
tl.figures.save(figure, "payout", ["png"])

# %%
# The blue curve leaves its value at rest smoothly: mass of cable and weight times the acceleration, and
# the weight swinging on the elastic cable, which nothing damps here. The orange one swings likewise, but
# by a quarter too little: its string has less momentum to gain, because its upper lumps stay where they
# are instead of moving down with the rest. The gray one is hit ten times a second: each new rest length
# changes the strain of the whole line abruptly. To soften that, such programs need damping, or a
# smoother controller.
#
# By hand: a tenth of a second at 1 m/s is a thousandth of the line, and the jump is that fraction of EA.

expected = EA * HANDOVER * 1.0 / (0.5 * (FROM + TO))
handed_over, smoothly, ours = jumps
print(f"jump by hand {expected:.0f} N; swings of the scaled line over ours {spans[smoothly] / spans[ours]:.2f}")
assert abs(jumps[handed_over] / expected - 1.0) < 0.05
assert jumps[ours] < 1e-2 * expected
assert 0.7 < spans[smoothly] / spans[ours] < 0.8

# %%
# The result also has torque and power of the winch:

print(f"torque {float(run.torque.min()):.0f} to {float(run.torque.max()):.0f} N m")
