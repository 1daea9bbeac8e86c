"""The comparison of results can fail: single instructions of the kernel compiler's PTX are changed, and the random kernels' results must differ from the
host's. Half of the changes have no effect: no thread executes them for these inputs, or a later operation hides the difference."""

import random
import re

import pytest

from tests.compiler import pass_examples
from tests.compiler.random import check, generate

pytestmark = pytest.mark.builds("build/sim/compile", "build/sim/libcuda.so.1")

KERNELS, CHANGES, LEAST_NOTICED = 8, 4, 0.4
# What becomes of an instruction, by the kind of the change.
CHANGED = {
    "arithmetic": [(r"^add\.(?=[su])", "sub."), (r"^sub\.(?=[su])", "add."), (r"^and\.b(?=\d)", "or.b"), (r"^or\.b(?=\d)", "and.b"), (r"^xor\.b", "or.b"),
                   (r"^min\.", "max."), (r"^max\.", "min.")],
    "comparison": [(r"^setp\.lt\.", "setp.ge."), (r"^setp\.gt\.", "setp.le."), (r"^setp\.eq\.", "setp.ne."), (r"^setp\.ne\.", "setp.eq.")],
    "shift": [(r"^shl\.b(\d+)", r"shr.u\1"), (r"^shr\.[us](\d+)", r"shl.b\1")],
    "constant": [(r"^((?:add|mul|mad|and|or|xor|mov)\S*\s.*, )(\d+);$", lambda found: f"{found[1]}{int(found[2]) + 1};")],
    "select": [(r"^(selp\.\S+\s+\S+ )(\S+), (\S+), ", r"\1\3, \2, ")],
    "branch": [(r"^@%p", "@!%p"), (r"^@!%p", "@%p")],
    "store": [(r"^st\.global\..*;$", "")],
}


def changes(body, kind):
    """All changes of this kind of a kernel's lines: the number of the line, and the line instead."""
    found = []
    for number, line in enumerate(body):
        for pattern, instead in CHANGED[kind]:
            changed, count = re.subn(pattern, instead, line.strip(), count=1)
            if count:
                found.append((number, changed))
    return found


@pytest.fixture(scope="module")
def kernels(tmp_path_factory):
    """The PTX's lines; the lines of each kernel; the input; what the host computes."""
    folder, parts, data = tmp_path_factory.mktemp("unchanged"), generate.kernels("mutations", KERNELS), check.input_bytes("mutations")
    outputs, undefined = check.on_host(parts, data, folder)
    assert outputs and not undefined
    expected = {name: check.digest_of(data, output) for name, output in outputs.items()}
    ptx, said = check.compile_kernels([str(pass_examples.COMPILE)], parts, folder, "unchanged")
    assert ptx, said
    assert check.on_simulator(ptx, list(expected), data, folder) == expected
    lines, bodies = ptx.read_text().split("\n"), {}
    for number, line in enumerate(lines):
        if entry := re.search(r"\.entry _Z\d+(k\d+)P", line):
            begin = lines.index("{", number)
            bodies[entry[1]] = range(begin + 1, lines.index("}", begin))
    return lines, bodies, data, expected


@pytest.mark.parametrize("kind", CHANGED)
def test_a_changed_instruction_is_noticed(kind, kernels, tmp_path):
    """Broken: the comparison accepts kernels that compute something else."""
    lines, bodies, data, expected = kernels
    rng, tried, noticed = random.Random(kind), 0, 0
    for _ in range(CHANGES):
        changed, touched = list(lines), []
        for name, body in bodies.items():
            if possible := changes([lines[number] for number in body], kind):
                number, line = rng.choice(possible)
                changed[body[number]] = f"\t{line}"
                touched.append(name)
        (tmp_path / "changed.ptx").write_text("\n".join(changed))
        found = check.on_simulator(tmp_path / "changed.ptx", touched, data, tmp_path)
        tried += len(touched)
        noticed += sum(found[name] != expected[name] for name in touched)
    assert tried >= KERNELS and noticed >= LEAST_NOTICED * tried, f"{noticed} of {tried}"
