"""Linux's means to restrict an untrusted program without root: Landlock, namespaces (through bubblewrap, if installed), seccomp, limits.

Each is a function that restricts this process, or becomes the restricted command, and raises Absent if this machine lacks it."""

from __future__ import annotations

import argparse
import ctypes
import errno
import os
import resource
import struct
import sys
from pathlib import Path
from typing import Callable, NoReturn, Sequence

LIBC = ctypes.CDLL(None, use_errno=True)
NO_NEW_PRIVILEGES, DEATH_SIGNAL, DUMPABLE = 38, 1, 4  # of prctl
SYSTEM_FOLDERS = ["/usr", "/lib", "/lib64", "/bin"]
LIBRARIES = ["/usr/lib", "/usr/lib64", "/lib", "/lib64"]
DEVICES = ["/dev/null", "/dev/urandom", "/dev/zero"]
ALWAYS_READ = ["/etc/ld.so.cache", *DEVICES]
LINKS = "/etc/alternatives"  # some system commands are links into it


class Absent(Exception):
    """This machine lacks a means."""


def tried(means: Callable, *arguments: object) -> bool:
    try:
        means(*arguments)
        return True
    except (Absent, OSError):
        return False


def succeeds(means: Callable, *arguments: object) -> bool:
    """Whether a function succeeds in a process of its own."""
    child = os.fork()
    if child == 0:
        try:
            os._exit(0 if tried(means, *arguments) else 1)
        finally:
            os._exit(1)  # any other exception would go on in a second copy of the caller
    return os.waitpid(child, 0)[1] == 0


def works(means: Callable, *arguments: object) -> bool:
    """Whether a function works without root's rights, and with no_new_privs set."""
    def unprivileged() -> None:
        drop_root()
        LIBC.prctl(NO_NEW_PRIVILEGES, 1, 0, 0, 0)
        means(*arguments)

    return succeeds(unprivileged)


# ---- The user

UNPRIVILEGED = 65534  # the overflow user and group


def drop_root() -> None:
    """Turns a process of root into one of the unprivileged user, for good; has no effect for another user. Raises OSError where root cannot."""
    if os.getuid():
        return
    os.setgroups([])
    os.setresgid(UNPRIVILEGED, UNPRIVILEGED, UNPRIVILEGED)
    os.setresuid(UNPRIVILEGED, UNPRIVILEGED, UNPRIVILEGED)
    LIBC.prctl(DUMPABLE, 1, 0, 0, 0)  # else its files in /proc, such as uid_map, remain root's


def is_hidden(path: str | Path) -> bool:
    """Whether only its owner, such as root, can read a file or enter a folder."""
    path = Path(path).resolve()
    folders = [path, *path.parents] if path.is_dir() else path.parents
    return not all(folder.stat().st_mode & 0o001 for folder in folders) or path.is_file() and not path.stat().st_mode & 0o004


def device_python() -> tuple[str, str]:
    """The Python of the device and its prefix: this one or, if only root can read it, the system's."""
    own = os.path.realpath(sys.executable)
    return (own, sys.base_prefix) if os.getuid() or not is_hidden(own) else (os.path.realpath("/usr/bin/python3"), "/usr")


# ---- Landlock: which files. Since Linux 5.13; the numbers are of <linux/landlock.h>, and the system calls are the same on all machines.

CREATE_RULESET, ADD_RULE, RESTRICT_SELF = 444, 445, 446
EXECUTE, WRITE_FILE, READ_FILE, READ_DIR = 1, 2, 4, 8
CHANGE_FOLDER = 0x1ff0  # remove and make files and folders of all kinds
REFER, TRUNCATE, IOCTL = 1 << 13, 1 << 14, 1 << 15
OF_A_FILE = EXECUTE | WRITE_FILE | READ_FILE | TRUNCATE | IOCTL
BIND_AND_CONNECT_TCP, SIGNALS_AND_SOCKETS = 3, 3
NEWER_RIGHTS = [(2, REFER), (3, TRUNCATE), (5, IOCTL)]  # each since a version of Landlock


def landlock_version() -> int:
    return max(LIBC.syscall(CREATE_RULESET, None, ctypes.c_size_t(0), 1), 0)


