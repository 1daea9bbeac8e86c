"""The pages: tables that match the measurements, links that resolve."""

import csv
import os
import re
import subprocess
import sys

import pytest


import tables
import drywarp
from scripts.evidence import shown_messages
from scripts.gpu import block_duration, finish, parts
from scripts.ladder import tries

from tests.support import PROGRAMS, ROOT, needs_measuring, nvcc

LADDER = tables.steps()
STEPS = LADDER[:-1]
SCANS = sorted(str(path.relative_to(ROOT)) for path in ROOT.glob("scan/step[0-9][0-9]_*"))
PAGES = [ROOT / "CONTRIBUTING.md", ROOT / "CHANGELOG.md", *(ROOT / ".github").glob("*.md"), *(path for path in tables.all_pages() if not path.is_relative_to(ROOT / "labs"))]


def text_of(page):
    return page.read_text(encoding="utf-8")


def test_tables_match_the_committed_measurements():
    """Broken: a page shows numbers that no committed CSV holds, or code that its program does not have."""
    result = subprocess.run([sys.executable, ROOT / "plots/tables.py", "--check"], capture_output=True, text=True)
    assert result.returncode == 0, result.stderr


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_differences_in_the_text_are_those_of_the_tables(page):
    """Broken: a page explains "a − b = c" with numbers that its tables no longer show, or c is not the difference."""
    shown = {float(number.replace(",", "")) for found in tables.MARKED.finditer(text_of(page))
             for number in re.findall(r"\d[\d,]*\.\d+", found[0])}
    for a, b, c in re.findall(r"(\d+\.\d+)\s−\s(\d+\.\d+)\s=\s+(\d+\.?\d*)", text_of(page)):
        assert {float(a), float(b)} <= shown, f"{a} − {b}: not in the tables of this page"
        assert abs(float(a) - float(b) - float(c)) < 1e-9, f"{a} − {b} is not {c}"


@pytest.mark.parametrize("page", sorted(tables.all_pages()), ids=lambda page: str(page.relative_to(ROOT)))
def test_no_line_begins_like_a_list_by_accident(page):
    """Broken: a line of a paragraph begins with "+ 1" or "1. ", and the page shows a list from there on."""
    prose = re.sub(r"```.*?```", "```", text_of(page), flags=re.S)
    assert re.findall(r"^(?!\s*(?:[-+*>|#<]|\d+\.) ?)(?!  ).+\n(?=(?:\+|1\.) )", prose, flags=re.M) == []


def test_every_kind_of_finding_is_explained():
    """Broken: docs/findings.md lacks a kind of finding, its example or its fix, or a heading differs from the first words of the message."""
    sections = re.split(r"^## ", text_of(ROOT / "docs/findings.md"), flags=re.M)[1:]
    for (kind, words), section in zip(shown_messages.words_of_kinds().items(), sections, strict=True):
        assert section.startswith(f"{words[0].upper()}{words[1:]}\n\n`{kind}`: ") and f"error: {words}: " in section and f"<!-- finding {kind} " in section and "**Fix:**" in section, kind


def test_every_program_has_a_page():
    """Broken: a step has no lesson."""
    for program in PROGRAMS:
        assert program.with_name("README.md").exists(), program


def headings(page):
    """The anchors of a page: its headings in lower case, with dashes for blanks, as GitHub makes them."""
    return {re.sub(r"[^\w -]", "", heading.lower()).replace(" ", "-") for heading in re.findall(r"^#+ (.*)$", text_of(page), re.M)}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_links_resolve(page):
    """Broken: a link names a file or a heading that does not exist."""
    missing = []
    for target, heading in re.findall(r"\]\(([^)#]*)(?:#([^)]*))?\)", text_of(page)):
        there = page.parent / target if target else page
        if "://" not in target and not (there.exists() and (not heading or heading in headings(there))):
            missing.append(f"{target}#{heading}")
    assert not missing


