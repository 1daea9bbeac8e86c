"""Attacks on the judge: none is accepted, none escapes the sandbox, and none prevents the verdicts of other programs. attacks.csv is the list; docs/judge.md shows it."""

import csv
import errno
import os
import re
import socket
import types

import pytest

from drywarp.judge import compiling
from drywarp.judge import judging
from drywarp.judge import means
from drywarp.judge import session
from drywarp.judge import shapes
from drywarp.judge import verdicts
from drywarp.judge import words

from tests.tools import test_class as graded
from tests.tools import test_wrong_programs as wrong
from tests.tools.conftest import passable
from tests.support import LINK, ROOT, SIM, nvcc, unsanitized

OPTIONS = " ".join(["-lineinfo", *(word for word in LINK if not word.endswith(".a") and word not in ("-lpthread", "-lm", "-lineinfo"))])
NOTHING = types.SimpleNamespace(read=[], run=[], write=[], alone=True, strict=True)
MEANS = (lambda: means.restrict_files(NOTHING), means.enter_namespaces, lambda: means.restrict_calls(NOTHING))
pytestmark = [unsanitized, pytest.mark.skipif(not all(map(means.works, MEANS)), reason="this machine lacks a means of the sandbox"), pytest.mark.builds("build/sim/check_program.o", "build/sim/libcuda.so.1")]

with open(ROOT / "tests/tools/attacks.csv", newline="") as file:
    ROWS = {row["name"]: row for row in csv.DictReader(file)}
PROGRAM = (ROOT / "tests/tools/attacks.cu").read_text()
IN_PROGRAM = [name for name in ROWS if f"case {name}:" in PROGRAM or f"n == {name} " in PROGRAM]
FIRST = 30  # elements of the first attack; the last has fewer than 100
TAKES_TIME = {"host_forever", "sleeps", "kernel_forever"}
bubblewrap = pytest.mark.skipif(not means.has_bubblewrap(NOTHING), reason="without bubblewrap all tests are of what is in its place")


def options(**changed):
    """What check.py is called with."""
    return types.SimpleNamespace(**{"nvcc": nvcc(), "options": OPTIONS, "object": SIM / "check_program.o", "library": SIM / "libcuda.so.1", "threads": 1,
                                    "seconds": 60, "shape": shapes.REDUCE, **changed})


# ---- Attacks that one program tries

class Hostile:
    """The program, and a session that goes on with the next attack where one leaves it whole."""

    def __init__(self, folder, port):
        (folder / "secret").write_text("the marks")
        numbers = "".join(f"{name} = {FIRST + k}, " for k, name in enumerate(IN_PROGRAM))
        above = f"enum {{ {numbers} PORT = {port}, JUDGE = {os.getpid()} }};\n"
        (folder / "reduce.cu").write_text(above + PROGRAM.replace("FOLDER", str(folder)))
        work = folder / f"{words.PREFIX}/program"
        work.mkdir(parents=True)
        answer = verdicts.Answer("reduce.cu")
        self.program, self.session, self.path = compiling.build(folder / "reduce.cu", work, options(), answer), None, ""
        assert self.program, answer.said

    def tries(self, name):
        """What the judge says, and the verdict."""
        answer, n = verdicts.Answer(name, built=True), FIRST + IN_PROGRAM.index(name)
        seconds = 1 if name in TAKES_TIME else 60
        if seconds == 1 or self.path != os.environ["PATH"]:
            self.end()
        self.path = os.environ["PATH"]
        self.session = self.session or session.Session(self.program, options(seconds=seconds), seconds)
        said = answer.sizes[n] = judging.one_size(self.session, n, answer)
        if self.session.ended:
            self.end(answer)
        return answer, said

    def end(self, answer=None):
        if self.session:
            judging.finish(self.session, answer or verdicts.Answer(""))
        self.session = None


@pytest.fixture(scope="module")
def hostile():
    with socket.create_server(("127.0.0.1", 0)) as server, passable() as folder:
        program = Hostile(folder, server.getsockname()[1])
        yield program
        program.end()


