/* The functions of FMI 2.0 around an instance; declarations are our own, by the text of the standard. */

#define _GNU_SOURCE
#include <stdlib.h>
#include <string.h>

#include "model.h"

#define FMI(name) fmi2##name
#define OF_STATE(name) fmi2##name##FMUstate
#define STATE "FMUstate"
#define SERIALIZED_SIZE fmi2SerializedFMUstateSize
#define DESERIALIZE fmi2DeSerializeFMUstate
#define GET_NUMBERS fmi2GetReal
#define GET_INTEGERS fmi2GetInteger
#define SET_NUMBERS fmi2SetReal
#define OTHERS /* there is no number of values beside that of references */
#define ROOM count
#define NOT_OFFERED "the FMU is for co-simulation"

typedef unsigned int Reference;
typedef int Boolean, Integer;
typedef Boolean Flag;
typedef char Byte;
#include "functions.h"
typedef enum { MODEL_EXCHANGE, CO_SIMULATION } Type;
typedef enum { DO_STEP_STATUS, PENDING_STATUS, LAST_SUCCESSFUL_TIME, HAS_TERMINATED } StatusKind;
typedef struct {
    void (*logger)(void *host, String name, Level level, String category, String message, ...);
    void *(*allocate)(size_t count, size_t size);
    void (*free)(void *memory);
    void (*step_finished)(void *host, Level level);
    void *host;
} Callbacks;
typedef struct {
    Boolean new_discrete_states, terminate, nominals_changed, values_changed, next_event_defined;
    double next_event;
} EventInfo;

enum { RUNNING_MODES = STEPPING | TERMINATED | FAILED };

static void report(Model *model, Level level, const char *text) {
    void (*logger)(void *, String, Level, String, String, ...);
    *(void **)&logger = model->logger;
    logger(model->host, model->name, level, CATEGORIES[level], "%s", text);
}

EXPORT const char *fmi2GetTypesPlatform(void) { return "default"; }
EXPORT const char *fmi2GetVersion(void) { return "2.0"; }

static int digit(char letter) {
    if (letter >= '0' && letter <= '9') return letter - '0';
    letter |= 32;
    return letter >= 'a' && letter <= 'f' ? letter - 'a' + 10 : -1;
}

/* Folder of a URI such as file:///tmp/a%20b/resources, to be freed; a plain path stays. */
static char *folder_of(const char *uri) {
    if (strncmp(uri, "file:", 5) == 0) {
        uri += 5;
        if (strncmp(uri, "//", 2) == 0) {
            uri += 2;
            while (*uri != 0 && *uri != '/') uri++; /* the name of a host */
        }
    }
    char *path = malloc(strlen(uri) + 1), *end = path;
    if (path == NULL) return NULL;
    for (; *uri != 0; uri++) {
        const bool coded = *uri == '%' && digit(uri[1]) >= 0 && digit(uri[2]) >= 0;
        *end++ = coded ? (char)(16 * digit(uri[1]) + digit(uri[2])) : *uri;
        if (coded) uri += 2;
    }
    *end = 0;
    return path;
}

EXPORT Instance fmi2Instantiate(String name, Type type, String guid, String resources, const Callbacks *callbacks,
                                 Boolean visible, Boolean logs) {
    if (callbacks == NULL || callbacks->logger == NULL) return NULL;
    Model *model = calloc(1, sizeof *model);
    if (model == NULL) return NULL;
    *(void **)&model->logger = *(void *const *)&callbacks->logger;
    model->host = callbacks->host;
    model->report = report;
    model->logs = logs != 0;
    model->name = strdup(name == NULL ? "" : name);
    const char *wrong = model->name == NULL || *model->name == 0 ? "instanceName: expected a name, got none"
                        : type != CO_SIMULATION                  ? "fmuType: expected co-simulation, got another"
                        : guid == NULL                           ? "fmuGUID: expected that of the FMU, got none"
                        : resources == NULL ? "fmuResourceLocation: expected a URI, got none"
                                            : NULL;
    char *folder = wrong == NULL ? folder_of(resources) : NULL;
    if (folder == NULL) {
        tell(model, ERROR, "%s", wrong == NULL ? "out of memory" : wrong);
        close_model(model);
        return NULL;
    }
    model->token = guid;
    model = open_model(model, folder);
    free(folder);
    return model;
}

