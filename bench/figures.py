#!/usr/bin/env python3
"""Runs the benchmarks of a build folder and prints one table of Heddle's figures beside their bars.

    figures.py BUILD_FOLDER

Other work on a machine only ever slows a run down, so a figure counts as reached by its best sample; the median stands beside it and
is far from it on a noisy machine. Ratios come from two works that take turns in one process. Ends with 1 when a figure could not be
measured.
"""

import json
import os
import pathlib
import re
import statistics
import subprocess
import sys
from dataclasses import dataclass

FACTS_BARS = {"relations": 20.0, "counts": 100.0}
FACTS_LIMIT_S = 10
BIND_LIMIT_S = 60  # 100 binds an iteration
BINDS = [
    # title, benchmark, bar in ms
    ("bind: 10,000 documents in 1,048,576 tokens", "bind/documents_10000_1M", 100),
    ("bind: each of 100 tables of 262,144 tokens", "bind/documents_100_tables_256K", 20),
]
MATRIX_BAR_MS = 100
ATTENTION = [
    # title, benchmark, counter, bar
    ("dense D 64, S 2048, 12 heads: share of the sgemm rate", "dense/D:64/S:2048/H:12", "ratio", 0.85),
    ("window 256, D 64, S 8192: sparsity efficiency", "window256/D:64/S:8192/H:2", "efficiency", 0.75),
]
PROBABILITIES = [
    # title, benchmark, bar: on all cores
    ("probabilities, window 128, S 1024: times as fast as dense products", "probabilities/window:128/D:64/S:1024/H:8", 2),
    ("probabilities, window 128, S 4096: times as fast as dense products", "probabilities/window:128/D:64/S:4096/H:8", 6),
]
DECODE = ("decoding, Sq 1, Sk 32768, 32/8 heads, D 128: share of a plain read's rate", "decode/D:128/Sk:32768/H:32_8", 0.85)


@dataclass
class Figure:
    title: str
    unit: str = ""
    bar: float = 0.0
    at_least: bool = False
    best: float | None = None
    median: float | None = None
    note: str = ""

    def verdict(self):
        if self.best is None:
            return "not measured"
        return "reached" if (self.best >= self.bar if self.at_least else self.best < self.bar) else "missed"

    def row(self):
        bar = f"{'>=' if self.at_least else '<'} {self.bar:g} {self.unit}".strip()
        values = ["-" if value is None else f"{value:.3g}" for value in (self.best, self.median)]
        return [self.title, bar, *values, self.verdict(), self.note]


class Unmeasured(Exception):
    pass


def run(command, limit_s):
    """Standard output of a program."""
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=limit_s, check=False)
    except FileNotFoundError as error:
        raise Unmeasured(f"{command[0]} is not built") from error
    except subprocess.TimeoutExpired as error:
        raise Unmeasured(f"longer than {limit_s} s") from error
    if done.returncode != 0:
        raise Unmeasured((done.stderr.strip().splitlines() or [f"exit status {done.returncode}"])[-1])
    return done.stdout


def google(program, name, limit_s, *options):
    """The runs and the context of the benchmarks whose names begin with `name`."""
    text = run([program, "--benchmark_format=json", f"--benchmark_filter=^{name}/", *options], limit_s)
    if not text.strip():
        raise Unmeasured(f"no benchmark {name}")
    report = json.loads(text)
    runs = [one for one in report["benchmarks"] if one["run_type"] == "iteration"]
    for one in runs:
        if one.get("error_occurred"):
            raise Unmeasured(one["error_message"])
    return runs, report["context"]


def timed_figure(program, name, title, bar, limit_s=FACTS_LIMIT_S):
    """A benchmark that counts its best time as best_ms."""
    figure = Figure(title, "ms", bar)
    try:
        runs, _ = google(program, name, limit_s, "--benchmark_min_time=0.02", "--benchmark_repetitions=5")
        figure.best = min(one["best_ms"] for one in runs)
        figure.median = statistics.median(one["real_time"] for one in runs)
    except Unmeasured as error:
        figure.note = str(error)
    return figure


def facts_figure(program, name):
    quantity, family = name.split("/")
    return timed_figure(program, name, f"{quantity}: {family}", FACTS_BARS[quantity])


def table_figures(folder):
    """Binds of tables, and raw matrices of 8192 x 8192."""
    figures = [timed_figure(str(folder / "bind_bench"), name, title, bar, BIND_LIMIT_S) for title, name, bar in BINDS]
    program = str(folder / "matrix_bench")
    try:
        names = [name.split("/")[0] for name in run([program, "--benchmark_list_tests"], FACTS_LIMIT_S).split()]
    except Unmeasured as error:
        return figures + [Figure("raw matrices of 8192 x 8192", "ms", MATRIX_BAR_MS, note=str(error))]
    return figures + [timed_figure(program, name, f"raw matrix: {name}", MATRIX_BAR_MS) for name in names]


