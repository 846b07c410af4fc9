"""Measures the trained model with transformers, writes the golden values, and fails where the model isn't good enough.

usage: python evaluate.py OUT

Reads OUT/hf. Writes OUT/golden.json, OUT/held-out.txt and OUT/evaluation.log.
"""
import argparse
import json
import math
import pathlib
import sys

import data
import pieces
import torch
import train
import transformers
from grammar import Grammar
from model import EXPERTS, TOP_K, DraftHead, router_logits
from safetensors.torch import load_file
from transformers import AutoTokenizer, Qwen3_5MoeForCausalLM

ROWS, DOCUMENTS_IN_A_ROW = 150, 5
WINDOW, WINDOWS = 256, 16
PROMPTS = ["Once upon a time", "Long ago", "There was once a", "5 + 8 ="]
CHATS = ["Tell me a story about a hedgehog.", "What is 7 + 6?", "Hello!"]
GREEDY_TOKENS, FULL_LOGIT_ROWS, SAMPLES, ANSWER_TOKENS = 64, 8, 200, 32
# What a good model reaches.
RATIO_MAX, DRAFT_AGREEMENT_MIN, SUMS_MIN, LOAD_MIN = 1.25, 0.7, 95, 0.02


class Model:
    def __init__(self, folder):
        self.tokenizer = AutoTokenizer.from_pretrained(folder)
        self.trunk = Qwen3_5MoeForCausalLM.from_pretrained(folder, dtype=torch.float32).eval()
        self.draft = DraftHead(self.trunk.config).eval()
        weights = load_file(folder / "model.safetensors")
        self.draft.load_state_dict({k.removeprefix("mtp."): v for k, v in weights.items() if k.startswith("mtp.")})

    def ids(self, text):
        return self.tokenizer(text)["input_ids"]

    def generate(self, prompts, count, **options):
        """Continuations of prompts of one length, without stopping."""
        ids = torch.tensor(prompts)
        options = dict(do_sample=False) | options
        out = self.trunk.generate(ids, attention_mask=torch.ones_like(ids), max_new_tokens=count, min_new_tokens=count,
                                  eos_token_id=None, top_k=0, **options)
        return out[:, ids.shape[1]:].tolist()

    def chat(self, question, thinking):
        return self.tokenizer.apply_chat_template([dict(role="user", content=question)], tokenize=False,
                                                  add_generation_prompt=True, enable_thinking=thinking)


def training_texts(tokenizer):
    """Every document that training read, whole or in part."""
    texts = set()
    for phase in (*train.TRUNK, train.DRAFT):
        documents = train.documents_of(phase, tokenizer)
        row_tokens = phase.length + (phase is not train.DRAFT)
        for _ in range(phase.rows * phase.steps):
            tokens = 0
            while tokens < row_tokens:
                text, ids, _ = documents.document()
                texts.add(text)
                tokens += len(ids)
    return texts


class Score:
    """Negative log-likelihoods by the model and by the grammar, over some documents."""

    def __init__(self):
        self.documents = self.tokens = 0
        self.model_nats = self.grammar_nats = 0.0

    def add(self, tokens, model_nats, grammar_nats):
        self.documents += 1
        self.tokens += tokens
        self.model_nats += model_nats
        self.grammar_nats += grammar_nats

    def figures(self):
        return dict(documents=self.documents, tokens=self.tokens,
                    perplexity=math.exp(self.model_nats / self.tokens),
                    bound_perplexity=math.exp(self.grammar_nats / self.tokens),
                    ratio=math.exp((self.model_nats - self.grammar_nats) / self.tokens))


def score_row(row, logits, ids, grammar, training, scores):
    """Adds a row's documents to the scores; the first one's first token follows nothing, so it isn't scored."""
    nats = -logits[:-1].log_softmax(-1).gather(1, ids[1:, None])[:, 0]
    at = len(row[0][1])
    for text, document, log_probability in row[1:]:
        if abs(grammar.log_probability(text) - log_probability) > 1e-9:
            raise ValueError(f"more than one derivation: {text!r}")
        model_nats = nats[at - 1:at - 1 + len(document)].sum().item()
        scores["all"].add(len(document), model_nats, -log_probability)
        if text not in training:
            scores["unseen"].add(len(document), model_nats, -log_probability)
        at += len(document)


