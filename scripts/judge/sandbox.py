#!/usr/bin/env python3
"""Runs a command that nobody trusts, with what Linux offers without root: sandbox.py --write DIR --seconds 60 --memory 2G -- COMMAND...

It may read and run only what it is given, write only into DIR, and reach no network; its time, memory and files are limited, its
environment is empty, and when it ends, or its time does, all of its processes end. Each means is tried, and what this machine lacks is
left out: --measures says which are in force. Exit status: the command's; 128 and the signal's number; 123 where its files took too much
space; 124 where its time was over; 125 where the sandbox itself failed."""

import argparse
import ctypes
import errno
import os
import platform
import re
import resource
import shutil
import signal
import struct
import sys
import time

SPACE_OVER, TIME_OVER, SANDBOX_FAILED = 123, 124, 125
LOOKS = 0.1  # seconds between two looks at the space that files take
LIBC = ctypes.CDLL(None, use_errno=True)

# ---- Landlock: which files. Since Linux 5.13; the numbers are of <linux/landlock.h>, and the system calls are the same on all machines.

CREATE_RULESET, ADD_RULE, RESTRICT_SELF = 444, 445, 446
EXECUTE, WRITE_FILE, READ_FILE, READ_DIR = 1, 2, 4, 8
CHANGE_FOLDER = 0x1ff0  # remove and make files and folders of all kinds
REFER, TRUNCATE, IOCTL = 1 << 13, 1 << 14, 1 << 15
OF_A_FILE = EXECUTE | WRITE_FILE | READ_FILE | TRUNCATE | IOCTL
BIND_AND_CONNECT_TCP, SIGNALS_AND_SOCKETS = 3, 3
NEWER_RIGHTS = [(2, REFER), (3, TRUNCATE), (5, IOCTL)]  # each since a version of Landlock
NO_NEW_PRIVILEGES, DEATH_SIGNAL = 38, 1  # of prctl

# ---- Namespaces: of <sched.h>

OWN_USERS, OWN_NETWORK, OWN_PROCESSES, OWN_IPC, OWN_NAME = 0x10000000, 0x40000000, 0x20000000, 0x08000000, 0x04000000
NOBODY = 65534
OWN_PROCESSES_MOST = 4  # of the sandbox itself, in the namespace

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

SYSTEM_FOLDERS = ["/usr", "/lib", "/lib64", "/bin"]
LIBRARIES = ["/usr/lib", "/usr/lib64", "/lib", "/lib64"]
DEVICES = ["/dev/null", "/dev/urandom", "/dev/zero"]
ALWAYS_READ = ["/etc/ld.so.cache", *DEVICES]
LINKS = "/etc/alternatives"  # on the way to some of the system's commands
NEEDED = {"PATH": "/usr/local/bin:/usr/bin:/bin", "LANG": "C.UTF-8"}


class Absent(Exception):
    """This machine lacks a means."""


def landlock_version():
    return max(LIBC.syscall(CREATE_RULESET, None, ctypes.c_size_t(0), 1), 0)


def restrict_files(options):
    """Landlock: nothing but what is named can be read, run or written."""
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


def allow_beneath(rules, path, rights):
    try:
        place = os.open(path, os.O_PATH | os.O_CLOEXEC)
    except OSError:
        return  # what is not there needs no rule
    if not os.path.isdir(path):
        rights &= OF_A_FILE
    LIBC.syscall(ADD_RULE, rules, 1, struct.pack("<Qi", rights, place), 0)
    os.close(place)


def enter_namespaces():
    """Users, network, processes of its own: nobody else's processes are there, and no network card."""
    user, group = os.getuid(), os.getgid()
    if LIBC.unshare(OWN_USERS | OWN_NETWORK | OWN_PROCESSES | OWN_IPC | OWN_NAME):
        raise Absent
    # As nobody, who has no privileges in there, either.
    for name, line in (("setgroups", "deny"), ("uid_map", f"{NOBODY} {user} 1"), ("gid_map", f"{NOBODY} {group} 1")):
        with open(f"/proc/self/{name}", "w") as file:
            file.write(line)


def in_bubblewrap(options, *command):
    """A command as bubblewrap runs it, or this program again, which then sees no file but those that are named, and writes only where it may."""
    python = os.path.realpath(sys.executable)
    seen = {*options.read, *options.run, *ALWAYS_READ, LINKS, *LIBRARIES, python, f"{sys.base_prefix}/lib", os.path.abspath(__file__)}
    tops = [path for path in sorted(seen) if not any(path.startswith(f"{other}/") for other in seen)]
    words = [shutil.which("bwrap") or "", "--unshare-all", "--die-with-parent", "--uid", str(NOBODY), "--gid", str(NOBODY), "--cap-drop", "ALL"]
    words += [word for path in tops if path not in DEVICES for word in ("--ro-bind-try", path, path)]
    words += [word for path in DEVICES for word in ("--dev-bind-try", path, path)]
    words += [word for path in options.write for word in ("--bind", path, path)]
    return [*words, "--remount-ro", "/", "--chdir", "/", "--", *(command or [python, "-I", "-S", os.path.abspath(__file__), "--inside", *sys.argv[1:]])]


