"""The tokenizer's pieces: byte-level BPE learned from the generator's text, with Qwen 3.5's pre-tokenizer."""
import pathlib
import random

from tokenizers import AddedToken, Regex, Tokenizer, decoders, models, pre_tokenizers, trainers
from transformers import PreTrainedTokenizerFast

VOCABULARY = 1024
# What Qwen 3.5's own tokenizer.json splits by.
QWEN35 = (r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?[\p{L}\p{M}]+|\p{N}|"
          r" ?[^\s\p{L}\p{M}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+")
CONTROL = ["<|endoftext|>", "<|im_start|>", "<|im_end|>"]
USER_DEFINED = ["<think>", "</think>", "<tool_call>", "</tool_call>"]
END_OF_TEXT, END_OF_TURN = "<|endoftext|>", "<|im_end|>"


DOCUMENTS = 20_000


def learn(grammar, seed):
    """A tokenizer whose merges are learned from the grammar's documents."""
    rng = random.Random(seed)
    tokenizer = Tokenizer(models.BPE(ignore_merges=False))
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence([
        pre_tokenizers.Split(Regex(QWEN35), "isolated"),
        pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)])
    tokenizer.decoder = decoders.ByteLevel()
    special = CONTROL + USER_DEFINED
    texts = []
    for _ in range(DOCUMENTS):
        text = grammar.sample(rng)[0]
        for token in special:
            text = text.replace(token, " ")
        texts.append(text)
    tokenizer.train_from_iterator(texts, trainers.BpeTrainer(
        vocab_size=VOCABULARY - len(special), initial_alphabet=pre_tokenizers.ByteLevel.alphabet(), show_progress=False))
    tokenizer.add_special_tokens([AddedToken(t, special=True, normalized=False) for t in CONTROL])
    tokenizer.add_tokens([AddedToken(t, special=False, normalized=False) for t in USER_DEFINED])
    fast = PreTrainedTokenizerFast(tokenizer_object=tokenizer, eos_token=END_OF_TURN, pad_token=END_OF_TEXT)
    fast.chat_template = pathlib.Path(__file__).with_name("chat_template.jinja").read_text()
    assert len(fast) == VOCABULARY, len(fast)
    return fast