def held_out(model, log):
    """Perplexity against the generator's own entropy, the draft head's agreement, and each expert's load."""
    grammar, training = Grammar(), training_texts(model.tokenizer)
    documents = data.Documents(grammar, model.tokenizer, data.HELD_OUT_SEED)
    scores = dict(all=Score(), unseen=Score())
    load = torch.zeros(model.trunk.config.num_hidden_layers + 1, EXPERTS)
    agreed, drafts = 0, 0
    for _ in range(ROWS):
        row = [documents.document() for _ in range(DOCUMENTS_IN_A_ROW)]
        ids = torch.tensor([[one for _, document, _ in row for one in document]])
        with router_logits(model.trunk) as trunk_layers, router_logits(model.draft) as draft_layers:
            hidden = model.trunk.model(input_ids=ids).last_hidden_state
            drafted = model.draft(model.trunk, hidden[:, :-1], ids[:, 1:])
        logits = model.trunk.lm_head(hidden)[0]
        score_row(row, logits, ids[0], grammar, training, scores)
        agreed += (model.trunk.lm_head(drafted)[0].argmax(-1) == logits[1:].argmax(-1)).sum().item()
        drafts += drafted.shape[1]
        for layer, chosen in enumerate(trunk_layers + draft_layers):
            load[layer] += torch.bincount(chosen.topk(TOP_K, dim=-1).indices.flatten(), minlength=EXPERTS)
    result = {name: score.figures() for name, score in scores.items()}
    result["grammar_nats_per_document"] = grammar.entropy()
    result["nats_per_document"] = scores["all"].grammar_nats / scores["all"].documents
    result["draft_agreement"] = agreed / drafts
    result["router_load"] = [[round(x, 4) for x in (row / row.sum()).tolist()] for row in load]
    report_held_out(result, log)
    return result


def report_held_out(result, log):
    log(f"nats of a document: {result['nats_per_document']:.2f} drawn, "
        f"{result['grammar_nats_per_document']:.2f} expected by the grammar")
    for name, words in (("all", "held-out documents"), ("unseen", "of them not in training")):
        log("{documents} {words}, {tokens} tokens: perplexity {perplexity:.4f}, the generator's own "
            "{bound_perplexity:.4f}, ratio {ratio:.4f}".format(words=words, **result[name]))
    log(f"draft head: its best token is the trunk's in {result['draft_agreement']:.2%}")
    *trunk, draft = result["router_load"]
    for layer, row in [(f"layer {i}", row) for i, row in enumerate(trunk)] + [("draft", draft)]:
        log(f"router load {layer:7}: " + " ".join(f"{x:6.2%}" for x in row))


def sums(model, log):
    """All sums of two one-digit numbers, as a line of a sheet and as a question, with thinking and without."""
    pairs = [(a, b) for a in range(10) for b in range(10)]

    def right(prompts, wanted):
        out = model.tokenizer.batch_decode(model.generate([model.ids(p) for p in prompts], ANSWER_TOKENS))
        return sum(any(text.startswith(w) for w in accepted) for text, accepted in zip(out, wanted, strict=True))

    def answers(a, b, thought):
        words = (f"{a} + {b} = {a + b}", f"The answer is {a + b}.")
        return [f"{thought}{answer}{pieces.END_OF_TURN}" for answer in words]

    def asked(thinking):
        return [model.chat(f"What is {a} + {b}?", thinking) for a, b in pairs]

    result = dict(
        sheet=right([f"{a} + {b} =" for a, b in pairs],
                    [[f" {a + b}{end}" for end in ("\n", pieces.END_OF_TEXT)] for a, b in pairs]),
        chat=right(asked(False), [answers(a, b, "") for a, b in pairs]),
        thinking=right(asked(True), [answers(a, b, f"{a} + {b} = {a + b}\n</think>\n\n") for a, b in pairs]))
    log(f"sums right of {len(pairs)}: " + ", ".join(f"{k} {v}" for k, v in result.items()))
    return result


def in_language(grammar, text):
    """Whether the text is documents of the language, the last one possibly cut."""
    *whole, last = text.split(pieces.END_OF_TEXT)
    return all(grammar.log_probability(document) > -math.inf for document in whole) and grammar.is_prefix(last)


