"""Control groups of Linux, version 2: the memory and the processes of a command are counted together, and limited, with all that it starts.

Root may make one, and who is logged in with systemd below the groups of a desktop or of systemd-run --user --scope; in most containers nobody may."""

import os
import time
from pathlib import Path

from scripts.judge.means import succeeds

NEEDED = {"memory", "pids"}
PREFIX = "check-"  # of the groups' names; then comes the number of the process that waits for what runs in it
WAIT_S = 2  # for the last of its processes to be gone


def above(proc="/proc/self"):
    """The folders of the groups in which a process is, its own one first; none where version 2 is not mounted."""
    mounts = [line.split() for line in Path(proc, "mountinfo").read_text().splitlines()]
    roots = [Path(words[4]) for words in mounts if words[words.index("-") + 1] == "cgroup2"]
    own = [line[3:] for line in Path(proc, "cgroup").read_text().splitlines() if line.startswith("0::")]
    if not roots or not own:
        return []
    place = roots[0] / own[0].lstrip("/")
    return [place, *(folder for folder in place.parents if folder.is_relative_to(roots[0]))]


def made(memory, processes, places=None):
    """A group in the nearest place whose groups can be limited; None where there is no such, or none may be made."""
    for place in above() if places is None else places:
        try:
            limits = NEEDED <= set((place / "cgroup.subtree_control").read_text().split())
            group = Group(place, memory, processes) if limits else None
        except OSError:
            continue  # somebody else's, or one that is not shown here
        if group and succeeds(group.enter):
            return group
        if group:
            group.end()
    return None


class Group:
    """Bytes of memory, and processes, for all that enters it. One that a killed run has left goes with the next."""

    def __init__(self, place, memory, processes):
        for left in place.glob(f"{PREFIX}*"):
            if not Path("/proc", left.name.removeprefix(PREFIX)).exists():
                Group.remove(left)
        self.folder = place / f"{PREFIX}{os.getpid()}"
        self.folder.mkdir()
        try:
            for name, most in (("memory.max", memory), ("memory.oom.group", 1), ("pids.max", processes)):
                (self.folder / name).write_text(f"{most}\n")
            if (self.folder / "memory.swap.max").exists():
                (self.folder / "memory.swap.max").write_text("0\n")
        except OSError:
            Group.remove(self.folder)
            raise

    def enter(self):
        """This process, and all that it starts from now on."""
        (self.folder / "cgroup.procs").write_text("0\n")

    def is_over(self):
        """Whether something in it was killed, for it took too much memory."""
        events = dict(line.split() for line in (self.folder / "memory.events").read_text().splitlines())
        return events.get("oom_kill", "0") != "0"

    def end(self):
        """Ends all that is in it, and removes it."""
        try:
            (self.folder / "cgroup.kill").write_text("1\n")  # since Linux 5.14
        except OSError:
            pass
        until = time.monotonic() + WAIT_S
        while not Group.remove(self.folder) and time.monotonic() < until:
            time.sleep(0.01)

    @staticmethod
    def remove(folder):
        try:
            folder.rmdir()
        except OSError:
            return False
        return True
