#!/usr/bin/env python3
"""A learner's kernel in the course's harness: writes the program, and ranks it among the steps.

docs/mine.md describes the kernel's file; make mine does everything."""

from __future__ import annotations

import argparse
import csv
import math
import os
import re
import shlex
from collections.abc import Iterator
from pathlib import Path

from drywarp import files
from drywarp.errors import Parser, fail
from drywarp.paths import ROOT

NAME = "mine"
REFERENCE = "reference_cub"
HARNESS_OF = "step00_baseline/reduce.cu"
MARK = "// ==== Harness"
CHECK = "#define CHECK(call) check(call, #call, __FILE__, __LINE__)\n"
COMMENT_OR_LITERAL = re.compile(r'//[^\n]*|/\*.*?(?:\*/|\Z)|"(?:\\.|[^"\\\n])*"|(?<!\w)\'(?:\\.|[^\'\\\n])*\'', re.S)
STEP = re.compile(r'\bSTEP\s*(?:\[[^]]*\]\s*)?=\s*("(?:\\.|[^"\\\n])*")')
COUNTERS = ["warp_instructions", "shared_loads", "shared_stores", "bank_conflicts", "global_load_requests", "global_load_sectors"]
SECTOR_BYTES = 32


# ---- compose

def read(path: str | Path) -> str:
    """A source's text."""
    try:
        data = Path(path).read_bytes() if path else fail("FILE is missing; name your kernel, as in: make mine FILE=my/reduce.cu")
    except (OSError, ValueError) as error:
        fail(f"FILE='{path}' cannot be read: {getattr(error, 'strerror', None) or error}")
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError:  # an older encoding, in a comment
        text = data.decode("latin-1")
    return text.replace("\r\n", "\n")


def split(text: str) -> tuple[str, str]:
    """The text above the harness mark, or all of it if there is no mark; and the rest."""
    mark = re.search(f"^{MARK}", text, re.M)
    return (text[:mark.start()], text[mark.start():]) if mark else (text, "")


def without_comments(text: str) -> str:
    """The same text, each character of a comment a blank."""
    return COMMENT_OR_LITERAL.sub(lambda found: re.sub(r"[^\n]", " ", found[0]) if found[0][0] == "/" else found[0], text)


def defines(code: str, function: str) -> bool:
    return bool(re.search(rf"\b{function}\s*\([^(){{}};]*\)[^(){{}};]*\{{", code))


def missing_functions(path: str | Path, code: str, functions: tuple[str, ...] = ("partial_count", "launch"), page: str = "docs/mine.md") -> str:
    """One line for what the compiler would report in many, "" if nothing is missing; docs/mine.md explains the functions."""
    if defines(code, "main"):
        return (f"{path} has a main of its own, but the harness brings one: above a line that begins with '{MARK}', or in the whole file, "
                f"stand only the kernel, {' and '.join(functions)}")
    missing = [function for function in functions if not defines(code, function)]
    if missing and not re.search(r'^\s*#\s*include\s*"', code, re.M):  # it may define them
        return f"{path} defines no {' and no '.join(missing)}; {page} shows what the harness calls"
    return ""


def includes_from(folder: Path, output: Path, text: str) -> str:
    """The text with includes of files in the learner's folder as paths from the program's folder."""
    def renamed(found: re.Match[str]) -> str:
        if not (folder / found[2]).exists():
            return found[0]
        return found[1] + os.path.relpath(folder / found[2], output.parent) + '"'
    return re.sub(r'^(\s*#\s*include\s*")([^"\n]+)"', renamed, text, flags=re.M)


def line(number: int, path: str | Path) -> str:
    """A #line directive, so that messages of compiler and simulator name that file; ptxas accepts no quote in a name."""
    name = str(path).replace('"', "'").replace("\\", "\\\\")
    return f'#line {number} "{name}"\n'


def composed(path: str | Path, output: Path) -> str:
    """The whole program: missing definitions that the harness needs, the learner's part, the harness."""
    lesson, _ = split(read(path))
    code = without_comments(lesson)
    missing = missing_functions(path, code)
    if missing:
        fail(missing)
    step = STEP.search(code)
    if step:
        lesson = lesson[:step.start(1)] + f'"{NAME}"' + lesson[step.end(1):]
    above, harness = split(read(ROOT / HARNESS_OF))
    return "".join([
        f"// Composed by drywarp/mine.py of the file that #line names, and of the harness of {HARNESS_OF}.\n",
        "#include <cstdio>\n",
        "" if step else f'static const char STEP[] = "{NAME}";\n',
        "" if re.search(r"#\s*define\s+CHECK\b", code) else CHECK,
        "static void check(cudaError_t error, const char *call, const char *file, int line);\n",
        line(1, path), includes_from(Path(path).parent, output, lesson), "\n",
        "#undef CHECK\n", CHECK,
        line(above.count("\n") + 1, HARNESS_OF), harness])


