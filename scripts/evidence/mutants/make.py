"""Mutants of the steps: programs with one error each in a kernel, to see which of them a check finds.

In functions that a step takes over from the step before only barriers, fences and atomics are changed: what these order is another matter in each step."""

import csv
import fnmatch
import re
import sys
from collections import namedtuple
from pathlib import Path

from drywarp import files

ROOT = Path(__file__).resolve().parents[3]
HARNESS = "// ==== Harness"
IN_ONE_PROGRAM = 24  # mutants: nvcc reads CUDA's headers once for all of them
Mutant = namedtuple("Mutant", "step name operator line before after text")

# As if few blocks filled the GPU: so that blocks come around to a second tile, or draw one, with few elements.
FEW_BLOCKS = '(getenv("BLOCKS") ? atoi(getenv("BLOCKS")) : 3)'
SMALL_GPU = [("return sm_count * blocks_per_sm;", f"return {FEW_BLOCKS};"), ("return sm_count * per_sm;", f"return {FEW_BLOCKS};"),
             ("(unsigned)(sm_count * blocks_per_sm)", f"(unsigned){FEW_BLOCKS}"),
             ("512, 2048, 64}", "512, 2048, 4}"), ("1024, 4096, 64}", f"1024, 4096, {FEW_BLOCKS}}}"), ("n > 1024 * BLOCK_SIZE", "n > 32 * BLOCK_SIZE")]
# What the harness does only so that times are good.
UNTIMED = [("ENOUGH_MS = 1000", "ENOUGH_MS = 0"), ("2 * (size_t)device.l2CacheSize", "sizeof(float4)"), ("2 * device.multiProcessorCount", "2"),
           ("clock_khz / 10", "1")]

# What a program with many mutants calls.
CHOICE = """
#include <cstdlib>
#include <cstring>

struct Mutant {{
    const char *name;
    decltype(original::launch) *launch;
    decltype(original::{count}) *{count};
}};
static const Mutant MUTANTS[] = {{
{mutants}}};

static const Mutant &chosen()
{{
    const char *name = getenv("MUTANT");
    for (const Mutant &mutant : MUTANTS)
        if (strcmp(mutant.name, name ? name : "original") == 0)
            return mutant;
    fprintf(stderr, "there is no mutant %s\\n", name);
    exit(2);
}}

static long long {count}(long long n)
{{
    return chosen().{count}(n);
}}

template <class... Arguments>
static auto launch(Arguments... arguments)
{{
    return chosen().launch(arguments...);
}}

"""


def without_comments(text):
    """The same text, as long, with spaces for comments, what the preprocessor reads, and the code of older GPUs (after #else), which does not run here."""
    return re.sub(r"^#else(?:.|\n)*?^#endif|//.*|^#.*", lambda found: re.sub(".", " ", found.group()), text, flags=re.M)


def functions(code):
    """Begin and end of the bodies of all functions that run on the GPU."""
    return [found.span(1) for found in re.finditer(r"^__(?:global|device)__[^;{]*\n\{\n(.*?)^\}\n", code, re.M | re.S)]


def closing(code, at):
    """Where the parenthesis or bracket closes that opens at a place."""
    depth = 0
    for place in range(at, len(code)):
        depth += (code[place] in "([{") - (code[place] in ")]}")
        if depth == 0:
            return place
    raise ValueError(f"nothing closes: {code[at:at + 40]}")


def split(code, begin, end, separator):
    """Begin and end of the parts of a text between separators that stand in no parentheses."""
    parts, depth = [], 0
    for place in range(begin, end):
        depth += (code[place] in "([{") - (code[place] in ")]}")
        if depth == 0 and code.startswith(separator, place):
            parts.append((begin, place))
            begin = place + len(separator)
    parts.append((begin, end))
    return [(b + len(code[b:e]) - len(code[b:e].lstrip()), e - len(code[b:e]) + len(code[b:e].rstrip())) for b, e in parts]


# ---- Operators: each yields changes of a function: begin, end, what stands there afterwards.

def statements(code, begin, end, pattern):
    """Begin and end of the statements that begin like the pattern."""
    for found in re.compile(r"(?:^|(?<=;)|(?<=\{)) *(" + pattern + ")", re.M).finditer(code, begin, end):
        yield found.start(1), code.index(";", found.end())


