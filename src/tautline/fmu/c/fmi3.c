/* The functions of FMI 3.0 around an instance; declarations are our own, by the text of the standard. */

#define _GNU_SOURCE
#include <stdlib.h>
#include <string.h>

#include "model.h"

#define EXPORT __attribute__((visibility("default")))

typedef void *Instance;
typedef uint32_t Reference;
typedef const char *String;
typedef const uint8_t *Binary;
typedef void (*Logger)(void *host, Level level, String category, String message);
typedef void (*IntermediateUpdate)(void *, double, bool, bool, bool, bool, bool *, double *);
typedef void (*ClockUpdate)(void *host);
typedef void (*Preemption)(void);

static void report(Model *model, Level level, const char *text) {
    static const char *const categories[] = {"logAll", "logStatusWarning", "logStatusDiscard", "logStatusError",
                                             "logStatusFatal"};
    Logger logger;
    *(void **)&logger = model->logger;
    logger(model->host, level, categories[level], text);
}

static Model *expect(Instance instance, int modes, const char *function) {
    Model *model = instance;
    if (model != NULL && (model->mode & modes) == 0) {
        tell(model, ERROR, "%s: must not be called in this mode of the FMU", function);
        return NULL;
    }
    return model;
}

#define EXPECT(modes)                                           \
    Model *model = expect(instance, modes, __func__);           \
    if (model == NULL) return ERROR
#define REFUSED(why)                                            \
    do {                                                        \
        EXPECT(~0);                                             \
        return tell(model, ERROR, "%s: " why, __func__);        \
    } while (0)

enum { ANY = ~0 };

EXPORT const char *fmi3GetVersion(void) { return "3.0"; }

EXPORT Level fmi3SetDebugLogging(Instance instance, bool on, size_t count, const String categories[]) {
    EXPECT(ANY);
    if (count > 0 && categories == NULL) return tell(model, ERROR, "categories: expected %zu, got none", count);
    model->logs = on;
    return OK;
}

EXPORT Instance fmi3InstantiateCoSimulation(String name, String token, String resources, bool visible, bool logs,
                                            bool with_events, bool early_return, const Reference intermediate[],
                                            size_t intermediate_count, void *host, Logger logger,
                                            IntermediateUpdate update) {
    (void)visible, (void)early_return, (void)intermediate, (void)update;
    Model *model = calloc(1, sizeof *model);
    if (model == NULL) return NULL;
    *(void **)&model->logger = *(void **)&logger;
    model->host = host;
    model->report = logger == NULL ? NULL : report;
    model->logs = logs;
    model->name = strdup(name == NULL ? "" : name);
    const char *wrong = model->name == NULL || *model->name == 0 ? "instanceName: expected a name, got none"
                        : token == NULL     ? "instantiationToken: expected that of the FMU, got none"
                        : resources == NULL ? "resourcePath: expected a folder, got none"
                        : with_events       ? "eventModeUsed: expected false, got true; hasEventMode is false"
                        : intermediate_count > 0
                            ? "requiredIntermediateVariables: expected none; providesIntermediateUpdate is false"
                            : NULL;
    if (wrong != NULL) {
        tell(model, ERROR, "%s", wrong);
        close_model(model);
        return NULL;
    }
    model->token = token;
    return open_model(model, resources);
}

/* Kinds of FMUs that this is not. */
static Instance not_offered(Logger logger, void *host) {
    if (logger != NULL) logger(host, ERROR, "logStatusError", "the FMU is for co-simulation");
    return NULL;
}
EXPORT Instance fmi3InstantiateModelExchange(String name, String token, String resources, bool visible, bool logs,
                                             void *host, Logger logger) {
    (void)name, (void)token, (void)resources, (void)visible, (void)logs;
    return not_offered(logger, host);
}
EXPORT Instance fmi3InstantiateScheduledExecution(String name, String token, String resources, bool visible, bool logs,
                                                  void *host, Logger logger, ClockUpdate update, Preemption lock,
                                                  Preemption unlock) {
    (void)name, (void)token, (void)resources, (void)visible, (void)logs, (void)update, (void)lock, (void)unlock;
    return not_offered(logger, host);
}

