"""From velocities to momenta at the start of a run, and from momenta to what samples report."""

from __future__ import annotations

from tautline.kernels import data
from tautline.kernels.balance import SIGNS, copy_accounts
from tautline.kernels.data import Array, clear_nodes, copy_nodes, node, put_triple, triple
from tautline.kernels.drum import holding
from tautline.kernels.energy import elastic, element_length, kinetic_string, momenta, reel_mass, transport_weights
from tautline.kernels.guide import spooled_energy
from tautline.kernels.jit import kernel, separate
from tautline.kernels.lanes import zero_like
from tautline.kernels.loads.pushing import ACCOUNTS, acts
from tautline.kernels.loads.resistance import DRAG
from tautline.kernels.network import data as net
from tautline.kernels.network.boundary import velocities_at_boundary
from tautline.kernels.network.condense import keep_velocities
from tautline.kernels.network.data import Body, Network, Strand, WholeSamples, body_at, loads_at, strand_at
from tautline.kernels.network.ends import (
    angular_velocity_about,
    end_of,
    place_ends,
    put_matrix,
    spooled_slope,
    wheel_end,
)
from tautline.kernels.network.equations import drum_mass
from tautline.kernels.network.feeds import add_to_feeds, feed_speed, measure_span
from tautline.kernels.network.gravity import weigh
from tautline.kernels.network.grip import hold_grip
from tautline.kernels.network.kinematic import set_kinematic_velocities
from tautline.kernels.network.loads import Taken, ahead_of, instant_of, loads_of_strand, place_given
from tautline.kernels.network.solving import solve_rates
from tautline.kernels.network.spans import evaluate_pulls, retracted
from tautline.kernels.network.wet import given_to
from tautline.kernels.reels import NO_ENTRANCE, ReelStart, pack_start
from tautline.kernels.rotation import attitude
from tautline.kernels.so3 import ZERO, Vector, add, add_scaled, apply, cross, dot, scale, sub


@kernel
def first_momentum(strand: Strand, sigma: float, v: Array) -> Vector:
    """Momentum of the first node, with the string that is spooled on a reel there."""
    par = strand.par
    q = strand.nodes[data.POSITION]
    s = strand.reel[data.S]
    alpha = transport_weights(par.N, 0.0)[0]
    own = scale(element_length(par, s) / 6.0, add_scaled(node(v, 1), 2.0, node(v, 0)))
    P = add_scaled(own, alpha * sigma, sub(node(q, 0), node(q, 1)))
    if strand.has_reel:
        P = add_scaled(P, s, node(v, 0))
    return add_scaled(scale(par.mu, P), sigma, spooled_slope(strand, s))


@separate
def refresh_network(network: Network, t: float) -> None:
    """Evaluate all forces anew, after a state was put back."""
    for k in range(len(network.strands)):
        strand = strand_at(network.strands, k)
        place_ends(network, strand)
        evaluate_pulls(strand)
    network.totals[net.FRAME_POWER] = weigh(network, t, False)[1]


@separate
def velocities_now(network: Network, t: float) -> bool:
    """Velocities of everything at the present momenta, in the work of bodies and strands; whether they were found.

    Loads have acted for half of the latest step then.
    """
    if network.loaded and network.totals[data.LOADS_PENDING] > 0.0:
        for b in range(len(network.bodies)):
            body = body_at(network.bodies, b)
            put_matrix(body.work, net.TURNED, attitude(body.state))
        place_given(network, t)
        pending = network.totals[data.LOADS_PENDING]
        velocities_at_boundary(network, pending, instant_of(t, pending, zero_like(t)), ahead_of(network))
        return True
    for b in range(len(network.bodies)):
        set_kinematic_velocities(body_at(network.bodies, b), t)
    for k in range(len(network.strands)):
        strand = strand_at(network.strands, k)
        copy_nodes(strand.nodes[data.MOMENTUM], strand.scratch.nodes[data.TARGET])
        reel, work = strand.reel, strand.work
        work[net.SIGMA_NOW] = 0.0
        if strand.row >= 0:
            held = reel[data.HELD] != data.NOT_HELD
            work[net.SIGMA_NOW] = reel[data.HELD_SPEED] if held else 0.0
            start = ReelStart(reel[data.P_S], 0.0, 0.0, work[net.SIGMA_NOW], NO_ENTRANCE, holding(held))
            pack_start(start, work[net.START_ROW :])
        if strand.reeving.wheel >= 0:
            hold_grip(strand)
    found = solve_rates(network, zero_like(t), zero_like(t))[0]
    for k in range(len(network.strands)):
        keep_velocities(strand_at(network.strands, k))
    return found


