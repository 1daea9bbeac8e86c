"""Findings in what a program prints on stderr."""

from __future__ import annotations

import re
import sys

STATUS = 88  # exit status of a program with errors
COLOUR = re.compile("\033\\[[0-9;]*m")
STARTS = ("error: ", "warning: ")


def environment() -> dict[str, str]:
    """Settings that make a program colour its findings although its stderr is a pipe, if they are copied to a terminal."""
    return {"CLICOLOR_FORCE": "1"} if sys.stdout.isatty() else {}


def apart(printed: str) -> tuple[list[str], list[str]]:
    """The findings in a program's stderr, and its other lines. A finding starts with its level; its further lines are indented."""
    found, others, inside = [], [], False
    for line in printed.splitlines():
        plain = COLOUR.sub("", line)
        starts = plain.startswith(STARTS)
        inside = starts or inside and plain.startswith(" ")
        if starts:
            found.append(line)
        elif inside:
            found[-1] += "\n" + line
        else:
            others.append(line)
    return found, others


def subject(finding: str) -> str | tuple[str, ...]:
    """The kind and the lines of a finding: the same at every size, and in every instance of a template."""
    plain = COLOUR.sub("", finding)
    lines = re.findall(r"^ +--> (\S+:\d+)", plain, re.M)
    return (plain.split(": ")[1], *lines) if lines else plain.splitlines()[0]


def fresh(findings: list[str], seen: set[str | tuple[str, ...]]) -> list[str]:
    """The findings whose subjects are not in the set `seen`; adds them to it."""
    found = []
    for finding in findings:
        if subject(finding) not in seen:
            found.append(finding)
            seen.add(subject(finding))
    return found


def how_many(others: list[str]) -> str:
    """The line at a program's end with the number of its findings."""
    return next((line for line in reversed(others) if re.match(r"\d+ (findings?|warnings?)\b", line)), "findings")
