#!/usr/bin/env python3
"""Runs an untrusted command, restricted by Linux without root: sandbox.py --write DIR --seconds 60 --memory 2G -- COMMAND...

It may read and run only the given paths, write only into DIR, and has no network. Its time, memory and files are limited, its environment is
empty, and all of its processes are killed when it exits or its time is up. Mechanisms that this machine lacks are skipped; --measures lists those in force.
Started by root, it runs the command as an unprivileged user, which then owns DIR, unless everyone can write it.
Exit status: the command's; 128 plus the signal's number; 122: too much memory; 123: too much file space; 124: time limit; 125: the sandbox failed."""

from __future__ import annotations

import argparse
import os
import platform
import re
import signal
import sys
import time
from collections.abc import Iterable
from typing import Callable, NoReturn

if not __package__:  # run as a file: the judge runs it so, without its own settings of Python's
    sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))))
from drywarp.errors import Parser
from drywarp.judge import cgroup
from drywarp.judge.means import (DEATH_SIGNAL, LIBC, NO_NEW_PRIVILEGES, MAX_OWN_PROCESSES, SYSTEM_FOLDERS, UNPRIVILEGED, become_bubblewrap, drop_root,
                                 enter_namespaces, has_bubblewrap, landlock_version, limit, restrict_calls, restrict_files, tried, works)

MEMORY_OVER, SPACE_OVER, TIME_OVER, SANDBOX_FAILED = 122, 123, 124, 125
MOST = "max"  # of a control group: no limit
LOOKS = 0.1  # seconds between two looks at the space that files take
NEEDED = {"PATH": "/usr/local/bin:/usr/bin:/bin", "LANG": "C.UTF-8"}


# ---- The processes: this one watches the clock; below it, one without root's rights; below that, the first of a namespace; below that, the command.

def become(options: argparse.Namespace) -> NoReturn:
    """Turns this process into the command."""
    LIBC.prctl(DEATH_SIGNAL, signal.SIGKILL)
    LIBC.prctl(NO_NEW_PRIVILEGES, 1, 0, 0, 0)
    limit(options)
    os.chdir(options.write[0] if options.write else "/")
    environment = NEEDED | {"TMPDIR": options.write[0] if options.write else "/"} | dict(options.set)
    tried(restrict_files, options)
    tried(restrict_calls, options)
    os.execve(options.command[0], options.command, environment)


def status_of(word: int) -> int:
    return 128 + os.WTERMSIG(word) if os.WIFSIGNALED(word) else os.WEXITSTATUS(word)


def or_failed(run: Callable[[], object]) -> int:
    """Runs what becomes another program; where it does not, says so in a line."""
    try:
        run()
    except BaseException as error:
        os.write(2, f"sandbox.py: {error}\n".encode())
    return SANDBOX_FAILED


def forked(run: Callable[[], object]) -> int:
    """The number of a new process that does so."""
    child = os.fork()
    if child:
        return child
    os._exit(or_failed(run))


def enclosed(options: argparse.Namespace, group: cgroup.Group | None) -> NoReturn:
    """Enters the control group, which only root may, then drops root's rights; bubblewrap or namespaces are those of the remaining user."""
    LIBC.prctl(DEATH_SIGNAL, signal.SIGKILL)
    if group:
        group.enter()
    drop_root()
    LIBC.prctl(DEATH_SIGNAL, signal.SIGKILL)  # again: a change of the user clears it
    if has_bubblewrap(options):  # this program again, in bubblewrap, where it becomes the command
        become_bubblewrap(options, os.path.abspath(__file__), "--inside", *sys.argv[1:])
    options.apart = works(enter_namespaces)  # tried on another process first: half of it would be worse than nothing
    if options.apart:
        enter_namespaces()
    os._exit(status_of(os.waitpid(forked(lambda: first_process(options)), 0)[1]))


