"""plot.py on good and on damaged CSVs, and the legibility of its charts."""

import contextlib
import io
import re
import shutil
import subprocess
import sys
from unittest import mock

import pytest

pytest.importorskip("matplotlib", reason="Matplotlib is not there: make test installs it into .venv")
import plot
import svg

from tests.tools.charts import FIRST, GOOD, HEADER, REST, RUN_HEADER, SHARES, STEPS, run_row, unreadable, write_runs, write_sweep
from tests.support import ROOT, longer, make

BANDWIDTH = FIRST.split(",")[HEADER.split(",").index("gb_per_s")]


def start(directory, *arguments, **options):
    return subprocess.Popen([sys.executable, ROOT / "plots/plot.py", directory, *arguments], stdout=subprocess.PIPE,
                            stderr=subprocess.PIPE, text=True, **options)


def draw(directory, *arguments):
    """As start, but in this process, where matplotlib is loaded, and without layout, for tests that do not look at the charts."""
    errors, quick = io.StringIO(), {"figure.autolayout": False}
    with mock.patch.object(sys, "argv", ["plot.py", str(directory), *arguments]), contextlib.redirect_stderr(errors), plot.matplotlib.rc_context(quick):
        try:
            status = plot.main()
        except SystemExit as end:
            status = end.code
    plot.choose("page")
    return (1, f"{errors.getvalue()}{status}\n") if isinstance(status, str) else (status or 0, errors.getvalue())


def figures(directory, monkeypatch, style="page"):
    """The charts of a directory by name, not saved."""
    found = {}
    monkeypatch.setattr(plot, "save", lambda figure, _, name: found.update({name: figure}))
    monkeypatch.setattr(sys, "argv", ["plot.py", "--style", style, str(directory)])
    plot.main()
    plot.choose("page")
    return found


def measured(directory):
    for file in ROOT.glob("plots/h200/*.csv"):
        shutil.copy(file, directory)


def simulated(directory):
    shutil.copy(ROOT / "plots/simulator/counters.csv", directory)
    shutil.copy(ROOT / "plots/simulator/counters.txt", directory)


def near_the_peak(directory):
    write_runs(directory, 2**30)
    write_sweep(directory, [2**k for k in range(10, 31, 2)])


def three_steps(directory):
    few = {step: SHARES[step] for step in STEPS[:3]}
    write_runs(directory, 2**20, few)
    write_sweep(directory, [2**10, 2**20], few)


def a_small_gpu(directory):
    shares = {step: 0.93 + 0.003 * k for k, step in enumerate(SHARES)} | {STEPS[0]: 0.002, STEPS[1]: 0.3}
    write_runs(directory, 2**24, shares, 300)
    write_sweep(directory, [2**10, 2**15 - 1, 2**20, 2**24, 2**28], shares, 300)


def some_failed(directory):
    write_runs(directory, 1000003, {step: SHARES[step] for step in STEPS[:12]})
    with open(directory / "run-all.csv", "a") as file:
        file.write("step13_oneblock,,1000003,,,,,,,,HANG\nreference_cub,,1000003,,,,,,,,CRASH\n")


def long_names(directory):
    write_runs(directory, 2**26, SHARES | {"step16_distributedshared": 0.9})


CASES = [simulated, *(pytest.param(case, marks=longer) for case in (measured, near_the_peak, a_small_gpu, three_steps, some_failed, long_names))]


@pytest.mark.parametrize("case", CASES)
def test_texts_can_be_read(case, tmp_path, monkeypatch):
    """Broken: a text overlaps another text, a line or a bar, leaves the figure, or is too small to read."""
    case(tmp_path)
    for name, figure in figures(tmp_path, monkeypatch).items():
        assert not [f"{name}: {what}" for what in unreadable(figure, 8)]
        plot.plt.close(figure)


