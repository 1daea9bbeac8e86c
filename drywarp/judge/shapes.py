"""Shapes: the functions, inputs and expected outputs of a program that is judged, for a ladder's step or a contract (contract.py)."""

import array
import dataclasses
import functools
import itertools
import math
import secrets
from pathlib import Path
from typing import Callable, Optional

from drywarp import files

ROOT = Path(__file__).resolve().parents[2]
UNIT = 16  # floats are whole sixteenths, -1 to 1 without 0: below 2^24 of them float addition is exact in any order (docs/check.md)
CODES = {"float": "f", "double": "d", "int": "i", "unsigned": "I"}  # of array.array
COUNTED_AT = 65536  # elements; tests/counters has the steps' counters at this size
SIZES = [1, 2, 31, 32, 33, 255, 256, 257, 511, 512, 513, 1000, 1023, 1024, 1025, 2047, 2048, 2049, 4095, 4096, 4097, 5000, 16383, 16385,
         COUNTED_AT - 1, COUNTED_AT, COUNTED_AT + 1, 100003, 262147]
LARGE = (1 << 20) + 1, 5 << 18  # the range of the large random size: more than 1,024 blocks of 1,024 threads
# Additional runs: with interleaved blocks, so that dynamically scheduled work is shared, and in other orders of blocks, warps and lanes.
ORDERS = [("with interleaved blocks", {"SIM_TOGETHER": 1}),
          *(("with blocks, warps and lanes in another order", {"SIM_BLOCK_ORDER": seed}) for seed in (1, 2))]

COUNTERS = {"launches": None, "blocks": ["blocks"], "threads": ["threads"], "warp instructions": ["warp_instructions"], "load requests": ["global_load_requests"],
            "load sectors": ["global_load_sectors"], "shared loads and stores": ["shared_loads", "shared_stores"],
            "bank conflicts": ["bank_conflicts"], "block barriers": ["block_barriers"]}


def totals(rows):
    """The counters of a run, over its launches."""
    rows = [row | {"blocks": row["grid"], "threads": int(row["grid"]) * files.threads(row["block"])} for row in rows]
    return {name: sum(int(row[column]) for row in rows for column in columns) if columns else len(rows) for name, columns in COUNTERS.items()}


def drawn(count, elements="float"):
    """Random elements, as whole numbers; for floats in sixteenths."""
    numbers = [(byte & 15) + 1 if byte & 16 else -(byte & 15) - 1 for byte in secrets.token_bytes(count)]
    return [abs(number) for number in numbers] if elements == "unsigned" else numbers


def drawn_keys(count):
    """The segment numbers of this many elements: sometimes short segments, sometimes long ones."""
    share = secrets.choice((1, 16, 128))  # of 256 elements, this many start a segment
    return list(itertools.accumulate((byte < share for byte in secrets.token_bytes(count - 1)), initial=0))


def width(elements):
    """Bytes of one."""
    return array.array(CODES[elements]).itemsize


def unit(elements):
    return UNIT if elements in ("float", "double") else 1


def packed(numbers, elements):
    """An array of such elements, as bytes."""
    scale = unit(elements)
    return array.array(CODES[elements], [number / scale for number in numbers] if scale > 1 else numbers).tobytes()


def between(low, high):
    """A random number, uniform in its logarithm."""
    return min(high, low + secrets.randbelow(1 << 1 + secrets.randbelow((high - low + 1).bit_length())))


def near_power_of_two():
    """A random size of at most 2^18 + 2, next to a power of two or to three times one."""
    return max(3, secrets.choice((1, 3)) * (1 << 2 + secrets.randbelow(15)) + secrets.choice((-2, -1, 0, 1, 2)))


def label(size):
    return f"n = {size:,}" if isinstance(size, int) else "x".join(f"{side:,}" for side in size)


def count_of(size):
    return size if isinstance(size, int) else math.prod(size)


# ---- Operations

