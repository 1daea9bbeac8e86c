"""The job script for Slurm, with its variables set by hand: no Slurm and no GPU needed."""

import os
import subprocess

import pytest

from tests.support import ROOT

SCRIPT = ROOT / "elsewhere/slurm.sh"
STAND_IN = """run-all:
	@echo "limit $$TIME_LIMIT, in $(CURDIR)"; touch "$$RESULTS/run-all.csv" built; exit $(STATUS)
"""


@pytest.fixture
def job(tmp_path):
    """Runs task 2 of job 1234, submitted from tmp_path, where the checkouts of two students lie."""
    for student in "ada", "bob":
        (tmp_path / student / "step00_baseline").mkdir(parents=True)
        (tmp_path / student / "step00_baseline/reduce.cu").touch()
        (tmp_path / student / "Makefile").write_text(STAND_IN)
    (tmp_path / "students.txt").write_text("ada\nbob\n")
    (tmp_path / "scratch").mkdir()

    def run(*arguments, **variables):
        environment = {"SLURM_JOB_ID": "1240", "SLURM_ARRAY_JOB_ID": "1234", "SLURM_ARRAY_TASK_ID": "2",
                       "SLURM_SUBMIT_DIR": str(tmp_path), "TMPDIR": str(tmp_path / "scratch"), "STATUS": "0"}
        kept = {name: value for name, value in os.environ.items() if name not in ("MAKEFLAGS", "TIME_LIMIT", "RESULTS")}
        result = subprocess.run([SCRIPT, *arguments], env=kept | environment | variables, capture_output=True, text=True)
        assert not os.listdir(tmp_path / "scratch"), "the copy stays on the node"
        return result

    return run


def test_a_task_runs_its_student_and_keeps_the_results(job, tmp_path):
    """Broken: a task runs somebody else's steps, compiles in the student's folder, or loses the results."""
    before = sorted(tmp_path.glob("bob/**/*"))
    result = job("students.txt")
    results = tmp_path / "results/slurm/1234/2"
    assert result.returncode == 0 and sorted(os.listdir(results)) == ["log.txt", "run-all.csv"]
    log = (results / "log.txt").read_text()
    assert log == result.stdout and log.startswith("checkout: bob\n") and f"limit 60, in {tmp_path}/scratch/" in log
    assert sorted(tmp_path.glob("bob/**/*")) == before


def test_a_failed_step_fails_the_task(job):
    """Broken: Slurm counts a task as completed whose steps failed."""
    assert job("students.txt", STATUS="1").returncode != 0


@pytest.mark.parametrize("variables, message", [
    ({"SLURM_JOB_ID": ""}, "sbatch --array=1-30"), ({"SLURM_ARRAY_TASK_ID": "3"}, "task 3: '' is not a checkout")])
def test_what_is_missing_is_said(job, tmp_path, variables, message):
    """Broken: a job outside Slurm, or one for a student who is not in the list, ends without a word or runs something else."""
    result = job("students.txt", **variables)
    assert result.returncode == 2 and message in result.stderr and not (tmp_path / "results").exists()


@pytest.mark.skipif(not (ROOT / ".git").exists(), reason="only git knows which files belong to the repository")
def test_this_repository_is_copied_whole(job, tmp_path):
    """Broken: the copy lacks a file of the repository, or takes programs along that were compiled for another GPU."""
    make = tmp_path / "bin/make"  # instead of make: lists the files that make would find
    make.parent.mkdir()
    make.write_text('#!/bin/sh\ncd "$2" && find . -type f > "$RESULTS/files"\n')
    make.chmod(0o755)
    (tmp_path / "students.txt").write_text(f"{ROOT}\n{ROOT}\n")
    assert job("students.txt", PATH=f"{make.parent}:{os.environ['PATH']}").returncode == 0
    copied = {line.removeprefix("./") for line in (tmp_path / "results/slurm/1234/2/files").read_text().splitlines()}
    tracked = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=True).stdout.splitlines()
    assert {name for name in tracked if (ROOT / name).exists()} - copied <= {".gitignore"}
    assert not [name for name in copied if name.endswith("/reduce") or name.startswith(("build/", ".venv/", "results/"))]