def greedy(model, log):
    """What the model writes without sampling up to the end of a text, and how far the best token is ahead of the
    second where it is least."""
    grammar, result = Grammar(), []
    end = model.tokenizer.convert_tokens_to_ids(pieces.END_OF_TEXT)
    for prompt in PROMPTS + [model.chat(text, thinking) for thinking in (False, True) for text in CHATS]:
        ids = model.ids(prompt)
        new = model.generate([ids], GREEDY_TOKENS)[0]
        new = new[:new.index(end) + 1] if end in new else new
        text = prompt + model.tokenizer.decode(new)
        top = model.trunk(input_ids=torch.tensor([ids + new])).logits[0, len(ids) - 1:-1].topk(2, dim=-1)
        if top.indices[:, 0].tolist() != new:
            raise ValueError(f"one pass and token by token differ: {text!r}")
        result.append(dict(prompt=prompt, prompt_ids=ids, ids=new, text=text, in_language=in_language(grammar, text),
                           smallest_gap=(top.values[:, 0] - top.values[:, 1]).min().item()))
        log(f"greedy, in the language: {result[-1]['in_language']}, smallest gap "
            f"{result[-1]['smallest_gap']:.3f}: {text!r}")
    return result


def sampled(model, log):
    """How many texts at temperature 1 are in the language."""
    grammar, prompt = Grammar(), PROMPTS[0]
    torch.manual_seed(data.SAMPLING_SEED)
    out = model.tokenizer.batch_decode(model.generate([model.ids(prompt)] * SAMPLES, GREEDY_TOKENS, do_sample=True))
    good = sum(in_language(grammar, prompt + text) for text in out)
    log(f"sampled at temperature 1 from {prompt!r}, in the language: {good} of {SAMPLES}")
    return dict(prompt=prompt, samples=SAMPLES, in_language=good)


def windows(model, folder, log):
    """Perplexity of a text file as llama.cpp counts it: windows side by side, the second half of each scored."""
    documents = data.Documents(Grammar(), model.tokenizer, data.HELD_OUT_FILE_SEED)
    # A few tokens more than the windows take, so that none is missing where the end of the text is cut off.
    ids = documents.row(WINDOW * WINDOWS + 8)
    text = model.tokenizer.decode(ids)
    if model.ids(text) != ids:
        raise ValueError("the text gives other tokens")
    (folder / "held-out.txt").write_text(text)
    rows = torch.tensor(ids[:WINDOW * WINDOWS]).view(WINDOWS, WINDOW)
    logits = model.trunk(input_ids=rows).logits.log_softmax(-1)[:, WINDOW // 2:-1]
    scored = logits.gather(2, rows[:, WINDOW // 2 + 1:, None])
    perplexity = math.exp(-scored.double().mean().item())
    log(f"held-out.txt: perplexity {perplexity:.6f} over {WINDOWS} windows of {WINDOW}")
    return dict(context=WINDOW, windows=WINDOWS, tokens_scored=scored.numel(), perplexity=perplexity)


def faults(golden):
    """Where the model isn't good enough, with the figure."""
    held, right = golden["held_out"], golden["sums_right_of_100"]
    for name in ("all", "unseen"):
        if held[name]["ratio"] > RATIO_MAX:
            yield f"perplexity of {name} documents is {held[name]['ratio']:.3f} x the bound, more than {RATIO_MAX}"
    if held["draft_agreement"] < DRAFT_AGREEMENT_MIN:
        yield f"the draft head agrees in {held['draft_agreement']:.2%}, less than {DRAFT_AGREEMENT_MIN:.0%}"
    yield from (f"{form}: {count} sums of 100 are right, less than {SUMS_MIN}"
                for form, count in right.items() if count < SUMS_MIN)
    least = min(min(row) for row in held["router_load"])
    if least < LOAD_MIN:
        yield f"an expert has {least:.2%} of its layer's load, less than {LOAD_MIN:.0%}"
    yield from (f"not in the language: {one['text']!r}" for one in golden["greedy"] if not one["in_language"])


@torch.no_grad()
def main():
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("out", type=pathlib.Path)
    folder = arguments.parse_args().out
    torch.set_num_threads(2)
    lines = []

    def log(line):
        print(line, flush=True)
        lines.append(line)

    model = Model(folder / "hf")
    texts = greedy(model, log)
    logits = model.trunk(input_ids=torch.tensor([texts[0]["prompt_ids"] + texts[0]["ids"]])).logits[0]
    golden = dict(
        transformers=transformers.__version__, torch=torch.__version__, greedy=texts,
        sums_right_of_100=sums(model, log), sampled=sampled(model, log), held_out=held_out(model, log),
        window_perplexity=windows(model, folder, log),
        logits=[[float(f"{x:.9g}") for x in row] for row in logits[:FULL_LOGIT_ROWS].tolist()])
    (folder / "golden.json").write_text(json.dumps(golden) + "\n")
    (folder / "evaluation.log").write_text("\n".join(lines) + "\n")
    found = list(faults(golden))
    print("\n".join(f"fault: {fault}" for fault in found))
    sys.exit(1 if found else 0)


if __name__ == "__main__":
    main()
