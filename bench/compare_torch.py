#!/usr/bin/env python3
"""Heddle against PyTorch on this processor: 12 masks, the same operands, the same number of threads, in one process.

    compare_torch.py [--json] LIBHEDDLE      run by bench/compare_torch.sh, which has PyTorch

The rivals are flex_attention under torch.compile with a block mask made beforehand, and scaled_dot_product_attention with its own causal
switch where that fits, else with a mask of booleans made beforehand. Before anything is timed all results must agree. Then the three
take turns; a speedup is the best time of the faster rival over Heddle's best time, and the median of the rounds stands beside it.
"""

import argparse
import json
import math
import os
import statistics
import sys
import time

import torch
from torch.nn.attention.flex_attention import create_block_mask, flex_attention

from heddle_from_python import Heddle

SHAPE = (1, 8, 4096, 64)  # batch, heads, length, head dim
LENGTH = SHAPE[2]
TOLERANCE = 2e-5
ROUNDS, SECONDS = 7, 6.0  # At least so many rounds, and rounds for at most so long beyond them.


def documents():
    """Lengths of 100 to 2000, one document after the other."""
    generator = torch.Generator().manual_seed(3)
    lengths = torch.randint(100, 2001, (LENGTH // 100 + 1,), generator=generator)
    return torch.repeat_interleave(torch.arange(len(lengths)), lengths)[:LENGTH].to(torch.int32).contiguous()


DOC = documents()


def natten(q, k):
    row, column = (q // 64).clamp(6, 57), (q % 64).clamp(6, 57)
    return ((row - k // 64).abs() <= 6) & ((column - k % 64).abs() <= 6)


def swin(q, k):
    """Windows of 8 x 8 on a 64 x 64 image, shifted by 4."""

    def window(i):
        return (i // 64 + 4) // 8 * 9 + (i % 64 + 4) // 8

    return window(q) == window(k)


# Name, formula of Heddle, the same for torch. No formula: every pair.
MASKS = [
    ("full", "", None),
    ("causal", "k <= q", lambda q, k: k <= q),
    ("causal window 256", "k <= q && q - k < 256", lambda q, k: (k <= q) & (q - k < 256)),
    ("sinks 4 and window 512", "k <= q && (k < 4 || q - k < 512)", lambda q, k: (k <= q) & ((k < 4) | (q - k < 512))),
    ("prefix 1024", "k <= q || k < 1024", lambda q, k: (k <= q) | (k < 1024)),
    ("Longformer 512, 64 global", "abs(q - k) <= 256 || k < 64 || q < 64",
     lambda q, k: ((q - k).abs() <= 256) | (k < 64) | (q < 64)),
    ("documents", "doc[q] == doc[k]", lambda q, k: DOC[q] == DOC[k]),
    ("blocks of 256 and the one before", "q / 256 == k / 256 || q / 256 == k / 256 + 1",
     lambda q, k: (q // 256 == k // 256) | (q // 256 == k // 256 + 1)),
    ("Sparse Transformer 32", "k <= q && (q - k < 32 || (q - k) % 32 == 0)",
     lambda q, k: (k <= q) & ((q - k < 32) | ((q - k) % 32 == 0))),
    ("dilated window", "abs(q - k) <= 512 && (q - k) % 4 == 0", lambda q, k: ((q - k).abs() <= 512) & ((q - k) % 4 == 0)),
    ("NATTEN 64 x 64, 13 x 13", "abs(min(max(q / 64, 6), 57) - k / 64) <= 6 && abs(min(max(q % 64, 6), 57) - k % 64) <= 6", natten),
    ("Swin, shifted windows of 8 x 8",
     "(q / 64 + 4) / 8 == (k / 64 + 4) / 8 && (q % 64 + 4) / 8 == (k % 64 + 4) / 8", swin),
]


def seconds(work):
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


def boolean_mask(allows):
    positions = torch.arange(LENGTH)
    return allows(positions[:, None], positions[None, :])


def rivals_of(allows, q, k, v, compiled):
    """Functions that give O, by name."""
    if allows is None:
        return {"flex": lambda: compiled(q, k, v), "sdpa": lambda: torch.nn.functional.scaled_dot_product_attention(q, k, v)}
    block_mask = create_block_mask(lambda b, h, i, j: allows(i, j), None, None, LENGTH, LENGTH, device="cpu")
    dense = boolean_mask(allows)
    if torch.equal(dense, torch.ones_like(dense).tril()):
        sdpa = lambda: torch.nn.functional.scaled_dot_product_attention(q, k, v, is_causal=True)
    else:
        sdpa = lambda: torch.nn.functional.scaled_dot_product_attention(q, k, v, attn_mask=dense)
    return {"flex": lambda: compiled(q, k, v, block_mask=block_mask), "sdpa": sdpa}


def check(name, results):
    """All against the first; O is a mean of values of the normal distribution, so an absolute bound serves."""
    for who, result in results.items():
        error = (result - results["heddle"]).abs().max().item()
        if not error <= TOLERANCE:
            raise SystemExit(f"compare_torch: {name}: heddle and {who} differ by {error:.3g}, more than {TOLERANCE}")


def rounds(works):
    """Times of works that take turns, in seconds. The pause lets the threads of the last work's pool fall asleep."""
    times = {name: [] for name in works}
    end = time.perf_counter() + SECONDS
    while len(times["heddle"]) < ROUNDS or time.perf_counter() < end:
        for name, work in works.items():
            time.sleep(0.02)
            times[name].append(seconds(work))
    return times


def compare(engine, mask, q, k, v):
    name, formula, allows = mask
    torch._dynamo.reset()
    o = torch.empty_like(q)
    attention = engine.attention(formula, SHAPE, {"doc": DOC} if "doc[" in formula else {})
    works = {"heddle": lambda: attention(q, k, v, o)} | rivals_of(allows, q, k, v, torch.compile(flex_attention, dynamic=False))
    results = {who: work() for who, work in works.items()}
    check(name, results | {"heddle": o})
    times = rounds(works)
    best = {who: min(of) for who, of in times.items()}
    faster = min(("flex", "sdpa"), key=best.get)
    return {"name": name, "ms": {who: 1e3 * one for who, one in best.items()}, "faster": faster, "speedup": best[faster] / best["heddle"],
            "median": statistics.median(a / b for a, b in zip(times[faster], times["heddle"]))}


def geomean(values):
    return math.exp(statistics.fmean(math.log(value) for value in values))


def summary(masks):
    report = {"torch": torch.__version__, "threads": torch.get_num_threads(), "shape": SHAPE, "masks": masks}
    report["geomean"] = geomean(one["speedup"] for one in masks)
    report["geomean_median"] = geomean(one["median"] for one in masks)
    for rival in ("flex", "sdpa"):
        report[f"geomean_{rival}"] = geomean(one["ms"][rival] / one["ms"]["heddle"] for one in masks)
    return report


def text(one):
    ms = one["ms"]
    return (f"{one['name']:34} heddle {ms['heddle']:8.2f} ms   flex {ms['flex']:8.2f} ms   sdpa {ms['sdpa']:8.2f} ms   "
            f"{one['speedup']:6.2f} ({one['median']:.2f}) times as fast as {one['faster']}")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("library", metavar="LIBHEDDLE")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    threads = len(os.sched_getaffinity(0))
    torch.set_num_threads(threads)
    torch.manual_seed(1)
    torch.set_grad_enabled(False)
    engine = Heddle(options.library, threads)
    q, k, v = (torch.randn(SHAPE) for _ in range(3))
    masks = []
    for mask in MASKS:
        masks.append(compare(engine, mask, q, k, v))
        print(text(masks[-1]), file=sys.stderr if options.json else sys.stdout, flush=True)
    report = summary(masks)
    if options.json:
        print(json.dumps(report, indent=2))
    else:
        print(f"geomean {report['geomean']:.2f} ({report['geomean_median']:.2f}) against the faster of both; "
              f"{report['geomean_flex']:.2f} against flex_attention, {report['geomean_sdpa']:.2f} against SDPA")


if __name__ == "__main__":
    main()