def test_every_page_links_the_glossary():
    """Broken: a page uses the glossary's terms without a link to it."""
    glossary = ROOT / "docs/words.md"
    assert [page for page in tables.all_pages() if page != glossary and f"({os.path.relpath(glossary, page.parent)})" not in text_of(page)] == []


@pytest.mark.parametrize("step", LADDER)
def test_pages_lead_through_the_ladder(step):
    """Broken: a reader who follows the links at the end of the pages misses a step."""
    number = LADDER.index(step)
    neighbours = [f"[{name}](../{name}/README.md)" for name in (*LADDER[:number][-1:], *LADDER[number + 1:][:1])]
    neighbours.append("[all steps](../README.md)")
    assert [link for link in neighbours if link not in text_of(ROOT / step / "README.md")] == []


@pytest.mark.parametrize("step", STEPS)
def test_nothing_is_left_to_write(step):
    """Broken: a lesson or program still has a TODO of the skeleton that `make new-step` made."""
    for name in ("reduce.cu", "README.md"):
        assert not [line for line in text_of(ROOT / step / name).splitlines() if "TODO" in line]


@pytest.mark.parametrize("step", LADDER)
def test_a_step_is_measured(step):
    """Broken: a measurement of a step is missing. (A new step may have none yet.)"""
    needs_measuring(step)
    assert not tables.unmeasured(step)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_nothing_is_left_unmeasured(page):
    """Broken: a table says "not measured yet" although the committed results should have it. (A Try or a new step may.)"""
    if page.is_relative_to(ROOT / "scan") and not tables.SCANS.exists():
        pytest.skip("the prefix sum is not measured yet")
    left = [found[0] for found in tables.MARKED.finditer(text_of(page)) if tables.NOT_MEASURED in found[0]]
    new = [step for step in STEPS if tables.is_new(step)]
    assert not [block for block in left if not any(step in block or step == page.parent.name for step in new)]


def test_where_an_array_begins_is_shown(tmp_path, monkeypatch):
    """Broken: a table shows the times of another offset or another program."""
    monkeypatch.setattr(tables, "MEASURED", tmp_path)
    assert tables.begins(None) == tables.NOT_MEASURED
    (tmp_path / "begins.csv").write_text("step,elements,offset_bytes,us\n" + "".join(
        f"{step},1024,{offset},{us}\n" for offset, step, us in [(0, "a", 100), (0, "b", 200), (4096, "a", 101), (4096, "b", 206), (128, "a", 99.5), (128, "b", 200)]))
    assert tables.begins(None).splitlines()[2:] == ["| 0 bytes | 100.0 (1.000) | 200.0 (1.000) |", "| 128 bytes | 99.5 (0.995) | 200.0 (1.000) |", "| 4 KiB | 101.0 (1.010) | 206.0 (1.030) |"]


def test_a_wrong_sum_of_a_peer_has_no_number(tmp_path, monkeypatch):
    """Broken: docs/peers.md says "not measured yet" of a peer whose sum was wrong."""
    monkeypatch.setattr(tables, "MEASURED", tmp_path)
    (tmp_path / "peers.csv").write_text("name,cache,elements,median_ms,gb_per_s\na,cold,1024,1,10\nb,cold,1024,1,20\nb,cold,4096,1,30\n")
    assert tables.peers(None).splitlines()[2:] == ["| a | 10 | – |", "| b | 20 | 30 |"]