@separate
def measure_strand(network: Network, strand: Strand) -> tuple[float, float]:
    """Kinetic energy of a string with its drum, and momentum of the reel; those of its ends into END_MOMENTUM.

    At the velocities in MEAN_VELOCITY and in the works of strand and bodies; spans after `measure_spans`.
    """
    if strand.reeved:
        return strand.work[net.FEED_KINETIC], strand.work[net.FEED_MOMENTUM]
    par, work, scratch = strand.par, strand.work, strand.scratch
    q, v, momentum = strand.nodes[data.POSITION], scratch.nodes[data.MEAN_VELOCITY], scratch.nodes[data.BORDER]
    s, sigma = strand.reel[data.S], work[net.SIGMA_NOW]
    first = end_of(network, strand, 0, 0.0)
    carried = angular_velocity_about(strand, first)
    kinetic = kinetic_string(par, s, sigma, q, v)
    if strand.has_reel:
        speed = sigma + carried
        kinetic += 0.5 * par.mu * s * dot(first.v, first.v) + 0.5 * reel_mass(par, s)[0] * speed * speed
    lifted = dot(spooled_slope(strand, s), first.v)
    kinetic += lifted * sigma
    P_s = momenta(par, s, sigma, q, v, momentum) + drum_mass(strand, 0.0, sigma) * carried + lifted
    put_triple(work, net.END_MOMENTUM, first_momentum(strand, sigma, v))
    put_triple(work, net.END_MOMENTUM + 3, node(momentum, par.N))
    return kinetic, P_s


@separate
def measure_spans(network: Network) -> None:
    """Kinetic energies of all spans, and momenta of their ends and feeds, into their work."""
    for k in range(len(network.strands)):
        strand_at(network.strands, k).work[net.FEED_MOMENTUM] = 0.0
    for k in range(len(network.strands)):
        strand = strand_at(network.strands, k)
        if strand.reeved:
            for e in range(2):
                put_triple(strand.work, net.END_VELOCITY + 3 * e, end_of(network, strand, e, 0.0).v)
            strand.work[net.FEED_KINETIC] = measure_span(
                network, strand, strand.nodes[data.POSITION], 0.0, strand.scratch.nodes[data.BORDER]
            )


@kernel
def owed_momenta(network: Network, strand: Strand, owed: Taken, given: Array, err: Array) -> tuple[Vector, Vector]:
    """Linear and angular momentum that loads have still to give to a string and to what holds it and moves freely."""
    linear, angular = ZERO, ZERO
    if not strand.reeving.idle:
        for i in range(1, strand.par.N):
            impulse = sub(node(given, i), node(err, i))
            linear = add(linear, impulse)
            angular = add(angular, cross(node(strand.nodes[data.POSITION], i), impulse))
    for e in range(2):
        body = body_at(network.bodies, strand.ends[e])
        if body.free:
            R, impulse = attitude(body.state), owed.first if e == 0 else owed.last
            place = add(triple(body.state, net.PLACE), apply(R, strand.points[e]))
            linear, angular = add(linear, impulse), add(angular, cross(place, impulse))
            if e == 1:
                angular = add(angular, apply(R, owed.moment))
    return linear, angular


