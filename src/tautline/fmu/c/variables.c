/* Variables by their references: what the kernels wrote, what follows from it, inputs and parameters. */

#include <math.h>

#include "model.h"

static double flags_now(const Model *model) {
    int64_t flags = (int64_t)state(model)[STATE_FLAGS];
    for (int64_t i = 0; i < model->head.drum_count; i++) {
        const int64_t *drum = drum_of(model, i);
        const double *reel = at(model, drum[DRUM_ARRAY]);
        if (reel[model->head.reel_stop] != 0.0) flags |= INT64_C(1) << FLAG_END_STOP;
        if (drum[DRUM_SLIPS] && reel[model->head.reel_slipped] != 0.0) flags |= INT64_C(1) << FLAG_SLIP;
    }
    return (double)flags;
}

static double deployed(const Model *model, const int64_t *line) {
    double total = 0.0;
    for (int64_t i = 0; i < line[LINE_SPAN_COUNT]; i++)
        total += span_length(model, row_of(model, model->head.spans, line[LINE_FIRST_SPAN] + i, SPAN_SIZE));
    return total;
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
    switch (kind) {
        case KIND_TIME: *value = time_of(model); break;
        case KIND_WORD: *value = *at(model, first); break;
        case KIND_DEPLOYED: *value = deployed(model, row_of(model, head->lines, first, LINE_SIZE)); break;
        case KIND_SPAN_LENGTH: *value = span_length(model, row_of(model, head->spans, first, SPAN_SIZE)); break;
        case KIND_START_TENSION: *value = end_tension(model, row_of(model, head->spans, first, SPAN_SIZE), 0); break;
        case KIND_END_TENSION: *value = end_tension(model, row_of(model, head->spans, first, SPAN_SIZE), 1); break;
        case KIND_POWER: {
            const int64_t *drum = drum_of(model, first);
            *value = *at(model, drum[DRUM_TORQUE]) * *at(model, drum[DRUM_SPEED]) / drum_radius(model, drum) + 0.0;
            break;
        }
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
