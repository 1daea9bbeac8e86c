#!/usr/bin/env python3
"""editor.py FOLDER: writes CodeMirror's parts that the player's editor uses into two files, codemirror.js and codemirror.css.

They come from the package nbclassic (book/editor.txt), which contains CodeMirror 5; none of it is committed. Its licence stays at the top of the files."""

import sys
from importlib.util import find_spec
from pathlib import Path

try:
    import minify
except ImportError:  # not available on all machines (book/requirements.txt): scripts are then not minified
    minify = None

INSIDE = "static/components/codemirror"
SCRIPTS = ("lib/codemirror.js", "mode/clike/clike.js", "addon/edit/matchbrackets.js", "addon/comment/comment.js")
STYLES = ("lib/codemirror.css",)
LICENCE = "CodeMirror 5, copyright (C) by Marijn Haverbeke and others, MIT licence: https://codemirror.net/5/LICENSE"


def source():
    """The folder of CodeMirror in the installed package; None if the package is missing."""
    found = find_spec("nbclassic")
    return found and Path(found.submodule_search_locations[0], INSIDE)


def joined(folder, names, kind):
    text = "\n".join((folder / name).read_text(encoding="utf-8") for name in names)
    return f"/*! {LICENCE} */\n" + (minify.string(kind, text) if minify else text)


def write(folder):
    packages = source() or sys.exit("editor.py: the package nbclassic is missing; make book installs it")
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "codemirror.css").write_text(joined(packages, STYLES, "text/css"), encoding="utf-8")
    (folder / "codemirror.js").write_text(joined(packages, SCRIPTS, "application/javascript"), encoding="utf-8")


if __name__ == "__main__":
    write(Path(sys.argv[1]))