@kernel
def observe_strand(network: Network, strand: Strand, t: float, out: Array, out_nodes: Array) -> tuple[Vector, Vector]:
    """Write a string's energies, reel and nodes; linear and angular momentum of its inner nodes."""
    par, reel, work = strand.par, strand.reel, strand.work
    q, v, p = strand.nodes[data.POSITION], strand.scratch.nodes[data.MEAN_VELOCITY], strand.nodes[data.MOMENTUM]
    s, sigma = reel[data.S], work[net.SIGMA_NOW]
    if strand.reeved:
        sigma = feed_speed(network, strand, 0)
    copy_accounts(reel, out)
    pending = network.totals[data.LOADS_PENDING]
    owed = Taken(ZERO, ZERO, ZERO, 0.0, 0.0)
    linear, angular = ZERO, ZERO
    loads = loads_at(network.acting, strand.number)
    if loads.acts and pending > 0.0:
        target, border = strand.scratch.nodes[data.TARGET], strand.scratch.nodes[data.BORDER]
        clear_nodes(target)
        clear_nodes(border)
        owed = loads_of_strand(network, strand, instant_of(t, pending, zero_like(t)), pending, target, border)
        linear, angular = owed_momenta(network, strand, owed, target, border)
        for load in range(len(ACCOUNTS)):
            if acts(load, loads.own):
                out[ACCOUNTS[load]] += pending * work[net.POWER + load]
    if strand.reeved:
        add_to_feeds(network, strand, net.FEED_OWED, owed.on_s, owed.on_far)
    out[data.KINETIC], P_s = measure_strand(network, strand)
    put_triple(work, net.END_MOMENTUM, sub(triple(work, net.END_MOMENTUM), owed.first))
    put_triple(work, net.END_MOMENTUM + 3, sub(triple(work, net.END_MOMENTUM + 3), owed.last))
    out[data.ELASTIC] = elastic(par, retracted(strand), q) + (spooled_energy(par, reel, s) if strand.has_reel else 0.0)
    out[data.GRAVITY] = 0.0
    if strand.row >= 0 and reel[data.HELD] == data.PRESCRIBED:
        # the half impulse that a reel in prescribed motion has still to be given for the latest step
        out[data.CONTROL_WORK] += (P_s - reel[data.P_S] - (0.0 if strand.reeved else owed.on_s)) * reel[data.SIGMA]
    out[net.REELED] = s
    out[net.SPEED] = sigma
    out[net.TORQUE_NOW] = reel[data.TORQUE]
    out[net.RETRACTED] = retracted(strand)
    if strand.reeving.idle:
        out[data.ELASTIC] = spooled_energy(par, reel, s)
        return linear, angular
    for i in range(par.N + 1):
        at, velocity = node(q, i), node(v, i)
        linear = add(linear, node(p, i))
        angular = add(angular, cross(at, node(p, i)))
        for a in range(3):
            out_nodes[strand.first + i, a] = at[a]
            out_nodes[strand.first + i, 3 + a] = velocity[a]
    return linear, angular


@kernel
def kinetic_of_body(body: Body) -> float:
    """At the velocities in its work."""
    velocity, omega = triple(body.work, net.V_NOW), triple(body.work, net.OMEGA_NOW)
    return 0.5 * body.mass * dot(velocity, velocity) + 0.5 * dot(omega, apply(body.J, omega))


@kernel
def observe_body(body: Body, out: Array) -> None:
    """Write a body's place and motion."""
    put_triple(out, net.BODY_PLACE, triple(body.state, net.PLACE))
    put_triple(out, net.BODY_VELOCITY, triple(body.work, net.V_NOW))
    put_triple(out, net.BODY_OMEGA, triple(body.work, net.OMEGA_NOW))
    put_matrix(out, net.BODY_ATTITUDE, attitude(body.state))


