"""Makes the GGUF files from the checkpoint: BF16 by llama.cpp's own converter, and from that one Q8_0.

usage: python export.py OUT --llama-cpp DIR

DIR is the llama.cpp folder inside PyPI's llama-cpp-python 0.3.36 source distribution. The Q8_0 file holds the same
values as the BF16 one: weights were rounded to what both have (`grid.py`).
"""
import argparse
import pathlib
import subprocess
import sys

import gguf
import grid
import numpy as np
from gguf import GGMLQuantizationType as Type


def copy_metadata(reader, writer):
    for field in reader.fields.values():
        if field.name.startswith("GGUF.") or field.name in ("general.architecture", "general.file_type"):
            continue
        kind, *inner = field.types
        writer.add_key_value(field.name, field.contents(), kind, inner[-1] if inner else None)


def write_q8_0(source, target):
    reader = gguf.GGUFReader(source)
    writer = gguf.GGUFWriter(target, reader.fields["general.architecture"].contents())
    copy_metadata(reader, writer)
    writer.add_file_type(gguf.LlamaFileType.MOSTLY_Q8_0)
    for tensor in reader.tensors:
        if tensor.tensor_type != Type.BF16:
            writer.add_tensor(tensor.name, np.array(tensor.data), raw_dtype=tensor.tensor_type)
            continue
        values = gguf.quants.dequantize(tensor.data, Type.BF16)
        packed = grid.packed(values)
        if not np.array_equal(gguf.quants.dequantize(packed, Type.Q8_0), values):
            raise ValueError(f"{tensor.name}: Q8_0 has other values than BF16")
        writer.add_tensor(tensor.name, packed, raw_dtype=Type.Q8_0)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()


def main():
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("out", type=pathlib.Path)
    arguments.add_argument("--llama-cpp", required=True)
    arguments = arguments.parse_args()
    bf16, q8_0 = (arguments.out / f"mini-ornith-{kind}.gguf" for kind in ("BF16", "Q8_0"))
    convert = pathlib.Path(__file__).with_name("convert.py")
    subprocess.run([sys.executable, convert, arguments.llama_cpp, arguments.out / "hf", bf16], check=True)
    write_q8_0(bf16, q8_0)
    print(f"{q8_0}: {q8_0.stat().st_size} bytes")


if __name__ == "__main__":
    main()
