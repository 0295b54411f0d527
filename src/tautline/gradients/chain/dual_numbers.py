"""Start of a run of a chain, with derivatives by keys: dual numbers from the case to the kernels."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from tautline.arrays import Array
from tautline.engine.chain import lowering
from tautline.engine.loads import path_table
from tautline.gradients.arrays import Dual, UnknownTangentsError, value_of
from tautline.gradients.chain.marching import Setting
from tautline.gradients.dual_cases import carries
from tautline.gradients.dual_runs import DualRun
from tautline.gradients.dual_starts import Midway, dual_quaternion, start_torque, started
from tautline.gradients.dual_tables import dual_command
from tautline.gradients.leaves import leaves, split
from tautline.gradients.marched import in_parts
from tautline.gradients.scales import Scales
from tautline.gradients.tangents_beside import tangents_beside
from tautline.kernels import data
from tautline.kernels.tangent_march import begin_with_tangents
from tautline.kernels.tangents import TANGENTS
from tautline.model.chain.cases import chain_command, chain_start
from tautline.model.chain.chain import Chain
from tautline.model.chain.hanging import hangs_straight, hung_depths
from tautline.model.chain.state import ChainState, reeled_beside
from tautline.model.chain.systems import chain_of, chain_state, guide_at
from tautline.model.description import changed
from tautline.model.system.case import Case
from tautline.model.system.starts import Hanging, Straight, deployed_lengths, is_searched
from tautline.model.system.state import State
from tautline.model.system.straight_lines import straight_nodes
from tautline.results.chain import Inertia

if TYPE_CHECKING:
    from tautline.gradients.chain.runs import Begun, ChainRuns


def columns_of_chain(runs: ChainRuns, begun: Begun, dual: DualRun, scales: Scales) -> Array:
    """Derivatives of the numbers of a run, from its case with dual numbers."""
    plain = begun.setting if dual.at is None else dual.at.setting
    return tangents_beside(plain, _setting(runs, begun, dual), len(dual.sizes), scales)


def _setting(runs: ChainRuns, begun: Begun, dual: DualRun) -> Any:
    """The setting of a run with dual numbers; those of the motion are as they are placed."""
    case, sizes, at = dual.case, dual.sizes, dual.at
    plain, N, k = begun.setting, begun.setting.par.N, len(sizes)
    chain, command = chain_of(case.system), chain_command(case)
    if is_searched(case.start, case.system):
        state = chain_state(case.system, started(case, runs.case, dual.rest)[1])
    else:
        state = _start(case, chain, chain_start(runs.case))
    chain = chain.on_mesh(chain.string.length - state.reeled_length, N)
    how = runs.case.run
    par = lowering.kernel_parameters(chain, N, how.scheme, how.compensated)
    loads, path = plain.loads, chain.reel.guide_path
    if carries(chain):
        moved = path_table(path, 0.0, runs.steps.until) if carries(path) else loads.path
        loads = lowering.chain_loads(changed(chain, reel=changed(chain.reel, guide_path=None)))
        loads = loads._replace(moves=plain.loads.moves, path=moved)
    length = chain.string.length - state.reeled_length
    given = dual_command(command, chain.string.length, length, (0.0, runs.steps.until), plain.command, sizes)
    plan = plain.plan._replace(h=runs.steps.length(case.run.duration))
    if at is None:
        motion = _placed(plain, chain, state, guide_at(chain, 0.0), k)
        torque = start_torque(chain.reel, length, command, given, state.reeled_length, state.reel_speed)
    else:
        plain = at.setting
        guide = guide_at(chain, at.steps * plan.h)
        motion = _placed(plain, chain, _midway(begun, chain, state, guide, at, k), guide, k)
        motion.reel[data.T_START] = at.steps * plan.h
        torque = plain.motion.reel[data.TORQUE]  # of a sample there, which segments leave out
    motion.reel[data.TORQUE] = torque
    body = chain.body
    inertia = plain.inertia._replace(density=chain.string.density)
    if carries((body.mass, body.center_of_mass, body.inertia)):
        inertia = _inertia(chain)
    moving = _moving(plain, par, given, motion, k)
    if at is not None:  # what it takes to lead a drum is booked at the start of the run alone
        moving.reel[data.ACCOUNT_PLACES[data.CONTROL_WORK]] = 0.0
    return Setting(par, plan, given, moving, loads, inertia)


def _midway(begun: Begun, chain: Chain, start: ChainState, guide: tuple[Any, Any], at: Midway, k: int) -> ChainState:
    """The state in which a segment begins, relative to the guide."""
    time = at.steps * float(value_of(begun.setting.plan.h))
    state = at.coordinates.state(at.dual(k), time, begun.before(start.reeled_length))
    return chain_state(begun.system, state, guide)


def _inertia(chain: Chain) -> Any:
    """Inertia about the center of mass, by the parallel-axis theorem."""
    body, central = chain.body, chain.body.central_inertia()
    rows = tuple(tuple(central[i, j] for j in range(3)) for i in range(3))
    return Inertia(chain.string.density, body.mass, body.center_of_mass, rows)


def _start(case: Case, chain: Chain, known: ChainState) -> ChainState:
    """The state at the start, from the one without derivatives."""
    start, N = case.start, known.elements
    if not carries((start, case.system)):
        return known
    if isinstance(start, State):
        return chain_state(case.system, start)
    if not isinstance(start, Straight | Hanging):
        raise UnknownTangentsError(f"a start of kind {type(start).__name__}")
    name, fields = next(iter(case.system.lines)), dict[str, Any]()
    if carries(start.end_velocity):
        moving = np.stack(start.end_velocity)[None]
        fields["node_velocities"] = np.concatenate([known.node_velocities[:-1], moving])
    if carries(start.angular_velocity):
        if chain.body.is_point:
            raise UnknownTangentsError("the spin of a point")
        fields["angular_velocity"] = np.stack(start.angular_velocity)
    if isinstance(start, Straight):
        deployed, along = start.deployed, start.along()
        if carries(start.attitude):
            raise UnknownTangentsError("an attitude")
        if carries((deployed, along)):
            fields["nodes"] = straight_nodes(1.0, N, np.stack(along)) * deployed
        return changed(known, reeled_length=reeled_beside(chain, deployed), reel_speed=start.reel_speed, **fields)
    deployed = deployed_lengths(case.system, start.deployed)[name]
    if carries((chain.body.center_of_mass, chain.fluid)) or not hangs_straight(chain, deployed):
        raise UnknownTangentsError("a resting attitude, or a search for rest")
    depths = hung_depths(chain, deployed * np.linspace(0.0, 1.0, N + 1), 1.0 if known.nodes[-1, 2] > 0.0 else -1.0)
    fields["nodes"] = np.stack([0.0 * depths, 0.0 * depths, depths], axis=1)
    return changed(known, reeled_length=reeled_beside(chain, deployed), **fields)


def _placed(plain: Setting, chain: Chain, state: ChainState, guide: tuple[Any, Any], k: int) -> Any:
    """The motion of a run with the positions and velocities of a state, whose momenta are to be found."""
    placed: Any = data.empty_motion(plain.par.N, len(plain.motion.reel) - data.REEL_SIZE)
    arrays: list[Any] = [_still(x, k) if x.dtype == np.float64 else x for x in placed]
    motion = data.Motion(*arrays)
    motion.reel[data.FRAME_VELOCITY : data.FRAME_VELOCITY + 3] = guide[1]
    lowering.place(changed(state, attitude=value_of(state.attitude)), chain.reel.spooled_strain, motion)
    Q = slice(data.ATTITUDE, data.ATTITUDE + 4)
    motion.body[Q] = dual_quaternion(value_of(motion.body[Q]), state.attitude)
    return motion


def _still(x: Array, k: int) -> Any:
    return Dual(x, np.zeros((*x.shape, k)))


def _moving(plain: Setting, par: Any, command: Any, motion: Any, k: int) -> Any:
    """A motion with its momenta, by the kernels."""
    par, command = _with_tangents(plain.par, par, k), _with_tangents(plain.command, command, k)
    arrays: list[Any] = [value_of(x) for x in motion]
    tangents = [x.tangent for x in motion if isinstance(x, Dual)]
    a, b = len(par), len(par) + len(command)

    def begin(some: list[Array], directions: int) -> data.Motion:
        now, scratch = data.copy_of(data.Motion(*arrays)), data.empty_scratch(plain.par.N)
        beside = [np.zeros((*np.shape(x), TANGENTS)) for x in leaves(scratch)]
        begin_with_tangents((plain.par, plain.command, now, scratch), (some[:a], some[a:b], some[b:], beside))
        return now

    now = in_parts([*par, *command, *tangents], begin, range(b, b + len(tangents)))[-1]
    supply = iter(tangents)
    moving: list[Any] = [Dual(x, next(supply)) if x.dtype == np.float64 else x for x in now]
    return data.Motion(*moving)


def _with_tangents(plain: Any, dual: Any, k: int) -> list[Array]:
    """Tangents of the leaves of a tuple of the kernels."""
    return split(plain, tangents_beside(plain, dual, k))
