"""The model and its steps in NumPy, float64 by default: slow, plain, and what the compiled code is tested against.

Every width is taken from the shapes of the tensors, none from the configuration.

    config, tensors = load_checkpoint("path")
    out = forward(config, tensors, {"input_ids": ids}, "ConvBertModel")
    out["last_hidden_state"], out["hidden_states.0"], out["attentions.0"], out["conv_kernels.1"], ...

Sizes: B sequences, T tokens, D model width, E embedding width, A width of all attention heads, n heads of each kind,
d = A / n, K taps, V vocabulary, C labels.
"""

import json
import math
import os
import re
import struct

import numpy as np

_DTYPES = {"F64": "<f8", "F32": "<f4", "F16": "<f2", "I64": "<i8", "I32": "<i4", "I16": "<i2", "I8": "i1", "U8": "u1",
           "BOOL": "?"}


def read_safetensors(path):
    """Tensors of one safetensors file by name; bfloat16 becomes float32."""
    with open(path, "rb") as file:
        blob = file.read()
    (length,) = struct.unpack("<Q", blob[:8])
    header = json.loads(blob[8:8 + length].decode("utf-8"))
    header.pop("__metadata__", None)
    tensors = {}
    for name, entry in header.items():
        begin, end = entry["data_offsets"]
        raw = blob[8 + length + begin:8 + length + end]
        if entry["dtype"] == "BF16":
            array = (np.frombuffer(raw, "<u2").astype(np.uint32) << 16).view(np.float32)
        else:
            array = np.frombuffer(raw, _DTYPES[entry["dtype"]])
        tensors[name] = array.reshape(entry["shape"]).copy()
    return tensors


def write_safetensors(path, tensors):
    """Writes arrays (float32, float64 or int64) by name, in order, as one safetensors file."""
    names = {np.dtype(dtype): name for name, dtype in _DTYPES.items()}
    header, offset = {}, 0
    for name, array in tensors.items():
        header[name] = {"dtype": names[array.dtype], "shape": list(array.shape),
                        "data_offsets": [offset, offset + array.nbytes]}
        offset += array.nbytes
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    with open(path, "wb") as file:
        file.write(struct.pack("<Q", len(text)) + text)
        for array in tensors.values():
            np.ascontiguousarray(array).tofile(file)


def load_checkpoint(directory):
    """config.json with the library's defaults filled in, and the tensors of model.safetensors (or its shards)."""
    config = {"embedding_size": 768, "hidden_act": "gelu", "layer_norm_eps": 1e-12}
    with open(os.path.join(directory, "config.json"), encoding="utf-8") as file:
        config.update(json.load(file))
    index = os.path.join(directory, "model.safetensors.index.json")
    files = ["model.safetensors"]
    if os.path.exists(index):
        with open(index, encoding="utf-8") as file:
            files = sorted(set(json.load(file)["weight_map"].values()))
    tensors = {}
    for file in files:
        tensors.update(read_safetensors(os.path.join(directory, file)))
    return config, tensors


def normalize_names(tensors):
    """Names without the body's prefix and with today's LayerNorm names; a tied output matrix is present."""
    result = {}
    for name, array in tensors.items():
        name = name.replace("LayerNorm.gamma", "LayerNorm.weight").replace("LayerNorm.beta", "LayerNorm.bias")
        name = name.removeprefix("convbert.")
        if re.match(r"layer\.\d+\.", name):
            name = "encoder." + name
        if name not in ("embeddings.position_ids", "embeddings.token_type_ids"):
            result[name] = array
    if "generator_lm_head.bias" in result:
        words, head = "embeddings.word_embeddings.weight", "generator_lm_head.weight"
        result.setdefault(head, result.get(words))
        result.setdefault(words, result[head])
    return result


# ---- steps ----------------------------------------------------------------------------------------------------------

_erf = np.vectorize(math.erf, otypes=[np.float64])


def gelu(x):
    """x/2 (1 + erf(x / sqrt 2)), the exact form."""
    return (0.5 * x * (1 + _erf(x.astype(np.float64) / math.sqrt(2)))).astype(x.dtype)


def gelu_tanh(x):
    """The tanh form, gelu_new in configurations; differs from gelu by up to 4.7e-4."""
    return 0.5 * x * (1 + np.tanh(np.asarray(math.sqrt(2 / math.pi), x.dtype) * (x + 0.044715 * x * x * x)))


def silu(x):
    return x / (1 + np.exp(-x))


ACTIVATIONS = {"gelu": gelu, "gelu_new": gelu_tanh, "gelu_pytorch_tanh": gelu_tanh, "relu": lambda x: np.maximum(x, 0),
               "tanh": np.tanh, "silu": silu, "swish": silu, "linear": lambda x: x}


