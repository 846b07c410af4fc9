"""The language of the model: sampling, exact probabilities, recognition, entropy.

`grammar.json` maps a rule to its alternatives. In an alternative's text
    {rule}           is an expansion of that rule
    {var=rule}       is one too, and `var` remembers the alternative (`{var=rule-other}`: any but `other`'s)
    {var}            is the remembered text, and {var.he} one of its attributes
    {a+b}            is the sum of two remembered numbers
Alternatives without a weight have the weight (rank + 1) ** -0.6, so that each list has one that is
clearly the most likely.
"""
import json
import math
import pathlib
import random
import re
from dataclasses import dataclass

RANK_EXPONENT = 0.6
SLOT = re.compile(r"\{([^}]*)\}")


@dataclass(frozen=True)
class Text:
    """These characters."""
    text: str


@dataclass(frozen=True)
class Draw:
    """An expansion of a rule. `variable` remembers it; what `other` remembers may not come again."""
    rule: str
    variable: str | None = None
    other: str | None = None


@dataclass(frozen=True)
class Remembered:
    """What a variable remembers, or an attribute of it."""
    variable: str
    attribute: str | None


@dataclass(frozen=True)
class Sum:
    """The sum of the numbers that variables remember."""
    variables: tuple[str, ...]


class Alternative:
    """One right-hand side: its weight, its parts and its attributes."""

    def __init__(self, raw, rank):
        raw = {"text": raw} if isinstance(raw, str) else raw
        self.text = raw["text"]
        self.weight = raw.get("weight", (rank + 1) ** -RANK_EXPONENT)
        self.attributes = {k: v for k, v in raw.items() if k not in ("text", "weight")}
        self.parts = []


class Grammar:
    def __init__(self):
        rules = json.loads(pathlib.Path(__file__).with_name("grammar.json").read_text())
        self.rules = {name: [Alternative(raw, rank) for rank, raw in enumerate(raws)]
                      for name, raws in rules.items()}
        for alternatives in self.rules.values():
            for alternative in alternatives:
                alternative.parts = [self._slot(piece) if i % 2 else Text(piece)
                                     for i, piece in enumerate(SLOT.split(alternative.text)) if piece]

    def _slot(self, slot):
        """What stands between braces."""
        if "=" in slot:
            variable, rule = slot.split("=")
            if variable in self.rules:
                raise ValueError(f"{variable} is a rule")
            rule, _, other = rule.partition("-")
            return Draw(rule, variable, other or None)
        if "+" in slot:
            return Sum(tuple(slot.split("+")))
        if slot in self.rules:
            return Draw(slot)
        variable, _, attribute = slot.partition(".")
        return Remembered(variable, attribute or None)

    def choices(self, draw, bound):
        """The alternatives that may stand here, with their log-probabilities. `bound` is what variables remember."""
        allowed = [one for one in self.rules[draw.rule] if draw.other is None or one is not bound[draw.other]]
        total = math.log(sum(one.weight for one in allowed))
        return [(one, math.log(one.weight) - total) for one in allowed]

    @staticmethod
    def literal(part, bound):
        """The characters of a part that isn't drawn."""
        match part:
            case Text(text):
                return text
            case Remembered(variable, None):
                return bound[variable].text
            case Remembered(variable, attribute):
                return bound[variable].attributes[attribute]
            case Sum(variables):
                return str(sum(int(bound[variable].text) for variable in variables))

    def sample(self, rng, rule="document"):
        """A text and the log-probability of the choices that made it."""
        bound, log_probability, out = {}, 0.0, []

        def expand(draw):
            nonlocal log_probability
            choices = self.choices(draw, bound)
            chosen, p = rng.choices(choices, weights=[math.exp(p) for _, p in choices])[0]
            log_probability += p
            if draw.variable:
                bound[draw.variable] = chosen
            for part in chosen.parts:
                if isinstance(part, Draw):
                    expand(part)
                else:
                    out.append(self.literal(part, bound))

        expand(Draw(rule))
        return "".join(out), log_probability

    def derivations(self, text, prefix=False):
        """Log-probability of every derivation of `text`, or with `prefix` of every way to begin with it."""
        end = len(text)

        def match(ahead, at, bound, log_probability):
            # `ahead` holds what is still to match, the next part last.
            ahead = list(ahead)
            while ahead:
                if prefix and at == end:
                    yield log_probability
                    return
                part = ahead.pop()
                if isinstance(part, Draw):
                    for chosen, p in self.choices(part, bound):
                        inner = {**bound, part.variable: chosen} if part.variable else bound
                        yield from match(ahead + chosen.parts[::-1], at, inner, log_probability + p)
                    return
                literal = self.literal(part, bound)
                if not text.startswith(literal, at):
                    if prefix and literal.startswith(text[at:]):
                        yield log_probability
                    return
                at += len(literal)
            if at == end:
                yield log_probability

        yield from match([Draw("document")], 0, {}, 0.0)

    def log_probability(self, text):
        """log P(text): the sum over all derivations, -inf if there is none."""
        found = list(self.derivations(text))
        if not found:
            return -math.inf
        top = max(found)
        return top + math.log(sum(math.exp(p - top) for p in found))

    def is_prefix(self, text):
        """Whether a document of the language begins with `text`."""
        return next(self.derivations(text, prefix=True), None) is not None

    def entropy(self):
        """Expected nats of a derivation of a document: each choice adds its own, whatever was drawn before.

        It is the text's entropy where no text has two derivations; `evaluate.py` checks that of every document
        that it scores.
        """
        sources = {}
        for alternatives in self.rules.values():
            for alternative in alternatives:
                for part in alternative.parts:
                    if isinstance(part, Draw) and part.variable:
                        sources.setdefault(part.variable, set()).add((part.rule, part.other))

        def entropy_of_weights(weights):
            total = sum(weights)
            return -sum(w / total * math.log(w / total) for w in weights)

        def entropy_of(draw):
            alternatives = self.rules[draw.rule]
            weights = [one.weight for one in alternatives]
            if draw.other:
                # The mean over what the other one may be. It must have been drawn from the whole of the same list.
                if sources[draw.other] != {(draw.rule, None)} or any(isinstance(part, Draw)
                                                                     for one in alternatives for part in one.parts):
                    raise ValueError(f"the entropy of {draw} isn't a mean over its rule")
                return sum(weights[i] / sum(weights) * entropy_of_weights(weights[:i] + weights[i + 1:])
                           for i in range(len(weights)))
            inner = sum(one.weight / sum(weights) * entropy_of(part)
                        for one in alternatives for part in one.parts if isinstance(part, Draw))
            return entropy_of_weights(weights) + inner

        return entropy_of(Draw("document"))


if __name__ == "__main__":
    grammar, rng = Grammar(), random.Random(0)
    for _ in range(8):
        text, log_probability = grammar.sample(rng)
        print(f"--- {-log_probability:.2f} nats, by recognition {-grammar.log_probability(text):.2f}\n{text}")
    print(f"entropy of a document: {grammar.entropy():.3f} nats")
