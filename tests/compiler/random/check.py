"""Runs random kernels (generate.py) on the host, as compiled by the kernel compiler, and, if asked, as compiled by nvcc: the results must be equal.

python3 -m tests.compiler.random.check [--count N] [--seed S] [--nvcc NVCC] [--compiler COMMAND] [--reduce]

The host's run is the referee: gcc's UBSan says which kernels have undefined behaviour, and these are left out. Kernels that differ, or are rejected, are
written to build/random; --reduce makes them short. Exit status: 0 if no kernel differs or is rejected, else 1."""

import argparse
import hashlib
import json
import os
import random
import re
import shlex
import struct
import subprocess
import sys
import tempfile
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from tests.compiler.random import generate

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[2]
KEPT = ROOT / "build/random"
DEVICE = ROOT / "scripts/evidence/compare_nvcc/device.py"
TOGETHER = 40  # kernels in one source
INTS, FLOATS, WORDS, OUTPUT_BYTES, ARGUMENT = 512, 512, 64, generate.BLOCKS * generate.THREADS * generate.OUTPUTS * 4, 37
CXX = ["g++", "-std=c++17", "-O1", "-w", "-ffp-contract=off", "-fsanitize=undefined", "-fno-sanitize=vptr", "-DON_HOST"]
TIME_LIMIT_S = 120


def input_bytes(seed):
    """The contents of in, inf and in64."""
    r = random.Random(f"input {seed}")
    return [struct.pack(f"<{INTS}i", *(r.randint(-1000, 1000) for _ in range(INTS))),
            struct.pack(f"<{FLOATS}f", *(r.randint(-160, 160) / 16 for _ in range(FLOATS))),
            struct.pack(f"<{WORDS}Q", *(r.getrandbits(64) for _ in range(WORDS)))]


# ---- The host

def on_host(parts, data, folder, limit_s=TIME_LIMIT_S):
    """Each kernel's output, and the names of the kernels with undefined behaviour. None if it does not compile."""
    body = generate.source(parts)
    entries = "".join(f'    {{"{name}", {name}}},\n' for name, _ in parts)
    (folder / "host.cpp").write_text(f'#include "{HERE / "host.h"}"\n#line 1 "kernels.cu"\n{body}\nconst Entry KERNELS[] = {{\n{entries}    {{nullptr, nullptr}}}};\n')
    made = subprocess.run([*CXX, "-o", folder / "host", folder / "host.cpp"], capture_output=True, text=True)
    if made.returncode:
        return None, made.stderr
    (folder / "input").write_bytes(b"".join(data))
    try:
        run = subprocess.run([folder / "host", folder / "input", folder / "output"], capture_output=True, text=True, errors="replace", timeout=limit_s)
    except subprocess.TimeoutExpired:
        return None, "no end on the host"
    if run.returncode:
        return None, f"status {run.returncode} on the host: {run.stderr[-300:]}"
    output = (folder / "output").read_bytes()
    outputs = {name: output[OUTPUT_BYTES * k:OUTPUT_BYTES * (k + 1)] for k, (name, _) in enumerate(parts)}
    return outputs, undefined_ones(parts, run.stderr)


def undefined_ones(parts, said):
    """The kernels in whose lines the sanitizer found something."""
    lines = {int(line) for line in re.findall(r"kernels\.cu:(\d+):\d+: runtime error", said)}
    found, begin = set(), generate.HEAD.count("\n") + 1
    for name, text in parts:
        end = begin + text.count("\n") + 1
        if any(begin <= line < end for line in lines):
            found.add(name)
        begin = end
    return found


# ---- The simulator

def digest_of(data, output):
    whole = hashlib.sha256()
    for content in (*data, output):
        whole.update(content)
    return whole.hexdigest()[:16]


def on_simulator(ptx, names, data, folder):
    """The digest of each kernel's memory, or what went wrong."""
    text = ptx.read_text(errors="replace")
    entries = dict(re.findall(r"\.entry (_Z\d+(k\d+)\w*)\(", text))
    mangled = {name: entry for entry, name in entries.items()}
    results, left = {name: "no such kernel" for name in names}, [name for name in names if name in mangled]
    while left:
        launched = launches(ptx, [mangled[name] for name in left], data, folder)
        for name, launch in zip(left, launched):
            results[name] = launch["digests"].get("") or launch["error"]
        if not launched:
            return results | {name: "it cannot be loaded" for name in left}
        left = left[len(launched):]
    return results


