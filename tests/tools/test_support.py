"""What the tests share: which programs are compiled again."""

import os

from tests import support

NVCC = """#!/bin/bash
echo "$@" >> {log}
while [ $# -gt 0 ]; do
    [ "$1" = -o ] && made=$2 && echo made > "$made"
    [ "$1" = -MF ] && echo "$made : {source} \\
        {header}" > "$2"
    shift
done
"""


def test_only_what_has_changed_is_compiled_again(tmp_path, monkeypatch):
    """Broken: tests run a program of an earlier source, header, library or option, or compile programs that are current."""
    source, header, library, log, compiler = (tmp_path / name for name in ("a.cu", "a.h", "a.a", "log", "nvcc"))
    for file in (source, header, library, log):
        file.write_text("")
        os.utime(file, (1, 1))
    compiler.write_text(NVCC.format(log=log, source=source, header=header))
    compiler.chmod(0o755)
    os.utime(compiler, (1, 1))
    monkeypatch.setattr(support, "nvcc", lambda: str(compiler))
    monkeypatch.setattr(support, "LINK", [str(library)])

    def commands(*flags):
        """How often nvcc runs for the program."""
        log.write_text("")
        support.build(support.write_source(source, "text"), tmp_path / "program", *flags)
        return len(log.read_text().splitlines())

    assert [commands(), commands(), commands("-G"), commands("-G")] == [2, 0, 2, 0]
    for file, runs in ((header, 2), (source, 2), (compiler, 2), (library, 1)):
        os.utime(file)
        assert [commands("-G"), commands("-G")] == [runs, 0], file
