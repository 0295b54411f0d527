"""Guide laws, one file each; the registry names them.

A file has `force(par, at, sigma)`, which gives Q and dQ/dsigma. It may have `resists(par, at)`: whether Q opposes the
motion and bends so that the search for sigma needs a bracket. A law whose drum remembers (`remembers` in the registry)
also has `spooled_strain`, `spooled_force`, `spooled_energy` and `spool`; stretched.py is the example.

It may have `partials(par, at, sigma)`: derivatives of Q by the strain and by the numbers of `Partials` (entrance.py).
Gradients by many keys then take the reverse pass (adjoint/); without it they go forward.
"""
