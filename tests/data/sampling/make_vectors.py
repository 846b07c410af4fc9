"""Chosen tokens for chains of sampling stages, from docs/sampling.md alone: numpy float32 logits, the
mathematical exp, Python integers and a ChaCha8 of its own. Writes vectors.json.

The exp here is float64 rounded to float32, guild's is within 2 units in the last place of it. So a case
is only taken where nothing hangs on that: `Near` is raised where a comparison is closer than 1e-5.

use: python make_vectors.py    (numpy 2)
"""

import json
import math
from pathlib import Path

import numpy as np

F = np.float32
UNIT = 1 << 40
MARGIN = 1e-5


class Near(Exception):
    """A decision that a difference in the last place could change."""


def chacha8(seed):
    """The stream's 32-bit words."""
    constants = [0x61707865, 0x3320646E, 0x79622D32, 0x6B206574]
    key = [seed & 0xFFFFFFFF, seed >> 32 & 0xFFFFFFFF] + [0] * 6
    counter = 0
    while True:
        start = constants + key + [counter & 0xFFFFFFFF, counter >> 32, 0, 0]
        state = list(start)

        def quarter(a, b, c, d):
            for x, y, z, turn in ((a, b, d, 16), (c, d, b, 12), (a, b, d, 8), (c, d, b, 7)):
                state[x] = (state[x] + state[y]) & 0xFFFFFFFF
                mixed = state[z] ^ state[x]
                state[z] = (mixed << turn | mixed >> (32 - turn)) & 0xFFFFFFFF

        for _ in range(4):
            for i in range(4):
                quarter(i, i + 4, i + 8, i + 12)
            for i in range(4):
                quarter(i, 4 + (i + 1) % 4, 8 + (i + 2) % 4, 12 + (i + 3) % 4)
        for word, first in zip(state, start):
            yield (word + first) & 0xFFFFFFFF
        counter += 1


def reaches(held, wanted, total):
    if abs(held - wanted) < MARGIN * total and held != total:
        raise Near
    return held >= wanted


def share(logit, largest, temperature=F(1)):
    return F(math.exp(float(F(F(logit - largest) / temperature))))


def weight(value):
    return round(float(value) * UNIT)


class Sampler:
    def __init__(self, case):
        self.case = case
        self.words = chacha8(case["seed"])
        self.history = list(case["prompt"])

    def sample(self, logits):
        token = self.choose(np.array(logits, dtype=F))
        self.history.append(token)
        return token

    def choose(self, logits):
        case = self.case
        for token, bias in case["logit_bias"]:
            logits[token] = F(-np.inf) if bias == "-inf" else F(logits[token] + F(bias))
        last_n = case["repeat_last_n"]
        window = self.history[-last_n:] if last_n else []
        for token in set(window):
            count = F(window.count(token))
            repeat = F(case["repeat_penalty"])
            before = logits[token]
            if before == -np.inf:
                continue
            after = F(before / repeat) if before > 0 else F(before * repeat)
            off = F(F(count * F(case["frequency_penalty"])) + F(case["presence_penalty"]))
            logits[token] = F(after - off)
        left = [i for i in range(len(logits)) if logits[i] > -np.inf]
        best_first = lambda ids: sorted(ids, key=lambda i: (-float(logits[i]), i))
        if case["top_k"]:
            left = sorted(best_first(left)[: case["top_k"]])
        if case["typical"] < 1:
            left = self.typical(logits, left)
        if case["top_p"] < 1:
            left = self.hold(logits, left, best_first(left), F(case["top_p"]))
        if case["min_p"] > 0:
            left = self.min_p(logits, left, best_first(left))
        temperature = F(case["temperature"])
        if temperature == 0:
            return best_first(left)[0]
        return self.draw(logits, left, temperature)

    def hold(self, logits, left, ranked, probability):
        largest = max(logits[i] for i in left)
        weights = {i: weight(share(logits[i], largest)) for i in left}
        total = sum(weights.values())
        wanted = float(probability) * float(total)
        held, kept = 0, []
        for i in ranked:
            held += weights[i]
            kept.append(i)
            if len(kept) >= self.case["min_keep"] and reaches(held, wanted, total):
                break
        return sorted(kept)

    def typical(self, logits, left):
        largest = max(logits[i] for i in left)
        d = {i: F(logits[i] - largest) for i in left}
        weights = {i: weight(share(logits[i], largest)) for i in left}
        moment = 0.0
        for i in left:
            if weights[i]:
                moment += float(weights[i]) * float(d[i])
        mean = F(moment / float(sum(weights.values())))
        distance = {i: float(abs(F(mean - d[i]))) for i in left}
        ranked = sorted(left, key=lambda i: (distance[i], i))
        for a, b in zip(ranked, ranked[1:]):
            if d[a] != d[b] and abs(distance[a] - distance[b]) < MARGIN:
                raise Near
        return self.hold(logits, left, ranked, F(self.case["typical"]))

    def min_p(self, logits, left, ranked):
        largest = max(logits[i] for i in left)
        least = F(self.case["min_p"])
        shares = {i: share(logits[i], largest) for i in left}
        if any(abs(value - least) < MARGIN * least for value in shares.values()):
            raise Near
        kept = [i for i in left if shares[i] >= least]
        return kept if len(kept) >= self.case["min_keep"] else sorted(ranked[: self.case["min_keep"]])

    def draw(self, logits, left, temperature):
        largest = max(logits[i] for i in left)
        weights = [weight(share(logits[i], largest, temperature)) for i in left]
        total = sum(weights)
        low, high = next(self.words), next(self.words)
        target = (low | high << 32) * total >> 64
        running = 0
        for i, value in zip(left, weights):
            running += value
            if abs(running - target) < MARGIN * total:
                raise Near
            if running > target:
                return i
        raise AssertionError


