/* The functions of FMI 3.0 around an instance; declarations are our own, by the text of the standard. */

#define _GNU_SOURCE
#include <stdlib.h>
#include <string.h>

#include "model.h"

#define FMI(name) fmi3##name
#define OF_STATE(name) fmi3##name##FMUState
#define STATE "FMUState"
#define SERIALIZED_SIZE fmi3SerializedFMUStateSize
#define DESERIALIZE fmi3DeserializeFMUState
#define GET_NUMBERS fmi3GetFloat64
#define GET_INTEGERS fmi3GetInt32
#define SET_NUMBERS fmi3SetFloat64
#define OTHERS , size_t room
#define ROOM room
#define NOT_OFFERED "the FMU is for co-simulation without events"

typedef uint32_t Reference;
typedef int32_t Integer;
typedef bool Flag;
typedef uint8_t Byte;
#include "functions.h"

typedef const uint8_t *Binary;
typedef void (*Logger)(void *host, Level level, String category, String message);
typedef void (*IntermediateUpdate)(void *, double, bool, bool, bool, bool, bool *, double *);
typedef void (*ClockUpdate)(void *host);
typedef void (*Preemption)(void);

static void report(Model *model, Level level, const char *text) {
    Logger logger;
    *(void **)&logger = model->logger;
    logger(model->host, level, CATEGORIES[level], text);
}

EXPORT const char *fmi3GetVersion(void) { return "3.0"; }

EXPORT Instance fmi3InstantiateCoSimulation(String name, String token, String resources, bool visible, bool logs,
                                            bool with_events, bool early_return, const Reference intermediate[],
                                            size_t intermediate_count, void *host, Logger logger,
                                            IntermediateUpdate update) {
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
    return not_offered(logger, host);
}
EXPORT Instance fmi3InstantiateScheduledExecution(String name, String token, String resources, bool visible, bool logs,
                                                  void *host, Logger logger, ClockUpdate update, Preemption lock,
                                                  Preemption unlock) {
    return not_offered(logger, host);
}

EXPORT Level fmi3EnterInitializationMode(Instance instance, bool has_tolerance, double tolerance, double begins,
                                         bool has_end, double end) {
    EXPECT(INSTANTIATED);
    const Level level = set_begin(model, begins, has_end, end);
    if (level == OK) model->mode = INITIALIZING;
    return level;
}

/* Variables of types that there are none of. */
#define NONE_OF_TYPE(word, type)                            \
    NONE_OF(fmi3Get##word, type given[], size_t room)       \
    NONE_OF(fmi3Set##word, const type given[], size_t room)
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
NONE_OF(fmi3SetInt32, const int32_t given[], size_t room)
NONE_OF(fmi3GetBinary, size_t sizes[], Binary given[], size_t room)
NONE_OF(fmi3SetBinary, const size_t sizes[], const Binary given[],
        size_t room)
NONE_OF(fmi3GetClock, bool given[])
NONE_OF(fmi3SetClock, const bool given[])
NONE_OF(fmi3GetIntervalDecimal, double given[], int qualifiers[])
NONE_OF(fmi3GetIntervalFraction, uint64_t given[], uint64_t resolutions[],
        int qualifiers[])
NONE_OF(fmi3GetShiftDecimal, double given[])
NONE_OF(fmi3GetShiftFraction, uint64_t given[], uint64_t resolutions[])
NONE_OF(fmi3SetIntervalDecimal, const double given[])
NONE_OF(fmi3SetIntervalFraction, const uint64_t given[], const uint64_t resolutions[])
NONE_OF(fmi3SetShiftDecimal, const double given[])
NONE_OF(fmi3SetShiftFraction, const uint64_t given[], const uint64_t resolutions[])
NONE_OF(fmi3GetOutputDerivatives, const int32_t orders[], double given[],
        size_t room)

REFUSES(fmi3GetNumberOfVariableDependencies, (Instance instance, Reference reference, size_t *count),
        "providesPerElementDependencies is false")
REFUSES(fmi3GetVariableDependencies,
        (Instance instance, Reference dependent, size_t elements[], Reference independents[], size_t of_independents[],
         int kinds[], size_t count),
        "providesPerElementDependencies is false")
#define DERIVATIVES(function, word)                                                                          \
    REFUSES(function,                                                                                        \
            (Instance instance, const Reference unknowns[], size_t unknown_count, const Reference knowns[],  \
             size_t known_count, const double seed[], size_t seed_count, double sensitivity[],               \
             size_t sensitivity_count),                                                                      \
            word " is false")
DERIVATIVES(fmi3GetDirectionalDerivative, "providesDirectionalDerivatives")
DERIVATIVES(fmi3GetAdjointDerivative, "providesAdjointDerivatives")

EXPORT Level fmi3DoStep(Instance instance, double time, double step, bool never_back, bool *events, bool *terminate,
                        bool *early, double *last) {
    EXPECT(STEPPING);
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
REFUSES(fmi3EnterConfigurationMode, (Instance instance), "there are no structural parameters")
REFUSES(fmi3ExitConfigurationMode, (Instance instance), "there are no structural parameters")
REFUSES(fmi3EnterEventMode, (Instance instance), NOT_OFFERED)
REFUSES(fmi3EnterStepMode, (Instance instance), NOT_OFFERED)
REFUSES(fmi3EvaluateDiscreteStates, (Instance instance), NOT_OFFERED)
REFUSES(fmi3UpdateDiscreteStates,
        (Instance instance, bool *again, bool *terminate, bool *nominals, bool *values, bool *defined, double *next),
        NOT_OFFERED)
REFUSES(fmi3EnterContinuousTimeMode, (Instance instance), NOT_OFFERED)
REFUSES(fmi3CompletedIntegratorStep, (Instance instance, bool never_back, bool *event, bool *terminate), NOT_OFFERED)
REFUSES(fmi3SetTime, (Instance instance, double time), NOT_OFFERED)
REFUSES(fmi3ActivateModelPartition, (Instance instance, Reference clock, double time), NOT_OFFERED)
REFUSES_NUMBERS(fmi3SetContinuousStates, const double x[])
REFUSES_NUMBERS(fmi3GetContinuousStateDerivatives, double x[])
REFUSES_NUMBERS(fmi3GetEventIndicators, double x[])
REFUSES_NUMBERS(fmi3GetContinuousStates, double x[])
REFUSES_NUMBERS(fmi3GetNominalsOfContinuousStates, double x[])
#define COUNTED(function)                                       \
    EXPORT Level function(Instance instance, size_t *count) {   \
        EXPECT(ANY);                                            \
        if (count == NULL) return ERROR;                        \
        *count = 0;                                             \
        return OK;                                              \
    }
COUNTED(fmi3GetNumberOfEventIndicators)
COUNTED(fmi3GetNumberOfContinuousStates)
