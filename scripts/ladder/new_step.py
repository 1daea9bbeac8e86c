#!/usr/bin/env python3
"""Makes the skeleton of the next step: the program of the last one under a new name, and a page to fill in.

Text to be written is marked TODO; CONTRIBUTING.md describes the next steps."""

import re
import tempfile
from pathlib import Path

from drywarp.errors import Parser, fail

ROOT = Path(__file__).resolve().parents[2]
FIRST_COMMENT = """\
// Step {number}: TODO the idea in a few words. TODO one sentence about it.
// The change: TODO what this program does instead of what step {before_number} did.
"""
PAGE = """\
# Step {number}: TODO the idea in a few words
<!-- step: changed lines at most TODO; figure TODO of 4096 elements -->

TODO: the bottleneck of step {before_number}, and which number or experiment shows it.

TODO: the idea, so that a reader could write the kernel before it is shown.

![TODO: what the figure shows](picture.svg)

## The kernel

<!-- code reduce: make tables writes this -->
<!-- end -->

TODO: what is new in this code, and why it is right.

`make step{number}` runs it; `make diff STEP={number}` shows the change.

## Predict before you run

- TODO: a question that the numbers below answer

<details>
<summary><b>The numbers, and why: open after your prediction</b></summary>

## Numbers

<!-- numbers ms gb gb_2to30: make tables writes this -->
<!-- end -->

Times: cold cache ([run-all.csv](../plots/h200/run-all.csv)).

## Why

TODO: what the numbers say about the idea.

</details>

## Try

Edit `reduce.cu`, run `make step{number}`, revert with `make undo STEP={number}`.

**1. TODO: a question that a small edit answers**

```diff
-    TODO: a line of the program
+    TODO: the line that replaces it
```

<details><summary>Answer</summary>

<!-- try 1: make tables writes this -->
<!-- end -->

TODO: what this shows.

</details>

[Glossary](../docs/words.md)

previous: [{before}](../{before}/README.md) · [all steps](../README.md) · next: [reference_cub](../reference_cub/README.md)
"""


def link(word, step):
    return f"{word}: [{step}](../{step}/README.md)"


def replaced(path, old, new):
    """The text of a file with its only occurrence of old replaced by new."""
    text = path.read_text(encoding="utf-8")
    if text.count(old) != 1:
        fail(f"{path.relative_to(ROOT)} does not hold '{old}' exactly once")
    return text.replace(old, new)


def new_files(before, step):
    """The files to write, by path in the repository: those of the new step, and the pages that link to it."""
    words = {"before": before, "before_number": before[4:6], "step": step, "number": step[4:6]}
    program = replaced(ROOT / before / "reduce.cu", f'STEP[] = "{before}"', f'STEP[] = "{step}"')
    _, build_line, rest = program.partition("// Build and run: ")
    return {
        f"{step}/reduce.cu": FIRST_COMMENT.format(**words) + build_line + rest,
        f"{step}/README.md": PAGE.format(**words),
        f"{before}/README.md": replaced(ROOT / before / "README.md", link("next", "reference_cub"), link("next", step)),
        "reference_cub/README.md": replaced(ROOT / "reference_cub/README.md", link("previous", before), link("previous", step)),
    }


def write(files, step):
    """Writes everything to temporary files first; then the step's folder appears as a whole, and the pages change."""
    with tempfile.TemporaryDirectory(prefix=".new-step-", dir=ROOT) as unfinished:
        for path, text in files.items():
            file = Path(unfinished) / path
            file.parent.mkdir(exist_ok=True)
            file.write_text(text, encoding="utf-8")
        (Path(unfinished) / step).rename(ROOT / step)
        for path in files:
            if not path.startswith(step):
                (Path(unfinished) / path).replace(ROOT / path)


def main():
    parser = Parser(description=__doc__)
    parser.add_argument("name", metavar="NAME", help="a short word in small letters and digits, as in: make new-step NAME=prefetch")
    name = parser.parse_args().name
    if not re.fullmatch("[a-z][a-z0-9]*", name):
        fail(f"NAME={name!r} is no word in small letters and digits, as in: make new-step NAME=prefetch")
    folders = sorted(path.name for path in ROOT.glob("step[0-9][0-9]_*"))
    before = folders[-1]
    step = f"step{int(before[4:6]) + 1:02}_{name}"
    if not re.fullmatch(r"step\d\d_.*", step):
        fail(f"{before} is the last step that two digits can name")
    if f"_{name}" in [folder[6:] for folder in folders]:
        fail(f"NAME={name!r} is the name of a step already")
    try:
        write(new_files(before, step), step)
    except OSError as error:
        fail(f"{step} cannot be made: {error}")
    print(f"made: {step}; replace each TODO; CONTRIBUTING.md describes the next steps")


if __name__ == "__main__":
    main()
