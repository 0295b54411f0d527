/* A system in motion, as Simulation has it in Python: its start, its steps, its variables. */

#include "model.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "loading.h"

/* What a call of the kernels gives back. */
typedef struct {
    int64_t status, rows, line;
    double waves, force_law, stretching, turning, drum; /* largest steps; the first two are of stability */
    double more[8];
} Done;

static const double SAME_TIME = 1e-9; /* of a step */

Level tell(Model *model, Level level, const char *format, ...) {
    char text[1024];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    if (model->report != NULL && (model->logs || level >= ERROR)) model->report(model, level, text);
    return level;
}

Model *open_model(Model *model, const char *resources) {
    model->mode = INSTANTIATED;
    if (load_model(model, resources)) return model;
    close_model(model);
    return NULL;
}

void close_model(Model *model) {
    while (model->saved != NULL) forget_state(model, model->saved);
    unload_model(model);
    free(model->name);
    free(model);
}

void start_over(Model *model) {
    fill_block(model);
    model->mode = INSTANTIATED;
    model->started = false;
}

static double *totals(const Model *model) { return at(model, model->head.totals); }
static int64_t *clock_of(const Model *model) { return whole_at(model, model->head.clock); }

static double counted_time(const Model *model) {
    return totals(model)[model->head.t_start] + (double)clock_of(model)[model->head.step_counter] * state(model)[STATE_STEP];
}

/* Whether an event is located in time, between two steps. */
static bool is_located(int64_t status) {
    return status == FULLY_RETRIEVED || status == FULLY_DEPLOYED || status == TWO_BLOCKED;
}

double case_time(const Model *model) {
    const bool located = is_located((int64_t)state(model)[STATE_STATUS]);
    return located ? totals(model)[model->head.stop_time] : counted_time(model);
}

double time_of(const Model *model) { return state(model)[STATE_BEGINS] + case_time(model); }

bool has_ended(const Model *model) { return state(model)[STATE_STOPPED] != 0.0; }

Level set_begin(Model *model, double begins, bool has_end, double end) {
    if (!isfinite(begins) || (has_end && !(end >= begins)))
        return tell(model, ERROR, "startTime, stopTime: expected increasing finite times, got %g and %g", begins, end);
    state(model)[STATE_BEGINS] = begins;
    return OK;
}

static Level ask(Model *model, int64_t network, int64_t action, double time, Done *done) {
    *at(model, model->head.plan_step) = state(model)[STATE_STEP];
    *whole_at(model, model->head.plan_count) = (int64_t)state(model)[STATE_COUNT];
    if (model->march(at(model, network), at(model, model->head.plan), at(model, model->head.backups),
                     at(model, model->head.samples), action, time, 0, done) == 0)
        return OK;
    model->mode = FAILED;
    return tell(model, ERROR, "the kernels met an index that is out of range");
}

void apply_parameters(Model *model) {
    const Header *head = &model->head;
    const double *p = at(model, head->parameters), *p0 = model->image + head->parameters;
    for (int pass = 0; pass < 2; pass++)
        for (int64_t i = 0; i < head->changed_count; i++) {
            const int64_t *row = row_of(model, head->changed, i, CHANGED_SIZE);
            double *word = at(model, row[CHANGED_PLACE]);
            const double now = p[row[CHANGED_PARAMETER]], was = p0[row[CHANGED_PARAMETER]];
            const double by = number(row[CHANGED_NUMBER]);
            if (pass == 0)
                *word = model->image[row[CHANGED_PLACE]];
            else if (row[CHANGED_FORM] == FORM_COPY)
                *word = now;
            else if (now != was)
                *word = row[CHANGED_FORM] == FORM_POWER    ? *word * pow(now / was, by)
                        : row[CHANGED_FORM] == FORM_AFFINE ? *word + by * (now - was)
                                                           : *word + by * (1.0 / now - 1.0 / was);
        }
}

static double kept_energy(const Model *model) {
    const double *x = at(model, model->head.whole), *signs = at(model, model->head.accounts);
    double total = 0.0;
    for (int64_t i = 0; i < model->head.account_count; i++) total += signs[i] * x[i];
    return total;
}

