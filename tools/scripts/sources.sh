#!/usr/bin/env bash
# Prints the C and C++ sources that clang-format looks after, one a line.
set -euo pipefail
cd "$(dirname "$0")/../.."
find dialect lib tools python test cmake -type f \( -name '*.cpp' -o -name '*.h' -o -name '*.c' \) | sort
