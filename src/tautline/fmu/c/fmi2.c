/* The functions of FMI 2.0 around an instance; declarations are our own, by the text of the standard. */

#define _GNU_SOURCE
#include <stdlib.h>
#include <string.h>

#include "model.h"

#define EXPORT __attribute__((visibility("default")))

typedef void *Component;
typedef unsigned int Reference;
typedef int Boolean, Integer;
typedef const char *String;
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

static void report(Model *model, Level level, const char *text) {
    static const char *const categories[] = {"logAll", "logStatusWarning", "logStatusDiscard", "logStatusError",
                                             "logStatusFatal"};
    void (*logger)(void *, String, Level, String, String, ...);
    *(void **)&logger = model->logger;
    logger(model->host, model->name, level, categories[level], "%s", text);
}

/* The instance if it is in one of some modes, else NULL. */
static Model *expect(Component component, int modes, const char *function) {
    Model *model = component;
    if (model != NULL && (model->mode & modes) == 0) {
        tell(model, ERROR, "%s: must not be called in this mode of the FMU", function);
        return NULL;
    }
    return model;
}

#define EXPECT(modes)                                           \
    Model *model = expect(component, modes, __func__);          \
    if (model == NULL) return ERROR
#define REFUSED(why)                                            \
    do {                                                        \
        EXPECT(~0);                                             \
        return tell(model, ERROR, "%s: " why, __func__);        \
    } while (0)

enum { ANY = ~0, RUNNING_MODES = STEPPING | TERMINATED | FAILED };

EXPORT const char *fmi2GetTypesPlatform(void) { return "default"; }
EXPORT const char *fmi2GetVersion(void) { return "2.0"; }

EXPORT Level fmi2SetDebugLogging(Component component, Boolean on, size_t count, const String categories[]) {
    EXPECT(ANY);
    if (count > 0 && categories == NULL) return tell(model, ERROR, "categories: expected %zu, got none", count);
    model->logs = on != 0;
    return OK;
}

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