@longer  # the page's charts have the same texts
@pytest.mark.parametrize("case", [simulated, measured, a_small_gpu, three_steps, long_names])
def test_slides_can_be_read_from_the_back_row(case, tmp_path, monkeypatch):
    """Broken: a projector's chart is not 16:9, has a letter lower than 1/41 of its height, or texts that overlap or leave the chart."""
    case(tmp_path)
    for name, figure in figures(tmp_path, monkeypatch, "projector").items():
        width, height = figure.get_size_inches()
        assert width / height == 16 / 9, name
        assert not [f"{name}: {what}" for what in unreadable(figure, 72 * height / 41)]
        plot.plt.close(figure)


def test_cub_is_a_bar_and_the_spread_is_drawn(tmp_path, monkeypatch):
    """Broken: CUB or a step has no bar, CUB looks like a step, or the interquartile range is not shown."""
    write_runs(tmp_path, 2**26)
    axes = figures(tmp_path, monkeypatch)["bandwidth"].axes[0]
    colours = [plot.matplotlib.colors.to_hex(bar.get_facecolor()) for bar in axes.patches]
    assert colours == [plot.STEP_COLOUR] * len(STEPS) + [plot.REFERENCE_COLOUR]
    assert len(axes.collections) == len(colours)


def test_the_sweep_names_the_fastest(tmp_path, monkeypatch):
    """Broken: the titles name another step than the one with the least time at small and at large n."""
    shares = {"step01_one": 0.5, "step02_two": 0.9, "step03_three": 0.05, "reference_cub": 0.4}
    write_sweep(tmp_path, [2**10, 2**12, 2**20, 2**30], shares, fixed_ms={"step03_three": 0.001})
    small, large = (axes.get_title("left") for axes in figures(tmp_path, monkeypatch)["sweep"].axes)
    assert "03 three" in small and "2 of 3" in small
    assert "02 two" in large and "$2^{30}$" in large


def test_counters_show_the_reduction_only(tmp_path, monkeypatch):
    """Broken: the harness's kernel is mistaken for a step's first pass, or a panel has only zeros."""
    simulated(tmp_path)
    header, *rows = (tmp_path / "counters.csv").read_text().splitlines(keepends=True)
    harness = ["prepare" if name == "kernel" else "77777777" for name in header.split(",")]
    before = [",".join([row.split(",")[0], *harness[1:]]) + "\n" for row in rows]
    (tmp_path / "counters.csv").write_text(header + "".join(line for pair in zip(before, rows) for line in pair))
    panels = figures(tmp_path, monkeypatch)["simulated"].axes
    steps = {row.split(",")[0] for row in rows}
    for axes in panels:
        heights = [bar.get_height() for bar in axes.patches]
        assert len(heights) == len(steps) and any(heights) and max(heights) < 77777


def test_good_results_give_all_charts(tmp_path):
    """Broken: a chart is missing, or a failed step keeps the others from being drawn."""
    failed = {"step": "step01_divergent", "elements": "67108864", "status": "HANG"}
    row = ",".join(failed.get(name, "") for name in HEADER.strip().split(",")) + "\n"
    (tmp_path / "run-all.csv").write_text(HEADER + FIRST + row + "".join(REST[1:]))
    shutil.copy(ROOT / "plots/h200/profile.csv", tmp_path)
    assert draw(tmp_path) == (0, "")
    for name in ("bandwidth", "time", "counters"):
        assert (tmp_path / f"{name}.svg").read_text().rstrip().endswith("</svg>")


def test_a_chart_does_not_depend_on_last_digits():
    """Broken: the same chart drawn on another machine differs in all its lines; or two charts in one page share an id, or lose the digits of a scale."""
    drawn = '<path id="m0123456789" d="M 57.369687 12.125 L -0.001 384"/><use xlink:href="#m0123456789" transform="scale(0.015625)"/><!-- 0.125 -->'
    elsewhere = drawn.replace("57.369687", "57.369688").replace("12.125", "12.124999").replace("m0123456789", "mabcdef0123")
    assert svg.stable(drawn) == svg.stable(elsewhere)
    assert re.fullmatch(r'<path id="(id0-\w+)" d="M 57.37 12.13 L 0 384"/><use xlink:href="#\1" transform="scale\(0.015625\)"/><!-- 0.125 -->', svg.stable(drawn))
    assert svg.stable(drawn)[:20] != svg.stable(drawn.replace("384", "385"))[:20]