@kernel
def owed_to_held(network: Network, b: int) -> tuple[Vector, Vector]:
    """Half impulse, and its moment, that a body whose motion is given has still to be given for the latest step."""
    body = body_at(network.bodies, b)
    if body.free:
        return ZERO, ZERO
    P, H = scale(body.mass, triple(body.work, net.V_NOW)), ZERO
    for k in range(len(network.strands)):
        strand = strand_at(network.strands, k)
        for e in range(2):
            if strand.ends[e] == b:
                own, end = triple(strand.work, net.END_MOMENTUM + 3 * e), end_of(network, strand, e, 0.0)
                P, H = add(P, own), add(H, cross(apply(end.R, end.point), own))
        if strand.reeving.sheave and strand.ends[0] == b:
            center = wheel_end(network, strand, 0.0)
            own = scale(strand.reeving.wrap, center.v)
            P, H = add(P, own), add(H, cross(apply(center.R, center.point), own))
        if strand.ends[0] == b and dot(strand.axis, strand.axis) > 0.0:
            end = end_of(network, strand, 0, 0.0)
            sigma = feed_speed(network, strand, 0) if strand.reeved else strand.work[net.SIGMA_NOW]
            size = drum_mass(strand, 0.0, sigma) * (sigma + angular_velocity_about(strand, end))
            H = add_scaled(H, size, apply(end.R, strand.axis))
    return sub(P, triple(body.state, net.LINEAR)), sub(H, triple(body.state, net.ANGULAR))


@separate
def observe_network(network: Network, out: WholeSamples, row: int, t: float) -> bool:
    """Write the present state into row `row` of the samples; whether velocities were found. The motion stays."""
    found = velocities_now(network, t)
    whole = out.whole[row]
    copy_accounts(network.totals, whole)
    whole[data.KINETIC], whole[data.ELASTIC] = 0.0, 0.0
    linear, angular = ZERO, ZERO
    measure_spans(network)
    for k in range(len(network.strands)):
        strand_at(network.strands, k).work[net.FEED_OWED] = 0.0
    for k in range(len(network.strands)):
        strand = strand_at(network.strands, k)
        own = out.strands[row, k]
        P, H = observe_strand(network, strand, t, own, out.nodes[row])
        linear, angular = add(linear, P), add(angular, H)
        whole[data.KINETIC] += own[data.KINETIC]
        whole[data.ELASTIC] += own[data.ELASTIC]
    for k in range(len(network.strands)):
        strand, own = strand_at(network.strands, k), out.strands[row, k]
        if strand.row >= 0 and strand.reel[data.HELD] == data.PRESCRIBED:
            own[data.CONTROL_WORK] -= strand.work[net.FEED_OWED] * strand.reel[data.SIGMA]
        for account in range(data.FIRST_BOOKED, data.KINETIC + len(own)):
            if account < net.REELED:
                whole[account] += own[account]
    at = instant_of(t, network.totals[data.LOADS_PENDING], zero_like(t))
    for b in range(len(network.bodies)):
        body = body_at(network.bodies, b)
        observe_body(body, out.bodies[row, b])
        whole[data.KINETIC] += kinetic_of_body(body)
        owed, moment = owed_to_held(network, b)
        turning = apply(attitude(body.state), triple(body.state, net.OMEGA))
        whole[data.GUIDE_WORK] += dot(owed, triple(body.state, net.V)) + dot(moment, turning)
        put_triple(out.bodies[row, b], net.BODY_GIVEN, add(triple(body.state, net.GIVEN), owed))
        put_triple(out.bodies[row, b], net.BODY_GIVEN + 3, add(triple(body.state, net.GIVEN_MOMENT), moment))
        if body.free and network.in_fluid:
            given, pending = given_to(network, body, at), network.totals[data.LOADS_PENDING]
            whole[ACCOUNTS[DRAG]] -= SIGNS[ACCOUNTS[DRAG]] * pending * given.power
            turning = add(cross(triple(body.state, net.PLACE), given.force), apply(attitude(body.state), given.moment))
            linear, angular = add_scaled(linear, pending, given.force), add_scaled(angular, pending, turning)
        if body.free:
            linear = add(linear, triple(body.state, net.LINEAR))
            turning = add(
                triple(body.state, net.ANGULAR), cross(triple(body.state, net.PLACE), triple(body.state, net.LINEAR))
            )
            angular = add(angular, turning)
    whole[data.GRAVITY] = weigh(network, t, True)[0]
    put_triple(whole, net.LINEAR_MOMENTUM, linear)
    put_triple(whole, net.ANGULAR_MOMENTUM, angular)
    whole[net.STEP_LENGTH] = abs(network.totals[data.H_LAST])
    return found
