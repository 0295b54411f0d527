"""Loads, one file each: forces that are not in the Lagrangian (docs/theory.md, "Loads", equations 70 to 77).

A file has a NamedTuple of its numbers, which lowering fills and whose field `acts` says whether it does anything in a
run, and kernels

    act(par, own, at, motion, v, scratch, out)    adds its forces to the nodes of `out`; gives a Push
    rate(par, own, at, motion, v)                 optional: bound on how fast it slows any small motion (1/s)

What it does to node 0 the guide takes. The registry names the account that its power is booked on, and stage.py lets
all of them act. A guide that moves is no force but a change of the frame (guide_motion.py).
"""
