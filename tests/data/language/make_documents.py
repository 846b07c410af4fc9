"""Draws documents of mini-ornith's language with their log-probabilities.

usage: python make_documents.py > documents.json

Grammar.sample draws them and Grammar.log_probability counts every derivation of each
(tests/models/mini-ornith/grammar.py). tests/end-to-end/tests/language.rs holds the recogniser in Rust to them.
"""
import json
import pathlib
import random
import sys

sys.path.insert(0, str(pathlib.Path(__file__).parents[2] / "models/mini-ornith"))
from grammar import Grammar

SEED, DOCUMENTS = 21, 16

grammar, rng = Grammar(), random.Random(SEED)
texts = [grammar.sample(rng)[0] for _ in range(DOCUMENTS)]
print(json.dumps([dict(text=text, log_probability=grammar.log_probability(text)) for text in texts], indent=1))
