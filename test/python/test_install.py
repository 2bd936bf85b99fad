"""The package as `pip install .` puts it together, moved to a place of its own; types; and, if asked for, pip itself.

CONVBERT_TEST_PIP=1 runs `pip install .` in a clean environment, which compiles everything: some minutes.
"""

import os
import re
import subprocess
import sys
from importlib.util import find_spec

import pytest

from checkpoints import DEMO, GOLDEN, ROOT

TOOLS = ["convbert-compile", "convbert-import", "convbert-lsp-server", "convbert-opt", "convbert-reduce",
         "convbert-run"]


@pytest.fixture(scope="module")
def installed(build_dir, tmp_path_factory):
    prefix = tmp_path_factory.mktemp("installed")
    subprocess.run([sys.executable, "-m", "cmake", "--install", build_dir, "--component", "python", "--prefix", prefix],
                   check=True, capture_output=True)
    return prefix


def run(prefix, *command):
    environment = {key: value for key, value in os.environ.items() if key != "LD_LIBRARY_PATH"}
    return subprocess.run(list(map(str, command)), capture_output=True, text=True, check=False, cwd="/",
                          env=dict(environment, PYTHONPATH=str(prefix)))


def test_installed_package_stands_alone(installed):
    code = ("import convbert, sys; model = convbert.load(sys.argv[1]); "
            "print(convbert.__file__, model([[1, 2]])[0].shape, open('/proc/self/maps').read().count(sys.argv[2]))")
    result = run(installed, sys.executable, "-c", code, GOLDEN / "base_tiny", ROOT / "build/lib")
    assert result.stdout == f"{installed / 'convbert/__init__.py'} (1, 2, 32) 0\n", result.stderr
    result = run(installed, sys.executable, "-m", "convbert", "run", DEMO / "langid", "--text", "Das ist ein Satz.")
    assert result.stdout.splitlines()[1].split()[0] == "de", result.stderr


def test_installed_files(installed):
    package = installed / "convbert"
    names = {path.name for path in package.iterdir()}
    assert {"py.typed", "_runtime.pyi", "_compiler.pyi", "libconvbert.so", "libconvbert_rt.so", "bin"} <= names
    assert {path.name for path in (ROOT / "python/convbert").glob("*.py")} <= names
    assert sorted(path.name for path in (package / "bin").iterdir()) == TOOLS


@pytest.mark.parametrize("name", TOOLS)
def test_console_scripts_of_the_tools(installed, name, tmp_path):
    """As pip writes them."""
    script = tmp_path / name
    script.write_text(f"#!{sys.executable}\nimport sys\nfrom convbert.programs import run\nsys.exit(run())\n")
    script.chmod(0o755)
    result = run(installed, script, "--help")
    assert result.returncode == 0, result.stderr
    assert "OVERVIEW" in result.stdout or "USAGE" in result.stdout or "usage" in result.stdout
    lost = tmp_path / "convbert-nothing"
    script.rename(lost)
    result = run(installed, lost)
    assert (result.returncode, result.stderr) == (
        1, "convbert-nothing: requires the compiler's tools, but found none in this installation\n")


def test_project_file_agrees_with_the_sources():
    import tomllib

    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    cmake = (ROOT / "CMakeLists.txt").read_text(encoding="utf-8")
    version = project["project"]["version"]
    assert f"project(convbert VERSION {version} " in cmake
    assert f'__version__ = "{version}"' in (ROOT / "python/convbert/__init__.py").read_text(encoding="utf-8")
    assert sorted(set(project["project"]["scripts"]) - {"convbert"}) == TOOLS
    assert re.search(r"nanobind==2\.(9|\d\d)\.", (ROOT / "requirements.txt").read_text(encoding="utf-8"))


@pytest.mark.parametrize("checker, python", [("mypy", "--python-executable"), ("pyright", "--pythonpath")])
def test_types(checker, python):
    if find_spec(checker) is None:
        pytest.skip(f"{checker} is not installed (requirements-dev.txt)")
    result = subprocess.run([sys.executable, "-m", checker, python, sys.executable], cwd=ROOT, capture_output=True,
                            text=True, check=False)
    assert result.returncode == 0, result.stdout + result.stderr


@pytest.mark.skipif("CONVBERT_TEST_PIP" not in os.environ, reason="CONVBERT_TEST_PIP is not set")
def test_pip_install(tmp_path):
    subprocess.run([sys.executable, "-m", "venv", tmp_path / "venv"], check=True)
    binaries = tmp_path / "venv/bin"
    subprocess.run([binaries / "pip", "install", "-q", f"{ROOT}[text]"], check=True)
    environment = {key: value for key, value in os.environ.items() if key != "PYTHONPATH"}

    def output(*command):
        return subprocess.run(list(map(str, command)), check=True, capture_output=True, text=True, cwd=tmp_path,
                              env=environment).stdout

    assert "verdict: ready" in output(binaries / "convbert", "doctor")
    assert output(binaries / "convbert", "run", DEMO / "langid", "--text", "Das ist ein Satz.").split()[4] == "de"
    assert "dense" in output(binaries / "convbert-opt", "--help")
