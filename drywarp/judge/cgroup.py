"""Linux control groups, version 2: limit the total memory and number of processes of a command and its descendants.

Root may create one; so may a user in a systemd session, below the groups of a desktop or of systemd-run --user --scope. Most containers forbid it."""

from __future__ import annotations

import os
import time
from collections.abc import Iterable
from pathlib import Path

from drywarp.judge.means import succeeds

NEEDED = {"memory", "pids"}
PREFIX = "check-"  # of the groups' names, followed by the id of the process that waits for the group
WAIT_S = 2  # for the last process of a group to end


def above(proc: str | Path = "/proc/self") -> list[Path]:
    """The folders of a process's groups, innermost first; none if version 2 is not mounted."""
    mounts = [line.split() for line in Path(proc, "mountinfo").read_text().splitlines()]
    roots = [Path(words[4]) for words in mounts if words[words.index("-") + 1] == "cgroup2"]
    own = [line[3:] for line in Path(proc, "cgroup").read_text().splitlines() if line.startswith("0::")]
    if not roots or not own:
        return []
    place = roots[0] / own[0].lstrip("/")
    return [place, *(folder for folder in place.parents if folder.is_relative_to(roots[0]))]


def made(memory: int | str, processes: int | str, places: Iterable[Path] | None = None) -> Group | None:
    """A new group in the innermost folder that supports limits; None if there is none, or creation is forbidden."""
    for place in above() if places is None else places:
        try:
            limits = NEEDED <= set((place / "cgroup.subtree_control").read_text().split())
            group = Group(place, memory, processes) if limits else None
        except OSError:
            continue  # belongs to another user, or is not visible here
        if group and succeeds(group.enter):
            return group
        if group:
            group.end()
    return None


class Group:
    """A group with limits of memory (bytes) and processes. Groups left by a killed run are removed by the next run."""

    def __init__(self, place: Path, memory: int | str, processes: int | str) -> None:
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

    def enter(self) -> None:
        """Moves this process into the group; its later children are in it, too."""
        (self.folder / "cgroup.procs").write_text("0\n")

    def is_over(self) -> bool:
        """Whether a process in it was killed because of the memory limit."""
        events = dict(line.split() for line in (self.folder / "memory.events").read_text().splitlines())
        return events.get("oom_kill", "0") != "0"

    def end(self) -> None:
        """Kills its processes and removes it."""
        try:
            (self.folder / "cgroup.kill").write_text("1\n")  # since Linux 5.14
        except OSError:
            pass
        until = time.monotonic() + WAIT_S
        while not Group.remove(self.folder) and time.monotonic() < until:
            time.sleep(0.01)

    @staticmethod
    def remove(folder: Path) -> bool:
        try:
            folder.rmdir()
        except OSError:
            return False
        return True