def test_small_times_are_shown_beside_their_lower_bound(tmp_path, monkeypatch):
    """Broken: the lower bound is of another size, or the ratio includes the time of the two events."""
    monkeypatch.setattr(tables, "MEASURED", tmp_path)
    assert tables.lowerbounds(None) == tables.net(None) == tables.restarts(None) == tables.NOT_MEASURED
    (tmp_path / "limits.csv").write_text("peak_gb_per_s,events_us,first_launch_us\n1000,1.25,3\n")
    (tmp_path / "against-cub.csv").write_text("elements,cache,cub_ms,step12_ms,step13_ms,queue_ms\n16384,cold,0.00725,0.005,0.00425,1\n16384,warm,1,1,1,1\n4194304,cold,1,1,1,1\n")
    (tmp_path / "tries.csv").write_text("step,elements,before_ms\na,4096,0.004\na,4096,\na,65536,0.008\na,65536,0.0084\nb,4096,0.004\nb,4096,0.0041\nb,67108864,1\nb,67108864,2\n")
    assert "| 2^18 | 1,048,576 | 1.049 | 3.00 |" in tables.lowerbounds(None)
    assert re.search(r"\ba at 2\^16\b.* 8\.40 µs .* 8\.00 .*\b5 per cent", tables.restarts(None))
    assert tables.net(None).splitlines()[2:] == ["| 2^14 | 4.25 | 7.25 | 1.71 | 2.00 |"]


def test_comparisons_are_with_the_newest_cub(tmp_path, monkeypatch):
    """Broken: a table compares with an older CUB although a newer one was measured, or does not name its version."""
    for name in ("MEASURED", "SCANS"):
        monkeypatch.setattr(tables, name, tmp_path / name / "gpu")
        (tmp_path / name / "gpu").mkdir(parents=True)
    for file, version, cub_ms in (("against-cub", "3.5.0", 2), ("against-cub-cccl", "3.10.0", 3)):
        (tmp_path / f"MEASURED/gpu/{file}.csv").write_text(
            f"elements,cache,cub_ms,step08_ms,step09_ms,cub_version,date\n1024,cold,{cub_ms},1,2,{version},2026-01-02\n1024,warm,{cub_ms},1,1,{version},2026-01-02\n")
        (tmp_path / f"SCANS/gpu/{file}.csv").write_text(f"elements,scan_us,cub_us,copy_us,cub_version,date\n1024,2,{cub_ms},1,{version},2026-01-02\n")
    assert tables.against(None).splitlines()[2] == "| 2^10 | 3.000 | 1.500 | 3.000 | 3.000 |"
    assert all(text.endswith("CUB 3.10.0, measured on 2026-01-02.") for text in (tables.against(None), tables.scanover(None)))
    assert tables.cubs(None).splitlines()[2:] == ["| GPU | 3.5.0 | 2026-01-02 | 1.00× (1.000×) | 2.00× (2.000×) | 1.00× (1.000×) |",
                                                  "| GPU | 3.10.0 | 2026-01-02 | 1.50× (1.500×) | 3.00× (3.000×) | 1.50× (1.500×) |"]


def test_start_addresses_at_which_cub_is_faster_are_counted(tmp_path, monkeypatch):
    """Broken: the first page hides that CUB is faster if the array begins elsewhere."""
    monkeypatch.setattr(tables, "MEASURED", tmp_path)
    assert tables.slower_starts() == (0, 0)
    (tmp_path / "begins.csv").write_text("step,elements,offset_bytes,us\n" + "".join(
        f"{step},1024,{offset},{us}\n" for offset, step, us in [(0, "cub", 9), (0, "step08", 10), (0, "step09", 8), (64, "cub", 9), (64, "step08", 1), (64, "step09", 9.5), (64, "queue", 1), (128, "cub", 9), (128, "step09", 8)]))
    assert tables.slower_starts() == (3, 1)


@pytest.mark.parametrize("step, name", [("step06_fullunroll", "plots/{}/tries.csv"), ("scan/step03_vectors", "scan/{}/tries.csv"),
                                        ("labs/rows/step03_vectors", "plots/{}/labs/rows-tries.csv")])
def test_a_try_shows_the_second_gpu(step, name, tmp_path, monkeypatch):
    """Broken: a page hides that a Try has another ratio on the second GPU, or shows the ratio of another size."""
    for constant, folder in (("MEASURED", "plots/h200"), ("SECOND", "plots/h100"), ("SCANS", "scan/h200")):
        monkeypatch.setattr(tables, constant, tmp_path / folder)
    change = tries.digest(tries.tries(step)[0][0])
    for gpu, elements, after in (("h200", 1024, 0.5), ("h100", 1024, 2), ("h100", 2048, 2)):
        path = tmp_path / name.format(gpu)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"step,try,diff,elements,before_ms,after_ms,status,memcheck_errors,racecheck_errors\n{step},1,{change},{elements},1,{after},PASS,,\n")
        assert ("(2.00×; H100: 0.50×)" in tables.outcome(step, "1")) == ((gpu, elements) == ("h100", 1024))


