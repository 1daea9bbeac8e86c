"""compare.py: GPUs in one chart, and its messages for results that cannot be compared."""

import contextlib
import io
import subprocess
import sys
from unittest import mock

import pytest

pytest.importorskip("matplotlib", reason="Matplotlib is not there: make test installs it into .venv")
import compare

from tests.tools.charts import GOOD, HEADER, REST, SHARES, STEPS, unreadable, words, write_runs, write_sweep

from tests.support import ROOT, longer

H200, LAPTOP = "NVIDIA H200", "NVIDIA GeForce RTX 4060 Laptop GPU"
FACTS = "date: 2026-12-01\nelements: 67108864\ndevice: any\ndriver: 580.65.06\ntoolkit: 13.0\n"


def folder(directory, device=H200, n=2**26, shares=SHARES, peak=4814.3, facts=FACTS, swept=()):
    """Results as make run-all writes them, and make sweep if there are sizes for it."""
    directory.mkdir()
    write_runs(directory, n, shares, peak)
    if swept:
        write_sweep(directory, swept, shares, peak)
    for file in directory.iterdir():
        file.write_text(file.read_text().replace(H200, device))
    (directory / "run-all.txt").write_text(facts)
    return directory


def start(first, second, output, **options):
    return subprocess.Popen([sys.executable, ROOT / "plots/compare.py", first, second, "--output", output],
                            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, **options)


def rejected(first, second, output):
    """The error of a rejected comparison: one line; the old chart stays, without other files."""
    charts = [output / "compare.svg"]
    output.mkdir()
    for chart in charts:
        chart.write_text("old")
    with mock.patch.object(sys, "argv", ["compare.py", str(first), str(second), "--output", str(charts[0])]), pytest.raises(SystemExit) as end, contextlib.redirect_stdout(io.StringIO()) as printed:
        compare.main()
    assert printed.getvalue() == ""
    errors = str(end.value)
    assert len(errors.splitlines()) == 1, errors
    assert sorted(output.iterdir()) == sorted(charts) and {chart.read_text() for chart in charts} == {"old"}
    return errors


def figure(*directories):
    return compare.draw([compare.read_results(directory) for directory in directories])


def test_both_gpus_are_in_the_chart(tmp_path):
    """Broken: device, driver, toolkit, date or n of one of them is missing, or an unknown fact is not called unknown."""
    old = folder(tmp_path / "old", facts="date: 2026-11-21\nelements: 67108864\n")
    legend = figure(old, folder(tmp_path / "new", LAPTOP, peak=272)).legends[0]
    first, second = (text.get_text() for text in legend.get_texts())
    for fact in (H200, "driver unknown", "toolkit unknown", "2026-11-21", "$2^{26}$", "4,814", "folder old"):
        assert fact in first
    for fact in (LAPTOP, "driver 580.65.06", "toolkit 13.0", "2026-12-01", "$2^{26}$", "272", "folder new"):
        assert fact in second


def test_every_step_and_cub_have_bars_of_both(tmp_path):
    """Broken: a bar is missing, of the wrong height or GPU, or CUB is not the last."""
    first, second = folder(tmp_path / "a", peak=4000), folder(tmp_path / "b", LAPTOP, peak=250)
    results = [compare.read_results(directory) for directory in (first, second)]
    bandwidth, share = compare.draw(results).axes
    rows = [result.rows[step] for result in results for step in [*STEPS, "reference_cub"]]
    assert [bar.get_width() for bar in bandwidth.patches] == [row["gb_per_s"] for row in rows]
    assert [bar.get_width() for bar in share.patches] == pytest.approx([100 * row["gb_per_s"] / row["peak_gb_per_s"] for row in rows])
    assert bandwidth.get_yticklabels()[-1].get_text() == "CUB"
    colours = [compare.plot.matplotlib.colors.to_hex(bar.get_facecolor()) for bar in bandwidth.patches]
    assert colours == [colour for colour in compare.COLOURS[:2] for _ in SHARES]


def test_the_fastest_step_over_n(tmp_path):
    """Broken: the line over n is not that of the fastest step at each n, or CUB is mistaken for a step."""
    shares = {"step01_one": 0.7, "step02_two": 0.5, "reference_cub": 0.9}
    both = [folder(tmp_path / name, shares=shares, swept=[2**20, 2**28], peak=1000) for name in "ab"]
    best, cub, *_ = figure(*both).axes[2].lines
    sweep = compare.read_results(both[0]).sweep
    assert list(best.get_ydata()) == [row["gb_per_s"] for row in sweep["step01_one"]]
    assert list(cub.get_ydata()) == [row["gb_per_s"] for row in sweep["reference_cub"]]


def alike(tmp_path):
    return folder(tmp_path / "pc1", swept=[2**10, 2**20, 2**30]), folder(tmp_path / "pc2", swept=[2**10, 2**20])


def apart(tmp_path):
    name = "NVIDIA RTX PRO 6000 Blackwell Max-Q Workstation Edition"
    return folder(tmp_path / "a", name, 1000003, swept=[1000003]), folder(tmp_path / "b", LAPTOP, 1000003, peak=40, swept=[2**20])


def without_peak(tmp_path):
    return folder(tmp_path / "a", swept=[2**20]), unknown_peak(folder(tmp_path / "b", LAPTOP, swept=[2**20]))


def unknown_peak(directory):
    for file in directory.glob("*.csv"):
        file.write_text(file.read_text().replace(",4814.3,", ",0,"))
    return directory


def some_failed(tmp_path):
    first, second = folder(tmp_path / "a"), folder(tmp_path / "b", shares={step: SHARES[step] for step in STEPS[3:12]})
    with open(second / "run-all.csv", "a") as file:
        file.write("step13_oneblock,,67108864,,,,,,,,HANG\nreference_cub,,67108864,,,,,,,,CRASH\n")
    return first, second