def facts_figures(folder):
    program = str(folder / "facts_bench")
    try:
        listed = run([program, "--benchmark_list_tests"], FACTS_LIMIT_S).split()
    except Unmeasured as error:
        return [Figure("facts of masks at 1,048,576 x 1,048,576", "ms", bar, note=str(error)) for bar in FACTS_BARS.values()]
    return [facts_figure(program, "/".join(name.split("/")[:2])) for name in listed]


def ratio_figure(program, name, title, counter, bar, machine):
    """A benchmark that counts a ratio, and the same of medians."""
    figure = Figure(title, "", bar, True)
    try:
        runs, context = google(program, name, 150)
        figure.best = max(one[counter] for one in runs)
        figure.median = statistics.median(one[counter + "_median"] for one in runs)
        for key, label in (("openblas", "OpenBLAS"), ("target", "target")):
            if key in context:
                machine[label] = context[key]
    except (Unmeasured, KeyError) as error:
        figure.note = str(error)
    return figure


def attention_figures(folder, machine):
    program, cores = str(folder / "attention_bench"), len(os.sched_getaffinity(0))
    figures = []
    for threads in sorted({1, cores}):
        suffix = f"{threads} thread{'s' * (threads > 1)}"
        for title, name, counter, bar in ATTENTION:
            figures.append(ratio_figure(program, f"{name}/threads:{threads}", f"{title}, {suffix}", counter, bar, machine))
    for title, name, bar in PROBABILITIES:
        figures.append(ratio_figure(program, f"{name}/threads:{cores}", title, "speedup", bar, machine))
    title, name, bar = DECODE
    figures.append(ratio_figure(str(folder / "decode_bench"), f"{name}/threads:{cores}", title, "share", bar, machine))
    return figures


def listed(program, missing, make):
    """Figures of a benchmark that prints its own JSON: `make` of every entry, or `missing` with the reason."""
    try:
        return [make(one) for one in json.loads(run([program, "--json"], 120))]
    except Unmeasured as error:
        missing.note = str(error)
        return [missing]


def first_result_figures(folder):
    def make(one):
        note = f"processor time {one['cpu_ms']:.1f} ms"
        return Figure(f"first result: {one['name']}", "ms", one["bar_ms"], best=one["min_ms"], median=one["median_ms"], note=note)

    return listed(str(folder / "first_result"), Figure("first result", "ms", 300), make)


def memory_figures(folder):
    """The launch has a bar; the whole process, which holds LLVM when cold, is told beside it. Both are the most of all samples."""

    def make(one):
        note = f"whole process {one['process_mib']:.1f} MiB, {one['file_pages_mib']:.1f} of it pages of files"
        return Figure(f"launch memory: {one['name']}", "MiB", one["bar_mib"], best=one["launch_mib"], note=note)

    return listed(str(folder / "memory"), Figure("launch memory", "MiB", 64), make)


def first_match(pattern, path, otherwise="unknown"):
    try:
        found = re.search(pattern, pathlib.Path(path).read_text(encoding="utf-8"), re.MULTILINE)
    except OSError:
        return otherwise
    return found.group(1) if found else otherwise


def machine_of(build):
    cache = build / "CMakeCache.txt"
    llvm = pathlib.Path(first_match(r"^LLVM_DIR:PATH=(.*)$", cache)) / "LLVMConfigVersion.cmake"
    field = {name: first_match(rf"^{name}\s*:\s*(.*)$", "/proc/cpuinfo") for name in ("model name", "cpu family", "model")}
    return {
        "processor": f"{field['model name']} (family {field['cpu family']}, model {field['model']})",
        "cores": str(len(os.sched_getaffinity(0))),
        "load before": f"{os.getloadavg()[0]:.1f}",
        "build": first_match(r"^CMAKE_BUILD_TYPE:STRING=(.*)$", cache),
        "LLVM": first_match(r'set\(PACKAGE_VERSION "(.*)"\)', llvm),
    }


def print_table(rows):
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    for row in rows:
        print("  ".join(cell.ljust(width) for cell, width in zip(row, widths)).rstrip())


def main(arguments):
    if len(arguments) != 1:
        print(__doc__.strip(), file=sys.stderr)
        return 2
    build = pathlib.Path(arguments[0])
    folder = build / "bin"
    machine = machine_of(build)
    figures = attention_figures(folder, machine) + first_result_figures(folder) + memory_figures(folder)
    figures += facts_figures(folder) + table_figures(folder)
    for name, value in machine.items():
        print(f"{name}: {value}")
    print()
    print_table([["figure", "bar", "best", "median", "", ""], *(figure.row() for figure in figures)])
    unmeasured = sum(figure.best is None for figure in figures)
    missed = sum(figure.verdict() == "missed" for figure in figures)
    print(f"\n{len(figures)} figures: {len(figures) - missed - unmeasured} reached, {missed} missed, {unmeasured} not measured")
    return 1 if unmeasured else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
