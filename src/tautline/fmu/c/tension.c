/* Tension at the ends of a span: results/ends.py for one sample, in the same order of operations. */

#include <math.h>

#include "model.h"

enum { COMPARED = 4, MOST = COMPARED + 1 };
static const double ALIKE = 2.0 / 3.0, AT_REST = 1e-6, FOLDED = 0.01, TINY = 1e-290;

typedef struct {
    const Model *model;
    const int64_t *row;
    int64_t N;
    double l, near, far; /* unstretched length of an element; speeds of what feeds start and stop */
} Span;

/* Elements from an end inward. */
typedef struct {
    int count;
    double q[MOST + 1][3], v[MOST + 1][3], along[MOST][3], T[MOST], length[MOST];
    double velocity[MOST][3];
} Inward;

static double dot(const double *a, const double *b) { return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]; }
static double within(double x, double low, double high) { return fmin(fmax(x, low), high); }

/* Place and velocity of node i. */
static const double *node(const Span *x, int64_t i) { return at(x->model, x->row[SPAN_NODES] + 6 * i); }

static double length_of(const Span *x, int64_t element) {
    const double *a = node(x, element), *b = node(x, element + 1);
    double w[3] = {b[0] - a[0], b[1] - a[1], b[2] - a[2]};
    return sqrt(dot(w, w));
}

static double elastic(const Span *x, double strain) {
    const double EA = *at(x->model, x->row[SPAN_STIFFNESS]);
    if (x->row[SPAN_LAW] == LAW_LINEAR) return EA * strain;
    if (x->row[SPAN_LAW] == LAW_TENSION_ONLY) return EA * fmax(strain, 0.0);
    const int64_t n = x->row[SPAN_PIECE_COUNT];
    const double *knots = at(x->model, x->row[SPAN_PIECES]), *c = knots + n;
    int64_t i = 0;
    while (i + 1 < n && knots[i + 1] <= strain) i++;
    const double d = strain - knots[i];
    return ((c[3 * n + i] * d + c[2 * n + i]) * d + c[n + i]) * d + c[i];
}

/* Length by which neighbors of node i differ, times the speed of the material that passes it. */
static double carried(const Span *x, int64_t i) {
    if (x->N == 1) return 0.0;
    const int64_t j = i == 0 ? 1 : i == x->N ? x->N - 1 : i;
    const double place = (double)i / (double)x->N;
    return (x->near + place * (x->far - x->near)) * (length_of(x, j) - length_of(x, j - 1));
}

static double tension(const Span *x, int64_t i, double length) {
    const double T = elastic(x, length / x->l - 1.0), viscosity = *at(x->model, x->row[SPAN_VISCOSITY]);
    if (viscosity == 0.0) return T;
    const double *a = node(x, i), *b = node(x, i + 1), divisor = fmax(length, TINY);
    double stretching = 0.0;
    for (int k = 0; k < 3; k++) stretching += (b[k] - a[k]) / divisor * (b[3 + k] - a[3 + k]);
    const double by_feeds = -(x->far - x->near) * length / (double)x->N - 0.5 * (carried(x, i) + carried(x, i + 1));
    const double total = T + viscosity * (stretching + by_feeds / x->l) / x->l;
    if (x->row[SPAN_LAW] == LAW_LINEAR) return total;
    return T > 0.0 ? fmax(total, 0.0) : T;
}

/* Piece of a table of n knots that holds at x, and which part of it lies before x. */
static int64_t piece_of(const double *knots, int64_t n, double x, double *part) {
    int64_t i = 0;
    if (n == 1) return 0;
    x = within(x, knots[0], knots[n - 1]);
    while (i + 2 < n && knots[i + 1] <= x) i++;
    *part = (x - knots[i]) / (knots[i + 1] - knots[i]);
    return i;
}

static void flow_at(const Span *x, double depth, double *u) {
    const int64_t n = x->row[SPAN_FLOW_COUNT], m = x->row[SPAN_FLOW_TIME_COUNT];
    const double *knots = at(x->model, x->row[SPAN_FLOW]);
    double along = 0.0, passed = 0.0;
    const int64_t i = piece_of(knots, n, depth, &along);
    const int64_t j = piece_of(at(x->model, x->row[SPAN_FLOW_TIMES]), m, case_time(x->model), &passed);
    for (int k = 0; k < 3; k++) {
        double at_knots[2] = {0.0, 0.0};
        for (int e = 0; e < 2 && e < n; e++) {
            const double *now = knots + (3 * j + k + 1) * n + i + e;
            at_knots[e] = m == 1 ? *now : *now + passed * (now[3 * n] - *now);
        }
        u[k] = n == 1 ? at_knots[0] : at_knots[0] + along * (at_knots[1] - at_knots[0]);
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
static void on_nodes(const Span *x, const Inward *in, int i, double *first, double *second) {
    const int64_t *row = x->row;
    const double density = *at(x->model, row[SPAN_DENSITY]), g = *at(x->model, row[SPAN_GRAVITY]);
    const double weight = g * (density - number(row[SPAN_BUOYANT])) * x->l;
    double force[3] = {0.0, 0.0, weight};
    double length = in->length[i], up = 0.0, to_first = 0.0, to_second = 0.0;
    if (row[SPAN_FLOW_COUNT] > 0) {
        if (row[SPAN_HAS_SURFACE]) {
            const double surface = number(row[SPAN_SURFACE]), above = number(row[SPAN_ABOVE]);
            double begin, end;
            wet_span(in->q[i][2] - surface, in->q[i + 1][2] - surface, &begin, &end);
            length = length * (above + (1.0 - above) * (end - begin));
            to_second = 0.5 * (end * end - begin * begin);
            to_first = end - begin - to_second;
            up = number(row[SPAN_LIFT]) * x->l;
        }
        double u[3], across[3];
        flow_at(x, 0.5 * (in->q[i][2] + in->q[i + 1][2]), u);
        for (int k = 0; k < 3; k++) u[k] -= in->velocity[i][k];
        const double along = dot(u, in->along[i]);
        for (int k = 0; k < 3; k++) across[k] = u[k] - along * in->along[i][k];
        const double speed = sqrt(dot(across, across) + TINY), size = sqrt(along * along + TINY);
        const double normal = number(row[SPAN_NORMAL]), tangential = number(row[SPAN_TANGENTIAL]);
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

static Inward inward(const Span *x, int end, int count) {
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
        const double per = in.length[i] / x->l, sign = end ? -1.0 : 1.0;
        const double passing = per * (sign * through * x->near) + per * (sign * (1.0 - through) * x->far);
        for (int k = 0; k < 3; k++) {
            in.along[i][k] = (in.q[i + 1][k] - in.q[i][k]) / fmax(in.length[i], TINY);
            in.velocity[i][k] = 0.5 * (in.v[i][k] + in.v[i + 1][k]) - passing * in.along[i][k];
        }
    }
    return in;
}

double end_tension(const Model *model, const int64_t *row, int which) {
    Span x = {.model = model, .row = row, .N = row[SPAN_ELEMENTS], .near = *at(model, row[SPAN_NEAR])};
    x.far = number(row[SPAN_FAR_SIGN]) * *at(model, row[SPAN_FAR]);
    x.l = span_length(model, row) / (double)x.N;
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
    if (row[SPAN_LAW] != LAW_LINEAR) found = in.T[0] > 0.0 ? fmax(found, 0.0) : in.T[0];
    return found;
}
