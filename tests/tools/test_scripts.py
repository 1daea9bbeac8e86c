"""run.py and the other scripts, with stand-ins for the programs: no GPU needed."""

import ast
import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.support import ROOT

RUN_ALL = [sys.executable, "-m", "scripts.ladder.run", "all"]
EDITS = [sys.executable, "-m", "scripts.ladder.edits"]
ROW = 'echo "$(basename "$(dirname "$0")"),A GPU,$2,2,0.5,0.4,0.45,0.55,800.0,1000.0,PASS"'
STAND_INS = {
    "pass": ROW,
    "other": ROW,
    "wrong": "echo 'thread 5 has 9'; echo 'FAIL: the sum is 1, expected 2' >&2; exit 1",
    "crash": "kill -SEGV $$",
    "hang": "exec sleep 1000.25",
    "garbage": "echo 'Hello, world'",
    "talks": "echo 'thread 3 has 7'; echo 'thread 4 has 8'; " + ROW,
    "mutters": "printf 'thread 6 has 10, '; " + ROW,
    "finding": r"""said() { printf '\033[1;31merror: race in shared memory:\033[0m two threads\n  --> reduce.cu:%s: thread (%s,0,0) of kernel reduce<%s>\n    19 |     sum\n' $1 $2 $2 >&2; }
        echo "FAIL: the sum is 1" >&2; said 19 1; said 19 2; said 23 1; echo "  = a barrier is missing" >&2; echo "3 findings" >&2; exit 88""",
    "skip": "echo 'no CUDA-capable device is detected' >&2; exit 77",
}


@pytest.fixture
def run_all(tmp_path):
    def command(*kinds):
        programs = []
        for kind in kinds:
            program = tmp_path / kind / "reduce"
            program.parent.mkdir(exist_ok=True)
            program.write_text(f"#!/bin/bash\n{STAND_INS[kind]}\n")
            program.chmod(0o755)
            programs.append(program)
        return [*RUN_ALL, "--elements", "1000", "--time-limit", "1", "--output", tmp_path / "out/run-all.csv", *programs]

    return command


def run(command, **options):
    return subprocess.run([str(word) for word in command], capture_output=True, text=True, cwd=ROOT, **options)


def statuses(csv):
    return [line.split(",")[-1] for line in csv.read_text().splitlines()[1:]]


def test_all_ways_to_fail_are_reported_and_the_rest_runs(run_all, tmp_path):
    """Broken: one bad step hides the others, or passes for a good one."""
    result = run(run_all("pass", "wrong", "crash", "hang", "garbage", "skip", "other"))
    expected = ["PASS", "FAIL", "CRASH", "HANG", "GARBAGE", "SKIP", "PASS"]
    assert statuses(tmp_path / "out/run-all.csv") == expected
    for number, status in enumerate(expected, 1):
        line = next(line for line in result.stdout.splitlines() if line.startswith(f"[{number}/7]"))
        assert status in line or status == "PASS" and "800.00   80.0%" in line
    assert result.stdout.splitlines()[-1] == "2 passed, 4 failed, 1 skipped"
    assert result.returncode == 1


def test_findings_are_shown_whole_and_once(run_all, tmp_path):
    """Broken: of the checker's message one sees neither line nor hint, or sees it again for each kernel of a template, or as a crash."""
    command = run_all("finding", "pass")
    result = run([*command, "--simulated"])
    assert statuses(tmp_path / "out/run-all.csv")[0] == "FINDING" and "CRASH" not in result.stdout
    line, *message = result.stdout.splitlines()[1:9]
    assert line.endswith("FINDING  3 findings (docs/findings.md explains them):") and message[0].endswith("race in shared memory:\033[0m two threads")
    assert message[1:3] == ["  --> reduce.cu:19: thread (1,0,0) of kernel reduce<1>", "    19 |     sum"]
    assert message[4:] == ["  --> reduce.cu:23: thread (1,0,0) of kernel reduce<1>", "    19 |     sum", "  = a barrier is missing"]


