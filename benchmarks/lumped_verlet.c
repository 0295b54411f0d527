/* The yardstick: a lumped-mass string with a rigid body at its end, stepped by Stormer-Verlet.

   What a good programmer would write by hand for example 1 of the paper at constant length, without
   any of the structure that the finite-element mass matrix, the reel or compensated sums need.
   The body is attached off its center of mass; its rotation is advanced by the Cayley map with a
   Newton solution, as in the simulator, so that both do the same work for the body.

   lumped_verlet(N, steps, h, out): runs and writes the attachment point; returns the final energy. */

#include <math.h>
#include <stdlib.h>

static const double L_DEPLOYED = 10.0, MU = 0.025, EA = 40.0, M = 0.1, G = 9.81;
static const double RHO[3] = {0.3, 0.2, 0.4};

static void cross(const double a[3], const double b[3], double out[3]) {
    out[0] = a[1] * b[2] - a[2] * b[1];
    out[1] = a[2] * b[0] - a[0] * b[2];
    out[2] = a[0] * b[1] - a[1] * b[0];
}

static double dot(const double a[3], const double b[3]) {
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

static void apply(double A[3][3], const double x[3], double out[3]) {
    for (int i = 0; i < 3; i++) out[i] = dot(A[i], x);
}

static void apply_transposed(double A[3][3], const double x[3], double out[3]) {
    for (int i = 0; i < 3; i++) out[i] = A[0][i] * x[0] + A[1][i] * x[1] + A[2][i] * x[2];
}

static void solve3(double A[3][3], const double b[3], double out[3]) {
    double a[3] = {A[0][0], A[1][0], A[2][0]}, c[3] = {A[0][1], A[1][1], A[2][1]}, e[3] = {A[0][2], A[1][2], A[2][2]};
    double ce[3], ea[3], ac[3];
    cross(c, e, ce);
    cross(e, a, ea);
    cross(a, c, ac);
    double k = 1.0 / dot(a, ce);
    out[0] = k * dot(ce, b);
    out[1] = k * dot(ea, b);
    out[2] = k * dot(ac, b);
}

/* omega from K omega + (h/2) omega x K omega = (1 + h^2 |omega|^2/4) b */
static void solve_rotation(double K[3][3], double h, const double b[3], double omega[3]) {
    for (int iteration = 0; iteration < 12; iteration++) {
        double Kw[3], wKw[3], r[3], D[3][3], dw[3];
        apply(K, omega, Kw);
        cross(omega, Kw, wKw);
        double k = 1.0 + 0.25 * h * h * dot(omega, omega);
        for (int i = 0; i < 3; i++) r[i] = Kw[i] + 0.5 * h * wKw[i] - k * b[i];
        for (int j = 0; j < 3; j++) {
            double column[3] = {K[0][j], K[1][j], K[2][j]}, x[3];
            cross(omega, column, x);
            for (int i = 0; i < 3; i++)
                D[i][j] = K[i][j] + 0.5 * h * x[i] - 0.5 * h * h * b[i] * omega[j];
        }
        D[0][1] += 0.5 * h * Kw[2];
        D[0][2] -= 0.5 * h * Kw[1];
        D[1][0] -= 0.5 * h * Kw[2];
        D[1][2] += 0.5 * h * Kw[0];
        D[2][0] += 0.5 * h * Kw[1];
        D[2][1] -= 0.5 * h * Kw[0];
        solve3(D, r, dw);
        for (int i = 0; i < 3; i++) omega[i] -= dw[i];
        if (dot(dw, dw) <= 1e-16 * dot(omega, omega)) return;
    }
}

double lumped_verlet(int N, long steps, double h, double *out) {
    double l = L_DEPLOYED / N, m = MU * l, m_end = 0.5 * m + M;
    size_t n = (size_t)N + 1;
    double *buffer = calloc(9 * n, sizeof(double));
    double *restrict qx = buffer, *restrict qy = buffer + n, *restrict qz = buffer + 2 * n;
    double *restrict vx = buffer + 3 * n, *restrict vy = buffer + 4 * n, *restrict vz = buffer + 5 * n;
    double *restrict fx = buffer + 6 * n, *restrict fy = buffer + 7 * n, *restrict fz = buffer + 8 * n;
    for (int i = 0; i <= N; i++) qx[i] = i * l;
    vy[N] = 0.5;

    double J[3][3], K[3][3], rho2 = dot(RHO, RHO);
    double central[3] = {0.4 * 0.4 / 4 + 0.8 * 0.8 / 12, 0.5 * 0.5 / 4 + 0.8 * 0.8 / 12, (0.5 * 0.5 + 0.4 * 0.4) / 4};
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++) {
            double steiner = (i == j ? rho2 : 0.0) - RHO[i] * RHO[j];
            J[i][j] = M * ((i == j ? central[i] : 0.0) + steiner);
            K[i][j] = J[i][j] - M * M / m_end * steiner;
        }
    double R[3][3] = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}};
    double p_end[3] = {0.0, m_end * 0.5, 0.0}, Pi[3], omega[3] = {0, 0, 0}, v_end[3] = {0, 0.5, 0};
    cross(RHO, v_end, Pi);
    for (int i = 0; i < 3; i++) Pi[i] *= M;

    double kick = 0.5 * h;
    for (long step = 0; step < steps; step++) {
        for (int e = 0; e < N; e++) {
            double wx = qx[e + 1] - qx[e], wy = qy[e + 1] - qy[e], wz = qz[e + 1] - qz[e];
            double k = EA / l * (1.0 - l / sqrt(wx * wx + wy * wy + wz * wz));
            fx[e] = k * wx;
            fy[e] = k * wy;
            fz[e] = k * wz;
        }
        double kick_m = kick / m;
        for (int i = 1; i < N; i++) {
            vx[i] += kick_m * (fx[i] - fx[i - 1]);
            vy[i] += kick_m * (fy[i] - fy[i - 1]);
            vz[i] += kick_m * (fz[i] - fz[i - 1]) + kick * G;
        }
        p_end[0] -= kick * fx[N - 1];
        p_end[1] -= kick * fy[N - 1];
        p_end[2] -= kick * (fz[N - 1] - m_end * G);
        double moment[3];
        cross(RHO, R[2], moment);
        for (int i = 0; i < 3; i++) Pi[i] += kick * M * G * moment[i];
        kick = h;

        double y[3], Y[3], b[3];
        for (int i = 0; i < 3; i++) y[i] = p_end[i] / m_end;
        apply_transposed(R, y, Y);
        cross(RHO, Y, b);
        for (int i = 0; i < 3; i++) b[i] = Pi[i] - M * b[i];
        solve_rotation(K, h, b, omega);

        double c[3] = {0.5 * h * omega[0], 0.5 * h * omega[1], 0.5 * h * omega[2]};
        double f = 2.0 / (1.0 + dot(c, c)), x[3], xx[3], swing[3], V[3], cV[3], ccV[3], Jw[3], cJw[3], lever[3];
        cross(c, RHO, x);
        cross(c, x, xx);
        double body[3] = {f / h * (x[0] + xx[0]), f / h * (x[1] + xx[1]), f / h * (x[2] + xx[2])};
        apply(R, body, swing);
        for (int i = 0; i < 3; i++) v_end[i] = y[i] - M / m_end * swing[i];
        apply_transposed(R, v_end, V);
        cross(c, V, cV);
        cross(c, cV, ccV);
        apply(J, omega, Jw);
        cross(c, Jw, cJw);
        double dV[3] = {f * (ccV[0] - cV[0]), f * (ccV[1] - cV[1]), f * (ccV[2] - cV[2])};
        cross(RHO, dV, lever);
        for (int i = 0; i < 3; i++) Pi[i] += M * lever[i] - f * cJw[i];

        for (int i = 0; i < 3; i++) { /* R <- R F, row by row: F^T r = r - f c x r + f c x (c x r) */
            double cr[3], ccr[3];
            cross(c, R[i], cr);
            cross(c, cr, ccr);
            for (int j = 0; j < 3; j++) R[i][j] += f * (ccr[j] - cr[j]);
        }
        for (int i = 1; i < N; i++) {
            qx[i] += h * vx[i];
            qy[i] += h * vy[i];
            qz[i] += h * vz[i];
        }
        qx[N] += h * v_end[0];
        qy[N] += h * v_end[1];
        qz[N] += h * v_end[2];
    }
    out[0] = qx[N];
    out[1] = qy[N];
    out[2] = qz[N];
    free(buffer);
    return omega[0];
}
