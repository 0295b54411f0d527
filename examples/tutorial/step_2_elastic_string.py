"""
Step 2: the string stretches
============================

A bungee cord or a nylon rope is a spring with mass. A jerk at its end runs along it as a wave. Here
the mass hangs still, gets one impulse, and we watch the wave.
"""

import dataclasses

import numpy as np
from scipy.optimize import brentq

import tautline as tl

# %%
# The cord is divided into elements that stretch evenly. Waves need more of them than a swing does:
# 80.

length, mass = 10.0, 2.0
string = tl.String(length=20.0, density=0.2, stiffness=2000.0)
pendulum = tl.pendulum(
    string=string,
    reel=tl.Reel(drum_radius=0.1, guide_length=0.1, inertia_mass=1.0),
    body=tl.RigidBody.point(mass=mass),
    elements=80,
)
rest = tl.statics(pendulum, tl.Hanging(length)).state
at_rest = rest.lines["line"].nodes
by_hand = length + (mass + 0.5 * string.density * length) * 9.81 * length / string.stiffness
print(f"unstretched {length} m, hanging at rest {at_rest[-1, 2]:.3f} m, by hand {by_hand:.3f} m")
assert abs(at_rest[-1, 2] - by_hand) < 1e-9

# %%
# :func:`~tautline.statics` finds the state at rest, stretched by both weights; a run starts there with
# :class:`~tautline.Hanging`. An impulse gives the mass 0.7 m/s downwards.

hit = tl.Hanging(length, end_velocity=(0, 0, 0.7))
run = tl.simulate(pendulum, hit, tl.Locked(), duration=1.2, sample=0.002, order=4)

figure = tl.figures.strain_map(run)
bounce = length / string.wave_speed
figure.axes[0].plot([0, bounce, 2 * bounce], [1, 0, 1], "w--", linewidth=1)
tl.figures.save(figure, "wave", ["png"])

# %%
# Time runs to the right; 0 is the guide and 1 the mass. The part next to the mass is stretched
# first. The front runs to the guide with the speed :math:`c_w=\sqrt{EA/\mu}` (dashed), is reflected
# there, and on its way back adds to what is still arriving. So the guide sees the highest
# strain although the impulse acted at the other end. The fine stripes are the mesh: elements cannot
# draw a sharp front.
#
# After many bounces the motion looks like that of a weight on a spring. The exact frequencies are
# :math:`x\,c_w/X` where :math:`x\tan x=\mu X/M` (:doc:`/theory`, "Exact results"). To measure them
# we start the string in the shape of one mode at a time: the stretched length is then a cosine. A
# :class:`~tautline.State` has the nodes of every line and the place of every body.

print(f"{'mode':>4}  {'computed':>10}  {'exact':>10}")
for mode in (1, 2, 3):
    low, high = (mode - 1) * np.pi, (mode - 0.5) * np.pi
    x = brentq(lambda x: x * np.sin(x) - string.density * length / mass * np.cos(x), low + 1e-9, high)
    exact = x * string.wave_speed / length / (2 * np.pi)

    nodes = at_rest.copy()
    nodes[:, 2] += 0.01 * np.sin(x * np.linspace(0, 1, 81))
    line = dataclasses.replace(rest.lines["line"], nodes=nodes)
    start = tl.State({"body": tl.BodyState(nodes[-1])}, {"line": line})
    shaken = tl.simulate(pendulum, start, tl.Locked(), duration=4.0, sample=0.001, order=4)
    stretch = shaken.stretched_length.sel(line="line").values - at_rest[-1, 2]
    crossings = shaken.time.values[:-1][np.diff(np.sign(stretch)) != 0]
    computed = (len(crossings) - 1) / (2 * (crossings[-1] - crossings[0]))
    print(f"{mode:4d}  {computed:7.3f} Hz  {exact:7.3f} Hz")
    assert abs(computed / exact - 1) < 1e-3

# %%
# Next: the point mass becomes a body that can turn.
