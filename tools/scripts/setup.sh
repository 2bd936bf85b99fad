#!/usr/bin/env bash
# Brings a clone to the point where `cmake --build build` works; every step is skipped when its result is there.
#
#   setup.sh [all]              packages, .venv, configure
#   setup.sh packages NAME...   only the named Debian packages (for `make format` and `make tidy`)
#
# Environment: MLIR_DIR  lib/cmake/mlir folder of another LLVM 22.1 (default: Debian's packages)
#              PYTHON    the interpreter that makes .venv (default: /usr/bin/python3, for which headers are installed)
set -euo pipefail
cd "$(dirname "$0")/../.."

venv=.venv
build=build
log=$build/setup.log

say() { printf 'convbert: %s\n' "$*"; }
die() { printf 'convbert: %s\n' "$*" >&2; exit 1; }

# Runs a noisy command; shows what it printed only if it failed.
quietly() {
  mkdir -p "$build"
  if ! "$@" >"$log" 2>&1 </dev/null; then
    tail -n 40 "$log" >&2
    die "failed: $* (whole output: $log)"
  fi
}

# ---- Debian packages ------------------------------------------------------------------------------------------------

llvm_packages=(clang-22 libmlir-22-dev lld-22 llvm-22-dev llvm-22-tools mlir-22-tools)
base_packages=(libgtest-dev libminizip-dev ninja-build nlohmann-json3-dev python3 python3-dev python3-venv)

missing_packages() {
  local installed package
  # dpkg-query fails if it does not know one of the names; what it prints about the others is right all the same.
  installed=$({ dpkg-query -W -f='${db:Status-Status} ${Package}\n' "$@" 2>/dev/null || true; } | sed -n 's/^installed //p')
  installed=" ${installed//$'\n'/ } "
  for package in "$@"; do
    [[ $installed == *" $package "* ]] || printf '%s\n' "$package"
  done
}

install_packages() {
  local missing
  if ! command -v dpkg-query >/dev/null || ! command -v apt-get >/dev/null; then
    say "not a Debian system: taking for granted what these packages hold: $*"
    return
  fi
  mapfile -t missing < <(missing_packages "$@")
  [[ ${#missing[@]} -gt 0 ]] || return 0
  if [[ $(id -u) -ne 0 ]]; then
    die "requires Debian packages that are not installed; as root: apt-get install ${missing[*]}"
  fi
  say "installing Debian packages: ${missing[*]}"
  export DEBIAN_FRONTEND=noninteractive
  quietly apt-get -q update
  local package
  for package in "${missing[@]}"; do
    if ! apt-cache show "$package" >/dev/null 2>&1; then
      die "apt knows no package '$package'; LLVM 22 comes from Debian 12's security suite" \
          "(deb http://deb.debian.org/debian-security bookworm-security main), or pass MLIR_DIR= of another LLVM 22.1"
    fi
  done
  quietly apt-get -q -y --no-install-recommends -o Dpkg::Use-Pty=0 install "${missing[@]}"
}

# ---- .venv ----------------------------------------------------------------------------------------------------------

make_venv() {
  local python=${PYTHON:-}
  if cmp -s requirements.txt "$venv/requirements.installed"; then return; fi
  if [[ ! -x $venv/bin/python ]]; then
    [[ -n $python ]] || python=$([[ -x /usr/bin/python3 ]] && echo /usr/bin/python3 || command -v python3) ||
      die "requires python3, but found none"
    "$python" -c 'import sys; sys.exit(sys.version_info < (3, 11))' ||
      die "requires Python 3.11 or newer, but found $("$python" --version) at $python; pass PYTHON= of a newer one"
    say "making $venv with $("$python" --version)"
    quietly "$python" -m venv "$venv"
  fi
  say "installing $(grep -c '==' requirements.txt) pinned packages from PyPI into $venv"
  quietly "$venv/bin/python" -m pip install --disable-pip-version-check --no-input -r requirements.txt
  # `import convbert` finds the package as built.
  echo "$PWD/$build/python" >"$(echo "$venv"/lib/python3.*/site-packages)/convbert.pth"
  cp requirements.txt "$venv/requirements.installed"
}

# ---- configure ------------------------------------------------------------------------------------------------------

configure() {
  local args=(--preset default "-DPython_EXECUTABLE=$PWD/$venv/bin/python") compiler
  if [[ -n ${MLIR_DIR:-} ]]; then
    [[ -f $MLIR_DIR/MLIRConfig.cmake ]] || die "requires MLIR_DIR to hold MLIRConfig.cmake, but found none in '$MLIR_DIR'"
    args+=("-DMLIR_DIR=$MLIR_DIR")
    # The preset names Debian's compiler and linker.  Where they are missing: the tree's own, then the system's.
    if ! command -v clang++-22 >/dev/null; then
      local bin=${MLIR_DIR%/lib/cmake/mlir*}/bin
      if [[ -x $bin/clang++ ]]; then
        args+=("-DCMAKE_C_COMPILER=$bin/clang" "-DCMAKE_CXX_COMPILER=$bin/clang++")
      else
        args+=(-DCMAKE_C_COMPILER=cc -DCMAKE_CXX_COMPILER=c++)
      fi
      if [[ ! -x $bin/ld.lld ]] && ! command -v ld.lld >/dev/null; then
        for compiler in EXE SHARED MODULE; do args+=("-DCMAKE_${compiler}_LINKER_FLAGS="); done
      fi
    fi
  fi
  if [[ -f $build/build.ninja && $(cat "$build/configured" 2>/dev/null) == "${args[*]}" ]]; then return; fi
  if command -v ccache >/dev/null; then
    # Read by CMake at the first configuration only, so that a build made without ccache is not thrown away.
    export CMAKE_C_COMPILER_LAUNCHER=ccache CMAKE_CXX_COMPILER_LAUNCHER=ccache
  fi
  say "configuring $build with LLVM/MLIR from ${MLIR_DIR:-/usr/lib/llvm-22}"
  quietly "$venv/bin/cmake" "${args[@]}"
  printf '%s' "${args[*]}" >"$build/configured"
}

case ${1:-all} in
packages)
  shift
  install_packages "$@"
  ;;
all)
  # Another LLVM brings its own tools; the OpenMP runtime that compiled models load is needed in any case.
  if [[ -n ${MLIR_DIR:-} ]]; then
    install_packages "${base_packages[@]}" g++ libomp-22-dev
  else
    install_packages "${base_packages[@]}" "${llvm_packages[@]}" libomp-22-dev
  fi
  make_venv
  configure
  ;;
*)
  die "usage: setup.sh [all | packages NAME...]"
  ;;
esac