EXPORT void fmi3FreeInstance(Instance instance) {
    if (instance != NULL) close_model(instance);
}

EXPORT Level fmi3EnterInitializationMode(Instance instance, bool has_tolerance, double tolerance, double begins,
                                         bool has_end, double end) {
    EXPECT(INSTANTIATED);
    (void)has_tolerance, (void)tolerance;
    const Level level = set_begin(model, begins, has_end, end);
    if (level == OK) model->mode = INITIALIZING;
    return level;
}

EXPORT Level fmi3ExitInitializationMode(Instance instance) {
    EXPECT(INITIALIZING);
    if (start(model) != OK) return ERROR;
    model->mode = STEPPING;
    return OK;
}

EXPORT Level fmi3Terminate(Instance instance) {
    EXPECT(STEPPING);
    model->mode = TERMINATED;
    return OK;
}

EXPORT Level fmi3Reset(Instance instance) {
    EXPECT(ANY);
    start_over(model);
    return OK;
}

static Level missing(Model *model, const void *references, size_t count, const void *values, size_t value_count) {
    if (count == value_count && (count == 0 || (references != NULL && values != NULL))) return OK;
    return tell(model, ERROR, "expected %zu value references and as many values, got %zu", count, value_count);
}

EXPORT Level fmi3GetFloat64(Instance instance, const Reference references[], size_t count, double values[], size_t room) {
    EXPECT(ANY);
    Level level = missing(model, references, count, values, room);
    for (size_t i = 0; i < count && level == OK; i++) level = get_value(model, references[i], false, values + i);
    return level;
}

EXPORT Level fmi3GetInt32(Instance instance, const Reference references[], size_t count, int32_t values[], size_t room) {
    EXPECT(ANY);
    Level level = missing(model, references, count, values, room);
    for (size_t i = 0; i < count && level == OK; i++) {
        double value = 0.0;
        level = get_value(model, references[i], true, &value);
        if (level == OK) values[i] = (int32_t)value;
    }
    return level;
}

EXPORT Level fmi3SetFloat64(Instance instance, const Reference references[], size_t count, const double values[],
                            size_t room) {
    EXPECT(INSTANTIATED | INITIALIZING | STEPPING);
    Level level = missing(model, references, count, values, room);
    for (size_t i = 0; i < count && level == OK; i++) level = set_value(model, references[i], values[i]);
    return level;
}

/* Variables of types that there are none of. */
#define NONE_OF(function, ...)                                                                      \
    EXPORT Level function(Instance instance, const Reference references[], size_t count, __VA_ARGS__) { \
        EXPECT(ANY);                                                                                \
        (void)references, (void)given;                                                              \
        return count == 0 ? OK : tell(model, ERROR, "%s: there is no such variable", __func__);     \
    }
