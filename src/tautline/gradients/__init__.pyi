"""Public names, each with its home."""

from tautline.gradients.lowering import differentiable_keys as differentiable_keys
from tautline.gradients.segments import Segments as Segments
from tautline.gradients.segments import linearize as linearize
from tautline.gradients.state_space import StepFunction as StepFunction
