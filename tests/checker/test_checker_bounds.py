"""The memory consumption of the checker."""

from tests.support import ROOT, build, needs_simulator, run, unsanitized

pytestmark = needs_simulator


@unsanitized
def test_a_fence_does_not_copy_the_acquired_history():
    """Broken: each fence copies the whole history of its thread, so that a kernel with many fences needs gigabytes."""
    program = build(ROOT / "tests/checker/checker_bounds.cu", "checker_bounds/checker_bounds")
    result = run(program, SIM_CHECK="1", SIM_THREADS="1")
    assert result.returncode == 0, result.stderr
    assert 0 < int(result.stdout) < 200_000, "KiB"
