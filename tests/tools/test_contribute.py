"""make contribute: which folder it is, what may be sent, and what is written."""

import subprocess
import sys

import pytest

import compare
from scripts.gpu import contribute

from tests.support import make
from tests.tools.charts import SHARES, write_runs, write_sweep

FACTS = "date: 2026-12-01\ndriver: 580.65.06\ntoolkit: 13.0\nelements: 67108864\ndevice: any\n"


def measured(tmp_path):
    """Two runs and a sweep, as make leaves them; the second run is a little slower."""
    folders = tmp_path / "first", tmp_path / "second"
    for folder, peak in zip(folders, (4814.3, 4700)):
        folder.mkdir()
        write_runs(folder, 2**26, SHARES, peak)
        (folder / "run-all.txt").write_text(FACTS)
    write_sweep(folders[0], [2**20])
    (tmp_path / "plots").mkdir()
    return folders


def write(tmp_path):
    words = "write", tmp_path / "plots/h200", tmp_path / "first", tmp_path / "second"
    return subprocess.run([sys.executable, "-m", "scripts.gpu.contribute", *words], capture_output=True, text=True)


def test_a_folder_is_written_whole(tmp_path):
    """Broken: what is sent is not what was measured, cannot be compared, or its page lacks what a reviewer asks for."""
    first, _ = measured(tmp_path)
    result = write(tmp_path)
    folder = tmp_path / "plots/h200"
    assert result.returncode == 0 and f"make compare A=plots/h200 B={folder}" in result.stdout and "make tables" in result.stdout, result.stderr
    assert sorted(path.name for path in (tmp_path / "plots").rglob("*") if path.is_file()) == ["README.md", "run-all.csv", "run-all.txt", "sweep.csv"]
    assert (folder / "sweep.csv").read_bytes() == (first / "sweep.csv").read_bytes()
    page = (folder / "README.md").read_text()
    for fact in ("| GPU | NVIDIA H200 |", "| driver | 580.65.06 |", "| date | 2026-12-01 |", "| did not pass | none |", "by 2.4 %", "| commit | "):
        assert fact in page, page
    assert compare.read_results(folder).device == "NVIDIA H200"


WRONG = {  # file, what it becomes, and what the message says
    "above the peak": ("first/run-all.csv", lambda text: text.replace(",4814.3,", ",1000,"), "above the GPU's peak"),
    "another n": ("second/run-all.csv", lambda text: text.replace(",67108864,", ",1048576,"), "another n"),
    "another GPU": ("first/sweep.csv", lambda text: text.replace("NVIDIA H200", "NVIDIA A100"), "several GPUs"),
    "a step is missing": ("first/run-all.csv", lambda text: "".join(line for line in text.splitlines(True) if not line.startswith("step07")), "no row of step07"),
    "nothing passed": ("second/run-all.csv", lambda text: text.replace("PASS", "FAIL"), "no step passed"),
    "no sweep": ("first/sweep.csv", None, "sweep.csv cannot be read"),
}


@pytest.mark.parametrize("what", WRONG)
def test_what_may_not_be_sent_is_refused(what, tmp_path):
    """Broken: results that cannot be compared are sent, or half a folder stays."""
    measured(tmp_path)
    file, change, said = WRONG[what]
    path = tmp_path / file
    path.write_text(change(path.read_text())) if change else path.unlink()
    result = write(tmp_path)
    assert result.returncode != 0 and said in result.stderr and len(result.stderr.splitlines()) == 1, result.stderr
    assert not any((tmp_path / "plots").iterdir())


def test_the_folder_has_a_name_of_its_own(monkeypatch):
    """Broken: a folder is named with blanks, or a GPU that is there already is measured for half an hour and then refused."""
    monkeypatch.setattr(contribute, "asked", lambda question: "NVIDIA GeForce RTX 4090")
    assert contribute.choose("") == "rtx-4090" and contribute.choose("my-gpu") == "my-gpu"
    for name, said in (("h200", "is there already"), ("My GPU", "is no name"), ("../x", "is no name")):
        with pytest.raises(SystemExit, match=said):
            contribute.choose(name)
    monkeypatch.setattr(contribute, "asked", lambda question: "unknown")
    with pytest.raises(SystemExit, match="NAME=rtx-4090"):
        contribute.choose("")


def test_without_a_gpu_it_says_so():
    """Broken: without a GPU the simulator's counters are sent, or make says it in many lines."""
    result = make("-s", "contribute", "DEVICE=sim")
    said = [line for line in result.stderr.splitlines() if "***" not in line]
    assert result.returncode != 0 and len(said) == 1 and "nvidia-smi" in said[0]
