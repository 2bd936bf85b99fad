"""Every operation of the dialect in NumPy, with the operands and attributes of the dialect.

Slow and plain: what each phase of a lowering is tested against. Results have the type of the operands, so that float64
operands give the oracle and float32 operands give an idea of what rounding does to it.

Sizes: B sequences, T tokens, C features, H heads, K taps, G groups. `layout` is the orientation of a weight: "out_in"
as in PyTorch files ([Co, Ci], depthwise [C, K]) or "in_out" ([Ci, Co], [K, C]).
"""

import math

import numpy as np

from . import reference

_SELU_SCALE, _SELU_ALPHA = 1.0507009873554805, 1.6732632423543772
_LAPLACE_MU, _LAPLACE_SIGMA = 0.707107, 0.282095
_erf = np.vectorize(math.erf, otypes=[np.float64])


def _sigmoid(x):
    return 1 / (1 + np.exp(-x))


def _softplus(x):
    """log(1 + exp(x))."""
    return np.maximum(x, 0) + np.log1p(np.exp(-np.abs(x)))


def _laplace(x):
    """The distribution function of a normal distribution."""
    z = (x.astype(np.float64) - _LAPLACE_MU) / (_LAPLACE_SIGMA * math.sqrt(2))
    return (0.5 * (1 + _erf(z))).astype(x.dtype)


#: Activations by the dialect's names, elementwise on any shape.
ACTIVATIONS = {
    **reference.ACTIVATIONS,
    "identity": lambda x: x,
    "sigmoid": _sigmoid,
    "selu": lambda x: np.where(x > 0, x, _SELU_ALPHA * np.expm1(np.minimum(x, 0))).astype(x.dtype) * x.dtype.type(
        _SELU_SCALE),
    "gelu_10": lambda x: np.clip(reference.gelu(x), -10, 10),
    "quick_gelu": lambda x: x * _sigmoid(x.dtype.type(1.702) * x),
    "relu2": lambda x: np.maximum(x, 0) ** 2,
    "relu6": lambda x: np.clip(x, 0, 6),
    "leaky_relu": lambda x: np.where(x > 0, x, x * x.dtype.type(0.01)),
    "hardswish": lambda x: x * (np.clip(x + 3, 0, 6) / x.dtype.type(6)),
    "laplace": _laplace,
    "mish": lambda x: x * np.tanh(_softplus(x)),
    "sqrtsoftplus": lambda x: np.sqrt(_softplus(x)),
    "hard_sigmoid": lambda x: np.clip(x + 3, 0, 6) / x.dtype.type(6),
}


def _out_in(weight, layout):
    """`weight` as [out, in]; ValueError for an unknown layout."""
    if layout not in ("out_in", "in_out"):
        raise ValueError(f"requires layout out_in or in_out, but found {layout}")
    return weight if layout == "out_in" else weight.T


# ---- steps ----------------------------------------------------------------------------------------------------------

def dense(x, weight, bias=None, multiplier=None, activation="identity", layout="out_in"):
    """act(x W^T + b) * multiplier: x [..., Ci], bias [Co], multiplier and result [..., Co]."""
    y = ACTIVATIONS[activation](reference.dense(x, _out_in(weight, layout), bias))
    return y if multiplier is None else y * multiplier


def grouped_dense(x, weight, bias=None, activation="identity"):
    """Group g of the features meets group g of the result only: weight [G, Ci/G, Co/G], bias [Co]."""
    return ACTIVATIONS[activation](reference.dense(x, weight, bias))


def layer_norm(x, gamma, beta, residual=None, eps=1e-12):
    """Norm of x + residual over the last axis."""
    return reference.layer_norm(x if residual is None else x + residual, gamma, beta, np.asarray(eps, x.dtype))


def embeddings(ids, token_types, position_ids, word=None, position=None, types=None, gamma=None, beta=None,
               projection=None, projection_bias=None, eps=1e-12):
    """Norm of the sum of three rows, [B, T, E], then a dense layer [D, E] to [B, T, D] if there is one. Without a table
    of words, ids are vectors [B, T, E]."""
    rows = ids if word is None else word[ids]
    x = layer_norm(rows + position[position_ids] + types[token_types], gamma, beta, eps=eps)
    return x if projection is None else reference.dense(x, projection, projection_bias)


