"""The test runner counts right, and cannot pass without running anything."""

import json

import pytest
import run_tests
from host_features import host_features
from run_tests import Count


def stub(path, text):
    """Writes an executable script that stands in for a test binary."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"#!/bin/sh\n{text}\n", encoding="utf-8")
    path.chmod(0o755)
    return path


def manifest(build, *binaries):
    path = build / "test" / "unittests" / "binaries.txt"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("\n".join(map(str, binaries)) + "\n", encoding="utf-8")


def gtest_report(*tests):
    return json.dumps({"testsuites": [{"name": "S", "testsuite": list(tests)}]})


def test_lit_codes_are_counted(tmp_path):
    codes = ["PASS", "XFAIL", "FAIL", "XPASS", "UNRESOLVED", "TIMEOUT", "UNSUPPORTED", "SKIPPED"]
    report = tmp_path / "lit.json"
    report.write_text(json.dumps({"tests": [{"name": code, "code": code} for code in codes]}), encoding="utf-8")
    assert run_tests.count_lit(report) == Count(2, 4, 2)
    assert run_tests.count_lit(tmp_path / "missing.json") == Count()


def test_gtest_results_are_counted(tmp_path):
    report = tmp_path / "gtest.json"
    done = {"status": "RUN", "result": "COMPLETED"}
    failed = {**done, "failures": [{"failure": "no"}]}
    skipped = {"status": "RUN", "result": "SKIPPED"}
    filtered = {"status": "NOTRUN", "result": "SUPPRESSED"}
    report.write_text(gtest_report(done, done, failed, skipped, filtered), encoding="utf-8")
    assert run_tests.count_gtest(report) == Count(2, 1, 1)


def test_junit_results_are_counted(tmp_path):
    report = tmp_path / "pytest.xml"
    report.write_text(
        '<testsuites><testsuite tests="9" failures="2" errors="1" skipped="3"/></testsuites>', encoding="utf-8"
    )
    assert run_tests.count_junit(report) == Count(3, 3, 3)


def test_a_crashing_binary_is_a_failure(tmp_path):
    manifest(tmp_path, stub(tmp_path / "bin" / "Crash", "exit 139"), stub(tmp_path / "bin" / "Gone", "") / "x")
    assert run_tests.run_unit(tmp_path, "") == Count(failed=2)


def test_a_binary_that_fails_after_passing_tests_is_a_failure(tmp_path):
    report = gtest_report({"status": "RUN", "result": "COMPLETED"})
    script = f"""for a in "$@"; do case $a in --gtest_output=json:*)
echo '{report}' > "${{a#--gtest_output=json:}}";; esac; done; exit 1"""
    manifest(tmp_path, stub(tmp_path / "bin" / "Leaky", script))
    assert run_tests.run_unit(tmp_path, "") == Count(passed=1, failed=1)


@pytest.mark.parametrize("only", ["lit", "unit"])
def test_running_no_test_is_a_failure(tmp_path, capfd, only):
    (tmp_path / "test").mkdir()
    assert run_tests.main(["--build", str(tmp_path), "--only", only]) == 1
    output = capfd.readouterr()
    assert "executed no test" in output.out or "did not discover any tests" in output.err
    assert output.out.splitlines()[-1] == "0 passed, 1 failed, 0 skipped"


def test_the_last_line_sums_all_runners(tmp_path, capfd, monkeypatch):
    monkeypatch.setattr(
        run_tests,
        "RUNNERS",
        {"lit": ("lit", lambda *_: Count(1, 0, 2)), "unit": ("GoogleTest", lambda *_: Count(10, 0, 0))},
    )
    assert run_tests.main(["--build", str(tmp_path)]) == 0
    assert capfd.readouterr().out.splitlines()[-1] == "11 passed, 0 failed, 2 skipped"


@pytest.mark.parametrize(
    "flags, expected",
    [
        ("fpu sse4_2", set()),
        ("ssse3 sse4_1 sse4_2 popcnt", {"generic"}),
        ("avx2 fma bmi2 f16c", {"avx2"}),
        ("avx2 fma bmi2 f16c avx512f", {"avx2"}),
        ("avx2 fma bmi2 f16c avx512f avx512bw avx512cd avx512dq avx512vl", {"avx2", "avx512"}),
    ],
)
def test_features_follow_the_processor(tmp_path, flags, expected):
    cpuinfo = tmp_path / "cpuinfo"
    cpuinfo.write_text(f"processor\t: 0\nflags\t\t: {flags}\n", encoding="utf-8")
    assert host_features(cpuinfo) == expected
    assert host_features(tmp_path / "missing") == set()