def test_the_simulators_chart_has_every_step():
    """Broken: the chart of the simulator's counts lacks a step, or shows a removed one."""
    with open(ROOT / "plots/simulator/counters.csv", newline="", encoding="utf-8") as file:
        counted = {row["step"] for row in csv.DictReader(file) if row.get("status", "PASS") == "PASS"}
    assert counted == set(LADDER), "make run-all DEVICE=sim RESULTS=plots/simulator"


def test_the_first_pages_picture_moves():
    """Broken: make film wrote a still image, or one that takes long to load."""
    Image = pytest.importorskip("PIL.Image", reason="Pillow is not there: make test installs it into .venv, with Matplotlib")
    path = ROOT / "docs/stage.webp"
    with Image.open(path) as picture:
        assert picture.n_frames > 20 and f"]({path.relative_to(ROOT)})" in text_of(ROOT / "README.md")
    assert path.stat().st_size < 450_000


def test_the_version_is_the_same_everywhere():
    """Broken: the changelog, the citation and drywarp have different versions."""
    newest = re.search(r"^## (\d+\.\d+\.\d+)", text_of(ROOT / "CHANGELOG.md"), re.M)[1]
    assert re.search(r"^version: (.*)$", text_of(ROOT / "CITATION.cff"), re.M)[1] == drywarp.VERSION == newest


@pytest.mark.parametrize("step", [*STEPS, *SCANS])
def test_a_lesson_has_its_parts(step):
    """Broken: a lesson lacks its figure, kernel or questions, or an answer is not folded."""
    text = text_of(ROOT / step / "README.md")
    assert "](picture.svg)" in text and "<!-- code " in text and "## Predict before you run" in text
    assert text.count("<summary>Answer</summary>") >= text.count("```diff") and text.count("<details>") == text.count("</details>")


@pytest.mark.parametrize("step", STEPS)
def test_tries_apply_and_compile(step, tmp_path):
    """Broken: a Try no longer applies to the program, or shows measurements of another change."""
    diffs = [diff for diff, _ in tries.tries(step)]
    with open(ROOT / "plots/h200/tries.csv", newline="", encoding="utf-8") as file:
        measured = {int(row["try"]): row["diff"] for row in csv.DictReader(file) if row["step"] == step}
    assert diffs and all(tries.digest(diffs[number - 1]) == digest for number, digest in measured.items())
    for number, diff in enumerate(diffs, 1):
        changed = tries.applied(step, diff)
        if number not in measured or not os.environ.get("LEFT_OUT"):  # make test leaves out what has been compiled to be measured
            tries.build(f"{nvcc()} -arch=sm_75 -ptx", changed, tmp_path)


@pytest.mark.parametrize("step, number", shown_messages.shown_tries(), ids=lambda word: str(word))
def test_findings_of_a_try_quote_its_program(step, number):
    """Broken: a page quotes a finding with lines that the changed program does not have."""
    program = tries.changed(step, number).splitlines()
    quoted = re.findall(r"^ +(\d+) \| (.*)$", text_of(shown_messages.try_message(step, str(number))), re.M)
    assert quoted and all(program[int(line) - 1].strip() == code.strip() for line, code in quoted)


def test_what_measures_a_changed_step_still_finds_its_places():
    """Broken: a step lacks a line that make starts, make finish or make parts changes; otherwise only a GPU would show it."""
    for step in STEPS[1:8]:
        assert block_duration.with_clock(step) and all(parts.part_of(step, change) for change in parts.PARTS.values())
    assert "BLOCK_SIZE = 512" in block_duration.with_clock("step06_fullunroll,2")
    assert all(finish.with_clock(*program) for program in finish.programs(STEPS[-1]))


