"""Runs llama-perplexity over text.txt and writes what it says, window by window, into figures.json.

Each model is run twice: as it is, and with every weight widened to F32. llama.cpp rounds activations to the
weights' kind (BF16 for BF16, blocks of 8-bit integers for quantised ones), so only the second run has the
perplexity of the weights themselves.

use: python make_figures.py LLAMA_PERPLEXITY FOLDER_FOR_F32_FILES MODEL...    (gguf 0.19, numpy)
"""

import hashlib
import json
import re
import subprocess
import sys
from pathlib import Path

import gguf
import numpy

HERE = Path(__file__).parent
# One window a batch, and an f32 KV cache, so that no rounding of keys and values is compared.
OPTIONS = ["-c", "512", "-b", "512", "-ctk", "f32", "-ctv", "f32"]


def sha256(path):
    return hashlib.sha256(path.read_bytes()).hexdigest()


def widened(model, folder):
    """The same model with F32 weights, decoded by gguf-py."""
    reader, target = gguf.GGUFReader(model), Path(folder) / f"f32-{model.name}"
    writer = gguf.GGUFWriter(target, reader.fields["general.architecture"].contents())
    for key, field in reader.fields.items():
        if key.startswith("GGUF.") or key == "general.architecture":
            continue
        is_array = field.types[0] == gguf.GGUFValueType.ARRAY
        element = field.types[-1] if is_array else None
        writer.add_key_value(key, field.contents(), field.types[0], sub_type=element)
    for tensor in reader.tensors:
        data = tensor.data
        if tensor.tensor_type != gguf.GGMLQuantizationType.F32:
            data = gguf.dequantize(data, tensor.tensor_type).astype(numpy.float32)
        writer.add_tensor(tensor.name, data)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    return target


def run(program, model):
    command = [program, "-m", str(model), "-f", str(HERE / "text.txt"), *OPTIONS]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    said = done.stdout + done.stderr
    final = re.search(r"Final estimate: PPL = ([0-9.]+) \+/- ([0-9.]+)", said)
    running = [float(value) for value in re.findall(r"\[\d+\]([0-9.]+),", said)]
    return {"perplexity": float(final[1]), "error": float(final[2]), "running": running}


def figures(program, folder, model):
    return {
        "model": model.name,
        "model_sha256": sha256(model),
        "as_it_is": run(program, model),
        "widened_to_f32": run(program, widened(model, folder)),
    }


program, folder, *models = sys.argv[1:]
version = subprocess.run([program, "--version"], capture_output=True, text=True, check=True)
answer = {
    "tool": "llama-perplexity of llama.cpp as in PyPI's llama-cpp-python 0.3.36 (sdist)",
    "version": (version.stdout + version.stderr).strip().splitlines()[0],
    "command": " ".join(["llama-perplexity -m MODEL -f text.txt", *OPTIONS]),
    "text_sha256": sha256(HERE / "text.txt"),
    "context": 512,
    "models": [figures(program, folder, Path(model)) for model in models],
}
(HERE / "figures.json").write_text(json.dumps(answer, indent=1) + "\n")
