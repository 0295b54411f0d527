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
    double waves, stretching, turning;
    double more[10];
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

static double *state(const Model *model) { return at(model, model->head.state); }
static double *totals(const Model *model) { return at(model, model->head.totals); }
static int64_t *clock_of(const Model *model) { return whole_at(model, model->head.clock); }

static const int64_t *row_of(const Model *model, int64_t table, int64_t row, int columns) {
    return whole_at(model, table) + row * columns;
}

static double counted_time(const Model *model) {
    return totals(model)[model->head.t_start] + (double)clock_of(model)[model->head.step_counter] * state(model)[STATE_STEP];
}

double time_of(const Model *model) {
    const int status = (int)state(model)[STATE_STATUS];
    const bool located = status == FULLY_RETRIEVED || status == FULLY_DEPLOYED;
    return state(model)[STATE_BEGINS] + (located ? totals(model)[model->head.stop_time] : counted_time(model));
}

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

/* Words that follow from parameters, from the parameters as they are now. */
static void apply_parameters(Model *model) {
    const Header *head = &model->head;
    const double *p = at(model, head->parameters), *p0 = model->image + head->parameters;
    for (int pass = 0; pass < 2; pass++)
        for (int64_t i = 0; i < head->changed_count; i++) {
            const int64_t *row = row_of(model, head->changed, i, CHANGED_SIZE);
            double *word = at(model, row[CHANGED_PLACE]);
            const double now = p[row[CHANGED_PARAMETER]], was = p0[row[CHANGED_PARAMETER]];
            const double first = number(row[CHANGED_FIRST]), second = number(row[CHANGED_SECOND]);
            if (pass == 0)
                *word = model->image[row[CHANGED_PLACE]];
            else if (row[CHANGED_FORM] == FORM_COPY)
                *word = now;
            else if (now != was)
                *word = row[CHANGED_FORM] == FORM_POWER    ? *word * pow(now / was, first)
                        : row[CHANGED_FORM] == FORM_AFFINE ? first + second * now
                                                           : first + second / now;
        }
}

static double kept_energy(const Model *model) {
    const double *x = at(model, model->head.whole), *signs = at(model, model->head.accounts);
    double total = 0.0;
    for (int64_t i = 0; i < model->head.account_count; i++) total += signs[i] * x[i];
    return total;
}

