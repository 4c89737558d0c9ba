#!/usr/bin/env python3
"""R118: building must not need a large machine. Compiles the source that takes most memory, as the build does, and measures its peak.

Usage: compile_memory_test.py BUILD_FOLDER
"""
import json
import os
import re
import resource
import subprocess
import sys
import unittest

BUILD = ""
MIB = 1 << 20
HEAVIEST = "/src/jit/orc.cpp"  # 520 MiB: most of LLVM's headers. Those with CLI11 and JSON take 450, all others less.


class CompileMemory(unittest.TestCase):
    def test_R118_no_compile_takes_more_than_a_small_machine_has(self):
        with open(os.path.join(BUILD, "compile_commands.json"), encoding="utf-8") as file:
            entry = next(entry for entry in json.load(file) if entry["file"].endswith(HEAVIEST))
        compiler = re.sub(r"^\S*ccache ", "", entry["command"])
        subprocess.run(re.sub(r" -o \S+", " -o /dev/null", compiler), shell=True, check=True, cwd=entry["directory"], timeout=300)
        peak = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss * 1024
        self.assertGreater(peak, 100 * MIB, "no compiler ran")
        self.assertLess(peak, 2560 * MIB)


if __name__ == "__main__":
    BUILD = os.path.abspath(sys.argv.pop(1))
    unittest.main()
