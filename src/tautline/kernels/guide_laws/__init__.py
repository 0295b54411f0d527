"""Guide laws, one file each; the registry names them.

A file has `force(par, at, sigma)`, which gives Q and dQ/dsigma. It may have `resists(par, at)`: whether Q opposes the
motion and bends so that the search for sigma needs a bracket. A law whose drum remembers (`remembers` in the registry)
also has `spooled_strain`, `spooled_force`, `spooled_energy` and `spool`; stretched.py is the example.
"""