#define NONE_OF_TYPE(word, type)                                                  \
    NONE_OF(fmi3Get##word, type given[], size_t room __attribute__((unused)))     \
    NONE_OF(fmi3Set##word, const type given[], size_t room __attribute__((unused)))
NONE_OF_TYPE(Float32, float)
NONE_OF_TYPE(Int8, int8_t)
NONE_OF_TYPE(UInt8, uint8_t)
NONE_OF_TYPE(Int16, int16_t)
NONE_OF_TYPE(UInt16, uint16_t)
NONE_OF_TYPE(UInt32, uint32_t)
NONE_OF_TYPE(Int64, int64_t)
NONE_OF_TYPE(UInt64, uint64_t)
NONE_OF_TYPE(Boolean, bool)
NONE_OF_TYPE(String, String)
NONE_OF(fmi3SetInt32, const int32_t given[], size_t room __attribute__((unused)))
NONE_OF(fmi3GetBinary, size_t sizes[] __attribute__((unused)), Binary given[], size_t room __attribute__((unused)))
NONE_OF(fmi3SetBinary, const size_t sizes[] __attribute__((unused)), const Binary given[],
        size_t room __attribute__((unused)))
NONE_OF(fmi3GetClock, bool given[])
NONE_OF(fmi3SetClock, const bool given[])
NONE_OF(fmi3GetIntervalDecimal, double given[], int qualifiers[] __attribute__((unused)))
NONE_OF(fmi3GetIntervalFraction, uint64_t given[], uint64_t resolutions[] __attribute__((unused)),
        int qualifiers[] __attribute__((unused)))
NONE_OF(fmi3GetShiftDecimal, double given[])
NONE_OF(fmi3GetShiftFraction, uint64_t given[], uint64_t resolutions[] __attribute__((unused)))
NONE_OF(fmi3SetIntervalDecimal, const double given[])
NONE_OF(fmi3SetIntervalFraction, const uint64_t given[], const uint64_t resolutions[] __attribute__((unused)))
NONE_OF(fmi3SetShiftDecimal, const double given[])
NONE_OF(fmi3SetShiftFraction, const uint64_t given[], const uint64_t resolutions[] __attribute__((unused)))
NONE_OF(fmi3GetOutputDerivatives, const int32_t orders[] __attribute__((unused)), double given[],
        size_t room __attribute__((unused)))

EXPORT Level fmi3GetNumberOfVariableDependencies(Instance instance, Reference reference, size_t *count) {
    (void)reference, (void)count;
    REFUSED("providesPerElementDependencies is false");
}
EXPORT Level fmi3GetVariableDependencies(Instance instance, Reference dependent, size_t elements[], Reference independents[],
                                         size_t of_independents[], int kinds[], size_t count) {
    (void)dependent, (void)elements, (void)independents, (void)of_independents, (void)kinds, (void)count;
    REFUSED("providesPerElementDependencies is false");
}

static Level unknown(Model *model) { return tell(model, ERROR, "FMUState: expected a state of this instance, got another"); }

EXPORT Level fmi3GetFMUState(Instance instance, void **saved) {
    EXPECT(ANY);
    if (saved == NULL) return tell(model, ERROR, "FMUState: expected a place for it, got none");
    if (*saved != NULL && !owns_state(model, *saved)) return unknown(model);
    Saved *made = save_state(model);
    if (made == NULL) return ERROR;
    if (*saved != NULL) forget_state(model, *saved);
    *saved = made;
    return OK;
}

EXPORT Level fmi3SetFMUState(Instance instance, void *saved) {
    EXPECT(ANY);
    if (!owns_state(model, saved)) return unknown(model);
    restore_state(model, saved);
    return OK;
}

EXPORT Level fmi3FreeFMUState(Instance instance, void **saved) {
    EXPECT(ANY);
    if (saved == NULL || *saved == NULL) return OK;
    if (!owns_state(model, *saved)) return unknown(model);
    forget_state(model, *saved);
    *saved = NULL;
    return OK;
}

EXPORT Level fmi3SerializedFMUStateSize(Instance instance, void *saved, size_t *size) {
    EXPECT(ANY);
    if (!owns_state(model, saved) || size == NULL) return unknown(model);
    *size = state_size(model);
    return OK;
}

EXPORT Level fmi3SerializeFMUState(Instance instance, void *saved, uint8_t bytes[], size_t size) {
    EXPECT(ANY);
    if (!owns_state(model, saved)) return unknown(model);
    if (bytes == NULL || size < state_size(model))
        return tell(model, ERROR, "serializedState: expected room for %zu bytes, got %zu", state_size(model), size);
    write_state(model, saved, bytes);
    return OK;
}

EXPORT Level fmi3DeserializeFMUState(Instance instance, const uint8_t bytes[], size_t size, void **saved) {
    EXPECT(ANY);
    if (bytes == NULL || saved == NULL) return tell(model, ERROR, "serializedState: expected bytes, got none");
    Saved *read = read_state(model, bytes, size);
    if (read == NULL) return ERROR;
    *saved = read;
    return OK;
}

#define DERIVATIVES(function, word)                                                                              \
    EXPORT Level function(Instance instance, const Reference unknowns[], size_t unknown_count,                    \
                          const Reference knowns[], size_t known_count, const double seed[], size_t seed_count,   \
                          double sensitivity[], size_t sensitivity_count) {                                       \
        (void)unknowns, (void)unknown_count, (void)knowns, (void)known_count, (void)seed, (void)seed_count;       \
        (void)sensitivity, (void)sensitivity_count;                                                               \
        REFUSED(word " is false");                                                                                \
    }
DERIVATIVES(fmi3GetDirectionalDerivative, "providesDirectionalDerivatives")
DERIVATIVES(fmi3GetAdjointDerivative, "providesAdjointDerivatives")

EXPORT Level fmi3DoStep(Instance instance, double time, double step, bool never_back, bool *events, bool *terminate,
                        bool *early, double *last) {
    EXPECT(STEPPING);
    (void)never_back;
    double reached = time;
    bool ended = false;
    const Level level = do_step(model, time, step, &reached, &ended);
    if (events != NULL) *events = false;
    if (terminate != NULL) *terminate = ended;
    if (early != NULL) *early = false;
    if (last != NULL) *last = reached;
    return level;
}

/* Modes and functions of model exchange, events and scheduled execution, which the FMU does not offer. */
#define NOT_OFFERED REFUSED("the FMU is for co-simulation without events")
EXPORT Level fmi3EnterConfigurationMode(Instance instance) { REFUSED("there are no structural parameters"); }
EXPORT Level fmi3ExitConfigurationMode(Instance instance) { REFUSED("there are no structural parameters"); }
EXPORT Level fmi3EnterEventMode(Instance instance) { NOT_OFFERED; }
EXPORT Level fmi3EnterStepMode(Instance instance) { NOT_OFFERED; }
EXPORT Level fmi3EvaluateDiscreteStates(Instance instance) { NOT_OFFERED; }
EXPORT Level fmi3UpdateDiscreteStates(Instance instance, bool *again, bool *terminate, bool *nominals, bool *values,
                                      bool *defined, double *next) {
    (void)again, (void)terminate, (void)nominals, (void)values, (void)defined, (void)next;
    NOT_OFFERED;
}
EXPORT Level fmi3EnterContinuousTimeMode(Instance instance) { NOT_OFFERED; }
EXPORT Level fmi3CompletedIntegratorStep(Instance instance, bool never_back, bool *event, bool *terminate) {
    (void)never_back, (void)event, (void)terminate;
    NOT_OFFERED;
}
EXPORT Level fmi3SetTime(Instance instance, double time) {
    (void)time;
    NOT_OFFERED;
}
EXPORT Level fmi3ActivateModelPartition(Instance instance, Reference clock, double time) {
    (void)clock, (void)time;
    NOT_OFFERED;
}
#define OF_NUMBERS(function, numbers)                                   \
    EXPORT Level function(Instance instance, numbers, size_t count) {   \
        (void)x, (void)count;                                           \
        NOT_OFFERED;                                                    \
    }
OF_NUMBERS(fmi3SetContinuousStates, const double x[])
OF_NUMBERS(fmi3GetContinuousStateDerivatives, double x[])
OF_NUMBERS(fmi3GetEventIndicators, double x[])
OF_NUMBERS(fmi3GetContinuousStates, double x[])
OF_NUMBERS(fmi3GetNominalsOfContinuousStates, double x[])
#define COUNTED(function)                                       \
    EXPORT Level function(Instance instance, size_t *count) {   \
        EXPECT(ANY);                                            \
        if (count == NULL) return ERROR;                        \
        *count = 0;                                             \
        return OK;                                              \
    }
COUNTED(fmi3GetNumberOfEventIndicators)
COUNTED(fmi3GetNumberOfContinuousStates)
