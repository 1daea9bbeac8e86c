"""How each program ends with an error: one line on stderr that begins with the program's name, and an exit status."""

import argparse
import sys
from pathlib import Path
from typing import NoReturn

USAGE = 2  # exit status: wrong arguments, or an input that cannot be used


def program_name() -> str:
    return Path(sys.argv[0]).name


def fail(message: object, status: int = USAGE) -> NoReturn:
    print(f"{program_name()}: {message}", file=sys.stderr)
    sys.exit(status)


class Parser(argparse.ArgumentParser):
    """Reports wrong arguments in one line, without the usage."""

    def error(self, message: str) -> NoReturn:
        fail(message)
