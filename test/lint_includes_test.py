#!/usr/bin/env python3
"""Tests that the lint finds what it must find and leaves alone what it must leave alone."""
import unittest

import lint_includes as lint

PURPOSE = "// Counts the tiles of a mask exactly.\n"


def reasons(path, text):
    return [reason for _, reason in lint.breaches(path, text)]


class Levels(unittest.TestCase):
    def test_upward_include_is_a_breach(self):
        self.assertEqual(reasons("src/ir/a.cpp", '#include "src/plan/kernel_plan.h"'), ["src/ir must not include src/plan"])

    def test_downward_include_is_fine(self):
        self.assertEqual(reasons("src/plan/a.cpp", '#include "src/ir/expr.h"\n#include "heddle/error.h"'), [])

    def test_runtime_knows_no_ir(self):
        self.assertEqual(reasons("runtime/a.h", PURPOSE + '#include "src/ir/expr.h"'), ["runtime must not include src/ir"])

    def test_codegen_may_name_the_plan_header_alone(self):
        self.assertEqual(reasons("src/codegen/llvm/a.cpp", '#include "src/plan/kernel_plan.h"'), [])
        self.assertEqual(reasons("src/codegen/llvm/a.cpp", '#include "src/plan/cost.h"'), ["src/codegen must not include src/plan"])

    def test_public_headers_include_public_headers_only(self):
        self.assertEqual(reasons("include/heddle/a.h", PURPOSE + '#include "heddle/error.h"'), [])
        self.assertEqual(reasons("include/heddle/a.h", PURPOSE + '#include "runtime/thread_pool.h"'),
                         ["include/heddle must not include runtime"])

    def test_nothing_includes_the_command(self):
        self.assertEqual(reasons("src/engine/a.cpp", '#include "src/cli/command.h"'), ["src/engine must not include src/cli"])

    def test_libraries_stay_behind_their_walls(self):
        self.assertEqual(reasons("src/analysis/a.cpp", "#include <isl/set.h>"), [])
        self.assertEqual(reasons("src/plan/a.cpp", "#include <isl/set.h>"), ["<isl/set.h> may be included only in src/analysis"])
        self.assertEqual(reasons("runtime/a.cpp", "#include <llvm/IR/Module.h>"),
                         ["<llvm/IR/Module.h> may be included only in src/codegen, src/jit, src/engine/compiler"])


class Words(unittest.TestCase):
    def test_header_without_purpose(self):
        wanted = ["a header begins with a comment of at least one sentence on its purpose"]
        self.assertEqual(reasons("src/ir/a.h", "#pragma once\n"), wanted)
        self.assertEqual(reasons("src/ir/a.h", "// a.h\n#pragma once\n"), wanted)
        self.assertEqual(reasons("src/ir/a.h", PURPOSE + "#pragma once\n"), [])
        self.assertEqual(reasons("src/ir/a.cpp", "#pragma once\n"), [])

    def test_purpose_may_span_lines(self):
        self.assertTrue(lint.says_purpose("// Counts tiles\n// of a mask exactly: no sampling.\n"))

    def test_unfinished_work(self):
        self.assertEqual(len(reasons("src/ir/a.cpp", "int x;  // TO" + "DO: more")), 1)
        self.assertEqual(reasons("src/ir/a.cpp", "int to" + "do;"), [])

    def test_machine_paths(self):
        self.assertEqual(len(reasons("README.md", "see /ho" + "me/ada/notes")), 1)
        self.assertEqual(reasons("README.md", "see ~/.cache/heddle and build/wo" + "rk/x and $HOME/wo" + "rk/"), [])


if __name__ == "__main__":
    unittest.main()