def barrier(code, begin, end):
    """No barrier, no arrival at one, no wait; of a barrier for the block, one for the warp."""
    for b, e in statements(code, begin, end, r"(?:__sync\w+|sync_\w+|__barrier_sync_count|wait|ptx::mbarrier_arrive\w*|ptx::barrier_cluster_\w+|ptx::cp_async_bulk_\w+_group\w*)\("):
        yield b, e, ""
        if code[b:e] == "__syncthreads()":
            yield b, e, "__syncwarp()"
    # Not of an mbarrier that is a parameter: there the calls of the function that waits are removed.
    for found in re.compile(r"\} while (\(.*\));|^    while (\(.*\));|^    while (\(!ptx::\w+\(.*&\w.*\))$", re.M).finditer(code, begin, end):
        yield *found.span(found.lastindex), "(false)"


def fence(code, begin, end):
    """No fence; an order or a scope that is too weak."""
    for b, e in statements(code, begin, end, r"(?:__threadfence|ptx::fence_\w+)\("):
        yield b, e, ""
    for strong, weak in (("memory_order_acq_rel", "memory_order_relaxed"), ("memory_order_acq_rel", "memory_order_acquire"), ("memory_order_acq_rel", "memory_order_release"),
                         ("thread_scope_device", "thread_scope_block"), (r"(?<=barrier_cluster_arrive\()ptx::sem_release", "ptx::sem_relaxed")):
        for found in re.compile(strong).finditer(code, begin, end):
            yield *found.span(), weak


def atomic(code, begin, end):
    """A plain access for an atomic one; an atomic one that holds within the block alone."""
    def each(pattern, made):
        for found in re.compile(pattern).finditer(code, begin, end):
            yield *found.span(), made(found)
    referred = dict(re.findall(r"atomic_ref<.*?> (\w+)\((\w+)\)", code[begin:end]))
    yield from each(r"atomicAdd\(&(\w+), 1\)", lambda found: f"{found[1]}++")
    yield from each(r"atomicAdd\((\w+), 1\)", lambda found: f"(*{found[1]})++")
    yield from each(r"(atomic(?:Add|Inc))\(", lambda found: f"{found[1]}_block(")
    yield from each(r"atomicInc\(&(\w+), (.*?)\) ==", lambda found: f"({found[1]} < {found[2]} ? {found[1]}++ : ({found[1]} = 0, {found[2]})) ==")
    yield from each(r"(\w+)\.fetch_add\(1, [\w:]+\)", lambda found: f"{referred[found[1]]}++")
    yield from each(r"cuda::atomic_ref<[^;]*?>\(\*(\w+)\)\.store\(\s*([^;]*), [\w:]+\);", lambda found: f"*{found[1]} = {found[2]};")
    yield from each(r"cuda::atomic_ref<[^;]*?>\(\*(\w+)\)\.load\(\s*[\w:]+\);", lambda found: f"*{found[1]};")


def conditions(code, begin, end):
    """Begin and end of what if, while and ?: ask; not of loops that count."""
    for found in re.compile(r"\b(?:if|while) \(").finditer(code, begin, end):
        if not code.startswith("while (!", found.start()):
            yield found.end(), closing(code, found.end() - 1)
    before = re.compile(r"[(\[,;{]|(?<![<>=!])=[ \n]|return ")
    for found in re.compile(r" \? ").finditer(code, begin, end):
        place, depth = found.start(), 0
        while depth > 0 or not before.match(code, place - 1):
            place -= 1
            depth += (code[place] in ")]}") - (code[place] in "([{")
        place += code.startswith("return ", place - 1) * len("eturn ")
        yield place + len(code[place:]) - len(code[place:].lstrip()), found.start()


def bound(code, begin, end):
    """A check removed; a bound off by one; more than one thread where one was meant."""
    for b, e in conditions(code, begin, end):
        for part in split(code, b, e, "&&"):
            if re.search(r" (<|<=|>|>=|==|!=) ", code[slice(*part)]):
                yield *part, "true"
    wrong = {"<": "<=", "<=": "<", ">": ">=", ">=": ">", "> 0": "> 1"}  # every unsigned number is >= 0
    for found in re.compile(r"(?<= )(?:> 0|[<>]=?)(?=[ ;)])").finditer(code, begin, end):
        yield *found.span(), wrong[found.group()]
    for found in re.compile(r"(?:tid|threadIdx\.x|blockIdx\.x|lane|warp|tid % 32|threadIdx\.x % 32) (== 0)").finditer(code, begin, end):
        yield *found.span(1), "<= 1"


