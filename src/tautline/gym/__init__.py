"""Environments for Gymnasium: any case, and ready ones; `import tautline.gym` registers them (extra `gym`)."""

from __future__ import annotations

from functools import partial

from tautline.extras import need

gymnasium = need("gymnasium", "tautline.gym")

from tautline.gym.environment import CaseEnv as CaseEnv  # noqa: E402
from tautline.gym.lanes import LaneVectorEnv as LaneVectorEnv  # noqa: E402
from tautline.gym.ready import READY, make_vec, vector  # noqa: E402

__all__ = ["CaseEnv", "LaneVectorEnv", "make_vec"]

for _name in READY:
    gymnasium.register(_name, READY[_name], vector_entry_point=partial(vector, _name))