def test_a_sweep_shows_a_finding_once(tmp_path):
    """Broken: make sweep says of a step with a race that it crashed, or says the same for each of the sizes."""
    program = tmp_path / "step01_x/reduce"
    program.parent.mkdir()
    program.write_text(f"#!/bin/bash\n{STAND_INS['finding']}\n")
    program.chmod(0o755)
    result = run([sys.executable, "-m", "scripts.ladder.sweep", "--simulated", "--output", tmp_path / "sweep.csv", program])
    assert set(statuses(tmp_path / "sweep.csv")) == {"FINDING"} and result.stdout.count("reduce.cu:19") == result.stdout.count("reduce.cu:23") == 1


def test_what_a_kernel_prints_is_shown(run_all):
    """Broken: a printf in a kernel, the first thing that a learner tries, is swallowed or taken for a wrong result."""
    result = run(run_all("talks", "wrong"))
    assert "thread 3 has 7\nthread 4 has 8\n" in result.stdout and "1 passed, 1 failed" in result.stdout
    assert "thread 5 has 9\n" in result.stdout  # also, and most of all, where the sum is wrong


def test_what_a_kernel_prints_without_a_newline_is_shown(run_all):
    """Broken: a printf without a newline makes a right result a wrong one, and is not seen."""
    result = run(run_all("mutters", "pass"))
    assert "\nthread 6 has 10, \n" in result.stdout and "2 passed, 0 failed" in result.stdout


def test_results_say_what_they_are_of(run_all, tmp_path):
    """Broken: two GPUs' results cannot be distinguished later."""
    run(run_all("pass"))
    about = dict(line.split(": ", 1) for line in (tmp_path / "out/run-all.txt").read_text().splitlines())
    assert about["device"] == "A GPU" and about["elements"] == "1000" and len(about["date"]) == 10


def test_a_failed_step_has_a_row_of_counters(run_all, tmp_path):
    """Broken: on the simulator a step that fails is missing from the CSV."""
    rows = "step,kernel,launch,grid\\ncounted,prepare,1,1\\ncounted,reduce,2,8\\ncounted,reduce,3,8\\ncounted,prepare,4,1\\ncounted,reduce,5,8\\n"
    STAND_INS["counted"] = f'printf "{rows}" > "$SIM_COUNTERS"; ' \
        'echo "counted,SIMT simulator,$2,1,nan,nan,nan,nan,nan,0.0,PASS"'
    command = run_all("counted", "wrong")
    result = run([*command, "--simulated"])
    assert (tmp_path / "out/run-all.csv").read_text() == "step,kernel,launch,grid,status\ncounted,reduce,2,8,PASS\n" \
        "counted,reduce,3,8,PASS\nwrong,,,,FAIL\n"
    assert "FAIL  the sum is 1, expected 2" in result.stdout and result.returncode == 1


def test_passed_and_skipped_is_success(run_all):
    """Broken: a step that cannot run on a device fails a whole class."""
    result = run(run_all("pass", "skip"))
    assert result.returncode == 0 and result.stdout.endswith("1 passed, 0 failed, 1 skipped\n")


def test_without_a_device_the_old_results_stay(run_all, tmp_path):
    """Broken: a run on a machine without a GPU destroys results, or looks like a success."""
    csv = tmp_path / "out/run-all.csv"
    csv.parent.mkdir()
    csv.write_text("old\n")
    result = run(run_all("skip", "pass"))
    assert result.returncode != 0 and "no CUDA device was found" in result.stderr
    assert csv.read_text() == "old\n" and os.listdir(csv.parent) == [csv.name]


@pytest.mark.parametrize("kill", [signal.SIGINT, signal.SIGTERM])
def test_interrupt_leaves_nothing(run_all, tmp_path, kill):
    """Broken: Ctrl-C leaves half a file or a program that runs on."""
    csv = tmp_path / "out/run-all.csv"
    csv.parent.mkdir()
    csv.write_text("old\n")
    command = [str(word) for word in run_all("hang")]
    command[command.index("--time-limit") + 1] = "900"
    process = subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, start_new_session=True,
                               preexec_fn=lambda: signal.signal(kill, signal.SIG_DFL))  # a job in the background ignores it
    children = ["pgrep", "-P", str(process.pid), "-x", "sleep"]
    while not (child := subprocess.run(children, capture_output=True, text=True).stdout):
        assert process.poll() is None
        time.sleep(0.05)
    os.kill(process.pid, kill)
    assert process.wait(timeout=10) == 130
    process.communicate()
    assert not Path(f"/proc/{int(child)}").exists()
    assert csv.read_text() == "old\n" and os.listdir(csv.parent) == [csv.name]


