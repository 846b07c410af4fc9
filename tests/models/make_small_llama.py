"""Write a small llama model in BF16 with random weights that the tests use.

usage: make_small_llama.py TOKENIZER.gguf OUT.gguf tied|factors

`tied` has no head of its own and heads of the usual length. `factors` has a head of its own, heads of
a length that the metadata states, grouped queries and Llama 3's frequency factors.
"""
import sys

import numpy as np
from random_gguf import RandomGguf

FACTORS = sys.argv[3] == "factors"
LAYERS, HIDDEN, HEADS, KV_HEADS, HEAD_DIM, FF, THETA = (
    (3, 32, 6, 2, 16, 96, 5e5) if FACTORS else (2, 64, 4, 2, 16, 160, 1e4)
)

file = RandomGguf(sys.argv[2], "llama", sys.argv[1], seed=6 + FACTORS)
w, matrix, vector = file.w, file.matrix, file.vector


def metadata():
    w.add_name("guild small llama")
    w.add_block_count(LAYERS)
    w.add_context_length(8192)
    w.add_embedding_length(HIDDEN)
    w.add_feed_forward_length(FF)
    w.add_head_count(HEADS)
    w.add_head_count_kv(KV_HEADS)
    w.add_layer_norm_rms_eps(1e-5)
    w.add_rope_freq_base(THETA)
    w.add_rope_dimension_count(HEAD_DIM)
    if FACTORS:
        w.add_key_length(HEAD_DIM)
        w.add_value_length(HEAD_DIM)
    w.add_file_type(32)
    return file.add_tokenizer("qwen35")


def llama3_factors(low=1.0, high=4.0, factor=32.0, context=64.0):
    """The factors that Llama 3.2's converter writes, for a short original context."""
    frequencies = THETA ** (-np.arange(0, HEAD_DIM, 2) / HEAD_DIM)
    turns = context * frequencies / (2 * np.pi)
    smooth = np.clip((turns - low) / (high - low), 0, 1)
    return (1 / ((1 - smooth) / factor + smooth)).astype(np.float32)


vocabulary = metadata()
w.add_vocab_size(vocabulary)
# A tied head would only repeat its input if the embedding outweighed the layers.
matrix("token_embd.weight", vocabulary, HIDDEN, std=0.5 if FACTORS else 0.1)
vector("output_norm.weight", HIDDEN, mean=1)
if FACTORS:
    matrix("output.weight", vocabulary, HIDDEN, std=0.3)
    w.add_tensor("rope_freqs.weight", llama3_factors())
for layer in range(LAYERS):
    p = f"blk.{layer}."
    vector(p + "attn_norm.weight", HIDDEN, mean=1)
    matrix(p + "attn_q.weight", HEADS * HEAD_DIM, HIDDEN, std=2 * HIDDEN**-0.5)
    matrix(p + "attn_k.weight", KV_HEADS * HEAD_DIM, HIDDEN, std=2 * HIDDEN**-0.5)
    matrix(p + "attn_v.weight", KV_HEADS * HEAD_DIM, HIDDEN)
    matrix(p + "attn_output.weight", HIDDEN, HEADS * HEAD_DIM)
    vector(p + "ffn_norm.weight", HIDDEN, mean=1)
    matrix(p + "ffn_gate.weight", FF, HIDDEN)
    matrix(p + "ffn_up.weight", FF, HIDDEN)
    matrix(p + "ffn_down.weight", HIDDEN, FF)
file.close()
