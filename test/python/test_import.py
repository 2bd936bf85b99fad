"""Importing the package is cheap, and running compiled code needs no compiler."""

import subprocess
import sys

from checkpoints import DEMO


def run(code, *arguments):
    result = subprocess.run([sys.executable, "-c", code, *map(str, arguments)], capture_output=True, text=True,
                            check=False)
    assert result.returncode == 0, result.stderr
    return result.stdout


def test_import_loads_neither_numpy_nor_the_compiler():
    assert run("import sys, convbert; print('numpy' in sys.modules, 'convbert._compiler' in sys.modules)"
               ) == "False False\n"


def test_runtime_loads_no_llvm():
    code = "import convbert, convbert.model; print('LLVM' in open('/proc/self/maps').read())"
    assert run(code) == "False\n"
    # The counterpart: this is how it would show.
    code = "import sys, convbert; convbert.load(sys.argv[1]); print('LLVM' in open('/proc/self/maps').read())"
    assert run(code, DEMO / "langid") == "True\n"


def test_lazy_names():
    code = ("import convbert; print(sorted(set(convbert.__all__) - set(dir(convbert))), convbert.load.__name__, "
            "hasattr(convbert, 'nothing'))")
    assert run(code) == "[] load False\n"
