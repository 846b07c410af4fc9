"""What rounding activations costs on SmolLM2: the figures of README.md, by an independent forward pass.

usage: rounding.py SmolLM2-135M-Instruct.Q4_1.gguf [LLAMA_CPP.f32 ...]

Needs numpy and gguf. The pass takes `logits_ids` over the dequantised weights; before each quantised
weight it can round the activations as rule 5 of docs/numerics.md does. Every line is the mean KL
divergence of the softmax from that of logits.npy, and the best tokens that are equal. Each further file
holds rows that llama_logits.cpp wrote.
"""
import json
import sys
from pathlib import Path

import gguf
import numpy as np

FOLDER = Path(__file__).parent
GOLDEN = np.load(FOLDER / "logits.npy").astype(np.float64)
IDS = json.loads((FOLDER / "golden.json").read_text())["logits_ids"]
UNQUANTISED = ("F32", "F16", "BF16")

reader = gguf.GGUFReader(sys.argv[1])
weights, quantised = {}, set()
for tensor in reader.tensors:
    shape = [int(length) for length in tensor.shape[::-1]]
    values = gguf.dequantize(tensor.data, tensor.tensor_type)
    weights[tensor.name] = values.astype(np.float32).reshape(shape)
    if tensor.tensor_type.name not in UNQUANTISED:
        quantised.add(tensor.name)


def number(key):
    return reader.fields["llama." + key].contents()


LAYERS, HIDDEN = number("block_count"), number("embedding_length")
HEADS, KV_HEADS = number("attention.head_count"), number("attention.head_count_kv")
HEAD_DIM = HIDDEN // HEADS
THETA, EPSILON = number("rope.freq_base"), number("attention.layer_norm_rms_epsilon")


def rounded(x, largest=127):
    """`x` in blocks of 32, each as integers up to `largest` times one f32 scale."""
    blocks = x.astype(np.float32).reshape(-1, 32)
    amax = np.abs(blocks).max(1, keepdims=True)
    scale = amax / np.float32(largest)
    inverse = np.divide(np.float32(largest), amax, out=np.zeros_like(amax), where=amax > 0)
    return (np.rint(blocks * inverse) * scale).reshape(x.shape).astype(x.dtype)


def rotate(x):
    """Turns neighbouring elements of each head `[rows, heads, dim]`."""
    angle = np.arange(len(x))[:, None] * THETA ** (-np.arange(0, HEAD_DIM, 2) / HEAD_DIM)
    cos, sin = (part.astype(x.dtype)[:, None] for part in (np.cos(angle), np.sin(angle)))
    y = np.empty_like(x)
    y[..., 0::2] = x[..., 0::2] * cos - x[..., 1::2] * sin
    y[..., 1::2] = x[..., 0::2] * sin + x[..., 1::2] * cos
    return y


def attend(q, k, v):
    """Causal attention `[rows, heads * dim]`."""
    k, v = (np.repeat(x, HEADS // KV_HEADS, 1) for x in (k, v))
    scores = np.einsum("qhd,khd->hqk", q, k) / np.sqrt(q.dtype.type(HEAD_DIM))
    scores += np.triu(np.full((len(q), len(q)), -np.inf, q.dtype), 1)
    scores = np.exp(scores - scores.max(-1, keepdims=True))
    scores /= scores.sum(-1, keepdims=True)
    return np.einsum("hqk,khd->qhd", scores, v).reshape(len(q), HEADS * HEAD_DIM)


def logits(kind=np.float32, where=lambda name: False, rounding=rounded):
    """The forward pass; `where` names the weights whose input is rounded."""

    def linear(x, name):
        if name in quantised and where(name):
            x = rounding(x)
        return x @ weights[name].astype(kind).T

    def norm(x, name):
        square = (x * x).mean(-1, keepdims=True)
        return x / np.sqrt(square + kind(EPSILON)) * weights[name].astype(kind)

    x = weights["token_embd.weight"][IDS].astype(kind)
    for layer in range(LAYERS):
        p = f"blk.{layer}."
        y = norm(x, p + "attn_norm.weight")
        q, k, v = (linear(y, p + f"attn_{part}.weight") for part in "qkv")
        q, k, v = (part.reshape(len(IDS), -1, HEAD_DIM) for part in (q, k, v))
        x = x + linear(attend(rotate(q), rotate(k), v), p + "attn_output.weight")
        y = norm(x, p + "ffn_norm.weight")
        gate, up = linear(y, p + "ffn_gate.weight"), linear(y, p + "ffn_up.weight")
        x = x + linear(gate / (1 + np.exp(-gate)) * up, p + "ffn_down.weight")
    return linear(norm(x, "output_norm.weight"), "token_embd.weight")


def log_softmax(x):
    x = x.astype(np.float64)
    x = x - x.max(-1, keepdims=True)
    return x - np.log(np.exp(x).sum(-1, keepdims=True))


def mean_kl(x):
    golden = log_softmax(GOLDEN)
    return (np.exp(golden) * (golden - log_softmax(x))).sum(-1).mean()


def show(what, x):
    equal = (x.argmax(-1) == GOLDEN.argmax(-1)).sum()
    print(f"{what}: {mean_kl(x):.3e}, {equal} of {len(IDS)}", flush=True)


def everywhere(name):
    return True


def among(*parts):
    return lambda name: any(part in name for part in parts)


exact = logits(np.float64)
print(f"f64, nothing rounded: differs from logits.npy by {np.abs(exact - GOLDEN).max():.1e} at most")
show("f32, nothing rounded", logits())
show("8 bits everywhere", logits(where=everywhere))
show("9 bits everywhere", logits(where=everywhere, rounding=lambda x: rounded(x, 255)))
for what, where in [
    ("queries, keys and values", among("attn_q", "attn_k", "attn_v")),
    ("gate and up", among("ffn_gate", "ffn_up")),
    ("down", among("ffn_down")),
    ("head", among("token_embd")),
    ("attention's output", among("attn_output")),
]:
    show(f"8 bits for {what}", logits(where=where))

random = np.random.default_rng(0)


def noisy(x):
    return rounded((x * (1 + random.standard_normal(x.shape) * 1e-4)).astype(np.float32))


runs = [mean_kl(logits(where=everywhere, rounding=noisy)) for _ in range(12)]
print(f"8 bits, 1e-4 of noise, 12 runs: {np.mean(runs):.1e} ({min(runs):.1e} to {max(runs):.1e})")
for path in sys.argv[2:]:
    show(path, np.fromfile(path, np.float32).reshape(GOLDEN.shape))
