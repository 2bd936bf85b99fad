"""Modules whose input is vectors: copied to rows, and embedded in place of ids."""

import numpy as np
import pytest

from module_harness import BATCHES, POSITIONS, TYPES, Batch, Module, isas, random_array, tensor, tokens


class VectorBatch(Batch):
    """A batch with vectors of `width` for ids; those behind a sequence's end are NaN."""

    def __init__(self, lengths, width, seed):
        super().__init__(lengths, seed)
        self.vectors = np.random.default_rng(seed).standard_normal((*self.ids.shape, width)).astype(np.float32)
        for row, length in zip(self.vectors, lengths):
            row[length:] = np.nan

    def inputs(self):
        return [self.vectors, *super().inputs()[1:]]


class VectorModule(Module):
    """`body` on `%vectors`, `%mask`, `%types` and `%positions`."""

    def _text(self, width, body, functions):
        types = {name: tensor(*array.shape) for name, array in self.parameters.items()}
        results = [tokens(size) for _, size, *_ in self.outputs]
        return "\n".join([
            *(f"ml_program.global private @{n}(#ml_program.extern : {t}) : {t}" for n, t in types.items()),
            functions,
            f"func.func @forward(%vectors: {tokens(width)}, %mask: tensor<?x?xi1>, %types: tensor<?x?xi64>,"
            f" %positions: tensor<?x?xi64>) -> ({', '.join(results)}) {{",
            *(f"  %{n} = ml_program.global_load_const @{n} : {t}" for n, t in types.items()), body, "}"])

    def embedded(self, batch):
        """Vectors and numbers of each sequence."""
        for b, length in enumerate(batch.lengths):
            yield (batch.vectors[b, :length].astype(np.float64), batch.types[b, :length], batch.positions[b, :length])


@isas
@pytest.mark.parametrize("width", [1, 5, 16, 37, 48])
def test_vectors_in_place_of_ids(isa, width):
    x = tokens(width)
    body = f"""  %y = convbert.embeddings %vectors, %types, %positions tables(%position, %type) norm(%gamma, %beta)
    {{eps = 1.0e-3 : f64}} : ({x}, tensor<?x?xi64>, tensor<?x?xi64>, {tensor(POSITIONS, width)}, {tensor(TYPES, width)},
    {tensor(width)}, {tensor(width)}) -> {x}
  return %y, %vectors : {x}, {x}"""
    module = VectorModule(isa, width, body, {}, [("tokens", width), ("tokens", width)])
    t = {name: array.astype(np.float64) for name, array in module.tables.items()}

    def expected(inputs, mask):
        vectors, types, positions = inputs
        e = vectors + t["position"][positions] + t["type"][types]
        e = (e - e.mean(-1, keepdims=True)) / np.sqrt(e.var(-1, keepdims=True) + 1e-3)
        return [e * t["gamma"] + t["beta"], vectors]

    for seed, lengths in enumerate(BATCHES):
        module.check(VectorBatch(lengths, width, seed), expected)


@isas
@pytest.mark.parametrize("width", [5, 24, 32])
def test_vectors_for_a_layer(isa, width):
    """Passed to a function of its own, which reads rows whole, padding included."""
    x, w = tokens(width), tensor(width, width)
    functions = f"""func.func private @layer(%x: {x}, %w: {w}, %g: {tensor(width)}) -> {x} {{
  %h = convbert.dense %x, %w : ({x}, {w}) -> {x}
  %y = convbert.layer_norm %h residual(%x), %g, %g {{eps = 1.0e-3 : f64}}
    : ({x}, {x}, {tensor(width)}, {tensor(width)}) -> {x}
  return %y : {x}
}}"""
    body = (f"  %y = call @layer(%vectors, %w, %gamma) : ({x}, {w}, {tensor(width)}) -> {x}\n"
            f"  return %y : {x}")
    parameters = {"w": random_array(width, width)}
    module = VectorModule(isa, width, body, parameters, [("tokens", width)], functions=functions)
    gamma = module.tables["gamma"].astype(np.float64)

    def expected(inputs, mask):
        e = inputs[0] @ parameters["w"].astype(np.float64).T + inputs[0]
        return [(e - e.mean(-1, keepdims=True)) / np.sqrt(e.var(-1, keepdims=True) + 1e-3) * gamma + gamma]

    for seed, lengths in enumerate(BATCHES):
        module.check(VectorBatch(lengths, width, seed), expected)