/* The kernels' array of the drum or wheel of a row of reels. */
static double *reel_array(const Model *model, const int64_t *reel) {
    return at(model, drum_of(model, reel[REEL_DRUM])[DRUM_ARRAY]);
}

double drum_radius(const Model *model, const int64_t *drum) {
    const double d = *at(model, drum[DRUM_RADIUS]), growth = *at(model, drum[DRUM_GROWTH]);
    return sqrt(d * d + growth * (*at(model, drum[DRUM_REELED]) - *at(model, drum[DRUM_GUIDE_LENGTH])));
}

static void set_torque(Model *model, const int64_t *reel, double torque) {
    const double limit = *at(model, reel[REEL_LIMIT]);
    *at(model, reel[REEL_TORQUES]) = torque;
    reel_array(model, reel)[model->head.reel_torque] = fmin(fmax(torque, -limit), limit);
    at(model, reel[REEL_NOW])[2] = torque;
}

/* Row of a profile of the reeled length, from the deployed length: a cubic of the time since then. */
static void put_piece(double *row, double length, double time, const double *deployed) {
    memset(row, 0, 9 * sizeof *row);
    row[0] = time;
    row[1] = length - deployed[0];
    for (int i = 1; i < 4; i++) row[1 + i] = -deployed[i];
}

/* Let a reel follow its command from the start, and book the energy that this takes. */
static Level lead(Model *model, const int64_t *row) {
    const Header *head = &model->head;
    double *reel = reel_array(model, row), *now = at(model, row[REEL_NOW]);
    const double held[3] = {number(head->prescribed), number(row[REEL_SPEED]), number(row[REEL_ACCELERATION])};
    Done done;
    if (row[REEL_MODE] == MODE_BY_SPEED || row[REEL_MODE] == MODE_BY_LENGTH) {
        const double pieces[4] = {now[0], now[1], 0.0, 0.0};
        put_piece(at(model, row[REEL_PROFILE]), number(row[REEL_LENGTH]), 0.0, pieces);
    }
    if (row[REEL_PRESCRIBES]) {
        if (ask(model, head->network, OBSERVE, 0.0, &done) != OK) return ERROR;
        const double before = at(model, head->whole)[head->kinetic];
        memcpy(reel + head->reel_held, held, sizeof held);
        if (ask(model, head->network, OBSERVE, 0.0, &done) != OK) return ERROR;
        const double work = at(model, head->whole)[head->kinetic] - before;
        if (ask(model, head->network, RELEASE, 0.0, &done) != OK) return ERROR;
        memcpy(reel + head->reel_held, held, sizeof held);
        reel[head->reel_control_work] += work;
    }
    reel[head->reel_torque] = row[REEL_FINDS_TORQUE] ? NAN : number(row[REEL_TORQUE]);
    if (row[REEL_MODE] == MODE_BY_TORQUE) set_torque(model, row, at(model, head->inputs)[row[REEL_INPUT]]);
    return OK;
}

static void put_forces(Model *model) {
    for (int64_t i = 0; i < model->head.forced_count; i++) {
        const int64_t *row = row_of(model, model->head.forced, i, FORCED_SIZE);
        *at(model, row[FORCED_PLACE]) = at(model, model->head.inputs)[row[FORCED_INPUT]];
    }
}

/* Let bodies move with the velocities of the inputs, from where they are; at the start from where their paths begin. */
static void put_velocities(Model *model, bool begins) {
    for (int64_t i = 0; i < model->head.moved_count; i++) {
        const int64_t *row = row_of(model, model->head.moved, i, MOVED_SIZE);
        double *path = at(model, row[MOVED_PATH]);
        const double *velocity = at(model, model->head.inputs) + row[MOVED_INPUT], *place = at(model, row[MOVED_PLACE]);
        if (velocity[0] == path[2] && velocity[1] == path[6] && velocity[2] == path[10]) continue;
        path[0] = counted_time(model);
        for (int k = 0; k < 3; k++) {
            if (!begins) path[1 + 4 * k] = place[k];
            path[2 + 4 * k] = velocity[k];
        }
    }
}

