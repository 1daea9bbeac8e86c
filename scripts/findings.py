"""What the simulator's checker says on a program's stderr, apart from what else stands there."""

import re
import sys

STATUS = 88  # with which a program with findings ends
COLOUR = re.compile("\033\\[[0-9;]*m")


def environment():
    """What lets a program colour its findings although its stderr is read here: they go on to a terminal."""
    return {"CLICOLOR_FORCE": "1"} if sys.stdout.isatty() else {}


def apart(said):
    """The findings in what a program said, and its other lines. A finding begins with "error: "; its further lines are indented."""
    found, others, inside = [], [], False
    for line in said.splitlines():
        plain = COLOUR.sub("", line)
        starts = plain.startswith("error: ")
        inside = starts or inside and plain.startswith(" ")
        if starts:
            found.append(line)
        elif inside:
            found[-1] += "\n" + line
        else:
            others.append(line)
    return found, others


def subject(finding):
    """What a finding is about, the same at every size and in every kernel of a template: its kind and its lines."""
    plain = COLOUR.sub("", finding)
    lines = re.findall(r"^ +--> (\S+:\d+)", plain, re.M)
    return (plain.split(": ")[1], *lines) if lines else plain.splitlines()[0]


def fresh(findings, told):
    """Those about which nothing was told yet; adds them to told, a set of subjects."""
    return [finding for finding in findings if not (subject(finding) in told or told.add(subject(finding)))]


def how_many(others):
    """The line in which a program says at its end how many findings there are."""
    return next((line for line in reversed(others) if re.match(r"\d+ findings?\b", line)), "findings")
