"""Shapes: the functions, inputs and expected outputs of a program that is judged, for a ladder's step or a contract (contract.py)."""

from __future__ import annotations

import array
import dataclasses
import functools
import itertools
import math
import secrets
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, Callable, Optional

from drywarp import files

ROOT = Path(__file__).resolve().parents[2]
# Elements are whole numbers of a random power of two. All their sums of absolute values stay below the greatest whole number up to which the type is exact,
# so additions are exact in any order (docs/check.md). Large arrays have at least numbers up to LEAST, whose sums exceed it only in the worst case.
LEAST = 16
EXACT = {"float": 1 << 24, "double": 1 << 53, "int": 1 << 31, "unsigned": 1 << 32}
UNITS = [2.0 ** power for power in range(17)]  # in 1
FARTHEST = 96  # the power of two by which the units of run 1 differ from 1 at most: a program in fixed point does not hold them
CODES = {"float": "f", "double": "d", "int": "i", "unsigned": "I"}  # of array.array
LARGE_ONES, MANY = 3, 64  # elements of an array of more than MANY that use most of the sum's bits
# All finite values, for elements that are not added: mantissas times powers of two, in units of the least one (of doubles, not all powers).
MANTISSA, EXPONENTS = {"float": 24, "double": 53}, {"float": 253, "double": 900}
ALL_UNITS = {"float": 2.0 ** 149, "double": 2.0 ** 200, "int": 1, "unsigned": 1}
ENDS = {"int": (-1 << 31, (1 << 31) - 1), "unsigned": (0, (1 << 32) - 1)}  # the least and the greatest value
ENDS |= {kind: (-end, end) for kind, end in ((kind, ((1 << MANTISSA[kind]) - 1) << EXPONENTS[kind]) for kind in MANTISSA)}
COUNTED_AT = 65536  # elements; tests/counters has the steps' counters at this size
SIZES = [1, 2, 31, 32, 33, 255, 256, 257, 511, 512, 513, 1000, 1023, 1024, 1025, 2047, 2048, 2049, 4095, 4096, 4097, 5000, 16383, 16385,
         COUNTED_AT - 1, COUNTED_AT, COUNTED_AT + 1, 100003, 262147]
LINE = 32  # elements of a cache line of 128 bytes
SECOND = 8192  # elements; below it, runs are so short that each size has a third one
LARGE = (1 << 20) + 1, 5 << 18  # the range of the large random size: more than 1,024 blocks of 1,024 threads
# Additional runs: with interleaved blocks, so that dynamically scheduled work is shared, and in other orders of blocks, warps and lanes.
# Each is its words, and the arguments of the simulator's sim_set_orders: whether blocks are interleaved, whether the order is random, and the seed.
FIRST_ORDER = "", (0, 0, 0)
ORDERS = [("with interleaved blocks", (1, 0, 0)), *(("with blocks, warps and lanes in another order", (0, 1, seed)) for seed in (1, 2))]
# Settings of the simulator for runs in which the lanes of each warp are apart. The checker's rules for the threads of a warp assume that they are not.
LANES_APART: dict[str, int] = {"SIM_LANES_APART": 1, "SIM_CHECK": 0}

COUNTERS = {"launches": None, "blocks": ["blocks"], "threads": ["threads"], "warp instructions": ["warp_instructions"], "load requests": ["global_load_requests"],
            "load sectors": ["global_load_sectors"], "shared loads and stores": ["shared_loads", "shared_stores"],
            "bank conflicts": ["bank_conflicts"], "block barriers": ["block_barriers"], "warp barriers": ["warp_barriers"], "atomics": ["atomics"],
            "shuffles": ["shuffles"]}


COPIED = {"load requests": 512, "load sectors": 32}  # bytes of a warp's widest load, and of a sector