@longer
@pytest.mark.parametrize("module, folder", [("plot", "plots/simulator"), ("plot", "plots/h200"), ("plot", "plots/h200/2to30"), ("scan", "scan/h200"), ("labs", "plots/h200/labs")])
def test_committed_charts_are_those_of_the_results(module, folder, tmp_path):
    """Broken: a committed chart shows older results, or what older code drew; make charts updates it."""
    committed = {path.name: path.read_text(encoding="utf-8") for path in (ROOT / folder).glob("*.svg")}
    if not all(f"Matplotlib v{plot.matplotlib.__version__}," in text for text in committed.values()):
        pytest.skip("another Matplotlib drew the committed charts")
    for path in (ROOT / folder).glob("*.[ct][sx][vt]"):
        shutil.copy(path, tmp_path)
    names = [name.removesuffix(".svg") for name in committed] if module == "labs" else []
    subprocess.run([sys.executable, ROOT / f"plots/{module}.py", tmp_path, *names], check=True)
    assert {path.name: path.read_text(encoding="utf-8") for path in tmp_path.glob("*.svg")} == committed


def test_a_sweep_gives_its_charts(tmp_path):
    """Broken: the sweep's charts are missing, or need files other than the sweep's."""
    shutil.copy(ROOT / "plots/h200/sweep.csv", tmp_path)
    assert draw(tmp_path) == (0, "")
    for name in ("sweep", "sweep-against-cub"):
        assert (tmp_path / f"{name}.svg").read_text().rstrip().endswith("</svg>")
    (tmp_path / "sweep.csv").write_text("step,cache\n1,2\n")
    status, errors = draw(tmp_path)
    assert status == 1 and len(errors.splitlines()) == 1 and "sweep.csv" in errors


def test_slides_lie_beside_the_pages_charts(tmp_path, monkeypatch):
    """Broken: make plots STYLE=projector overwrites the charts of a page, or its files lack -projector in their names."""
    monkeypatch.setattr(plot.matplotlib.figure.Figure, "savefig", lambda figure, file, **options: file.write(b"drawn"))  # only names are looked at
    write_runs(tmp_path, 2**26)
    write_sweep(tmp_path, [2**10, 2**30])
    (tmp_path / "bandwidth.svg").write_text("the page's")
    assert draw(tmp_path, "--style", "projector") == (0, "")
    assert (tmp_path / "bandwidth.svg").read_text() == "the page's"
    slides = {file.name.removesuffix("-projector.png") for file in tmp_path.glob("*-projector.png")}
    assert slides == {"bandwidth", "time", "sweep-small", "sweep-large", "sweep-against-cub-cold", "sweep-against-cub-warm"}
    assert len(list(tmp_path.iterdir())) == 3 + 2 * len(slides)


def test_a_style_that_is_none_is_named(tmp_path):
    """Broken: an unknown style causes more than one line, draws something, or has the exit status of a failed drawing."""
    write_runs(tmp_path, 2**26)
    status, errors = draw(tmp_path, "--style", "beamer")
    assert status == 2 and len(errors.splitlines()) == 1 and "'beamer'" in errors and "projector" in errors
    assert len(list(tmp_path.iterdir())) == 1


@longer
def test_two_at_once(tmp_path):
    """Broken: two plot.py in one folder use or leave unfinished files, or ignore the umask."""
    write_runs(tmp_path, 2**26)
    both = [start(tmp_path, umask=0o027) for _ in range(2)]
    for process in both:
        _, errors = process.communicate()
        assert (process.returncode, errors) == (0, "")
    charts = {f"{name}.svg" for name in ("bandwidth", "time")}
    assert {file.name for file in tmp_path.iterdir()} == charts | {"run-all.csv"}
    assert {(tmp_path / chart).stat().st_mode & 0o777 for chart in charts} == {0o640}


