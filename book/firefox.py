"""Firefox, driven by its own protocol (Marionette), so that nothing else is needed: for book/bench.py and the tests."""

import contextlib
import json
import os
import shutil
import socket
import subprocess
import tempfile
import time
from pathlib import Path

PROGRAM = shutil.which("firefox-esr") or shutil.which("firefox")  # None if there is none
PATIENCE_S = 60


class Firefox:
    """A session. A message is its length, a colon and JSON: [0, number, command, arguments], answered by [1, number, error, result]."""

    def __init__(self, port):
        self.socket, self.number = connected(port), 0
        self.answers = self.socket.makefile("rb")
        self.answer()  # its greeting
        self.command("WebDriver:NewSession", pageLoadStrategy="eager")  # a command ends when the page is parsed: not all is loaded

    def answer(self):
        digits = b""
        while (byte := self.answers.read(1)) != b":":
            digits += byte
        return json.loads(self.answers.read(int(digits)))

    def command(self, name, **arguments):
        self.number += 1
        message = json.dumps([0, self.number, name, arguments]).encode()
        self.socket.sendall(b"%d:%s" % (len(message), message))
        _, number, error, result = self.answer()
        assert number == self.number and error is None, error
        return result

    def value(self, script):
        """The value of an expression; of a promise, what it becomes."""
        return self.command("WebDriver:ExecuteScript", script=f"return {script}", args=[])["value"]

    def wait_for(self, script):
        return patiently(lambda: self.value(script))


def patiently(look):
    """What look() finds, once it finds something."""
    until = time.monotonic() + PATIENCE_S
    while not (found := look()):
        assert time.monotonic() < until, "nothing came"
        time.sleep(0.1)
    return found


def connected(port):
    def once():
        try:
            return socket.create_connection(("127.0.0.1", port), timeout=PATIENCE_S)
        except ConnectionRefusedError:
            return None
    return patiently(once)


def free_port():
    with socket.socket() as any_port:
        any_port.bind(("127.0.0.1", 0))
        return any_port.getsockname()[1]


@contextlib.contextmanager
def started():
    """A Firefox without a window and with a new profile."""
    port = free_port()
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as profile:
        (Path(profile) / "user.js").write_text(f'user_pref("marionette.port", {port});\n', encoding="utf-8")
        words = [PROGRAM, "--headless", "--marionette", "--no-remote", "--profile", profile]
        process = subprocess.Popen(words, env=os.environ | {"HOME": profile}, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        try:
            yield Firefox(port)
        finally:
            process.terminate()
            process.wait(PATIENCE_S)