def totals(rows: Iterable[dict[str, Any]], copied: int = 0) -> dict[str, int]:
    """The counters of a run, over its launches. copied: bytes that the host copied within the device, which count as vector loads."""
    rows = [row | {"blocks": row["grid"], "threads": int(row["grid"]) * files.threads(row["block"])} for row in rows]
    found = {name: sum(int(row[column]) for row in rows for column in columns) if columns else len(rows) for name, columns in COUNTERS.items()}
    return found | {name: found[name] + -(-copied // count) for name, count in COPIED.items()}


def greatest(count: int, elements: str, power: int = 1, least: int = LEAST) -> int:
    """The greatest random element of an array of this many. Half of the arrays have the small `least`, so that elements repeat."""
    exact = EXACT[elements] // 2 // count
    return max(least, secrets.choice((least, exact if power == 1 else math.isqrt(exact))))


def drawn(count: int, elements: str = "float", power: int = 1, sign: int = 0, least: int = LEAST) -> list[int]:
    """Random elements to be added, as whole numbers of a unit; none is 0. power: of the elements in the sums; sign: that of all of them, if it is not 0."""
    words, most = array.array("Q", secrets.token_bytes(8 * count)), greatest(count, elements, power, least)
    sign = 1 if elements == "unsigned" else sign
    if sign:
        return [word % most + 1 if sign > 0 else -(word % most) - 1 for word in words]
    return [word % (2 * most) - most or most for word in words]


def with_large_ones(numbers: list[int], elements: str = "float", power: int = 1) -> list[int]:
    """The same elements but, in a long array, with LARGE_ONES larger ones: lower precision than the type's does not hold them, and the sums still are exact."""
    most = EXACT[elements] // 4 // LARGE_ONES
    most = most if power == 1 else math.isqrt(most)
    if len(numbers) > MANY:
        for k in (secrets.randbelow(len(numbers)) for _ in range(LARGE_ONES)):
            numbers[k] = (1 if numbers[k] > 0 else -1) * (1 + secrets.randbelow(most))
    return numbers


def with_zeros(numbers: list[int]) -> list[int]:
    """The same elements, but the first ones, some or most, are 0, and so are their sums: a program must not take 0 for "not ready" or for the end."""
    zeros = secrets.randbelow(len(numbers))
    return [0] * zeros + numbers[zeros:]


def all_bits(words: Iterable[int], elements: str) -> list[int]:
    """The elements, in units of ALL_UNITS, that random 64-bit words select: of floats, in a random range of exponents, which often is that of the greatest."""
    if elements not in MANTISSA:
        return [word % (1 << 32) + ENDS[elements][0] for word in words]
    span = secrets.choice((1, 16, EXPONENTS[elements] + 1))
    first = secrets.choice((EXPONENTS[elements] + 1 - span, secrets.randbelow(EXPONENTS[elements] + 2 - span)))
    numbers = [(word % (1 << MANTISSA[elements])) << first + (word >> 54) % span for word in words]
    return [-number if secrets.randbelow(2) else number for number in numbers]


def few_different(words: Iterable[int], elements: str, units: float, limit: int) -> list[int]:
    """Elements that repeat: near 0, near the limit if that is not 0 or, of whole numbers, near the least, the greatest or any other."""
    if elements not in MANTISSA:
        low, high = ENDS[elements]
        middle = limit or secrets.choice((0, low, high, low + secrets.randbelow(high - low)))
    else:
        middle = int(limit * units) if limit * units < EXACT["float"] // 2 else 0
    spread = secrets.choice((LEAST, limit and middle)) or LEAST
    return [middle + word % (2 * spread + 1) - spread for word in words]


def drawn_values(count: int, elements: str, repeat: bool, sign: int = 0, limit: int = 0) -> tuple[list[int], float]:
    """Random elements that are moved or compared, not added, as whole numbers of a unit; and the number of units in 1. repeat: whether few are different;
    else they have all bits, and sometimes there are the least and the greatest value. sign: that of all of them, or 0: then some are 0. limit: with which
    elements are compared, so that some are near it."""
    words, (low, high) = array.array("Q", secrets.token_bytes(8 * count)), ENDS[elements]
    if repeat:
        units = secrets.choice(UNITS) if elements in MANTISSA else 1
        numbers = few_different(words, elements, units, limit)
    else:
        units, numbers = ALL_UNITS[elements], all_bits(words, elements)
        for end in filter(lambda _: secrets.randbelow(4) == 0, (low, high)):
            numbers[secrets.randbelow(count)] = end
    sign = abs(sign) if elements == "unsigned" else sign
    if sign:
        numbers = [number if number * sign > 0 else -number or sign for number in numbers]
    else:
        numbers = [0 if word >> 60 == 0 else number for number, word in zip(numbers, words)]
    return [min(max(number, low), high) for number in numbers], units


def drawn_keys(count: int, run: int) -> list[int]:
    """The segment numbers of this many elements: in run 0 short or long segments, in run 1 a single one, or one for each element."""
    share = secrets.choice((0, 0, 256) if run else (1, 16, 128))  # of 256 elements, this many start a segment
    return list(itertools.accumulate((byte < share for byte in secrets.token_bytes(count - 1)), initial=0))


def width(elements: str) -> int:
    """Bytes of one."""
    return array.array(CODES[elements]).itemsize


def drawn_unit(elements: str, run: int, power: int = 1, fixed_point: int = 0) -> float:
    """The random number of units in 1, for elements to be added; 1 for whole numbers. In run 1 it is far from 1. power: of the elements, in the sums;
    fixed_point: the number of binary digits after the point that a program in fixed point keeps, 0 for other programs."""
    if elements not in MANTISSA:
        return 1
    if run != 1:
        return secrets.choice(UNITS)
    return 2.0 ** secrets.choice(range(fixed_point + 1) if fixed_point else range(-FARTHEST // power, FARTHEST // power + 1))


def packed(numbers: Sequence[float], elements: str, units: float = 1) -> bytes:
    """An array of such elements, as bytes. units: in 1."""
    return array.array(CODES[elements], [number / units for number in numbers] if units != 1 else numbers).tobytes()


def between(low: int, high: int) -> int:
    """A random number, uniform in its logarithm."""
    return min(high, low + secrets.randbelow(1 << 1 + secrets.randbelow((high - low + 1).bit_length())))


def near_power_of_two() -> int:
    """A random size of at most 2^18 + 2, next to a power of two or to three times one."""
    return max(3, secrets.choice((1, 3)) * (1 << 2 + secrets.randbelow(15)) + secrets.choice((-2, -1, 0, 1, 2)))


def label(size: Any) -> str:
    return f"n = {size:,}" if isinstance(size, int) else "x".join(f"{side:,}" for side in size)


def count_of(size: Any) -> int:
    return size if isinstance(size, int) else math.prod(size)


# ---- Operations

@dataclasses.dataclass(frozen=True)
class Operation:
    """An operation. of(numbers, size) returns the expected outputs, each a list of numbers; kinds: their types, "" for that of the elements."""
    of: Callable
    outputs: tuple = ("out",)
    kinds: tuple = ("",)
    inputs: int = 1  # arrays of the same size, concatenated in numbers
    sign: int = 0  # of all elements in the second run, which shows a wrong initial value; 0: random
    keyed: bool = False  # the first input is the elements' keys, an array of int: their segment numbers, 0, 1, 2 and so on
    of_rows: bool = False  # its size is rows x columns
    leaves_room: bool = False  # the first output is as large as the array, and only its expected part is checked
    power: int = 1  # of the elements, in the outputs: products are 256ths
    moved: bool = False  # the elements are only moved or compared, not added: they may use all their bits
    nonzero: bool = False  # no element may be 0
    limit: int = 0  # with which elements are compared, if it is not 0; of() gets it as a third argument, in units
    within: Optional[Callable] = None  # of an expected number and the size: the largest accepted difference; None: exact. of() gets real numbers then, not units
    mistakes: Callable = lambda numbers, got: set()  # known mistakes that give this result, in words


def prefixes(numbers: list[int], size: Any) -> list[list[int]]:
    return [list(itertools.accumulate(numbers))]


def prefixes_before(numbers: list[int], size: Any) -> list[list[int]]:
    return [[0, *itertools.accumulate(numbers[:-1])]]


def wrong_sums(numbers: list[int], got: list) -> set[str]:
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


def wrong_prefixes(numbers: list[int], got: list) -> set[str]:
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
    size: Any
    task: dict
    data: bytes
    numbers: list  # of the arrays
    operation: Operation
    elements: str
    units: float = 1  # of the elements in 1
    where: str = ""  # what messages about this run add to the size

    @functools.cached_property
    def expected(self) -> list[list]:
        limit = [int(self.operation.limit * self.units)] if self.operation.limit else []
        return self.operation.of(self.numbers, self.size, *limit)

    def read(self, outputs: list[bytes]) -> list[list]:
        """The outputs' bytes as lists of numbers, in units of the elements; NaN and infinity are kept."""
        lists = []
        for k, (kind, data) in enumerate(zip(self.operation.kinds, outputs)):
            values, scale = array.array(CODES[kind or self.elements], data).tolist(), self.scale(k)
            lists.append([value * scale for value in values] if scale != 1 else values)
        return lists

    def scale(self, k: int) -> float:
        """The units of output k in 1. A second output is a number of elements."""
        return 1 if self.operation.kinds[k] or k > 0 else self.units ** self.operation.power

    def shown(self, number: float, k: int) -> str:
        """A number of output k."""
        value = number / self.scale(k)
        if self.elements not in MANTISSA or self.operation.kinds[k] == "int":
            return f"{number}"
        return f"{value:.4f}" if abs(value) < EXACT["float"] and value * 10000 % 1 == 0 else f"{value:.9g}"

    def wrong(self, got: list[list]) -> str:
        """The error in the outputs; "" for none."""
        for k, (name, ours, theirs) in enumerate(zip(self.operation.outputs, self.expected, got)):
            wrong = self.wrong_ones(ours, theirs) if ours != theirs else []
            if wrong:
                return difference(name, ours, theirs, wrong, self.where, lambda number: self.shown(number, k))
        return ""

    def wrong_ones(self, ours: list, theirs: list) -> list[int]:
        """The indices of the elements of an output that are wrong. NaN is."""
        within = self.operation.within
        return [i for i, (a, b) in enumerate(zip(ours, theirs)) if a != b and not (within and abs(a - b) <= within(a, self.size))]


def difference(name: str, ours: list, theirs: list, wrong: list[int], where: str, shown: Callable[[float], str]) -> str:
    """The first wrong element, and the number of wrong ones. wrong: their indices."""
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
    orders_at: tuple = ((257, 16383, COUNTED_AT), (1025, 4097, 100003), (2049, 4097, 16385, 262147))  # for each of ORDERS, the sizes that run in it
    counted_at: Any = COUNTED_AT
    promise: str = ""  # the contract's description of it
    limits: dict = dataclasses.field(default_factory=dict)  # a counter's name: its limit at goals_at; a limit of 0 holds at all sizes
    forbidden: tuple = ()  # names that the program may not have, and libraries whose headers it may not include
    goals_at: tuple = ()  # counted_at, and a smaller random size
    fixed_point: int = 0  # as in drawn_unit()

    @property
    def least_bytes(self) -> int | None:
        """The bytes that must be loaded at counted_at."""
        return self.counted_at * 4

    def case(self, size: Any, run: int) -> Case:
        raise NotImplementedError

    def runs_at(self, size: Any, in_other_order: bool = False) -> tuple[int, ...]:
        """The runs of a size, by number: the first and the second one differ."""
        return (0, 1)

    def groups(self) -> list[tuple[Any, tuple]]:
        """Each size with each order in which its runs are made, in a random sequence, so that a program cannot know in which order a run is made, and
        meets smaller sizes after larger ones."""
        found = [(size, FIRST_ORDER) for size in self.sizes]
        found += [(size, order) for order, sizes in zip(ORDERS, self.orders_at) for size in dict.fromkeys(sizes) if size in self.sizes]
        secrets.SystemRandom().shuffle(found)
        return found

    def groups_apart(self) -> list[tuple[Any, tuple]]:
        """Sizes whose runs are made again with LANES_APART, in a random sequence."""
        found = [(size, ("with the lanes of a warp apart", ORDERS[1][1])) for size in dict.fromkeys(self.orders_at[1] if self.orders_at else ()) if size in self.sizes]
        secrets.SystemRandom().shuffle(found)
        return found

    def with_random_sizes(self) -> Shape:
        """A copy with four more sizes: any, one near a power of two, one above all others, and a large one. Each also runs in one of ORDERS."""
        draws = (lambda: between(3, self.sizes[-1])), near_power_of_two, (lambda: self.sizes[-1] + 1 + secrets.randbelow(LARGE[0] - self.sizes[-1] - 1)), \
            (lambda: LARGE[0] + secrets.randbelow(LARGE[1] - LARGE[0]))
        new: list[int] = []
        for draw in draws:
            new.append(next(size for size in iter(draw, None) if size not in {*self.sizes, *new}))
        orders_at = tuple((*sizes, *more) for sizes, more in zip(self.orders_at, (new[:1], new[1:3], new[3:])))
        return dataclasses.replace(self, sizes=tuple(sorted({*self.sizes, *new})), orders_at=orders_at)


def numbers_of_run(count: int, run: int) -> list[int]:
    """The elements of a step's run, in units."""
    numbers = with_large_ones(drawn(count))
    return with_zeros(numbers) if run == 2 else numbers


class Step(Shape):
    """A step of a ladder."""

    def runs_at(self, size: Any, in_other_order: bool = False) -> tuple[int, ...]:
        """Run 2 repeats run 0 at the same address with other data, for a program that keeps results; some of them are 0. A size above the public ones takes long: its second run is in another order."""
        if size > SIZES[-1]:
            return (1,) if in_other_order else (0,)
        return (0, 2, 1) if size < SECOND or size == COUNTED_AT else (0, 1)


class Sums(Step):
    """A step of the first ladder: passes that reduce the array to one sum."""

    def case(self, size: Any, run: int) -> Case:
        before = 1 + secrets.randbelow(LINE - 1) if run % 2 else 0  # offset of the array in its allocation, in elements
        data, units = numbers_of_run(before + size, run), drawn_unit("float", run, fixed_point=self.fixed_point)
        task = {"passes": True, "numbers": [size], "inputs": [4 * len(data)], "before": before}
        where = f" in an array that begins {4 * before} bytes after a multiple of {4 * LINE}" if before else ""
        return Case(size, task, packed(data, "float", units), data[before:], SUM, "float", units, where)


class Scans(Step):
    """A step of the second ladder. Its scratch memory is uninitialised in the first run; the others reuse it."""

    def case(self, size: Any, run: int) -> Case:
        data, units, exclusive, kept = numbers_of_run(size, run), drawn_unit("float", run, fixed_point=self.fixed_point), run % 2, run > 0 and size <= SIZES[-1]
        task = {"passes": False, "numbers": [size, exclusive], "inputs": [4 * size], "outputs": [4 * size], "read": [4 * size], "scratch": "kept" if kept else "fresh"}
        return Case(size, task, packed(data, "float", units), data, EXCLUSIVE_SCAN if exclusive else SCAN, "float", units, ", exclusive" if exclusive else "")


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