static void note_impulses(Model *model, double passed) {
    for (int64_t i = 0; i < model->head.carrier_count; i++) {
        const int64_t *row = row_of(model, model->head.carriers, i, CARRIER_SIZE);
        const double *given = at(model, row[CARRIER_GIVEN]);
        double *before = at(model, row[CARRIER_BEFORE]), *force = at(model, row[CARRIER_FORCE]);
        for (int k = 0; k < 3; k++) {
            force[k] = passed > 0.0 ? (before[k] - given[k]) / passed : 0.0;
            before[k] = given[k];
        }
    }
}

static void flag(Model *model, int bit) {
    const int64_t flags = (int64_t)state(model)[STATE_FLAGS];
    state(model)[STATE_FLAGS] = (double)(flags | INT64_C(1) << bit);
}

/* Look at the latest sample for what is not to be trusted. */
static void look(Model *model) {
    const Header *head = &model->head;
    double *own = state(model);
    const double error = fabs(kept_energy(model) - own[STATE_KEPT_AT_START]), *ratios = totals(model) + head->ratios;
    own[STATE_BALANCE] = fmax(own[STATE_BALANCE], error);
    if (own[STATE_BALANCE] > number(head->balance_limit) * totals(model)[head->in_play]) flag(model, FLAG_ENERGY_BALANCE);
    const double unresolved = fmax(fmax(ratios[2], ratios[3]), ratios[4]); /* stretching, turning, drum */
    if (!head->adaptive && unresolved > number(head->step_limit)) flag(model, FLAG_STEP);
    for (int64_t i = 0; i < head->span_count; i++) {
        const int64_t *span = row_of(model, head->spans, i, SPAN_SIZE);
        const double *nodes = at(model, span[SPAN_NODES]), l = span_length(model, span) / (double)span[SPAN_ELEMENTS];
        for (int64_t e = 0; span[SPAN_LAW] == LAW_LINEAR && e < span[SPAN_ELEMENTS]; e++) {
            const double *a = nodes + 6 * e, *b = a + 6;
            const double x = b[0] - a[0], y = b[1] - a[1], z = b[2] - a[2];
            if (sqrt(x * x + y * y + z * z) / l - 1.0 < -number(head->compression_limit)) flag(model, FLAG_COMPRESSION);
        }
    }
    for (int64_t i = 0; i < head->reel_count; i++) {
        const int64_t *reel = row_of(model, head->reels, i, REEL_SIZE), *drum = drum_of(model, reel[REEL_DRUM]);
        if (!reel[REEL_PRESCRIBES]) continue;
        const double torque = fabs(*at(model, drum[DRUM_TORQUE]));
        const double power = torque * fabs(*at(model, drum[DRUM_SPEED])) / drum_radius(model, drum);
        if (torque > *at(model, reel[REEL_LIMIT])) flag(model, FLAG_MOTOR_TORQUE);
        if (power > *at(model, reel[REEL_POWER_LIMIT])) flag(model, FLAG_MOTOR_POWER);
    }
}

Level start(Model *model) {
    const Header *head = &model->head;
    Done done;
    if (model->started) return OK;
    const size_t values = (size_t)(head->input_count + head->parameter_count) * sizeof(double);
    double *given = malloc(values + 1), begins = state(model)[STATE_BEGINS];
    if (given == NULL) return tell(model, ERROR, "out of memory");
    memcpy(given, at(model, head->inputs), values); /* parameters lie behind the inputs */
    fill_block(model);
    memcpy(at(model, head->inputs), given, values);
    free(given);
    state(model)[STATE_BEGINS] = begins;
    apply_parameters(model);
    put_forces(model);
    put_velocities(model, true);
    if (ask(model, head->before, BEGIN, 0.0, &done) != OK) return ERROR;
    if (ask(model, head->before, RELEASE, 0.0, &done) != OK) return ERROR;
    for (int64_t i = 0; i < head->reel_count; i++) {
        const int64_t *row = row_of(model, head->reels, i, REEL_SIZE);
        if (row[REEL_FINDS_TORQUE]) reel_array(model, row)[head->reel_stop] = 0.0;
    }
    for (int64_t i = 0; i < head->reel_count; i++)
        if (lead(model, row_of(model, head->reels, i, REEL_SIZE)) != OK) return ERROR;
    if (ask(model, head->network, OBSERVE, 0.0, &done) != OK) return ERROR;
    if (done.status != RUNNING) {
        model->mode = FAILED;
        return tell(model, ERROR, "the start has no velocities that are finite; check parameters and inputs");
    }
    const double *x = at(model, head->whole);
    totals(model)[head->kept_energy] = state(model)[STATE_KEPT_AT_START] = kept_energy(model);
    totals(model)[head->potential] = x[head->elastic] + x[head->gravity];
    totals(model)[head->in_play] = x[head->kinetic];
    note_impulses(model, 0.0);
    look(model);
    model->started = true;
    return OK;
}

