#!/usr/bin/env python3
"""Checks the house rules that no compiler checks: which folder may include which, what each header must say first, and words
that must not be in the tree. docs/architecture.md explains the rules.

Usage: lint_includes.py [ROOT]     Prints `path:line: reason` for each breach; exit status 1 when there is one.
"""
import os
import re
import sys

# Folder -> folders (or single headers) it may include. Every folder may include itself and include/heddle.
LEVELS = {
    "include/heddle": [],
    "src/support": [],
    "src/ir": ["src/support"],
    "dsl": ["src/ir", "src/support"],
    "src/analysis": ["src/ir", "src/support"],
    "src/plan": ["src/analysis", "src/ir", "src/support"],
    "src/lower": ["src/plan", "src/analysis", "src/ir", "src/support"],
    "src/codegen": ["src/ir", "src/support", "src/plan/kernel_plan.h"],
    "src/jit": ["src/codegen", "src/support", "runtime"],
    "runtime": ["src/support"],
    "src/engine": ["src/support", "src/ir", "dsl", "src/analysis", "src/plan", "src/lower", "src/codegen", "src/jit", "runtime"],
    "src/cli": ["src/support", "src/ir", "dsl", "src/analysis", "src/plan", "runtime", "src/engine"],
}
# Libraries that stay behind one room's wall: include prefix -> rooms that may name it.
LIBRARIES = {
    "llvm/": ["src/codegen", "src/jit", "src/engine/compiler"],
    "clang/": ["src/jit/clang"],
    "lld/": ["src/jit/clang"],
    "isl/": ["src/analysis"],
    "nlohmann/": ["dsl", "src/engine", "src/cli"],
    "CLI/": ["src/cli"],
}
SOURCE = (".h", ".cpp", ".inc")
TEXT = SOURCE + (".py", ".sh", ".md", ".cmake", ".txt", ".json")
SKIPPED = ("build", ".git", "__pycache__")
# Spelt in pieces, so that this file does not contain them.
UNFINISHED = re.compile(r"\b(" + "|".join(("TO" + "DO", "FIX" + "ME", "XX" + "X", "HA" + "CK")) + r")\b")
MACHINE_PATH = re.compile(r"(?<![\w.$}])/(" + "|".join(("wo" + "rk", "tm" + "p", "ho" + "me", "ro" + "ot")) + r")/")
INCLUDE = re.compile(r'\s*#\s*include\s*([<"])([^">]+)[">]')


def inside(path, folder):
    return path == folder or path.startswith(folder + "/")


def room(path):
    """The folder of LEVELS that a file, or the target of an include, lies in; None outside of them."""
    if path.startswith("heddle/"):
        return "include/heddle"
    return next((name for name in LEVELS if inside(path, name)), None)


def include_breach(path, line):
    """Why this line must not stand in this file, or None. `#include "src/plan/cost.h"` in src/codegen/x.cpp is a breach."""
    match = INCLUDE.match(line)
    if not match:
        return None
    target = match.group(2)
    for prefix, rooms in LIBRARIES.items():
        if target.startswith(prefix) and room(path) and not any(inside(path, name) for name in rooms):
            return f"<{target}> may be included only in {', '.join(rooms)}"
    here, there = room(path), room(target)
    if here is None or there in (None, here, "include/heddle"):
        return None
    return None if there in LEVELS[here] or target in LEVELS[here] else f"{here} must not include {there}"


def says_purpose(text):
    """True when the first line begins a comment whose first sentence has at least five words."""
    comment = []
    for line in text.splitlines():
        if not line.startswith("//"):
            break
        comment.append(line.lstrip("/ "))
    sentence = re.split(r"\.(?:\s|$)", " ".join(comment), maxsplit=1)[0]
    return len(re.findall(r"[A-Za-z]{2,}", sentence)) >= 5


def breaches(path, text):
    """All breaches of one file, as (line number, reason)."""
    found = []
    if path.endswith(".h") and not says_purpose(text):
        found.append((1, "a header begins with a comment of at least one sentence on its purpose"))
    for number, line in enumerate(text.splitlines(), 1):
        reason = include_breach(path, line) if path.endswith(SOURCE) else None
        if reason:
            found.append((number, reason))
        if UNFINISHED.search(line):
            found.append((number, f"unfinished work is not committed: {UNFINISHED.search(line).group(0)}"))
        if MACHINE_PATH.search(line):
            found.append((number, f"a path of one machine: {MACHINE_PATH.search(line).group(0)}"))
    return found


def files(root):
    for folder, folders, names in os.walk(root):
        folders[:] = sorted(name for name in folders if not name.startswith(SKIPPED))
        for name in sorted(names):
            if name.endswith(TEXT):
                yield os.path.relpath(os.path.join(folder, name), root)


def main():
    root = sys.argv[1] if len(sys.argv) > 1 else os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    count, headers, bad = 0, 0, 0
    for path in files(root):
        with open(os.path.join(root, path), encoding="utf-8") as file:
            text = file.read()
        count += 1
        headers += path.endswith(".h")
        for number, reason in breaches(path, text):
            bad += 1
            print(f"{path}:{number}: {reason}")
    print(f"lint: {count} files, {headers} headers, {bad} breaches")
    return 1 if bad or headers == 0 else 0


if __name__ == "__main__":
    sys.exit(main())
