"""Findings as SARIF 2.1.0, the format in which code hosts accept them."""

from __future__ import annotations

import hashlib
import os
import re
import urllib.parse
from pathlib import Path
from typing import Any

from drywarp import VERSION
from drywarp.paths import ROOT


def explanations() -> dict[str, str]:
    """The explanation of each kind of finding: the first paragraph of its section in docs/findings.md."""
    text = (ROOT / "docs/findings.md").read_text(encoding="utf-8")
    return {kind: " ".join(words.split()) for kind, words in re.findall(r"^## .+\n\n`([a-z-]+)`: ((?:.+\n)+)", text, re.M)}


def artifact(file: str | Path, root: Path) -> dict[str, str]:
    """A file's location: relative to the root, which a code host takes for the repository's, or absolute."""
    path = Path(os.path.abspath(root / file))
    if path.is_relative_to(root):
        return {"uri": urllib.parse.quote(path.relative_to(root).as_posix()), "uriBaseId": "SRCROOT"}
    return {"uri": path.as_uri()}


def location(place: dict[str, Any], root: Path) -> dict[str, Any] | None:
    """A location in the source; None if the program's debug information does not name it."""
    if not place["line"]:
        return None
    region = {"startLine": place["line"], **({"snippet": {"text": place["text"]}} if place["text"] else {})}
    return {"physicalLocation": {"artifactLocation": artifact(place["file"], root), "region": region}, "message": {"text": place["description"]}}


def fingerprint(finding: dict[str, Any]) -> str:
    """A fingerprint of the mistake that does not change if lines above it move."""
    parts = [finding["kind"], *(f"{Path(place['file']).name}\n{place['text']}" for place in finding["places"])]
    return hashlib.sha256("\n".join(parts).encode()).hexdigest()[:32]


def result(finding: dict[str, Any], root: Path, source: Path) -> dict[str, Any]:
    """One finding. Code hosts need a location: if none is known, it is the checked file."""
    first, *others = [location(place, root) for place in finding["places"]] or [None]
    occurrences = f"note: {finding['count']} occurrences; the first is shown" if finding["count"] > 1 else ""
    lines = [f"{finding['name']}: {finding['title']}", *(place["description"] for place in finding["places"]), finding["hint"], occurrences]
    known = [other for other in others if other]
    return {"ruleId": finding["kind"], "level": finding["level"],
            "message": {"text": "\n".join(filter(None, lines))},
            "locations": [first or {"physicalLocation": {"artifactLocation": artifact(source, root)}}],
            **({"relatedLocations": [{"id": number, **other} for number, other in enumerate(known, 1)]} if known else {}),
            "partialFingerprints": {"kindAndSource/v1": fingerprint(finding)}}


def of(findings: list[dict[str, Any]], root: Path, source: Path) -> dict[str, Any]:
    """The log of a run. findings: as in $SIM_FINDINGS; root: the base of relative paths; source: the checked file."""
    rules = [{"id": kind, "shortDescription": {"text": kind}, "fullDescription": {"text": words}, "help": {"text": words}}
             for kind, words in explanations().items()]
    return {"$schema": "https://json.schemastore.org/sarif-2.1.0.json", "version": "2.1.0",
            "runs": [{"tool": {"driver": {"name": "drywarp", "semanticVersion": VERSION, "rules": rules}},
                      "automationDetails": {"id": f"drywarp/{source}/"},  # one program's: a code host keeps those of others
                      "originalUriBaseIds": {"SRCROOT": {"uri": root.as_uri() + "/"}},
                      "columnKind": "utf16CodeUnits", "results": [result(finding, root, source) for finding in findings]}]}