EXPORT Level fmi2SetupExperiment(Instance instance, Boolean has_tolerance, double tolerance, double begins,
                                 Boolean has_end, double end) {
    EXPECT(INSTANTIATED);
    return set_begin(model, begins, has_end != 0, end);
}

EXPORT Level fmi2EnterInitializationMode(Instance instance) {
    EXPECT(INSTANTIATED);
    model->mode = INITIALIZING;
    return OK;
}

NONE_OF(fmi2GetBoolean, Boolean given[])
NONE_OF(fmi2GetString, String given[])
NONE_OF(fmi2SetInteger, const Integer given[])
NONE_OF(fmi2SetBoolean, const Boolean given[])
NONE_OF(fmi2SetString, const String given[])

REFUSES(fmi2GetDirectionalDerivative,
        (Instance instance, const Reference unknowns[], size_t unknown_count, const Reference knowns[],
         size_t known_count, const double seed[], double sensitivity[]),
        "providesDirectionalDerivative is false")
REFUSES(fmi2SetRealInputDerivatives,
        (Instance instance, const Reference references[], size_t count, const Integer orders[], const double values[]),
        "canInterpolateInputs is false")
REFUSES(fmi2GetRealOutputDerivatives,
        (Instance instance, const Reference references[], size_t count, const Integer orders[], double values[]),
        "maxOutputDerivativeOrder is 0")

EXPORT Level fmi2DoStep(Instance instance, double time, double step, Boolean never_back) {
    EXPECT(STEPPING);
    double reached;
    bool ended;
    return do_step(model, time, step, &reached, &ended);
}

REFUSES(fmi2CancelStep, (Instance instance), "canRunAsynchronuously is false")
REFUSES(fmi2GetStatus, (Instance instance, const StatusKind kind, Level *value), "no step is pending")
REFUSES(fmi2GetIntegerStatus, (Instance instance, const StatusKind kind, Integer *value), "there is no such status")
REFUSES(fmi2GetStringStatus, (Instance instance, const StatusKind kind, String *value), "no step is pending")

EXPORT Level fmi2GetRealStatus(Instance instance, const StatusKind kind, double *value) {
    EXPECT(RUNNING_MODES);
    if (kind != LAST_SUCCESSFUL_TIME || value == NULL) return tell(model, ERROR, "%s: expected fmi2LastSuccessfulTime", __func__);
    *value = time_of(model);
    return OK;
}

EXPORT Level fmi2GetBooleanStatus(Instance instance, const StatusKind kind, Boolean *value) {
    EXPECT(RUNNING_MODES);
    if (kind != HAS_TERMINATED || value == NULL) return tell(model, ERROR, "%s: expected fmi2Terminated", __func__);
    *value = has_ended(model);
    return OK;
}

/* Model exchange, which the FMU does not offer. */
REFUSES(fmi2EnterEventMode, (Instance instance), NOT_OFFERED)
REFUSES(fmi2NewDiscreteStates, (Instance instance, EventInfo *info), NOT_OFFERED)
REFUSES(fmi2EnterContinuousTimeMode, (Instance instance), NOT_OFFERED)
REFUSES(fmi2CompletedIntegratorStep, (Instance instance, Boolean never_back, Boolean *event, Boolean *terminate),
        NOT_OFFERED)
REFUSES(fmi2SetTime, (Instance instance, double time), NOT_OFFERED)
REFUSES_NUMBERS(fmi2SetContinuousStates, const double x[])
REFUSES_NUMBERS(fmi2GetDerivatives, double x[])
REFUSES_NUMBERS(fmi2GetEventIndicators, double x[])
REFUSES_NUMBERS(fmi2GetContinuousStates, double x[])
REFUSES_NUMBERS(fmi2GetNominalsOfContinuousStates, double x[])
