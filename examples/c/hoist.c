/* A load that swings while a motor reels it in, from C. Prints a line for each sample:
   time (s), deployed length (m), height of the load's attachment point over the guide (m), energy (J).

   The library and its header come with the installed package; `tautline doctor` prints the path of the library, which is
   one of several for the kinds of processors. Beside it, in FOLDER, is the header:

       cc hoist.c -I FOLDER LIBRARY -Wl,-rpath,FOLDER -lm -o hoist && ./hoist */

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "tautline.h"

enum { N = 20, SAMPLES = 10, STEPS = 100 };

static const double LENGTH = 30.0, DEPLOYED = 20.0, DENSITY = 0.1, STIFFNESS = 5e4, STEP = 2e-4;
static const double RADIUS = 0.15, INERTIA_MASS = 20.0, MASS = 50.0, GRAVITY = 9.81, TORQUE = 90.0, SPEED = 1.0;
static const double INERTIA[3] = {7.0, 7.0, 3.0}, OFFSET = 0.3;

static double *zeros(long count) {
    double *x = calloc(count, sizeof *x);
    if (x == NULL) exit(1);
    return x;
}

int main(void) {
    if (!tl_fits()) {
        fprintf(stderr, "tautline.h and the library were not made from the same sources\n");
        return 1;
    }

    double no_table[6] = {0}, stages[1] = {1.0}, times[1] = {0.0}, torques[1] = {TORQUE}, no_profile[TL_PROFILE_ROW] = {0};
    tl_parameters par = {.N = N, .L = LENGTH, .mu = DENSITY, .EA = STIFFNESS, .kappa = INERTIA_MASS, .d = RADIUS};
    par.M = MASS;
    par.rho[2] = OFFSET; /* the body hangs below its attachment point */
    for (int i = 0; i < 3; i++) par.J[i][i] = INERTIA[i]; /* about the attachment point */
    par.mu_g = DENSITY * GRAVITY;
    par.weight = MASS * GRAVITY;
    par.weight_rho[2] = MASS * GRAVITY * OFFSET;
    par.elastic_law = TL_LINEAR;
    par.tension_table = no_table;
    par.tension_table_shape[0] = 1;
    par.tension_table_shape[1] = 6;
    par.sigma_0 = 1e-3;
    par.theta = 0.5;
    par.rotates = 1;
    par.compensated = 1;
    par.max_torque = par.max_power = INFINITY;

    tl_plan plan = {.h = STEP, .stages = stages, .stages_shape = {1}, .limit_multiple = 1.0, .allowed_ratio = 0.9};
    plan.resolution = 0.05;
    plan.minimum_length = 0.2;
    plan.end_mass = MASS;
    plan.steps_per_sample = STEPS;

    tl_command command = {.times = times, .times_shape = {1}, .torques = torques, .torques_shape = {1}};
    command.kind = TL_BY_TORQUE;
    command.profile = no_profile;
    command.profile_shape[0] = 1;
    command.profile_shape[1] = TL_PROFILE_ROW;

    const long length = TL_ROW_LENGTH(N), nodes = 3 * length;
    tl_motion motion = {.nodes = zeros(TL_NODE_QUANTITIES * nodes), .nodes_shape = {TL_NODE_QUANTITIES, nodes}};
    motion.body = zeros(motion.body_shape[0] = TL_BODY_SIZE);
    motion.reel = zeros(motion.reel_shape[0] = TL_REEL_SIZE);
    int64_t clock[TL_CLOCK_SIZE] = {0};
    motion.clock = clock;
    motion.clock_shape[0] = TL_CLOCK_SIZE;
    tl_scratch scratch = {.nodes = zeros(TL_SCRATCH_NODES * nodes), .nodes_shape = {TL_SCRATCH_NODES, nodes}};
    scratch.factor = zeros(TL_FACTOR_ROWS * length);
    scratch.factor_shape[0] = TL_FACTOR_ROWS;
    scratch.factor_shape[1] = length;
    const long whole = TL_NODE_QUANTITIES * nodes + TL_BODY_SIZE + TL_REEL_SIZE + TL_CLOCK_SIZE;
    tl_array2 backups = {zeros(2 * whole), {2, whole}};
    tl_samples out = {.scalars = zeros(SAMPLES * TL_SCALARS), .scalars_shape = {SAMPLES, TL_SCALARS}};
    out.nodes = zeros(SAMPLES * 2 * (N + 1) * 3);
    out.nodes_shape[0] = SAMPLES;
    out.nodes_shape[1] = 2;
    out.nodes_shape[2] = N + 1;
    out.nodes_shape[3] = 3;

    /* hanging straight down, not stretched, and pushed sideways at its end; all x come first, then all y, then all z,
       each in a row that is filled up with zeros */
    double *position = motion.nodes + TL_POSITION * nodes, *velocity = motion.nodes + TL_VELOCITY * nodes;
    for (int i = 0; i <= N; i++) position[2 * length + i] = DEPLOYED * i / N;
    velocity[N] = SPEED;
    motion.body[TL_ATTITUDE] = 1.0; /* quaternion */
    motion.reel[TL_S] = LENGTH - DEPLOYED;

    tl_marched marched;
    if (tl_begin(&par, &motion) || tl_march(&par, &plan, &command, &motion, &scratch, &backups, &out, 0, &marched)) return 1;
    for (int row = 0; row < marched.rows; row++) {
        const double *x = out.scalars + row * TL_SCALARS, *end = out.nodes + (row * 2 * (N + 1) + N) * 3;
        double energy = x[TL_KINETIC] + x[TL_ELASTIC] + x[TL_GRAVITY];
        printf("%.17g %.17g %.17g %.17g\n", (row + 1) * STEPS * STEP, LENGTH - x[TL_REELED_LENGTH], -end[2], energy);
    }
    return marched.status == TL_COMPLETED ? 0 : 1;
}
