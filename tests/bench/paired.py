"""Time two commands in turn and print the ratio of their rates, pair by pair.

usage: paired.py RUNS FIELD COMMAND_A COMMAND_B

Each command is run as the shell splits it and prints one JSON object. FIELD is a path in it, such
as timings.decode_tps or results.0.tps.median. One warm-up run of each comes first. Nothing is judged.
"""
import argparse
import json
import shlex
import statistics
import sys

import command_line


def arguments():
    about = __doc__.replace("usage: paired.py RUNS FIELD COMMAND_A COMMAND_B\n\n", "")
    parser = command_line.Parser(description=about, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("runs", metavar="RUNS", type=command_line.count, help="pairs")
    parser.add_argument("field", metavar="FIELD", help="path of the rate, a number above 0")
    parser.add_argument("first", metavar="COMMAND_A", type=command_words, help="a command in one argument")
    parser.add_argument("second", metavar="COMMAND_B", type=command_words, help="the other one")
    options = parser.parse_args()
    options.commands = options.first, options.second
    return options


def command_words(text):
    words = command_line.words(text)
    if not words:
        raise argparse.ArgumentTypeError("the command is empty")
    return words


def rate(command, field):
    answer = command_line.run_or_exit(command, capture_output=True)
    try:
        value = json.loads(answer.stdout)
        for part in field.split("."):
            value = value[int(part)] if isinstance(value, list) else value[part]
        value = float(value)
    except (LookupError, TypeError, ValueError):
        value = 0
    if not value > 0:
        sys.exit(f"{shlex.join(command)} gave no JSON with a number above 0 at {field}\n"
                 f"{answer.stdout}{answer.stderr}")
    return value


def main():
    options = arguments()
    for command in options.commands:
        rate(command, options.field)
    pairs = []
    for turn in range(options.runs):
        # The order alternates, so that a drift of the machine doesn't favour one side.
        first, second = (0, 1) if turn % 2 == 0 else (1, 0)
        pair = {first: rate(options.commands[first], options.field)}
        pair[second] = rate(options.commands[second], options.field)
        pairs.append((pair[0], pair[1]))
    ratios = sorted(a / b for a, b in pairs)
    for name, values in (("A", [a for a, _ in pairs]), ("B", [b for _, b in pairs])):
        print(f"{name}: median {statistics.median(values):.2f} min {min(values):.2f} max {max(values):.2f}")
    print(f"A/B: median {statistics.median(ratios):.4f} min {ratios[0]:.4f} max {ratios[-1]:.4f} "
          f"over {options.runs} pairs")


if __name__ == "__main__":
    main()
