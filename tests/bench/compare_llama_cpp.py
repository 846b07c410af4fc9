"""Run guild and llama.cpp on one model file in turn, and print the ratios of their speeds.

usage: compare_llama_cpp.py MODEL.gguf [options]; --help lists them

The peer is the llama.cpp in the source distribution of PyPI's llama-cpp-python 0.3.36. Its llama-bench is
built with clang for this machine, once for each folder of --build.

Once, before the tests, the file's pages are dropped from memory, and guild reads it anew: into large pages where
the file system has them. Both programs read the same pages from then on. For each test and each number of threads:

1. llama-bench runs twice with each of its settings that may matter (flash attention on and off; weights repacked
   in memory, as by default, and as they lie in the file; physical batches of 512 and 2,048 where the prompt is
   longer than 512), and the fastest is kept.
2. guild and llama-bench run in turn, A B A B, --repetitions times. A process measures one test: one run to
   warm up, then --inner runs, of which the median counts.
3. The ratio of each pair is taken; the median of the ratios is the result, with the smallest and the largest.

Both have the same file, the same threads and an F16 KV cache. Tests: ppN is a prompt of N tokens, tgN are N
generated ones, tgN@D the same after D tokens, and `first` is the time from the start of the process to the
end of a prompt of one token, with the file in memory. A ratio above 1 means that guild is faster. Nothing is
judged. Needs Python 3.11.4 or newer.
"""
import argparse
import contextlib
import datetime
import hashlib
import io
import itertools
import json
import os
import pathlib
import platform
import re
import shlex
import shutil
import statistics
import subprocess
import sys
import tarfile
import tempfile
import time

import command_line
import comparison_plot
from command_line import run_or_exit

PEER = "llama-cpp-python"
PEER_VERSION = "0.3.36"
PEER_SHA256 = "832db0699007f1be95a7e41ef12e88926b02ba836461e36a36372db2760c1a2e"
CMAKE_OPTIONS = [
    "-DCMAKE_BUILD_TYPE=Release", "-DCMAKE_C_COMPILER=clang", "-DCMAKE_CXX_COMPILER=clang++",
    "-DGGML_NATIVE=ON", "-DGGML_OPENMP=ON", "-DLLAMA_CURL=OFF", "-DLLAMA_OPENSSL=OFF",
    "-DLLAMA_BUILD_TESTS=OFF", "-DLLAMA_BUILD_EXAMPLES=OFF", "-DLLAMA_BUILD_SERVER=OFF",
]
SECONDS = "s"
TOKENS_PER_SECOND = "tok/s"


def arguments():
    """The options, all of them checked before anything is fetched, built or measured."""
    parser = command_line.Parser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("model", nargs="?", type=gguf_file, help="a GGUF file")
    parser.add_argument("--tests", type=tests, default="pp64,pp512,pp2048,tg64,tg64@4096,first")
    parser.add_argument("--threads", type=counts, default="1,2")
    parser.add_argument("--repetitions", type=command_line.count, default=5, help="pairs of each test")
    parser.add_argument("--inner", type=command_line.count, default=1, help="counted runs in each process")
    parser.add_argument("--guild", default="guild", help="the program, target/release/guild for one")
    parser.add_argument("--guild-options", type=command_line.words, default="", metavar="OPTIONS",
                        help="further options of guild bench; written --guild-options=OPTIONS")
    parser.add_argument("--sdist", type=command_line.file, help="the source distribution, if it is there already")
    parser.add_argument("--build", type=pathlib.Path, default=pathlib.Path("llama.cpp-build"),
                        help="folder of the peer's build; a finished one is used as it is")
    parser.add_argument("--json", type=pathlib.Path, metavar="OUT", help="write the results here")
    parser.add_argument("--svg", type=pathlib.Path, metavar="DIR", help="draw the results there")
    parser.add_argument("--results", type=earlier_results, metavar="JSON",
                        help="draw or print these results of an earlier run instead of measuring")
    options = parser.parse_args()
    if (options.model is None) == (options.results is None):
        parser.error("give a model to measure, or --results")
    if options.results and options.json:
        parser.error("--json goes with a measurement, not with --results")
    try:
        if options.model:
            check_programs(options)
        check_folders(options)
    except argparse.ArgumentTypeError as error:
        parser.error(str(error))
    return options


def gguf_file(text):
    path = command_line.file(text)
    with path.open("rb") as file:
        if file.read(4) != b"GGUF":
            raise argparse.ArgumentTypeError(f"{text} isn't a GGUF file")
    return path


def tests(text):
    return [Test(name) for name in text.split(",")]


