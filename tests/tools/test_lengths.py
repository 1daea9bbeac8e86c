"""make lengths: how long the lessons are."""

import pytest

from scripts.ladder import lengths
from tests.support import STEPS, changed_lines

PAGE = """# Two words
<!-- step: figure tree -->

Three more words

<!-- code reduce: make tables writes this -->
```cuda
int not_counted;
```
<!-- end -->

| a | table |
| --- | --- |

## Try

**1. One?** Yes.

```diff
-a
+b
```

**2. Without a diff?** No.
"""


def test_prose_has_no_code_tables_or_comments():
    """Broken: make lengths counts a program or a table as text to read, or leaves out text."""
    assert lengths.prose(PAGE).split() == "# Two words Three more words ## Try **1. One?** Yes. **2. Without a diff?** No.".split()


def test_tries_without_a_diff_count():
    """Broken: make lengths counts only the Tries that change the program."""
    assert lengths.try_count(PAGE) == 2


@pytest.mark.parametrize("number", [1, 8])
def test_changed_lines_are_those_of_the_steps_limit(number, tmp_path):
    """Broken: make lengths counts other lines than the test that limits a step's change."""
    before, after = STEPS[number - 1:number + 1]
    assert lengths.changed_lines(before.name, after.name) == changed_lines(before / "reduce.cu", after / "reduce.cu", tmp_path) > 0
