"""Trains the trunk, rounds its weights, then trains the draft head on the trunk's hidden states.

usage: python train.py OUT [--resume]

Writes OUT/hf, a checkpoint as Qwen 3.5's are (`mtp.*` tensors included), and OUT/training.log. Each phase of the
trunk leaves OUT/PHASE.safetensors; with --resume those that are there aren't trained again, and the log goes on.
"""
import argparse
import dataclasses
import json
import math
import pathlib
import time

import data
import pieces
import torch
from grammar import Grammar
from model import DraftHead, balance_loss, round_weights, router_logits, trunk
from safetensors.torch import load_file, save_file
from torch.nn.functional import cross_entropy

BALANCE, SECOND_DRAFT = 0.01, 0.5


@dataclasses.dataclass(frozen=True)
class Phase:
    """A warm-up and a cosine decay over `steps` batches of `rows` rows of `length` tokens."""
    name: str
    rows: int
    length: int
    steps: int
    learning_rate: float
    seed: int


# Many small steps teach what a text repeats; the second warm-up is a second chance at what repeats rarely. Long
# rows at the end are for long conversations.
TRUNK = [Phase("trunk-1", 8, 256, 1400, 2e-3, data.TRUNK_1_SEED), Phase("trunk-2", 8, 256, 1300, 2e-3, data.TRUNK_2_SEED),
         Phase("trunk-3", 4, 512, 150, 5e-4, data.TRUNK_3_SEED)]
DRAFT = Phase("draft", 8, 256, 250, 1e-3, data.DRAFT_SEED)


class Log:
    def __init__(self, path, goes_on):
        self.file, self.start = path.open("a" if goes_on else "w"), time.monotonic()

    def __call__(self, line):
        line = f"{time.monotonic() - self.start:7.1f} s  {line}"
        print(line, flush=True)
        print(line, file=self.file, flush=True)


class Optimizer:
    """AdamW with a linear warm-up and a cosine decay to nothing; matrices decay, vectors don't."""

    def __init__(self, module, phase):
        peak, steps = phase.learning_rate, phase.steps
        matrices = [p for p in module.parameters() if p.ndim >= 2]
        vectors = [p for p in module.parameters() if p.ndim < 2]
        self.parameters = matrices + vectors
        self.adam = torch.optim.AdamW([dict(params=matrices, weight_decay=0.05), dict(params=vectors, weight_decay=0.0)],
                                      lr=peak, betas=(0.9, 0.95), fused=True)
        warm_up = max(1, min(100, steps // 10))
        self.schedule = torch.optim.lr_scheduler.LambdaLR(self.adam, lambda step: min(
            (step + 1) / warm_up, 0.5 + 0.5 * math.cos(math.pi * step / steps)))

    def step(self, loss):
        loss.backward()
        torch.nn.utils.clip_grad_norm_(self.parameters, 1.0)
        self.adam.step()
        self.schedule.step()
        self.adam.zero_grad()


def mixed_precision():
    """Products in BF16, which this processor has an instruction for; weights, sums and the delta rule stay F32."""
    return torch.autocast("cpu", torch.bfloat16)


def report(step, phase):
    return step % 50 == 0 or step == phase.steps - 1


def documents_of(phase, tokenizer):
    return data.Documents(Grammar(), tokenizer, phase.seed)


def train_trunk(model, tokenizer, phase, log):
    documents, optimizer = documents_of(phase, tokenizer), Optimizer(model, phase)
    for step in range(phase.steps):
        ids = documents.batch(phase.rows, phase.length + 1)
        with router_logits(model) as layers, mixed_precision():
            logits = model(input_ids=ids[:, :-1]).logits
        loss = cross_entropy(logits.float().flatten(0, 1), ids[:, 1:].flatten())
        balance = balance_loss(layers)
        optimizer.step(loss + BALANCE * balance)
        if report(step, phase):
            log(f"{phase.name} {step:5}  loss {loss.item():.4f}  balance {balance.item():.4f}")


def train_draft(model, draft, tokenizer, phase, log):
    """Teaches the head the trunk's own next-token distribution, for the first draft token and for the second."""
    documents, optimizer = documents_of(phase, tokenizer), Optimizer(draft, phase)
    for step in range(phase.steps):
        ids = documents.batch(phase.rows, phase.length)
        with torch.no_grad():
            hidden = model.model(input_ids=ids).last_hidden_state
            target = model.lm_head(hidden).softmax(dim=-1)
        with router_logits(draft) as layers, mixed_precision():
            # Of position i the head knows the hidden state and token i + 1; the trunk at i + 1 is its teacher.
            drafted = draft(model, hidden[:, :-1], ids[:, 1:])
            again = draft(model, drafted[:, :-1], ids[:, 2:])
            guesses = model.lm_head(drafted), model.lm_head(again)
        first, second = (cross_entropy(guess.float().flatten(0, 1), target[:, 1 + i:].flatten(0, 1))
                         for i, guess in enumerate(guesses))
        balance = balance_loss(layers)
        optimizer.step(first + SECOND_DRAFT * second + BALANCE * balance)
        if report(step, phase):
            log(f"{phase.name} {step:5}  first {first.item():.4f}  second {second.item():.4f}  "
                f"balance {balance.item():.4f}")


def save(model, draft, tokenizer, folder):
    """transformers' checkpoint with the draft head's tensors added, which its model class leaves out."""
    model.save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    weights = load_file(folder / "model.safetensors")
    weights |= {f"mtp.{name}": p.detach().contiguous() for name, p in draft.state_dict().items()}
    save_file(weights, folder / "model.safetensors", metadata={"format": "pt"})
    config = json.loads((folder / "config.json").read_text())
    config["mtp_num_hidden_layers"] = 1
    (folder / "config.json").write_text(json.dumps(config, indent=1))


def trained_trunk(out, resume, tokenizer, log):
    """The trunk after all phases, rounded after each."""
    model = trunk(tokenizer)
    log(f"torch {torch.__version__}, {sum(p.numel() for p in model.parameters())} parameters, {sum(p.rows * p.length * p.steps for p in TRUNK)} tokens")
    for phase in TRUNK:
        checkpoint = out / f"{phase.name}.safetensors"
        if resume and checkpoint.exists():
            model.load_state_dict(load_file(checkpoint))
            log(f"{phase.name} was trained before")
            continue
        log(f"{phase}")
        train_trunk(model, tokenizer, phase, log)
        round_weights(model)
        save_file(model.state_dict(), checkpoint)
    return model.requires_grad_(False)


def main():
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("out", type=pathlib.Path)
    arguments.add_argument("--resume", action="store_true")
    arguments = arguments.parse_args()
    out = arguments.out
    out.mkdir(parents=True, exist_ok=True)
    torch.set_num_threads(2)
    torch.manual_seed(data.WEIGHTS_SEED)
    torch.use_deterministic_algorithms(True)
    log = Log(out / "training.log", arguments.resume)
    tokenizer = pieces.learn(Grammar(), data.PIECES_SEED)
    model = trained_trunk(out, arguments.resume, tokenizer, log)
    draft = DraftHead(model.config)
    draft.start_from(model)
    log(f"{DRAFT}, {sum(p.numel() for p in draft.parameters())} parameters")
    train_draft(model, draft, tokenizer, DRAFT, log)
    round_weights(draft)
    save(model, draft, tokenizer, out / "hf")
    log("done")


if __name__ == "__main__":
    main()