def accepted(name, answer, said):
    """Why the attack is not met as its row says; "" where it is."""
    row = ROWS[name]
    met = verdicts.VERDICTS[answer.status] == row["verdict"] and re.search(row["says"], said)
    return "" if met else f"{verdicts.VERDICTS[answer.status]}: {said}"


@pytest.mark.parametrize("name", IN_PROGRAM)
def test_a_program_is_not_believed(hostile, name):
    """Broken: a program passes that did not make the sum by its kernels, reaches what is not its own, or takes all of something."""
    assert not accepted(name, *hostile.tries(name))


@bubblewrap
@pytest.mark.parametrize("name", [name for name in IN_PROGRAM if ROWS[name]["class"] in ("sandbox escape", "resource exhaustion") and name not in TAKES_TIME])
def test_a_program_is_not_believed_without_bubblewrap(hostile, name, monkeypatch):
    """Broken: on a machine without bubblewrap a program reaches what is not its own, or takes all of something."""
    monkeypatch.setenv("PATH", "")  # there the sandbox looks for it
    assert not accepted(name, *hostile.tries(name))


def test_a_limit_is_no_error():
    """Broken: a correct slow kernel is reported as wrong, or a wrong kernel as slow."""
    answer = verdicts.Answer("reduce.cu", built=True, over="stopped after 4 seconds", sizes={1: "stopped after 4 seconds"})
    said = list(words.lines_about(answer, "reduce.cu"))
    assert verdicts.Answer("reduce.cu", built=True, over=answer.over, sizes={1: "1.0, expected 2.0", 2: answer.over, 3: words.NOT_TRIED}).status == verdicts.WRONG
    assert answer.status == verdicts.OVER and "n = 1 ................ stopped after 4 seconds" in said


def test_a_limit_in_another_order_is_no_error(monkeypatch):
    """Broken: a correct program that is too slow only with interleaved blocks is reported as wrong."""
    def too_slow(session, size, answer, in_other_order):
        answer.over = "stopped after 2 seconds"
        return answer.over

    monkeypatch.setattr(judging, "one_size", too_slow)
    for before in ("", "stopped after 4 seconds"):
        answer = verdicts.Answer("reduce.cu", built=True, over=before, sizes={1: "", 2: before})
        answer.sizes[1] = judging.in_other_order(None, 1, "in another order", answer)
        assert answer.status == verdicts.OVER, answer.sizes


def test_a_finding_keeps_its_line(hostile):
    """Broken: a file that #line names is read though it is a device, which never ends, and the finding is lost."""
    hostile.end()
    answer, _ = hostile.tries("hidden_line")
    hostile.end(answer)
    assert any("/dev/zero:5: " in line for lines in answer.findings.values() for line in lines), answer.findings


# ---- Attacks on the compiler, and on the judge; the compiler is a script in its place

