#!/usr/bin/env python3
"""Runs the benchmarks of a build folder and prints one table of Heddle's figures beside their bars.

    figures.py [--markdown] [--only TEXT]... BUILD_FOLDER

--markdown prints the table of the README. --only measures the figures whose titles have one of the texts.

Other work on a machine only ever slows a run down, so a figure counts as reached by its best times, of all repetitions; the median of
neighbouring samples stands beside it and is far from it on a noisy machine. Ratios come from two works that take turns in one process.
Ends with 1 when a figure could not be measured.
"""

import argparse
import json
import os
import pathlib
import re
import statistics
import subprocess
import sys
from dataclasses import dataclass
from typing import Callable

CORES = len(os.sched_getaffinity(0))
NOISE = 0.1  # Best and median further apart than this share: said beside the figure.


class Unmeasured(Exception):
    pass


@dataclass
class Value:
    best: float
    median: float | None = None
    note: str = ""


@dataclass
class Figure:
    title: str
    bar: float
    measure: Callable[[], Value]
    unit: str = ""
    at_least: bool = False
    value: Value | None = None
    note: str = ""

    def take(self):
        try:
            self.value = self.measure()
            self.note = self.value.note
        except Unmeasured as error:
            self.note = str(error)

    def verdict(self):
        if self.value is None:
            return "not measured"
        return "reached" if (self.value.best >= self.bar if self.at_least else self.value.best < self.bar) else "missed"

    def noisy(self):
        value = self.value
        return bool(value and value.median and abs(value.median - value.best) > NOISE * abs(value.best))

    def row(self):
        bar = f"{'>=' if self.at_least else '<'} {self.bar:g} {self.unit}".strip()
        found = self.value or Value(None)
        best, median = ("-" if x is None else f"{x:.3g}" for x in (found.best, found.median))
        return [self.title, bar, best, median, self.verdict(), "; ".join(["noisy"] * self.noisy() + [self.note] * bool(self.note))]

    def markdown(self):
        title, bar, best, median, verdict, note = self.row()
        reached = f"{best} ({median})" if median != "-" else best
        return f"| {title} | {bar} | {reached}{': missed' * (verdict == 'missed')} | {note} |"


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


def key_error(make, *arguments):
    try:
        return make(*arguments)
    except KeyError as error:
        raise Unmeasured(f"the benchmark says nothing of {error}") from error


class Bench:
    """The benchmarks of one build folder."""

    def __init__(self, build):
        self.folder = build / "bin"
        self.contexts = {}  # What programs said of their baselines.

    def google(self, program, name, limit_s, *options):
        """The runs of the benchmarks whose names begin with `name`."""
        command = [str(self.folder / program), "--benchmark_format=json", f"--benchmark_filter=^{name}(/|$)", *options]
        text = run(command, limit_s)
        if not text.strip():
            raise Unmeasured(f"no benchmark {name}")
        report = json.loads(text)
        runs = [one for one in report["benchmarks"] if one["run_type"] == "iteration"]
        for one in runs:
            if one.get("error_occurred"):
                raise Unmeasured(one["error_message"])
        for key in ("target", "openblas"):
            if key in report["context"]:
                self.contexts[(key, *options)] = report["context"][key]
        return runs

    def ratio(self, program, name, counter, *options):
        """A ratio of the best times of all repetitions, and the median of the repetitions' medians."""

        def make():
            runs = self.google(program, name, 300, "--benchmark_repetitions=3", *options)
            first, second = (min(one[key] for one in runs) for key in ("first_s", "second_s"))
            factor = runs[0][counter] * runs[0]["first_s"] / runs[0]["second_s"]
            return Value(second / first * factor, statistics.median(one[counter + "_median"] for one in runs))

        return lambda: key_error(make)

    def counted(self, program, name, counter):
        """A counter of best times, and the same of medians."""

        def make():
            run = self.google(program, name, 300)[-1]
            return Value(run[counter], run[counter + "_median"])

        return lambda: key_error(make)

    def timed(self, program, name, limit_s):
        """A benchmark that counts its best time as best_ms."""

        def make():
            runs = self.google(program, name, limit_s, "--benchmark_min_time=0.02", "--benchmark_repetitions=5")
            return Value(min(one["best_ms"] for one in runs), statistics.median(one["real_time"] for one in runs))

        return lambda: key_error(make)

    def slowest(self, program, begins, limit_s=10):
        """The slowest of the benchmarks whose names begin so."""

        def make():
            listed = run([str(self.folder / program), "--benchmark_list_tests"], limit_s).split()
            names = list(dict.fromkeys(re.sub(r"/(iterations|real_time|manual_time|min_time).*", "", name) for name in listed))
            values = {name: self.timed(program, re.escape(name), limit_s)() for name in names if name.startswith(begins)}
            if not values:
                raise Unmeasured(f"no benchmark begins with {begins}")
            worst = max(values, key=lambda name: values[name].best)
            fastest = min(value.best for value in values.values())
            short = worst.removeprefix(begins).split("/")[0]
            return Value(values[worst].best, values[worst].median, f"slowest of {len(values)}, {short}; the fastest {fastest:.3g}")

        return make

    def children(self, program, ends, best, median):
        """The worst of what a program that starts itself as children measured, of the entries whose names end so."""

        def make():
            entries = [one for one in json.loads(run([str(self.folder / program), "--json"], 300)) if one["name"].endswith(ends)]
            if not entries:
                raise Unmeasured(f"no entry ends with {ends}")
            worst = max(entries, key=lambda one: one[best])
            short = worst["name"].removesuffix(ends)
            note = f"worst of {len(entries)}, {short}; the best {min(one[best] for one in entries):.3g}"
            return Value(worst[best], worst[median] if median else None, note)

        return lambda: key_error(make)