def test_two_meet(tmp_path):
    """Broken: a chart cannot be saved if another process saved the same one meanwhile."""
    first, second = plot.plt.figure(), plot.plt.figure()
    write = first.savefig

    def write_and_be_overtaken(file, **options):
        write(file, **options)
        plot.save(second, tmp_path, "chart")

    first.savefig = write_and_be_overtaken
    plot.save(first, tmp_path, "chart")
    assert {file.name for file in tmp_path.iterdir()} == {"chart.svg"}


QUARTERS = run_row("step00_baseline", 2**20, 0.5)
MEDIAN = QUARTERS.split(",")[4]
DAMAGED = {
    "empty": ("", "line 1", "no rows"),
    "no rows": (HEADER, "line 1", "no rows"),
    "other header": ("a,b\n1,2\n", "line 1", "no column"),
    "truncated": (GOOD[:-40], f"line {len(REST) + 2}", "fields"),
    "no number": (HEADER + FIRST.replace(BANDWIDTH, "fast"), "line 2", "'fast'"),
    "not a number": (HEADER + FIRST.replace(BANDWIDTH, "nan"), "line 2", "'nan'"),
    "negative": (HEADER + FIRST.replace(BANDWIDTH, "-1"), "line 2", "'-1'"),
    "twice": (HEADER + FIRST + FIRST, "line 3", "twice"),
    "no time": (RUN_HEADER + QUARTERS.replace(MEDIAN, "0"), "line 2", "is 0"),
    "median outside": (RUN_HEADER + QUARTERS.replace(MEDIAN, "9"), "line 2", "more than q3_ms"),
}


@pytest.mark.parametrize("damage", DAMAGED)
def test_damaged_results_are_named(damage, tmp_path):
    """Broken: a damaged CSV causes a traceback or a nonsensical chart, or the old chart is lost."""
    text, line, what = DAMAGED[damage]
    (tmp_path / "run-all.csv").write_text(text)
    (tmp_path / "bandwidth.svg").write_text("old")
    status, errors = draw(tmp_path)
    assert status == 1 and len(errors.splitlines()) == 1
    assert "run-all.csv" in errors and line in errors and what in errors
    assert (tmp_path / "bandwidth.svg").read_text() == "old"


def test_missing_results_are_named(tmp_path):
    """Broken: missing results cause a traceback."""
    status, errors = draw(tmp_path)
    assert status == 1 and len(errors.splitlines()) == 1 and "run-all.csv" in errors


def test_a_sweep_on_the_simulator_is_drawn(tmp_path):
    """Broken: `make sweep DEVICE=sim` counts for minutes and draws nothing."""
    rows = ["step,elements,launches,warp_instructions,global_load_requests,status"]
    rows += [f"{step},{n},1,{n // 10},{n // 32},PASS" for n in (1024, 4096, 65536) for step in ("step03_sequential", "mine", "reference_cub")]
    (tmp_path / "sweep-counters.csv").write_text("\n".join([*rows, "step04_firstadd,4096,,,,FAIL"]) + "\n")
    assert draw(tmp_path) == (0, "")
    drawn = (tmp_path / "sweep-counters.svg").read_text()
    assert "03 sequential" in drawn and "mine" in drawn and "CUB" in drawn


def test_a_step_that_failed_on_the_simulator_has_no_bar(tmp_path):
    """Broken: a failed step prevents the chart of the others."""
    header, *rows = (ROOT / "plots/simulator/counters.csv").read_text().splitlines()
    (tmp_path / "counters.csv").write_text("\n".join([f"{header},status", *(f"{row},PASS" for row in rows),
                                                      "step99_wrong" + "," * len(header.split(",")) + "FAIL"]) + "\n")
    assert draw(tmp_path) == (0, "")
    drawn = (tmp_path / "simulated.svg").read_text()
    assert "sequential" in drawn and "wrong" not in drawn


@longer
def test_a_notebook_may_ask_for_another_backend(tmp_path):
    """Broken: charts are not drawn from a notebook whose backend is not installed."""
    write_runs(tmp_path, 2**26)
    result = make("-s", "plots", f"RESULTS={tmp_path}", MPLBACKEND="module://matplotlib_inline.backend_inline")
    assert result.returncode == 0 and (tmp_path / "bandwidth.svg").exists(), result.stderr