def test_tries_do_not_depend_on_the_locale():
    """Broken: with an ASCII locale a page's Tries cannot be read."""
    result = subprocess.run([sys.executable, "-m", "scripts.ladder.tries", "--print", "1", "step02_bitops"], capture_output=True,
                            env=os.environ | {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"})
    assert (result.returncode, result.stderr) == (0, b"")


def test_the_map_of_folders_is_complete():
    """Broken: CONTRIBUTING.md lacks a folder, or lists one that is gone."""
    listed = re.search(r"```\n(step00_baseline.*?)```", text_of(ROOT / "CONTRIBUTING.md"), re.S)[1]
    names = {line.split()[0].rstrip("/") for line in listed.splitlines()}
    tracked = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True).stdout.splitlines()
    folders = {path.split("/")[0] for path in tracked if "/" in path}
    assert names == {name for name in folders if not re.match(r"step\d\d_", name)} | {"step00_baseline"}


def test_no_build_product_is_tracked():
    """Broken: a picture in pixels or WebAssembly is committed, or a large file without a reason in CONTRIBUTING.md."""
    tracked = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True).stdout.splitlines()
    assert [path for path in tracked if path.endswith((".png", ".wasm"))] == []
    large = [path for path in tracked if (ROOT / path).is_file() and (ROOT / path).stat().st_size > 300_000]
    assert large == re.findall(r"^\| `([^`]+)` \| ", text_of(ROOT / "CONTRIBUTING.md").partition("Tracked files over 300 kB")[2].partition("\n# ")[0], re.M)


def test_gains_of_a_lab_are_shown_for_both_gpus(tmp_path, monkeypatch):
    """Broken: a step's page shows the gain of another step, another value or another GPU."""
    for constant, gpu in (("MEASURED", "h200"), ("SECOND", "h100")):
        monkeypatch.setattr(tables, constant, tmp_path / gpu)
        (tmp_path / gpu / "labs").mkdir(parents=True)
    rows = {"h200": [("step00_passes", "float", 128, 6), ("step01_shuffle", "float", 128, 3), ("step01_shuffle", "bf16", 128, 1), ("step01_shuffle", "float", 512, 1)],
            "h100": [("step00_passes", "float", 128, 6), ("step01_shuffle", "float", 128, 4)]}
    for gpu, measured in rows.items():
        (tmp_path / gpu / "labs/rows.csv").write_text("step,element,columns,median_ms,status\n" + "".join(f"{step},{element},{columns},{ms},PASS\n" for step, element, columns, ms in measured))
    shown = tables.labgains("labs/rows/step01_shuffle", "columns=128,512", "element=float").splitlines()
    assert shown[0] == "| gain over step 00 | 128 | 512 |" and shown[2:] == ["| H200 | 2.00× | not measured yet |", "| H100 | 1.50× | not measured yet |"]
    with pytest.raises(tables.Unfillable):
        tables.labgains("labs/rows/step00_passes", "columns=128")


def test_a_labs_column_is_shown_over_another(tmp_path, monkeypatch):
    """Broken: a table shows a value in another program's line or in another column, or drops a program."""
    monkeypatch.setattr(tables, "MEASURED", tmp_path)
    (tmp_path / "labs").mkdir()
    (tmp_path / "labs/peers.csv").write_text("name,operation,element,columns,gb_per_s\na,sum,float,1024,4000\na,max,float,1024,12\na,max,bf16,1024,7\nb,max,float,512,13\nb,max,float,64,1\n")
    shown = tables.labover("docs", "peers.csv", "gb_per_s", "operation", "columns=1024,512", "element=float").splitlines()
    assert shown == ["| name | operation | 1,024 | 512 |", "| --- | --- | ---: | ---: |", "| a | sum | 4,000 | – |", "| a | max | 12 | – |", "| b | max | – | 13 |"]
