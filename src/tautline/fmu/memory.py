"""Memory of an instance of an FMU: a simulation at its start, laid out as the kernels take it."""

from __future__ import annotations

import numpy as np

from tautline.arrays import Array, Array2
from tautline.engine.network.backend import NetworkBackend
from tautline.engine.network.strands import holder_of
from tautline.engine.runner import Runner
from tautline.fmu import layout
from tautline.fmu.exported import Export
from tautline.fmu.image import Image, item_place, place_in
from tautline.kernels import data
from tautline.kernels.network import data as kernels
from tautline.model.system.commands import drives
from tautline.model.system.parts import ANCHOR, Kinematic
from tautline.model.system.state import BodyState

# Room for parameters behind the inputs: places in the memory do not depend on their number.
MOST_PARAMETERS = 256


class Memory:
    """The image of an instance, with arrays and structures of the kernels; tables of the wrapper are put behind them.

    Parameters
    ----------
    what : Export
    inputs, parameters : list of float
        Their numbers at the start.

    Attributes
    ----------
    image : Image
    system : System
        With the number of elements of every line.
    before, network : Network
        What the kernels take before and after the first commands.
    begun : list of array
        Reels under their first commands.
    samples : WholeSamples
        The sample that outputs are taken from.
    state, values : array
        Of the wrapper; numbers of inputs and parameters.
    now : dict
        What reels and sheaves do at the communication point (layout.COLUMNS, "reel"), by the names of their commands.
    lengths : dict
        Reeled and deployed length together (m), likewise.
    carriers : dict
        Impulses on kinematic bodies and mean forces (N s, N), by name.
    kept : int
        Words that are the state of an instance.
    """

    def __init__(self, what: Export, inputs: list[float], parameters: list[float]) -> None:
        self.what, self.image = what, Image()
        runner = Runner(NetworkBackend(what.system, what.state, **what.method))
        backend = runner.backend
        self.stepper = stepper = backend.stepper
        self.system = backend.system
        self.free = list(self.system.free_bodies)
        for name in self.free:
            backend.push(name)
        for name in what.moved:
            own = what.state.bodies[name]
            stepper.prescribe(name, 0.0, BodyState(own.position, attitude=own.attitude))
        self.before = self._network()
        runner.begin(what.start_commands(), what.interval, what.interval)
        self.network = self._network()
        arrays = stepper.arrays
        self.begun = [reel[: data.REEL_SIZE].copy() for reel in arrays.reels]
        arrays.place(self.system, stepper.initial)
        equations = (self.before.matrix, self.before.right, self.network.matrix, self.network.right)
        for work in (
            *equations,
            *arrays.works,
            *arrays.strand_works,
            *(x for s in arrays.scratch for x in s),
            arrays.backups,
        ):
            work[...] = 0.0
        self.samples, self.lengths = stepper.samples_for(1), dict(stepper.lengths)
        self._keep(inputs, parameters)
        self._structures()

    def _network(self) -> kernels.Network:
        """The system as the kernels have it now, with motions up to the end."""
        self.stepper.lower(0.0, self.what.until)
        return self.stepper.network

    def _keep(self, inputs: list[float], parameters: list[float]) -> None:
        """Put in what the state of an instance consists of."""
        image, arrays = self.image, self.stepper.arrays
        self.state = np.zeros(len(layout.STATE) - 1 + 2 * layout.INTERVALS)
        plan = self.stepper.plan
        self.state[layout.STATE.index("step")] = 0.0 if plan.adaptive else plan.h
        self.values = np.zeros(len(inputs) + MOST_PARAMETERS)
        self.values[: len(inputs) + len(parameters)] = [*inputs, *parameters]
        self.now = {name: self._now(name) for name in drives(self.system)}
        names = [name for name, body in self.system.bodies.items() if isinstance(body, Kinematic)]
        held = any(ANCHOR in holder_of(self.system, strand).ends for strand in self.stepper.strands)
        self.carriers = {name: np.zeros(6) for name in (*names, *((ANCHOR,) if held else ()))}
        bodies = [self.body(name) for name in self.free]
        paths = [self.body(name).path for name in self.what.moved]
        tables = [x for s in self.network.strands for x in (s.command.torques, s.command.profile)]
        self.places = [
            image.array(x)
            for x in (
                self.state,
                self.values,
                *self.now.values(),
                *self.carriers.values(),
                arrays.totals,
                arrays.clock,
                *arrays.bodies,
                *arrays.nodes,
                *arrays.reels,
                *self.samples,
                *(body.push for body in bodies),
                *paths,
                *tables,
            )
        ]
        self.kept = image.size

    def _now(self, name: str) -> Array:
        """Length and payout at the communication point, torque that was set."""
        feed = self.what.feed(name)
        return np.array([feed.deployed, -feed.speed, np.nan])

    def _structures(self) -> None:
        image, stepper = self.image, self.stepper
        self.network_place = image.structure(self.network, kernels.Network)
        self.before_place = image.structure(self.before, kernels.Network)
        plan = stepper.plan._replace(h=0.0, steps_per_sample=1)  # the wrapper puts in its own
        self.plan_place = image.structure(plan, data.Plan)
        self.backups_place = image.structure(stepper.arrays.backups, Array2)
        self.samples_place = image.structure(self.samples, kernels.WholeSamples)
        self.words = image.words()

    # -- places --------------------------------------------------------------------------------------------

    def body(self, name: str) -> kernels.Body:
        """A body as the kernels have it."""
        return self.network.bodies[self.stepper.arrays.names.index(name)]

    def in_strand(self, k: int, path: str) -> int:
        """Place of a member of string k."""
        return item_place(self.words, self.network_place, kernels.Network, ".strands", k) + place_in(
            kernels.Strand, path
        )

    def in_network(self, path: str) -> int:
        """Place of a member of the network."""
        return self.network_place + place_in(kernels.Network, path)

    def sampled_strand(self, k: int) -> int:
        """Place of the columns of string k in the sample."""
        return self.image.array(self.samples.strands) + k * kernels.STRAND_COLUMNS

    def sampled_body(self, name: str) -> int:
        """Place of the columns of a body in the sample."""
        return self.image.array(self.samples.bodies) + self.stepper.arrays.names.index(name) * kernels.BODY_COLUMNS
