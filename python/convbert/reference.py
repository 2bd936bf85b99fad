"""The model and its steps in NumPy, float64 by default: slow, plain, and what the compiled code is tested against.

Widths are taken from the shapes of the tensors; the configuration only says how many heads a layer has that has no
convolution heads (BERT, ELECTRA) or is pruned.

    config, tensors = load_checkpoint("path")
    out = forward(config, tensors, {"input_ids": ids}, "ConvBertModel")
    out["last_hidden_state"], out["hidden_states.0"], out["attentions.0"], out["conv_kernels.1"], ...

Sizes: B sequences, T tokens, D model width, E embedding width, A width of all attention heads, n heads of each kind,
d = A / n, K taps, V vocabulary, C labels.
"""

import contextlib
import math
import re

import numpy as np

from .reference_files import load_checkpoint, read_safetensors, write_safetensors

__all__ = ["load_checkpoint", "read_safetensors", "write_safetensors", "forward"]

def normalize_names(tensors):
    """Names without the body's prefix and with today's LayerNorm names; a tied output matrix is present."""
    result = {}
    for name, array in tensors.items():
        name = name.replace("LayerNorm.gamma", "LayerNorm.weight").replace("LayerNorm.beta", "LayerNorm.bias")
        for prefix in ("convbert.", "bert.", "electra."):
            name = name.removeprefix(prefix)
        if re.match(r"layer\.\d+\.", name):
            name = "encoder." + name
        if name not in ("embeddings.position_ids", "embeddings.token_type_ids"):
            result[name] = array
    if "generator_lm_head.bias" in result:
        words, head = "embeddings.word_embeddings.weight", "generator_lm_head.weight"
        result.setdefault(head, result.get(words))
        result.setdefault(words, result[head])
    if "cls.predictions.transform.dense.weight" in result:
        result.setdefault("cls.predictions.decoder.weight", result.get("embeddings.word_embeddings.weight"))
        result.setdefault("embeddings.word_embeddings.weight", result["cls.predictions.decoder.weight"])
        result.setdefault("cls.predictions.decoder.bias", result.get("cls.predictions.bias"))
    return result


def family(config):
    """"convbert", "bert" or "electra"."""
    if "model_type" in config:
        return config["model_type"].replace("conv_bert", "convbert")
    name = (config.get("architectures") or ["ConvBertModel"])[0]
    return re.match("ConvBert|Bert|Electra", name)[0].lower()


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


_roundings = (None, None)


@contextlib.contextmanager
def rounded_products(activations, weights):
    """Within it, matrix products see activations(x) of their activations x and weights(w) of their weights w, in the
    type of each; None rounds nothing."""
    global _roundings
    before, _roundings = _roundings, (activations, weights)
    try:
        yield
    finally:
        _roundings = before


def dense(x, weight, bias=None):
    """weight [out, in], or grouped [G, in/G, out/G]: group g of the input meets group g of the output only."""
    x, weight = (factor if rounding is None else rounding(factor).astype(factor.dtype)
                 for factor, rounding in zip((x, weight), _roundings))
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
    return dense(z, pointwise[:, :, 0], bias.reshape(-1))


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


