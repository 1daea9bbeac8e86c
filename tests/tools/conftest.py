import os
import tempfile

import pytest


def passable(folder):
    """A folder of pytest, which other users cannot enter; root's they can, because its sandbox runs as another user."""
    for each in (folder, *folder.parents) if os.getuid() == 0 else ():
        if str(each).startswith(f"{tempfile.gettempdir()}/"):
            each.chmod(each.stat().st_mode | 0o011)
    return folder


@pytest.fixture
def tmp_path(tmp_path):
    return passable(tmp_path)
