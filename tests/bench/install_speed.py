"""How long `guild kernel install` takes for a large bundle, beside the least that any safe installer does: hashing the
file, and copying it durably. One pair after the other, so that a busy machine is busy for both.

    python3 tests/bench/install_speed.py GUILD STAGED [--megabytes 50] [--pairs 7]

GUILD is a release build, STAGED a staging folder of a package whose plugin loads here; a file of random bytes is added.
"""

import argparse
import json
import os
import pathlib
import shutil
import statistics
import subprocess
import tempfile
import time


def least(bundle, folder):
    """Seconds for sha256sum and a durable copy."""
    start = time.perf_counter()
    subprocess.run(["sha256sum", bundle], check=True, stdout=subprocess.DEVNULL)
    copy = folder / "copy"
    with open(bundle, "rb") as source, open(copy, "wb") as target:
        shutil.copyfileobj(source, target, 1 << 20)
        target.flush()
        os.fsync(target.fileno())
    took = time.perf_counter() - start
    copy.unlink()
    return took


def install(guild, bundle, key, folder):
    """Seconds for an install into a new store."""
    data = folder / "data"
    command = [guild, "--json", "--no-config", "--no-machine-store", "--data-dir", data, "kernel"]
    run = lambda words: subprocess.run([*command, *words], check=True, stdout=subprocess.PIPE)
    run(["trust", "add", key, "--scope", "org"])
    start = time.perf_counter()
    answer = json.loads(run(["install", bundle]).stdout)
    took = time.perf_counter() - start
    shutil.rmtree(data)
    return took, answer


def make_bundle(guild, staged, megabytes, folder):
    package = folder / "package"
    shutil.copytree(staged, package)
    (package / "data").mkdir()
    (package / "data" / "random.bin").write_bytes(os.urandom(megabytes << 20))
    with open(package / "package.toml", "a") as toml:
        toml.write('\n[[artifacts]]\npath = "data/random.bin"\nrole = "data"\n')
    seed, key, bundle = folder / "seed", folder / "key.json", folder / "large.gkernel"
    made = subprocess.run(
        [guild, "--json", "kernel", "keygen", "--seed-file", seed, "--public", key, "--test-identity"],
        check=True,
        stdout=subprocess.PIPE,
    )
    key_id = json.loads(made.stdout)["key_id"]
    sign = ["kernel", "sign", package, "--key-id", key_id, "--seed-file", seed, "--bundle", bundle]
    subprocess.run([guild, "-q", *sign], check=True, stdout=subprocess.DEVNULL)
    return bundle, key


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("guild", type=pathlib.Path)
    parser.add_argument("staged", type=pathlib.Path)
    parser.add_argument("--megabytes", type=int, default=50)
    parser.add_argument("--pairs", type=int, default=7)
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory(dir=os.environ.get("TMPDIR", ".")) as folder:
        folder = pathlib.Path(folder)
        guild = arguments.guild.resolve()
        bundle, key = make_bundle(guild, arguments.staged, arguments.megabytes, folder)
        pairs = []
        for _ in range(arguments.pairs):
            pairs.append((least(bundle, folder), install(guild, bundle, key, folder)[0]))
        ratios = [took / floor for floor, took in pairs]
        print(
            f"{bundle.stat().st_size / 1e6:.1f} MB: hash and copy {statistics.median(p[0] for p in pairs) * 1e3:.0f} ms, "
            f"install {statistics.median(p[1] for p in pairs) * 1e3:.0f} ms, "
            f"ratio {statistics.median(ratios):.2f} ({min(ratios):.2f}..{max(ratios):.2f}, {len(pairs)} pairs)"
        )


if __name__ == "__main__":
    main()