def become_bubblewrap(options, *command):
    words = in_bubblewrap(options, *command)
    if not words[0]:
        raise Absent
    os.execve(words[0], words, {})


def has_bubblewrap(options):
    """Whether it can show these files to a command."""
    def quietly():
        os.dup2(os.open(os.devnull, os.O_WRONLY), 2)
        become_bubblewrap(options, os.path.realpath(sys.executable), "-I", "-S", "-c", "")

    return succeeds(quietly)


class Comparison(ctypes.Structure):
    _fields_ = [("argument", ctypes.c_uint), ("how", ctypes.c_int), ("a", ctypes.c_uint64), ("b", ctypes.c_uint64)]


def restrict_calls(options):
    """seccomp: no sockets, no look into other processes, no memory that outlives its process, nothing that only an administrator needs; with
    --alone no process, either; with --strict not even a thread, and no memory that no limit counts."""
    try:
        library = ctypes.CDLL("libseccomp.so.2")
    except OSError:
        raise Absent from None
    library.seccomp_init.restype = ctypes.c_void_p
    rules = ctypes.c_void_p(library.seccomp_init(ALLOW))

    def refuse(name, action=REFUSE, comparisons=()):
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


def limit(options):
    """Limits of each process. Those of memory are for addresses, or, for a program that reserves many, for what it can write.

    Its threads' seconds add up. Processes count only where a namespace keeps the account's other ones out of it."""
    bounds = {resource.RLIMIT_CPU: (options.seconds + 1) * options.threads, resource.RLIMIT_FSIZE: options.file_bytes, resource.RLIMIT_CORE: 0,
              resource.RLIMIT_NOFILE: 256, resource.RLIMIT_DATA: options.memory, resource.RLIMIT_STACK: 64 << 20}
    if not options.reserves:
        bounds[resource.RLIMIT_AS] = options.memory
    if options.apart:
        bounds[resource.RLIMIT_NPROC] = options.threads + OWN_PROCESSES_MOST
    for which, bound in bounds.items():
        most = resource.getrlimit(which)[1]
        bound = bound if most == resource.RLIM_INFINITY else min(bound, most)
        resource.setrlimit(which, (bound, bound))


# ---- The processes: this one watches the clock; below it, the first of a namespace; below that the command.

def tried(means, *arguments):
    try:
        means(*arguments)
        return True
    except (Absent, OSError):
        return False


def become(options):
    """Turns this process into the command."""
    LIBC.prctl(DEATH_SIGNAL, signal.SIGKILL)
    LIBC.prctl(NO_NEW_PRIVILEGES, 1, 0, 0, 0)
    limit(options)
    os.chdir(options.write[0] if options.write else "/")
    environment = NEEDED | {"TMPDIR": options.write[0] if options.write else "/"} | dict(options.set)
    tried(restrict_files, options)
    tried(restrict_calls, options)
    os.execve(options.command[0], options.command, environment)


def status_of(word):
    return 128 + os.WTERMSIG(word) if os.WIFSIGNALED(word) else os.WEXITSTATUS(word)


def or_failed(run):
    """Runs what becomes another program; where it does not, says so in a line."""
    try:
        run()
    except BaseException as error:
        os.write(2, f"sandbox.py: {error}\n".encode())
    return SANDBOX_FAILED


def forked(run):
    """The number of a new process that does so."""
    child = os.fork()
    if child:
        return child
    os._exit(or_failed(run))


def first_process(options):
    """In a namespace of processes the first one: when it ends, all end."""
    LIBC.prctl(DEATH_SIGNAL, signal.SIGKILL)
    command = forked(lambda: become(options))
    while True:
        child, word = os.wait()
        if child == command:
            os._exit(status_of(word))


def taken(folders):
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


def watch(child, options):
    """Waits for the end of the child, of its time or of its space; returns its status, or which of them it was."""
    end = time.monotonic() + options.seconds
    look = 0
    while (now := time.monotonic()) < end:
        done, word = os.waitpid(child, os.WNOHANG)
        if done:
            return status_of(word)
        if now >= look and taken(options.write) > options.space:
            return SPACE_OVER
        look = now + LOOKS if now >= look else look
        time.sleep(0.005)
    return TIME_OVER


def watched(options):
    """Runs the command to its end, or to that of its time or space."""
    LIBC.prctl(DEATH_SIGNAL, signal.SIGKILL)
    os.setpgid(0, 0)
    if has_bubblewrap(options):
        child = forked(lambda: become_bubblewrap(options))
    else:
        options.apart = works(enter_namespaces)  # tried on another process first: half of it would be worse than nothing
        if options.apart:
            enter_namespaces()
        child = forked(lambda: first_process(options))
    status = watch(child, options)
    if status in (TIME_OVER, SPACE_OVER):
        os.kill(child, signal.SIGKILL)
    end_group()
    return status


