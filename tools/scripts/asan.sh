#!/usr/bin/env bash
# Runs the tests of the Python extensions with AddressSanitizer: extensions, runtime and compiler rooms are built with it
# in build-asan/ (LLVM's dylibs and compiled models are not), and its runtime is preloaded into the interpreter.
#
#   tools/scripts/asan.sh                            the golden data, every output, wrong calls, artefacts, threads
#   tools/scripts/asan.sh test/python/test_call.py   what pytest is told instead
#
# Debian: libclang-rt-22-dev.  Exit code and output are pytest's.
set -euo pipefail
cd "$(dirname "$0")/../.."
build=build-asan
runtime=$(clang++-22 -print-file-name=libclang_rt.asan-x86_64.so)
[ -f "$runtime" ] || { echo "asan.sh: requires AddressSanitizer's runtime (libclang-rt-22-dev), but found none" >&2; exit 1; }
flags="-fsanitize=address -shared-libasan -fno-omit-frame-pointer"
[ -f $build/build.ninja ] || .venv/bin/cmake --preset default -B $build -DCONVBERT_BUILD_TESTS=OFF \
  "-DCMAKE_C_FLAGS=$flags" "-DCMAKE_CXX_FLAGS=$flags" >/dev/null
.venv/bin/cmake --build $build --target convbert convbert_rt _compiler _runtime
[ $# -gt 0 ] || set -- test/python/test_golden.py test/python/test_outputs.py test/python/test_call.py \
  test/python/test_artifact.py test/python/test_concurrency.py test/python/test_checkpoint_files.py
# Python and LLVM keep what they have until the end.  A thread's signal stack is LLVM's, not for ASan to give back.
export CONVBERT_BUILD_DIR=$PWD/$build ASAN_OPTIONS=detect_leaks=0:use_sigaltstack=0:abort_on_error=1
LD_PRELOAD=$runtime .venv/bin/python -m pytest -q -p no:cacheprovider "$@"