FINDS_ITS_LINES = """name=$(grep -m 1 '^#line 1 "[^"]*"$' whole/program.cu); name=${name#*\\"}; test -f "${name%\\"}" && echo found its lines"""
PREPROCESSES = "gcc -x c++ -E -o preprocessed whole/program.cu 2>&1 | grep -v cuda"
SHAPE = "static long long partial_count(long long n) { return 1; }\nstatic void launch(const float *in, float *out, long long n) {}\n"
COMPILED = {  # the text, and what stands for the compiler
    "include_secret": ('#include "FOLDER/secret"\n' + SHAPE, PREPROCESSES),
    "incbin": (SHAPE, """echo '.incbin "FOLDER/secret"' | as -o whole/program"""),
    "assembler_include": (SHAPE, """echo '.include "FOLDER/secret"' | as -o whole/program"""),
    "include_environ": ('#include "/proc/self/environ"\n' + SHAPE, PREPROCESSES), "embed": ('static const char marks[] = {\n#embed "FOLDER/secret"\n};\n' + SHAPE, PREPROCESSES),
    "compiler_prints": (SHAPE, "yes"),
    "compiler_fills": (SHAPE, "k=0; while [ $k -lt 150 ]; do k=$((k + 1)); head -c 4000000 /dev/zero > $TMPDIR/$k; done"),
    "includes_itself": (2 * '#include "program.cu"\n' + SHAPE, PREPROCESSES),
    "template_bomb": ("template <int N, int K> struct Bomb { enum { all = Bomb<N - 1, 2 * K>::all + Bomb<N - 1, 2 * K + 1>::all }; };\ntemplate struct Bomb<40, 0>;\n" + SHAPE,
                      "grep ^template whole/program.cu | g++ -x c++ -fsyntax-only -"),
    "macro_bomb": ("#define M0 1,1\n" + "".join(f"#define M{k} M{k - 1},M{k - 1}\n" for k in range(1, 40)) + "int all[] = {M39};\n" + SHAPE, PREPROCESSES),
    "include_device": ('#include "/dev/zero"\n' + SHAPE, PREPROCESSES),
    "huge_object": (SHAPE, """echo '.data; .skip 10000000000, 1' | as -o whole/program"""),
    "disk_full": (SHAPE, "echo fatal error: No space left on device"), "says_disk_full": (SHAPE, "echo fatal error: No space left on device"),
    "comments": ("/* " * 10900, ""), "own_main": ("int main() {}", ""), "binary": ("\0\1\2\xff" * 99, ""), "large": (SHAPE + " " * (2 << 20), "")}
NAMES = {"not_utf8": "\udcff.cu", "newline": "a\nb.cu", "whole": "whole", "quotes": "a\"'.cu", "long_name": "x" * 252 + ".cu",
         "command_name": "$(id).cu", "option_name": "-o.cu", "list_name": "@x.cu", "format_name": "%s%n.cu", "reversed_name": "\u202euc.cu", "markup_name": "<b>&.cu"}
# Attacks that other tests try.
ELSEWHERE = {"block_order": wrong.test_other_orders_and_changed_inputs, "scan_order": wrong.test_other_orders_of_a_scan, "time_up": wrong.test_what_was_not_run_is_no_pass,
             "published_sizes": wrong.test_a_step_gets_unknown_sizes, "thousand_sums": wrong.test_a_step_gets_unknown_sizes, "atomic_loads": wrong.test_goals, "other_spaces": wrong.test_goals,
             "one_offset": wrong.test_an_array_begins_anywhere, "endless_passes": wrong.test_a_reduction_ends,
             "known_size": wrong.test_goals, "reserved_memory": wrong.test_goals, "library_line": wrong.test_forbidden_names,
             "forbidden_library": wrong.test_headers_of_a_forbidden_library, "joined_name": wrong.test_a_forbidden_name_in_parts,
             "some_sizes": wrong.test_a_limit_of_none_holds_at_all_sizes, "pipe": wrong.test_a_file_is_opened_once, "link": wrong.test_a_file_is_opened_once,
             "own_rules": wrong.test_the_courses_rules_win, "knows_order": wrong.test_a_program_does_not_know_the_order, **dict.fromkeys(("keeps_results", "unordered_streams", "overlapping_kernels"), wrong.test_shortcuts_of_a_sum),
             **dict.fromkeys(("initial_value", "lower_precision", "keeps_zeros", "rounds", "by_difference", "other_limit", "long_segments"), wrong.test_shortcuts_of_the_data), "own_grid": wrong.test_an_own_grid_is_refused, "exercise_precision": wrong.test_precision_in_an_exercise,
             "medium_sizes": wrong.test_a_step_gets_unknown_sizes, **dict.fromkeys(("bulk_copies", "host_copies", "kernel_copies"), wrong.test_goals_count_copies),
             "another_name": wrong.test_a_file_cannot_name_another_student, "many_members": wrong.test_an_archive_of_many_programs, "atomic_stores": wrong.test_goals_of_an_exercise_count_atomics,
             "damaged_archive": graded.test_damaged_archives_and_deep_folders, "namesake": graded.test_namesakes,
             "long_line": wrong.test_forbidden_names, "own_cluster": wrong.test_goals_of_an_exercise_count_what_replaces_them, "one_thread": wrong.test_goals_of_an_exercise_count_the_loads_of_one_thread,
             "hardware_numbers": wrong.test_hardware_numbers_are_no_indices, "some_data": wrong.test_goals_hold_for_any_data, "zero_sum": wrong.test_sums_of_a_step_may_be_0,
             "usual_numbers": wrong.test_shortcuts_of_an_exercises_data, "small_lab": wrong.test_labs_have_large_sizes,
             "lockstep": wrong.test_lanes_do_not_run_together, "uncounted": wrong.test_a_goal_that_was_not_counted_is_missed, "lost_findings": wrong.test_lost_findings_are_no_pass,
             "forged_location": wrong.test_a_forged_library_is_not_judged,
             "forged_in_exercise": wrong.test_a_forged_library_does_not_solve_an_exercise, "archive": graded.test_platforms_names, "no_protection": wrong.test_no_verdict_without_protection}