OFF = {
    "temperature": 1.0, "top_k": 0, "typical": 1.0, "top_p": 1.0, "min_p": 0.0, "min_keep": 1,
    "repeat_penalty": 1.0, "presence_penalty": 0.0, "frequency_penalty": 0.0, "repeat_last_n": 64,
    "logit_bias": [], "prompt": [],
}
FULL = {
    "temperature": 0.8, "top_k": 40, "typical": 0.9, "top_p": 0.9, "min_p": 0.02, "repeat_penalty": 1.3,
    "presence_penalty": 0.4, "frequency_penalty": 0.3, "repeat_last_n": 8,
    "logit_bias": [[3, 2.5], [17, -1.0], [0, "-inf"]], "prompt": [5, 5, 17, 40, 5, 2, 9, 9, 9, 1],
}
CHAINS = {
    "greedy": {"temperature": 0.0},
    "greedy with bias and penalties": FULL | {"temperature": 0.0, "typical": 1.0},
    "greedy of the typical tokens": {"temperature": 0.0, "typical": 0.3},
    "temperature": {"temperature": 0.7},
    "high temperature": {"temperature": 3.0},
    "top-k": {"top_k": 5},
    "typical": {"typical": 0.5},
    "top-p": {"top_p": 0.8},
    "min-p": {"min_p": 0.1},
    "min-p with min_keep": {"min_p": 0.9, "min_keep": 6},
    "top-p with min_keep": {"top_p": 0.1, "min_keep": 6},
    "penalties": {"repeat_penalty": 1.5, "presence_penalty": 0.5, "frequency_penalty": 0.25,
                  "repeat_last_n": 6, "prompt": [7, 7, 8, 9, 11, 7]},
    "bias": {"logit_bias": [[1, 4.0], [2, "-inf"], [60, 3.25]]},
    "the whole chain": FULL,
    "the whole chain without top-k": FULL | {"top_k": 0},
}
ROWS = 24
VOCABULARY = 96


def rows(seed):
    """Logits that are exact in a few decimal digits, with ties among them."""
    random = np.random.default_rng(seed)
    return [[round(float(x), 2) for x in random.normal(0, 2.5, VOCABULARY)] for _ in range(ROWS)]


def main():
    cases, logits = [], rows(20261129)
    for name, changes in CHAINS.items():
        found = 0
        for seed in range(1000):
            case = OFF | changes | {"name": name, "seed": seed * 0x9E3779B97F4A7C15 % (1 << 64)}
            sampler = Sampler(case)
            try:
                case["tokens"] = [sampler.sample(row) for row in logits]
            except Near:
                continue
            cases.append(case)
            found += 1
            if found == 2 or case["temperature"] == 0:
                break
        assert found, name
    target = Path(__file__).with_name("vectors.json")
    lines = [json.dumps(row) for row in logits], [json.dumps(case) for case in cases]
    body = '{{"logits": [\n{}\n],\n"cases": [\n{}\n]}}\n'
    target.write_text(body.format(",\n".join(lines[0]), ",\n".join(lines[1])))
    print(len(cases), "cases of", ROWS, "tokens")


main()
