#!/usr/bin/env python3
"""Tests the installed tree from a place it was moved to, with programs built against it, and the Debian package.

Usage: install_test.py BUILD_FOLDER VERSION [unittest arguments]
"""
import glob
import os
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
BUILD = VERSION = ""


def command(*arguments, status=0, env=None, cwd=None):
    """Output of a command that must end with `status`; its standard error follows the output."""
    done = subprocess.run(arguments, capture_output=True, text=True, timeout=500, cwd=cwd, env=dict(os.environ, **(env or {})))
    if done.returncode != status:
        raise AssertionError(f"{' '.join(arguments)} ended with {done.returncode}\n{done.stdout}\n{done.stderr}")
    return done.stdout + done.stderr


def needed(path):
    """Every library that is loaded with a program or library, by name."""
    listed = command("ldd", path)
    if "not found" in listed:
        raise AssertionError(listed)
    return re.findall(r"(\S*lib[^\s/]+\.so[.\d]*)", listed)


class Installed(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.mkdtemp(prefix="heddle-install-")
        cls.addClassCleanup(shutil.rmtree, cls.folder)
        command("cmake", "--install", BUILD, "--prefix", os.path.join(cls.folder, "first"))
        cls.prefix = os.path.join(cls.folder, "moved here")
        os.rename(os.path.join(cls.folder, "first"), cls.prefix)
        cls.built = os.path.join(cls.folder, "consumer")
        cls.env = {"HEDDLE_CACHE_DIR": os.path.join(cls.folder, "cache")}
        command("cmake", "-S", os.path.join(HERE, "consumer"), "-B", cls.built, f"-DCMAKE_PREFIX_PATH={cls.prefix}")
        command("cmake", "--build", cls.built)

    def program(self, name):
        return os.path.join(self.built, name)

    def test_files(self):
        lib = os.path.join(self.prefix, "lib")
        for name in ("heddle", "heddle_compiler", "heddle_runtime"):
            file = os.path.join(lib, f"lib{name}.so.{VERSION}")
            self.assertTrue(os.path.isfile(file), file)
            self.assertIn(f"[lib{name}.so.{VERSION.split('.')[0]}]", command("readelf", "-d", file))
        for name in ("bin/heddle", "include/heddle/c.h", "include/heddle/version.h", "lib/cmake/heddle/heddleConfig.cmake",
                     "lib/cmake/heddle/heddleConfigVersion.cmake", "lib/cmake/heddle/heddleTargets.cmake",
                     "lib/pkgconfig/heddle.pc", "share/doc/heddle/README.md", "share/doc/heddle/LICENSE"):
            self.assertTrue(os.path.isfile(os.path.join(self.prefix, name)), name)

    def test_names_no_build_folder(self):
        for file in glob.glob(self.prefix + "/lib/cmake/heddle/*") + glob.glob(self.prefix + "/lib/pkgconfig/*"):
            with open(file, encoding="utf-8") as text:
                self.assertNotIn(BUILD, text.read(), file)
        for file in glob.glob(self.prefix + "/lib/*.so") + [self.prefix + "/bin/heddle"]:
            path = re.findall(r"RUNPATH.*\[(.*)\]", command("readelf", "-d", file))
            self.assertIn(path, (["$ORIGIN"], ["$ORIGIN/../lib"]), file)

    def test_isl_comes_from_one_library(self):
        """That of libLLVM where it has one; then libisl is not even loaded."""
        compiler = os.path.join(self.prefix, "lib/libheddle_compiler.so")
        loaded = [os.path.basename(library) for library in needed(compiler)]
        said = command(os.path.join(self.prefix, "bin/heddle"), "facts", "--mask", "k <= q", "--sq", "64", env={"LD_DEBUG": "bindings", **self.env})
        bound = set(re.findall(r"binding file .*libheddle_compiler\S* \[0\] to (.+) \[0\]: normal symbol `isl_", said))
        self.assertEqual(len(bound), 1, bound)
        from_llvm = os.path.basename(bound.pop()).startswith("libLLVM")
        self.assertEqual(from_llvm, not any(library.startswith("libisl") for library in loaded), loaded)

    def test_command(self):
        binary = os.path.join(self.prefix, "bin/heddle")
        self.assertIn(VERSION, command(binary, "--version"))
        self.assertIn("k <= q", command(binary, "explain", "--mask", "k <= q", env=self.env))

    def test_consumers_run(self):
        kernel = command(self.program("consumer"), env=self.env).strip()
        self.assertTrue(kernel.startswith(self.env["HEDDLE_CACHE_DIR"]), kernel)
        self.assertEqual(command(self.program("consumer_c"), env=self.env), f"ok {VERSION}\n")
        copy = os.path.join(self.folder, "copied.kernel")
        shutil.copy(kernel, copy)
        said = command(self.program("consumer_runtime"), copy)
        for part in ("1 query heads are no multiple of 0 key and value heads", "k is a null pointer", "sq is -1; expected 0 to",
                     "missing.kernel is no kernel that this version of Heddle can read", "threads is -1"):
            self.assertIn(part, said)

    def test_consumers_link_no_compiler(self):
        for name in ("consumer", "consumer_c", "consumer_runtime"):
            for library in needed(self.program(name)):
                self.assertNotRegex(library, "LLVM|isl|heddle_compiler")
        self.assertFalse([library for library in needed(self.program("consumer_runtime")) if "libheddle.so" in library])

    def test_a_lone_library_names_where_it_looked(self):
        lone = os.path.join(self.folder, "lone")
        os.makedirs(lone)
        shutil.copy(os.path.join(self.prefix, "lib", "libheddle.so.0"), lone)
        said = command(self.program("consumer_c"), status=2,
                       env={"LD_LIBRARY_PATH": lone, "HEDDLE_CACHE_DIR": os.path.join(self.folder, "empty")})
        self.assertTrue(said.startswith("toolchain error the compiler library libheddle_compiler.so.0 cannot be opened"), said)
        self.assertIn(os.path.join(lone, "libheddle_compiler.so.0"), said)

    def test_headers_stand_alone(self):
        for header in sorted(os.listdir(os.path.join(self.prefix, "include/heddle"))):
            languages = [["g++", "-std=c++20"]]
            if header in ("c.h", "version.h"):
                languages.append(["gcc", "-std=c99", "-Wpedantic"])
            for language in languages:
                source = os.path.join(self.folder, "header.c" if language[0] == "gcc" else "header.cpp")
                with open(source, "w", encoding="utf-8") as file:
                    file.write(f'#include "heddle/{header}"\nint main(void) {{ return 0; }}\n')
                found = command(*language, "-Wall", "-Wextra", "-Werror", "-I", os.path.join(self.prefix, "include"), "-M", source)
                self.assertNotRegex(found, r"/(llvm|isl|fmt|nlohmann)[/-]", header)
                command(*language, "-Wall", "-Wextra", "-Werror", "-I", os.path.join(self.prefix, "include"), "-fsyntax-only", source)

    def test_pkg_config(self):
        path = {"PKG_CONFIG_PATH": os.path.join(self.prefix, "lib/pkgconfig")}
        flags = command("pkg-config", "--cflags", "--libs", "heddle", env=path)
        self.assertIn("-lheddle", flags)
        self.assertIn("moved", flags)
        self.assertEqual(command("pkg-config", "--modversion", "heddle", env=path).strip(), VERSION)


class Package(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.mkdtemp(prefix="heddle-deb-")
        cls.addClassCleanup(shutil.rmtree, cls.folder)
        command("cpack", "-G", "DEB", "--config", os.path.join(BUILD, "CPackConfig.cmake"), "-B", cls.folder, cwd=cls.folder)
        cls.packages = glob.glob(cls.folder + "/*.deb")

    def test_one_package_with_its_dependencies(self):
        self.assertEqual([os.path.basename(package) for package in self.packages], [f"heddle_{VERSION}_amd64.deb"])
        about = command("dpkg", "-I", self.packages[0])
        depends = re.search(r"^ Depends: (.*)$", about, flags=re.M).group(1)
        for library in ("libc6", "libstdc++6", "libllvm19", "libfmt", "libxxhash0"):
            self.assertIn(library, depends)
        self.assertRegex(about, r"Recommends: .*libdlpack-dev")

    def test_maintainer_is_the_configured_one(self):
        with open(os.path.join(BUILD, "CMakeCache.txt"), encoding="utf-8") as cache:
            configured = re.search(r"^HEDDLE_MAINTAINER:STRING=(.*)$", cache.read(), flags=re.M).group(1)
        found = re.search(r"^ Maintainer: (.*)$", command("dpkg", "-I", self.packages[0]), flags=re.M).group(1)
        self.assertEqual(found, configured)
        self.assertRegex(found, r"^[^<>]+ <[^<>@ ]+@[^<>@ ]+\.[a-z]+>$")

    def test_contents_run(self):
        listed = command("dpkg", "-c", self.packages[0])
        for name in ("./usr/bin/heddle\n", f"./usr/lib/libheddle.so.{VERSION}\n", f"./usr/lib/libheddle_compiler.so.{VERSION}\n",
                     f"./usr/lib/libheddle_runtime.so.{VERSION}\n", "./usr/include/heddle/engine.h\n",
                     "./usr/lib/cmake/heddle/heddleConfig.cmake\n", "./usr/share/doc/heddle/LICENSE\n"):
            self.assertIn(name, listed.replace(" -> ", "\n"))
        root = os.path.join(self.folder, "root")
        command("dpkg", "-x", self.packages[0], root)
        binary = os.path.join(root, "usr/bin/heddle")
        self.assertIn(VERSION, command(binary, "--version"))
        self.assertIn("k <= q", command(binary, "explain", "--mask", "k <= q", env={"HEDDLE_CACHE_DIR": root}))


if __name__ == "__main__":
    BUILD, VERSION = os.path.abspath(sys.argv.pop(1)), sys.argv.pop(1)
    unittest.main()
