"""How each program ends with an error: one line on stderr that begins with the program's name, and an exit status."""

import argparse
import sys
from pathlib import Path
from typing import NoReturn

USAGE = 2  # exit status: wrong arguments, or an input that cannot be used


def program_name() -> str:
    return Path(sys.argv[0]).name


class Failure(SystemExit):
    """Ends the program with a status; its message is already printed."""

    def __init__(self, message: str, status: int):
        super().__init__(status)
        self.message = message

    def __str__(self) -> str:
        return self.message


def fail(message: object, status: int = USAGE) -> NoReturn:
    print(f"{program_name()}: {message}", file=sys.stderr)
    raise Failure(str(message), status)


class Parser(argparse.ArgumentParser):
    """Reports wrong arguments in one line, without the usage."""
    status = USAGE

    def error(self, message: str) -> NoReturn:
        fail(message, self.status)
