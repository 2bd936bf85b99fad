"""lit configuration.

Features:      generic, avx2, avx512 (what the processor running the tests offers: x86-64-v2, -v3, -v4)
Substitutions: convbert-opt, convbert-compile, convbert-import, convbert-run, convbert-reduce, convbert-lsp-server,
               mlir-opt, FileCheck, not, count, split-file, %python (the interpreter of .venv), %convbert_src_root,
               %convbert_lib (libconvbert.so)
"""

import os
import sys

import lit.formats
from lit.llvm import llvm_config
from lit.llvm.subst import ToolSubst

sys.path.insert(0, os.path.join(config.convbert_source_dir, "tools", "scripts"))
from host_features import host_features  # noqa: E402

config.name = "convbert"
config.test_format = lit.formats.ShTest(execute_external=False)
config.suffixes = [".mlir", ".test"]
config.excludes = ["Inputs", "lint", "python", "unittests"]
config.test_source_root = os.path.join(config.convbert_source_dir, "test")
config.test_exec_root = os.path.join(config.convbert_build_dir, "test")
config.available_features.update(host_features())

config.environment["PYTHONPATH"] = os.path.join(config.convbert_build_dir, "python")
config.environment["HOME"] = os.environ.get("HOME", "/")
# Compiled checkpoints of the tests never meet those of the user.
config.environment["XDG_CACHE_HOME"] = os.path.join(config.convbert_build_dir, "test", "cache")

config.substitutions.append(("%python", sys.executable))
config.substitutions.append(("%convbert_lib", os.path.join(config.convbert_build_dir, "lib", "libconvbert.so")))
config.substitutions.append(("%convbert_src_root", config.convbert_source_dir))

tools_dir = os.path.join(config.convbert_build_dir, "bin")
llvm_config.with_environment("PATH", [tools_dir, config.llvm_tools_dir], append_path=True)
llvm_config.add_tool_substitutions(
    [
        ToolSubst(name, unresolved="ignore")
        for name in (
            *("convbert-opt", "convbert-compile", "convbert-import", "convbert-run", "convbert-reduce"),
            *("convbert-lsp-server", "mlir-opt", "FileCheck", "not", "count", "split-file"),
        )
    ],
    [tools_dir, config.llvm_tools_dir],
)
