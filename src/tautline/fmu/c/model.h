/* An instance of the system: what both versions of the standard are made of. */

#ifndef MODEL_H
#define MODEL_H
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "layout.h"

/* Levels of messages and results, in the order that both versions of the standard give them. */
typedef enum { OK, WARNING, DISCARD, ERROR, FATAL } Level;

/* Modes of an instance, as bits. */
typedef enum { INSTANTIATED = 1, INITIALIZING = 2, STEPPING = 4, TERMINATED = 8, FAILED = 16 } Mode;

typedef struct Model Model;
typedef struct Saved Saved;
typedef void (*Report)(Model *model, Level level, const char *text);
typedef int64_t (*March)(const void *, const void *, const void *, const void *, int64_t, double, int64_t, void *);

struct Saved {
    Saved *next;
    Mode mode;
    double words[];
};

struct Model {
    Mode mode;
    bool started; /* the motion fits inputs and parameters */
    char *name;
    void *host; /* what the host wants to have back with messages */
    void *logger;
    bool logs;
    Report report;
    const char *token; /* that the host gave, while it opens the instance */
    void *library;
    March march;
    Header head;
    void *file, *room; /* what was allocated for the file and for the block */
    double *block; /* where it begins, at a multiple of 64 bytes */
    const double *image; /* the block as it was exported */
    uint64_t digest; /* of the file */
    Saved *saved;
};

/* A new instance, or NULL; what is wrong has been reported then. `resources` is a folder. */
Model *open_model(Model *given, const char *resources);
void close_model(Model *model);
void start_over(Model *model);
/* Words of messages: to the host, with a level. Returns the level. */
Level tell(Model *model, Level level, const char *format, ...) __attribute__((format(printf, 3, 4)));

/* Turn start values into a motion, unless that has been done. */
Level start(Model *model);
/* From the time of the host on by a step; how far it came, and whether the motion has ended. */
Level do_step(Model *model, double time, double step, double *reached, bool *ended);
double time_of(const Model *model);
double case_time(const Model *model);
/* Words that follow from parameters, from the parameters as they are now. */
void apply_parameters(Model *model);
bool has_ended(const Model *model);
/* Times of the host at which the case begins, and up to which it may go on. */
Level set_begin(Model *model, double begins, bool has_end, double end);

/* Variables by their references; those that are integers come as numbers too. */
Level get_value(Model *model, uint64_t reference, bool whole, double *value);
Level set_value(Model *model, uint64_t reference, double value);

Saved *save_state(Model *model);
bool owns_state(const Model *model, const Saved *saved);
void restore_state(Model *model, const Saved *saved);
void forget_state(Model *model, Saved *saved);
size_t state_size(const Model *model);
void write_state(const Model *model, const Saved *saved, void *bytes);
Saved *read_state(Model *model, const void *bytes, size_t size);

/* Tension at the start and at the end of a span (N), from the latest sample. */
double end_tension(const Model *model, const int64_t *span, int end);

static inline double *at(const Model *model, int64_t place) { return model->block + place; }
static inline int64_t *whole_at(const Model *model, int64_t place) { return (int64_t *)(void *)(model->block + place); }
static inline double number(int64_t word) {
    union {
        int64_t word;
        double number;
    } both = {.word = word};
    return both.number;
}
static inline const int64_t *row_of(const Model *model, int64_t table, int64_t row, int columns) {
    return whole_at(model, table) + row * columns;
}
static inline double *state(const Model *model) { return at(model, model->head.state); }
static inline const int64_t *drum_of(const Model *model, int64_t k) { return row_of(model, model->head.drums, k, DRUM_SIZE); }
/* Radius of a drum with the string on it, or of a wheel (m). */
double drum_radius(const Model *model, const int64_t *drum);
/* Unstretched length of a span (m). */
static inline double span_length(const Model *model, const int64_t *span) {
    return *at(model, span[SPAN_LENGTH]) - *at(model, span[SPAN_RETRACTED]);
}
#endif