def launches(ptx, entries, data, folder):
    parts = [b"recording 1\n", b"ptx 0 0\n\n"]
    for number, content in enumerate(data):
        parts.append(b"bytes %d %d\n%s\nallocate %d device %d cudaMalloc\n" % (number, len(content), content, number, len(content)))
        parts.append(b"write %d+0 %d %d\n" % (number, len(content), number))
    parts.append(b"allocate 3 device %d cudaMalloc\n" % OUTPUT_BYTES)
    for entry in entries:
        parts.append(b"fill 3+0 %d 0\n" % OUTPUT_BYTES)
        parts.append(f"launch 0 {entry} {generate.BLOCKS},1,1 {generate.THREADS},1,1 0 0,0,0 0 @0+0 @1+0 @2+0 @3+0 {ARGUMENT:08x}\n".encode())
    (folder / "recording").write_bytes(b"".join(parts))
    environment = os.environ | {"SIM_THREADS": "1", "SIM_CHECK": "0", "SIM_MAX_INSTRUCTIONS": "20000000"}
    words = [sys.executable, DEVICE, ROOT / "build/sim/libcuda.so.1", folder / "recording", "--ptx", ptx]
    try:
        run = subprocess.run([str(word) for word in words], capture_output=True, text=True, errors="replace", env=environment, timeout=TIME_LIMIT_S)
    except subprocess.TimeoutExpired:
        return []
    line = run.stdout.splitlines()[-1:]
    return json.loads(line[0])["launches"] if line and line[0].startswith("{") else []


def compile_kernels(words, parts, folder, name):
    """The PTX of these kernels; None and the messages if there is none."""
    source, ptx = folder / f"{name}.cu", folder / f"{name}.ptx"
    source.write_text(generate.source(parts))
    ptx.unlink(missing_ok=True)
    try:
        made = subprocess.run([*words, str(source), "-o", str(ptx)], capture_output=True, text=True, errors="replace", timeout=TIME_LIMIT_S)
    except subprocess.TimeoutExpired:
        return None, f"no end after {TIME_LIMIT_S} s"
    return (ptx, "") if made.returncode == 0 and ptx.exists() else (None, (made.stderr.strip() or f"status {made.returncode}")[:400])


def by_compiler(words, parts, data, folder, name):
    """For each kernel its digest, or what went wrong; kernels that are rejected are compiled apart."""
    ptx, said = compile_kernels(words, parts, folder, name)
    if ptx:
        return on_simulator(ptx, [name for name, _ in parts], data, folder)
    if len(parts) == 1:
        return {parts[0][0]: f"rejected: {said}"}
    half = len(parts) // 2
    return by_compiler(words, parts[:half], data, folder, name) | by_compiler(words, parts[half:], data, folder, name)


# ---- Comparing

def verdicts(parts, data, compilers, folder, limit_s=TIME_LIMIT_S):
    """For each kernel: same, undefined, or what differs."""
    outputs, undefined = on_host(parts, data, folder, limit_s)
    if outputs is None and len(parts) == 1:
        return {parts[0][0]: f"host: {undefined}"}
    if outputs is None:
        half = len(parts) // 2
        return verdicts(parts[:half], data, compilers, folder) | verdicts(parts[half:], data, compilers, folder)
    found = {name: "undefined" if name in undefined else "same" for name, _ in parts}
    for compiler, words in compilers.items():
        for name, got in by_compiler(words, parts, data, folder, compiler).items():
            if found[name] == "same" and got != digest_of(data, outputs[name]):
                found[name] = f"{compiler}: {got if ' ' in got else 'differs'}"
    return found


def batch(job):
    seed, number, count, compilers = job
    parts, data = generate.kernels(f"{seed}.{number}", count), input_bytes(seed)
    with tempfile.TemporaryDirectory() as folder:
        found = verdicts(parts, data, compilers, Path(folder))
    return number, parts, found


# ---- Reducing

NEEDED = re.compile(r"__syncthreads|^    (?:sh|counts)\[|    if \(tid < 8\)|^        counts\[tid\] = tid")  # without these a kernel reads shared memory uninitialised


def blocks_of(lines):
    """Ranges of lines that can be removed together: a line alone, and a block with its braces; large ones first."""
    ranges, stack = [], []
    for k, line in enumerate(lines):
        if line.rstrip().endswith("{"):
            stack.append(k)
        if line.strip().startswith("}") and stack:
            begin = stack.pop()
            ranges.append((begin, k + 1))
        if "{" not in line and "}" not in line:
            ranges.append((k, k + 1))
    ranges = [pair for pair in ranges if not any(NEEDED.search(line) for line in lines[slice(*pair)])]
    return sorted(ranges, key=lambda pair: pair[0] - pair[1])


