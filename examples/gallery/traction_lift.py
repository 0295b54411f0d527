"""
A lift whose ropes slip
=======================

Lifts hang on friction: the ropes run over a driven sheave, with the cabin on one side and a counterweight on the other,
and nothing but the groove holds them. By Euler and Eytelwein they hold as long as the tensions differ by no more than
:math:`e^{\\mu \\theta}`. The built-in scenario ``traction-lift`` lowers a full cabin at 1.5 m/s and stops the wheel
within 0.2 s: far too hard, so the ropes slip, and the cabin stops by friction alone. Damping of the ropes lets the
cabin come to rest on them.
"""

import matplotlib.pyplot as plt
import numpy as np

import tautline as tl

GRAVITY = 9.81
case = tl.load("traction-lift")
cabin, counterweight = case.system.bodies["cabin"], case.system.bodies["counterweight"]
assert isinstance(cabin, tl.RigidBody) and isinstance(counterweight, tl.RigidBody)
wheel, mu = case.system.wheels("ropes")[0], case.system.lines["ropes"].string.density
ratio = np.exp(wheel.groove_friction * np.pi)
run = tl.simulate(case)
assert run.attrs["status"] == "completed"
print([x.text for x in tl.warnings_of(run)])
assert [x.kind for x in tl.warnings_of(run)] == ["slip"]

# %%
# Until the stop nothing slips: rope and rim have one speed. The wheel's motor holds the difference of the weights.

rope, rim = run.passing_speed.sel(sheave="ropes.traction"), run.rim_speed.sel(sheave="ropes.traction")
before, slipping = run.time < 4.0, (run.time > 4.2) & (abs(rope) > 0.01)
assert float(abs(rope - rim)[before].max()) < 1e-9
even = (run.time > 2.2) & (run.time < 4.0)
sides = run.span_length[even].mean("time") * mu + np.array([cabin.mass, counterweight.mass])
torque = -wheel.radius * GRAVITY * float(sides[0] - sides[1])
measured = float(run.sheave_torque[even, 0].mean())
print(f"torque at even speed: {measured:.0f} N m, by hand {torque:.0f} N m")
assert abs(measured / torque - 1.0) < 0.02  # the cabin bounces on its ropes

# %%
# While they slip, the ropes pull with the ratio of Euler and Eytelwein, and brake the cabin by
# :math:`a = g\,(e^{\mu\theta} m_2 - m_1)/(e^{\mu\theta} m_2 + m_1)`, however hard the wheel is stopped.

cab, other = run.span_end_tension.sel(span="ropes.0"), run.span_start_tension.sel(span="ropes.1")
found = float((cab / other)[slipping].median())
print(f"tensions while it slips: {found:.4f} to one, by hand {ratio:.4f}")
assert abs(found / ratio - 1.0) < 5e-3
m1, m2 = (float(x) for x in run.span_length.sel(time=4.0) * mu + np.array([cabin.mass, counterweight.mass]))
braking = GRAVITY * (ratio * m2 - m1) / (ratio * m2 + m1)
path = 1.5**2 / (2.0 * braking)
slipped = float((rope - rim)[run.time >= 4.0].integrate("time"))
stopped = float(run.time[np.flatnonzero(abs(rope) > 1e-3)[-1]])
by_hand = 1.5 / braking, path - 0.15
print(f"stops after {stopped - 4.0:.2f} s, slips {slipped:.2f} m; by hand {by_hand[0]:.2f} s, {by_hand[1]:.2f} m")
# masses bounce on the ropes meanwhile, which the formula does not know
assert abs((stopped - 4.0) / by_hand[0] - 1.0) < 0.02 and abs(slipped / by_hand[1] - 1.0) < 0.08

# %%
# The energy: friction in the groove takes that of the motion of all masses, and of the further descent of the cabin.

loss = float(run.sheave_loss[-1, 0])
moving, inside = 0.5 * (m1 + m2) * 1.5**2, float(run.damping_loss[-1])
print(f"{loss:.0f} J are lost in the groove and {inside:.0f} J in the ropes; {moving:.0f} J were in motion")
figure, axes = plt.subplots(3, 1, figsize=(7, 6.5), sharex=True, layout="constrained")
axes[0].plot(run.time, rope, label="ropes")
axes[0].plot(run.time, rim, label="rim of the wheel")
axes[0].set_ylabel("speed (m/s)")
axes[0].legend()
axes[1].plot(run.time, cab / other, linewidth=0.8)
axes[1].axhline(ratio, color="k", linestyle=":")
axes[1].set_ylabel("ratio of tensions")
axes[2].plot(run.time, run.body_position.sel(body="cabin", axis="z"))
axes[2].set(ylabel="cabin, z down (m)", xlabel="time (s)")
axes[2].invert_yaxis()
tl.figures.save(figure, "traction-lift", ["png"])