def restrict_files(options: argparse.Namespace) -> None:
    """Landlock: only the named paths can be read, run or written."""
    version = landlock_version()
    if not version:
        raise Absent
    handled = EXECUTE | WRITE_FILE | READ_FILE | READ_DIR | CHANGE_FOLDER
    for since, right in NEWER_RIGHTS:
        handled |= right if version >= since else 0
    attributes = struct.pack("<QQQ", handled, BIND_AND_CONNECT_TCP, SIGNALS_AND_SOCKETS)
    attributes = attributes[:24 if version >= 6 else 16 if version >= 4 else 8]
    rules = LIBC.syscall(CREATE_RULESET, attributes, ctypes.c_size_t(len(attributes)), 0)
    look = READ_FILE | READ_DIR
    wanted = [(path, look) for path in [*options.read, *ALWAYS_READ]]
    wanted += [(path, look | EXECUTE) for path in options.run]
    wanted += [(path, handled & ~EXECUTE & ~IOCTL) for path in options.write] + [("/dev/null", READ_FILE | WRITE_FILE)]
    for path, rights in wanted:
        allow_beneath(rules, path, rights)
    if rules < 0 or LIBC.syscall(RESTRICT_SELF, rules, 0):
        raise Absent
    os.close(rules)


def allow_beneath(rules: int, path: str, rights: int) -> None:
    try:
        place = os.open(path, os.O_PATH | os.O_CLOEXEC)
    except OSError:
        return  # a missing path needs no rule
    if not os.path.isdir(path):
        rights &= OF_A_FILE
    LIBC.syscall(ADD_RULE, rules, 1, struct.pack("<Qi", rights, place), 0)
    os.close(place)


# ---- Namespaces: of <sched.h>

OWN_USERS, OWN_NETWORK, OWN_PROCESSES, OWN_IPC, OWN_NAME = 0x10000000, 0x40000000, 0x20000000, 0x08000000, 0x04000000
MAX_OWN_PROCESSES = 5  # of the sandbox itself, in the namespace


def enter_namespaces() -> None:
    """Enters new namespaces of users, network and processes: without other processes or network interfaces."""
    user, group = os.getuid(), os.getgid()
    if LIBC.unshare(OWN_USERS | OWN_NETWORK | OWN_PROCESSES | OWN_IPC | OWN_NAME):
        raise Absent
    # As a user without privileges inside, either.
    for name, line in (("setgroups", "deny"), ("uid_map", f"{UNPRIVILEGED} {user} 1"), ("gid_map", f"{UNPRIVILEGED} {group} 1")):
        with open(f"/proc/self/{name}", "w") as file:
            file.write(line)


def bubblewrap() -> str:
    """The command's path; "" if it is not installed. Relative folders of PATH are ignored: any user may control them."""
    places = (os.path.join(folder, "bwrap") for folder in os.environ.get("PATH", "").split(":") if os.path.isabs(folder))
    return next((place for place in places if os.path.isfile(place) and os.access(place, os.X_OK)), "")


def in_bubblewrap(options: argparse.Namespace, *words: str) -> list[str]:
    """The command that runs Python with these arguments in bubblewrap: only its own and the named files are visible, and only some writable."""
    python, own = os.path.realpath(sys.executable), os.path.dirname(os.path.abspath(__file__))
    seen = {*options.read, *options.run, *ALWAYS_READ, LINKS, *LIBRARIES, python, f"{sys.base_prefix}/lib", own}
    tops = [path for path in sorted(seen) if not any(path.startswith(f"{other}/") for other in seen)]
    command = [bubblewrap(), "--unshare-all", "--die-with-parent", "--uid", str(UNPRIVILEGED), "--gid", str(UNPRIVILEGED), "--cap-drop", "ALL"]
    command += [word for path in tops if path not in DEVICES for word in ("--ro-bind-try", path, path)]
    command += [word for path in DEVICES for word in ("--dev-bind-try", path, path)]
    command += [word for path in options.write for word in ("--bind", path, path)]
    return [*command, "--remount-ro", "/", "--chdir", "/", "--", python, "-I", "-S", *words]


def become_bubblewrap(options: argparse.Namespace, *words: str) -> NoReturn:
    """Turns this process into Python in bubblewrap."""
    command = in_bubblewrap(options, *words)
    if not command[0]:
        raise Absent
    os.execve(command[0], command, {})