def give_away(folders: Iterable[str]) -> None:
    """Gives root's folders, without their contents, to the unprivileged user, except those that everyone can write, such as /tmp."""
    for folder in folders:
        about = os.stat(folder)
        if about.st_uid == 0 and not about.st_mode & 0o002:
            os.chown(folder, UNPRIVILEGED, UNPRIVILEGED)


def first_process(options: argparse.Namespace) -> NoReturn:
    """In a namespace of processes the first one: when it ends, all end."""
    LIBC.prctl(DEATH_SIGNAL, signal.SIGKILL)
    command = forked(lambda: become(options))
    while True:
        child, word = os.wait()
        if child == command:
            os._exit(status_of(word))


def taken(folders: Iterable[str]) -> int:
    """Bytes on the disk below the folders."""
    total = 0
    for folder in folders:
        for place, _, names in os.walk(folder):
            for name in names:
                try:
                    total += 512 * os.lstat(os.path.join(place, name)).st_blocks
                except OSError:
                    pass  # gone since
    return total


def watch(child: int, options: argparse.Namespace) -> int:
    """Waits for the end of the child, or ends it with its time or space; returns its status, or which of them it was."""
    over, end = TIME_OVER, time.monotonic() + (options.wall_seconds or options.seconds)
    look = 0.0
    while (now := time.monotonic()) < end:
        done, word = os.waitpid(child, os.WNOHANG)
        if done:
            status = status_of(word)
            return TIME_OVER if status == 128 + signal.SIGXCPU else status
        if now >= look and taken(options.write) > options.space:
            over = SPACE_OVER
            break
        look = now + LOOKS if now >= look else look
        time.sleep(0.005)
    os.kill(child, signal.SIGKILL)
    return over


def watched(options: argparse.Namespace) -> int:
    """Runs the command to its end, or to that of its time or space."""
    LIBC.prctl(DEATH_SIGNAL, signal.SIGKILL)
    os.setpgid(0, 0)
    group = cgroup.made(options.memory, options.threads + MAX_OWN_PROCESSES)
    if os.getuid() == 0:
        give_away(options.write)
    child = forked(lambda: enclosed(options, group))
    status = watch(child, options)
    end_group()
    return ended(group, status) if group else status


def ended(group: cgroup.Group, status: int) -> int:
    """Ends a control group; returns the status, or that its memory was over."""
    is_over = group.is_over()
    group.end()
    return MEMORY_OVER if is_over and status not in (TIME_OVER, SPACE_OVER) else status


def end_group() -> None:
    """Without namespaces: kills the processes that the command left in this process group."""
    for name in os.listdir("/proc"):
        try:
            if name.isdigit() and int(name) != os.getpid() and os.getpgid(int(name)) == os.getpgid(0):
                os.kill(int(name), signal.SIGKILL)
        except OSError:
            pass


# ---- What is in force

def confines_files() -> bool:
    """Whether a program in the sandbox can neither read nor write the files of this account."""
    nothing = argparse.Namespace(read=[], run=[], write=[], alone=True, strict=False)
    return works(restrict_files, nothing) or has_bubblewrap(nothing)


def measures() -> tuple[str, str]:
    """Two lines: the means in force, and what they do not cover."""
    nothing = argparse.Namespace(read=[], run=[], write=[], alone=True, strict=False)
    files, wrapped, calls = works(restrict_files, nothing), has_bubblewrap(nothing), works(restrict_calls, nothing)
    own = wrapped or works(enter_namespaces)
    version = landlock_version()
    used = ["limits of time, memory and file size", "an empty environment", "no new privileges"]
    used += [f"Landlock {version}"] if files else []
    used += ["namespaces of users, network, processes and IPC" + (", and of files (bubblewrap)" if wrapped else "")] if own else []
    used += ["seccomp"] if calls else []
    group = cgroup.made(MOST, MOST)
    if group:
        group.end()
        used += ["a control group"]
    open_ones = [] if files or wrapped else ["files of this account can be read and written, and the disk can be filled (no Landlock, no bubblewrap)"]
    if not own and not calls:
        open_ones.append("the network is reachable" + (", but not by TCP" if version >= 4 else ""))
    if not own and not (files and version >= 6):
        open_ones.append("processes of this account can be sent signals")
    if not calls:
        open_ones.append("unusual system calls, and new processes (no libseccomp)")
    if not group:
        open_ones.append("the total memory of several processes (no control group of version 2)")
    open_ones += ["vulnerabilities of the Linux kernel itself"]
    return f"sandbox: {', '.join(used)}", f"not covered: {'; '.join(open_ones)}"


