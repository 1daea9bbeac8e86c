"""How much memory the checker itself takes."""

from tests.support import ROOT, build, run, unsanitized


@unsanitized
def test_what_threads_know_of_each_other_is_not_copied_at_each_fence(tmp_path):
    """Broken: each fence copies all that its thread knows, so that a kernel of fences takes gigabytes."""
    program = build(ROOT / "tests/checker/checker_bounds.cu", tmp_path / "checker_bounds")
    result = run(program, SIM_CHECK="1", SIM_THREADS="1")
    assert result.returncode == 0, result.stderr
    assert 0 < int(result.stdout) < 200_000, "KiB"
