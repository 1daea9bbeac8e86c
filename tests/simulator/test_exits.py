"""Random kernels whose threads exit anywhere: `return`, `exit`, assertions, traps, `break` and `continue` in loops and branches, with barriers where all
remaining threads arrive. Python computes the expected values. More kernels: `python tests/simulator/test_exits.py 1000` tries seeds up to 1000."""

import random
import sys

import pytest

from tests.support import build_text, longer, needs_simulator, run

pytestmark = needs_simulator


THREADS, WORD = 80, 0xFFFFFFFF  # the last warp is half full
HEAD = """#include <cassert>
#include <cstdio>
__device__ __noinline__ void leave(bool now, unsigned *out, unsigned sum)
{
    if (now) {
        *out = sum;
        asm volatile("exit;");
    }
}
"""
MAIN = """
int main()
{
    static unsigned found[THREADS];
    unsigned *out;
    cudaMalloc(&out, sizeof found);
    for (auto kernel : {KERNELS}) {
        cudaMemset(out, 0, sizeof found);
        kernel<<<1, THREADS>>>(out, 0);
        if (cudaMemcpy(found, out, sizeof found, cudaMemcpyDeviceToHost) != cudaSuccess)
            return 1;
        for (unsigned word : found)
            printf("%x ", word);
        puts("");
    }
    return cudaFree(out);
}
"""


class Maker:
    """A random kernel body, as CUDA code and as nested lists for `follow`."""

    def __init__(self, seed):
        self.random = random.Random(seed)
        self.loops, self.alike = 0, []  # alike: loops with the same iteration count in all threads

    def condition(self, together):
        """A uniform or a per-thread condition, in CUDA and in Python."""
        a, b, c = self.random.randrange(1, 12), self.random.randrange(1, 9), self.random.randrange(8)
        loops = self.alike if together else range(self.loops)
        loop = f"i{self.random.choice(loops)}" if loops else "0"
        return f"({'' if together else 'tid + '}{loop} * {a} + {c}) % {b} == 0"

    def body(self, depth, together, loop):
        """`together`: all remaining threads get here. `loop`: whether single threads may leave the innermost loop ("apart"), or only all."""
        return [self.statement(depth, together, loop) for _ in range(self.random.randrange(*((5, 9) if depth == 3 else (1, 5))))]

    def statement(self, depth, together, loop):
        kinds = ["add"] * 2 + ["return", "exit", "leave", "assert", "trap"]
        kinds += ["if", "if", "if else"] + ["for"] * (3 if self.loops < 6 else 0) if depth else []
        kinds += ["exchange", "ballot", "count"] * 2 if together else []
        kinds += ["break", "continue"] if loop == "apart" or (loop and together) else []
        kind = self.random.choice(kinds)
        if kind == "add":
            return kind, self.random.randrange(1, WORD), 0
        if kind in ("exchange", "ballot", "count"):
            return kind, self.random.randrange(1, THREADS), 0
        alike = together and self.random.random() < 0.4
        if kind in ("if", "if else"):
            inside = together and alike
            arms = [self.body(depth - 1, inside, loop) for _ in range(1 + (kind == "if else"))]
            return kind, self.condition(alike), arms
        if kind == "for":
            apart = not together or self.random.random() < 0.5
            own = not together or (apart and self.random.random() < 0.5)  # each thread has its own iteration count
            name, turns = self.loops, f"{'tid % 5 + ' if own else ''}{self.random.randrange(1, 4)}"
            self.loops += 1
            self.alike += [] if apart else [name]
            return kind, (name, turns), self.body(depth - 1, not apart, "apart" if apart else "alike")
        return kind, self.condition(kind in ("break", "continue") and loop != "apart"), self.random.randrange(2, 40)


def write(body, indent="    "):
    """The CUDA code."""
    lines = []
    for kind, what, more in body:
        lines += {
            "add": lambda: [f"sum = sum * 31 + {what}u;"],
            "exchange": lambda: ["box[tid] = sum;", "__syncthreads();", f"sum = sum * 7 + box[(tid + {what}) % {THREADS}];", "__syncthreads();"],
            "ballot": lambda: [f"sum = sum * 5 + __ballot_sync(0xffffffff, (sum >> {what % 32}) & 1);"],
            "count": lambda: [f"sum = sum * 3 + __syncthreads_count((sum >> {what % 32}) & 1);"],
            "return": lambda: [f"if ({what} && tid % {more} == 0) {{", "    out[tid] = sum + 2;", "    return;", "}"],
            "exit": lambda: [f"if ({what} && tid % {more} == 1) {{", "    out[tid] = sum + 1;", '    asm volatile("exit;");', "}"],
            "leave": lambda: [f"leave({what} && tid % {more} == 1, &out[tid], sum);"],
            "assert": lambda: [f"if ({what})", f"    assert(sum != {more}u + never || tid >= 0);", f"if ({what} && never) {{", "    out[0] = 1;", "    assert(sum == never);", "}"],
            "trap": lambda: [f"if ({what} && never)", "    __trap();"],
            "break": lambda: [f"if ({what})", "    break;"],
            "continue": lambda: [f"if ({what})", "    continue;"],
            "if": lambda: [f"if ({what}) {{", *write(more[0]), "}"],
            "if else": lambda: [f"if ({what}) {{", *write(more[0]), "} else {", *write(more[1]), "}"],
            "for": lambda: [f"for (int i{what[0]} = 0; i{what[0]} < {what[1]}; i{what[0]}++) {{", *write(more), "}"],
        }[kind]()
    return [indent + line for line in lines]


