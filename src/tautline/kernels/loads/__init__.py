"""Loads, one file each: forces that are not in the Lagrangian (docs/theory.md, "Loads", equations 70 to 81).

A file has a NamedTuple of its numbers, which lowering fills and whose field `acts` says whether it does anything in a
run, and kernels

    act(par, own, at, motion, v, scratch, out)    adds its forces to the nodes of `out`; gives a Push
    rate(own)                                     optional: bound on how fast it slows any small motion (1/s)

What it does to node 0 the guide takes. The registry names the account that its power is booked on. Loads act where two
steps join (boundary.py), with the velocities that are expected there. Damping and drag grow with the velocity: they are
coefficients (resistance.py), and the velocity there is solved for with them (velocities.py). A guide that moves
is no force but a change of the frame (guide_motion.py).
"""