def end_group():
    """Without namespaces: whatever the command left behind in this process's group."""
    for name in os.listdir("/proc"):
        try:
            if name.isdigit() and int(name) != os.getpid() and os.getpgid(int(name)) == os.getpgid(0):
                os.kill(int(name), signal.SIGKILL)
        except OSError:
            pass


# ---- What is in force

def succeeds(means, *arguments):
    """Whether it does in a process of its own."""
    child = os.fork()
    if child == 0:
        os._exit(0 if tried(means, *arguments) else 1)
    return os.waitpid(child, 0)[1] == 0


def works(means, *arguments):
    """Whether it does where no privileges can be had."""
    return succeeds(lambda: LIBC.prctl(NO_NEW_PRIVILEGES, 1, 0, 0, 0) or means(*arguments))


def measures():
    """A line that names the means in force, and one that says what they leave open."""
    nothing = argparse.Namespace(read=[], run=[], write=[], alone=True, strict=False)
    files, wrapped, calls = works(restrict_files, nothing), has_bubblewrap(nothing), works(restrict_calls, nothing)
    own = wrapped or works(enter_namespaces)
    version = landlock_version()
    used = ["limits of time, memory and file size", "an empty environment", "no new privileges"]
    used += [f"Landlock {version}"] if files else []
    used += ["namespaces of users, network, processes and IPC" + (", and of files (bubblewrap)" if wrapped else "")] if own else []
    used += ["seccomp"] if calls else []
    open_ones = [] if files or wrapped else ["files of this account can be read and written, and fill the disk (no Landlock, no bubblewrap)"]
    if not own and not calls:
        open_ones.append("the network can be reached" + (", but not by TCP" if version >= 4 else ""))
    if not own and not (files and version >= 6):
        open_ones.append("processes of this account can be sent signals")
    if not calls:
        open_ones.append("the kernel's rarer system calls, and new processes (no libseccomp)")
    open_ones += ["faults of the Linux kernel itself"]
    return f"sandbox: {', '.join(used)}", f"not covered: {'; '.join(open_ones)}"


def amount(text):
    found = re.fullmatch(r"(\d+)([KMGT]?)", text)
    if not found:
        raise argparse.ArgumentTypeError(f"'{text}' is no number of bytes; it may end in K, M, G or T")
    return int(found[1]) << 10 * " KMGT".index(found[2] or " ")


def setting(text):
    name, equals, value = text.partition("=")
    if not equals:
        raise argparse.ArgumentTypeError(f"'{text}' is not NAME=VALUE")
    return name, value


def positive(text):
    if not text.isdigit() or int(text) == 0:
        raise argparse.ArgumentTypeError(f"'{text}' is no whole number above 0")
    return int(text)


def parsed(arguments):
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--read", action="append", default=[], type=os.path.abspath, metavar="PATH", help="may be read")
    parser.add_argument("--run", action="append", default=[], type=os.path.abspath, metavar="PATH", help="may be read and run")
    parser.add_argument("--system", action="store_true", help="what the system brings may be read and run")
    parser.add_argument("--write", action="append", default=[], type=os.path.abspath, metavar="DIR", help="may be read and written; the command begins in the first")
    parser.add_argument("--seconds", type=positive, default=60)
    parser.add_argument("--memory", type=amount, default=amount("2G"), help="of each process")
    parser.add_argument("--file-bytes", type=amount, default=amount("256M"), help="the largest file that it can write")
    parser.add_argument("--space", type=amount, default=amount("1G"), help="of all files in the folders that it can write")
    parser.add_argument("--threads", type=positive, default=64, help="processes and threads, and seconds of computing for each second")
    parser.add_argument("--reserves", action="store_true", help="it reserves more addresses than it uses: only what it can write counts")
    parser.add_argument("--alone", action="store_true", help="it can start no further process")
    parser.add_argument("--strict", action="store_true", help="with --alone: no thread, either, and no memory outside of --memory")
    parser.add_argument("--set", action="append", default=[], type=setting, metavar="NAME=VALUE", help="in its environment")
    parser.add_argument("--inside", action="store_true", help=argparse.SUPPRESS)  # bubblewrap has begun
    parser.add_argument("--measures", action="store_true", help="say what is in force on this machine, and what is not covered")
    parser.add_argument("command", nargs="*", metavar="COMMAND")
    parser.error = lambda message: (print(f"sandbox.py: {message}", file=sys.stderr), sys.exit(SANDBOX_FAILED))
    options = parser.parse_args(arguments)
    if not options.command and not options.measures:
        parser.error("no command; use it as in: sandbox.py --write DIR -- COMMAND...")
    if options.system:
        options.run += SYSTEM_FOLDERS
    return options


def main():
    options = parsed(sys.argv[1:])
    if options.measures:
        print("\n".join(measures()))
        return
    if platform.system() != "Linux":
        sys.exit("sandbox.py: it needs Linux")
    options.apart = options.inside
    os._exit(or_failed(lambda: become(options)) if options.inside else watched(options))


if __name__ == "__main__":
    main()
