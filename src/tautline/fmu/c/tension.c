/* Tension at the ends of a line: results/ends.py for one sample, in the same order of operations. */

#include <math.h>

#include "model.h"

enum { COMPARED = 4, MOST = COMPARED + 1 };
static const double ALIKE = 2.0 / 3.0, AT_REST = 1e-6, FOLDED = 0.01, TINY = 1e-290;

typedef struct {
    const Model *model;
    const int64_t *line;
    int64_t N;
    double l, speed; /* unstretched length of an element; speed of the reel */
} Line;

/* Elements from an end inward. */
typedef struct {
    int count;
    double q[MOST + 1][3], v[MOST + 1][3], along[MOST][3], T[MOST], length[MOST];
    double velocity[MOST][3];
} Inward;

static double dot(const double *a, const double *b) { return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]; }
static double within(double x, double low, double high) { return fmin(fmax(x, low), high); }

/* Place and velocity of node i. */
static const double *node(const Line *x, int64_t i) { return at(x->model, x->line[LINE_NODES] + 6 * i); }

static double length_of(const Line *x, int64_t element) {
    const double *a = node(x, element), *b = node(x, element + 1);
    double w[3] = {b[0] - a[0], b[1] - a[1], b[2] - a[2]};
    return sqrt(dot(w, w));
}

static double elastic(const Line *x, double strain) {
    const double EA = *at(x->model, x->line[LINE_STIFFNESS]);
    if (x->line[LINE_LAW] == LAW_LINEAR) return EA * strain;
    if (x->line[LINE_LAW] == LAW_TENSION_ONLY) return EA * fmax(strain, 0.0);
    const int64_t n = x->line[LINE_PIECE_COUNT];
    const double *knots = at(x->model, x->line[LINE_PIECES]), *c = knots + n;
    int64_t i = 0;
    while (i + 1 < n && knots[i + 1] <= strain) i++;
    const double d = strain - knots[i];
    return ((c[3 * n + i] * d + c[2 * n + i]) * d + c[n + i]) * d + c[i];
}

/* Length by which neighbors of an element differ, times the part of the reel's speed that passes between them. */
static double carried(const Line *x, int64_t i) {
    if (i == x->N || x->N == 1) return 0.0;
    const double step = i == 0 ? length_of(x, 1) - length_of(x, 0) : length_of(x, i) - length_of(x, i - 1);
    return (1.0 - (double)i / (double)x->N) * step;
}

static double tension(const Line *x, int64_t i, double length) {
    const double T = elastic(x, length / x->l - 1.0), viscosity = *at(x->model, x->line[LINE_VISCOSITY]);
    if (viscosity == 0.0) return T;
    const double *a = node(x, i), *b = node(x, i + 1), divisor = fmax(length, TINY);
    double stretching = 0.0;
    for (int k = 0; k < 3; k++) stretching += (b[k] - a[k]) / divisor * (b[3 + k] - a[3 + k]);
    const double by_reel = (length / (double)x->N - 0.5 * (carried(x, i) + carried(x, i + 1))) / x->l;
    const double total = T + viscosity * (stretching + by_reel * x->speed) / x->l;
    if (x->line[LINE_LAW] == LAW_LINEAR) return total;
    return T > 0.0 ? fmax(total, 0.0) : T;
}

static void flow_at(const Line *x, double depth, double *u) {
    const int64_t n = x->line[LINE_FLOW_COUNT];
    const double *knots = at(x->model, x->line[LINE_FLOW]);
    const double z = within(depth, knots[0], knots[n - 1]);
    int64_t i = 0;
    while (i + 2 < n && knots[i + 1] <= z) i++;
    for (int k = 0; k < 3; k++) {
        const double *row = knots + (k + 1) * n;
        u[k] = n == 1 ? row[0] : row[i] + (z - knots[i]) / (knots[i + 1] - knots[i]) * (row[i + 1] - row[i]);
    }
}

/* Where an element begins and ends to be wet, from the depths of both ends below the surface. */
static void wet_span(double first, double second, double *begin, double *end) {
    const double change = second - first;
    const double crossing = within(-first / (change == 0.0 ? 1.0 : change), 0.0, 1.0);
    *begin = first >= 0.0 ? 0.0 : crossing;
    *end = second >= 0.0 ? 1.0 : crossing;
}

/* Weight, buoyancy and drag of an element on its first and second node. */
static void on_nodes(const Line *x, const Inward *in, int i, double *first, double *second) {
    const int64_t *line = x->line;
    const double density = *at(x->model, line[LINE_DENSITY]), g = *at(x->model, line[LINE_GRAVITY]);
    const double weight = g * (density - number(line[LINE_BUOYANT])) * x->l;
    double force[3] = {0.0, 0.0, weight};
    double length = in->length[i], up = 0.0, to_first = 0.0, to_second = 0.0;
    if (line[LINE_FLOW_COUNT] > 0) {
        if (line[LINE_HAS_SURFACE]) {
            const double surface = number(line[LINE_SURFACE]), above = number(line[LINE_ABOVE]);
            double begin, end;
            wet_span(in->q[i][2] - surface, in->q[i + 1][2] - surface, &begin, &end);
            length = length * (above + (1.0 - above) * (end - begin));
            to_second = 0.5 * (end * end - begin * begin);
            to_first = end - begin - to_second;
            up = number(line[LINE_LIFT]) * x->l;
        }
        double u[3], across[3];
        flow_at(x, 0.5 * (in->q[i][2] + in->q[i + 1][2]), u);
        for (int k = 0; k < 3; k++) u[k] -= in->velocity[i][k];
        const double along = dot(u, in->along[i]);
        for (int k = 0; k < 3; k++) across[k] = u[k] - along * in->along[i][k];
        const double speed = sqrt(dot(across, across) + TINY), size = sqrt(along * along + TINY);
        const double normal = number(line[LINE_NORMAL]), tangential = number(line[LINE_TANGENTIAL]);
        for (int k = 0; k < 3; k++)
            force[k] += length * (normal * speed * across[k] + tangential * size * along * in->along[i][k]);
    }
    for (int k = 0; k < 3; k++) first[k] = second[k] = 0.5 * force[k];
    first[2] -= to_first * up;
    second[2] -= to_second * up;
}