/* Base steps of an interval that was not met before. */
static Level count_steps(Model *model, double interval, double *count) {
    const Header *head = &model->head;
    if (!head->adaptive) {
        const double fixed = number(head->fixed_step), ratio = interval / fixed, n = rint(ratio);
        if (!(n >= 1.0 && n < 9007199254740992.0) || fabs(ratio - n) > fmin(number(head->whole_tolerance) * n, 1e-3))
            return tell(model, ERROR, "communicationStepSize: expected a multiple of run.step (%g s), got %.17g s", fixed,
                        interval);
        *count = n;
        return OK;
    }
    Done done;
    if (ask(model, head->network, LIMITS, 0.0, &done) != OK) return ERROR;
    const double stable = number(head->allowed_ratio) * fmin(done.waves, done.force_law);
    const double ratio = interval / fmin(fmin(stable, done.drum), fmin(done.stretching, done.turning));
    if (!(ratio < 9007199254740992.0))
        return tell(model, ERROR, "communicationStepSize: expected fewer than 2^53 steps in it, got %.17g s", interval);
    int64_t needed = ratio > 1.0 ? (int64_t)ceil(ratio) : 1, part = 1;
    while (needed / part >= 8) part *= 2;
    *count = (double)((needed + part - 1) / part);
    return OK;
}

/* Interval to march by, from the time of the host on: one that is known, if that leads to the same time. */
static double interval_of(const Model *model, double time, double step) {
    const double now = time_of(model), target = time + step, *own = state(model);
    const double same = SAME_TIME * step + 8.0 * DBL_EPSILON * fabs(target);
    const int64_t known = (int64_t)fmin(own[STATE_KNOWN], REMEMBERED);
    for (int64_t i = 0; i < known; i++)
        if (fabs(now + own[STATE_INTERVALS + 2 * i] - target) <= same) return own[STATE_INTERVALS + 2 * i];
    return fabs(now - time) <= same ? step : target - now;
}

/* Plan steps for an interval, as Simulation does: base steps of an interval are counted once and kept. */
static Level plan(Model *model, double interval) {
    double *own = state(model), count = 0.0;
    const int64_t met = (int64_t)own[STATE_KNOWN], known = met < REMEMBERED ? met : REMEMBERED;
    for (int64_t i = 0; i < known; i++)
        if (own[STATE_INTERVALS + 2 * i] == interval) count = own[STATE_INTERVALS + 2 * i + 1];
    if (count == 0.0) {
        if (count_steps(model, interval, &count) != OK) return ERROR;
        own[STATE_INTERVALS + 2 * (met % REMEMBERED)] = interval;
        own[STATE_INTERVALS + 2 * (met % REMEMBERED) + 1] = count;
        own[STATE_KNOWN] = (double)(met + 1);
    }
    if (model->head.adaptive && interval / count != own[STATE_STEP]) { /* count from here on */
        totals(model)[model->head.t_start] = counted_time(model);
        clock_of(model)[model->head.step_counter] = 0;
        own[STATE_STEP] = interval / count;
    }
    own[STATE_COUNT] = count;
    return OK;
}