@pytest.mark.parametrize("command", [
    RUN_ALL, [*RUN_ALL, "--elements", "abc", "x"], [*RUN_ALL, "--elements", "0", "x"],
    [*RUN_ALL, "--time-limit=-1", "x"], [*RUN_ALL, "--quick", "x"], [*RUN_ALL[:-1], "one", "x"], EDITS, [*EDITS, "diff", "00"],
    [*EDITS, "diff", "99"], [*EDITS, "diff", "3"], [*EDITS, "undo", "3"], [*EDITS, "diff", "x;ls"], [*EDITS, "diff", "01", "no-lab"],
    ["scripts/ladder/copy_harness.sh"], ["scripts/build/install_toolkit.sh"], ["scripts/gpu/sanitize.sh"]], ids=lambda words: " ".join(words[-3:]))
def test_bad_arguments_of_scripts(command):
    """Broken: a typing error is not explained, or runs something else."""
    result = run(command)
    assert result.returncode == 2 and result.stdout == "" and len(result.stderr.splitlines()) == 1


SHELL_SCRIPTS = sorted((ROOT / "scripts").glob("*/*.sh"))
MODULES = sorted(path for folder in ("drywarp", "scripts") for path in (ROOT / folder).rglob("*.py") if os.access(path, os.X_OK))


@pytest.mark.parametrize("script", SHELL_SCRIPTS + MODULES, ids=lambda path: path.name)
def test_every_script_has_help(script):
    """Broken: a newcomer cannot ask a script what it does."""
    module = ".".join(script.relative_to(ROOT).with_suffix("").parts).removesuffix(".__main__")
    result = run([script, "--help"] if script.suffix == ".sh" else [sys.executable, "-m", module, "--help"])
    assert result.returncode == 0 and len(result.stdout) > 20 and result.stderr == ""


# What the modules of a folder may import, beside their own folder's. plots/ is no package: its modules import each other as `import plot`.
LOWER = {"drywarp": set(), "scripts": {"drywarp"}, "plots": {"drywarp", "scripts"}, "book": {"drywarp", "scripts"}}