def counts(text):
    return [command_line.count(one) for one in text.split(",")]


def earlier_results(text):
    """The results of an earlier run, if they can be printed and drawn."""
    path = command_line.file(text)
    try:
        results = json.loads(path.read_text())
    except OSError as error:
        raise argparse.ArgumentTypeError(f"{path} can't be read: {error.strerror}") from None
    except ValueError as error:
        raise argparse.ArgumentTypeError(f"{path} isn't JSON: {error}") from None
    try:
        with contextlib.redirect_stdout(io.StringIO()):
            print_results(results)
        comparison_plot.pictures(results)
    except (ArithmeticError, AttributeError, LookupError, TypeError, ValueError):
        raise argparse.ArgumentTypeError(f"{path} isn't what --json wrote in an earlier run") from None
    return results


def check_programs(options):
    """Refuses a guild that isn't there, and a build that can't be made."""
    if shutil.which(options.guild) is None:
        if "/" in options.guild:
            command_line.file(options.guild)
            raise argparse.ArgumentTypeError(f"{options.guild} isn't a program: it may not be executed")
        raise argparse.ArgumentTypeError(f"{options.guild} isn't installed: name the program with --guild")
    if peer_path(options).exists():
        return
    if options.build.exists() and not options.build.is_dir():
        raise argparse.ArgumentTypeError(f"{options.build} isn't a folder")
    for tool in ("cmake", "ninja", "clang++"):
        if shutil.which(tool) is None:
            raise argparse.ArgumentTypeError(f"{tool} is needed to build the peer")


def check_folders(options):
    """Makes the folders of the results."""
    if options.json and options.json.is_dir():
        raise argparse.ArgumentTypeError(f"{options.json} is a folder, --json needs a file")
    if options.json and options.json.exists() and not os.access(options.json, os.W_OK):
        raise argparse.ArgumentTypeError(f"{options.json} can't be written to")
    for folder in filter(None, (options.json and options.json.parent, options.svg)):
        try:
            folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise argparse.ArgumentTypeError(f"the folder {folder} can't be made: {error.strerror}") from None
        if not os.access(folder, os.W_OK):
            raise argparse.ArgumentTypeError(f"the folder {folder} can't be written to")


def source_distribution(options, folder):
    """The peer's archive, checked by its digest."""
    path = options.sdist
    if path is None:
        print(f"fetching {PEER} {PEER_VERSION}: pip takes a while, since it prepares the package's metadata too",
              flush=True)
        run_or_exit([sys.executable, "-m", "pip", "download", "--no-deps", "--no-binary", ":all:",
                     "--dest", str(folder), f"{PEER}=={PEER_VERSION}"])
        path = next(pathlib.Path(folder).glob("*.tar.gz"))
    with open(path, "rb") as file:
        digest = hashlib.file_digest(file, "sha256").hexdigest()
    if digest != PEER_SHA256:
        sys.exit(f"{path} isn't {PEER} {PEER_VERSION}: its SHA-256 is {digest}")
    return path


def peer_path(options):
    return options.build / "bin" / "llama-bench"


def peer_program(options):
    """llama-bench, built unless it is there."""
    program = peer_path(options)
    if program.exists():
        return program
    with tempfile.TemporaryDirectory() as folder:
        with tarfile.open(source_distribution(options, folder)) as archive:
            archive.extractall(folder, filter="data")
        source = next(pathlib.Path(folder).glob("*/vendor/llama.cpp"))
        run_or_exit(["cmake", "-S", str(source), "-B", str(options.build), "-G", "Ninja", *CMAKE_OPTIONS])
        run_or_exit(["ninja", "-C", str(options.build), "llama-bench"])
    return program


class Test:
    """A test's name taken apart."""

    def __init__(self, name):
        found = re.fullmatch(r"(pp|tg)([1-9][0-9]*)(?:@([1-9][0-9]*))?|first", name)
        if found is None:
            raise argparse.ArgumentTypeError(f"{name!r} is no test: name them as pp512, tg64, tg64@4096 or first")
        self.name = name
        kind, count, depth = found.groups()
        self.first = kind is None
        self.prompt = 1 if self.first else int(count) if kind == "pp" else 0
        self.tokens = int(count) if kind == "tg" else 0
        self.depth = int(depth or 0)
        self.unit = SECONDS if self.first else TOKENS_PER_SECOND

    def sizes(self):
        return ["-p", str(self.prompt), "-n", str(self.tokens), "-d", str(self.depth)]

    def peer_settings(self):
        """Settings of the peer that are tried: flash attention, repacking and physical batch."""
        ubatches = [512, 2048] if self.prompt > 512 else [512]
        return [{"flash_attention": flash, "repack": repack, "ubatch": ubatch}
                for flash, repack, ubatch in itertools.product(("off", "on"), ("1", "0"), ubatches)]

    def ratio(self, guild, peer):
        return peer / guild if self.first else guild / peer