def judged(folder, text, script, name="reduce.cu"):
    """What the judge says of a file, with a script for a compiler."""
    (folder / "toolkit/bin").mkdir(parents=True)
    (folder / "in").mkdir()
    (folder / "secret").write_text("the marks")
    compiler, path = folder / "toolkit/bin/nvcc", folder / "in" / name
    compiler.write_text(f"#!/bin/sh\n{script}\nexit 1\n".replace("FOLDER", str(folder)))
    compiler.chmod(0o755)
    path.write_text(text.replace("FOLDER", str(folder)))
    answer = judging.checked(path, options(nvcc=str(compiler)))
    return answer, "\n".join(words.lines_about(answer, str(path)))


@pytest.mark.parametrize("name", COMPILED)
def test_a_text_is_not_accepted(name, tmp_path, monkeypatch):
    """Broken: a text reaches files through the compiler, keeps it or the judge busy for ever, or fills the disk or the memory."""
    if name == "disk_full":
        monkeypatch.setattr(os, "posix_fallocate", lambda *_: (_ for _ in ()).throw(OSError(errno.ENOSPC, "full")))
    if name != "includes_itself":  # it takes memory, too, and on a fast machine more than this before its time is over
        monkeypatch.setattr(compiling, "COMPILE_MEMORY", "256M")
    monkeypatch.setattr(compiling, "COMPILE_SECONDS", 1 if name in ("compiler_prints", "includes_itself") else 60)
    answer, said = judged(tmp_path, *COMPILED[name])
    assert not accepted(name, answer, said) and "marks" not in said and len(said) < 10000


@bubblewrap
@pytest.mark.parametrize("name", ["include_secret", "incbin", "compiler_fills"])
def test_a_text_is_not_accepted_without_bubblewrap(name, tmp_path, monkeypatch):
    """Broken: on a machine without bubblewrap a text reaches files through the compiler, or fills the disk."""
    monkeypatch.setenv("PATH", "")  # there the sandbox looks for it
    answer, said = judged(tmp_path, *COMPILED[name])
    assert not accepted(name, answer, said) and "marks" not in said


@pytest.mark.parametrize("name", NAMES)
def test_any_name_gets_a_verdict(name, tmp_path):
    """Broken: a file's name ends the judge, or its findings lose their lines for it."""
    assert not accepted(name, *judged(tmp_path, SHAPE, FINDS_ITS_LINES, NAMES[name]))


def test_a_fault_of_the_judge_is_no_verdict(tmp_path, monkeypatch):
    """Broken: what goes wrong in the judge ends it, or counts against the file."""
    monkeypatch.setattr(compiling, "build", lambda *_: {}["absent"])
    assert not accepted("judge_fails", *judged(tmp_path, SHAPE, ""))


def test_every_attack_of_the_list_is_tried():
    """Broken: the table says of an attack that it is met, and no test tries it."""
    assert set(ROWS) == {*IN_PROGRAM, *COMPILED, *NAMES, *ELSEWHERE, "judge_fails"} and len(IN_PROGRAM) + FIRST < 100
    assert all(row["verdict"] != "passed" for row in ROWS.values())
