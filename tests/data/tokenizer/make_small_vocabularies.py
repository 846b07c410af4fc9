"""Cuts small vocabularies out of published ones and writes ids made by outside implementations.

usage: make_small_vocabularies.py FOLDER_OF_GGML_VOCABULARIES SMOLLM2_GGUF OUT_FOLDER

FOLDER holds ggml-vocab-*.gguf of llama.cpp (tests/data/fetch.sh fetches both). Byte-level ids come from the Python package
`tokenizers`, whose pre-tokenizers are set as in each family's own tokenizer.json; SentencePiece ids from `sentencepiece`,
which is given the pieces as a model. Needs gguf, tokenizers, sentencepiece and protobuf. Versions stand in the output.
"""

import json
import pathlib
import sys

import sentencepiece
import tokenizers
from gguf import GGUFReader
from sentencepiece import sentencepiece_model_pb2 as spm
from tokenizers import AddedToken, Regex, Tokenizer, models, pre_tokenizers

NORMAL, UNKNOWN, CONTROL, USER_DEFINED, UNUSED, BYTE = 1, 2, 3, 4, 5, 6
MERGES = 1800

QWEN2 = r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"
LLAMA3 = r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"


def split(pattern):
    return [
        pre_tokenizers.Split(Regex(pattern), "isolated", False),
        pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False),
    ]


PRE_TOKENIZERS = {
    "gpt-2": [pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=True)],
    "smollm": [
        pre_tokenizers.Digits(individual_digits=True),
        pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=True),
    ],
    "qwen2": split(QWEN2),
    "llama-bpe": split(LLAMA3),
}

TEXTS = [
    "", " ", "  ", "   ", "\t", "\n", "\n\n", "\t\n", " \n \n\n  x", "Hello world", " Hello  World!", "Hello, world!   ",
    "I've told you it's here; they'll say we're late, I'd go, I'm off, don't", "I'VE 'S 'Re DON'T 'ſ a'lL", "''s '''",
    "0 12 345 6789 01234 3.14 1,000,000", "x  12   345 a1b22c333 ½ ² Ⅷ ٣", "naïve café — déjà vu", "é e\u0301 क्षि",
    "нещо на Български", "កាន់តែពិសេសអាច", "你好，世界！我想在apple工作1314151天～", "日本語のテキスト。ｱｲｳ", "🚀🦙 😶‍🌫️ ✅x",
    "a\u00a0b\u2003c\u3000d\u2028e", "tab\tand  two  spaces \t mixed\r\n\r\nlines\r", "def f(x):\n\tif x > 0:\n        return  x\n\n\n",
    "!!!!!! ... --- ====== ''''' \"\"\" ??!?", "<html lang=\"en\">&amp;</html>", "\u0000\u0001\u007f\u00ad", "𝔘𝔫𝔦 \U0010ffff",
    "                                        x", "a" * 100, "ab" * 60, "the the the", "▁a ▁▁ b▁", "<s>x</s> <unk> <0x0A>",
    "aaa aaaaa", "zlll zsss zooo zeee zttt", "a" * 101, "hahahah ttt 000 ===", "a\u0004b\u0013", "{user}one{end}\n{user} two {end}", "{{user}|{end}} {user", "{user}{end}",
]
SPECIAL = {"user": "<|user|>", "end": "<|end|>", "think": "<think>"}


def text_cases(user, end):
    return [text.replace("{user}", user).replace("{end}", end) for text in TEXTS]


def field(reader, key):
    return reader.fields[key].contents()


def byte_characters():
    own = [*range(0x21, 0x7F), *range(0xA1, 0xAD), *range(0xAE, 0x100)]
    rest = [byte for byte in range(256) if byte not in own]
    return [chr(byte) for byte in own] + [chr(0x100 + index) for index in range(len(rest))]


def cut_byte_level(reader, pre):
    """The byte tokens, what the first merges make of them, two control tokens and a user-defined one."""
    known = set(field(reader, "tokenizer.ggml.tokens"))
    tokens = dict.fromkeys(c for c in byte_characters() if c in known)
    merges = []
    for merge in field(reader, "tokenizer.ggml.merges")[:MERGES]:
        if all(half in tokens for half in merge.split(" ")):
            tokens[merge.replace(" ", "")] = None
            merges.append(merge)
    tokens = list(tokens)
    types = [NORMAL] * len(tokens)
    if pre == "llama-bpe":
        # A whole word that no merge makes: only a family that takes whole pieces finds it.
        tokens.append("zzyzx")
        types.append(NORMAL)
    tokens += [SPECIAL["user"], SPECIAL["end"], SPECIAL["think"]]
    types += [CONTROL, CONTROL, USER_DEFINED]
    return tokens, types, merges