@pytest.mark.parametrize("folder", LOWER)
def test_folders_do_not_import_each_other_in_a_cycle(folder):
    """Broken: an installed drywarp lacks a module of scripts/; or scripts/ and plots/ need each other."""
    of_plots = {path.stem for path in (ROOT / "plots").glob("*.py")}
    imported = set()
    for path in (ROOT / folder).rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            names = [node.module or ""] if isinstance(node, ast.ImportFrom) else [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
            imported |= {"plots" if name in of_plots else name.split(".")[0] for name in names}
    assert imported & {*LOWER, "tests"} <= LOWER[folder] | {folder}


SWEPT = 'echo "$(basename "$(dirname "$0")"),A GPU,${@: -1},2,0.5,0.4,0.45,0.55,800.0,1000.0,PASS"; echo "$@" >> "$0.calls"'


def sweep(tmp_path, *arguments, **stand_ins):
    programs = []
    for step, text in stand_ins.items():
        programs.append(tmp_path / step / "reduce")
        programs[-1].parent.mkdir(exist_ok=True)
        programs[-1].write_text(f"#!/bin/bash\n{text}\n")
        programs[-1].chmod(0o755)
    return run([sys.executable, "-m", "scripts.ladder.sweep", "--rounds", "2", "--output", tmp_path / "sweep.csv", *arguments, *programs])


def test_sweep_goes_on_where_it_stopped(tmp_path):
    """Broken: a sweep measures a size twice, or forgets what it had."""
    programs = {"step00_x": SWEPT, "step01_x": SWEPT, "step02_x": "exit 77", "step03_x": "echo 'FAIL: x' >&2; exit 1"}
    result = sweep(tmp_path, **programs)
    lines = (tmp_path / "sweep.csv").read_text().splitlines()
    assert result.returncode == 1  # step03 fails
    assert {line.split(",")[-1] for line in lines[1:] if line.startswith("step02")} == {"SKIP"}
    assert {line.split(",")[-1] for line in lines[1:] if line.startswith("step03")} == {"FAIL"}
    assert not any(line.startswith("step00") and int(line.split(",")[3]) > 2**20 for line in lines[1:])
    sizes = list(dict.fromkeys(line.split(",")[3] for line in lines[1:]))
    # As an interrupt would leave it: without the last size, which alone is measured again.
    (tmp_path / "sweep.csv").write_text("\n".join(line for line in lines if line.split(",")[3] != sizes[-1]) + "\n")
    calls = tmp_path / "step01_x/reduce.calls"
    calls.unlink()
    sweep(tmp_path, **programs)
    assert (tmp_path / "sweep.csv").read_text().splitlines() == lines
    assert calls.read_text().splitlines() == [f"--csv {sizes[-1]}", f"--csv --warm {sizes[-1]}"] * 2


def test_a_sweep_does_not_mix_programs(tmp_path):
    """Broken: a sweep that goes on after an edit holds rows of the old program and of the new one."""
    assert sweep(tmp_path, step01_x=SWEPT).returncode == 0
    result = sweep(tmp_path, step01_x=SWEPT + " # edited")
    assert result.returncode == 2 and "--again" in result.stderr and len(result.stderr.splitlines()) == 1
    assert sweep(tmp_path, "--again", step01_x=SWEPT + " # edited").returncode == 0


def test_a_folder_that_cannot_be_written(tmp_path):
    """Broken: a sweep into a folder that is none ends in a traceback."""
    (tmp_path / "file").write_text("")
    result = sweep(tmp_path, "--output", tmp_path / "file/sweep.csv", step01_x=SWEPT)
    assert result.returncode == 2 and len(result.stderr.splitlines()) == 1 and "cannot be written" in result.stderr


def test_diff_shows_the_change():
    """Broken: `make diff` shows nothing or fails because the files differ."""
    result = run(["make", "-s", "diff", "STEP=02"])
    assert result.returncode == 0 and "tid % (2 * s)" in result.stdout


def test_harness_is_copied_to_the_other_steps(tmp_path):
    """Broken: `make harness` does not bring a changed harness back."""
    for step in ("step00_baseline", "step02_bitops"):
        shutil.copytree(ROOT / step, tmp_path / step, ignore=shutil.ignore_patterns("reduce"))
    copy = tmp_path / "step02_bitops/reduce.cu"
    good = copy.read_text()
    copy.write_text(good.replace("return ms;", "return 0;"))
    result = subprocess.run([ROOT / "scripts/ladder/copy_harness.sh", "step00_baseline/reduce.cu", "step02_bitops/reduce.cu"], cwd=tmp_path)
    assert result.returncode == 0 and copy.read_text() == good


def test_a_peer_that_fails_does_not_end_the_others(tmp_path):
    """Broken: where one peer is wrong, or crashes, make peers writes no table."""
    for name, lines in {"peers": '[ $1 = 67108864 ] || echo "a peer,cold,$1,0.5,800.0"; [ $1 = 1048576 ] || exit 1', "step/reduce": STAND_INS["pass"].replace("$2", "${!#}")}.items():
        program = tmp_path / name
        program.parent.mkdir(exist_ok=True)
        program.write_text(f"#!/bin/bash\n{lines}\n")
        program.chmod(0o755)
    result = run([sys.executable, "-m", "scripts.gpu.peers", "--output", tmp_path / "peers.csv", tmp_path / "peers", tmp_path / "step/reduce"])
    assert result.returncode == 0 and result.stderr.count("exit status 1; its remaining rows are skipped") == 2, result.stderr
    rows = [tuple(line.split(",")[:3]) for line in (tmp_path / "peers.csv").read_text().splitlines()[1:]]
    steps = [("step", cache, str(n)) for n in (1 << 20, 1 << 26, 1 << 30) for cache in ("cold", "warm")]
    assert [row for row in rows if row[0] == "step"] == steps and [row for row in rows if row[0] == "a peer"] == [("a peer", "cold", str(n)) for n in (1 << 20, 1 << 30)]
