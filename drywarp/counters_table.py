"""The simulator's counters of a program as a table: one row for each kernel."""

from __future__ import annotations

import csv
import itertools
import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import Any

FIRST = "warp_instructions"  # the first counter column
MEAN = "active_lanes_mean"


def readable(name: str) -> str:
    """A kernel's name without its arguments."""
    plain = subprocess.run(["c++filt", "-p", name], capture_output=True, text=True).stdout.strip() if name.startswith("_Z") else name
    return plain.removeprefix("void ") or name


def sums(rows: list[dict[str, str]], columns: list[str]) -> dict[str, Any]:
    """The sum over all launches of a kernel; for a mean, the mean."""
    total: dict[str, Any] = {column: sum(float(row[column]) if column == MEAN else int(row[column]) for row in rows) for column in columns}
    if MEAN in total:
        lanes = sum(float(row[MEAN]) * int(row["warp_instructions"]) for row in rows)
        total[MEAN] = f"{lanes / max(total['warp_instructions'], 1):.1f}"
    return total


def aligned(cells: list[Sequence[str]]) -> list[str]:
    """Rows of cells as lines, the first column to the left, the others to the right."""
    widths = [max(len(row[column]) for row in cells) for column in range(len(cells[0]))]
    return ["  ".join([row[0].ljust(widths[0]), *(cell.rjust(width) for cell, width in zip(row[1:], widths[1:]))]).rstrip() for row in cells]


def heads(column: str) -> tuple[str, str]:
    """A column's name in two lines: global_load_sectors as global_load and sectors."""
    first, _, last = column.rpartition("_")
    return first, last


def of(path: Path) -> str:
    """The table of the simulator's CSV. Columns that are 0 for every kernel are listed below it."""
    try:
        with open(path, newline="") as file:
            reader = csv.DictReader(file)
            rows, columns = list(reader), list(itertools.dropwhile(lambda column: column != FIRST, reader.fieldnames or []))
    except FileNotFoundError:
        rows = []
    if not rows:
        return "no kernel was launched, or none came to its end"
    by_kernel: dict[str, list[dict[str, str]]] = {}
    for row in rows:
        by_kernel.setdefault(readable(row["kernel"]), []).append(row)
    totals = {kernel: {"launches": len(launches), **sums(launches, columns)} for kernel, launches in by_kernel.items()}
    nowhere = [column for column in columns if not any(total[column] for total in totals.values())]
    shown = ["launches", *(column for column in columns if column not in nowhere)]
    first, second = zip(("", "kernel"), *(heads(column) for column in shown))
    lines = aligned([first, second, *([kernel, *(str(total[column]) for column in shown)] for kernel, total in totals.items())])
    return "\n".join(["", *lines, *([f"0 in all: {', '.join(nowhere)}"] if nowhere else [])])