/* Let reels follow their inputs over the step to come. */
static void command_reels(Model *model, double interval) {
    const Header *head = &model->head;
    const double begins = counted_time(model);
    const double ends = totals(model)[head->t_start] +
                        ((double)clock_of(model)[head->step_counter] + state(model)[STATE_COUNT]) * state(model)[STATE_STEP];
    for (int64_t i = 0; i < head->reel_count; i++) {
        const int64_t *row = row_of(model, head->reels, i, REEL_SIZE);
        const double given = row[REEL_INPUT] >= 0 ? at(model, head->inputs)[row[REEL_INPUT]] : 0.0;
        double *now = at(model, row[REEL_NOW]), piece[4] = {now[0], now[1], 0.0, 0.0}, next[4] = {0.0, 0.0, 0.0, 0.0};
        if (row[REEL_MODE] == MODE_BY_TORQUE && given != now[2]) set_torque(model, row, given);
        if (row[REEL_MODE] == MODE_BY_SPEED) { /* the speed goes along a line to the one that is given */
            next[1] = given;
            next[0] = now[0] + interval * (0.5 * (now[1] + given));
            piece[2] = 0.5 * (given - now[1]) / interval;
        } else if (row[REEL_MODE] == MODE_BY_LENGTH) { /* a cubic that ends with the mean speed of the step */
            next[0] = given;
            next[1] = (given - now[0]) / interval;
            piece[2] = 2.0 * (next[1] - now[1]) / interval;
            piece[3] = (now[1] - next[1]) / (interval * interval);
        } else {
            continue;
        }
        put_piece(at(model, row[REEL_PROFILE]), number(row[REEL_LENGTH]), begins, piece);
        put_piece(at(model, row[REEL_PROFILE]) + 9, number(row[REEL_LENGTH]), ends, next);
        now[0] = next[0];
        now[1] = next[1];
    }
}

static const char *sentence(int64_t status) {
    switch (status) {
        case FULLY_RETRIEVED: return "a line is fully retrieved";
        case FULLY_DEPLOYED: return "a line is fully deployed";
        case TWO_BLOCKED: return "a span between two sheaves is too short (two-blocked)";
        case UNSTABLE_STEP: return "the step is too near the stability limit of waves in the lines; use run.step = \"auto\"";
        case NEWTON_FAILED: return "Newton's method did not converge; use smaller communication steps";
        case REEL_OUTRUNS_WAVES: return "a reel is faster than waves in its string";
        default: return "a number was no longer finite; use smaller communication steps and check the inputs";
    }
}

Level do_step(Model *model, double time, double step, double *reached, bool *ended) {
    const Header *head = &model->head;
    double *own = state(model);
    *reached = time_of(model);
    *ended = own[STATE_STOPPED] != 0.0;
    if (!isfinite(time) || !isfinite(step) || !(step > 0.0))
        return tell(model, ERROR, "communicationStepSize: expected a positive number, got %g s at %g s", step, time);
    if (*ended)
        return tell(model, DISCARD, "the motion ended at %.9g s: %s", *reached, sentence((int64_t)own[STATE_STATUS]));
    if (fabs(time - *reached) > 1e-6 * step + SAME_TIME * fmax(1.0, fabs(time)))
        return tell(model, ERROR, "currentCommunicationPoint: expected %.17g s, got %.17g s", *reached, time);
    const double interval = interval_of(model, time, step);
    if (counted_time(model) + interval > number(head->last_time))
        return tell(model, ERROR, "the motions that were exported end at %.9g s; export a case with a longer run.duration",
                    number(head->last_time) + own[STATE_BEGINS]);
    if (plan(model, interval) != OK) return ERROR;
    const double begun = counted_time(model);
    put_forces(model);
    put_velocities(model, false);
    command_reels(model, interval);
    Done done;
    if (ask(model, head->network, MARCH, 0.0, &done) != OK) return ERROR;
    if (done.status == RUNNING) {
        note_impulses(model, counted_time(model) - begun);
        look(model);
        *reached = time_of(model);
        return OK;
    }
    own[STATE_STATUS] = (double)done.status;
    own[STATE_STOPPED] = 1.0;
    *ended = true;
    *reached = time_of(model);
    if (is_located(done.status)) {
        Done observed;
        if (ask(model, head->network, OBSERVE, *reached - own[STATE_BEGINS], &observed) != OK) return ERROR;
        note_impulses(model, *reached - own[STATE_BEGINS] - begun);
        look(model);
        return tell(model, DISCARD, "the motion ended at %.9g s: %s", *reached, sentence(done.status));
    }
    model->mode = FAILED;
    return tell(model, ERROR, "the step from %.9g s on failed: %s", time, sentence(done.status));
}
