"""
Stiffness, damping, mass and drag from a measurement
====================================================

A buoy hangs on a rope in still water. It is pulled aside and let go; a load cell at the upper end
records the tension, a camera the buoy's place. What are the stiffness and damping of the rope, and the mass and drag of
the buoy?

Here the measurement is a run with known values plus noise, so that the result can be compared with the truth.
"""

import numpy as np

import tautline as tl

truth = {
    "string.stiffness": 60e3,  # N
    "string.viscosity": 300.0,  # N s
    "body.mass": 80.0,  # kg
    "fluid.drag_area": 0.2,  # m^2
}
case = tl.Case(
    tl.pendulum(
        string=tl.String(length=20.0, density=0.3, stiffness=40e3, viscosity=500.0, diameter=0.012),
        reel=tl.Reel(drum_radius=0.2, guide_length=0.5, inertia_mass=20.0),
        body=tl.RigidBody.sphere(mass=60.0, radius=0.2),
        fluid=tl.Fluid(density=1000.0, drag_area=0.1),
        elements=6,
    ),
    tl.Straight(deployed=8.0, direction=(0.4, 0.0, 1.0)),
    tl.Locked(),
    tl.Run(duration=10.0, sample=0.02),
)
run = tl.simulate(case.with_(truth))
chance = np.random.default_rng(1)
samples = run.sizes["time"]
data = {
    "time": run.time.values,
    "start_tension": run.start_tension.sel(line="line").values + chance.normal(0.0, 5.0, samples),  # N
    "position[-1,x]": run.position.values[:, -1, 0] + chance.normal(0.0, 0.005, samples),  # m
}
data["start_tension"][chance.random(samples) < 0.1] = np.nan  # the logger loses a tenth of the samples

# %%
# The values of the case, wrong by a half or more, are the start of the search. The noise is not given: the fit
# estimates it from the residuals.

fit = tl.fit(case, data, list(truth), units="SI")
print(fit)
tl.figures.save(tl.figures.fitted(fit, "start_tension"), "tension", ["png"])

# %%
# All four are found within three standard errors, and the noise is that which was added:

for key, value in truth.items():
    error = (fit.values[key] - value) / fit.standard_errors[key]
    print(f"{key}: {error:+.1f} standard errors from the truth, expected within 3")
    assert abs(error) < 3.0
assert fit.status == "completed" and not fit.warnings
for name, noise in {"start_tension": 5.0, "position[-1,x]": 0.005}.items():
    print(f"{name}: noise of {fit.columns[name].sigma:.3g}, expected {noise}")
    assert abs(fit.columns[name].sigma / noise - 1.0) < 0.1

# %%
# How certain is a value if another one is wrong? Correlations say how far one can stand in for another: a heavier
# buoy with more drag on a stiffer rope would swing almost the same.

print("correlation of mass and drag:", round(float(fit.correlations[2, 3]), 2))
assert 0.3 < fit.correlations[2, 3] < 0.9

# %%
# Without the drag among the unknowns the others have to make up for its wrong value. The fit ends somewhere, but
# the residuals are not noise, and a warning says so:

wrong = tl.fit(case, data, ["string.stiffness", "string.viscosity", "body.mass"], units="SI")
print("\n".join(w.text for w in wrong.warnings))
assert any("residuals of position[-1,x] are not noise" in w.text for w in wrong.warnings)
tl.figures.save(tl.figures.fitted(wrong, "position[-1,x]"), "not-noise", ["png"])