class Side:
    """A program that is measured."""

    def measure(self, test, command):
        """The test's figure and the largest resident size in bytes of one process."""
        started = time.monotonic()
        with tempfile.TemporaryFile("w+") as output, tempfile.TemporaryFile("w+") as errors:
            try:
                process = subprocess.Popen(command, stdout=output, stderr=errors, env=self.environment)
            except OSError as error:
                sys.exit(command_line.not_started(command[0], error))
            _, status, usage = os.wait4(process.pid, 0)
            seconds = time.monotonic() - started
            process.returncode = os.waitstatus_to_exitcode(status)
            output.seek(0)
            errors.seek(0)
            if process.returncode != 0:
                sys.exit(command_line.failed(command, process.returncode, output.read(), errors.read()))
            text = output.read()
        try:
            figure = seconds if test.first else self.rate(json.loads(text))
        except (LookupError, TypeError, ValueError):
            sys.exit(f"{shlex.join(command)} gave no JSON with its figures\n{text}")
        return figure, usage.ru_maxrss * 1024

    @staticmethod
    def runs(test, inner):
        return ["-r", "1", "--no-warmup"] if test.first else ["-r", str(inner)]


class Guild(Side):
    environment = None

    def __init__(self, options):
        self.program, self.options = options.guild, options
        self.version = run_or_exit([self.program, "--version"], capture_output=True).stdout.strip()

    def command(self, test, threads):
        return [self.program, "bench", str(self.options.model), *test.sizes(), "-t", str(threads), "--kv", "f16",
                *self.runs(test, self.options.inner), *self.options.guild_options, "--json"]

    @staticmethod
    def rate(answer):
        return answer["results"][0]["tps"]["median"]

    def read_anew(self):
        """Drops the file's pages from memory and reads it into new ones; gives the command that did. Pages that a
        program uses stay."""
        with self.options.model.open("rb") as file:
            # Pages that aren't on the disk yet wouldn't be dropped.
            os.fsync(file.fileno())
            os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)
        once = [self.program, "bench", str(self.options.model), "-p", "1", "-n", "0", "-r", "1"]
        run_or_exit(once, capture_output=True)
        return once


class Peer(Side):
    def __init__(self, options):
        self.program, self.options = str(peer_program(options)), options
        libraries = [str(options.build / "bin"), os.environ.get("LD_LIBRARY_PATH")]
        self.environment = {**os.environ, "LD_LIBRARY_PATH": ":".join(filter(None, libraries))}

    def command(self, test, threads, settings):
        return [self.program, "-m", str(self.options.model), *test.sizes(), "-t", str(threads),
                *self.options_of(settings), "-ctk", "f16", "-ctv", "f16",
                *self.runs(test, self.options.inner), "-o", "json"]

    @staticmethod
    def options_of(settings):
        options = ["-fa", settings["flash_attention"], "-ub", str(settings["ubatch"])]
        # Results of before this was tried don't say.
        return options + ["--repack", settings["repack"]] if "repack" in settings else options

    @staticmethod
    def rate(answer):
        return statistics.median(answer[0]["samples_ts"])

    def best(self, test, threads):
        """The fastest settings, and what each gave: the better of two tries in turn, since one may be disturbed."""
        order = min if test.first else max
        tried = [{**settings, "figures": [], "command": self.command(test, threads, settings)}
                 for settings in test.peer_settings()]
        for one in tried * 2:
            one["figures"].append(self.measure(test, one["command"])[0])
        tried = [{**one, "figure": order(one["figures"]), "command": shown(one["command"])} for one in tried]
        best = order(tried, key=lambda one: one["figure"])
        return {key: best[key] for key in ("flash_attention", "repack", "ubatch")}, tried


def compare(test, threads, guild, peer, pairs):
    """One test at one number of threads."""
    settings, tried = peer.best(test, threads)
    commands = guild.command(test, threads), peer.command(test, threads, settings)
    figures, peaks = ([], []), [0, 0]
    for _ in range(pairs):
        for side, program in enumerate((guild, peer)):
            figure, peak = program.measure(test, commands[side])
            figures[side].append(figure)
            peaks[side] = max(peaks[side], peak)
    ratios = [test.ratio(a, b) for a, b in zip(*figures)]
    return {
        "test": test.name, "threads": threads, "unit": test.unit,
        "guild": {"figures": figures[0], "median": statistics.median(figures[0]), "peak_rss_bytes": peaks[0],
                  "command": shown(commands[0])},
        "llama_cpp": {"figures": figures[1], "median": statistics.median(figures[1]), "peak_rss_bytes": peaks[1],
                      "settings": settings, "tried": tried, "command": shown(commands[1])},
        "ratio": {"median": statistics.median(ratios), "min": min(ratios), "max": max(ratios), "all": ratios},
    }


