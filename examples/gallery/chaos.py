"""
Chaos
=====

Two runs of the same system. The second starts a nanometer further down. At first they cannot be
distinguished. When the body begins to tumble, the distance grows tenfold every quarter of a second,
until the two motions are unrelated.
"""

import dataclasses

import matplotlib.pyplot as plt
import numpy as np

import tautline as tl

case = tl.load("fixed-length")
here = case.state()
line, body = here.lines["line"], here.bodies["body"]
nanometer = np.array([0.0, 0.0, 1e-9])
moved = line.nodes.copy()
moved[-1] += nanometer
beside = tl.State(
    {"body": dataclasses.replace(body, position=body.position + nanometer)},
    {"line": dataclasses.replace(line, nodes=moved)},
)
first, second = (
    tl.simulate(case.with_(initial=start), duration=15.0, step="auto", sample=0.01, order=6) for start in (here, beside)
)
apart = np.linalg.norm((first.position - second.position).isel(node=-1).values, axis=1)

figure, (paths, distance) = plt.subplots(1, 2, figsize=(8, 3.6), layout="constrained")
for run, style in ((first, "-"), (second, "--")):
    end = run.position.isel(node=-1).sel(time=slice(6, None))
    paths.plot(end.sel(axis="x"), end.sel(axis="z"), style, linewidth=1)
paths.invert_yaxis()
paths.set(xlabel="x (m)", ylabel="z, down (m)", aspect="equal", title="paths of the body from 6 s on")
distance.semilogy(first.time, apart)
distance.set(xlabel="time (s)", ylabel="distance (m)", title="distance of the two")
distance.grid(alpha=0.3)
tl.figures.save(figure, "chaos", ["png"])

for t in (3, 6, 9, 12, 15):
    print(f"{t:3d} s: {float(np.interp(t, first.time, apart)):.1e} m apart")
assert np.interp(3, first.time, apart) < 1e-8 and np.interp(15, first.time, apart) > 0.05

# %%
# No program can follow such a motion for long: rounding alone plays the part of the nanometer.
# Before that, positions can be compared; afterward, only conserved quantities and statistics.
