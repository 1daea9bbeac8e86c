"""The simulator's messages that pages show: about the programs in tests/mistakes, and about Tries. make findings stores them."""

import re

from scripts.ladder import pages

ROOT = pages.ROOT
MISTAKES = ROOT / "tests/mistakes"
MESSAGES = MISTAKES / "messages"
OF_TRIES = ROOT / "plots/simulator/tries"


def shown_mistakes():
    """The programs of tests/mistakes that docs/findings.md shows."""
    return re.findall(r"^<!-- finding [\w-]+ (\w+):", (ROOT / "docs/findings.md").read_text(encoding="utf-8"), re.M)


def words_of_kinds():
    """The kinds of findings, and the title that begins each one's message, from the simulator's source."""
    return dict(re.findall(r'\[[A-Z_]+\] = {"([\w-]+)", "([^"]+)"[,}]', (ROOT / "simulator/checker/finding_kinds.c").read_text(encoding="utf-8")))


def kept_message(said):
    """The simulator's message without addresses, which differ from run to run."""
    return re.sub(r"\b0x[0-9a-f]{9,}\b", "0x…", said)


def try_message(step, number):
    """The file in which `make findings` stores the simulator's message about a Try."""
    return OF_TRIES / f"{step.replace('/', '_')}-{number}.txt"


def shown_tries():
    """(step, Try) of every `said` marker."""
    return [(path.parent.relative_to(ROOT).as_posix(), int(number)) for path in pages.all_pages()
            for number in re.findall(r"^<!-- said (\d+): make tables", path.read_text(encoding="utf-8"), re.M)]
