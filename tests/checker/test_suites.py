"""make suite and make courses, which run the simulator on third-party programs. The tests use stand-ins for the compiler and the programs."""

import csv
import subprocess
import sys

import pytest

import tables
from scripts.evidence import courses, suite, suite_cases

from tests.support import ROOT

RACE = """echo '{"findings": [{"kind": "race-global"}]}' > "$SIM_FINDINGS"; exit 88"""
# "Compiles" a program by copying it: a program of these tests is a script.
COMPILER = """#!/bin/bash
[[ " $* " == *" -G "* ]] && kind=debug
while [ $# -gt 0 ]; do case $1 in -o) program=$2 ;; *.cu) source=$2 source=$1 ;; esac; shift; done
grep -q refused "$source" && { echo 'error: refused'; exit 1; }
sed "s/DEBUG/$kind/" "$source" > "$program" && chmod +x "$program"
"""
PROGRAMS = {"clean": "exit 0", "clean_atomicBug": RACE, "clean_guardBug": f'[ "$SIM_TOGETHER" ] || exit 0; {RACE}', "missed_raceBug": "exit 0",
            "removed_syncBug": f"[ DEBUG = debug ] || exit 0; {RACE}", "flagged": f'[ "$SIM_BLOCK_ORDER" ] || exit 0; {RACE}',
            "only_small": f'[[ $1 == */small.egr ]] || exit 0; {RACE}', "clean_boundsBug": "refused"}


@pytest.fixture
def run_suite(tmp_path, monkeypatch, capsys):
    """Runs the command on the stand-in programs; returns its rows and its output."""
    compiler = tmp_path / "nvcc"
    compiler.write_text(COMPILER)
    compiler.chmod(0o755)
    folder = tmp_path / "graphs"
    folder.mkdir()
    lines = ["program,source,options,label,input,arguments"]
    for name, text in PROGRAMS.items():
        (folder / f"{name}.cu").write_text(f"#!/bin/bash\n{text}\n")
        label = "memory" if "bounds" in name else "race" if "Bug" in name else "clean"
        lines += [f"{name},{name}.cu,-DN=1,{label},{size},inputs/{size}.egr 256" for size in ("small", "large")]
    (folder / "cases.csv").write_text("\n".join(lines) + "\n")
    monkeypatch.setattr(suite, "TABLES", tmp_path / "tables")
    monkeypatch.setattr(suite, "ROOT", tmp_path)
    monkeypatch.setattr(sys, "argv", ["suite.py", "--nvcc", str(compiler), "--options=-O3 -lineinfo", "--libraries", "", str(folder)])
    suite.main()
    with open(tmp_path / "tables/graphs.csv", newline="") as file:
        return list(csv.DictReader(file)), capsys.readouterr().out


BARRACUDA = """from cudaTestProgram import *
tests = [
    CudaRaceTestProgram("racey/base.cu", macros={'THREADS':'33','RW':None}, testCases=[CudaTestCase([CudaError.GLB_WAR,CudaError.GLB_WAW])]),
    CudaTestProgram("temporal/read.cu", testCases=[CudaTestCase(CudaError.NO_ERR, "8"), CudaTestCase(CudaError.OOM, "9")]),
]
"""
OF_INDIGO = "indigo_sources/pull/pull"
SUITES = [
    ({f"{OF_INDIGO}.cu": "", f"{OF_INDIGO}_boundsBug.cu": "", f"{OF_INDIGO}_boundsBug_syncBug.cu": "", "input/a.egr": "", "input/b.egr": ""},
     [("pull", f"{OF_INDIGO}.cu", "-Iindigo_include", "clean", "a", "input/a.egr 256 1024"), ("pull", f"{OF_INDIGO}.cu", "-Iindigo_include", "clean", "b", "input/b.egr 256 1024"),
      ("pull_boundsBug", f"{OF_INDIGO}_boundsBug.cu", "-Iindigo_include", "memory", "a", "input/a.egr 256 1024"),
      ("pull_boundsBug", f"{OF_INDIGO}_boundsBug.cu", "-Iindigo_include", "memory", "b", "input/b.egr 256 1024"),
      ("pull_boundsBug_syncBug", f"{OF_INDIGO}_boundsBug_syncBug.cu", "-Iindigo_include", "race", "a", "input/a.egr 256 1024"),
      ("pull_boundsBug_syncBug", f"{OF_INDIGO}_boundsBug_syncBug.cu", "-Iindigo_include", "race", "b", "input/b.egr 256 1024")]),
    ({"microbenchmarks/src/norace_a.cu": "", "microbenchmarks/src/race_a.cu": ""},
     [("norace_a", "microbenchmarks/src/norace_a.cu", "", "clean", "", ""), ("race_a", "microbenchmarks/src/race_a.cu", "", "race", "", "")]),
    (dict.fromkeys(suite_cases.LISTS, "") | {"racey.py": BARRACUDA},
     [("racey/base.cu RW THREADS=33", "racey/base.cu", "-DRW -DTHREADS=33 -DcudaThreadSetLimit=cudaDeviceSetLimit", "race", "", ""),
      ("temporal/read.cu 8", "temporal/read.cu", "-DcudaThreadSetLimit=cudaDeviceSetLimit", "clean", "", "8"),
      ("temporal/read.cu 9", "temporal/read.cu", "-DcudaThreadSetLimit=cudaDeviceSetLimit", "memory", "", "9")]),
]


