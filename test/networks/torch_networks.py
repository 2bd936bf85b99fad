"""Networks in PyTorch whose state dicts convbert imports: written for the tests, with the names of the libraries that they
stand for (fairseq; timm's blocks in one dimension).

fairseq's layers work on T x B x C. The lightweight convolution multiplies with a band matrix, the dynamic one unfolds the
tokens: fairseq has both ways for both.
"""

import math

import torch
import torch.nn.functional as F
from torch import nn


class LightConv(nn.Module):
    """T x B x C; the channels of a head lie side by side and share `weight`, [H, 1, K]."""

    def __init__(self, channels, taps, heads, low, bias=False):
        super().__init__()
        self.weight = nn.Parameter(torch.randn(heads, 1, taps))
        self.bias = nn.Parameter(torch.randn(channels)) if bias else None
        self.heads, self.low = heads, low

    def forward(self, x):
        length, batch, channels = x.shape
        heads, _, taps = self.weight.shape
        weight = self.weight[:, 0].softmax(-1)
        band = x.new_zeros(heads, length, length + taps - 1)
        for t in range(length):
            band[:, t, t:t + taps] = weight
        band = band[:, :, self.low:self.low + length]
        y = torch.einsum("hts,sbhr->tbhr", band, x.view(length, batch, heads, channels // heads))
        y = y.reshape(length, batch, channels)
        return y if self.bias is None else y + self.bias


class DynamicConv(nn.Module):
    """T x B x C; taps from `weight_linear` of each token, head-major."""

    def __init__(self, channels, taps, heads, low, bias=False):
        super().__init__()
        self.weight_linear = nn.Linear(channels, heads * taps, bias=bias)
        self.conv_bias = nn.Parameter(torch.randn(channels)) if bias else None
        self.heads, self.taps, self.low = heads, taps, low

    def forward(self, x):
        length, batch, channels = x.shape
        weight = self.weight_linear(x).view(length, batch, self.heads, 1, self.taps).softmax(-1)
        padded = F.pad(x, (0, 0, 0, 0, self.low, self.taps - 1 - self.low))
        windows = padded.unfold(0, self.taps, 1).view(length, batch, self.heads, channels // self.heads, self.taps)
        y = (windows * weight).sum(-1).view(length, batch, channels)
        return y if self.conv_bias is None else y + self.conv_bias


class EncoderLayer(nn.Module):
    def __init__(self, kind, channels, conv_channels, taps, heads, intermediate, gated, normalize_before, bias, causal):
        super().__init__()
        self.linear1 = nn.Linear(channels, conv_channels * (2 if gated else 1))
        low = taps - 1 if causal else taps // 2
        self.conv = {"light": LightConv, "dynamic": DynamicConv}[kind](conv_channels, taps, heads, low, bias)
        self.linear2 = nn.Linear(conv_channels, channels)
        self.fc1, self.fc2 = nn.Linear(channels, intermediate), nn.Linear(intermediate, channels)
        self.layer_norms = nn.ModuleList(nn.LayerNorm(channels) for _ in range(2))
        self.gated, self.normalize_before = gated, normalize_before

    def norm(self, index, x, before):
        return self.layer_norms[index](x) if before == self.normalize_before else x

    def forward(self, x, encoder_padding_mask):
        y = self.linear1(self.norm(0, x, True))
        y = F.glu(y, dim=-1) if self.gated else y
        y = self.conv(y.masked_fill(encoder_padding_mask.transpose(0, 1)[..., None], 0))
        x = self.norm(0, x + self.linear2(y), False)
        y = self.fc2(F.relu(self.fc1(self.norm(1, x, True))))
        return self.norm(1, x + y, False)


class Encoder(nn.Module):
    def __init__(self, kind, *, channels, taps, heads, intermediate, conv_channels=None, gated=True,
                 normalize_before=False, bias=False, causal=False, vocabulary=13, learned=0, padding_idx=1):
        super().__init__()
        self.embed_tokens = nn.Embedding(vocabulary, channels, padding_idx)
        self.embed_positions = nn.Embedding(learned, channels, padding_idx) if learned else None
        self.register_buffer("version", torch.tensor([3.0]))
        self.layers = nn.ModuleList(EncoderLayer(kind, channels, conv_channels or channels, k, heads, intermediate, gated,
                                                 normalize_before, bias, causal) for k in taps)
        self.layer_norm = nn.LayerNorm(channels) if normalize_before else None
        self.padding_idx = padding_idx

    def positions(self, ids):
        real = ids.ne(self.padding_idx).long()
        places = real.cumsum(1) * real + self.padding_idx
        if self.embed_positions is not None:
            return self.embed_positions(places)
        half = self.embed_tokens.embedding_dim // 2
        rates = torch.exp(torch.arange(half, dtype=torch.float64) * -(math.log(10000) / (half - 1)))
        angles = places[..., None] * rates
        found = torch.cat([angles.sin(), angles.cos()], -1) * real[..., None]
        return found.to(self.embed_tokens.weight.dtype)

    def embed(self, ids):
        return self.embed_tokens(ids) * math.sqrt(self.embed_tokens.embedding_dim) + self.positions(ids)

    def forward(self, x, encoder_padding_mask):
        """x: T x B x C."""
        for layer in self.layers:
            x = layer(x, encoder_padding_mask)
        return x if self.layer_norm is None else self.layer_norm(x)


class Model(nn.Module):
    """Names begin with encoder., and there are others."""

    def __init__(self, **options):
        super().__init__()
        self.encoder = Encoder(**options)
        self.decoder = nn.Linear(2, 2)


# ---- residual networks over tokens -----------------------------------------------------------------------------------

class SqueezeExcite(nn.Module):
    """B x C x T, with convolutions of one tap for dense layers, as timm has them."""

    def __init__(self, channels, reduced):
        super().__init__()
        self.fc1, self.fc2 = nn.Conv1d(channels, reduced, 1), nn.Conv1d(reduced, channels, 1)

    def forward(self, x):
        return x * self.fc2(F.relu(self.fc1(x.mean(2, keepdim=True)))).sigmoid()


class ConvNormAct(nn.Module):
    def __init__(self, channels, taps, groups, dilation=1):
        super().__init__()
        self.conv = nn.Conv1d(channels, channels, taps, padding=dilation * (taps // 2), groups=groups, bias=False,
                              dilation=dilation)
        self.bn = nn.BatchNorm1d(channels)

    def forward(self, x):
        return F.relu(self.bn(self.conv(x)))


class SelectiveKernelAttn(nn.Module):
    def __init__(self, channels, paths, reduced):
        super().__init__()
        self.fc_reduce = nn.Conv1d(channels, reduced, 1, bias=False)
        self.bn = nn.BatchNorm1d(reduced)
        self.fc_select = nn.Conv1d(reduced, channels * paths, 1, bias=False)

    def forward(self, x):
        """B x M x C x T to B x M x C x 1."""
        z = F.relu(self.bn(self.fc_reduce(x.sum(1).mean(2, keepdim=True))))
        return self.fc_select(z).view(x.shape[0], x.shape[1], x.shape[2], 1).softmax(1)


class SelectiveKernel(nn.Module):
    def __init__(self, channels, kernels, groups, reduced):
        super().__init__()
        self.paths = nn.ModuleList(ConvNormAct(channels, taps, groups) for taps in kernels)
        self.attn = SelectiveKernelAttn(channels, len(kernels), reduced)

    def forward(self, x):
        y = torch.stack([path(x) for path in self.paths], 1)
        return (y * self.attn(y)).sum(1)


class BasicBlock(nn.Module):
    """Two convolutions, squeeze-and-excitation, the shortcut."""

    def __init__(self, before, channels, taps, reduced, stride=1):
        super().__init__()
        self.conv1 = nn.Conv1d(before, channels, taps, stride, taps // 2, bias=False)
        self.bn1 = nn.BatchNorm1d(channels)
        self.conv2 = nn.Conv1d(channels, channels, taps, 1, taps // 2, bias=False)
        self.bn2 = nn.BatchNorm1d(channels)
        self.se = SqueezeExcite(channels, reduced) if reduced else None
        self.downsample = nn.Sequential(nn.Conv1d(before, channels, 1, stride, bias=False),
                                        nn.BatchNorm1d(channels)) if before != channels or stride > 1 else None

    def forward(self, x):
        y = self.bn2(self.conv2(F.relu(self.bn1(self.conv1(x)))))
        y = y if self.se is None else self.se(y)
        return F.relu(y + (x if self.downsample is None else self.downsample(x)))


class BottleneckBlock(nn.Module):
    """Down, selective kernels, up, the shortcut."""

    def __init__(self, before, channels, width, kernels, groups, reduced):
        super().__init__()
        self.conv1, self.bn1 = nn.Conv1d(before, width, 1, bias=False), nn.BatchNorm1d(width)
        self.conv2 = SelectiveKernel(width, kernels, groups, reduced)
        self.conv3, self.bn3 = nn.Conv1d(width, channels, 1, bias=False), nn.BatchNorm1d(channels)
        self.downsample = nn.Sequential(nn.Conv1d(before, channels, 1, bias=False),
                                        nn.BatchNorm1d(channels)) if before != channels else None

    def forward(self, x):
        y = self.bn3(self.conv3(self.conv2(F.relu(self.bn1(self.conv1(x))))))
        return F.relu(y + (x if self.downsample is None else self.downsample(x)))


class ResidualNetwork(nn.Module):
    """B x C x T to B x classes."""

    def __init__(self, features, stem, stem_taps, stages, classes):
        super().__init__()
        self.conv1, self.bn1 = nn.Conv1d(features, stem, stem_taps, padding=stem_taps // 2), nn.BatchNorm1d(stem)
        for index, blocks in enumerate(stages, 1):
            setattr(self, f"layer{index}", nn.Sequential(*blocks))
        self.count = len(stages)
        self.fc = nn.Linear(stages[-1][-1].downsample[0].out_channels, classes)

    def forward(self, x):
        x = F.relu(self.bn1(self.conv1(x)))
        for index in range(1, self.count + 1):
            x = getattr(self, f"layer{index}")(x)
        return self.fc(x.mean(2))


def random_statistics(network):
    """Norms away from 1 and biases away from 0, as training would leave them."""
    for module in network.modules():
        if isinstance(module, (nn.BatchNorm1d, nn.LayerNorm)):
            nn.init.normal_(module.weight, 1, 0.2)
            nn.init.normal_(module.bias, 0, 0.2)
        if isinstance(module, nn.BatchNorm1d):
            nn.init.normal_(module.running_mean, 0, 0.3)
            nn.init.uniform_(module.running_var, 0.5, 2)


FAIRSEQ = {
    "light": dict(kind="light", channels=16, taps=[3, 7, 15, 31, 31], heads=4, intermediate=24),
    "light_first": dict(kind="light", channels=16, taps=[5, 5], heads=8, intermediate=20, conv_channels=24, gated=False,
                        normalize_before=True, bias=True, learned=40),
    "dynamic": dict(kind="dynamic", channels=16, taps=[3, 7, 15, 31], heads=4, intermediate=24),
    "dynamic_first": dict(kind="dynamic", channels=16, taps=[31, 3], heads=8, intermediate=20, normalize_before=True,
                          bias=True, causal=True),
}


def fairseq(name):
    torch.manual_seed(sum(map(ord, name)))
    network = Model(**FAIRSEQ[name])
    random_statistics(network)
    return network.eval()


def residual(name):
    torch.manual_seed(sum(map(ord, name)))
    if name == "se":
        stages = [[BasicBlock(12, 12, 3, 4), BasicBlock(12, 12, 3, None)], [BasicBlock(12, 20, 5, 5)]]
    elif name == "se_stride":
        stages = [[BasicBlock(12, 12, 3, 4)], [BasicBlock(12, 20, 3, 5, stride=2)]]
    else:
        stages = [[BottleneckBlock(12, 12, 8, (3, 5), 2, 6)], [BottleneckBlock(12, 20, 8, (3, 5, 7), 8, 6)]]
    network = ResidualNetwork(7, 12, 7, stages, 4)
    random_statistics(network)
    return network.eval()