def compose(options: argparse.Namespace) -> None:
    program = composed(options.file, options.output)
    if options.output.exists() and options.output.samefile(options.file):
        fail(f"{options.output} is FILE itself, and would be overwritten")
    with files.whole(options.output) as file:
        file.write(program)


# ---- report

def rows_of(path: Path) -> list[dict[str, str]]:
    """The rows of a CSV of run_all.sh or sweep.py."""
    try:
        with open(path, newline="", encoding="utf-8") as file:
            rows = list(csv.DictReader(file))
    except (OSError, UnicodeDecodeError) as error:
        fail(f"{path} cannot be read: {getattr(error, 'strerror', None) or 'no UTF-8 text'}; make mine writes it")
    if not rows or not {"step", "status"} <= rows[0].keys():
        fail(f"{path}: no rows with a step and a status")
    return rows


def by_step(path: Path, rows: list[dict[str, str]]) -> dict[str, list[dict[str, str]]]:
    """The passed rows of each step; exits if mine is not among them."""
    steps: dict[str, list[dict[str, str]]] = {}
    for row in rows:
        if row["status"] == "PASS":
            steps.setdefault(row["step"], []).append(row)
    if NAME not in steps:
        status = next((row["status"] for row in rows if row["step"] == NAME), None)
        judge = f"make judge FILE={shlex.quote(os.environ.get('FILE') or 'my/reduce.cu')}"
        fail(f"{path}: {NAME} ended with {status}; its line in the table says why; {judge} gives each array exactly its size, and so finds the line of an access "
             f"past the end" if status else f"{path}: no row of {NAME}")
    return steps


def short(value: float) -> str:
    """A number with four digits, or all of those before the point."""
    return f"{value:.4g}" if value < 1000 else f"{value:,.0f}"


def ladder_place(mine: dict[str, str], steps: dict[str, dict[str, str]]) -> str:
    """A time's position among those of the steps. There is no significant difference if the interquartile ranges overlap, as on all pages."""
    spans = {name: [float(row[column]) for column in ("median_ms", "q1_ms", "q3_ms")] for name, row in steps.items()}
    median, q1, q3 = (float(mine[column]) for column in ("median_ms", "q1_ms", "q3_ms"))
    similar = [name for name, (_, low, high) in spans.items() if low <= q3 and q1 <= high]
    apart = {ms: name for name, (ms, *_) in spans.items() if name not in similar}
    faster, slower = [ms for ms in apart if ms < median], [ms for ms in apart if ms > median]
    words = [f"slower than {apart[max(faster)]} ({short(max(faster))} ms)"] if faster else []
    words += [f"no significant difference from {', '.join(similar)} (interquartile ranges overlap)"] if similar else []
    words += [f"faster than {apart[min(slower)]} ({short(min(slower))} ms)"] if slower else []
    return ", ".join(words) or "no other step passed"


def times(steps: dict[str, list[dict[str, str]]]) -> Iterator[str]:
    """The lines of a run on a GPU."""
    row = steps.pop(NAME)[0]
    reference = steps.pop(REFERENCE, [None])[0]
    elements, ms, peak = int(row["elements"]), float(row["median_ms"]), float(row["peak_gb_per_s"])
    yield f"{NAME}: {short(ms)} ms for n = {elements:,}, {short(4 * elements / ms / 1e6)} GB/s, on {row['device']}"
    if peak:
        least = 4 * elements / peak / 1e6
        yield f"  of the memory's peak: {100 * least / ms:.1f} %; at {peak:,.0f} GB/s it would take {short(least)} ms"
    if reference:
        reference_ms = float(reference["median_ms"])
        yield f"  against CUB: {short(ms / reference_ms)} times its time ({short(reference_ms)} ms)"
    yield f"  on the ladder: {ladder_place(row, {name: rows[0] for name, rows in steps.items()})}"


def neighbours(value: int, others: dict[str, int]) -> str:
    """A count's position among those of the steps."""
    equal = [name for name, count in others.items() if count == value]
    if equal:
        return f"as many as {equal[-1]}"
    fewer, more = ({count: name for name, count in others.items() if (count < value) == below} for below in (True, False))
    words = [f"more than {fewer[max(fewer)]} ({max(fewer):,})"] if fewer else []
    words += [f"fewer than {more[min(more)]} ({min(more):,})"] if more else []
    return ", ".join(words) or "no other step passed"


