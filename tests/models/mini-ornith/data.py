"""Rows of tokens: documents one after another, each with an end-of-text token behind it."""
import random

import pieces
import torch

# Every random choice of this folder follows from one of these.
PIECES_SEED = 13
WEIGHTS_SEED = 7
TRUNK_1_SEED, TRUNK_2_SEED, TRUNK_3_SEED, DRAFT_SEED = 11, 14, 16, 15
HELD_OUT_SEED, HELD_OUT_FILE_SEED, SAMPLING_SEED = 12, 112, 3


class Documents:
    """An endless stream of documents."""

    def __init__(self, grammar, tokenizer, seed):
        self.grammar, self.tokenizer, self.rng = grammar, tokenizer, random.Random(seed)
        self.end = tokenizer.convert_tokens_to_ids(pieces.END_OF_TEXT)

    def document(self):
        """The next one: its text, its ids with the end-of-text token, and the log-probability of its derivation."""
        text, log_probability = self.grammar.sample(self.rng)
        return text, self.tokenizer(text)["input_ids"] + [self.end], log_probability

    def row(self, length):
        """`length` tokens that begin with a document."""
        ids = []
        while len(ids) < length:
            ids += self.document()[1]
        return ids[:length]

    def batch(self, rows, length):
        """`[rows, length]` ids."""
        return torch.tensor([self.row(length) for _ in range(rows)])