def shown(command):
    """A command with the last part of its paths alone."""
    return shlex.join(pathlib.PurePath(word).name if "/" in word else word for word in command)


def processor():
    lines = pathlib.Path("/proc/cpuinfo").read_text().splitlines()
    names = [line.split(":", 1)[1].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else platform.processor() or platform.machine()


def heading(options, guild):
    """What was measured, with what, where."""
    compiler = run_or_exit(["clang++", "--version"], capture_output=True).stdout if shutil.which("clang++") else ""
    return {
        "schema": 1,
        "date": datetime.date.today().isoformat(),
        "machine": {"processor": processor(), "processors": len(os.sched_getaffinity(0)),
                    "system": f"{platform.system()} {platform.release()}"},
        "model": {"name": options.model.name, "bytes": options.model.stat().st_size},
        "versions": {"guild": guild.version, "llama_cpp": f"{PEER} {PEER_VERSION}",
                     "compiler": compiler.splitlines()[0] if compiler else "unknown"},
        "peer_build": " ".join(CMAKE_OPTIONS),
        "pairs": options.repetitions,
        "runs_in_a_process": options.inner,
    }


def print_heading(results):
    machine, versions, model = results["machine"], results["versions"], results["model"]
    print(f"{results['date']}, {machine['processor']}, {machine['processors']} processors, {machine['system']}")
    print(f"A: {versions['guild']}")
    print(f"B: llama.cpp of {versions['llama_cpp']}, {versions['compiler']}, {results['peer_build']}")
    print(f"{model['name']}, {model['bytes'] / 1e9:.2f} GB; {results['pairs']} pairs of processes a test, "
          f"{results['runs_in_a_process']} counted runs in each; medians; smallest and largest ratio behind them\n")
    print(f"{'test':<12}{'threads':>8}{'guild':>11}{'llama.cpp':>11} {'unit':<6}{'ratio':>7}   spread"
          f"        peak, GB    llama.cpp with")


def print_test(one):
    settings, ratio = one["llama_cpp"]["settings"], one["ratio"]
    peaks = [one[side]["peak_rss_bytes"] / 1e9 for side in ("guild", "llama_cpp")]
    print(f"{one['test']:<12}{one['threads']:>8}{one['guild']['median']:>11.2f}{one['llama_cpp']['median']:>11.2f} "
          f"{one['unit']:<6}{ratio['median']:>7.2f}   {ratio['min']:.2f}..{ratio['max']:.2f}   "
          f"{peaks[0]:>6.2f} {peaks[1]:>6.2f}    {shlex.join(Peer.options_of(settings))}",
          flush=True)


def print_commands(results):
    print("\ncommands (A, B: in turn; before them the peer's settings that were tried, with what they gave):")
    if "read_anew" in results:
        print(f"  the file was read anew by {results['read_anew']}")
    for one in results["tests"]:
        peer = one["llama_cpp"]
        for tried in peer["tried"]:
            command = tried.get("command", shlex.join(Peer.options_of(tried)))
            print(f"  tried {command}: {tried['figure']:.2f} {one['unit']}")
        print(f"  A {one['guild']['command']}\n  B {peer['command']}")


def print_results(results):
    print_heading(results)
    for one in results["tests"]:
        print_test(one)
    print_commands(results)


def measure(options):
    guild, peer = Guild(options), Peer(options)
    results = {**heading(options, guild), "tests": []}
    print_heading(results)
    results["read_anew"] = shown(guild.read_anew())
    for count in options.threads:
        for test in options.tests:
            one = compare(test, count, guild, peer, options.repetitions)
            print_test(one)
            results["tests"].append(one)
            if options.json:
                # After each test, so that a long run that is broken off has its results.
                options.json.write_text(json.dumps(results, indent=1) + "\n")
    return results


def main():
    options = arguments()
    results = options.results
    if results:
        print_results(results)
    else:
        results = measure(options)
        print_commands(results)
    if options.svg:
        for path in comparison_plot.draw(results, options.svg):
            print(path)


if __name__ == "__main__":
    main()