@dataclasses.dataclass(frozen=True)
class Operation:
    """An operation. of(numbers, size) returns the expected outputs, each a list of numbers; kinds: their types, "" for that of the elements."""
    of: Callable
    outputs: tuple = ("out",)
    kinds: tuple = ("",)
    inputs: int = 1  # arrays of the same size, concatenated in numbers
    keyed: bool = False  # the first input is the elements' keys, an array of int: their segment numbers, 0, 1, 2 and so on
    of_rows: bool = False  # its size is rows x columns
    leaves_room: bool = False  # the first output is as large as the array, and only its expected part is checked
    power: int = 1  # of the elements, in the outputs: products are 256ths
    mistakes: Callable = lambda numbers, got: set()  # known mistakes that give this result, in words


def prefixes(numbers, size):
    return [list(itertools.accumulate(numbers))]


def prefixes_before(numbers, size):
    return [[0, *itertools.accumulate(numbers[:-1])]]


def wrong_sums(numbers, got):
    """Known mistakes of a sum that give this result."""
    (got,), total, n = got, sum(numbers), len(numbers)
    found = set()
    for k, sums in enumerate(itertools.accumulate(numbers), 1):
        if sums == got:
            found.add("the last element is missing" if k == n - 1 else f"only the first {k:,} elements were added")
        if total - sums == got:
            found.add("the first element is missing" if k == 1 else f"the first {k:,} of the elements are missing")
    if got == 2 * total:
        found.add("every element was added twice")
    return found


def wrong_prefixes(numbers, got):
    """Known mistakes of a scan that give these results."""
    (right,), (before,) = prefixes(numbers, None), prefixes_before(numbers, None)
    found = {words for words, sums in (("each element is missing from its own sum", before), ("nothing was added: the output is the input array", numbers)) if got == sums}
    first = next((k for k, (a, b) in enumerate(zip(got, right)) if a != b), None)
    if first and all(a == b - right[first - 1] for a, b in zip(got[first:], right[first:])):
        found.add(f"from element {first:,} on, the sum of the earlier elements is missing")
    return found


SUM = Operation(lambda numbers, size: [[sum(numbers)]], mistakes=wrong_sums)
SCAN = Operation(prefixes, mistakes=wrong_prefixes)
EXCLUSIVE_SCAN = Operation(prefixes_before)


# ---- A program's shape

@dataclasses.dataclass
class Case:
    """One run: the task for the device, the arrays' bytes, and the expected outputs."""
    size: object
    task: dict
    data: bytes
    numbers: list  # of the arrays
    operation: Operation
    elements: str
    where: str = ""  # what messages about this run add to the size

    @functools.cached_property
    def expected(self):
        return self.operation.of(self.numbers, self.size)

    def read(self, outputs):
        """The outputs' bytes as lists of numbers, in units of the elements; NaN and infinity are kept."""
        lists = []
        for k, (kind, data) in enumerate(zip(self.operation.kinds, outputs)):
            values, scale = array.array(CODES[kind or self.elements], data).tolist(), self.scale(k)
            lists.append([value * scale for value in values] if scale > 1 else values)
        return lists

    def scale(self, k):
        """The units of output k in 1."""
        return 1 if self.operation.kinds[k] else unit(self.elements) ** self.operation.power

    def shown(self, number, k):
        """A number of output k."""
        return f"{number / self.scale(k):.4f}" if self.scale(k) > 1 else f"{number}"

    def wrong(self, got):
        """The error in the outputs; "" for none."""
        for k, (name, ours, theirs) in enumerate(zip(self.operation.outputs, self.expected, got)):
            if ours != theirs:
                return difference(name, ours, theirs, self.where, lambda number: self.shown(number, k))
        return ""


def difference(name, ours, theirs, where, shown):
    """The first wrong element, and the number of wrong ones."""
    wrong = [i for i, (a, b) in enumerate(zip(ours, theirs)) if a != b]
    first = wrong[0]
    if not math.isfinite(theirs[first]):
        what = "it is uninitialised, or computed from an uninitialised value" if math.isnan(theirs[first]) else "it is not finite"
        return f"no result{where}: {what}" if len(ours) == 1 else f"{name}[{first}] is not a number{where}: {what}; {len(wrong):,} of {len(ours):,} are wrong"
    pair = f"{shown(theirs[first])}, expected {shown(ours[first])}{where}"
    if len(ours) == 1:
        return pair if name == "out" else f"{name} is {pair}"
    return f"{name}[{first}] is {pair}; {len(wrong):,} of {len(ours):,} are wrong"


