/* A boom as an FMU of FMI 2.0 of its own: a mass on a spring without mass from a fixed point, with gravity along the third
   axis. Input is a force, held over a step; outputs are place and velocity. References: 0-2 force, 3-5 place, 6-8 velocity,
   9 energy. */

#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct { double force[3], place[3], velocity[3]; } Boom;
enum { SUBSTEPS = 50 };
static const double MASS = 200.0, STIFFNESS = 2e4, LENGTH = 10.0, GRAVITY = 9.81, START[3] = {0.0, 0.0, 10.0};

static double acceleration(const Boom *b, int k) {
    const double *x = b->place, size = sqrt(x[0] * x[0] + x[1] * x[1] + x[2] * x[2]);
    return (b->force[k] - STIFFNESS * (size - LENGTH) * x[k] / size) / MASS + (k == 2 ? GRAVITY : 0.0);
}

static double energy(const Boom *b) {
    const double *x = b->place, *v = b->velocity, size = sqrt(x[0] * x[0] + x[1] * x[1] + x[2] * x[2]);
    return 0.5 * MASS * (v[0] * v[0] + v[1] * v[1] + v[2] * v[2]) + 0.5 * STIFFNESS * (size - LENGTH) * (size - LENGTH) -
           MASS * GRAVITY * x[2];
}

void *fmi2Instantiate(const char *name, int type, const char *guid, const char *where, const void *f, int v, int l) {
    (void)name, (void)type, (void)guid, (void)where, (void)f, (void)v, (void)l;
    Boom *b = calloc(1, sizeof *b);
    memcpy(b->place, START, sizeof START);
    return b;
}
void fmi2FreeInstance(void *c) { free(c); }
int fmi2GetReal(void *c, const unsigned *r, size_t n, double *x) {
    for (size_t i = 0; i < n; i++) x[i] = r[i] == 9 ? energy(c) : ((double *)c)[r[i]];
    return 0;
}
int fmi2SetReal(void *c, const unsigned *r, size_t n, const double *x) {
    for (size_t i = 0; i < n; i++) ((double *)c)[r[i]] = x[i];
    return 0;
}
int fmi2DoStep(void *c, double t, double step, int never) {
    Boom *b = c;
    const double h = step / SUBSTEPS;
    (void)t, (void)never;
    for (int i = 0; i < SUBSTEPS; i++) {
        double a[3];
        for (int k = 0; k < 3; k++) a[k] = acceleration(b, k);
        for (int k = 0; k < 3; k++) b->place[k] += h * (b->velocity[k] += 0.5 * h * a[k]);
        for (int k = 0; k < 3; k++) a[k] = acceleration(b, k);
        for (int k = 0; k < 3; k++) b->velocity[k] += 0.5 * h * a[k];
    }
    return 0;
}
const char *fmi2GetVersion(void) { return "2.0"; }
const char *fmi2GetTypesPlatform(void) { return "default"; }
#define DONE(name) int name(void) { return 0; }
DONE(fmi2SetupExperiment) DONE(fmi2EnterInitializationMode) DONE(fmi2ExitInitializationMode) DONE(fmi2Terminate)
DONE(fmi2Reset) DONE(fmi2SetDebugLogging)
#define NONE(name) int name(void) { return 3; }
NONE(fmi2GetInteger) NONE(fmi2GetBoolean) NONE(fmi2GetString) NONE(fmi2SetInteger) NONE(fmi2SetBoolean) NONE(fmi2SetString)
NONE(fmi2GetFMUstate) NONE(fmi2SetFMUstate) NONE(fmi2FreeFMUstate) NONE(fmi2SerializedFMUstateSize) NONE(fmi2SerializeFMUstate)
NONE(fmi2DeSerializeFMUstate) NONE(fmi2GetDirectionalDerivative) NONE(fmi2SetRealInputDerivatives)
NONE(fmi2GetRealOutputDerivatives) NONE(fmi2CancelStep) NONE(fmi2GetStatus) NONE(fmi2GetRealStatus) NONE(fmi2GetIntegerStatus)
NONE(fmi2GetBooleanStatus) NONE(fmi2GetStringStatus)
