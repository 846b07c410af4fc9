"""Time two commands in turn and print the ratio of their rates, pair by pair.

usage: paired.py RUNS FIELD COMMAND_A COMMAND_B

Each command is run as the shell splits it and prints one JSON object. FIELD is a path in it, such
as timings.decode_tps or results.0.tps.median. One warm-up run of each comes first. Nothing is judged.
"""
import json
import shlex
import statistics
import subprocess
import sys

runs, field, *commands = int(sys.argv[1]), sys.argv[2].split("."), *sys.argv[3:5]


def rate(command):
    answer = subprocess.run(shlex.split(command), capture_output=True, text=True, check=True)
    value = json.loads(answer.stdout)
    for part in field:
        value = value[int(part)] if isinstance(value, list) else value[part]
    return float(value)


for command in commands:
    rate(command)
pairs = []
for turn in range(runs):
    # The order alternates, so that a drift of the machine doesn't favour one side.
    first, second = (0, 1) if turn % 2 == 0 else (1, 0)
    pair = {first: rate(commands[first])}
    pair[second] = rate(commands[second])
    pairs.append((pair[0], pair[1]))
ratios = sorted(a / b for a, b in pairs)
for name, values in (("A", [a for a, _ in pairs]), ("B", [b for _, b in pairs])):
    print(f"{name}: median {statistics.median(values):.2f} min {min(values):.2f} max {max(values):.2f}")
print(f"A/B: median {statistics.median(ratios):.4f} min {ratios[0]:.4f} max {ratios[-1]:.4f} over {runs} pairs")
