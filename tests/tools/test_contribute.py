"""make contribute: the folder's name, the checks of the results, and the files that are written."""

import shutil
import subprocess
import sys

import pytest

pytest.importorskip("matplotlib", reason="Matplotlib is not there: make test installs it into .venv")
import compare
import tables
from scripts.gpu import contribute
from scripts.ladder import sweep

from tests.support import PROGRAMS, ROOT, longer, make, name
from tests.tools.charts import SHARES, write_runs, write_sweep

FACTS = "date: 2026-12-01\ndriver: 580.65.06\ntoolkit: 13.0\nelements: 67108864\ndevice: any\n"


def measured(tmp_path):
    """Two runs and a sweep as make writes them; the second run is a little slower."""
    folders = tmp_path / "first", tmp_path / "second"
    for folder, peak in zip(folders, (4814.3, 4700)):
        folder.mkdir()
        write_runs(folder, 2**26, SHARES, peak)
        (folder / "run-all.txt").write_text(FACTS)
    write_sweep(folders[0], sweep.SIZES)
    (tmp_path / "plots").mkdir()
    return folders


def write(tmp_path):
    words = "write", tmp_path / "plots/h200", tmp_path / "first", tmp_path / "second"
    return subprocess.run([sys.executable, "-m", "scripts.gpu.contribute", *words], capture_output=True, text=True)


def test_a_folder_is_written_whole(tmp_path):
    """Broken: the folder differs from the measured files, cannot be compared, or its page lacks a fact that a reviewer needs."""
    first, _ = measured(tmp_path)
    result = write(tmp_path)
    folder = tmp_path / "plots/h200"
    assert result.returncode == 0 and f"make compare A=plots/h200 B={folder}" in result.stdout and "make tables" in result.stdout, result.stderr
    assert sorted(path.name for path in (tmp_path / "plots").rglob("*") if path.is_file()) == ["README.md", "run-all.csv", "run-all.txt", "sweep.csv"]
    assert (folder / "sweep.csv").read_bytes() == (first / "sweep.csv").read_bytes()
    page = (folder / "README.md").read_text()
    for fact in ("| GPU | NVIDIA H200 |", "| driver | 580.65.06 |", "| date | 2026-12-01 |", "| failed | none |", ", 2.4 %", "| commit | "):
        assert fact in page, page
    assert compare.read_results(folder).device == "NVIDIA H200"


WRONG = {  # file, what it becomes, and what the message says
    "above the peak": ("first/run-all.csv", lambda text: text.replace(",4814.3,", ",1000,"), "exceeds the GPU's peak"),
    "another n": ("second/run-all.csv", lambda text: text.replace(",67108864,", ",1048576,"), "another n"),
    "another GPU": ("first/sweep.csv", lambda text: text.replace("NVIDIA H200", "NVIDIA A100"), "exactly one GPU"),
    "a step is missing": ("first/run-all.csv", lambda text: "".join(line for line in text.splitlines(True) if not line.startswith("step07")), "no row for step07"),
    "nothing passed": ("second/run-all.csv", lambda text: text.replace("PASS", "FAIL"), "no step passed"),
    "no sweep": ("first/sweep.csv", None, "sweep.csv cannot be read"),
    "an unfinished sweep": ("first/sweep.csv", lambda text: "".join(line for line in text.splitlines(True) if ",1073741824," not in line), "run make contribute again"),
}


@pytest.mark.parametrize("what", WRONG)
def test_what_may_not_be_sent_is_refused(what, tmp_path):
    """Broken: results that cannot be compared are accepted, or an incomplete folder remains."""
    measured(tmp_path)
    file, change, said = WRONG[what]
    path = tmp_path / file
    path.write_text(change(path.read_text())) if change else path.unlink()
    result = write(tmp_path)
    assert result.returncode != 0 and said in result.stderr and len(result.stderr.splitlines()) == 1, result.stderr
    assert not any((tmp_path / "plots").iterdir())


def test_the_folder_has_a_name_of_its_own(monkeypatch):
    """Broken: a folder name has blanks, or an existing folder is rejected only after half an hour of measuring."""
    monkeypatch.setattr(contribute, "asked", lambda question: "NVIDIA GeForce RTX 4090")
    assert contribute.choose("") == "rtx-4090" and contribute.choose("my-gpu") == "my-gpu"
    for given, said in (("h200", "already exists"), ("My GPU", "not a valid folder name"), ("../x", "not a valid folder name")):
        with pytest.raises(SystemExit, match=said):
            contribute.choose(given)
    monkeypatch.setattr(contribute, "asked", lambda question: "unknown")
    with pytest.raises(SystemExit, match="NAME=rtx-4090"):
        contribute.choose("")


