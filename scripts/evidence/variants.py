#!/usr/bin/env python3
"""Tests the judge of the exercises: make test-learn, or variants.py [NAME...]. For each exercise

- the answer and the other right solutions (right.cu) must pass, and the unchanged task must not;
- planted mistakes must not pass: those of exercise.py, and the mutants that scripts/evidence/mutants makes from the answer. A mutant that is equivalent
  to the answer is listed in exercise.py with the reason, and must pass.

The variants of an exercise are compiled together, each in its own namespace. Exit status: 0 if all verdicts are as expected, else 1."""

import argparse
import concurrent.futures
import os
import re
import shutil
import sys

from scripts.evidence.mutants import make as mutation
from drywarp.judge import scratch
from drywarp.learn import exercise as exercises
from drywarp.learn import judge, learn

RIGHT_ONES, MISTAKES = 3, 10  # required for each exercise, at least
ANOTHER = re.compile(r"^// ==== .*\n", re.M)  # starts each solution in right.cu
INCLUDE, MACRO = re.compile(r"^#include .*$", re.M), re.compile(r"^#define (\w+)", re.M)


def mutants(text):
    """Programs with one error each in a kernel: by name."""
    code, made = mutation.without_comments(text), {}
    for operator in mutation.OPERATORS:
        number = 0
        for begin, end in mutation.functions(code):
            for b, e, instead in operator(code, begin, end):
                changed = text[:b] + instead + text[e:]
                if changed != text and changed not in made.values():
                    number += 1
                    made[f"{operator.__name__}{number}"] = changed
    return made


def planted(task):
    """The mistakes of exercise.py, applied to the answer."""
    answer, made = task.text("answer.cu"), {}
    for number, (old, new) in enumerate(task.wrong, 1):
        assert old in answer, f"{task.name}: the answer has no {old}"
        made[f"wrong{number}"] = answer.replace(old, new)
    return made


def right_ones(task):
    """The answer, and the solutions of right.cu."""
    others = ANOTHER.split(task.text("right.cu"))[1:]
    return {"answer": task.text("answer.cu")} | {f"right{number}": text for number, text in enumerate(others, 1)}


def together(texts):
    """One source with all variants; headers are included once."""
    headers = dict.fromkeys(line for text in texts.values() for line in INCLUDE.findall(text))
    parts = [f'namespace {name} {{\n#line 1 "{name}.cu"\n{INCLUDE.sub("", text)}\n}}\n' + "".join(f"#undef {macro}\n" for macro in MACRO.findall(text))
             for name, text in texts.items()]
    return "\n".join([*headers, *parts])


def compiled(texts, folder, tools):
    """The PTX of all variants that compile, their texts, and the compiler's messages."""
    for name, text in texts.items():
        (folder / f"{name}.cu").write_text(text, encoding="utf-8")  # the checker quotes its lines
    while True:
        source = folder / "variants.cu"
        source.write_text(together(texts), encoding="utf-8")
        ptx, said = judge.to_ptx(source, folder, tools)
        broken = {name for line in said for name in re.findall(r"^(\w+)\.cu\(\d+\): error", line)} & texts.keys()
        if ptx or not broken:
            return ptx, texts, said
        texts = {name: text for name, text in texts.items() if name not in broken}


def passes(task, ptx, name, tools):
    """The verdict about one variant."""
    verdict = judge.Verdict()
    judge.run_kernel(task, ptx, judge.entry_of(ptx, task.kernel, name), tools, verdict)
    return verdict


def complaints_about_kernels(task, tools):
    """Unexpected verdicts, in lines, and the numbers of right solutions and mistakes."""
    right, wrong = right_ones(task), planted(task) | mutants(task.text("answer.cu"))
    with scratch.folder() as top:
        (top / "program").mkdir()
        ptx, texts, said = compiled(right | wrong | {"task": task.text("task.cu")}, top / "program", tools)
        if not ptx:
            return [f"it does not compile: {said}"], 0, 0
        with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
            verdicts = dict(zip(texts, pool.map(lambda name: passes(task, ptx, name, tools), texts)))
    state = expected_of_the_task(task, verdicts["task"])
    missing = [f"{name} does not compile" for name in right.keys() - texts.keys()]
    wanted = {name: name in right or name in task.equivalent for name in texts}
    lines = [f"{name} {'does not pass' if wanted[name] else 'passes'}: {first_difference(task, texts[name])} {brief(task, verdict)}"
             for name, verdict in verdicts.items() if verdict.good != wanted[name]]
    unknown = [f"{name} is no mutant" for name in task.equivalent if name not in wrong]
    return state + missing + unknown + lines, len(right), sum(not wanted[name] for name in texts if name != "task")


def expected_of_the_task(task, verdict):
    """A task of kind fix must have a finding, which names the line; a task of kind optimise must be right."""
    if task.kind == "fix" and not verdict.findings:
        return ["the task has no finding"]
    return ["the task is not right"] if task.kind == "optimise" and (verdict.wrong or verdict.findings) else []


def first_difference(task, text):
    """The first line of a variant that differs from the answer's."""
    pairs = zip(text.splitlines(), task.text("answer.cu").splitlines())
    return next((f"'{line.strip()}'" for line, other in pairs if line != other), "")


def brief(task, verdict):
    return " / ".join(line.strip() for line in learn.about(task, verdict))


def complaints_about_numbers(task, tools):
    """The same for predictions: the wrong ones of exercise.py, and right ones in three notations."""
    verdict = judge.judged(task, "task.cu", task.text("task.cu").encode(), tools)
    counted = {question.words: question.of(verdict.row) for question in task.questions}
    right = [lambda value: f"{value}", lambda value: f"{value:,}", lambda value: f"  {value} "]
    lines = [f"{words}: {write(value)} is rejected" for words, value in counted.items() for write in right
             if not learn.is_right(learn.predicted(f"// {words} = {write(value)}\n")[words], value)]
    wrong = [(words, number) for words, numbers in task.wrong for number in numbers]
    lines += [f"{words}: {number} is accepted" for words, number in wrong if learn.is_right(str(number), counted[words])]
    lines += [f"why does not say that it is {value:,}" for value in counted.values() if f"{value:,}" not in re.findall(r"[\d,]*\d", task.why)]
    return lines, len(right), len(wrong)


def examined(task, tools):
    """Prints the unexpected verdicts of an exercise; returns whether there are none."""
    lines, right, wrong = (complaints_about_numbers if task.kind == "predict" else complaints_about_kernels)(task, tools)
    if right < RIGHT_ONES or wrong < MISTAKES:
        lines.append(f"{right} right solutions and {wrong} mistakes are too few")
    print(f"{task.name}: {right} right solutions, {wrong} mistakes" + (f", {len(task.equivalent)} equivalent" if task.equivalent else ""), flush=True)
    for line in lines:
        print(f"    {line}", flush=True)
    return not lines


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", metavar="NAME", help="exercises, by number or name; all without any")
    parser.add_argument("--nvcc", default=shutil.which("nvcc") or "", help="empty: the simulator's kernel compiler")
    options = parser.parse_args()
    tasks = exercises.every()
    chosen = [learn.find(tasks, name, "NAME") for name in options.names] or tasks
    good = [examined(task, judge.Tools(options.nvcc)) for task in chosen]
    print(f"{sum(good)} of {len(good)} exercises are judged correctly")
    return 0 if all(good) else 1


if __name__ == "__main__":
    sys.exit(main())
