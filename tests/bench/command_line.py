"""What the scripts of this folder share: options refused in one line, and programs whose failure is shown whole."""
import argparse
import os
import pathlib
import shlex
import subprocess
import sys


class Parser(argparse.ArgumentParser):
    """Refuses in one line, without the usage."""

    def error(self, message):
        self.exit(2, f"{self.prog}: {message}\n")


def count(text):
    """A number of 1 or more."""
    try:
        number = int(text)
    except ValueError:
        number = 0
    if number < 1:
        raise argparse.ArgumentTypeError(f"{text!r} isn't a number of 1 or more")
    return number


def file(text):
    """The path of a file that is there."""
    path = pathlib.Path(text)
    if not path.exists():
        raise argparse.ArgumentTypeError(f"there is no file {text}")
    if not path.is_file():
        raise argparse.ArgumentTypeError(f"{text} isn't a file")
    if not os.access(path, os.R_OK):
        raise argparse.ArgumentTypeError(f"{text} may not be read")
    return path


def words(text):
    """Words as the shell splits them."""
    try:
        return shlex.split(text)
    except ValueError as error:
        raise argparse.ArgumentTypeError(f"{text!r} doesn't split into words: {error}") from None


def failed(command, status, *outputs):
    """Why a program's run ends the script: its status and all that it wrote."""
    parts = [f"{shlex.join(map(str, command))} ended with {status}", *(text.strip() for text in outputs if text)]
    return "\n".join(filter(None, parts))


def not_started(program, error):
    """Why a program didn't start."""
    if not isinstance(error, FileNotFoundError):
        return f"{program} doesn't start: {error.strerror}"
    return f"there is no file {program}" if "/" in str(program) else f"{program} isn't installed"


def run_or_exit(command, **more):
    try:
        return subprocess.run(command, check=True, text=True, **more)
    except OSError as error:
        sys.exit(not_started(command[0], error))
    except subprocess.CalledProcessError as error:
        sys.exit(failed(command, error.returncode, error.stdout, error.stderr))