def has_bubblewrap(options: argparse.Namespace) -> bool:
    """Whether bubblewrap works here with these files."""
    def quietly() -> None:
        drop_root()
        os.dup2(os.open(os.devnull, os.O_WRONLY), 2)
        become_bubblewrap(options, "-c", "")

    return succeeds(quietly)


# ---- seccomp: which system calls, by libseccomp

ALLOW, REFUSE = 0x7fff0000, 0x00050000 | errno.EPERM
NOT_THERE = 0x00050000 | errno.ENOSYS
REFUSED_CALLS = """socket socketpair connect bind listen accept accept4 ptrace process_vm_readv process_vm_writev process_madvise pidfd_open
    pidfd_getfd kcmp bpf perf_event_open userfaultfd io_uring_setup keyctl add_key request_key mount umount2 move_mount open_tree fsopen
    pivot_root chroot unshare setns kexec_load init_module finit_module delete_module swapon swapoff reboot quotactl acct
    name_to_handle_at open_by_handle_at personality sethostname setdomainname shmget semget msgget mq_open""".split()
NEW_PROCESSES = ["fork", "vfork"]
UNCOUNTED_MEMORY = ["memfd_create", "memfd_secret"]  # files without a folder, as large as --file-bytes each
NEW_THREAD = 0x00010000  # CLONE_THREAD
MASKED_EQUAL = 7


class Comparison(ctypes.Structure):
    _fields_ = [("argument", ctypes.c_uint), ("how", ctypes.c_int), ("a", ctypes.c_uint64), ("b", ctypes.c_uint64)]


def restrict_calls(options: argparse.Namespace) -> None:
    """seccomp: no sockets, no look into other processes, no memory that outlives its process, nothing that only an administrator needs; with
    --alone no process, either; with --strict not even a thread, and no memory that no limit counts."""
    try:
        library = ctypes.CDLL("libseccomp.so.2")
    except OSError:
        raise Absent from None
    library.seccomp_init.restype = ctypes.c_void_p
    rules = ctypes.c_void_p(library.seccomp_init(ALLOW))

    def refuse(name: str, action: int = REFUSE, comparisons: Sequence[Comparison] = ()) -> None:
        number = library.seccomp_syscall_resolve_name(name.encode())
        if number >= 0:  # this machine has it
            array = (Comparison * max(len(comparisons), 1))(*comparisons)
            library.seccomp_rule_add_array(rules, ctypes.c_uint32(action), number, len(comparisons), array)

    for name in REFUSED_CALLS + (NEW_PROCESSES if options.alone else []) + (UNCOUNTED_MEMORY if options.strict else []):
        refuse(name)
    if options.strict:
        refuse("clone")
    elif options.alone:
        refuse("clone", comparisons=[Comparison(0, MASKED_EQUAL, NEW_THREAD, 0)])
    if options.alone:
        refuse("clone3", NOT_THERE)  # its flags lie in memory, where seccomp cannot look; the C library then calls clone
    if library.seccomp_load(rules):
        raise Absent


# ---- Limits of each process

def limit(options: argparse.Namespace) -> None:
    """Limits of each process. Those of memory are for addresses, or, for a program that reserves many, for what it can write.

    Its threads' seconds add up. Processes count only where a namespace keeps the account's other ones out of it."""
    bounds = {resource.RLIMIT_CPU: (options.seconds + 1) * options.threads, resource.RLIMIT_FSIZE: options.file_bytes, resource.RLIMIT_CORE: 0,
              resource.RLIMIT_NOFILE: 256, resource.RLIMIT_DATA: options.memory, resource.RLIMIT_STACK: 64 << 20}
    if not options.reserves:
        bounds[resource.RLIMIT_AS] = options.memory
    if options.apart:
        bounds[resource.RLIMIT_NPROC] = options.threads + MAX_OWN_PROCESSES
    for which, bound in bounds.items():
        most = resource.getrlimit(which)[1]
        hard = bound + (which == resource.RLIMIT_CPU)  # a second later, SIGKILL would end it, which does not say why
        hard = hard if most == resource.RLIM_INFINITY else min(hard, most)
        resource.setrlimit(which, (min(bound, hard), hard))
