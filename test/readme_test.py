#!/usr/bin/env python3
"""Tests that README.md tells the truth: its program is the first lesson, its commands run, its links lead somewhere.

Usage: readme_test.py BUILD_FOLDER     The README's `build/` is read as that folder.
"""
import os
import re
import subprocess
import sys
import tempfile
import unittest

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
BUILD = os.path.join(ROOT, "build")


def read(name):
    with open(os.path.join(ROOT, name), encoding="utf-8") as file:
        return file.read()


def blocks(language):
    return re.findall(r"^```" + language + r"\n(.*?)^```$", read("README.md"), flags=re.M | re.S)


class Readme(unittest.TestCase):
    def test_program_is_the_first_lesson(self):
        self.assertEqual(blocks("cpp"), [read("examples/00_first_program/main.cpp")])

    def test_commands_run(self):
        lines = [line for block in blocks("sh") for line in block.splitlines() if not line.startswith("scripts/")]
        self.assertGreaterEqual(len(lines), 7)
        with tempfile.TemporaryDirectory() as cache:
            for line in lines:
                command = re.sub(r"(?:\$PWD/)?build/", BUILD + "/", line)
                done = subprocess.run(command, shell=True, cwd=ROOT, env=dict(os.environ, HEDDLE_CACHE_DIR=cache),
                                      capture_output=True, text=True, timeout=300)
                self.assertEqual(done.returncode, 0, f"{line}\n{done.stdout}\n{done.stderr}")
                self.assertEqual(done.stderr, "", line)

    def test_links_lead_somewhere(self):
        for name in ("README.md", "docs/semantics.md", "docs/architecture.md"):
            for target in re.findall(r"\]\(([^)#:]+)\)", read(name)):
                path = os.path.join(ROOT, os.path.dirname(name), target)
                self.assertTrue(os.path.exists(path), f"{name}: {target}")

    def test_scripts_named_exist(self):
        for script in set(re.findall(r"\b((?:scripts|bench)/\w+\.sh)", read("README.md"))):
            self.assertTrue(os.access(os.path.join(ROOT, script), os.X_OK), script)


if __name__ == "__main__":
    BUILD = os.path.abspath(sys.argv.pop(1)) if len(sys.argv) > 1 else BUILD
    unittest.main()