def counts(steps: dict[str, list[dict[str, str]]], elements: int) -> Iterator[str]:
    """The lines of a run on the simulator: sums over the launches of one reduction."""
    totals = {name: {counter: sum(int(row[counter]) for row in rows) for counter in COUNTERS} for name, rows in steps.items()}
    launches = len(steps[NAME])
    mine, reference = totals.pop(NAME), totals.pop(REFERENCE, None)
    for total in (mine, *totals.values()):
        total["shared"] = total["shared_loads"] + total["shared_stores"]

    def against_steps(counter: str) -> str:
        return f"{mine[counter]:,}, {neighbours(mine[counter], {name: total[counter] for name, total in totals.items()})}"

    yield f"{NAME} on the simulator, which measures no times: n = {elements:,}, launches {launches}; counters:"
    of_reference = f"; {mine['warp_instructions'] / reference['warp_instructions']:.2f} times CUB's" if reference else ""
    yield f"  warp instructions: {against_steps('warp_instructions')}{of_reference}"
    yield f"  shared loads and stores: {against_steps('shared')}; bank conflicts: {mine['bank_conflicts']:,}"
    least = math.ceil(4 * elements / SECTOR_BYTES)
    yield (f"  load requests: {against_steps('global_load_requests')}; "
           f"sectors: {mine['global_load_sectors']:,}, {mine['global_load_sectors'] / least:.2f} times the lower bound")


def over_sizes(path: Path) -> tuple[str, list[str]]:
    """One line about a sweep: at how many sizes the sum is right and, on a GPU, faster than CUB; and the sizes at which it is wrong."""
    rows = {(row["step"], int(row["elements"])): row for row in rows_of(path) if row.get("cache") in (None, "", "cold")}
    mine = {n: row for (step, n), row in rows.items() if step == NAME and row["status"] not in ("REFUSED", "SKIP")}
    if not mine:
        fail(f"{path}: no row of {NAME}")
    wrong = [f"{n:,}" for n, row in mine.items() if row["status"] != "PASS"]
    words = f"  over n: right at {len(mine) - len(wrong)} of {len(mine)} sizes, {min(mine):,} to {max(mine):,}"
    pairs = [(row, rows[REFERENCE, n]) for n, row in mine.items() if (REFERENCE, n) in rows]
    times_ms = [(float(a["median_ms"]), float(b["median_ms"])) for a, b in pairs if a.get("median_ms") and b.get("median_ms")]
    faster = f"; faster than CUB at {sum(a < b for a, b in times_ms)} of {len(times_ms)}, cold cache" if times_ms else ""
    return words + (f"; failed at {' and '.join(wrong)}" if wrong else "") + faster, wrong


def elements_beside(path: Path) -> int:
    """n, from the .txt that run_all.sh writes next to its CSV."""
    about = path.with_suffix(".txt")
    found = re.search(r"^elements: (\d+)$", about.read_text(), re.M) if about.exists() else None
    return int(found[1]) if found else fail(f"{about}: no line 'elements: n'")


def report(options: argparse.Namespace) -> None:
    rows = rows_of(options.results)
    steps = by_step(options.results, rows)
    try:
        lines = list(times(steps) if "median_ms" in rows[0] else counts(steps, elements_beside(options.results)))
        swept, wrong = over_sizes(options.sweep) if options.sweep else (None, [])
    except (KeyError, ValueError, TypeError, ZeroDivisionError) as error:
        fail(f"{options.results}: not as run_all.sh or sweep.py writes it ({type(error).__name__}: {error})")
    print("\n".join([*lines, *([swept] if swept else [])]))
    if wrong:
        fail(f"the kernel fails at {len(wrong)} of the sizes; make mine FILE=... N={wrong[0].replace(',', '')} shows the error", 1)


def main() -> None:
    parser = Parser(description=__doc__)
    commands = parser.add_subparsers(required=True, metavar="compose|report")
    composing = commands.add_parser("compose", help="write the whole program",
                                    description="Writes the whole program: the learner's part of FILE, and the harness.")
    composing.add_argument("file", metavar="FILE", help="the kernel, partial_count and launch; or a whole step, whose harness is replaced")
    composing.add_argument("output", type=Path, metavar="OUTPUT", help="the program")
    composing.set_defaults(run=compose)
    reporting = commands.add_parser("report", help="rank it among the steps",
                                    description="Compares the row 'mine' with the others, in a few lines.")
    reporting.add_argument("results", type=Path, metavar="CSV", help="of run_all.sh: run-all.csv or, of the simulator, counters.csv")
    reporting.add_argument("--sweep", type=Path, metavar="CSV", help="of sweep.py, for one line more")
    reporting.set_defaults(run=report)
    options = parser.parse_args()
    options.run(options)


if __name__ == "__main__":
    main()
