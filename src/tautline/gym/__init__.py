"""Environments for Gymnasium: any case, and ready ones; `import tautline.gym` registers them (extra `gym`)."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

from tautline.extras import need

if TYPE_CHECKING:
    from tautline.gym.lanes import LaneVectorEnv as LaneVectorEnv

gymnasium = need("gymnasium", "tautline.gym")

from tautline.gym.environment import CaseEnv as CaseEnv  # noqa: E402
from tautline.gym.ready import READY, make_vec, ready, vector  # noqa: E402

__all__ = ["CaseEnv", "LaneVectorEnv", "make_vec"]

for _name in READY:
    gymnasium.register(_name, partial(ready, _name), vector_entry_point=partial(vector, _name))


def __getattr__(name: str) -> Any:
    """Environments in lanes, which need the chain kernels, when somebody asks for them."""
    if name != "LaneVectorEnv":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from tautline.gym.lanes import LaneVectorEnv

    return LaneVectorEnv
