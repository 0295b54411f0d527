"""The continuous-time equations as an ordinary differential equation: the independent comparator.

Nothing here is shared with the kernels. The velocity field of the deployed string is taken as it stands
and integrated over each element by Gauss's rule, where the kernels use closed integrals; the equations are
solved for accelerations with a dense mass matrix, where the kernels work with momenta. Loads are generalized forces
in these equations, where the kernels let them act in steps of their own; a moving guide is an inertial force, where the
kernels change the frame; the torque of a given motion comes from inverse dynamics. Rotation matrices are
nine plain numbers without group structure, so that a conventional method shows what it does to them.
Agreement between the two routes therefore means something.
"""

from __future__ import annotations

from tautline.reference.curves import Array
from tautline.reference.equations import ACCOUNTS, Equations
from tautline.reference.loads import Fields
from tautline.reference.solve import integrate, labeled
from tautline.reference.spooled import WithSpooledString

__all__ = ["ACCOUNTS", "Array", "Equations", "Fields", "WithSpooledString", "integrate", "labeled"]
