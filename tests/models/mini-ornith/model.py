"""The architecture: transformers' Qwen 3.5 MoE and a draft head."""
import contextlib
import math

import grid
import torch
from torch import nn
from transformers import Qwen3_5MoeForCausalLM, Qwen3_5MoeTextConfig
from transformers.models.qwen3_5_moe.modeling_qwen3_5_moe import (
    Qwen3_5MoeDecoderLayer, Qwen3_5MoeGatedDeltaNet, Qwen3_5MoeRMSNorm, Qwen3_5MoeTopKRouter)

LAYERS, EXPERTS, TOP_K = 4, 8, 2


def config(tokenizer):
    """Three gated-delta-net layers and one with full attention, 8 experts of which 2 are used, a shared one."""
    return Qwen3_5MoeTextConfig(
        vocab_size=len(tokenizer), hidden_size=256, num_hidden_layers=LAYERS,
        num_attention_heads=4, num_key_value_heads=2, head_dim=64,
        linear_num_key_heads=2, linear_num_value_heads=4, linear_key_head_dim=64, linear_value_head_dim=64,
        num_experts=EXPERTS, num_experts_per_tok=TOP_K, moe_intermediate_size=128, shared_expert_intermediate_size=128,
        max_position_embeddings=32768, tie_word_embeddings=False, initializer_range=0.04,
        eos_token_id=tokenizer.eos_token_id, bos_token_id=None, pad_token_id=tokenizer.pad_token_id,
        output_router_logits=False,
        rope_parameters=dict(rope_type="default", rope_theta=1e7, partial_rotary_factor=0.25,
                             mrope_section=[3, 3, 2], mrope_interleaved=True))


def trunk(tokenizer):
    """An untrained model. transformers draws decays that forget everything within a token or two, which doesn't
    matter to those who load trained weights. Here they are drawn as for Mamba-2 (arXiv 2405.21060): time steps
    from 0.001 to 0.1, so that the delta rule's memory lasts from the start."""
    model = Qwen3_5MoeForCausalLM(config(tokenizer))
    for module in model.modules():
        if isinstance(module, Qwen3_5MoeGatedDeltaNet):
            step = torch.empty_like(module.dt_bias).uniform_(math.log(1e-3), math.log(1e-1)).exp()
            with torch.no_grad():
                module.A_log.uniform_(1, 16).log_()
                module.dt_bias.copy_(step + torch.log(-torch.expm1(-step)))  # softplus gives the step back
    return model


class DraftHead(nn.Module):
    """Multi-token prediction: from the trunk's final hidden state at a token and the next token, the one after.

    One decoder layer with full attention over `fc([norm(embedding), norm(hidden)])`. Embedding and output
    head are the trunk's. Names are those of Qwen 3.5's checkpoints below `mtp.`.
    """

    def __init__(self, config):
        super().__init__()
        # Without a mask only this attention is causal.
        assert config._attn_implementation == "sdpa", config._attn_implementation
        hidden, eps = config.hidden_size, config.rms_norm_eps
        self.pre_fc_norm_embedding = Qwen3_5MoeRMSNorm(hidden, eps=eps)
        self.pre_fc_norm_hidden = Qwen3_5MoeRMSNorm(hidden, eps=eps)
        self.fc = nn.Linear(2 * hidden, hidden, bias=False)
        self.layers = nn.ModuleList([Qwen3_5MoeDecoderLayer(config, LAYERS - 1)])
        self.norm = Qwen3_5MoeRMSNorm(hidden, eps=eps)

    def start_from(self, model):
        """Begins as a copy of the trunk's last layer."""
        self.layers[0].load_state_dict(model.model.layers[-1].state_dict())
        self.norm.load_state_dict(model.model.norm.state_dict())
        nn.init.normal_(self.fc.weight, std=(2 * self.fc.out_features) ** -0.5)

    def forward(self, model, hidden, next_ids):
        """`hidden` `[batch, length, hidden]` and the tokens that follow, `[batch, length]`; gives the head's own
        hidden states, after its norm."""
        embedded = model.model.embed_tokens(next_ids)
        x = self.fc(torch.cat([self.pre_fc_norm_embedding(embedded), self.pre_fc_norm_hidden(hidden)], dim=-1))
        positions = torch.arange(x.shape[1]).view(1, 1, -1).expand(3, x.shape[0], -1)
        x = self.layers[0](x, position_embeddings=model.model.rotary_emb(x, positions))
        return self.norm(x)


@contextlib.contextmanager
def router_logits(module):
    """A list that every run of `module` extends by its routers' logits, `[rows, experts]` for each layer."""
    seen = []
    routers = [part for part in module.modules() if isinstance(part, Qwen3_5MoeTopKRouter)]
    handles = [router.register_forward_hook(lambda _module, _input, output: seen.append(output[0])) for router in routers]
    try:
        yield seen
    finally:
        for handle in handles:
            handle.remove()


def balance_loss(layers):
    """Switch Transformer's load-balancing loss, of each layer by itself, so that no layer has a dead expert."""
    total = 0.0
    for logits in layers:
        probabilities = logits.float().softmax(dim=-1)
        chosen = nn.functional.one_hot(probabilities.topk(TOP_K, dim=-1).indices, EXPERTS).sum(dim=1).float()
        total = total + EXPERTS * (chosen.mean(dim=0) / TOP_K * probabilities.mean(dim=0)).sum()
    return total / len(layers)


def stored_in_blocks(name, tensor):
    """Whether the file stores this weight in blocks; the others (norms, convolution, routers) stay F32."""
    in_f32 = "conv1d" in name or name.endswith("gate.weight")
    return tensor.ndim >= 2 and tensor.shape[-1] % grid.BLOCK_ELEMS == 0 and not in_f32


@torch.no_grad()
def round_weights(module):
    """Rounds each weight to a value that BF16 holds exactly, and Q8_0 too where the file stores it in blocks."""
    for name, p in module.named_parameters():
        if stored_in_blocks(name, p):
            p.copy_(torch.from_numpy(grid.rounded(p.numpy())))
        p.copy_(p.bfloat16().float())
