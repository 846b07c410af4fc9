"""Converts the checkpoint to BF16 with llama.cpp's converter.

usage: python convert.py LLAMA_CPP CHECKPOINT OUT.gguf

A program of its own, because the converter brings its own copy of gguf-py.
"""
import pathlib
import sys


def main():
    if len(sys.argv) != 4:
        sys.exit(__doc__)
    llama_cpp, checkpoint, out = map(pathlib.Path, sys.argv[1:])
    sys.path[:0] = [str(llama_cpp), str(llama_cpp / "gguf-py")]
    import convert_hf_to_gguf
    from conversion.qwen import Qwen3_5MoeTextModel

    # The converter tells pre-tokenizers apart by what a published tokenizer makes of a test text. Ours has pieces
    # of its own, so that look-up can't find it.
    Qwen3_5MoeTextModel.get_vocab_base_pre = lambda self, tokenizer: "qwen35"
    sys.argv[1:] = [str(checkpoint), "--outtype", "bf16", "--model-name", "mini-ornith", "--outfile", str(out)]
    convert_hf_to_gguf.main()


if __name__ == "__main__":
    main()