def self_attention(query, key, value, heads, bias=None, query_heads=None):
    """Context [B, T, A] and probabilities [B, n, T, T]; bias [B, 1, 1, T] is added to the scores. query_heads: the
    slice of a wider query that each head reads."""
    batch, length, width = value.shape

    def split(x):
        return x.reshape(batch, length, -1, width // heads).transpose(0, 2, 1, 3)

    queries = split(query)
    if query_heads is not None:
        queries = queries[:, list(query_heads)]
    scores = queries @ split(key).transpose(0, 1, 3, 2) / np.asarray(math.sqrt(width // heads), query.dtype)
    probabilities = softmax(scores if bias is None else scores + bias)
    return (probabilities @ split(value)).transpose(0, 2, 1, 3).reshape(batch, length, width), probabilities


def mask_bias(mask, dtype):
    """[B, 1, 1, T]: zero where the mask is nonzero, else the lowest finite value of `dtype`."""
    if mask is None:
        return None
    return np.where(np.asarray(mask)[:, None, None, :] != 0, np.asarray(0, dtype), np.finfo(dtype).min)


# ---- the model ------------------------------------------------------------------------------------------------------

def mixed_attention(x, get, bias, heads=None, query_heads=None):
    """Attention heads beside convolution heads, [B, T, 2A]; also probabilities and taps, None without heads of a kind.

    get(name): a tensor, or None. heads: attention heads; None: as many as convolution heads.
    """
    def layer(name):
        weight = get(f"self.{name}.weight")
        return None if weight is None else dense(x, weight, get(f"self.{name}.bias"))

    query, key, value, conv_value = map(layer, ("query", "key", "value", "conv_out_layer"))
    parts, probabilities, taps = [], None, None
    if conv_value is not None:
        depthwise = get("self.key_conv_attn_layer.depthwise.weight")
        kernel_weight = get("self.conv_kernel_layer.weight")
        conv_heads = kernel_weight.shape[0] // depthwise.shape[-1]
        heads = conv_heads if heads is None else heads
        span = separable_conv1d(x, depthwise, get("self.key_conv_attn_layer.pointwise.weight"),
                                get("self.key_conv_attn_layer.bias"))
        taps = dynamic_kernel(span, query, kernel_weight, get("self.conv_kernel_layer.bias"), conv_heads)
        parts = [apply_kernel(taps, conv_value)]
    if key is not None:
        context, probabilities = self_attention(query, key, value, heads, bias, query_heads)
        parts = [context, *parts]
    return np.concatenate(parts, axis=-1), probabilities, taps


def attention_heads(config, index):
    """Attention heads of a layer and the query slices that they read, as mixed_attention() wants them."""
    plain = family(config) != "convbert"
    pruned = (config.get("convbert_pruned_heads") or {}).get(str(index))
    if pruned is None and not plain:
        return None, None
    built = config.get("num_attention_heads", 4 if family(config) == "electra" else 12)
    if not plain:
        built = max(1, built // config.get("head_ratio", 2))
    pruned = pruned or {}
    kept = [head for head in range(built) if head not in pruned.get("attention", [])]
    has_conv = not plain and len(pruned.get("conv", [])) < built
    return len(kept), kept if has_conv else None


def embeddings(tensors, inputs, eps):
    """Input of the first layer, [B, T, D]."""
    if "encoder_input" in inputs:
        return inputs["encoder_input"].astype(eps.dtype)
    if "inputs_embeds" in inputs:
        words = inputs["inputs_embeds"].astype(eps.dtype)
    else:
        words = tensors["embeddings.word_embeddings.weight"][np.asarray(inputs["input_ids"])]
    batch, length, _ = words.shape
    positions = np.asarray(inputs.get("position_ids", np.arange(length)[None]))
    types = np.asarray(inputs.get("token_type_ids", np.zeros((batch, length), np.int64)))
    x = (words + tensors["embeddings.position_embeddings.weight"][positions]
         + tensors["embeddings.token_type_embeddings.weight"][types])
    x = layer_norm(x, tensors["embeddings.LayerNorm.weight"], tensors["embeddings.LayerNorm.bias"], eps)
    if "embeddings_project.weight" in tensors:
        x = dense(x, tensors["embeddings_project.weight"], tensors["embeddings_project.bias"])
    return x


def _bert_head(config, layer, norm, x, task):
    """Heads that BERT has otherwise; the pooler is a dense layer with tanh on the first token."""
    out = {}
    if task in ("ForMaskedLM", "ForPreTraining"):
        h = ACTIVATIONS[config["hidden_act"]](layer("cls.predictions.transform.dense", x))
        logits = layer("cls.predictions.decoder", norm("cls.predictions.transform.LayerNorm", h))
        if task == "ForMaskedLM":
            return {"logits": logits}
        out["prediction_logits"] = logits
    pooled = layer("pooler.dense", x[:, 0])
    if pooled is None:  # of a bare model
        return out
    pooled = np.tanh(pooled)
    if task == "ForPreTraining":
        return {**out, "seq_relationship_logits": layer("cls.seq_relationship", pooled)}
    return {"pooler_output": pooled} if task == "Model" else {"logits": layer("classifier", pooled)}


def _summary(config, layer, x):
    """What the multiple-choice heads of ConvBERT and ELECTRA classify."""
    if family(config) == "electra":
        config = {"summary_type": "first", "summary_use_proj": True, "summary_activation": "gelu", **config}
    kind = config.get("summary_type") or "last"
    h = x.mean(axis=1) if kind == "mean" else x[:, 0] if kind == "first" else x[:, -1]
    if config.get("summary_use_proj"):
        h = layer("sequence_summary.summary", h)
    return ACTIVATIONS[config["summary_activation"]](h) if config.get("summary_activation") else h


def head(config, tensors, x, model_class):
    """What the class computes from the last hidden state, by name."""
    def layer(name, value):
        weight = tensors.get(name + ".weight")
        return None if weight is None else dense(value, weight, tensors[name + ".bias"])

    def norm(name, value):
        return layer_norm(value, tensors[name + ".weight"], tensors[name + ".bias"],
                          np.asarray(config["layer_norm_eps"], x.dtype))

    if model_class == "EncoderOnly":
        logits = layer("decoder", x)
        return {} if logits is None else {"logits": logits}
    task = re.sub("^(ConvBert|Bert|Electra)", "", model_class)
    if task == "ForTokenClassification":
        return {"logits": layer("classifier", x)}
    if task == "ForQuestionAnswering":
        logits = layer("qa_outputs", x)
        return {"start_logits": logits[..., 0], "end_logits": logits[..., 1]}
    if model_class.startswith("Bert"):
        return _bert_head(config, layer, norm, x, task)
    if task == "ForMaskedLM":
        h = norm("generator_predictions.LayerNorm", gelu(layer("generator_predictions.dense", x)))
        return {"logits": layer("generator_lm_head", h)}
    act = ACTIVATIONS[config["hidden_act"]]
    if task == "ForSequenceClassification":
        h = (gelu if model_class.startswith("Electra") else act)(layer("classifier.dense", x[:, 0]))
        return {"logits": layer("classifier.out_proj", h)}
    if task == "ForPreTraining":
        h = act(layer("discriminator_predictions.dense", x))
        return {"logits": layer("discriminator_predictions.dense_prediction", h)[..., 0]}
    if task == "ForMultipleChoice":
        return {"logits": layer("classifier", _summary(config, layer, x))}
    return {}


def encoder_layer(config, tensors, index, x, bias):
    """Layer number `index` on x [B, T, D]: its output, the attention probabilities and the taps (None without)."""
    eps = np.asarray(config["layer_norm_eps"], x.dtype)

    def get(name):
        return tensors.get(f"encoder.layer.{index}.{name}")

    mixed, probabilities, taps = mixed_attention(x, lambda name: get("attention." + name), bias,
                                                 *attention_heads(config, index))
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
    if model_class.endswith("ForMultipleChoice"):
        inputs = {name: array.reshape(-1, array.shape[-1]) for name, array in inputs.items()}
    return tensors, inputs


def forward(config, tensors, inputs, model_class="ConvBertModel", dtype=np.float64):
    """All outputs by name, computed in `dtype`.

    inputs: input_ids [B, T] ([B, choices, T] for multiple choice), or inputs_embeds [B, T, E], or (EncoderOnly)
    encoder_input [B, T, D]; and, optionally, attention_mask, token_type_ids, position_ids. Outputs: last_hidden_state,
    hidden_states.i, attentions.i, conv_kernels.i and those of the head.
    """
    is_choice = model_class.endswith("ForMultipleChoice")
    choices = np.asarray(inputs["input_ids"]).shape[1] if is_choice else 1
    tensors, inputs = prepare(tensors, inputs, model_class, dtype)
    bias = mask_bias(inputs.get("attention_mask"), dtype)
    x = embeddings(tensors, inputs, np.asarray(config["layer_norm_eps"], dtype))
    out = {"hidden_states.0": x}
    for index in range(count_layers(tensors)):
        x, *maps = encoder_layer(config, tensors, index, x, bias)
        out.update({f"{name}.{index}": value for name, value in zip(("attentions", "conv_kernels"), maps)
                    if value is not None})
        out[f"hidden_states.{index + 1}"] = x
    out["last_hidden_state"] = x
    out.update(head(config, tensors, x, model_class))
    if is_choice:
        out["logits"] = out["logits"].reshape(-1, choices)
    return out