@pytest.mark.parametrize("names, wanted", SUITES, ids=["indigo", "scor", "barracuda"])
def test_a_suites_names_and_lists_become_its_table(tmp_path, names, wanted):
    """Broken: a label differs from that of the suite, or a program is missing."""
    for name, text in names.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    assert suite_cases.write(tmp_path)
    with open(tmp_path / "cases.csv", newline="", encoding="utf-8") as file:
        assert [tuple(row.values()) for row in csv.DictReader(file)] == wanted
    assert not suite_cases.write(tmp_path / "input")


def test_what_is_reported_missed_and_flagged(run_suite):
    """Broken: a mistake that only one of the three runs reports does not count, or a correct program that fails with one of its inputs passes."""
    rows, said = run_suite
    found = {name: (same[0]["label"], suite.outcome(same, same[0]["label"])) for name, same in suite.tests(rows).items()}
    assert found == {"clean": ("clean", "silent"), "clean_atomicBug": ("race", "reported"), "clean_guardBug": ("race", "reported"), "missed_raceBug": ("race", "missed"),
                     "removed_syncBug": ("race", "missed"), "flagged": ("clean", "flagged"), "only_small": ("clean", "flagged"),
                     "clean_boundsBug": ("memory", "not built")}
    rows = {(row["program"], row["inputs"]): (row["kinds"], row["kinds_debug"], row["status"]) for row in rows}
    assert rows["removed_syncBug", "all"] == ("", "race-global", "0") and rows["clean_guardBug", "all"] == ("race-global", "", "0 88")
    assert rows["only_small", "small"] == ("race-global", "", "88") and rows["only_small", "large"] == ("", "", "0")
    assert "race: 2 missed" in said and "missed: missed_raceBug (race)" in said and "flagged: only_small" in said


@pytest.mark.parametrize("table, said", [(None, "No such file or directory: cases.csv"), ("program,source\na,a.cu\n", "line 2: wanted are program, source"),
                                         ("program,source,options,label,input,arguments\na,a.cu,,wrong,,\n", "a label of race, memory, divergence, clean")], ids=["none", "columns", "label"])
def test_an_invalid_folder_is_rejected(table, said, tmp_path):
    """Broken: a folder without a valid table of programs leads to a table without rows, or to a Python error."""
    if table:
        (tmp_path / "cases.csv").write_text(table)
    result = subprocess.run([sys.executable, "-m", "scripts.evidence.suite", "--options", "", "--libraries", "", str(tmp_path)], cwd=ROOT, capture_output=True, text=True)
    assert result.returncode == 2 and said in result.stderr and result.stderr.count("\n") == 1


def test_adjudicated_labels_are_of_existing_tests():
    """Broken: a disputed label belongs to no test, for instance because its name is misspelt."""
    rows = tables.read(suite.ADJUDICATED)
    for row in rows:
        path = ROOT / f"evidence/suites/{row['suite']}.csv"
        tests = suite.tests(tables.read(path))
        assert not path.exists() or any(suite.adjudicated_by(row["suite"], name, same[0]["label"], rows) == row for name, same in tests.items()), row


# ---- make courses

# "Compiles and links" a program of these tests, which is a script, by copying it. Errors that nvcc would report are comments in it.
COURSE_COMPILER = """#!/bin/bash
stage=linker
while [ $# -gt 0 ]; do case $1 in -o) made=$2; shift ;; -c) stage=compiler ;; *.cu | *.o) source=${source-$1} ;; esac; shift; done
if grep "^# $stage: " "$source" >&2; then exit 1; fi
cp "$source" "$made"; chmod +x "$made"
"""
COURSE = {"right": "exit 0", "argument": '[[ "$1 $(cat made) $SETTING" == "a b "*/build/sim ]]', "racy": RACE, "endless": "sleep 60", "crash": "echo so; exit 3",
          "own_failure": "echo 'Result: FAILED'", "lacks": "echo 'simulator: mipmapped arrays are not supported' >&2; exit 1", "gl": "", "fft": "# linker: undefined reference to `cufftPlan1d'",
          "header": "# compiler: a.cu:1:10: fatal error: mpi.h: No such file or directory", "old": "# compiler: a.cu(3): error: too few arguments in function call",
          "call": "# linker: undefined reference to `cudaFrobnicate'"}