def threads_text(threads):
    return f"{threads} thread{'s' * (threads > 1)}"


def first_results(bench):
    return [
        Figure("first result of a new formula, whole process, cold", 200, bench.children("first_result", "/cold", "min_ms", "median_ms"), "ms"),
        Figure("the same, kernel from disk, LLVM not loaded", 10, bench.children("first_result", "/disk", "min_ms", "median_ms"), "ms"),
        Figure("launch of a kernel in memory over a call of the bare kernel", 5, bench.counted("launch_bench", "launch/causal", "overhead_us"), "us"),
    ]


def dense(bench):
    figures = []
    for options, bar, what in (([], 0.93, "sgemm"), (["--avx2"], 0.88, "sgemm with the Haswell core type, AVX2 target,")):
        for threads in sorted({1, CORES}):
            for dim in (64, 128):
                title = f"dense, D {dim}, S 2048, 12 heads: share of the rate of {what} 2048^3, {threads_text(threads)}"
                name = f"dense/D:{dim}/S:2048/H:12/threads:{threads}"
                figures.append(Figure(title, bar, bench.ratio("dense_bench", name, "ratio", *options), at_least=True))
    for dim in (64, 128):
        title = f"dense, D {dim}, S 2048, 12 heads: bfloat16, times as fast as float32, {threads_text(CORES)}"
        name = f"bfloat16/D:{dim}/S:2048/H:12/threads:{CORES}"
        figures.append(Figure(title, 1.6, bench.ratio("dense_bench", name, "speedup"), at_least=True))
    return figures


MASKS = [
    # benchmark, length, bar, title
    ("window256", 8192, 0.85, "causal window 256"),
    ("causal", 8192, 0.75, "causal"),
    ("strided32", 8192, 0.75, "strided 32"),
    ("causal_strided32", 8192, 0.75, "causal strided 32"),
    ("sparse_transformer32", 8192, 0.75, "Sparse Transformer, window and stride 32"),
    ("longformer512", 8192, 0.75, "Longformer 512, 64 global"),
    ("documents", 8192, 0.75, "documents of 100 to 2000 tokens"),
    ("causal_documents", 8192, 0.75, "causal documents"),
    ("natten64x64_13x13", 4096, 0.75, "NATTEN 64 x 64, 13 x 13"),
    ("dilated_window", 8192, 0.75, "dilated window, 1 of 4"),
]


def sparse(bench):
    figures = []
    for threads in sorted({1, CORES}):
        for mask, length, bar, title in MASKS:
            name = f"{mask}/D:64/S:{length}/H:2/threads:{threads}"
            full = f"sparsity efficiency, D 64, S {length}: {title}, {threads_text(threads)}"
            figures.append(Figure(full, bar, bench.ratio("sparse_bench", name, "efficiency"), at_least=True))
    return figures


