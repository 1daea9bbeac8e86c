"""make page: what it shows of the program's output. tests/book runs its player."""

from drywarp import page

PROGRAM = """#!/bin/sh
printf recording > "$SIM_RECORD"
echo "the sum is $1"
echo 'error: data race' >&2
echo '  --> a.cu:3' >&2
echo 'FAIL: <wrong>' >&2
exit 88
"""


def test_the_programs_output_and_findings_are_shown(tmp_path, capsys):
    """Broken: make page hides what the program prints and what the checker finds."""
    (tmp_path / "program").write_text(PROGRAM)
    (tmp_path / "program").chmod(0o755)
    data, printed = page.record(tmp_path / "program", ["7"], tmp_path)
    assert (data, printed) == (b"recording", "the sum is 7\nFAIL: <wrong>\n")  # the player shows the finding
    assert capsys.readouterr() == ("the sum is 7\n", "error: data race\n  --> a.cu:3\nFAIL: <wrong>\n")


def test_the_page_has_the_first_lines_of_the_output():
    """Broken: output is read as HTML, or a million lines make the page unusable."""
    assert page.output_of("") == "" and "the sum is 7\nFAIL: &lt;wrong&gt;</pre>" in page.output_of("the sum is 7\nFAIL: <wrong>\n")
    assert "its first 200 of 1,000,000 lines" in page.output_of("x\n" * 1_000_000) and page.output_of("x\n" * 1_000_000).count("x\n") == 199
