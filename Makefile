# Entry points.  Everything is set up on demand: Debian packages (as root), .venv, build/.
#   make MLIR_DIR=/opt/llvm-22/lib/cmake/mlir ...   builds against another LLVM 22.1

MAKEFLAGS += --no-print-directory
export MLIR_DIR PYTHON

# Without these, ccache (used if it is installed) gives up on files with a precompiled header.
export CCACHE_SLOPPINESS ?= pch_defines,time_macros,include_file_mtime,include_file_ctime

VENV := .venv/bin

.PHONY: all help setup build demo test docs bench lint format tidy clean

all: build

help: ## list the targets
	@sed -n 's/^\([a-z]*\):.*## \(.*\)/  make \1|\2/p' Makefile | column -t -s '|' 2>/dev/null || \
	  sed -n 's/^\([a-z]*\):.*## \(.*\)/  make \1: \2/p' Makefile

setup: ## install what is missing and configure build/
	@tools/scripts/setup.sh

build: setup ## build the compiler, the runtime, the Python package and the unit tests
	@echo "convbert: building in build/ (some minutes the first time)"
	@$(VENV)/cmake --build build

demo: build ## name the language of some sentences and fill in a blank, compared with stored answers
	@$(VENV)/python demo/run_demo.py

test: build ## run lit, GoogleTest and pytest; the last line counts all three
	@$(VENV)/python tools/scripts/run_tests.py $(ARGS)

docs: build ## write docs/reference/ from the ODS, the pass definitions and the tools
	@$(VENV)/python docs/generate.py

bench: build ## measure beside other engines, in a venv with them (GiB); ARGS="--sizes base --threads 1"
	@tools/scripts/bench_venv.sh
	@PYTHONPATH=build/python .venv-bench/bin/python tools/bench/run.py $(ARGS)

lint: setup ## check includes, tests, file lengths and formatting
	@$(VENV)/python tools/scripts/check_includes.py
	@$(VENV)/python tools/scripts/lint_tests.py
	@$(VENV)/python tools/scripts/lint_sources.py
	@tools/scripts/setup.sh packages clang-format-22
	@tools/scripts/sources.sh | xargs clang-format-22 --dry-run --Werror

format: setup ## format the C++ sources in place
	@tools/scripts/setup.sh packages clang-format-22
	@tools/scripts/sources.sh | xargs clang-format-22 -i

tidy: build ## clang-tidy on FILES="a.cpp b.cpp" (slow)
	@tools/scripts/setup.sh packages clang-tidy-22
	@clang-tidy-22 -p build --quiet $(FILES)

clean: ## remove build/ (.venv stays)
	rm -rf build