EXPORT Component fmi2Instantiate(String name, Type type, String guid, String resources, const Callbacks *callbacks,
                                 Boolean visible, Boolean logs) {
    (void)visible;
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

EXPORT void fmi2FreeInstance(Component component) {
    if (component != NULL) close_model(component);
}

EXPORT Level fmi2SetupExperiment(Component component, Boolean has_tolerance, double tolerance, double begins,
                                 Boolean has_end, double end) {
    EXPECT(INSTANTIATED);
    (void)has_tolerance, (void)tolerance;
    return set_begin(model, begins, has_end != 0, end);
}

EXPORT Level fmi2EnterInitializationMode(Component component) {
    EXPECT(INSTANTIATED);
    model->mode = INITIALIZING;
    return OK;
}

EXPORT Level fmi2ExitInitializationMode(Component component) {
    EXPECT(INITIALIZING);
    if (start(model) != OK) return ERROR;
    model->mode = STEPPING;
    return OK;
}

EXPORT Level fmi2Terminate(Component component) {
    EXPECT(STEPPING);
    model->mode = TERMINATED;
    return OK;
}

EXPORT Level fmi2Reset(Component component) {
    EXPECT(ANY);
    start_over(model);
    return OK;
}

static Level missing(Model *model, const void *references, size_t count, const void *values) {
    if (count == 0 || (references != NULL && values != NULL)) return OK;
    return tell(model, ERROR, "expected %zu value references and values, got none", count);
}

EXPORT Level fmi2GetReal(Component component, const Reference references[], size_t count, double values[]) {
    EXPECT(ANY);
    Level level = missing(model, references, count, values);
    for (size_t i = 0; i < count && level == OK; i++) level = get_value(model, references[i], false, values + i);
    return level;
}

EXPORT Level fmi2GetInteger(Component component, const Reference references[], size_t count, Integer values[]) {
    EXPECT(ANY);
    Level level = missing(model, references, count, values);
    for (size_t i = 0; i < count && level == OK; i++) {
        double value = 0.0;
        level = get_value(model, references[i], true, &value);
        if (level == OK) values[i] = (Integer)value;
    }
    return level;
}

EXPORT Level fmi2SetReal(Component component, const Reference references[], size_t count, const double values[]) {
    EXPECT(INSTANTIATED | INITIALIZING | STEPPING);
    Level level = missing(model, references, count, values);
    for (size_t i = 0; i < count && level == OK; i++) level = set_value(model, references[i], values[i]);
    return level;
}

/* Variables of types that there are none of. */
#define NONE_OF(function, values)                                                                             \
    EXPORT Level function(Component component, const Reference references[], size_t count, values) {           \
        EXPECT(ANY);                                                                                           \
        (void)references, (void)given;                                                                         \
        return count == 0 ? OK : tell(model, ERROR, "%s: there is no such variable", __func__);                \
    }
NONE_OF(fmi2GetBoolean, Boolean given[])
NONE_OF(fmi2GetString, String given[])
NONE_OF(fmi2SetInteger, const Integer given[])
NONE_OF(fmi2SetBoolean, const Boolean given[])
NONE_OF(fmi2SetString, const String given[])

EXPORT Level fmi2GetFMUstate(Component component, void **saved) {
    EXPECT(ANY);
    if (saved == NULL) return tell(model, ERROR, "FMUstate: expected a place for it, got none");
    if (*saved != NULL && !owns_state(model, *saved))
        return tell(model, ERROR, "FMUstate: expected NULL or a state of this instance, got another");
    Saved *made = save_state(model);
    if (made == NULL) return ERROR;
    if (*saved != NULL) forget_state(model, *saved);
    *saved = made;
    return OK;
}

static Level unknown(Model *model) { return tell(model, ERROR, "FMUstate: expected a state of this instance, got another"); }

EXPORT Level fmi2SetFMUstate(Component component, void *saved) {
    EXPECT(ANY);
    if (!owns_state(model, saved)) return unknown(model);
    restore_state(model, saved);
    return OK;
}

EXPORT Level fmi2FreeFMUstate(Component component, void **saved) {
    EXPECT(ANY);
    if (saved == NULL || *saved == NULL) return OK;
    if (!owns_state(model, *saved)) return unknown(model);
    forget_state(model, *saved);
    *saved = NULL;
    return OK;
}

EXPORT Level fmi2SerializedFMUstateSize(Component component, void *saved, size_t *size) {
    EXPECT(ANY);
    if (!owns_state(model, saved) || size == NULL) return unknown(model);
    *size = state_size(model);
    return OK;
}

EXPORT Level fmi2SerializeFMUstate(Component component, void *saved, char bytes[], size_t size) {
    EXPECT(ANY);
    if (!owns_state(model, saved)) return unknown(model);
    if (bytes == NULL || size < state_size(model))
        return tell(model, ERROR, "serializedState: expected room for %zu bytes, got %zu", state_size(model), size);
    write_state(model, saved, bytes);
    return OK;
}

EXPORT Level fmi2DeSerializeFMUstate(Component component, const char bytes[], size_t size, void **saved) {
    EXPECT(ANY);
    if (bytes == NULL || saved == NULL) return tell(model, ERROR, "serializedState: expected bytes, got none");
    Saved *read = read_state(model, bytes, size);
    if (read == NULL) return ERROR;
    *saved = read;
    return OK;
}

EXPORT Level fmi2GetDirectionalDerivative(Component component, const Reference unknowns[], size_t unknown_count,
                                          const Reference knowns[], size_t known_count, const double seed[],
                                          double sensitivity[]) {
    (void)unknowns, (void)unknown_count, (void)knowns, (void)known_count, (void)seed, (void)sensitivity;
    REFUSED("providesDirectionalDerivative is false");
}

EXPORT Level fmi2SetRealInputDerivatives(Component component, const Reference references[], size_t count,
                                         const Integer orders[], const double values[]) {
    (void)references, (void)count, (void)orders, (void)values;
    REFUSED("canInterpolateInputs is false");
}

EXPORT Level fmi2GetRealOutputDerivatives(Component component, const Reference references[], size_t count,
                                          const Integer orders[], double values[]) {
    (void)references, (void)count, (void)orders, (void)values;
    REFUSED("maxOutputDerivativeOrder is 0");
}

EXPORT Level fmi2DoStep(Component component, double time, double step, Boolean never_back) {
    EXPECT(STEPPING);
    (void)never_back;
    double reached;
    bool ended;
    return do_step(model, time, step, &reached, &ended);
}

EXPORT Level fmi2CancelStep(Component component) { REFUSED("canRunAsynchronuously is false"); }

EXPORT Level fmi2GetStatus(Component component, const StatusKind kind, Level *value) {
    (void)kind, (void)value;
    REFUSED("no step is pending");
}

EXPORT Level fmi2GetRealStatus(Component component, const StatusKind kind, double *value) {
    EXPECT(RUNNING_MODES);
    if (kind != LAST_SUCCESSFUL_TIME || value == NULL) return tell(model, ERROR, "s: expected fmi2LastSuccessfulTime");
    *value = time_of(model);
    return OK;
}

EXPORT Level fmi2GetIntegerStatus(Component component, const StatusKind kind, Integer *value) {
    (void)kind, (void)value;
    REFUSED("there is no such status");
}

EXPORT Level fmi2GetBooleanStatus(Component component, const StatusKind kind, Boolean *value) {
    EXPECT(RUNNING_MODES);
    if (kind != HAS_TERMINATED || value == NULL) return tell(model, ERROR, "s: expected fmi2Terminated");
    *value = has_ended(model);
    return OK;
}

EXPORT Level fmi2GetStringStatus(Component component, const StatusKind kind, String *value) {
    (void)kind, (void)value;
    REFUSED("no step is pending");
}

/* Model exchange, which the FMU does not offer. */
#define NO_MODEL_EXCHANGE REFUSED("the FMU is for co-simulation")
EXPORT Level fmi2EnterEventMode(Component component) { NO_MODEL_EXCHANGE; }
EXPORT Level fmi2NewDiscreteStates(Component component, EventInfo *info) {
    (void)info;
    NO_MODEL_EXCHANGE;
}
EXPORT Level fmi2EnterContinuousTimeMode(Component component) { NO_MODEL_EXCHANGE; }
EXPORT Level fmi2CompletedIntegratorStep(Component component, Boolean never_back, Boolean *event, Boolean *terminate) {
    (void)never_back, (void)event, (void)terminate;
    NO_MODEL_EXCHANGE;
}
EXPORT Level fmi2SetTime(Component component, double time) {
    (void)time;
    NO_MODEL_EXCHANGE;
}
#define OF_NUMBERS(function, numbers)                                       \
    EXPORT Level function(Component component, numbers, size_t count) {     \
        (void)x, (void)count;                                               \
        NO_MODEL_EXCHANGE;                                                  \
    }
OF_NUMBERS(fmi2SetContinuousStates, const double x[])
OF_NUMBERS(fmi2GetDerivatives, double x[])
OF_NUMBERS(fmi2GetEventIndicators, double x[])
OF_NUMBERS(fmi2GetContinuousStates, double x[])
OF_NUMBERS(fmi2GetNominalsOfContinuousStates, double x[])
