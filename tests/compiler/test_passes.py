"""Each pass of the kernel compiler alone, on a small kernel: PTX before and after it, in tests/compiler/passes."""

import pytest

from tests.compiler import pass_examples


@pytest.mark.parametrize("source", pass_examples.sources(), ids=lambda source: source.stem)
def test_a_pass_does_what_its_example_shows(source):
    """Broken: a pass makes something else of its example; python3 -m tests.compiler.pass_examples writes the examples again, if that is meant."""
    text = pass_examples.example(source)
    assert text == source.with_suffix(".ptx").read_text()
    before, after = text.split("\n\n")
    assert before.splitlines()[1:] != after.splitlines()[1:], "the pass changes nothing in its example"


def test_each_pass_has_an_example():
    """Broken: a pass is there that no page and no test shows alone."""
    assert set(pass_examples.pass_names()) == {source.stem for source in pass_examples.sources()}
