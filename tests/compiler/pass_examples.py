"""What each pass of the kernel compiler does: passes/NAME.cu is a small kernel, and passes/NAME.ptx its PTX before and after the pass.

    python3 -m tests.compiler.pass_examples            writes all passes/*.ptx again
    python3 -m tests.compiler.pass_examples licm       prints one

The second comment line of a kernel, `// with: promote spaces`, names the passes that run in both cases; all others are left out, so that a reader sees
one pass alone."""

import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
FOLDER = Path(__file__).resolve().parent / "passes"
COMPILE = ROOT / "build/sim/compile"


def pass_names():
    """All passes, in the order of their first run."""
    table = re.search(r"PASSES\[\] = \{(.*?)\};", (ROOT / "simulator/compiler/passes.c").read_text(), re.S)[1]
    return list(dict.fromkeys(re.findall(r'^    \{"([\w-]+)"', table, re.M)))


def base_of(source):
    """The passes that run in both cases."""
    found = re.search(r"^// with: (.*)$", source.read_text(), re.M)
    return found[1].split() if found else []


def body(source, passes, compiler=COMPILE):
    """The kernel's instructions, if only these passes run."""
    skipped = ",".join(name for name in pass_names() if name not in passes) or "none"
    made = subprocess.run([compiler, source, "-o", "-", f"--skip={skipped}"], capture_output=True, text=True, timeout=20)
    assert made.returncode == 0, made.stderr
    text = re.search(r"^\{\n(.*?)^\}", made.stdout, re.M | re.S)[1]
    lines = [line for line in text.splitlines() if line.strip() and not re.match(r"\s*\.(?:loc|reg)\b", line)]
    return [re.sub(r"_Z\w*?_param_(\d+)", r"param_\1", line) for line in lines]


def example(source, compiler=COMPILE):
    """The text of NAME.ptx."""
    name, base = source.stem, base_of(source)
    before, after = body(source, base, compiler), body(source, [*base, name], compiler)
    return "\n".join([f"// before {name}", *before, "", f"// after {name}", *after, ""])


def sources():
    return sorted(FOLDER.glob("*.cu"))


def main():
    for source in sources():
        if len(sys.argv) == 1:
            source.with_suffix(".ptx").write_text(example(source))
        elif source.stem in sys.argv[1:]:
            print(example(source), end="")


if __name__ == "__main__":
    main()
