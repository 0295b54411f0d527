"""Time of a communication step of an FMU, and the part of it that is not the kernels: `python -m benchmarks.fmu`.

A host in C steps an exported FMU, then the same FMU with a library in the place of libtautline whose march does
nothing: what is left is the wrapper.
"""

from __future__ import annotations

import subprocess
import tempfile
import zipfile
from pathlib import Path

import fmpy

import tautline as tl
from tautline.kernels.machine.linking import linker
from tautline.kernels.machine.stamp import ABI, source_hash

HOST = r"""
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
typedef void Log(void *, const char *, int, const char *, const char *, ...);
typedef struct { Log *log; void *a, *b, *c, *d; } Callbacks;
static void log_it(void *h, const char *n, int s, const char *c, const char *m, ...) {
    va_list x; va_start(x, m); vfprintf(stderr, m, x); va_end(x);
    fputc('\n', stderr);
}
static double now(void) { struct timespec t; clock_gettime(CLOCK_MONOTONIC, &t); return t.tv_sec + 1e-9 * t.tv_nsec; }
int main(int count, char **x) {
    /* file, GUID, folder, step, steps, whether time goes on, input, variables */
    void *file = dlopen(x[1], RTLD_NOW);
    if (file == NULL || count != 9) return fprintf(stderr, "%s\n", dlerror()), 1;
    Callbacks back = {log_it, 0, 0, 0, 0};
    void *(*instantiate)(const char *, int, const char *, const char *, const Callbacks *, int, int);
    int (*enter)(void *), (*leave)(void *), (*step)(void *, double, double, int);
    int (*get)(void *, const unsigned *, size_t, double *), (*set)(void *, const unsigned *, size_t, const double *);
    *(void **)&instantiate = dlsym(file, "fmi2Instantiate");
    *(void **)&enter = dlsym(file, "fmi2EnterInitializationMode");
    *(void **)&leave = dlsym(file, "fmi2ExitInitializationMode");
    *(void **)&step = dlsym(file, "fmi2DoStep");
    *(void **)&get = dlsym(file, "fmi2GetReal");
    *(void **)&set = dlsym(file, "fmi2SetReal");
    void *c = instantiate("a", 1, x[2], x[3], &back, 0, 0);
    if (c == NULL || enter(c) || leave(c)) return 1;
    const double h = atof(x[4]);
    const int n = atoi(x[5]), goes_on = atoi(x[6]), outputs = atoi(x[8]);
    const unsigned input = (unsigned)atoi(x[7]);
    unsigned *all = malloc(sizeof *all * outputs);
    double *values = malloc(sizeof *values * outputs), value, best = 1e9, read = 1e9, time = 0.0;
    for (int i = 0; i < outputs; i++) all[i] = (unsigned)i;
    get(c, &input, 1, &value);
    for (int round = 0; round < 5; round++) {
        double begun = now();
        for (int i = 0; i < n; i++) {
            value += i % 2 ? 1e-9 : -1e-9;
            if (set(c, &input, 1, &value) || step(c, time, h, 1)) return 1;
            if (goes_on) get(c, all, 1, &time);
        }
        const double took = (now() - begun) / n;
        if (took < best) best = took;
        begun = now();
        for (int i = 0; i < n; i++) get(c, all, outputs, values);
        const double reading = (now() - begun) / n;
        if (reading < read) read = reading;
    }
    printf("%.9g %.9g\n", best, read);
    return 0;
}
"""
EMPTY = """
#include <stdint.h>
const char *const tl_stamp = "{stamp}";
const int64_t tl_abi = {abi};
int64_t tl_march_network(void *a, void *b, void *c, void *d, int64_t e, double t, int64_t f, int64_t *result) {{
    double *limits = (double *)(result + 3);
    result[0] = result[1] = 0;
    limits[0] = limits[1] = limits[2] = 1.0;
    return 0;
}}
"""
# Inputs of reels, and bodies that are moved.
CASES = {
    "fixed-length": ({"line": "case"}, []),
    "crane-hoist": ({"line": "torque"}, ["line"]),
    "hook-and-load": ({"hoist": "speed"}, ["jib"]),
    "hook-block-2": ({"hoist": "speed"}, []),
}


def _compiled(folder: Path, name: str, text: str, *flags: str) -> Path:
    source, target = folder / f"{name}.c", folder / name
    source.write_text(text)
    subprocess.run([*linker(), "-O2", "-w", str(source), *flags, "-o", str(target), "-ldl", "-lm"], check=True)
    return target


def _measured(host: Path, folder: Path, interval: float, steps: int, goes_on: bool) -> list[float]:
    """Times of a step with an input, and of reading all outputs (s)."""
    model = fmpy.read_model_description(str(folder))
    (binary,) = (folder / "binaries").glob("*/*.so")
    numbers = [
        x for x in model.modelVariables if x.type == "Real" and x.causality in ("independent", "input", "output")
    ]
    read = next(k for k, x in enumerate(model.modelVariables) if x.type != "Real")
    resources = (folder / "resources").as_uri()
    command = [host, binary, model.guid, resources, interval, steps, int(goes_on), 1, min(len(numbers), read)]
    done = subprocess.run([str(x) for x in command], capture_output=True, text=True, check=True)
    return [float(x) for x in done.stdout.split()]


def main() -> None:
    """Print the table."""
    print("| case | communication step (ms) | doStep (us) | of that the wrapper (us) | all outputs (us) |")
    print("|---|---|---|---|---|")
    with tempfile.TemporaryDirectory() as name:
        top = Path(name)
        host = _compiled(top, "host", HOST)
        empty = _compiled(top, "empty.so", EMPTY.format(stamp=source_hash(), abi=ABI), "-shared", "-fPIC")
        for case, (commands, moved) in CASES.items():
            path, folder = top / f"{case}.fmu", top / case
            tl.export_fmu(tl.load(case), path, commands=commands, velocities=moved)
            zipfile.ZipFile(path).extractall(folder)
            interval = tl.load(case).run.interval()
            whole, outputs = _measured(host, folder, interval, 500, True)
            (folder / "resources" / "empty.so").write_bytes(empty.read_bytes())
            (folder / "resources" / "libraries.txt").write_text("empty.so\n")
            wrapper, _ = _measured(host, folder, interval, 20_000, False)
            print(f"| {case} | {1e3 * interval:g} | {1e6 * whole:.1f} | {1e6 * wrapper:.2f} | {1e6 * outputs:.1f} |")


if __name__ == "__main__":
    main()
