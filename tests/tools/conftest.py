"""The folders of tests that start the sandbox."""

import contextlib
import os
import tempfile
from pathlib import Path

import pytest


@contextlib.contextmanager
def passable():
    """A folder that other users can enter: the sandbox of root runs as another user, and only root can enter pytest's folders."""
    with tempfile.TemporaryDirectory(prefix="test-") as folder:
        Path(folder).chmod(0o711)
        yield Path(folder)


@pytest.fixture
def tmp_path(request):
    """pytest's folder or, for root, a passable one."""
    if os.getuid():
        yield request.getfixturevalue("tmp_path_factory").mktemp("test")
        return
    with passable() as folder:
        yield folder