def test_without_a_gpu_it_says_so():
    """Broken: without a GPU the simulator's counters are accepted, or the message has several lines."""
    result = make("-s", "contribute", "DEVICE=sim")
    said = [line for line in result.stderr.splitlines() if "***" not in line]
    assert result.returncode != 0 and len(said) == 1 and "nvidia-smi" in said[0]


def test_an_archive_inside_another_repository_has_no_commit(tmp_path, monkeypatch):
    """Broken: results measured in an unpacked archive name the commit of the repository around it."""
    git = ["git", "-C", tmp_path, "-c", "user.name=x", "-c", "user.email=x@example.org"]
    for command in (["init", "-q"], ["commit", "-qm", "another project's", "--allow-empty"]):
        subprocess.run([*git, *command], check=True)
    (tmp_path / "course").mkdir()
    monkeypatch.setattr(contribute, "ROOT", tmp_path / "course")
    assert contribute.source() == "unknown"


@pytest.mark.parametrize("peaks, shown", [([4814.3, 4700], ["[NVIDIA H200 (one)](../plots/one/run-all.csv)", "580.65.06, 13.0", "4,700"]), ([0], ["[NVIDIA H200](", "peak unknown"])])
def test_the_page_of_gpus_distinguishes_them(peaks, shown, tmp_path, monkeypatch):
    """Broken: two columns have one name; make tables fails for a GPU without a known peak; or a column lacks its driver."""
    for folder, peak in zip(("one", "two"), peaks):
        (tmp_path / "plots" / folder).mkdir(parents=True)
        write_runs(tmp_path / "plots" / folder, 2**26, SHARES, peak or 4800)
        path = tmp_path / "plots" / folder / "run-all.csv"
        path.write_text(path.read_text().replace(",4800,PASS", f",{peak},PASS"))
        path.with_suffix(".txt").write_text(FACTS)
    monkeypatch.setattr(tables, "ROOT", tmp_path)
    monkeypatch.setattr(tables, "steps", lambda: list(SHARES))
    table = tables.gpus(None)
    assert all(words in table for words in shown), table


# What stands for nvcc: the program that it makes prints a row and notes that it ran. While there is a file `stop`, it ends what started it in the sweep.
COMPILER = r"""#!/bin/sh
while [ $# != 0 ]; do
    [ "$1" != -o ] || made=$2
    shift
done
cat > "$made" <<'end'
#!/bin/sh
for last; do :; done
step=${0%/*} step=${step##*/}
echo "$step $last" >> runs
[ "$2,$last" != --warm,32767 ] || ! [ -e stop ] || kill -KILL $PPID
[ $step != step09_vectorload ] || exit 1
echo "$step,Some GPU,$last,1,0.1,0.1,0.1,0.1,1.0,2.0,PASS"
end
chmod +x "$made"
"""


@longer
def test_it_goes_on_where_it_stopped(tmp_path):
    """Broken: results are lost if a part stops early; a failed step stops the run; or a chart is required on a machine that cannot draw it."""
    for folder in ("mk", "drywarp", "scripts"):
        shutil.copytree(ROOT / folder, tmp_path / folder)
    shutil.copy(ROOT / "Makefile", tmp_path)
    for program in PROGRAMS:
        (tmp_path / name(program)).mkdir()
        shutil.copy(program, tmp_path / name(program))
    (tmp_path / "plots").mkdir()
    (tmp_path / "nvcc").write_text(COMPILER)
    (tmp_path / "nvcc").chmod(0o755)
    (tmp_path / "stop").touch()
    words = "make", "-s", "contribute", "GPU_IS_KNOWN=1", "GPU=GPU 0", f"NVCC={tmp_path}/nvcc", "SWEEP_ROUNDS=1", "NAME=some-gpu"
    stopped = subprocess.run(words, cwd=tmp_path, capture_output=True, text=True)
    assert stopped.returncode != 0 and not (tmp_path / "plots/some-gpu").exists(), stopped.stdout + stopped.stderr
    (tmp_path / "stop").unlink()
    result = subprocess.run(words, cwd=tmp_path, capture_output=True, text=True)
    assert result.returncode == 0, result.stdout + result.stderr
    assert "| failed | step09_vectorload (FAIL) |" in (tmp_path / "plots/some-gpu/README.md").read_text()
    runs = (tmp_path / "runs").read_text().splitlines()
    assert [runs.count(f"step03_sequential {n}") for n in (1024, 67108864)] == [2, 4]  # cold and warm; and both runs of the ladder
    assert not (tmp_path / "build/contribution").exists()