def many_steps(tmp_path):
    shares = SHARES | {"step16_distributedshared": 0.9}
    return folder(tmp_path / "a", shares=shares), folder(tmp_path / "b", LAPTOP, shares=shares, peak=272)


def one(tmp_path):
    return [folder(tmp_path / "a", swept=[2**10, 2**20])]


def six(tmp_path):
    return [folder(tmp_path / f"pc{number}", f"{LAPTOP} {number}", swept=[2**20] * (number < 3), peak=200 + number) for number in range(6)]


@pytest.mark.parametrize("case", [apart, many_steps, *(pytest.param(case, marks=longer) for case in (alike, without_peak, some_failed, one, six))])
def test_texts_can_be_read(case, tmp_path):
    """Broken: a text overlaps another text or a bar, leaves the figure, or is too small to read."""
    pair = case(tmp_path)
    chart = figure(*pair)
    assert not list(unreadable(chart, 8))
    compare.plt.close(chart)


def test_what_has_no_bar_says_why(tmp_path):
    """Broken: a step that failed, was not run, or has no known peak looks like one of 0 GB/s."""
    shown = [text.get_text() for text, _ in words(figure(*some_failed(tmp_path)))]
    assert [shown.count(why) for why in ("HANG", "CRASH", "not run")] == [2, 2, 12]
    shown = [text.get_text() for text, _ in words(figure(tmp_path / "a", unknown_peak(folder(tmp_path / "c"))))]
    assert shown.count("peak unknown") == len(SHARES)


def test_a_chart_in_a_new_folder(tmp_path):
    """Broken: it leaves unfinished files, ignores the umask, or does not make the folder of the chart. (plot.py's tests run two at once.)"""
    pair, output = (folder(tmp_path / "a"), folder(tmp_path / "b", LAPTOP)), tmp_path / "new/results"
    process = start(*pair, output / "compare.svg", umask=0o027)
    assert (*process.communicate(), process.returncode) == ("", "", 0)
    assert {file.name for file in output.iterdir()} == {"compare.svg"}
    assert (output / "compare.svg").read_text().rstrip().endswith("</svg>")
    assert {file.stat().st_mode & 0o777 for file in output.iterdir()} == {0o640}


def test_different_n_is_rejected(tmp_path):
    """Broken: sizes are mixed, or the message lacks the two sizes or the command that measures again."""
    errors = rejected(folder(tmp_path / "a"), folder(tmp_path / "b", LAPTOP, 2**20), tmp_path / "charts")
    assert "make run-all N=67108864" in errors and "N=1048576" in errors and "b/run-all.csv" in errors


def test_the_simulator_is_rejected(tmp_path):
    """Broken: the simulator's counters are reported as a missing file, so that the reader runs it again."""
    errors = rejected(folder(tmp_path / "a"), ROOT / "plots/simulator", tmp_path / "charts")
    assert "simulator" in errors and "no times" in errors


SECOND = REST[0]
DAMAGED = {
    "missing": (None, "run-all.csv"),
    "empty": ("", "no rows"),
    "truncated": (GOOD[:-40], "fields"),
    "no number": (GOOD.replace(SECOND, SECOND.replace(f",{SECOND.split(',')[8]},", ",fast,")), "'fast'"),
    "two sizes": (GOOD.replace(SECOND, SECOND.replace(",67108864,", ",1048576,")), "differ in elements"),
    "two GPUs": (GOOD.replace("divergent,NVIDIA H200", "divergent,NVIDIA A100"), "differ in device"),
    "no step passed": (HEADER + "step00_baseline,,67108864,,,,,,,,HANG\n", "no step passed"),
}


@pytest.mark.parametrize("damage", DAMAGED)
def test_damaged_results_are_named(damage, tmp_path):
    """Broken: missing or damaged results cause a traceback or a nonsensical chart, or the old chart is lost."""
    text, what = DAMAGED[damage]
    pair = folder(tmp_path / "a"), folder(tmp_path / "b", LAPTOP)
    damaged = pair[1] / "run-all.csv"
    damaged.unlink() if text is None else damaged.write_text(text)
    errors = rejected(*pair, tmp_path / "charts")
    assert what in errors and str(damaged) in errors


@pytest.mark.parametrize("file, text, what", [("sweep.csv", "step,cache\n1,2\n", "no column"), ("run-all.txt", "date: \xe9\n", "as text"),
                                              ("sweep.csv", None, "not of the same GPU")])
def test_the_other_files_of_a_folder_are_checked_too(file, text, what, tmp_path):
    """Broken: a damaged sweep or .txt causes a traceback, or another GPU's sweep is drawn under this GPU's name."""
    pair = folder(tmp_path / "a", swept=[2**20]), folder(tmp_path / "b", LAPTOP, swept=[2**20])
    (pair[1] / file).write_bytes(text.encode("latin-1") if text else (pair[0] / file).read_bytes())
    errors = rejected(*pair, tmp_path / "charts")
    assert what in errors and f"b/{file}" in errors


def test_no_folder_or_an_output_that_cannot_be_written(tmp_path):
    """Broken: make compare without A or B, or an output that cannot be written, causes a traceback."""
    first = folder(tmp_path / "a")
    assert "make compare A=" in rejected(first, "", tmp_path / "charts")
    with pytest.raises(SystemExit, match="7 folders are too many"), mock.patch.object(sys, "argv", ["compare.py", *["a"] * 7, "--output", "x.svg"]):
        compare.main()
    process = start(first, first, first / "run-all.csv" / "compare.svg")
    errors = process.communicate()[1]
    assert process.returncode == 2 and len(errors.splitlines()) == 1 and "cannot be written" in errors