def simpler_lines(line):
    """The line with a parenthesised part or a ?: replaced."""
    stack = []
    for k, c in enumerate(line):
        if c == "(":
            stack.append(k)
        elif c == ")" and stack:
            begin = stack.pop()
            inner = line[begin + 1:k]
            if len(inner) > 2:
                yield line[:begin] + "(1)" + line[k + 1:]
                operands = re.fullmatch(r"(\w+|\(.*\)) (?:[-+*/%&|^<>=!?:]+) (\w+|\(.*\))", inner)
                for operand in operands.groups() if operands else ():
                    yield line[:begin] + operand + line[k + 1:]


def reduced(text, name, is_bad):
    """A shorter kernel that is bad, too."""
    lines = text.split("\n")
    changed = True
    while changed:
        changed = False
        ranges = blocks_of(lines)
        while ranges:
            begin, end = ranges.pop(0)
            shorter = lines[:begin] + lines[end:]
            if is_bad("\n".join(shorter)):
                lines, changed = shorter, True
                ranges = [(b - (end - begin) * (b >= end), e - (end - begin) * (e >= end)) for b, e in ranges if e <= begin or b >= end]
    for k in range(len(lines)):
        progress = True
        while progress:
            progress = False
            for simpler in sorted(set(simpler_lines(lines[k])), key=len):
                if len(simpler) < len(lines[k]) and is_bad("\n".join([*lines[:k], simpler, *lines[k + 1:]])):
                    lines[k], progress = simpler, True
                    break
    return "\n".join(lines)


def reduce_kernel(name, text, data, compilers, verdict):
    compiler = verdict.split(":")[0]
    kind = verdict.split(":")[1][:9]

    def is_bad(shorter):
        with tempfile.TemporaryDirectory() as folder:
            found = verdicts([(name, shorter)], data, {compiler: compilers[compiler]}, Path(folder), 10)[name]
        return found.startswith(f"{compiler}:{kind}")
    return reduced(text, name, is_bad)


# ---- The command

def main():
    parser = argparse.ArgumentParser(prog="random.check", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--count", type=int, default=300)
    parser.add_argument("--seed", default="1")
    parser.add_argument("--nvcc", help="nvcc's PTX is compared, too")
    parser.add_argument("--compiler", default=str(ROOT / "build/sim/compile"))
    parser.add_argument("--reduce", action="store_true")
    options = parser.parse_args()
    compilers = {"compile": shlex.split(options.compiler)}
    if options.nvcc:
        compilers["nvcc"] = [options.nvcc, "-O3", "-std=c++17", "-arch=sm_90", "-ptx", "-w", "-Xcudafe", "--diag_suppress=177"]
    jobs = [(options.seed, number, min(TOGETHER, options.count - TOGETHER * number), compilers) for number in range(-(-options.count // TOGETHER))]
    counted, bad = Counter(), 0
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        for number, parts, found in pool.map(batch, jobs):
            for name, text in parts:
                verdict = found[name]
                counted[re.sub(r"[ :](?:rejected)?.*", lambda m: " rejected" if "rejected" in m[0] else " differs", verdict, flags=re.S)] += 1
                if verdict not in ("same", "undefined"):
                    bad += 1
                    report(options, number, name, text, verdict, compilers)
            print(f"{min(options.count, TOGETHER * (number + 1))} of {options.count}: {dict(counted)}", file=sys.stderr, flush=True)
    print(", ".join(f"{count} {verdict}" for verdict, count in sorted(counted.items())))
    return 1 if bad else 0


def report(options, number, name, text, verdict, compilers):
    KEPT.mkdir(parents=True, exist_ok=True)
    data = input_bytes(options.seed)
    if options.reduce and not verdict.startswith("host"):
        text = reduce_kernel(name, text, data, compilers, verdict)
    path = KEPT / f"{options.seed}.{number}.{name}.cu"
    path.write_text(f"// {verdict.splitlines()[0]}\n{generate.HEAD}{text}")
    print(f"{path}: {verdict.splitlines()[0][:200]}", file=sys.stderr, flush=True)


if __name__ == "__main__":
    sys.exit(main())