def softmax(x):
    """Over the last axis, with the maximum taken off first."""
    e = np.exp(x - x.max(axis=-1, keepdims=True))
    return e / e.sum(axis=-1, keepdims=True)


def layer_norm(x, weight, bias, eps):
    """Over the last axis, biased variance, eps inside the root."""
    mean = x.mean(axis=-1, keepdims=True)
    variance = ((x - mean) ** 2).mean(axis=-1, keepdims=True)
    return (x - mean) / np.sqrt(variance + eps) * weight + bias


def dense(x, weight, bias=None):
    """weight [out, in], or grouped [G, in/G, out/G]: group g of the input meets group g of the output only."""
    if weight.ndim == 2:
        y = x @ weight.T
    else:
        groups, width, _ = weight.shape
        y = np.concatenate([x[..., g * width:(g + 1) * width] @ weight[g] for g in range(groups)], axis=-1)
    return y if bias is None else y + bias


def shift(x, offset):
    """y[:, t] = x[:, t + offset], zero outside the sequence."""
    y = np.zeros_like(x)
    length = x.shape[1]
    low, high = max(0, -offset), min(length, length - offset)
    if low < high:
        y[:, low:high] = x[:, low + offset:high + offset]
    return y


def separable_conv1d(x, depthwise, pointwise, bias):
    """Depthwise [D, 1, K] (cross-correlation, zero padding), then pointwise [A, D, 1] and bias [A, 1]."""
    half = (depthwise.shape[-1] - 1) // 2
    z = sum(shift(x, j - half) * depthwise[:, 0, j] for j in range(depthwise.shape[-1]))
    return z @ pointwise[:, :, 0].T + bias.reshape(-1)


def dynamic_kernel(span, query, weight, bias, heads):
    """Taps [B, T, n, K]: softmax over K of a dense layer on span * query."""
    logits = dense(span * query, weight, bias)
    return softmax(logits.reshape(*logits.shape[:2], heads, -1))


def apply_kernel(taps, values):
    """Each position's own taps [B, T, n, K] over the neighbours' values [B, T, A], zero outside: [B, T, A]."""
    batch, length, heads, width = taps.shape
    split = values.reshape(batch, length, heads, -1)
    half = (width - 1) // 2
    return sum(taps[..., j:j + 1] * shift(split, j - half) for j in range(width)).reshape(batch, length, -1)