static void add_inertia(const double (*forces)[3], int count, int compared, double least, double large, double *out) {
    const double *own = forces[0], size2 = dot(own, own) + least;
    double alike = INFINITY;
    for (int i = 0; i < compared && i < count; i++) alike = fmin(alike, dot(forces[i], own));
    const double share = within((alike + least + large) / (ALIKE * (size2 + large)), 0.0, 1.0);
    double part = 0.5 * share;
    if (count > 1) {
        const double at_end = within(2.0 - (dot(forces[1], own) + least) / size2, 0.0, 2.0 - ALIKE);
        part = share * (1.0 + 2.0 * at_end) / 6.0;
    }
    for (int k = 0; k < 3; k++) out[k] += part * own[k];
}

static Inward inward(const Line *x, int end, int count) {
    Inward in = {.count = count};
    for (int i = 0; i <= count; i++) {
        const double *place = node(x, end ? x->N - i : i);
        for (int k = 0; k < 3; k++) {
            in.q[i][k] = place[k];
            in.v[i][k] = place[3 + k];
        }
    }
    for (int i = 0; i < count; i++) {
        const int64_t element = end ? x->N - 1 - i : i;
        in.length[i] = length_of(x, element);
        in.T[i] = tension(x, element, in.length[i]);
        const double through = 1.0 - ((double)element + 0.5) / (double)x->N;
        const double by_reel = (end ? -through : through) * in.length[i] * (x->speed / x->l);
        for (int k = 0; k < 3; k++) {
            in.along[i][k] = (in.q[i + 1][k] - in.q[i][k]) / fmax(in.length[i], TINY);
            in.velocity[i][k] = 0.5 * (in.v[i][k] + in.v[i + 1][k]) - by_reel * in.along[i][k];
        }
    }
    return in;
}

double end_tension(const Model *model, const int64_t *line, int which) {
    Line x = {.model = model, .line = line, .N = line[LINE_ELEMENTS], .speed = *at(model, line[LINE_SPEED])};
    x.l = (*at(model, line[LINE_LENGTH]) - *at(model, line[LINE_REELED])) / (double)x.N;
    const int compared = x.N / 3 < 1 ? 1 : x.N / 3 > COMPARED ? COMPARED : (int)(x.N / 3);
    const int wanted = 1 + (compared > 2 ? compared : 2), count = x.N < wanted ? (int)x.N : wanted;
    const Inward in = inward(&x, which, count);
    double first[MOST][3], second[MOST][3], end[3], inertia[3] = {0.0, 0.0, 0.0};
    for (int i = 0; i < count; i++) on_nodes(&x, &in, i, first[i], second[i]);
    const double *t = in.along[0], *load = first[0];
    for (int k = 0; k < 3; k++) end[k] = in.T[0] * t[k] + load[k];
    if (count > 1) {
        double forces[MOST][3], lengthwise[MOST][3], others[MOST][3], between[3];
        for (int i = 0; i + 1 < count; i++) {
            for (int k = 0; k < 3; k++) {
                const double added = second[i][k] + first[i + 1][k];
                if (i == 0) between[k] = added;
                forces[i][k] = in.T[i + 1] * in.along[i + 1][k] - in.T[i] * in.along[i][k] + added;
            }
            const double part = dot(forces[i], t);
            for (int k = 0; k < 3; k++) {
                lengthwise[i][k] = part * t[k];
                others[i][k] = forces[i][k] - lengthwise[i][k];
            }
        }
        const double least = AT_REST * AT_REST * dot(end, end) + TINY, large = dot(between, between);
        add_inertia((const double (*)[3])lengthwise, count - 1, compared, least, large, inertia);
        add_inertia((const double (*)[3])others, count - 1, compared, least, large, inertia);
        for (int k = 0; k < 3; k++) end[k] -= inertia[k];
    }
    const double pull = dot(end, t);
    double across[3];
    for (int k = 0; k < 3; k++) across[k] = end[k] - pull * t[k];
    const double aside = dot(across, across), size = sqrt(pull * pull + aside + TINY);
    double found = pull + aside / (size + sqrt(pull * pull + TINY));
    if (in.T[0] > 0.0 && pull < 0.0 && dot(inertia, inertia) < FOLDED * dot(load, load)) found = size;
    if (line[LINE_LAW] != LAW_LINEAR) found = in.T[0] > 0.0 ? fmax(found, 0.0) : in.T[0];
    return found;
}

double drum_radius(const Model *model, const int64_t *line) {
    const double d = *at(model, line[LINE_RADIUS]), growth = *at(model, line[LINE_GROWTH]);
    return sqrt(d * d + growth * (*at(model, line[LINE_REELED]) - *at(model, line[LINE_GUIDE_LENGTH])));
}
