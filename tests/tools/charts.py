"""Results as make run-all and make sweep write them, for tests of the charts."""

from itertools import combinations
from unittest import mock

import pytest

pytest.importorskip("matplotlib", reason="Matplotlib is not there: make test installs it into .venv")
import plot  # noqa: F401  (it chooses the backend first)
from matplotlib.text import Text

from tests.support import ROOT

GOOD = (ROOT / "plots/h200/run-all.csv").read_text()
HEADER, FIRST, *REST = GOOD.splitlines(keepends=True)
RUN_HEADER = "step,device,elements,launches,median_ms,min_ms,q1_ms,q3_ms,gb_per_s,peak_gb_per_s,status\n"
STEPS = """step00_baseline step01_divergent step02_bitops step03_sequential step04_firstadd step05_unrollwarp step06_fullunroll
step07_gridstride step08_shuffle step09_vectorload step10_tiles step11_singlepass step12_onetree step13_oneblock
step14_cluster step15_notickets""".split()
# Shares of the peak for which labels are close to each other and to the peak's line.
SHARES = dict(zip([*STEPS, "reference_cub"], [2e-5, 0.08, 0.17, 0.18, 0.4, 0.5, 0.6, 0.8, 0.85, 0.9, 0.93, 0.95, 0.955, 0.96, 0.965, 0.97, 0.95]))


def run_row(step, n, share, peak=4814.3, fixed_ms=0.004):
    """A row of run-all.csv: a fixed time plus the bytes at a share of the peak."""
    ms = fixed_ms + n * 4 / (share * peak) / 1e6
    return f"{step},NVIDIA H200,{n},2,{ms:.6f},{ms:.6f},{ms * 0.98:.6f},{ms * 1.03:.6f},{n * 4 / ms / 1e6:.3f},{peak},PASS\n"


def write_runs(directory, n, shares=SHARES, peak=4814.3):
    rows = "".join(run_row(step, n, share, peak) for step, share in shares.items())
    (directory / "run-all.csv").write_text(RUN_HEADER + rows)


def write_sweep(directory, sizes, shares=SHARES, peak=4814.3, fixed_ms=None):
    rows = [run_row(step, n, share, peak, (fixed_ms or {}).get(step, 0.004)).replace(",", f",{cache},", 1)
            for n in sizes for step, share in shares.items() for cache in ("cold", "warm")]
    (directory / "sweep.csv").write_text(RUN_HEADER.replace(",", ",cache,", 1) + "".join(rows))


def words(figure):
    """Every drawn text, and its bounding box in pixels, shrunk by one pixel on each side."""
    found, original = [], Text.draw

    def record(text, renderer):
        if text.get_visible() and text.get_text().strip():
            found.append(text)
        original(text, renderer)

    with mock.patch.object(Text, "draw", record):
        figure.canvas.draw()
    return [(text, Text.get_window_extent(text).padded(-1)) for text in found]


def strokes(axes):
    """(path in pixels, filled, text that it leads to or None) of every line and bar."""
    for line in axes.lines:
        yield line.get_transform().transform_path(line.get_path()), False, None
    for bar in axes.patches:  # on a logarithmic axis it begins far below the figure
        yield bar.get_transform().transform_path(bar.get_path()).clip_to_bbox(axes.bbox), True, None
    for spread in axes.collections:
        for path in spread.get_paths():
            yield spread.get_transform().transform_path(path), False, None
    for text in axes.texts:
        leader = getattr(text, "arrow_patch", None)
        if leader:
            yield leader.get_transform().transform_path(leader.get_path()), False, text


def unreadable(figure, least):
    """The problems of a chart's texts; least: minimum font size in points."""
    texts = words(figure)
    for text, box in texts:
        if text.get_fontsize() < least:
            yield f"{text.get_text()!r} is small"
        if box.x0 < 0 or box.y0 < 0 or box.x1 > figure.bbox.x1 or box.y1 > figure.bbox.y1:
            yield f"{text.get_text()!r} leaves the figure"
    # The bounding box of a rotated text does not show where its letters are.
    level = [(text, box) for text, box in texts if text.get_rotation() % 90 == 0]
    for (one, box), (other, other_box) in combinations(level, 2):
        if box.overlaps(other_box):
            yield f"{one.get_text()!r} overlaps {other.get_text()!r}"
    for axes in figure.axes:
        for path, filled, leads_to in strokes(axes):
            for text, box in level:
                if text is not leads_to and path.intersects_bbox(box, filled):
                    yield f"a line or bar goes through {text.get_text()!r}"
