"""The operators of convbert.op_costs in PyTorch, as its users write them: for each a call that takes no arguments, on
inputs that lie as PyTorch has them, and what makes [B, T, C] of its result.

Weights are those of the operator's graph, by name. Constant work on weights (softmax, expansion) is done before, as ours
is by packing.
"""

import torch
import torch.nn.functional as F


def _btc(y):
    return y


def _bct(y):
    return y.transpose(1, 2)


def _heads(x, heads):
    """[B, T, C] as [B, H, T, R]."""
    return x.unflatten(2, (heads, -1)).transpose(1, 2)


def _windows(v, heads, taps):
    """[B, T, C] as [B, T, H, R, K]: a copy with what each tap reads, as fairseq and transformers make it."""
    half = taps // 2
    padded = F.pad(v, (0, 0, half, taps - 1 - half))
    return padded.unfold(1, taps, 1).unflatten(2, (heads, -1))


def _dynamic(v, logits, heads, taps):
    """Convolves [B, T, C] with a softmax of [B, T, H * K]."""
    kernels = logits.unflatten(2, (heads, taps)).softmax(-1)
    return torch.matmul(_windows(v, heads, taps), kernels.unsqueeze(-1)).flatten(2)


def _separable(x, wd, wp):
    """[B, T, C] in and out, depthwise and pointwise."""
    y = F.conv1d(x.transpose(1, 2), wd[:, None], padding=wd.shape[1] // 2, groups=wd.shape[0])
    return F.linear(y.transpose(1, 2), wp)


def _attention(q, k, v, heads):
    mixed = F.scaled_dot_product_attention(_heads(q, heads), _heads(k, heads), _heads(v, heads))
    return mixed.transpose(1, 2).flatten(2)


def regular(w, s, x):
    x = x.transpose(1, 2).contiguous()
    return lambda: F.conv1d(x, w["w"], padding=s.kernel // 2), _bct


def depthwise(w, s, x):
    x, filters = x.transpose(1, 2).contiguous(), w["w"][:, None]
    return lambda: F.conv1d(x, filters, padding=s.kernel // 2, groups=s.channels), _bct


def pointwise(w, s, x):
    return lambda: F.linear(x, w["w"]), _btc


def separable(w, s, x):
    x, wd, wp = x.transpose(1, 2).contiguous(), w["wd"][:, None], w["wp"][..., None]
    return lambda: F.conv1d(F.conv1d(x, wd, padding=s.kernel // 2, groups=s.channels), wp), _bct


def grouped(w, s, x):
    groups = w["w"].shape[0]
    return lambda: torch.matmul(x.unflatten(2, (groups, -1)).transpose(1, 2), w["w"]).transpose(1, 2).flatten(2), _btc


def light(w, s, x):
    # Faster than both of fairseq's ways: the softmax is constant, and the rest a depthwise convolution.
    filters = w["w"].softmax(-1).repeat_interleave(s.channels // s.heads, 0)
    return depthwise({"w": filters}, s, x)


def dynamic(w, s, x):
    return lambda: _dynamic(x, F.linear(x, w["w"]), s.heads, s.kernel), _btc


def span(w, s, x, q, v=None):
    def call():
        values = F.linear(x, w["wc"]) if v is None else v
        return _dynamic(values, F.linear(q * _separable(x, w["wd"], w["wp"]), w["wf"]), s.heads // 2, s.kernel)
    return call, _btc


def attention(w, s, x):
    def call():
        return F.linear(_attention(F.linear(x, w["wq"]), F.linear(x, w["wk"]), F.linear(x, w["wv"]), s.heads), w["wo"])
    return call, _btc


def mixed(w, s, x):
    def call():
        heads = s.heads // 2
        q, k, v = (F.linear(x, w["w" + name], w["b" + name]) for name in "qkv")
        values = F.linear(x, w["wc"], w["bc"]) if "wc" in w else v
        key = _separable(x, w["wd"], w["wp"]) + w["bp"]
        convolved = _dynamic(values, F.linear(q * key, w["wf"], w["bf"]), heads, s.kernel)
        return F.linear(torch.cat([_attention(q, k, v, heads), convolved], 2), w["wo"], w["bo"])
    return call, _btc


def squeeze_excite(w, s, x):
    def call():
        gate = F.linear(F.relu(F.linear(x.mean(1), w["w1"])), w["w2"]).sigmoid()
        return x * gate[:, None]
    return call, _btc


def selective_kernel(w, s, x):
    x = x.transpose(1, 2).contiguous()
    filters = [w[f"w{taps}"][:, None] for taps in (3, 5)]
    select = w["a"].transpose(0, 1).flatten(1)  # [D, M C]

    def call():
        branches = torch.stack([F.conv1d(x, f, padding=f.shape[2] // 2, groups=s.channels) for f in filters], 1)
        z = F.relu(F.linear(branches.sum(1).mean(2), w["wz"]))
        shares = (z @ select).unflatten(1, (len(filters), -1)).softmax(1)
        return (branches * shares[..., None]).sum(1)
    return call, _bct


def kernel_attention(w, s, x):
    x, kernels = x.transpose(1, 2).contiguous(), w["w"].flatten(1)

    def call():
        shares = F.linear(F.relu(F.linear(x.mean(2), w["f1"])), w["f2"]).softmax(-1)
        filters = (shares @ kernels).view(-1, *w["w"].shape[2:])
        return F.conv1d(x.reshape(1, -1, x.shape[2]), filters, padding=s.kernel // 2,
                        groups=x.shape[0]).view(x.shape[0], -1, x.shape[2])
    return call, _bct


#: By the operators' names: f(weights, sizes, inputs...).
OPERATORS = {
    "regular": regular, "depthwise": depthwise, "pointwise": pointwise, "depthwise-separable": separable,
    "grouped dense, 2 groups": grouped, "lightweight": light, "dynamic": dynamic, "span dynamic, shared values": span,
    "span dynamic, own values": span, "self-attention": attention, "mixed attention, own values": mixed,
    "mixed attention, shared values": mixed, "squeeze-excite": squeeze_excite,
    "selective kernel, 3 and 5 taps": selective_kernel, "kernel attention, 4 kernels": kernel_attention}


def make(name, weights, sizes, arrays):
    """The call, and its result as an array [B, T, C] for the check."""
    torch.set_grad_enabled(False)
    call, turned = OPERATORS[name]({name: torch.from_numpy(array) for name, array in weights.items()}, sizes,
                                   *map(torch.from_numpy, arrays))
    return call, lambda result: turned(result).contiguous().numpy()
