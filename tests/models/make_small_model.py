"""Write the small qwen35moe model in BF16 with random weights that the tests use.

usage: make_small_model.py TOKENIZER.gguf OUT.gguf

The tokenizer comes from another GGUF file of the same family.
"""
import sys

import numpy as np
from random_gguf import RandomGguf

HIDDEN, LAYERS, EXPERTS, TOP_K, FF = 128, 4, 8, 2, 64
HEADS, KV_HEADS, HEAD_DIM, ROTARY = 4, 2, 32, 16
KEY_HEADS, VALUE_HEADS, STATE = 2, 4, 32
CONV_CHANNELS = 2 * KEY_HEADS * STATE + VALUE_HEADS * STATE

file = RandomGguf(sys.argv[2], "qwen35moe", sys.argv[1], seed=5)
w, rng, matrix, vector = file.w, file.rng, file.matrix, file.vector


def metadata():
    w.add_name("guild small qwen35moe")
    w.add_block_count(LAYERS + 1)
    w.add_nextn_predict_layers(1)
    w.add_context_length(32768)
    w.add_embedding_length(HIDDEN)
    w.add_head_count(HEADS)
    w.add_head_count_kv(KV_HEADS)
    w.add_key_length(HEAD_DIM)
    w.add_value_length(HEAD_DIM)
    w.add_rope_dimension_count(ROTARY)
    w.add_rope_dimension_sections([3, 3, 2, 0])
    w.add_rope_freq_base(1e7)
    w.add_layer_norm_rms_eps(1e-6)
    w.add_expert_count(EXPERTS)
    w.add_expert_used_count(TOP_K)
    w.add_expert_feed_forward_length(FF)
    w.add_expert_shared_feed_forward_length(FF)
    w.add_ssm_conv_kernel(4)
    w.add_ssm_state_size(STATE)
    w.add_ssm_group_count(KEY_HEADS)
    w.add_ssm_time_step_rank(VALUE_HEADS)
    w.add_ssm_inner_size(VALUE_HEADS * STATE)
    w.add_full_attention_interval(4)
    w.add_file_type(32)
    return file.add_tokenizer("qwen35")


def experts(p):
    vector(p + "ffn_gate_inp.weight", EXPERTS, HIDDEN, std=0.12)
    vector(p + "ffn_gate_inp_shexp.weight", HIDDEN, std=0.12)
    matrix(p + "ffn_gate_exps.weight", EXPERTS, FF, HIDDEN)
    matrix(p + "ffn_up_exps.weight", EXPERTS, FF, HIDDEN)
    matrix(p + "ffn_down_exps.weight", EXPERTS, HIDDEN, FF)
    matrix(p + "ffn_gate_shexp.weight", FF, HIDDEN)
    matrix(p + "ffn_up_shexp.weight", FF, HIDDEN)
    matrix(p + "ffn_down_shexp.weight", HIDDEN, FF)


def attention(p):
    matrix(p + "attn_q.weight", 2 * HEADS * HEAD_DIM, HIDDEN)
    matrix(p + "attn_k.weight", KV_HEADS * HEAD_DIM, HIDDEN)
    matrix(p + "attn_v.weight", KV_HEADS * HEAD_DIM, HIDDEN)
    matrix(p + "attn_output.weight", HIDDEN, HEADS * HEAD_DIM)
    vector(p + "attn_q_norm.weight", HEAD_DIM, mean=1)
    vector(p + "attn_k_norm.weight", HEAD_DIM, mean=1)


def delta(p):
    matrix(p + "attn_qkv.weight", CONV_CHANNELS, HIDDEN)
    matrix(p + "attn_gate.weight", VALUE_HEADS * STATE, HIDDEN)
    matrix(p + "ssm_alpha.weight", VALUE_HEADS, HIDDEN)
    matrix(p + "ssm_beta.weight", VALUE_HEADS, HIDDEN)
    w.add_tensor(p + "ssm_a", -rng.uniform(0.1, 3.0, VALUE_HEADS).astype(np.float32))
    w.add_tensor(p + "ssm_dt.bias", rng.uniform(-2, 1, VALUE_HEADS).astype(np.float32))
    vector(p + "ssm_conv1d.weight", CONV_CHANNELS, 4, std=0.35)
    vector(p + "ssm_norm.weight", STATE, mean=1)
    matrix(p + "ssm_out.weight", HIDDEN, VALUE_HEADS * STATE)


vocabulary = metadata()
matrix("token_embd.weight", vocabulary, HIDDEN, std=0.5)
vector("output_norm.weight", HIDDEN, mean=1)
matrix("output.weight", vocabulary, HIDDEN, std=0.15)
for layer in range(LAYERS + 1):
    p = f"blk.{layer}."
    vector(p + "attn_norm.weight", HIDDEN, mean=1)
    vector(p + "post_attention_norm.weight", HIDDEN, mean=1)
    draft = layer == LAYERS
    if draft or (layer + 1) % 4 == 0:
        attention(p)
    else:
        delta(p)
    experts(p)
    if draft:
        matrix(p + "nextn.eh_proj.weight", HIDDEN, 2 * HIDDEN)
        for name in ("enorm", "hnorm", "shared_head_norm"):
            vector(p + f"nextn.{name}.weight", HIDDEN, mean=1)
file.close()
