#!/usr/bin/env python3
"""Runs lit, the GoogleTest binaries and pytest; prints the summary of each and, last, the sum of all.

    run_tests.py [--build build] [--only lit|unit|python] [--filter TEXT]

Exit code: 0 if something ran and nothing failed, 1 otherwise.  A runner that executes no test has failed.
"""

import argparse
import json
import os
import subprocess
import sys
import time
import xml.etree.ElementTree as ElementTree
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]

# A hanging test must end the run long before whoever waits for it gives up.
LIMIT_S = 3600

# lit's result codes; anything else (UNSUPPORTED, SKIPPED, EXCLUDED) counts as skipped.
LIT_PASSED = {"PASS", "FLAKYPASS", "XFAIL"}
LIT_FAILED = {"FAIL", "XPASS", "UNRESOLVED", "TIMEOUT"}


@dataclass
class Count:
    passed: int = 0
    failed: int = 0
    skipped: int = 0

    def __add__(self, other):
        return Count(self.passed + other.passed, self.failed + other.failed, self.skipped + other.skipped)

    def __str__(self):
        return f"{self.passed} passed, {self.failed} failed, {self.skipped} skipped"


def run(command, **keywords):
    """Runs `command` without standard input; returns its exit code, or 124 after LIMIT_S seconds."""
    sys.stdout.flush()
    try:
        return subprocess.run(command, stdin=subprocess.DEVNULL, timeout=LIMIT_S, **keywords).returncode
    except subprocess.TimeoutExpired:
        print(f"no end after {LIMIT_S} s: {' '.join(map(str, command))}")
        return 124


def settle(count, code):
    """A runner that failed, but whose report counts no failure (it crashed, say), has one failure."""
    if code != 0 and count.failed == 0:
        return count + Count(failed=1)
    return count


def fresh(path):
    """Returns `path` with its folder made and an earlier report removed."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.unlink(missing_ok=True)
    return path


# ---- the three runners ----------------------------------------------------------------------------------------------


def count_lit(report):
    """Counts the tests in lit's JSON report."""
    count = Count()
    if report.exists():
        for test in json.loads(report.read_text(encoding="utf-8"))["tests"]:
            if test["code"] in LIT_PASSED:
                count.passed += 1
            elif test["code"] in LIT_FAILED:
                count.failed += 1
            else:
                count.skipped += 1
    return count


def run_lit(build, pattern):
    report = fresh(build / "test-results" / "lit.json")
    command = [Path(sys.executable).parent / "lit", "-v", "--output", report, build / "test"]
    if not sys.stdout.isatty():
        command.insert(1, "-s")
    if pattern:
        command[1:1] = ["--filter", pattern]
    code = run(command)
    return settle(count_lit(report), code)


def count_gtest(report):
    """Counts the tests in a GoogleTest JSON report."""
    count = Count()
    if report.exists():
        for suite in json.loads(report.read_text(encoding="utf-8"))["testsuites"]:
            for test in suite["testsuite"]:
                if test.get("result") == "SKIPPED":
                    count.skipped += 1
                elif test.get("status") == "NOTRUN":
                    continue
                elif test.get("failures"):
                    count.failed += 1
                else:
                    count.passed += 1
    return count


def run_unit(build, pattern):
    manifest = build / "test" / "unittests" / "binaries.txt"
    binaries = [Path(line) for line in manifest.read_text(encoding="utf-8").split()] if manifest.exists() else []
    total = Count()
    for binary in binaries:
        report = fresh(build / "test-results" / f"{binary.name}.json")
        command = [binary, "--gtest_brief=1", f"--gtest_output=json:{report}"]
        if pattern:
            command.append(f"--gtest_filter=*{pattern}*")
        if not binary.exists():
            print(f"{binary} was not built")
            total += Count(failed=1)
            continue
        code = run(command, cwd=ROOT)
        if code not in (0, 1):
            print(f"{binary.name} ended with code {code}")
        total += settle(count_gtest(report), code)
    return total


def count_junit(report):
    """Counts the tests in pytest's JUnit report."""
    count = Count()
    if report.exists():
        for suite in ElementTree.parse(report).getroot().iter("testsuite"):
            failed = int(suite.get("failures", 0)) + int(suite.get("errors", 0))
            skipped = int(suite.get("skipped", 0))
            count += Count(max(0, int(suite.get("tests", 0)) - failed - skipped), failed, skipped)
    return count


def run_python(build, pattern):
    report = fresh(build / "test-results" / "pytest.xml")
    # A file's tests stay in one process: they share what they compiled.
    workers = ["-n", str(min(len(os.sched_getaffinity(0)), 8)), "--dist", "loadfile"]
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", f"--junitxml={report}", *workers]
    if pattern:
        command += ["-k", pattern]
    environment = dict(os.environ, CONVBERT_BUILD_DIR=str(build))
    code = run(command + ["test"], cwd=ROOT, env=environment)
    return settle(count_junit(report), code)


RUNNERS = {"lit": ("lit", run_lit), "unit": ("GoogleTest", run_unit), "python": ("pytest", run_python)}


def main(arguments=None):
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--build", default="build", help="build directory (default: build)")
    parser.add_argument("--only", choices=RUNNERS, help="run one of the three")
    parser.add_argument("--filter", default="", metavar="TEXT", help="run only the tests whose name contains TEXT")
    options = parser.parse_args(arguments)
    build = Path(options.build)
    build = build if build.is_absolute() else ROOT / build

    total = Count()
    lines = []
    for key, (name, runner) in RUNNERS.items():
        if options.only not in (None, key):
            continue
        print(f"convbert: running {name}", flush=True)
        start = time.monotonic()
        count = runner(build, options.filter)
        note = ""
        # With a filter, one runner may well have nothing to do; the sum is checked below.
        if count.passed + count.failed == 0 and not options.filter:
            note = " (executed no test, which is a failure)"
            count += Count(failed=1)
        lines.append(f"{name}: {count}{note} in {time.monotonic() - start:.0f} s")
        print(lines[-1], flush=True)
        total += count
    print("\n" + "\n".join(lines))
    print(total, flush=True)
    return 0 if total.failed == 0 and total.passed > 0 else 1


if __name__ == "__main__":
    sys.exit(main())