@dataclasses.dataclass(eq=False)
class Shape:
    """The functions and the operation of a program. The judge's part, in C++, calls it: check_call(what, numbers), in the order of check_device.py."""
    functions: tuple
    part: str
    page: str  # the page that explains the functions
    steps: Optional[Path] = None  # the folder of the ladder's steps, which have counters in tests/counters
    counters: str = ""  # their file in tests/counters
    timed_by: str = ""  # the command that measures such a program on a GPU
    sizes: tuple = tuple(SIZES)
    orders_at: tuple = ((COUNTED_AT,), (4097,), (4097,))  # for each of ORDERS, the sizes that run in it
    counted_at: object = COUNTED_AT
    runs: int = 2  # of each size that is not large
    promise: str = ""  # the contract's description of it
    limits: dict = dataclasses.field(default_factory=dict)  # a counter's name: its limit at goals_at
    forbidden: tuple = ()  # names that the program may not have, and libraries whose headers it may not include
    goals_at: tuple = ()  # counted_at, and a smaller random size

    @property
    def least_bytes(self):
        """The bytes that must be loaded at counted_at."""
        return self.counted_at * 4

    def case(self, size, run):
        raise NotImplementedError

    def runs_at(self, size):
        """The number of runs of a size; one of a large size, which takes long."""
        return 1 if count_of(size) >= LARGE[0] else self.runs

    def with_random_sizes(self):
        """A copy with three more sizes: any, one near a power of two, and a large one. Each also runs in one of ORDERS."""
        draws = (lambda: between(3, self.sizes[-1])), near_power_of_two, (lambda: LARGE[0] + secrets.randbelow(LARGE[1] - LARGE[0]))
        new = []
        for draw in draws:
            new.append(next(size for size in iter(draw, None) if size not in {*self.sizes, *new}))
        orders_at = tuple((*sizes, size) for sizes, size in zip(self.orders_at, new))
        return dataclasses.replace(self, sizes=tuple(sorted({*self.sizes, *new})), orders_at=orders_at)


class Sums(Shape):
    """A step of the first ladder: passes that reduce the array to one sum."""

    def case(self, size, run):
        before = run  # offset of the array in its allocation, in elements: 0 is aligned to 16 bytes, 1 is not
        data = drawn(before + size)
        task = {"passes": True, "numbers": [size], "inputs": [4 * len(data)], "before": before}
        where = " in an array that is not aligned to 16 bytes" if before else ""
        return Case(size, task, packed(data, "float"), data[before:], SUM, "float", where)


class Scans(Shape):
    """A step of the second ladder. Its scratch memory is uninitialised in the first run; the second run reuses it."""

    def case(self, size, run):
        data = drawn(size)
        task = {"passes": False, "numbers": [size, run], "inputs": [4 * size], "outputs": [4 * size], "read": [4 * size], "scratch": "fresh" if run == 0 else "kept"}
        return Case(size, task, packed(data, "float"), data, EXCLUSIVE_SCAN if run else SCAN, "float", ", exclusive" if run else "")


REDUCE = Sums(("partial_count", "launch"), """
long long check_call(int what, const unsigned long long *a)
{
    if (what == 1)
        return partial_count((long long)a[0]);
    launch((const float *)a[1], (float *)a[2], (long long)a[0]);
    return 0;
}
""", "docs/mine.md", ROOT, "steps.csv", "make mine")
SCANS = Scans(("scratch_count", "launch"), """
long long check_call(int what, const unsigned long long *a)
{
    if (what == 1)
        return scratch_count((long long)a[0]);
    launch((const float *)a[2], (float *)a[3], (long long)a[0], a[1] != 0, (float *)a[4]);
    return 0;
}
""", "docs/judge.md", ROOT / "scan", "scan.csv")
LADDERS = {"reduce": REDUCE, "scan": SCANS}
