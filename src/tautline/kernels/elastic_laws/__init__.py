"""Elastic laws, one file each; the registry names them.

A file has `tension_and_energy(par, strain)`: tension (N) and elastic energy per unstretched length (N), whose slope is
the tension. A law that can step in lanes (`lanes` in the registry) uses arithmetic, `max` and `select` only.

It may have `partials(par, strain)`: energy, tension and slope of the tension by the strain, each over EA, of a law
whose tension is EA times a function of the strain. Gradients by many keys then take the reverse pass (adjoint/);
without it they go forward. It works on vectors of elements: arithmetic, `max` and `select` only.
"""
