/* Functions that both versions of the standard have, each of which includes this with its own names and types: FMI(name),
   OF_STATE(name), STATE, SERIALIZED_SIZE, DESERIALIZE, GET_NUMBERS, GET_INTEGERS, SET_NUMBERS; Reference, Integer, Flag,
   Byte; OTHERS, behind values that have a number of their own, ROOM; NOT_OFFERED, why modes and functions are refused. */

#define EXPORT __attribute__((visibility("default")))

typedef void *Instance;
typedef const char *String;

static const char *const CATEGORIES[] = {"logAll", "logStatusWarning", "logStatusDiscard", "logStatusError",
                                         "logStatusFatal"};

/* The instance if it is in one of some modes, else NULL. */
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
        EXPECT(ANY);                                            \
        return tell(model, ERROR, "%s: " why, __func__);        \
    } while (0)

enum { ANY = ~0 };

/* Functions that the FMU does not offer: their arguments are of no use. */
#pragma GCC diagnostic ignored "-Wunused-parameter"
#define REFUSES(function, arguments, why) \
    EXPORT Level function arguments { REFUSED(why); }
#define REFUSES_NUMBERS(function, numbers) REFUSES(function, (Instance instance, numbers, size_t count), NOT_OFFERED)

/* Variables of a type that there are none of. */
#define NONE_OF(function, ...)                                                                          \
    EXPORT Level function(Instance instance, const Reference references[], size_t count, __VA_ARGS__) { \
        EXPECT(ANY);                                                                                    \
        return count == 0 ? OK : tell(model, ERROR, "%s: there is no such variable", __func__);         \
    }

EXPORT Level FMI(SetDebugLogging)(Instance instance, Flag on, size_t count, const String categories[]) {
    EXPECT(ANY);
    if (count > 0 && categories == NULL) return tell(model, ERROR, "categories: expected %zu, got none", count);
    model->logs = on != 0;
    return OK;
}

EXPORT void FMI(FreeInstance)(Instance instance) {
    if (instance != NULL) close_model(instance);
}

EXPORT Level FMI(ExitInitializationMode)(Instance instance) {
    EXPECT(INITIALIZING);
    if (start(model) != OK) return ERROR;
    model->mode = STEPPING;
    return OK;
}

EXPORT Level FMI(Terminate)(Instance instance) {
    EXPECT(STEPPING);
    model->mode = TERMINATED;
    return OK;
}

EXPORT Level FMI(Reset)(Instance instance) {
    EXPECT(ANY);
    start_over(model);
    return OK;
}

static Level missing(Model *model, const void *references, size_t count, const void *values, size_t value_count) {
    if (count == value_count && (count == 0 || (references != NULL && values != NULL))) return OK;
    return tell(model, ERROR, "expected %zu value references and as many values, got %zu", count,
                references == NULL || values == NULL ? 0 : value_count);
}

EXPORT Level GET_NUMBERS(Instance instance, const Reference references[], size_t count, double values[] OTHERS) {
    EXPECT(ANY);
    Level level = missing(model, references, count, values, ROOM);
    for (size_t i = 0; i < count && level == OK; i++) level = get_value(model, references[i], false, values + i);
    return level;
}

EXPORT Level GET_INTEGERS(Instance instance, const Reference references[], size_t count, Integer values[] OTHERS) {
    EXPECT(ANY);
    Level level = missing(model, references, count, values, ROOM);
    for (size_t i = 0; i < count && level == OK; i++) {
        double value = 0.0;
        level = get_value(model, references[i], true, &value);
        if (level == OK) values[i] = (Integer)value;
    }
    return level;
}

EXPORT Level SET_NUMBERS(Instance instance, const Reference references[], size_t count, const double values[] OTHERS) {
    EXPECT(INSTANTIATED | INITIALIZING | STEPPING);
    Level level = missing(model, references, count, values, ROOM);
    for (size_t i = 0; i < count && level == OK; i++) level = set_value(model, references[i], values[i]);
    return level;
}

static Level unknown(Model *model) { return tell(model, ERROR, STATE ": expected a state of this instance, got another"); }

EXPORT Level OF_STATE(Get)(Instance instance, void **saved) {
    EXPECT(ANY);
    if (saved == NULL) return tell(model, ERROR, STATE ": expected a place for it, got none");
    if (*saved != NULL && !owns_state(model, *saved)) return unknown(model);
    Saved *made = save_state(model);
    if (made == NULL) return ERROR;
    if (*saved != NULL) forget_state(model, *saved);
    *saved = made;
    return OK;
}

EXPORT Level OF_STATE(Set)(Instance instance, void *saved) {
    EXPECT(ANY);
    if (!owns_state(model, saved)) return unknown(model);
    restore_state(model, saved);
    return OK;
}

EXPORT Level OF_STATE(Free)(Instance instance, void **saved) {
    EXPECT(ANY);
    if (saved == NULL || *saved == NULL) return OK;
    if (!owns_state(model, *saved)) return unknown(model);
    forget_state(model, *saved);
    *saved = NULL;
    return OK;
}

EXPORT Level SERIALIZED_SIZE(Instance instance, void *saved, size_t *size) {
    EXPECT(ANY);
    if (!owns_state(model, saved) || size == NULL) return unknown(model);
    *size = state_size(model);
    return OK;
}

EXPORT Level OF_STATE(Serialize)(Instance instance, void *saved, Byte bytes[], size_t size) {
    EXPECT(ANY);
    if (!owns_state(model, saved)) return unknown(model);
    if (bytes == NULL || size < state_size(model))
        return tell(model, ERROR, "serializedState: expected room for %zu bytes, got %zu", state_size(model), size);
    write_state(model, saved, bytes);
    return OK;
}

EXPORT Level DESERIALIZE(Instance instance, const Byte bytes[], size_t size, void **saved) {
    EXPECT(ANY);
    if (bytes == NULL || saved == NULL) return tell(model, ERROR, "serializedState: expected bytes, got none");
    Saved *read = read_state(model, bytes, size);
    if (read == NULL) return ERROR;
    *saved = read;
    return OK;
}
