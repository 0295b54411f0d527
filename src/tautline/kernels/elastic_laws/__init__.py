"""Elastic laws, one file each; the registry names them.

A file has `tension_and_energy(par, strain)`: tension (N) and elastic energy per unstretched length (N), whose slope is
the tension. A law that can step in lanes (`lanes` in the registry) uses arithmetic, `max` and `select` only.
"""
