"""Writes tests/mistakes/before_and_after.md: one message of each kind of finding, before and after its rewording.

python3 -m scripts.evidence.message_table

The messages before are kept in that page; those after come from tests/mistakes/messages (make findings)."""

import re
import sys
from pathlib import Path

from drywarp import files, findings
from scripts.evidence import shown_messages

ROOT = Path(__file__).resolve().parents[2]

PAGE = ROOT / "tests/mistakes/before_and_after.md"
HEAD = """# Messages before and after

One message of each kind of finding, as the simulator printed it up to commit 4271599, and as it prints it now. [docs/findings.md](../../docs/findings.md) explains the kinds;
`python3 -m scripts.evidence.message_table` writes this page.

"""
SECTION = re.compile(r"^## ([a-z-]+)\n\n\[[^]]*\]\((\w+)\.cu\), before:\n\n```\n(.*?)\n```\n", re.M | re.S)


def examples():
    """The kind and the program of each example in docs/findings.md."""
    return re.findall(r"^<!-- finding ([a-z-]+) (\w+):", (ROOT / "docs/findings.md").read_text(encoding="utf-8"), re.M)


def kept():
    """The message of each kind before its rewording, as the page has it."""
    return {kind: message for kind, _, message in SECTION.findall(PAGE.read_text(encoding="utf-8"))}


def current(kind, name):
    """The present message of a kind in a program's findings."""
    words = shown_messages.words_of_kinds()[kind]
    found, _ = findings.apart((shown_messages.MESSAGES / f"{name}.txt").read_text(encoding="utf-8"))
    message = next((message for message in found if message.startswith((f"error: {words}:", f"warning: {words}:"))), None)
    if message is None:
        sys.exit(f"message_table.py: {name}.txt has no message of the kind {kind}: run make findings")
    return message


def page(before):
    """The page's text; before: the old messages by kind."""
    after = {kind: current(kind, name) for kind, name in examples()}
    rows = [f"| `{kind}` | `{before[kind].splitlines()[0]}` | `{after[kind].splitlines()[0]}` |" for kind in after]
    sections = [f"## {kind}\n\n[{name}.cu]({name}.cu), before:\n\n```\n{before[kind]}\n```\n\nAfter:\n\n```\n{after[kind]}\n```\n" for kind, name in examples()]
    return HEAD + "\n".join(["| kind | before | after |", "| --- | --- | --- |", *rows]) + "\n\n" + "\n".join(sections)


def main():
    text = page(kept())
    with files.whole(PAGE) as file:
        file.write(text)


if __name__ == "__main__":
    main()