def index(code, begin, end):
    """Each index one more and one less, except for arrays in registers; the same for each dereferenced pointer."""
    for found in re.compile(r"(?!items\[k|seen\[k|prefix\[k)\b[\w>.-]+\[|[)\]]\[").finditer(code, begin, end):
        b, e = found.end(), closing(code, found.end() - 1)
        before = re.split(r"[;{}\n]", code[:b - 1])[-1]
        if b < e and not re.fullmatch(r"\s*(?:__shared__ |extern |const )*(?:float4?|Status|bool|unsigned|long long) \w+", before):
            inside = f"({code[b:e]})" if " ? " in code[b:e] else code[b:e]
            yield b, e, f"{inside} + 1"
            yield b, e, f"{inside} - 1"
    for found in re.compile(r"\b(?:status|in|out|items|start_of) (\+ )").finditer(code, begin, end):
        yield *found.span(1), "+ 1 + "
        yield *found.span(1), "- 1 + "
    for found in re.compile(r"__shfl\w+\(.*, (\w+)\)").finditer(code, begin, end):
        yield *found.span(1), f"{found[1]} + 1"


def halved(start):
    """Another place for a loop to begin."""
    if start.endswith(" / 2"):
        return start[:-1] + "4"
    return {"0": "1", "1": "2", "16": "8", "32": "16"}.get(start, f"{start} + 1")


def stride(code, begin, end):
    """Loops that begin elsewhere, or go on by another distance; threads and blocks that lie closer together."""
    for found in re.compile(r"\bfor \(").finditer(code, begin, end):
        first, _, last = split(code, found.end(), closing(code, found.end() - 1), ";")
        if " = " in code[slice(*first)]:
            b = code.index(" = ", first[0]) + 3
            yield b, first[1], halved(code[b:first[1]])
        step = code[slice(*last)]
        if step.endswith("++"):
            yield *last, f"{step[:-2]} += 2"
        for sign in (" /= ", " *= "):
            if sign in step:
                yield *last, step.replace("2", "4")
        for sign in (" += ", " -= "):
            if sign in step:
                name, distance = step.split(sign)
                yield *last, f"{name}{sign}{distance} + 1"
                yield *last, f"{name}{sign}2 * ({distance})"
    for found in re.compile(r"^ *\w+ \+= (gridDim\.x \* \w+);", re.M).finditer(code, begin, end):
        yield *found.span(1), f"{found[1]} + 1"
        yield *found.span(1), f"2 * ({found[1]})"
    for pattern, made in ((r"blockIdx\.x \* ", "blockIdx.x / 2 * "), (r"(?<=% )\(2 \* s\)", "s"), (r"(?<=\()2 \* s - 1(?=\))", "s - 1"),
                          (r"(?<=(?:tid|s\.x) [%/] )32", "16"), (r"(?<=k \* )\w+", r"(\g<0> - 1)"), (r"(?<=tid \* )\w+", r"(\g<0> - 1)"),
                          (r"(?<=\+ 32 \* )\bk\b", "k / 2")):
        for found in re.compile(pattern).finditer(code, begin, end):
            yield *found.span(), found.expand(made)


def initialisation(code, begin, end):
    """No store to memory, shared or global; no barrier object made ready; a sum that is not set back.

    A register that is never set is not among these: the compiler gives it any value, and no program of PTX reads it."""
    shared = re.findall(r"^ *__(?:shared|device)__ [\w ]+? (\w+)(?:\[\w+\])?;", code, re.M)
    memory = r"\*\w+|\*?\w+(?:->\w+)?\[[^\n]*?\]|" + "|".join(shared + [r"\(\(float \*\)[^\n]*?\)\[k\]"])
    for b, e in statements(code, begin, end, rf"(?:{memory}) = |sum = 0\.0f|ptx::mbarrier_init\(|init\("):
        yield b, e, ""


def mask(code, begin, end):
    """Half of the warp."""
    for found in re.compile("0xffffffff").finditer(code, begin, end):
        yield *found.span(), "0x0000ffff"


