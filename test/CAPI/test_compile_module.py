"""The compiler's C interface for functions that are no checkpoint: options, errors, manifest, cache, costs."""

import ctypes
import json
import subprocess

import pytest

from c_library import Library

NORM = """
ml_program.global private @"a.weight"(#ml_program.extern : tensor<8xf32>) : tensor<8xf32>
ml_program.global private @b(#ml_program.extern : tensor<8xf32>) : tensor<8xf32>
func.func @{name}(%x: tensor<?x?x8xf32> {{convbert.name = "x"}}, %m: tensor<?x?xi1>) -> tensor<?x?x8xf32> {{
  %g = ml_program.global_load_const @"a.weight" : tensor<8xf32>
  %b = ml_program.global_load_const @b : tensor<8xf32>
  %y = convbert.layer_norm %x, %g, %b {{eps = {eps} : f64}}
    : (tensor<?x?x8xf32>, tensor<8xf32>, tensor<8xf32>) -> tensor<?x?x8xf32>
  %z = convbert.mask_tokens %y, %m : (tensor<?x?x8xf32>, tensor<?x?xi1>) -> tensor<?x?x8xf32>
  return %z : tensor<?x?x8xf32>
}}
"""


class Compiler(Library):
    def __init__(self, path):
        super().__init__(path)
        for name in ("compile", "inspect"):
            function = getattr(self.library, f"convbert_{name}_module")
            function.restype = ctypes.c_void_p
            function.argtypes = [ctypes.c_char_p, ctypes.c_size_t, ctypes.c_char_p, ctypes.c_void_p]

    def call(self, name, ir, options):
        ir = ir.encode() if isinstance(ir, str) else ir
        return self.ask(getattr(self.library, f"convbert_{name}_module"), ir, len(ir or b""),
                        None if options is None else json.dumps(options).encode())


@pytest.fixture(scope="module")
def compiler(build_dir):
    return Compiler(build_dir / "lib" / "libconvbert.so")


@pytest.fixture
def options(tmp_path):
    return {"cache_dir": str(tmp_path)}


def test_manifest(compiler, options):
    answer = compiler.call("compile", NORM.format(name="norm", eps="1.0e-3"), options)
    assert answer["manifest"] == {
        "model_class": "norm", "min_row_pitch": 8, "least_tokens": 1,
        "inputs": [{"name": "x", "dtype": "float32", "shape": ["B", "T", 8]},
                   {"name": "input1", "dtype": "bool", "shape": ["B", "T"]}],
        "outputs": [{"name": "output0", "dtype": "float32", "shape": ["B", "T", 8]}],
        "parameters": [{"name": "a.weight", "dtype": "float32", "shape": [8]},
                       {"name": "b", "dtype": "float32", "shape": [8]}]}
    assert not answer["cached"] and answer["target"]["isa"]


def test_limits_of_ids(compiler, options):
    """An input that numbers rows of tables has as limit the rows of the smallest one."""
    table, x = "tensor<{0}x4xf32>", "tensor<?x?x4xf32>"
    rows = {"w": 9, "p": 7, "t": 3}
    ir = "\n".join([
        *(f"ml_program.global private @{n}(#ml_program.extern : {table.format(r)}) : {table.format(r)}" for n, r in rows.items()),
        "ml_program.global private @g(#ml_program.extern : tensor<4xf32>) : tensor<4xf32>",
        f"func.func @f(%ids: tensor<?x?xi64>, %types: tensor<?x?xi64>) -> {x} {{",
        *(f"  %{n} = ml_program.global_load_const @{n} : {table.format(r)}" for n, r in rows.items()),
        "  %g = ml_program.global_load_const @g : tensor<4xf32>",
        "  %x = convbert.embeddings %ids, %types, %ids tables(%w, %p, %t) norm(%g, %g) {eps = 0.5 : f64} : "
        f"(tensor<?x?xi64>, tensor<?x?xi64>, tensor<?x?xi64>, {', '.join(table.format(r) for r in rows.values())}, "
        f"tensor<4xf32>, tensor<4xf32>) -> {x}",
        f"  return %x : {x}", "}"])
    inputs = compiler.call("compile", ir, options)["manifest"]["inputs"]
    assert [item["limit"] for item in inputs] == [7, 3]


