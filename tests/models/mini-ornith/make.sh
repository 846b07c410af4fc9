#!/bin/sh
# Trains the model and makes its files anew. README.md says how long that takes.
#
# usage: make.sh WORK
#
# WORK gets a Python environment, the source distribution that holds llama.cpp's converter, the checkpoint and
# the files. Copy those that are committed here from WORK/out when they are good.
set -eu
case "${1:-}" in '' | -*) echo "usage: make.sh WORK" >&2; exit 2 ;; esac
here=$(cd "$(dirname "$0")" && pwd)
mkdir -p "$1"
work=$(cd "$1" && pwd)
python3 -m venv "$work/python"
"$work/python/bin/pip" install --quiet torch==2.9.1 transformers==5.24.0 \
    tokenizers==0.23.3 safetensors==0.8.0 gguf==0.19.0 numpy==2.4.6 sentencepiece==0.2.3 jinja2==3.1.6
"$work/python/bin/pip" download --quiet --no-deps --no-binary llama-cpp-python --dest "$work" llama-cpp-python==0.3.36
tar -xzf "$work/llama_cpp_python-0.3.36.tar.gz" -C "$work"
llama_cpp="$work/llama_cpp_python-0.3.36/vendor/llama.cpp"
"$work/python/bin/python" "$here/train.py" "$work/out"
"$work/python/bin/python" "$here/export.py" "$work/out" --llama-cpp "$llama_cpp"
"$work/python/bin/python" "$here/evaluate.py" "$work/out"