def amount(text: str) -> int:
    found = re.fullmatch(r"(\d+)([KMGT]?)", text)
    if not found:
        raise argparse.ArgumentTypeError(f"'{text}' is not a number of bytes, optionally followed by K, M, G or T")
    return int(found[1]) << 10 * " KMGT".index(found[2] or " ")


def setting(text: str) -> tuple[str, str]:
    name, equals, value = text.partition("=")
    if not equals:
        raise argparse.ArgumentTypeError(f"'{text}' is not of the form NAME=VALUE")
    return name, value


def positive(text: str) -> int:
    if not text.isdigit() or int(text) == 0:
        raise argparse.ArgumentTypeError(f"'{text}' is not a positive integer")
    return int(text)


def parsed(arguments: list[str]) -> argparse.Namespace:
    parser = Parser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.status = SANDBOX_FAILED
    parser.add_argument("--read", action="append", default=[], type=os.path.abspath, metavar="PATH", help="may be read")
    parser.add_argument("--run", action="append", default=[], type=os.path.abspath, metavar="PATH", help="may be read and run")
    parser.add_argument("--system", action="store_true", help="the system's files may be read and run")
    parser.add_argument("--write", action="append", default=[], type=os.path.abspath, metavar="DIR", help="may be read and written; the first is the working directory")
    parser.add_argument("--seconds", type=positive, default=60, help="time limit; for each process, of processor time per thread")
    parser.add_argument("--wall-seconds", type=positive, help="time limit of the command, if it may take longer because it waits, or because the machine is busy; default: that of --seconds")
    parser.add_argument("--memory", type=amount, default=amount("2G"), help="memory limit of each process")
    parser.add_argument("--file-bytes", type=amount, default=amount("256M"), help="the largest file that it can write")
    parser.add_argument("--space", type=amount, default=amount("1G"), help="size limit of all files in the writable folders")
    parser.add_argument("--threads", type=positive, default=64, help="the most processes and threads, and the most CPU seconds per second")
    parser.add_argument("--reserves", action="store_true", help="the command reserves more address space than it uses: limit its writable memory only")
    parser.add_argument("--alone", action="store_true", help="the command may start no further process")
    parser.add_argument("--strict", action="store_true", help="with --alone: nor a thread, nor any memory outside --memory")
    parser.add_argument("--set", action="append", default=[], type=setting, metavar="NAME=VALUE", help="a variable of its environment")
    parser.add_argument("--inside", action="store_true", help=argparse.SUPPRESS)  # bubblewrap has begun
    parser.add_argument("--measures", action="store_true", help="print which mechanisms are in force on this machine, and what they do not cover")
    parser.add_argument("command", nargs="*", metavar="COMMAND")
    options = parser.parse_args(arguments)
    if not options.command and not options.measures:
        parser.error("no command; usage: sandbox.py --write DIR -- COMMAND...")
    if options.system:
        options.run += SYSTEM_FOLDERS
    return options


def main() -> None:
    options = parsed(sys.argv[1:])
    if options.measures:
        print("\n".join(measures()))
        return
    if platform.system() != "Linux":
        sys.exit("sandbox.py: this program requires Linux")
    options.apart = options.inside
    os._exit(or_failed(lambda: become(options)) if options.inside else watched(options))


if __name__ == "__main__":
    main()
