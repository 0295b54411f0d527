"""A march of a network with tangents."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from tautline.arrays import Array
from tautline.gradients.leaves import leaves
from tautline.gradients.marched import Marched, samples_with_tangents
from tautline.kernels import data
from tautline.kernels.network import data as kernels
from tautline.kernels.network.tangent_march import march_network_with_tangents
from tautline.kernels.tangents import TANGENTS


class NetworkSetting(NamedTuple):
    """All that a march of a network depends on; its steps are of one length."""

    network: kernels.Network
    plan: data.Plan

    def moving(self) -> list[Any]:
        """The arrays that a march changes, workspace aside."""
        network = self.network
        strands = [array for x in network.strands for array in (x.nodes, x.reel)]
        return [network.totals, network.clock, *(x.state for x in network.bodies), *strands]

    def reel(self) -> Array:
        """The array that holds times of the motion."""
        return self.network.totals

    def clock(self) -> Any:
        """The array that counts steps."""
        return self.network.clock

    def without_workspace(self) -> NetworkSetting:
        """Setting with zeros in arrays that a march fills before it looks at them."""
        bodies = tuple(x._replace(work=np.zeros_like(x.work)) for x in self.network.bodies)
        strands = tuple(
            x._replace(scratch=data.empty_scratch(x.par.N), work=np.zeros_like(x.work)) for x in self.network.strands
        )
        nothing = {name: np.zeros_like(getattr(self.network, name)) for name in ("matrix", "right")}
        changed: dict[str, Any] = {"bodies": bodies, "strands": strands, **nothing}
        return self._replace(network=self.network._replace(**changed))

    def march(self, tangents: list[Array], directions: int, rows: int) -> Marched:
        """March with tangents as the kernels take them, which are those at the end afterwards."""
        network, plan = self
        nodes = sum(x.par.N + 1 for x in network.strands if not x.reeving.idle)
        out = kernels.empty_samples(rows, len(network.bodies), len(network.strands), nodes)
        backups = np.zeros((2, sum(x.size for x in self.moving())))
        own = len(tangents) - len(leaves(plan))  # those of the network, which are many
        beside = [np.zeros((*x.shape, TANGENTS)) for x in out]
        given = (tangents[:own], tangents[own:], [np.zeros((*backups.shape, TANGENTS))], beside)
        status, filled, strand = march_network_with_tangents((network, plan, backups, out), given)
        derivatives = samples_with_tangents(out, beside, directions, int(filled))
        return Marched(out, derivatives, int(status), int(filled), int(strand))