def pool(x, kind, mask=None):
    """[B, C] of [B, T, C]: the first token, the last one, or the mean over all, or over those of mask [B, T]; the mean
    of no token is zero."""
    if mask is not None:
        return mask_tokens(x, mask).sum(axis=1) / np.maximum(mask.sum(axis=1, keepdims=True), 1).astype(x.dtype)
    return x.mean(axis=1) if kind == "mean" else x[:, {"first": 0, "last": -1}[kind]]


def window_pads(mode, taps, dilation=1, stride=1, length=None):
    """(low, high) of a named padding: "valid"; "causal", where the last tap is the token itself; "same" as TensorFlow
    has it, with the odd one behind, where a stride other than 1 wants the length."""
    reach = (taps - 1) * dilation
    if mode == "same" and stride != 1:
        reach = max((-(-length // stride) - 1) * stride + reach + 1 - length, 0)
    return {"valid": (0, 0), "causal": (reach, 0), "same": (reach // 2, reach - reach // 2)}[mode]


def windows(x, taps, pads, stride=1, dilation=1):
    """The tokens [B, T', K, C] that each token of a convolution sees, zero outside the sequence."""
    padded = np.pad(x, ((0, 0), tuple(pads), (0, 0)))
    count = (padded.shape[1] - (taps - 1) * dilation - 1) // stride + 1
    if count < 1:
        raise ValueError(f"requires a window that fits, but found {x.shape[1]} tokens, pads {pads} and {taps} taps")
    return padded[:, np.arange(count)[:, None] * stride + np.arange(taps) * dilation]


def conv1d(x, weight, bias=None, pads=(0, 0), stride=1, dilation=1, groups=1, layout="out_in"):
    """Convolution in groups: weight [Co, Ci/G, K] or [K, Ci/G, Co], bias [Co], result [B, T', Co].

    A weight and bias of each sequence have the batch in front.
    """
    if weight.ndim == 4:
        rows = [conv1d(x[n:n + 1], weight[n], None if bias is None else bias[n], pads, stride, dilation, groups, layout)
                for n in range(len(x))]
        return np.concatenate(rows)
    kernel = _out_in(weight, layout)  # [Co, Ci/G, K]
    seen = windows(x, kernel.shape[2], pads, stride, dilation)
    seen = seen.reshape(*seen.shape[:3], groups, -1)
    y = np.einsum("btkgi,goik->btgo", seen, kernel.reshape(groups, -1, *kernel.shape[1:]))
    y = y.reshape(*y.shape[:2], -1).astype(x.dtype, copy=False)
    return y if bias is None else y + bias


def depthwise_conv1d(x, weight, bias=None, pads=(0, 0), stride=1, dilation=1, layout="out_in"):
    """y[b, t, c m + j] = sum_k w[c m + j, k] x[b, t stride + k dilation - low, c], zero outside the sequence."""
    weight = _out_in(weight, layout)
    seen = windows(x, weight.shape[1], pads, stride, dilation)
    seen = np.repeat(seen, len(weight) // x.shape[2], axis=3)
    y = np.einsum("btkc,ck->btc", seen, weight).astype(x.dtype, copy=False)
    return y if bias is None else y + bias


def separable_conv1d(x, depthwise, pointwise, bias=None, pads=(0, 0), dilation=1, layout="out_in"):
    """depthwise_conv1d, then a dense layer."""
    z = depthwise_conv1d(x, depthwise, pads=pads, dilation=dilation, layout=layout)
    return dense(z, pointwise, bias, layout=layout)


def batch_norm(x, mean, variance, gamma, beta, eps=1e-5):
    """Norm with given statistics, a number a feature each."""
    return gamma * (x - mean) / np.sqrt(variance + np.asarray(eps, x.dtype)) + beta


def softmax(x, temperature=1.0):
    """Softmax of x / temperature over the last axis."""
    return reference.softmax(x / np.asarray(temperature, x.dtype))


def weighted_sum(x, weights):
    """Blocks [B, T, N, C] of features, summed with weights [B, N]: [B, T, C]."""
    blocks = x.reshape(*x.shape[:2], weights.shape[1], -1)
    return np.einsum("btnc,bn->btc", blocks, weights).astype(x.dtype, copy=False)


def mask_tokens(x, mask):
    """x [B, T, C] with zeros in tokens where mask [B, T] is not set."""
    return np.where(mask[..., None], x, np.zeros((), x.dtype))


def _leave_out(logits, edge, pads, dilation):
    """Logits [..., T, H, K] with -inf, for edge "renorm", where a tap reads no token of the sequence."""
    if edge == "zero":
        return logits
    length, _, taps = logits.shape[-3:]
    read = np.arange(length)[:, None] + np.arange(taps) * dilation - pads[0]
    inside = (read >= 0) & (read < length)
    return np.where(inside[:, None], logits, np.asarray(-np.inf, logits.dtype))


def normalize_taps(logits):
    """Softmax over the taps of each head, [H, K]."""
    return reference.softmax(logits)


def light_conv(x, weight, bias=None, pads=(0, 0), dilation=1, normalize="softmax", edge="zero", head_map="blocked"):
    """y[b, t, c] = sum_k a[h(c), k] x[b, t + k*dilation - low, c] + bias[c]; a: softmax of weight [H, K], or weight."""
    taps = np.broadcast_to(weight, (*x.shape[:2], *weight.shape))
    y = apply_kernel(x, taps, None, pads, normalize, dilation=dilation, edge=edge, head_map=head_map)
    return y if bias is None else y + bias


def add_bias(x, bias):
    """x [..., C] + bias [C]."""
    return x + bias


def dynamic_kernel(q, weight, bias=None, span_key=None, heads=1, normalize="softmax", layout="out_in", edge="zero",
                   pads=None, dilation=1):
    """Taps [B, T, H, K] from a dense layer of q (* span_key) to H*K features, feature h*K + k being tap k of head h."""
    logits = dense(q if span_key is None else q * span_key, weight, bias, layout=layout)
    logits = logits.reshape(*q.shape[:2], heads, -1)
    return reference.softmax(_leave_out(logits, edge, pads, dilation)) if normalize == "softmax" else logits


def apply_kernel(v, taps, mask=None, pads=(0, 0), normalize="none", with_taps=False, dilation=1, edge="zero",
                 head_map="blocked"):
    """y[b, t, c] = sum_k taps[b, t, h(c), k] v[b, t + k*dilation - low, c], zero outside and where not mask: [B, T, C].

    h(c): c // R for "blocked" heads, c % H for "interleaved" ones. with_taps: also the taps, normalized.
    """
    if normalize == "softmax":
        taps = reference.softmax(_leave_out(taps, edge, pads, dilation))
    if mask is not None:
        v = mask_tokens(v, mask)
    heads, features = taps.shape[2], np.arange(v.shape[2])
    head = features // (v.shape[2] // heads) if head_map == "blocked" else features % heads
    y = sum(taps[:, :, head, k] * reference.shift(v, k * dilation - pads[0]) for k in range(taps.shape[3]))
    return (y, taps) if with_taps else y


def span_dynamic_conv(q, span_key, v, weight, bias=None, mask=None, heads=1, pads=(0, 0), layout="out_in", dilation=1,
                      edge="zero", head_map="blocked"):
    """apply_kernel(v, dynamic_kernel(q * span_key))."""
    taps = dynamic_kernel(q, weight, bias, span_key, heads, "softmax", layout, edge, pads, dilation)
    return apply_kernel(v, taps, mask, pads, dilation=dilation, head_map=head_map)


def dynamic_conv(x, weight, bias=None, query=None, channel_bias=None, heads=1, pads=(0, 0), dilation=1,
                 normalize="softmax", edge="zero", head_map="blocked", layout="out_in"):
    """apply_kernel(x, dynamic_kernel(query or x)) + channel_bias."""
    taps = dynamic_kernel(x if query is None else query, weight, bias, None, heads, normalize, layout, edge, pads,
                          dilation)
    y = apply_kernel(x, taps, None, pads, dilation=dilation, head_map=head_map)
    return y if channel_bias is None else y + channel_bias


def scale_channels(x, gate):
    """x [B, T, C] * gate [B, C]."""
    return x * gate[:, None]


def select_branches(*operands):
    """sum_m a_m u_m of branches u_m [B, T, C] and then as many logits [B, C]; a: their softmax over the branches."""
    branches, logits = np.split(np.arange(len(operands)), 2)
    weights = reference.softmax(np.stack([operands[m] for m in logits], axis=-1))
    return sum(operands[m] * weights[:, None, :, m] for m in branches)


def attention_bias(mask, dtype=np.float32):
    """[B, T]: 0 where the mask is set, else the lowest finite value of `dtype`."""
    return np.where(mask, np.asarray(0, dtype), np.finfo(dtype).min)


def scale_heads(x, scales):
    """x [..., C], the features of head h times scales[h]."""
    return (x.reshape(*x.shape[:-1], len(scales), -1) * scales[:, None]).reshape(x.shape)


def select_slices(x, slices, size):
    """The slices of `size` features that `slices` numbers, side by side."""
    return np.concatenate([x[..., s * size:(s + 1) * size] for s in slices], axis=-1)


def self_attention(q, k, v, bias=None, head_mask=None, heads=1, scale=1.0, query_heads=None,
                   with_probabilities=False):
    """head_mask softmax(scale q k^T + bias) v on heads: q [B, Tq, C], k [B, Tk, C], v [B, Tk, Cv], bias [B, Tk].

    Returns [B, Tq, Cv], and with_probabilities also what the values are mixed with, [B, H, Tq, Tk].  Head h reads slice
    query_heads[h] of a query that may be wider.
    """
    def split(x):
        return x.reshape(*x.shape[:2], heads, -1).transpose(0, 2, 1, 3)

    if query_heads is not None:
        q = select_slices(q, query_heads, k.shape[2] // heads)
    scores = split(q) @ split(k).transpose(0, 1, 3, 2) * np.asarray(scale, q.dtype)
    if bias is not None:
        scores = scores + bias[:, None, None, :]
    probabilities = reference.softmax(scores)
    if head_mask is not None:
        probabilities = probabilities * head_mask[:, None, None]
    mixed = (probabilities @ split(v)).transpose(0, 2, 1, 3).reshape(*q.shape[:2], -1)
    return (mixed, probabilities) if with_probabilities else mixed


# ---- blocks ---------------------------------------------------------------------------------------------------------

def squeeze_excite(x, w1, b1=None, w2=None, b2=None, mask=None, gate="sigmoid", layout="out_in"):
    """gate(relu(mean_t(x) W1 + b1) W2 + b2) * x; the mean over the tokens of mask [B, T], if there is one."""
    hidden = dense(pool(x, "mean", mask), w1, b1, activation="relu", layout=layout)
    return scale_channels(x, dense(hidden, w2, b2, activation=gate, layout=layout))


def selective_kernel(*branches, wz=None, scale=None, shift=None, a=None, layout="out_in"):
    """select_branches of the branches [B, T, C] by logits z a[m], z = relu(scale (mean_t(sum of branches) Wz) + shift);
    a [M, D, C]."""
    z = dense(sum(branches).mean(axis=1), wz, layout=layout)
    z = ACTIVATIONS["relu"]((z if scale is None else z * scale) + (0 if shift is None else shift))
    return select_branches(*branches, *(z @ matrix for matrix in a))


def feed_forward(x, w1, b1, w2, b2, activation="gelu"):
    """Two dense layers (rank 2: [out, in]; rank 3: grouped) with an activation between."""
    return reference.dense(ACTIVATIONS[activation](reference.dense(x, w1, b1)), w2, b2)


def kernel_attention_conv(x, f1, b1=None, f2=None, b2=None, kernels=None, biases=None, pads=(0, 0), stride=1,
                          dilation=1, temperature=1.0, aggregate="auto", layout="out_in"):
    """conv1d with a mix of kernels [N, ...], biases [N, Co]; the gate f1, f2 weighs them after the mean token.

    aggregate "outputs" mixes the convolutions' outputs, anything else the kernels.
    """
    hidden = dense(pool(x, "mean"), f1, b1, activation="relu", layout=layout)
    weights = softmax(dense(hidden, f2, b2, layout=layout), temperature)

    def conv(kernel, bias):
        return conv1d(x, kernel, bias, pads, stride, dilation, layout=layout)

    if aggregate == "outputs":
        outputs = [conv(kernel, None if biases is None else biases[n]) for n, kernel in enumerate(kernels)]
        return weighted_sum(np.concatenate(outputs, axis=-1), weights)
    return conv(np.tensordot(weights, kernels, 1), None if biases is None else weights @ biases)


def mixed_attention(x, wq, bq, wk=None, bk=None, wv=None, bv=None, wd=None, wp=None, bp=None, wf=None, bf=None, wc=None,
                    bc=None, wo=None, bo=None, bias=None, conv_mask=None, head_mask=None, attn_heads=1, conv_heads=1,
                    head_size=1, query_heads=None, span_query_heads=None, with_probabilities=False,
                    with_kernels=False, layout="out_in"):
    """Attention heads, then span-based dynamic convolution heads, then the output layer.

    x [B, T, D], bias [B, T], conv_mask [B, T], head_mask [attn_heads + conv_heads].  Without wc both branches share the
    values.  Returns [B, T, D'], then the probabilities [B, H, T, T] and the taps [B, T, H', K], where asked for.
    """
    q = dense(x, wq, bq, layout=layout)
    branches, maps = [], []
    masks = None if head_mask is None else (head_mask[:attn_heads], head_mask[attn_heads:])
    if attn_heads:
        k, v = dense(x, wk, bk, layout=layout), dense(x, wv, bv, layout=layout)
        heads = range(attn_heads) if query_heads is None else query_heads
        y, p = self_attention(select_slices(q, heads, head_size), k, v, bias, masks and masks[0], attn_heads,
                              1 / math.sqrt(head_size), with_probabilities=True)
        branches.append(y)
        if with_probabilities:
            maps.append(p)
    if conv_heads:
        u = v if wc is None else dense(x, wc, bc, layout=layout)
        half = (_out_in(wd, layout).shape[1] - 1) // 2
        read = x if conv_mask is None else mask_tokens(x, conv_mask)
        span = separable_conv1d(read, wd, wp, bp, (half, half), layout=layout)
        slices = range(span.shape[2] // head_size) if span_query_heads is None else span_query_heads
        taps = dynamic_kernel(select_slices(q, slices, head_size), wf, bf, span, conv_heads, layout=layout)
        y = apply_kernel(u, taps, conv_mask, (half, half))
        branches.append(y if masks is None else scale_heads(y, masks[1]))
        if with_kernels:
            maps.append(taps)
    y = dense(np.concatenate(branches, axis=-1), wo, bo, layout=layout)
    return (y, *maps) if maps else y


def lm_head(x, weight, bias, gamma, beta, decoder, decoder_bias, eps=1e-12):
    """Logits [B, T, V]; the activation is exact GELU."""
    h = layer_norm(dense(x, weight, bias, activation="gelu"), gamma, beta, eps=eps)
    return dense(h, decoder, decoder_bias)


def classifier_head(x, w1, b1, w2, b2, activation="gelu"):
    """Logits [B, N] from the first token."""
    return dense(dense(pool(x, "first"), w1, b1, activation=activation), w2, b2)


def span_head(x, weight, bias):
    """Start and end logits, [B, T] each."""
    logits = dense(x, weight, bias)
    return logits[..., 0], logits[..., 1]


def choice_head(x, weight, bias, summary="last"):
    """One logit for a sequence, [B, 1]."""
    return dense(pool(x, summary), weight, bias)


def token_head(x, weight, bias):
    """Logits of every token, [B, T, N]."""
    return dense(x, weight, bias)
