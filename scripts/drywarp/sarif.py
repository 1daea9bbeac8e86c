"""Findings as SARIF 2.1.0, the form in which code hosts take what a checker says."""

import hashlib
import os
import re
import urllib.parse
from pathlib import Path

from scripts.drywarp import VERSION
from scripts.drywarp.compiler import ROOT


def explanations():
    """What docs/findings.md says of each kind of finding: the first paragraph of its section."""
    text = (ROOT / "docs/findings.md").read_text(encoding="utf-8")
    return {kind: " ".join(words.split()) for kind, words in re.findall(r"^## ([a-z-]+)\n\n((?:.+\n)+)", text, re.M)}


def artifact(file, root):
    """Where a file lies: below the root, which a code host takes for the repository's, or anywhere."""
    path = Path(os.path.abspath(root / file))
    if path.is_relative_to(root):
        return {"uri": urllib.parse.quote(path.relative_to(root).as_posix()), "uriBaseId": "SRCROOT"}
    return {"uri": path.as_uri()}


def said(place):
    """What a thread, or the host, does at a place."""
    if not place["kernel"]:
        return f"the host {place['access']}" + (f", called from {place['caller']}" if place["caller"] else "")
    thread, block = ("({},{},{})".format(*place[what]) for what in ("thread", "block"))
    return f"thread {thread} of block {block} of kernel {place['kernel']} {place['access']}"


def location(place, root):
    """A place in the source; None of one that the program's debug information does not name."""
    if not place["line"]:
        return None
    region = {"startLine": place["line"], **({"snippet": {"text": place["text"]}} if place["text"] else {})}
    return {"physicalLocation": {"artifactLocation": artifact(place["file"], root), "region": region}, "message": {"text": said(place)}}


def fingerprint(finding):
    """The same for the same mistake when lines above it move."""
    parts = [finding["kind"], *(f"{Path(place['file']).name}\n{place['text']}" for place in finding["places"])]
    return hashlib.sha256("\n".join(parts).encode()).hexdigest()[:32]


def result(finding, root, source):
    """One finding. Code hosts want a place: where none is known, it is the file that was checked."""
    first, *others = [location(place, root) for place in finding["places"]] or [None]
    lines = [finding["title"], *map(said, finding["places"]), finding["hint"], f"found {finding['count']} times" if finding["count"] > 1 else ""]
    known = [other for other in others if other]
    return {"ruleId": finding["kind"], "level": "error",
            "message": {"text": "\n".join(filter(None, lines))},
            "locations": [first or {"physicalLocation": {"artifactLocation": artifact(source, root)}}],
            **({"relatedLocations": [{"id": number, **other} for number, other in enumerate(known, 1)]} if known else {}),
            "partialFingerprints": {"kindAndSource/v1": fingerprint(finding)}}


def of(findings, root, source):
    """The log of a run. findings: as $SIM_FINDINGS has them; root: the folder that paths start from; source: the file that was checked."""
    rules = [{"id": kind, "shortDescription": {"text": kind}, "fullDescription": {"text": words}, "help": {"text": words}}
             for kind, words in explanations().items()]
    return {"$schema": "https://json.schemastore.org/sarif-2.1.0.json", "version": "2.1.0",
            "runs": [{"tool": {"driver": {"name": "drywarp", "semanticVersion": VERSION, "rules": rules}},
                      "automationDetails": {"id": f"drywarp/{source}/"},  # of one program: a code host keeps those of others
                      "originalUriBaseIds": {"SRCROOT": {"uri": root.as_uri() + "/"}},
                      "columnKind": "utf16CodeUnits", "results": [result(finding, root, source) for finding in findings]}]}
