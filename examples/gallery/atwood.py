"""
Atwood machine with a heavy rope
================================

Two weights on a rope over a wheel: in the textbook the rope has no mass and the acceleration is constant. Rope with
mass adds its weight to the heavier side as it passes over, so the machine runs away exponentially. The
built-in scenario ``atwood`` has 10 and 12 kg on 40 m of rope of 0.5 kg/m, over a wheel with a moment of inertia.
"""

import matplotlib.pyplot as plt
import numpy as np

import tautline as tl

case = tl.load("atwood")
rope = case.system.lines["rope"]
light, heavy = case.system.bodies["light"], case.system.bodies["heavy"]
assert isinstance(light, tl.RigidBody) and isinstance(heavy, tl.RigidBody)
wheel = case.system.wheels("rope")[0]

# %%
# By hand, for a rope that does not stretch: with x passed, and M the mass of all that moves and the wheel's
# inertia over its radius squared,
#
# .. math::
#    M \ddot x = g (m_2 - m_1 + 2 \mu x), \qquad
#    x + \frac{m_2 - m_1}{2 \mu} \sim \cosh \frac{t}{\tau}, \; \sinh \frac{t}{\tau}, \qquad
#    \tau = \sqrt{M / (2 \mu g)}.
#
# A brake holds the wheel at first and is released within a second, so that nothing bounces. From then on the motion
# follows from position and speed at that time.

gravity, mu, released = 9.81, rope.string.density, 1.0
difference = heavy.mass - light.mass
moving = light.mass + heavy.mass + mu * rope.string.length + wheel.inertia_mass
tau = np.sqrt(moving / (2.0 * mu * gravity))
run = tl.simulate(case)
assert run.attrs["status"] == "completed"
passed, speed = (-run[name].sel(sheave="rope.wheel") for name in ("passed", "passing_speed"))
free = run.time >= released
since = (run.time[free] - released) / tau
ahead = float(passed.sel(time=released)) + difference / (2.0 * mu)
exact = ahead * np.cosh(since) + float(speed.sel(time=released)) * tau * np.sinh(since) - difference / (2.0 * mu)
acceleration = gravity * (difference + 2.0 * mu * exact) / moving
for t in (2.0, 3.0, 4.0):
    print(f"{t:.0f} s: {float(passed.sel(time=t)):.4f} m, by hand {float(exact.sel(time=t)):.4f} m")
assert abs(float(passed[-1] / exact[-1]) - 1.0) < 1e-3  # the rope stretches by as much

# %%
# Tensions at the wheel: each side lifts or lowers its weight and its rope with the current acceleration. The wheel
# and the rope on it take the difference.

side = run.span_length.values[free]
lifted = (light.mass + mu * side[:, 0]) * (gravity + acceleration)
sinking = (heavy.mass + mu * side[:, 1]) * (gravity - acceleration)
end, start = run.span_end_tension.sel(span="rope.0"), run.span_start_tension.sel(span="rope.1")
miss = max(float(abs(x[free] / hand - 1.0).max()) for x, hand in ((end, lifted), (start, sinking)))
print(f"tensions at the wheel within {100.0 * miss:.2f} % of those by hand")
assert miss < 0.01

figure, axes = plt.subplots(2, 1, figsize=(7, 5.5), sharex=True, layout="constrained")
axes[0].plot(run.time, passed, label="simulated")
axes[0].plot(run.time[free], exact, "k:", label="by hand")
axes[0].set_ylabel("rope passed (m)")
axes[0].legend()
for color, (name, x, hand) in enumerate((("light side", end, lifted), ("heavy side", start, sinking))):
    axes[1].plot(run.time, x, f"C{color}", label=name)
    axes[1].plot(run.time[free], hand, "k:")
axes[1].set(ylabel="tension at the wheel (N)", xlabel="time (s)")
axes[1].legend()
tl.figures.save(figure, "atwood", ["png"])
