"""Every module of the test suite that parses survives a round trip through text and through bytecode."""

import re
import subprocess
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
FOLDERS = [ROOT / "test", ROOT / "lib" / "Schedules" / "cpu"]


def modules():
    """(name, text) of every module: files are cut at split-file's and at --split-input-file's marks."""
    for folder in FOLDERS:
        for path in sorted(folder.rglob("*.mlir")):
            for number, part in enumerate(re.split(r"^//--- .*$", path.read_text(encoding="utf-8"), flags=re.M)):
                for index, text in enumerate(re.split(r"^// -----$", part, flags=re.M)):
                    if re.search(r"^[^/\s]", text, flags=re.M):
                        yield f"{path.relative_to(ROOT)}:{number}:{index}", text


def opt(tool, text, *arguments):
    return subprocess.run([tool, "-", "-o", "/dev/null", *arguments], input=text, capture_output=True, text=True)


def test_round_trip(tools):
    tool = tools / "convbert-opt"

    def check(module):
        name, text = module
        result = opt(tool, text, "--verify-roundtrip")
        if result.returncode == 0:
            return "passed", ""
        # Modules that must not parse or verify are the business of other tests.
        if opt(tool, text).returncode != 0:
            return "refused", ""
        return "failed", f"{name}: {result.stderr}"

    with ThreadPoolExecutor(2) as pool:
        results = list(pool.map(check, modules()))
    failures = [message for verdict, message in results if verdict == "failed"]
    assert not failures, "\n".join(failures)
    assert sum(verdict == "passed" for verdict, _ in results) > 50
