"""plot.py on good and on damaged CSVs."""

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
GOOD = (ROOT / "plots/h200/run-all.csv").read_text()
HEADER, FIRST, *REST = GOOD.splitlines(keepends=True)
BANDWIDTH = FIRST.split(",")[6]


def plot(directory):
    return subprocess.run([sys.executable, ROOT / "plots/plot.py", directory], capture_output=True, text=True)


def test_good_results_give_all_charts(tmp_path):
    """Broken: a chart is missing, or a failed step keeps the others from being drawn."""
    failed = "step01_divergent,,67108864,,,,,,HANG\n"
    (tmp_path / "run-all.csv").write_text(HEADER + FIRST + failed + "".join(REST[1:]))
    shutil.copy(ROOT / "plots/h200/profile.csv", tmp_path)
    result = plot(tmp_path)
    assert result.returncode == 0 and result.stderr == ""
    for name in ("bandwidth", "time", "counters"):
        assert (tmp_path / f"{name}.png").read_bytes().startswith(b"\x89PNG")
        assert (tmp_path / f"{name}.svg").read_text().rstrip().endswith("</svg>")


def test_a_sweep_gives_its_charts(tmp_path):
    """Broken: the sweep's charts or the roof are missing, or need more than the files that they are made of."""
    for name in ("sweep.csv", "limits.csv", "profile.csv"):
        shutil.copy(ROOT / "plots/h200" / name, tmp_path)
    result = plot(tmp_path)
    assert result.returncode == 0 and result.stderr == ""
    for name in ("sweep", "sweep-against-cub", "roof"):
        assert (tmp_path / f"{name}.png").read_bytes().startswith(b"\x89PNG")
    (tmp_path / "sweep.csv").write_text("step,cache\n1,2\n")
    result = plot(tmp_path)
    assert result.returncode == 1 and len(result.stderr.splitlines()) == 1 and "sweep.csv" in result.stderr


DAMAGED = {
    "empty": ("", "line 1", "no rows"),
    "no rows": (HEADER, "line 1", "no rows"),
    "other header": ("a,b\n1,2\n", "line 1", "no column"),
    "truncated": (GOOD[:-40], f"line {len(REST) + 2}", "fields"),
    "no number": (HEADER + FIRST.replace(BANDWIDTH, "fast"), "line 2", "'fast'"),
    "not a number": (HEADER + FIRST.replace(BANDWIDTH, "nan"), "line 2", "'nan'"),
    "negative": (HEADER + FIRST.replace(BANDWIDTH, "-1"), "line 2", "'-1'"),
    "twice": (HEADER + FIRST + FIRST, "line 3", "twice"),
}


@pytest.mark.parametrize("damage", DAMAGED)
def test_damaged_results_are_named(damage, tmp_path):
    """Broken: a damaged CSV gives a traceback, a nonsensical chart, or costs the old chart."""
    text, line, what = DAMAGED[damage]
    (tmp_path / "run-all.csv").write_text(text)
    (tmp_path / "bandwidth.png").write_text("old")
    result = plot(tmp_path)
    assert result.returncode == 1 and len(result.stderr.splitlines()) == 1
    assert "run-all.csv" in result.stderr and line in result.stderr and what in result.stderr
    assert (tmp_path / "bandwidth.png").read_text() == "old"


def test_missing_results_are_named(tmp_path):
    """Broken: without results there is a traceback."""
    result = plot(tmp_path)
    assert result.returncode == 1 and len(result.stderr.splitlines()) == 1 and "run-all.csv" in result.stderr