static void set_torque(Model *model, const int64_t *reel, double torque) {
    const double limit = *at(model, reel[REEL_LIMIT]);
    *at(model, reel[REEL_TORQUES]) = torque;
    at(model, reel[REEL_ARRAY])[model->head.reel_torque] = fmin(fmax(torque, -limit), limit);
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
    double *reel = at(model, row[REEL_ARRAY]), *now = at(model, row[REEL_NOW]);
    const double held[3] = {number(head->prescribed), number(row[REEL_SPEED]), number(row[REEL_ACCELERATION])};
    Done done;
    if (row[REEL_MODE] == MODE_BY_SPEED || row[REEL_MODE] == MODE_BY_LENGTH) {
        const double pieces[4] = {now[0], now[1], 0.0, 0.0}, L = *at(model, row[REEL_LENGTH]);
        put_piece(at(model, row[REEL_PROFILE]), L, 0.0, pieces);
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
    if (!head->adaptive && fmax(ratios[1], ratios[2]) > number(head->step_limit)) flag(model, FLAG_STEP);
    for (int64_t i = 0; i < head->line_count; i++) {
        const int64_t *line = row_of(model, head->lines, i, LINE_SIZE);
        const double *nodes = at(model, line[LINE_NODES]);
        const double l = (*at(model, line[LINE_LENGTH]) - *at(model, line[LINE_REELED])) / (double)line[LINE_ELEMENTS];
        for (int64_t e = 0; line[LINE_LAW] == LAW_LINEAR && e < line[LINE_ELEMENTS]; e++) {
            const double *a = nodes + 6 * e, *b = a + 6;
            const double x = b[0] - a[0], y = b[1] - a[1], z = b[2] - a[2];
            if (sqrt(x * x + y * y + z * z) / l - 1.0 < -number(head->compression_limit)) flag(model, FLAG_COMPRESSION);
        }
    }
    for (int64_t i = 0; i < head->reel_count; i++) {
        const int64_t *reel = row_of(model, head->reels, i, REEL_SIZE);
        const int64_t *line = row_of(model, head->lines, reel[REEL_LINE], LINE_SIZE);
        if (!reel[REEL_PRESCRIBES]) continue;
        const double torque = fabs(*at(model, line[LINE_TORQUE]));
        const double power = torque * fabs(*at(model, line[LINE_SPEED])) / drum_radius(model, line);
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
        if (row[REEL_FINDS_TORQUE]) at(model, row[REEL_ARRAY])[head->reel_stop] = 0.0;
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
    const double ratio = interval / fmin(number(head->allowed_ratio) * done.waves, fmin(done.stretching, done.turning));
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
        put_piece(at(model, row[REEL_PROFILE]), *at(model, row[REEL_LENGTH]), begins, piece);
        put_piece(at(model, row[REEL_PROFILE]) + 9, *at(model, row[REEL_LENGTH]), ends, next);
        now[0] = next[0];
        now[1] = next[1];
    }
}

static const char *sentence(int64_t status) {
    switch (status) {
        case FULLY_RETRIEVED: return "a line is fully retrieved";
        case FULLY_DEPLOYED: return "a line is fully deployed";
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
    const bool at_end = done.status == FULLY_RETRIEVED || done.status == FULLY_DEPLOYED;
    if (at_end) {
        Done observed;
        if (ask(model, head->network, OBSERVE, *reached - own[STATE_BEGINS], &observed) != OK) return ERROR;
        note_impulses(model, *reached - own[STATE_BEGINS] - begun);
        look(model);
        return tell(model, DISCARD, "the motion ended at %.9g s: %s", *reached, sentence(done.status));
    }
    model->mode = FAILED;
    return tell(model, ERROR, "the step from %.9g s on failed: %s", time, sentence(done.status));
}

static double flags_now(const Model *model) {
    int64_t flags = (int64_t)state(model)[STATE_FLAGS];
    for (int64_t i = 0; i < model->head.reel_count; i++) {
        const int64_t *row = row_of(model, model->head.reels, i, REEL_SIZE);
        if (at(model, row[REEL_ARRAY])[model->head.reel_stop] != 0.0) flags |= INT64_C(1) << FLAG_END_STOP;
    }
    return (double)flags;
}

Level get_value(Model *model, uint64_t reference, bool whole, double *value) {
    const Header *head = &model->head;
    if (reference >= (uint64_t)head->variable_count)
        return tell(model, ERROR, "valueReference: expected less than %lld, got %llu", (long long)head->variable_count,
                    (unsigned long long)reference);
    const int64_t *row = row_of(model, head->variables, (int64_t)reference, VARIABLE_SIZE);
    if ((row[VARIABLE_WHOLE] != 0) != whole)
        return tell(model, ERROR, "valueReference: %llu is of another type", (unsigned long long)reference);
    const int64_t kind = row[VARIABLE_KIND], first = row[VARIABLE_FIRST];
    if (kind == KIND_INPUT || kind == KIND_PARAMETER) {
        *value = at(model, kind == KIND_INPUT ? head->inputs : head->parameters)[first];
        return OK;
    }
    if (model->mode == INSTANTIATED)
        return tell(model, ERROR, "valueReference: %llu has no value before the initialization",
                    (unsigned long long)reference);
    if (model->mode == INITIALIZING && start(model) != OK) return ERROR;
    const int64_t *line = row_of(model, head->lines, first, LINE_SIZE);
    switch (kind) {
        case KIND_TIME: *value = time_of(model); break;
        case KIND_WORD: *value = *at(model, first); break;
        case KIND_DEPLOYED: *value = *at(model, line[LINE_LENGTH]) - *at(model, line[LINE_REELED]); break;
        case KIND_START_TENSION: *value = end_tension(model, line, 0); break;
        case KIND_END_TENSION: *value = end_tension(model, line, 1); break;
        case KIND_POWER:
            *value = *at(model, line[LINE_TORQUE]) * *at(model, line[LINE_SPEED]) / drum_radius(model, line) + 0.0;
            break;
        case KIND_TOTAL_ENERGY: {
            const double *x = at(model, head->whole);
            *value = x[head->kinetic] + x[head->elastic] + x[head->gravity];
            break;
        }
        case KIND_WARNINGS: *value = flags_now(model); break;
        default: *value = state(model)[STATE_STATUS];
    }
    return OK;
}

Level set_value(Model *model, uint64_t reference, double value) {
    const Header *head = &model->head;
    const int64_t *row = reference < (uint64_t)head->variable_count
                             ? row_of(model, head->variables, (int64_t)reference, VARIABLE_SIZE)
                             : NULL;
    if (row == NULL || (row[VARIABLE_KIND] != KIND_INPUT && row[VARIABLE_KIND] != KIND_PARAMETER))
        return tell(model, ERROR, "valueReference: expected an input or a parameter, got %llu",
                    (unsigned long long)reference);
    if (!isfinite(value))
        return tell(model, ERROR, "valueReference %llu: expected a finite number, got %g", (unsigned long long)reference, value);
    const int64_t first = row[VARIABLE_FIRST];
    if (row[VARIABLE_KIND] == KIND_PARAMETER) {
        if (model->mode != INSTANTIATED && model->mode != INITIALIZING)
            return tell(model, ERROR, "valueReference %llu: a parameter is fixed after the initialization",
                        (unsigned long long)reference);
        const double least = number(row[VARIABLE_LEAST]);
        if (row[VARIABLE_OPEN] ? !(value > least) : !(value >= least))
            return tell(model, ERROR, "valueReference %llu: expected a number %s %g, got %g", (unsigned long long)reference,
                        row[VARIABLE_OPEN] ? "above" : "of at least", least, value);
    }
    double *place = at(model, row[VARIABLE_KIND] == KIND_INPUT ? head->inputs : head->parameters) + first;
    if (*place != value) {
        *place = value;
        if (model->mode == INITIALIZING) model->started = false;
    }
    return OK;
}

/* Words before those of a serialized state: what it is, of which FMU, how long, in which mode; and a digest behind. */
enum { SERIAL_MAGIC, SERIAL_MODEL, SERIAL_WORDS, SERIAL_MODE, SERIAL_HEAD };

static Saved *new_state(Model *model) {
    Saved *saved = malloc(sizeof *saved + (size_t)model->head.kept * sizeof(double));
    if (saved == NULL) {
        tell(model, ERROR, "out of memory");
        return NULL;
    }
    saved->next = model->saved;
    model->saved = saved;
    return saved;
}

Saved *save_state(Model *model) {
    Saved *saved = new_state(model);
    if (saved == NULL) return NULL;
    saved->mode = model->mode;
    memcpy(saved->words, model->block, (size_t)model->head.kept * sizeof(double));
    return saved;
}

bool owns_state(const Model *model, const Saved *saved) {
    for (const Saved *own = model->saved; own != NULL; own = own->next)
        if (own == saved) return true;
    return false;
}

void restore_state(Model *model, const Saved *saved) {
    model->mode = saved->mode;
    memcpy(model->block, saved->words, (size_t)model->head.kept * sizeof(double));
    apply_parameters(model);
    model->started = (saved->mode & (INSTANTIATED | INITIALIZING)) == 0;
}

void forget_state(Model *model, Saved *saved) {
    for (Saved **own = &model->saved; *own != NULL; own = &(*own)->next)
        if (*own == saved) {
            *own = saved->next;
            free(saved);
            return;
        }
}

size_t state_size(const Model *model) { return ((size_t)model->head.kept + SERIAL_HEAD + 1) * sizeof(double); }

void write_state(const Model *model, const Saved *saved, void *bytes) {
    const uint64_t head[SERIAL_HEAD] = {(uint64_t)IMAGE_MAGIC + 1, model->digest, (uint64_t)model->head.kept,
                                        (uint64_t)saved->mode};
    const size_t size = state_size(model) - sizeof(double);
    memcpy(bytes, head, sizeof head);
    memcpy((char *)bytes + sizeof head, saved->words, (size_t)model->head.kept * sizeof(double));
    const uint64_t digest = digest_of(bytes, size);
    memcpy((char *)bytes + size, &digest, sizeof digest);
}

Saved *read_state(Model *model, const void *bytes, size_t size) {
    uint64_t head[SERIAL_HEAD], digest;
    if (size != state_size(model)) {
        tell(model, ERROR, "serializedState: expected %zu bytes, got %zu", state_size(model), size);
        return NULL;
    }
    memcpy(head, bytes, sizeof head);
    memcpy(&digest, (const char *)bytes + size - sizeof digest, sizeof digest);
    if (head[SERIAL_MAGIC] != (uint64_t)IMAGE_MAGIC + 1 || head[SERIAL_MODEL] != model->digest ||
        digest != digest_of(bytes, size - sizeof digest)) {
        tell(model, ERROR, "serializedState: expected a state of this FMU, got one of another, or a damaged one");
        return NULL;
    }
    Saved *saved = new_state(model);
    if (saved == NULL) return NULL;
    saved->mode = (Mode)head[SERIAL_MODE];
    memcpy(saved->words, (const char *)bytes + sizeof head, (size_t)model->head.kept * sizeof(double));
    return saved;
}
