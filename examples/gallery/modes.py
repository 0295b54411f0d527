"""
Modes of a load on a wire
=========================

A crate hangs on 6 m of wire. Which oscillations are possible? Small oscillations about
equilibrium are sums of modes, each with its own frequency and shape.
"""

import numpy as np

import tautline as tl

pendulum = tl.pendulum(
    string=tl.String(length=40.0, density=0.1, stiffness=3e4),
    reel=tl.Reel(drum_radius=0.3, guide_length=0.5, inertia_mass=20.0),
    body=tl.RigidBody.box(mass=20.0, sides=(0.8, 0.5, 1.2), center_of_mass=(0.0, 0.0, 0.9)),
    elements=60,
)
rest = tl.statics(pendulum, tl.Hanging(6.0))
modes = tl.modes(pendulum, rest, count=10)
for number, frequency, kind in zip(modes.mode.values, modes.frequency.values, modes.kind.values, strict=True):
    print(f"{number:3d}  {frequency:8.4f} Hz  {kind}")
tl.figures.save(tl.figures.modes(modes), "modes", ["png"])

# %%
# The first, at zero, is the crate's rotation about the vertical, without restoring force. In the two swings
# wire and crate keep in line. In the next two the crate pitches about its center of mass (ring). In the
# bounce the wire stretches evenly, so that its displacement is a straight line. Then come the waves of
# the wire, in which the crate hardly moves.
#
# A small start in one of these shapes stays in it, at its frequency:

pitching = int(modes.mode.values[modes.kind.values == "body"][0])
run = tl.simulate(pendulum, tl.analysis.displaced(modes, pitching, amplitude=0.002), duration=8.0)
tip = run.position.sel(axis="x").isel(node=-1).values
passes = run.time.values[1:][(tip[:-1] > 0) & (tip[1:] <= 0)]
measured = (len(passes) - 1) / (passes[-1] - passes[0])
predicted = float(modes.frequency.sel(mode=pitching))
print(f"pitching: {measured:.3f} Hz in a run, {predicted:.3f} Hz by the modes")
assert abs(measured / predicted - 1) < 0.005

# %%
# The bounce by hand: the crate and a third of the wire's mass on a spring of stiffness EA/X.

bounce = float(modes.frequency.values[modes.kind.values == "longitudinal"][0])
by_hand = np.sqrt(3e4 / 6.0 / (20.0 + 0.1 * 6.0 / 3)) / (2 * np.pi)
print(f"bounce: {bounce:.3f} Hz by the modes, {by_hand:.3f} Hz by hand")
assert abs(bounce / by_hand - 1) < 1e-3