def byte_level(reader, pre):
    tokens, types, merges = cut_byte_level(reader, pre)
    ids = {token: id for id, token in enumerate(tokens)}
    bpe = models.BPE(ids, [tuple(merge.split(" ")) for merge in merges], ignore_merges=pre == "llama-bpe")
    tokenizer = Tokenizer(bpe)
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence(PRE_TOKENIZERS[pre])
    tokenizer.add_special_tokens([AddedToken(t, normalized=False, special=True) for t in tokens[-3:-1]])
    tokenizer.add_tokens([AddedToken(tokens[-1], normalized=False, special=False)])

    cases = []
    for text in text_cases(SPECIAL["user"], SPECIAL["end"]) + ["a<think>b</think> <think", "zzyzx zzyzx! xzzyzx"]:
        case = {"text": text}
        for name, as_text in [("ids", False), ("ids_without_control", True)]:
            tokenizer.encode_special_tokens = as_text
            case[name] = tokenizer.encode(text, add_special_tokens=False).ids
        # What the package cannot encode it leaves out; guild refuses it.
        if any(c not in ids for c in spelled(text)):
            case["missing"] = True
        cases.append(case)
    return {
        "source": f"tokenizers {tokenizers.__version__} (Python)",
        "model": "gpt2",
        "pre": pre,
        "tokens": tokens,
        "types": types,
        "merges": merges,
        "cases": cases,
    }


def spelled(text):
    table = dict(zip([*range(0x21, 0x7F), *range(0xA1, 0xAD), *range(0xAE, 0x100)], byte_characters()))
    rest = [byte for byte in range(256) if byte not in table]
    table |= {byte: chr(0x100 + index) for index, byte in enumerate(rest)}
    return [table[byte] for byte in text.encode()]


def sentence_piece(reader, name):
    """`prefixed`: bytes and a space in front, as Llama 2 has it. `bare`: neither, with unused and user-defined pieces."""
    bare = name == "bare"
    tokens = field(reader, "tokenizer.ggml.tokens")
    scores = field(reader, "tokenizer.ggml.scores")
    kinds = field(reader, "tokenizer.ggml.token_type")
    pieces = []
    for token, score, kind in zip(tokens, scores, kinds):
        keep = kind != NORMAL or len(token) == 1 or score > -2000
        if keep and not (bare and (kind == BYTE or ord(token[0]) > 0x2581)):
            pieces.append([token, float(score), kind])
    if bare:
        made = [piece for piece in pieces if piece[2] == NORMAL and len(piece[0]) > 2]
        for piece in made[::7]:
            piece[2] = UNUSED
        pieces.append(["<think>", 0.0, USER_DEFINED])

    model = spm.ModelProto()
    for text, score, kind in pieces:
        model.pieces.add(piece=text, score=score, type=kind)
    model.trainer_spec.model_type = spm.TrainerSpec.BPE
    model.trainer_spec.byte_fallback = not bare
    model.trainer_spec.vocab_size = len(pieces)
    model.normalizer_spec.name = "identity"
    model.normalizer_spec.add_dummy_prefix = not bare
    model.normalizer_spec.remove_extra_whitespaces = False
    model.normalizer_spec.escape_whitespaces = True
    processor = sentencepiece.SentencePieceProcessor(model_proto=model.SerializeToString())

    texts = text_cases("<s>", "</s>") + (["a<think>b</think> <think", "<think> x"] if bare else [])
    cases = [{"text": text, "ids_without_control": processor.encode(text)} for text in texts]
    return {
        "source": f"sentencepiece {sentencepiece.__version__} (Python)",
        "model": "llama",
        "add_space_prefix": not bare,
        "tokens": [piece[0] for piece in pieces],
        "types": [piece[2] for piece in pieces],
        "scores": [piece[1] for piece in pieces],
        "cases": cases,
    }


def main():
    folder, smollm2, out = map(pathlib.Path, sys.argv[1:])
    vocabulary = lambda name: GGUFReader(folder / f"ggml-vocab-{name}.gguf")
    made = {pre: byte_level(vocabulary(pre), pre) for pre in ["gpt-2", "qwen2", "llama-bpe"]}
    made["smollm"] = byte_level(GGUFReader(smollm2), "smollm")
    for name in ["prefixed", "bare"]:
        made[f"sentencepiece-{name}"] = sentence_piece(vocabulary("llama-spm"), name)
    for name, data in made.items():
        text = json.dumps(data, ensure_ascii=True, separators=(",", ":"))
        (out / f"{name}.json").write_text(text.replace('{"text"', '\n{"text"') + "\n")


main()