OUTCOMES = {"right": ("pass", ""), "argument": ("pass", ""), "racy": ("finding", "race-global"), "endless": ("timeout", ""), "crash": ("failed", "status 3: so"),
            "own_failure": ("failed", "status 0: Result: FAILED"), "lacks": ("refused", "mipmapped arrays are not supported"), "gl": ("left out", "needs OpenGL"),
            "fft": ("left out", "needs cuFFT"), "header": ("left out", "needs mpi.h"), "old": ("left out", "does not compile: # compiler: a.cu(3): error: too few arguments in function call"),
            "call": ("refused", "cudaFrobnicate")}


@pytest.fixture
def run_courses(tmp_path, monkeypatch, capsys):
    """Runs the command on the stand-in programs, with additional arguments; returns its rows and its output."""
    compiler, table, repository = tmp_path / "nvcc", tmp_path / "programs.csv", tmp_path / "course"
    compiler.write_text(COURSE_COMPILER)
    compiler.chmod(0o755)
    (repository / "part").mkdir(parents=True)
    for name, text in COURSE.items():
        (repository / "part" / f"{name}.cu").write_text(f"#!/bin/bash\n{text}\n")
    with open(table, "w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["repository", "program", "sources", "options", "arguments", "folder", "needs", "before", "settings"])
        for name in COURSE:
            own = ["a", "part", "", "echo b > made", "SETTING=$SIMULATOR"] if name == "argument" else ["", "part", "OpenGL" * (name == "gl"), "", ""]
            writer.writerow(["course", name, f"part/{name}.cu", "", *own])
    monkeypatch.setattr(courses, "PROGRAMS", table)
    monkeypatch.setattr(courses, "LOGS", tmp_path / "logs")
    monkeypatch.setattr(courses, "TIME_LIMIT_S", 1)

    def run(*arguments):
        monkeypatch.setattr(sys, "argv", ["courses.py", "--nvcc", str(compiler), "--options", "", "--libraries=-lm", "--output", str(tmp_path / "courses.csv"), *arguments, str(tmp_path)])
        courses.main()
        with open(tmp_path / "courses.csv", newline="") as file:
            return list(csv.DictReader(file)), capsys.readouterr().out
    return run


def test_outcomes_of_course_programs(run_courses):
    """Broken: a program with a missing dependency counts as refused, or a refused one as left out; or a program that reports its own failure passes."""
    rows, said = run_courses()
    assert {row["program"]: (row["outcome"], row["detail"]) for row in rows} == OUTCOMES and [row["program"] for row in rows] == list(COURSE)
    assert "12 programs, of which 4 are left out; 3 of 8 run: 2 pass, 1 finding, 2 refused, 1 timeout, 2 failed" in said


def test_an_interrupted_count_resumes(run_courses, tmp_path):
    """Broken: a program with a result runs again, an incomplete row counts, or AGAIN=1 or AGAIN=timeout runs the wrong programs."""
    (tmp_path / "courses.csv").write_text("repository,program,outcome,detail,seconds\ncourse,right,timeout,,60.0\ncourse,crash,pa")
    rows, said = run_courses()
    outcomes = {row["program"]: row["outcome"] for row in rows}
    assert outcomes == {name: came for name, (came, _) in OUTCOMES.items()} | {"right": "timeout"} and "12 programs, 11 to run" in said
    rows, said = run_courses("--again", "timeout", "--only", "course/r*")
    assert "2 programs, 1 to run" in said
    rows, said = run_courses("--again", "1", "--only", "course/r*")
    assert [row["outcome"] for row in rows] == [came for came, _ in OUTCOMES.values()] and "2 programs, 2 to run" in said


def test_a_repository_that_is_missing_is_named(run_courses, tmp_path):
    """Broken: all programs of a missing repository count as programs that do not compile."""
    (tmp_path / "course").rename(tmp_path / "elsewhere")
    with pytest.raises(SystemExit, match="course is missing"):
        run_courses()


def test_course_programs_have_a_listed_repository():
    """Broken: a program's repository has no address, two programs have one name, or a result belongs to no program."""
    named = {row["repository"] for row in tables.read(ROOT / "evidence/suites/course_repositories.csv")}
    programs = [courses.key(row) for row in tables.read(courses.PROGRAMS)]
    assert named == {repository for repository, _ in programs} and len(set(programs)) == len(programs)
    assert {courses.key(row) for row in tables.read(ROOT / "evidence/suites/courses.csv")} <= set(programs)