def kernel(name, body):
    used = "\n".join(f"    int i{k} = 0;" for k in range(7))
    text = "\n".join(write(body)).replace("for (int i", "for (i")
    return (f"__global__ void {name}(unsigned *out, int never)\n{{\n    __shared__ unsigned box[{THREADS}];\n    const int tid = threadIdx.x;\n{used}\n"
            f"    unsigned sum = tid + 1;\n    box[tid] = 0;\n    __syncthreads();\n{text}\n    out[tid] = sum;\n}}\n")


def follow(body, own):
    """One thread's execution: yields at each collective operation; returns how it left a loop, or that it exited."""
    true = lambda text: eval(text.replace("&&", "and"), {}, own)  # noqa: E731
    for kind, what, more in body:
        if kind == "add":
            own["sum"] = (own["sum"] * 31 + what) & WORD
        elif kind in ("exchange", "ballot", "count"):
            yield kind, what
        elif kind in ("return", "exit", "leave"):
            if true(what) and own["tid"] % more == (kind != "return"):
                own["sum"] += {"return": 2, "exit": 1, "leave": 0}[kind]
                return "end"
        elif kind in ("break", "continue"):
            if true(what):
                return kind
        elif kind in ("if", "if else"):
            arm = more[0] if true(what) else more[1] if len(more) > 1 else []
            left = yield from follow(arm, own)
            if left:
                return left
        elif kind == "for":
            name = f"i{what[0]}"
            own[name] = 0
            while own[name] < true(what[1]):
                left = yield from follow(more, own)
                if left == "end":
                    return left
                if left == "break":
                    break
                own[name] += 1
    return None


def expected(body):
    """The value that each thread stores; all remaining threads execute each collective operation together."""
    lanes = [{"tid": tid, "sum": tid + 1, **{f"i{k}": 0 for k in range(7)}} for tid in range(THREADS)]
    ways, box = {tid: follow(body, lanes[tid]) for tid in range(THREADS)}, [0] * THREADS
    while ways:
        at = {}
        for tid, way in list(ways.items()):
            try:
                at[tid] = next(way)
            except StopIteration:
                del ways[tid]
        assert len(set(at.values())) <= 1, "threads are at different operations"
        sums = {tid: lanes[tid]["sum"] for tid in at}
        for tid, (kind, what) in at.items():
            if kind == "exchange":
                box[tid] = sums[tid]
        for tid, (kind, what) in at.items():
            bits = {other: sums[other] >> what % 32 & 1 for other in at}
            gets = {"exchange": 7 * sums[tid] + box[(tid + what) % THREADS], "count": 3 * sums[tid] + sum(bits.values()),
                    "ballot": 5 * sums[tid] + sum(bit << other % 32 for other, bit in bits.items() if other // 32 == tid // 32)}
            lanes[tid]["sum"] = gets[kind] & WORD
    return [lane["sum"] & WORD for lane in lanes]


def check(seeds, flags, environments):
    bodies = {f"kernel{seed}": Maker(seed).body(3, True, None) for seed in seeds}
    text = HEAD + "\n".join(kernel(name, body) for name, body in bodies.items())
    text += MAIN.replace("KERNELS", ", ".join(bodies)).replace("THREADS", str(THREADS))
    program = build_text(text, f"exits/exits{''.join(flags)}", *flags)
    for environment in environments:
        result = run(program, **environment)
        rows = dict(zip(bodies, result.stdout.splitlines()))
        for name, body in bodies.items():
            assert rows.get(name, "").split() == [f"{word:x}" for word in expected(body)], (name, flags, environment, kernel(name, body), result.stderr)
        assert result.returncode == 0, (flags, environment, result.stderr)


@pytest.mark.parametrize("flags", [("-lineinfo",), pytest.param(("-G",), marks=longer)])
def test_threads_may_leave_anywhere(flags):
    """Broken: lanes wait for exited lanes, or continue too early, so that a correct program hangs or has other results."""
    check(range(16), flags, ({"SIM_CHECK": "1"}, {"SIM_CHECK": "0", "SIM_TOGETHER": "1"}))


if __name__ == "__main__":
    for first in range(0, int(sys.argv[1]), 50):
        for options in (("-lineinfo",), ("-G",)):
            check(range(first, first + 50), options, ({"SIM_CHECK": "1"}, {"SIM_CHECK": "0", "SIM_TOGETHER": "1"}))
            print(f"seeds {first} to {first + 49} {' '.join(options)}: as expected", flush=True)
