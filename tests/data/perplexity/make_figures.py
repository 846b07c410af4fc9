"""Runs llama-perplexity over text.txt and writes what it says, window by window, into figures.json.

use: python make_figures.py LLAMA_PERPLEXITY MODEL...
"""

import hashlib
import json
import re
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).parent
# One window a batch, and an f32 KV cache, so that no rounding of keys and values is compared.
OPTIONS = ["-c", "512", "-b", "512", "-ctk", "f32", "-ctv", "f32"]


def sha256(path):
    return hashlib.sha256(path.read_bytes()).hexdigest()


def figures(program, model):
    text = HERE / "text.txt"
    command = [program, "-m", str(model), "-f", str(text), *OPTIONS]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    said = done.stdout + done.stderr
    running = [float(value) for value in re.findall(r"\[\d+\]([0-9.]+),", said)]
    final = re.search(r"Final estimate: PPL = ([0-9.]+) \+/- ([0-9.]+)", said)
    return {
        "model": model.name,
        "model_sha256": sha256(model),
        "perplexity": float(final[1]),
        "error": float(final[2]),
        "running": running,
    }


program, *models = sys.argv[1:]
version = subprocess.run([program, "--version"], capture_output=True, text=True, check=True)
answer = {
    "tool": "llama-perplexity of llama.cpp as in PyPI's llama-cpp-python 0.3.36 (sdist)",
    "version": (version.stdout + version.stderr).strip().splitlines()[0],
    "command": " ".join(["llama-perplexity -m MODEL -f text.txt", *OPTIONS]),
    "text_sha256": sha256(HERE / "text.txt"),
    "context": 512,
    "models": [figures(program, Path(model)) for model in models],
}
(HERE / "figures.json").write_text(json.dumps(answer, indent=1) + "\n")
