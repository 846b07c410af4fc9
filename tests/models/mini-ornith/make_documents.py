"""Draws documents of the language with the log-probabilities that they were drawn with.

usage: python make_documents.py > documents.json

tests/language.rs holds the recogniser in Rust to them.
"""
import json
import random

from grammar import Grammar

SEED, DOCUMENTS = 21, 16

grammar, rng = Grammar(), random.Random(SEED)
drawn = [grammar.sample(rng) for _ in range(DOCUMENTS)]
for text, log_probability in drawn:
    assert abs(grammar.log_probability(text) - log_probability) < 1e-9, text
print(json.dumps([dict(text=text, log_probability=p) for text, p in drawn], indent=1))