OPERATORS = (barrier, fence, atomic, bound, index, stride, initialisation, mask)


# ---- Programs

def sources():
    """Each step's short name and its program, in order."""
    found = {path.parent.name.split("_")[0]: path for path in sorted(ROOT.glob("step[0-9][0-9]_*/reduce.cu"))}
    return found | {f"scan-{path.parent.name.split('_')[0]}": path for path in sorted(ROOT.glob("scan/step[0-9][0-9]_*/scan.cu"))}


def changed(text, changes):
    for old, new in changes:
        text = text.replace(old, new)
    return text


def parts(source):
    """What comes before the lesson's functions, these functions, and the harness."""
    text = source.read_text(encoding="utf-8")
    lesson, harness = text.split(HARNESS)
    begin = lesson.index("\n", lesson.index("\nstatic void check(") + 1) + 1
    return lesson[:begin], changed(lesson[begin:], SMALL_GPU), changed(HARNESS + harness, UNTIMED)


def bodies(source):
    """The texts of a program's functions that run on the GPU."""
    _, lesson, _ = parts(source)
    code = without_comments(lesson)
    return {code[b:e] for b, e in functions(code)}


def mutants(step):
    """All mutants of a step; their text is that of the lesson's functions."""
    every = sources()
    head, lesson, _ = parts(every[step])
    code, first = without_comments(lesson), head.count("\n") + 1
    before = list(every)[list(every).index(step) - 1]
    known = bodies(every[before]) if before.split("-")[0:-1] == step.split("-")[0:-1] else set()
    seen, made = {lesson}, []
    for operator in OPERATORS:
        number = 0
        for b, e in functions(code):
            for begin, end, instead in operator(code, b, e) if code[b:e] not in known or operator in (barrier, fence, atomic) else ():
                text = lesson[:begin] + instead + lesson[end:]
                if text in seen:
                    continue
                seen.add(text)
                number += 1
                begin_of_line, end_of_line = lesson.rfind("\n", 0, begin) + 1, lesson.index("\n", end)
                made.append(Mutant(step, f"{operator.__name__}{number}", operator.__name__, first + lesson.count("\n", 0, begin),
                                   " ".join(code[begin_of_line:end_of_line].split()),
                                   " ".join((code[begin_of_line:begin] + instead + code[end:end_of_line]).split()), text))
    return made


def write(path, text):
    """A file that is left alone where it holds the text already: what is compiled of it stays good."""
    if not path.exists() or path.read_text(encoding="utf-8") != text:
        with files.whole(path) as file:
            file.write(text)


def write_programs(directory, steps):
    """Writes the programs of all mutants, and of many mutants at a time."""
    for step in steps:
        head, lesson, harness = parts(sources()[step])
        original = Mutant(step, "original", "", 0, "", "", lesson)
        every = mutants(step)
        count = "scratch_count" if step.startswith("scan-") else "partial_count"
        for mutant in [original, *every]:
            write(directory / f"{step}.{mutant.name}.cu", head + mutant.text + harness)
        for number, begin in enumerate(range(0, len(every), IN_ONE_PROGRAM)):
            program = head
            chosen = [original, *every[begin:begin + IN_ONE_PROGRAM]]
            for mutant in chosen:
                line = head.count("\n") + 1
                program += f'namespace {mutant.name} {{\n#line {line} "{directory}/{step}.{mutant.name}.cu"\n{mutant.text}}}\n'
            program += CHOICE.format(count=count, mutants="".join(f'    {{"{m.name}", {m.name}::launch, {m.name}::{count}}},\n' for m in chosen))
            write(directory / f"{step}-{number}.cu", program + harness)


def write_list(file, steps):
    rows = csv.writer(file, lineterminator="\n")
    rows.writerow(["mutant", "step", "operator", "line", "before", "after"])
    for step in steps:
        for mutant in mutants(step):
            rows.writerow([f"{step}.{mutant.name}", *mutant[:1], *mutant[2:6]])


def chosen(words):
    """The steps that words name, with stars too; all steps without words."""
    wrong = [word for word in words if not fnmatch.filter(sources(), word)]
    if wrong:
        sys.exit(f"mutants: there is no step {wrong[0]}; there are {', '.join(sources())}")
    return [step for step in sources() if not words or any(fnmatch.fnmatch(step, word) for word in words)]

