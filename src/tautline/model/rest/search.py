"""Search for states of rest of a network (docs/theory.md, "Statics and modes").

Newton's method on the forces with exact stiffness, held to steps that lower the energy: a step that would raise it is
shortened by a shift of the stiffness and never taken. Drag and applied moments have no energy; their work along a step
is counted in, and where Newton's step with their change halves what is left of the forces, that step is taken.

A stiff string that sags bends only along arcs, and straight steps stretch it: where the search does not end soon, it
begins again with softened strings and hardens them from rest to rest. Likewise drag and applied moments are raised
from nothing.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple

import numpy as np

from tautline.arrays import Array
from tautline.errors import EquilibriumError
from tautline.model.rest.forces import forces_of
from tautline.model.rest.network import Forces, Network, Places
from tautline.model.rest.spin import without_spins
from tautline.model.rest.start import starts_of
from tautline.model.rest.stiffness import Stiffness, stiffness_of
from tautline.quantities import value

# Force that may be left, of the largest weight, load or tension; what rounding of the coordinates leaves comes on top.
BALANCED = 1e-9
# Corrections: at first, of each softened stage, and in all; and those after the balance is reached.
FIRST_CORRECTIONS, STAGE_CORRECTIONS, MOST_CORRECTIONS, POLISHING = 40, 80, 240, 8
# Of the step before, and of the coordinates: steps after the balance is reached are shorter, and more than rounding.
SHORTER, STANDING = 0.5, 4.0 * np.finfo(float).eps
# Shifts of the stiffness tried for one correction, and the factor between them.
MOST_SHIFTS, GROWTH = 40, 8.0
# Of the load over the length: holds what nothing else holds, such as the turn of a hanging body.
HOLD = 1e-7
# Corrections of a solution with it that lead to one without.
REFINEMENTS = 2
# Longest step: of the longest line, and of a rotation (rad).
LONGEST_STEP, LARGEST_TURN = 0.5, 0.5
# Largest part of the length of a span that a step may take from it.
LARGEST_PART = 0.5
# Parts of the expected fall of the energy that a step must reach, and from which the next one may be bolder.
LEAST_FALL, GOOD_FALL = 1e-4, 0.7
# Of the expected fall: from here on the step is doubled as long as the energy goes on falling.
STEEP_FALL = 1.5
# Of the energy: below this a fall is found from the forces, because rounding hides it in the energy.
ROUNDING = 1e-10
# Axial stiffness of softened strings over all loads: of the first stage, and its growth from stage to stage.
SOFTEST, HARDENING = 30.0, 30.0
# Rotations (rad) and displacements over the shortest element that leave an unstable balance, and how often it is left.
SHAKE, MOST_ESCAPES = 0.1, 3
# Of drag and applied moments: the smallest part that is added at once.
SMALLEST_PART = 1.0 / 256.0


class Rest(NamedTuple):
    """Places at rest.

    Attributes
    ----------
    places : Places
    forces : Forces
        What is left of the forces there.
    corrections : int
        Number of corrections of the search.
    """

    places: Places
    forces: Forces
    corrections: int


def by_stiffness(network: Network, places: Places, forces: Array) -> Array:
    """Displacements of a network at rest under small forces, from its stiffness; what nothing holds stays.

    Of several sets of forces, a column each.
    """
    stiffness, here = stiffness_of(network, places), forces_of(network, places)
    matrix = stiffness.whole
    solve = _factor(matrix + _Search(network).hold(here), symmetric=False)
    found = np.full(forces.shape, np.nan) if solve is None else np.asarray(solve(forces))
    for _ in range(REFINEMENTS * (solve is not None)):  # without what holds
        found += solve(forces - matrix @ found)
    return found


class _NotFoundError(Exception):
    """No rest from this start; the best place is `at`."""

    def __init__(self, at: Rest) -> None:
        super().__init__()
        self.at = at


def left_of(network: Network, forces: Forces) -> float:
    """Largest force that is left beyond rounding (N); moments count as forces at the size of their body."""
    beyond = (np.abs(forces.gradient) - forces.rounding) / network.lengths
    return max(float(beyond.max(initial=0.0)), 0.0)


def is_balanced(network: Network, forces: Forces) -> bool:
    """Whether what is left of the forces is a small part of the largest one, or rounding."""
    return left_of(network, forces) <= BALANCED * forces.scale


def find_rest(network: Network, start: Places) -> Rest:
    """State of rest near a start; raises EquilibriumError where none is found in a bounded number of corrections."""
    with np.errstate(all="ignore"):  # what overflows is not at rest
        return _find_rest(network, network.on_bodies(start))


def _find_rest(network: Network, given: Places) -> Rest:
    if is_balanced(network, forces_of(network, given)):
        starts: Iterable[Places] = [given]
    else:
        starts = starts_of(network, given)
    best: Rest | None = None
    corrections = 0
    for places in starts:
        search = _Search(network)
        try:
            return _without_spins(network, given, search.found_from(places))
        except _NotFoundError as failure:
            corrections += search.corrections
            if best is None or _left_part(network, failure.at) < _left_part(network, best):
                best = failure.at
    assert best is not None
    left = left_of(network, best.forces)
    raise EquilibriumError(
        f"no state of rest was found in {corrections} corrections; {value(left, 'N', 3)} are left of "
        f"{value(best.forces.scale, 'N', 3)}. {_reason(network, best.forces)}"
    )


def _without_spins(network: Network, given: Places, found: Rest) -> Rest:
    """Rest in which bodies have spun no farther than they have to, equation (A12)."""
    places = without_spins(network, given.attitudes, found.places)
    forces = forces_of(network, places)
    return found._replace(places=places, forces=forces) if is_balanced(network, forces) else found


def _left_part(network: Network, at: Rest) -> float:
    return left_of(network, at.forces) / max(at.forces.scale, 1e-300)


def _reason(network: Network, forces: Forces) -> str:
    """Why there may be no rest, as far as it can be told, and what to do."""
    loose = _unsupported(network)
    if loose:
        names = ", ".join(repr(network.body_names[b]) for b in loose)
        return f"No line leads from {names} to a fixed point, and the forces on what floats there do not balance"
    here = "Give a start that is nearer to it, or simulate with damping until it is at rest"
    if not network.bodies:
        return here
    resultants = [-forces.gradient[first : first + 3] for first in network.first_of_body]
    b = int(np.argmax([np.linalg.norm(x) for x in resultants]))
    x, y, z = resultants[b]
    return f"On body {network.body_names[b]!r} ({x:.3g}, {y:.3g}, {z:.3g}) N are not balanced. {here}"


def _unsupported(network: Network) -> list[int]:
    """Bodies that no chain of lines connects with a fixed point."""
    held: set[int] = {-1}
    while True:
        more = {b for line in network.lines if held & set(line.bodies) for b in line.bodies} - held
        if not more:
            return [b for b in range(len(network.bodies)) if b not in held]
        held |= more


class _Search:
    """Corrections toward rest, counted."""

    def __init__(self, network: Network) -> None:
        self.network = network
        self.corrections = 0
        self.longest = max(line.deployed for line in network.lines)

    def found_from(self, places: Places) -> Rest:
        """Rest by the first strategy that finds one; otherwise the place with the least force left is raised."""
        network = self.network
        failures = []
        try:
            for strategy in (self.plain, self.hardened, self.raised):
                try:
                    return strategy(places)
                except _NotFoundError as failure:
                    failures.append(failure)
        finally:
            network.hardness[:] = 1.0
            network.steady_part = 1.0
        raise min(failures, key=lambda failure: _left_part(network, failure.at))

    def plain(self, start: Places) -> Rest:
        """Rest without a detour."""
        return self.run(start, FIRST_CORRECTIONS)

    def hardened(self, start: Places) -> Rest:
        """Rest by way of softened strings."""
        network = self.network
        load = self._load(start)
        stiffness = network.stiffness
        if load == 0.0 or float(stiffness.max()) <= SOFTEST * load:
            return self.run(start, MOST_CORRECTIONS)
        places, soft = start, SOFTEST * load
        while True:
            network.hardness[:] = np.minimum(1.0, soft / stiffness)
            last = bool((network.hardness == 1.0).all())
            found = self.run(places, STAGE_CORRECTIONS, polish=last)
            if last:
                return found
            places, soft = found.places, soft * HARDENING

    def _is_hilltop(self, here: Forces, stiffness: Stiffness) -> bool:
        """Whether the network would leave a balance by itself."""
        firm = 1e3 * self.hold(here)
        return _factor(stiffness.energy + firm, symmetric=True) is None

    def _shaken(self, places: Places) -> Places:
        """Places a little aside, by which a balance on a hilltop is left."""
        network = self.network
        aside = np.random.default_rng(0).uniform(-1.0, 1.0, network.count)
        return network.moved(places, SHAKE * aside * np.where(network.turning, 1.0, 1e-2 * float(network.l.min())))

    def raised(self, start: Places) -> Rest:
        """Rest by way of drag and applied moments that are raised from nothing."""
        network = self.network
        if not network.has_steady:
            raise _NotFoundError(Rest(start, forces_of(network, start), 0))
        network.steady_part, network.hardness[:] = 0.0, 1.0
        try:
            found = self.run(start, FIRST_CORRECTIONS)
        except _NotFoundError:
            found = self.hardened(start)
        reached, step = 0.0, 0.25
        while reached < 1.0:
            network.steady_part = min(1.0, reached + step)
            try:
                found = self.run(found.places, FIRST_CORRECTIONS)
            except _NotFoundError:
                step *= 0.25
                if step < SMALLEST_PART:
                    raise
            else:
                reached, step = network.steady_part, 2.0 * step
        return found

    def _load(self, places: Places) -> float:
        """All weights and loads together (N)."""
        network = self.network
        lifts = float(np.abs(network.lifts * network.l).sum())
        load = float(np.abs(network.weights).sum()) + lifts
        load += sum(own.body.mass * network.gravity for own in network.bodies)
        load += sum(float(np.linalg.norm(own.force)) for own in network.bodies)
        return load + float(np.abs(forces_of(network, places).steady / network.lengths).sum())

    def run(self, places: Places, most: int, polish: bool = True) -> Rest:
        """Corrections from a start until the forces balance; `most` of them."""
        network = self.network
        here = forces_of(network, places)
        shift, escapes = 0.0, 0
        begun = self.corrections
        for _ in range(most):
            balanced = is_balanced(network, here)
            if (balanced and not polish) or (not balanced and self.corrections >= MOST_CORRECTIONS):
                break
            stiffness = stiffness_of(network, places)
            if balanced and self.corrections > begun and escapes < MOST_ESCAPES and self._is_hilltop(here, stiffness):
                escapes += 1
                places = self._shaken(places)
                here = forces_of(network, places)
                continue
            if balanced:
                places, here = self._polished(places, here)
                break
            self.corrections += 1
            better = self._newton(places, here, stiffness) if network.has_steady else None
            if better is not None:
                (places, here), shift = better, 0.0
                continue
            lower = self._lower(places, here, stiffness.energy, shift)
            if lower is None:
                break
            places, here, shift = lower
        found = Rest(places, here, self.corrections)
        if not is_balanced(network, here):
            raise _NotFoundError(found)
        return found

    def _polished(self, places: Places, here: Forces) -> tuple[Places, Forces]:
        """Balanced places after Newton's steps, as long as these get shorter and are more than rounding."""
        network, longest = self.network, np.inf
        for _ in range(POLISHING):
            step = self._newton_step(here, stiffness_of(network, places))
            if step is None:
                break
            length = float(np.abs(step * network.lengths).max(initial=0.0))
            if length > SHORTER * longest or length <= STANDING * float(np.abs(places.nodes).max()):
                break
            moved = network.moved(places, step)
            there = forces_of(network, moved)
            if not is_balanced(network, there):
                break
            places, here, longest = moved, there, length
        return places, here

    def _newton_step(self, here: Forces, stiffness: Stiffness) -> Array | None:
        """Newton's step with the change of the drag; None if there is none within what is allowed."""
        solve = _factor(stiffness.whole + self.hold(here), symmetric=False)
        step = None if solve is None else np.asarray(-solve(here.gradient))
        return None if step is None or not np.isfinite(step).all() or self._excess(step) > 1.0 else step

    def _newton(self, places: Places, here: Forces, stiffness: Stiffness) -> tuple[Places, Forces] | None:
        """Newton's step, if it halves what is left of the forces."""
        network, step = self.network, self._newton_step(here, stiffness)
        if step is None:
            return None
        moved = network.moved(places, step)
        there = forces_of(network, moved)
        return (moved, there) if network.largest(there.gradient) < 0.5 * network.largest(here.gradient) else None

    def _lower(self, places: Places, here: Forces, K: Any, shift: float) -> tuple[Places, Forces, float] | None:
        """A correction that lowers the energy with drag as it is, and the shift for the next; None if there is none."""
        from scipy.sparse import diags

        network = self.network
        hold = self.hold(here)
        # the least shift that makes a difference: of what pulls over the length of the lines
        least = 1e-3 * max(here.scale, network.largest(here.gradient)) / self.longest
        if network.has_slack(places) or _factor(K + hold, symmetric=True) is None:
            K = stiffness_of(network, places, convex=True).energy
        for _ in range(MOST_SHIFTS):
            solve = _factor(K + hold + diags(shift * network.lengths**2), symmetric=True)
            bolder = max(GROWTH * shift, least)
            if solve is None:
                shift = bolder
                continue
            step = -solve(here.gradient)
            excess = self._excess(step)
            if not excess < 1e3:  # far out of reach, or not finite
                shift = bolder
                continue
            step /= max(excess, 1.0)
            expected = float(here.gradient @ step + 0.5 * step @ (K @ step))
            if not expected < 0.0:
                expected = float(0.5 * here.gradient @ step)
            moved, there, fall = self._moved(places, here, step)
            if np.isfinite(fall) and fall <= LEAST_FALL * expected < 0.0:
                if fall <= GOOD_FALL * expected:
                    shift = shift / GROWTH if shift > least else 0.0
                while fall <= STEEP_FALL * expected and self._excess(2.0 * step) <= 1.0:  # it goes on downhill
                    step, expected = 2.0 * step, fall
                    farther = self._moved(places, here, step)
                    if not farther[2] <= GOOD_FALL * 2.0 * fall:
                        break
                    moved, there, fall = farther
                return moved, there, shift
            shift = bolder
        return None

    def _moved(self, places: Places, here: Forces, step: Array) -> tuple[Places, Forces, float]:
        """Places after a step, forces there, and the fall of the energy, with the work of drag as it was."""
        moved = self.network.moved(places, step)
        there = forces_of(self.network, moved)
        fall = there.energy - here.energy - float(here.steady @ step)
        if abs(fall) <= ROUNDING * here.size:
            fall = 0.5 * float((here.gradient + there.gradient) @ step)
        return moved, there, fall

    def _excess(self, step: Array) -> float:
        """Size of a step over the longest that is allowed."""
        network = self.network
        allowed = np.where(network.turning, LARGEST_TURN, LONGEST_STEP * self.longest)
        largest = float((np.abs(step) / allowed).max(initial=0.0))
        if network.passes:  # no line gives away more than a part of its length
            change = np.abs(network.shift @ step[network.first_passing :])
            largest = max(largest, float((change / (LARGEST_PART * network.deployed)).max()))
        return largest

    def hold(self, here: Forces) -> Any:
        """Stiffness that holds what nothing else holds."""
        from scipy.sparse import diags

        return diags(HOLD * here.scale / self.longest * self.network.lengths**2)


def _factor(matrix: Any, *, symmetric: bool) -> Any:
    """Solver of a sparse matrix; None if it is singular or, where it is symmetric, not positive definite."""
    from scipy.sparse.linalg import splu

    try:
        if not symmetric:
            return splu(matrix.tocsc()).solve
        factors = splu(
            matrix.tocsc(), permc_spec="MMD_AT_PLUS_A", diag_pivot_thresh=0.0, options={"SymmetricMode": True}
        )
    except RuntimeError:  # exactly singular
        return None
    if not np.array_equal(factors.perm_r, factors.perm_c) or (factors.U.diagonal() <= 0.0).any():
        return None
    return factors.solve