def test_cache(compiler, options):
    first = compiler.call("compile", NORM.format(name="norm", eps="1.0e-3"), options)
    again = compiler.call("compile", NORM.format(name="norm", eps="1.0e-3"), options)
    other = compiler.call("compile", NORM.format(name="norm", eps="1.0e-4"), options)
    assert [answer["cached"] for answer in (first, again, other)] == [False, True, False]
    assert first["object"] == again["object"] != other["object"]


def test_bytecode(compiler, options, build_dir):
    text = NORM.format(name="norm", eps="1.0e-3")
    done = subprocess.run([build_dir / "bin" / "convbert-opt", "--emit-bytecode"], input=text.encode(), check=True,
                          capture_output=True)
    assert done.stdout[:2] == b"ML"
    assert (compiler.call("compile", done.stdout, options)["manifest"]
            == compiler.call("compile", text, options)["manifest"])


def test_costs(compiler):
    operations = compiler.call("inspect", NORM.format(name="norm", eps="1.0e-3"), {"batch": 2, "length": 5})["operations"]
    norm, mask = operations
    assert (norm["operation"], norm["parameters"], norm["macs"]) == ("layer_norm", 16, 0)
    assert (norm["reads"], norm["writes"]) == (4 * (2 * 5 * 8 + 16), 4 * 2 * 5 * 8)
    assert mask["reads"] == 4 * 2 * 5 * 8 + 2 * 5
    assert compiler.call("inspect", NORM.format(name="norm", eps="1.0e-3"), None)["operations"][0]["writes"] == 4 * 8


X = "tensor<?x?x8xf32>"
BODY = "func.func @f(%x: {0}) -> {1} {{ return %x : {1} }}"


@pytest.mark.parametrize("ir, message", [
    (b"", "requires the text or bytecode of a module, but found nothing"),
    ("what", "module:1:1: custom op 'what' is unknown (tried 'builtin.what' as well)"),
    ("func.func private @f()", "requires exactly one public function with a body, but found none"),
    (BODY.format(X, X) + BODY.format(X, X).replace("@f", "@g"),
     "requires exactly one public function, but found @f and @g"),
    (BODY.format("tensor<?x?x8xf64>", "tensor<?x?x8xf64>"),
     "module:1:1: 'func.func' op requires inputs that are tensors of f32, i1 or i64, but found 'tensor<?x?x8xf64>' for input0"),
    ("func.func @f(%x: tensor<?x?xi64>) -> tensor<?x?xi64> { return %x : tensor<?x?xi64> }",
     "module:1:1: 'func.func' op requires integers that number rows of tables alone, but found another use of input0"),
    ("func.func @f(%m: tensor<?x?xi1>) -> tensor<?x?xi1> { return %m : tensor<?x?xi1> }",
     "module:1:1: 'func.func' op requires results that are tensors of f32, but found 'tensor<?x?xi1>'"),
    ("ml_program.global private @w(#ml_program.extern : tensor<8xf64>) : tensor<8xf64>\n" + BODY.format(X, X),
     "module:1:1: 'ml_program.global' op requires static tensors of f32, f16 or bf16, but found 'tensor<8xf64>'"),
    (BODY.format(X, X).replace("@f", "@g") + "func.func private @forward() { return }",
     "requires that no private function is called @forward"),
    (f"func.func @f(%x: {X}) -> {X} {{ %y = math.exp %x : {X} return %y : {X} }}",
     "module:1:65: 'math.exp' op has no CPU kernel"),
])
def test_refusals(compiler, options, ir, message):
    with pytest.raises(ValueError) as error:
        compiler.call("compile", ir, options)
    assert str(error.value).startswith(message)


@pytest.mark.parametrize("given, message", [
    ({"outputs": []}, "requires an option 'target', 'dtype', 'weights', 'cache_dir' or 'dump_dir', but found 'outputs'"),
    ({"weights": "f16"}, "option 'weights' requires \"f32\" or \"bf16\", but found \"f16\""),
    ({"target": 3}, "option 'target' requires a string, but found 3"),
    ([], "requires options as a JSON object, but found: []"),
])
def test_wrong_options(compiler, given, message):
    with pytest.raises(ValueError) as error:
        compiler.call("compile", BODY.format(X, X), given)
    assert str(error.value) == message


@pytest.mark.parametrize("given, message", [
    ({"tokens": 3}, "requires an option 'batch' or 'length', but found 'tokens'"),
    ({"length": 0}, "option 'length' requires a number >= 1, but found 0"),
])
def test_wrong_sizes(compiler, given, message):
    with pytest.raises(ValueError) as error:
        compiler.call("inspect", BODY.format(X, X), given)
    assert str(error.value) == message
