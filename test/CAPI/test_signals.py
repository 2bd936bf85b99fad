"""The compiler as a library leaves the process alone: no signal handler, no stack trace of its own."""

import subprocess
import sys

WORKER = """
import ctypes, sys

def caught():
    with open("/proc/self/status") as file:
        mask = next(int(line.split()[1], 16) for line in file if line.startswith("SigCgt"))
    return mask & 0x7FFFFFFF  # the C library needs one behind signal 31 for threads

before = caught()
library = ctypes.CDLL(sys.argv[1])
library.convbert_compile_checkpoint.restype = ctypes.c_void_p
error = ctypes.c_char_p()
result = library.convbert_compile_checkpoint(sys.argv[2].encode(), sys.argv[3].encode(), ctypes.byref(error))
assert result, error.value
assert not library.convbert_compile_checkpoint(b"/nowhere", b"{}", ctypes.byref(error))
assert error.value.count(b"\\n") == 0 and b"/nowhere" in error.value, error.value
assert caught() == before, (before, caught())
print("alone")
"""


def test_no_signal_handlers(root, build_dir, tmp_path):
    library, checkpoint = build_dir / "lib" / "libconvbert.so", root / "test" / "golden" / "base_tiny"
    options = '{"cache_dir": "%s"}' % tmp_path
    result = subprocess.run(
        [sys.executable, "-c", WORKER, library, checkpoint, options], capture_output=True, text=True
    )
    assert result.returncode == 0 and result.stdout == "alone\n" and result.stderr == "", result