def self_attention(query, key, value, heads, bias=None):
    """Context [B, T, A] and probabilities [B, n, T, T]; bias [B, 1, 1, T] is added to the scores."""
    batch, length, width = query.shape

    def split(x):
        return x.reshape(batch, length, heads, width // heads).transpose(0, 2, 1, 3)

    scores = split(query) @ split(key).transpose(0, 1, 3, 2) / np.asarray(math.sqrt(width // heads), query.dtype)
    probabilities = softmax(scores if bias is None else scores + bias)
    return (probabilities @ split(value)).transpose(0, 2, 1, 3).reshape(batch, length, width), probabilities


def mask_bias(mask, dtype):
    """[B, 1, 1, T]: zero where the mask is nonzero, else the lowest finite value of `dtype`."""
    if mask is None:
        return None
    return np.where(np.asarray(mask)[:, None, None, :] != 0, np.asarray(0, dtype), np.finfo(dtype).min)


# ---- the model ------------------------------------------------------------------------------------------------------

def mixed_attention(x, get, bias):
    """Attention heads beside convolution heads, [B, T, 2A]; also probabilities and taps. get(name): a tensor."""
    query, key, value, conv_value = (
        dense(x, get(f"self.{name}.weight"), get(f"self.{name}.bias"))
        for name in ("query", "key", "value", "conv_out_layer"))
    depthwise = get("self.key_conv_attn_layer.depthwise.weight")
    kernel_weight = get("self.conv_kernel_layer.weight")
    heads = kernel_weight.shape[0] // depthwise.shape[-1]
    span = separable_conv1d(x, depthwise, get("self.key_conv_attn_layer.pointwise.weight"),
                            get("self.key_conv_attn_layer.bias"))
    taps = dynamic_kernel(span, query, kernel_weight, get("self.conv_kernel_layer.bias"), heads)
    context, probabilities = self_attention(query, key, value, heads, bias)
    return np.concatenate([context, apply_kernel(taps, conv_value)], axis=-1), probabilities, taps


def embeddings(tensors, inputs, eps):
    """Input of the first layer, [B, T, D]."""
    ids = np.asarray(inputs["input_ids"])
    positions = np.asarray(inputs.get("position_ids", np.arange(ids.shape[1])[None]))
    types = np.asarray(inputs.get("token_type_ids", np.zeros_like(ids)))
    x = (tensors["embeddings.word_embeddings.weight"][ids] + tensors["embeddings.position_embeddings.weight"][positions]
         + tensors["embeddings.token_type_embeddings.weight"][types])
    x = layer_norm(x, tensors["embeddings.LayerNorm.weight"], tensors["embeddings.LayerNorm.bias"], eps)
    if "embeddings_project.weight" in tensors:
        x = dense(x, tensors["embeddings_project.weight"], tensors["embeddings_project.bias"])
    return x


def head(config, tensors, x, model_class):
    """What the class computes from the last hidden state, by name."""
    def layer(name, value):
        return dense(value, tensors[name + ".weight"], tensors[name + ".bias"])

    if model_class == "ConvBertForMaskedLM":
        h = layer_norm(gelu(layer("generator_predictions.dense", x)), tensors["generator_predictions.LayerNorm.weight"],
                       tensors["generator_predictions.LayerNorm.bias"], config["layer_norm_eps"])
        return {"logits": layer("generator_lm_head", h)}
    if model_class == "ConvBertForSequenceClassification":
        h = ACTIVATIONS[config["hidden_act"]](layer("classifier.dense", x[:, 0]))
        return {"logits": layer("classifier.out_proj", h)}
    if model_class == "ConvBertForTokenClassification":
        return {"logits": layer("classifier", x)}
    if model_class == "ConvBertForQuestionAnswering":
        logits = layer("qa_outputs", x)
        return {"start_logits": logits[..., 0], "end_logits": logits[..., 1]}
    if model_class == "ConvBertForMultipleChoice":
        kind = config.get("summary_type") or "last"
        h = x.mean(axis=1) if kind == "mean" else x[:, 0] if kind == "first" else x[:, -1]
        if config.get("summary_use_proj"):
            h = layer("sequence_summary.summary", h)
        if config.get("summary_activation"):
            h = ACTIVATIONS[config["summary_activation"]](h)
        return {"logits": layer("classifier", h)}
    return {}


def encoder_layer(config, tensors, index, x, bias):
    """Layer number `index` on x [B, T, D]: its output, the attention probabilities and the taps."""
    eps = np.asarray(config["layer_norm_eps"], x.dtype)

    def get(name):
        return tensors[f"encoder.layer.{index}.{name}"]

    mixed, probabilities, taps = mixed_attention(x, lambda name: get("attention." + name), bias)
    y = dense(mixed, get("attention.output.dense.weight"), get("attention.output.dense.bias"))
    y = layer_norm(y + x, get("attention.output.LayerNorm.weight"), get("attention.output.LayerNorm.bias"), eps)
    inner = dense(y, get("intermediate.dense.weight"), get("intermediate.dense.bias"))
    inner = ACTIVATIONS[config["hidden_act"]](inner)
    y = layer_norm(dense(inner, get("output.dense.weight"), get("output.dense.bias")) + y,
                   get("output.LayerNorm.weight"), get("output.LayerNorm.bias"), eps)
    return y, probabilities, taps


def count_layers(tensors):
    """Layers in normalized tensors."""
    return sum(re.fullmatch(r"encoder\.layer\.\d+\.attention\.self\.query\.weight", name) is not None
               for name in tensors)


def prepare(tensors, inputs, model_class, dtype):
    """Normalized tensors in `dtype`, and inputs as arrays [B, T]."""
    tensors = {name: array.astype(dtype) if array.dtype.kind == "f" else array
               for name, array in normalize_names(tensors).items()}
    inputs = {name: np.asarray(array) for name, array in inputs.items()}
    if model_class == "ConvBertForMultipleChoice":
        inputs = {name: array.reshape(-1, array.shape[-1]) for name, array in inputs.items()}
    return tensors, inputs


def forward(config, tensors, inputs, model_class="ConvBertModel", dtype=np.float64):
    """All outputs by name, computed in `dtype`.

    inputs: input_ids [B, T] ([B, choices, T] for multiple choice) and, optionally, attention_mask, token_type_ids,
    position_ids. Outputs: last_hidden_state, hidden_states.i, attentions.i, conv_kernels.i and those of the head.
    """
    choices = np.asarray(inputs["input_ids"]).shape[1]
    tensors, inputs = prepare(tensors, inputs, model_class, dtype)
    bias = mask_bias(inputs.get("attention_mask"), dtype)
    x = embeddings(tensors, inputs, np.asarray(config["layer_norm_eps"], dtype))
    out = {"hidden_states.0": x}
    for index in range(count_layers(tensors)):
        x, out[f"attentions.{index}"], out[f"conv_kernels.{index}"] = encoder_layer(config, tensors, index, x, bias)
        out[f"hidden_states.{index + 1}"] = x
    out["last_hidden_state"] = x
    out.update(head(config, tensors, x, model_class))
    if model_class == "ConvBertForMultipleChoice":
        out["logits"] = out["logits"].reshape(-1, choices)
    return out
