"""The browsers of all tests of the book: Chromium, and Firefox, which is driven by its own protocol (Marionette), so that nothing else is needed."""

import json
import os
import shutil
import socket
import subprocess
import time

import pytest

FIREFOX = shutil.which("firefox-esr") or shutil.which("firefox")
PATIENCE_S = 60


@pytest.fixture(scope="session")
def browser():
    playwright = pytest.importorskip("playwright.sync_api", reason="Playwright is not there: make test-book")
    chromium = shutil.which("chromium") or shutil.which("google-chrome")
    if not chromium:
        pytest.skip("there is no Chromium here")
    with playwright.sync_playwright() as started:
        browser = started.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        yield browser
        browser.close()


class Firefox:
    """A session. A message is its length, a colon and JSON: [0, number, command, arguments], answered by [1, number, error, result]."""

    def __init__(self, port):
        self.socket, self.number = connected(port), 0
        self.answers = self.socket.makefile("rb")
        self.answer()  # its greeting
        self.command("WebDriver:NewSession", capabilities={})

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


@pytest.fixture
def firefox(tmp_path_factory):
    if not FIREFOX:
        pytest.skip("there is no Firefox here")
    port = free_port()
    profile = tmp_path_factory.mktemp("firefox")
    (profile / "user.js").write_text(f'user_pref("marionette.port", {port});\n')
    words = [FIREFOX, "--headless", "--marionette", "--no-remote", "--profile", str(profile)]
    process = subprocess.Popen(words, env=os.environ | {"HOME": str(profile)}, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        yield Firefox(port)
    finally:
        process.terminate()
        process.wait(PATIENCE_S)