def paths(bench):
    """Other ways through the compiler, on all cores."""
    figures = []
    for length, bar in ((1024, 2), (4096, 6)):
        name = f"probabilities/window:128/D:64/S:{length}/H:8/threads:{CORES}"
        title = f"probabilities, window 128, S {length}: times as fast as OpenBLAS products and a softmax"
        figures.append(Figure(title, bar, bench.ratio("probabilities_bench", name, "speedup"), at_least=True))
    name = f"decode/D:128/Sk:32768/H:32_8/threads:{CORES}"
    title = "decoding, Sq 1, Sk 32768, 32/8 heads, D 128: share of the bandwidth of a plain read of K and V"
    figures.append(Figure(title, 0.85, bench.ratio("decode_bench", name, "share"), at_least=True))
    return figures


def growth(bench):
    title = "window 256, S 1024 to 65536: exponent of time"
    name = f"growth/window256/D:64/threads:{CORES}"
    return [
        Figure("window 256, S 65536: memory beside inputs and outputs", 8, bench.children("memory", "", "launch_mib", None), "MiB"),
        Figure(title, 1.05, bench.counted("growth_bench", name, "exponent")),
    ]


def front_end(bench):
    return [
        Figure("components and four tile relations at 1,048,576 x 1,048,576", 20, bench.slowest("facts_bench", "relations/"), "ms"),
        Figure("counts at the same size", 100, bench.slowest("facts_bench", "counts/"), "ms"),
        Figure("bind of 10,000 documents in 1,048,576 tokens", 100, bench.timed("bind_bench", "bind/documents_10000_1M", 60), "ms"),
        Figure("bind of each of 100 tables of 262,144 tokens", 20, bench.timed("bind_bench", "bind/documents_100_tables_256K", 60), "ms"),
        Figure("raw matrices of 8192 x 8192, 8 patterns", 100, bench.slowest("matrix_bench", ""), "ms"),
    ]


def torch(build):
    """The comparison with PyTorch, where bench/compare_torch.sh has installed it."""

    def make():
        script = pathlib.Path(__file__).with_name("compare_torch.sh")
        report = json.loads(run([str(script), "--json", "--no-install", str(build)], 1800))
        slow, fast = min(report["masks"], key=lambda one: one["speedup"]), max(report["masks"], key=lambda one: one["speedup"])
        note = f"torch {report['torch']}; {slow['speedup']:.3g} ({slow['name']}) to {fast['speedup']:.3g} ({fast['name']})"
        return Value(report["geomean"], report["geomean_median"], note)

    return [Figure("geomean of 12 masks against the faster of FlexAttention and SDPA of torch", 1.5, lambda: key_error(make), at_least=True)]


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
        "cores": str(CORES),
        "load before": f"{os.getloadavg()[0]:.1f}",
        "build": first_match(r"^CMAKE_BUILD_TYPE:STRING=(.*)$", cache),
        "LLVM": first_match(r'set\(PACKAGE_VERSION "(.*)"\)', llvm),
    }


def print_table(rows):
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    for row in rows:
        print("  ".join(cell.ljust(width) for cell, width in zip(row, widths)).rstrip())


def print_figures(figures, markdown):
    if markdown:
        print("| what | bar | best (median) | |\n|---|---|---|---|")
        for one in figures:
            print(one.markdown())
    else:
        print_table([["figure", "bar", "best", "median", "", ""], *(one.row() for one in figures)])
    counts = [sum(one.verdict() == verdict for one in figures) for verdict in ("reached", "missed", "not measured")]
    print(f"\n{len(figures)} figures: {counts[0]} reached, {counts[1]} missed, {counts[2]} not measured")
    return counts[2]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build", type=pathlib.Path, metavar="BUILD_FOLDER")
    parser.add_argument("--markdown", action="store_true")
    parser.add_argument("--only", action="append", default=[], metavar="TEXT")
    options = parser.parse_args()
    bench, machine = Bench(options.build), machine_of(options.build)
    groups = [first_results(bench), dense(bench), sparse(bench), paths(bench), growth(bench), torch(options.build), front_end(bench)]
    figures = [one for group in groups for one in group if not options.only or any(text in one.title for text in options.only)]
    for one in figures:
        one.take()
        print("  ".join(one.row()), file=sys.stderr, flush=True)
    machine |= {" ".join((key, *(o for o in rest if "repetitions" not in o))): text for (key, *rest), text in bench.contexts.items()}
    for name, value in machine.items():
        print(f"{name}: {value}")
    print()
    return 1 if print_figures(figures, options.markdown) else 0


if __name__ == "__main__":
    sys.exit(main())
