"""A contract: a few lines next to a program that define how its kernel is called and what it computes. docs/judge.md explains each.

    call     = add(in, out, n)
    grid     = (n + 255) / 256
    block    = 256
    computes = sum
    sizes    = 1 31 32 33 1000"""

from __future__ import annotations

import ast
import dataclasses
import itertools
import math
import operator
import re
import secrets
import struct
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, Callable

from drywarp.judge import shapes
from drywarp.judge.shapes import Operation

LADDER = "ladder"  # a key without others: the program has the shape of a ladder's steps
FIXED_POINT = "fixed point"
KEYS = {LADDER, "forbid", FIXED_POINT, "harness", "call", "grid", "block", "shared", "elements", "computes", "zeroed", "sizes", "at most"}
NEEDED = {"call", "computes", "sizes"}
SCRATCH = "scratch"  # the argument that is scratch memory, of scratch_count(n) elements
MAX_DIGITS = 39  # after the binary point: sums below 2^24 have 63 bits then
MAX_BYTES = 4096  # of a contract
MAX_ELEMENTS = {1: 1 << 20, 2: 1 << 16}  # by an operation's power: floats of that many sixteenths add up exactly
GOAL_UNIT = 32  # elements
POWER_UNITS = 1, 2, 4, 4096  # in 1, of numbers of which powers are computed: they differ by 8 or more, not only by a thousandth
MORE_SIZES, DRAWS = 2, 40  # random sizes; the draws made to get them, since some may be in the contract
# Of a launch: the least number, how many at most, their product at most, and all that in words.
SHAPE = {"grid": (1, 3, (1 << 31) - 1, "one to three positive numbers"), "block": (1, 3, 1024, "one to three positive numbers, at most 1,024 threads in all"),
         "shared": (0, 1, 48 << 10, "one number, at most 49,152")}
LAUNCH_LINE = """    {call}<<<dim3({grid}), dim3({block}), {shared}>>>({arguments});
    check(cudaGetLastError(), "{call}", "the contract", 0);
"""


class Unusable(Exception):
    """The error in a contract, in one line."""


# ---- Operations

def rows(numbers: list[int], size: Any) -> list[list[int]]:
    return [numbers[k:k + size[1]] for k in range(0, len(numbers), size[1])]


def columns(numbers: list[int], size: Any) -> list[list[int]]:
    return [numbers[k::size[1]] for k in range(size[1])]


def halves(numbers: list[int]) -> Iterable[tuple[int, int]]:
    return zip(numbers[:len(numbers) // 2], numbers[len(numbers) // 2:])


def divided(a: float, b: float) -> float:
    """a / b as a float, rounded once."""
    return struct.unpack("f", struct.pack("f", a / b))[0]


def scaled(row: list[int]) -> list[float]:
    """A row divided by its largest absolute value."""
    largest = max(map(abs, row))
    return [divided(number, largest) for number in row]


def softmax(row: Sequence[float]) -> list[float]:
    """The powers e^x of a row, divided by their sum."""
    largest = max(row)
    powers = [math.exp(number - largest) for number in row]
    total = math.fsum(powers)
    return [power / total for power in powers]


def softmax_error(expected: float, size: Any) -> float:
    """The largest accepted error of a float. A power of -d has an error of at most 3d roundings of 2^-24, and d is at most -ln(expected). A sum of C powers
    has fewer roundings than C, which partly cancel; merged pairs and the division have some more. Numbers below 2^-126 may be 0."""
    roundings = size[1] / 16 + 64 - 3 * math.log(max(expected, 2.0 ** -149))
    return roundings * 2.0 ** -24 * expected + 2.0 ** -126


def segments(numbers: list[int]) -> list[list[int]]:
    """The lists of those neighbours that have the same key."""
    return [[number for _, number in pairs] for _, pairs in itertools.groupby(halves(numbers), lambda pair: pair[0])]


def of_segments(operation: Callable) -> Callable:
    """The segments' outputs, concatenated."""
    return lambda numbers, size: [list(itertools.chain(*(operation(segment, None)[0] for segment in segments(numbers))))]


def kept(numbers: list[int], size: Any) -> list[list[int]]:
    above = [number for number in numbers if number > 0]
    return [above, [len(above)]]


def numbers_below(numbers: list[int], size: Any, limit: int) -> list[list[int]]:
    below = [number for number in numbers if number < limit]
    return [below, [len(below)]]


OPERATIONS = {
    "sum": shapes.SUM,
    "max": Operation(lambda numbers, size: [[max(numbers)]], sign=-1, moved=True),
    "min": Operation(lambda numbers, size: [[min(numbers)]], sign=1, moved=True),
    "argmax": Operation(lambda numbers, size: [[numbers.index(max(numbers))]], kinds=("int",), sign=-1, moved=True),
    "scan": shapes.SCAN,
    "exclusive scan": shapes.EXCLUSIVE_SCAN,
    "copy": Operation(lambda numbers, size: [numbers], moved=True),
    "sort": Operation(lambda numbers, size: [sorted(numbers)], moved=True),
    "sums of both": Operation(lambda numbers, size: [[a + b for a, b in halves(numbers)]], inputs=2),
    "dot product": Operation(lambda numbers, size: [[sum(a * b for a, b in halves(numbers))]], inputs=2, power=2),
    "compaction": Operation(kept, outputs=("out", "count"), kinds=("", "int"), leaves_room=True, moved=True),
    "scan of segments": Operation(of_segments(shapes.prefixes), keyed=True),
    "exclusive scan of segments": Operation(of_segments(shapes.prefixes_before), keyed=True),
    "sums of segments": Operation(of_segments(shapes.SUM.of), keyed=True),
    "sums of rows": Operation(lambda numbers, size: [list(map(sum, rows(numbers, size)))], of_rows=True),
    "sums of columns": Operation(lambda numbers, size: [list(map(sum, columns(numbers, size)))], of_rows=True),
    "transpose": Operation(lambda numbers, size: [list(itertools.chain(*columns(numbers, size)))], of_rows=True, moved=True),
    "rows by their largest": Operation(lambda numbers, size: [list(itertools.chain(*map(scaled, rows(numbers, size))))], kinds=("float",), of_rows=True, nonzero=True),
    "softmax of rows": Operation(lambda numbers, size: [list(itertools.chain(*map(softmax, rows(numbers, size))))], kinds=("float",), sign=-1, of_rows=True, within=softmax_error),
}
PIECES = re.compile(r"sums of pieces of ([1-9]\d{0,5})")
BELOW = re.compile(r"numbers below ([1-9]\d{0,9})")


def operation(text: str) -> Operation:
    pieces = PIECES.fullmatch(text)
    if pieces:
        length = int(pieces[1])
        return Operation(lambda numbers, size: [[sum(numbers[k:k + length]) for k in range(0, len(numbers), length)]])
    below = BELOW.fullmatch(text)
    if below:
        return Operation(numbers_below, outputs=("out", "count"), kinds=("", ""), leaves_room=True, moved=True, limit=int(below[1]))
    if text not in OPERATIONS:
        raise Unusable(f"computes = {text}; accepted are {', '.join(OPERATIONS)}, sums of pieces of 256 and numbers below 256 (or another number)")
    return OPERATIONS[text]


# ---- Reading one

def lines_of(text: str) -> dict[str, str]:
    """The keys and their values."""
    found = {}
    for number, line in enumerate(text.splitlines(), 1):
        line = line.partition("#")[0].strip()
        key, equals, value = (part.strip() for part in line.partition("="))
        if line and (not equals or key not in KEYS or key in found or not value):
            raise Unusable(f"line {number} is '{line}'; accepted are lines such as sizes = 1 31 32, each once, of {', '.join(sorted(KEYS))}")
        if line:
            found[key] = value
    if LADDER in found and found.keys() - {LADDER, "forbid", FIXED_POINT}:
        raise Unusable(f"a contract with ladder has no other keys than forbid and {FIXED_POINT}: the ladder implies them")
    if FIXED_POINT in found and (LADDER not in found or found[FIXED_POINT] not in map(str, range(1, MAX_DIGITS + 1))):
        raise Unusable(f"{FIXED_POINT} = {found[FIXED_POINT]}; accepted are, beside ladder, numbers from 1 to {MAX_DIGITS}")
    missing = sorted(NEEDED - found.keys()) if LADDER not in found else []
    if missing:
        raise Unusable(f"no line {missing[0]} = ...")
    if ("grid" in found) != ("block" in found):
        raise Unusable("grid and block are both needed for a kernel, and neither for a host function")
    return found


def sizes_of(text: str, of_rows: bool) -> list:
    """The sizes of a line, sorted."""
    form = r"[1-9]\d*x[1-9]\d*" if of_rows else r"[1-9]\d*"
    words = text.split()
    wrong = [word for word in words if not re.fullmatch(form, word)]
    if wrong:
        raise Unusable(f"sizes has '{wrong[0]}'; accepted are {'rows x columns, as in 3x5 32x33' if of_rows else 'whole numbers, as in 1 31 32'}")
    sizes = {tuple(map(int, word.split("x"))) if of_rows else int(word) for word in words}
    return sorted(sizes, key=shapes.count_of)


def sides_of(sizes: list) -> list:
    """For each dimension, the sizes' lengths."""
    return list(zip(*sizes)) if isinstance(sizes[0], tuple) else [sizes]


def drawn_sizes(sizes: list) -> list:
    """Random sizes between the least and the greatest, with at most as many elements as the last, which is the largest; squares if all are squares."""
    sides, squares = sides_of(sizes), all(isinstance(size, tuple) and size[0] == size[1] for size in sizes)
    drawn = [tuple(shapes.between(min(side), max(side)) for side in sides) for _ in range(DRAWS)]
    new = [size[:1] * 2 if squares else size if size[1:] else size[0] for size in drawn]
    return [size for size in dict.fromkeys(new) if size not in sizes and shapes.count_of(size) <= shapes.count_of(sizes[-1])][:MORE_SIZES]


def goal_size(sizes: list) -> Any:
    """A random size at which the goals are checked, too: half to seven eighths of the largest. A multiple of GOAL_UNIT where that is one,
    so that vector loads are possible at both."""
    def drawn(side: int) -> int:
        unit = GOAL_UNIT if side % GOAL_UNIT == 0 else 1
        return max(1, unit * (side // 2 // unit + secrets.randbelow(side * 3 // 8 // unit + 1)))
    largest = sizes[-1]
    if isinstance(largest, int):
        return drawn(largest)
    return (drawn(largest[0]),) * 2 if largest[0] == largest[1] else tuple(map(drawn, largest))


def limits_of(text: str) -> dict[str, int]:
    """The limits of counters, by name."""
    limits = {}
    for part in filter(None, map(str.strip, text.split(","))):
        found = re.fullmatch(r"(\d+) (.+)", part)
        if not found or found[2] not in shapes.COUNTERS:
            raise Unusable(f"at most = {part}; accepted are numbers of {', '.join(shapes.COUNTERS)}")
        limits[found[2]] = int(found[1])
    return limits


def arithmetic(key: str, text: str, names: Sequence[str]) -> str:
    """Checks the arithmetic of a launch: numbers, the size's names, operators and brackets."""
    wrong = re.search(r"[^\w\s+*/%(),-]", text, re.A) or next((word for word in re.finditer(r"[A-Za-z_]\w*", text) if word[0] not in names), None)
    if wrong:
        raise Unusable(f"{key} has '{wrong[0]}'; accepted are numbers, {', '.join(names)} and + - * / % ( )")
    return text


def quotient(a: int, b: int) -> int:
    """As in C, which rounds towards 0."""
    return abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1)


OPERATORS: dict[type, Callable[[int, int], int]] = {ast.Add: operator.add, ast.Sub: operator.sub, ast.Mult: operator.mul, ast.Div: quotient,
                                                    ast.Mod: lambda a, b: a - quotient(a, b) * b}


def value_of(node: ast.expr, names: dict[str, int]) -> int:
    """The value of a parsed expression; raises KeyError or ValueError if it is no arithmetic of whole numbers. names: the sizes' values."""
    if isinstance(node, ast.BinOp):
        return OPERATORS[type(node.op)](value_of(node.left, names), value_of(node.right, names))
    if isinstance(node, ast.UnaryOp):
        return OPERATORS[{ast.UAdd: ast.Add, ast.USub: ast.Sub}[type(node.op)]](0, value_of(node.operand, names))
    return names[node.id] if isinstance(node, ast.Name) else int(ast.literal_eval(node))


def numbers_of(text: str, names: dict[str, int]) -> tuple[int, ...]:
    """The values of text that arithmetic() accepted, computed as in C: a tuple, empty if it cannot be evaluated. names: the sizes' values."""
    try:
        parsed = ast.parse(f"({text},)", mode="eval").body
        return tuple(value_of(node, names) for node in parsed.elts) if isinstance(parsed, ast.Tuple) else ()
    except (SyntaxError, KeyError, ValueError, TypeError, ZeroDivisionError, RecursionError, MemoryError):
        return ()


def check_shape(lines: dict[str, str], sides: Sequence[str], sizes: list) -> None:
    """Raises Unusable if the launch is impossible at one of the sizes: every program would fail."""
    for key, size in itertools.product([key for key in SHAPE if key in lines], sizes):
        least, most, product, words = SHAPE[key]
        numbers = numbers_of(lines[key], dict(zip(sides, size if isinstance(size, tuple) else (size,))))
        fits = 1 <= len(numbers) <= most and all(isinstance(number, int) and number >= least for number in numbers)
        if not fits or math.prod(numbers) > product:
            raise Unusable(f"{key} = {lines[key]} is {', '.join(map(str, numbers)) or 'not a valid expression'} at {shapes.label(size)}; it takes {words}")


def call_of(text: str, names: Iterable[str]) -> tuple[str, list[str]]:
    """The function's name and arguments. A constant of the program is recognised by its capitals."""
    found = re.fullmatch(r"([A-Za-z_]\w*(?:<[\w\s,<>]*>)?)\s*\(([^()]*)\)", text)
    if not found:
        raise Unusable(f"call = {text}; write it as in call = add(in, out, n)")
    arguments = [word.strip() for word in found[2].split(",")]
    wrong = [word for word in arguments if word not in names and not re.fullmatch(r"\d+|[A-Z][A-Z_0-9]*(\[\d+\])?", word)]
    if wrong:
        raise Unusable(f"call has the argument '{wrong[0]}'; accepted are {', '.join(names)}, numbers, and constants of the program such as BLOCKS[0]")
    return found[1], arguments


def part_of(lines: dict[str, str], sizes: Sequence[str], arrays: dict[str, str], scratch_type: str) -> tuple[tuple[str, ...], str]:
    """The functions that a program must define, and the judge's part in C++. arrays: the names and types of inputs and outputs."""
    types = dict.fromkeys(sizes, "long long") | {name: f"{element} *" for name, element in (arrays | {SCRATCH: scratch_type}).items()}
    call, arguments = call_of(lines["call"], types)
    function, scratch = call.partition("<")[0], SCRATCH in arguments
    shape = {key: arithmetic(key, lines.get(key, "0"), sizes) for key in SHAPE if "grid" in lines}
    line = (LAUNCH_LINE if shape else "    {call}({arguments});\n").format(call=call, arguments=", ".join(arguments), **shape)
    values = [f"    const auto {name} = ({kind})a[{k}];\n" for k, (name, kind) in enumerate(types.items()) if re.search(rf"\b{name}\b", line)]
    counts = ["    if (what == 1)\n        return scratch_count((long long)a[0]);\n"] * scratch
    above = f'extern "C++" {{ {lines["harness"]} }}\n' if "harness" in lines else ""
    body = "".join([*counts, *values, line])
    return (*["scratch_count"] * scratch, function), f"{above}long long check_call(int what, const unsigned long long *a)\n{{\n    (void)what;\n{body}    return 0;\n}}\n"


class Contract(shapes.Shape):
    """The shape of a contract. Its arrays are aligned to 16 bytes; outputs are uninitialised, or zero if the contract says so."""

    def __init__(self, name: str, lines: dict[str, str]) -> None:
        elements, computed = lines.get("elements", "float"), operation(lines["computes"])
        if elements not in shapes.CODES:
            raise Unusable(f"elements = {elements}; accepted are {', '.join(shapes.CODES)}")
        of_rows = computed.of_rows or "x" in lines["sizes"]
        sizes = sizes_of(lines["sizes"], of_rows)
        most = MAX_ELEMENTS[computed.power]
        if shapes.count_of(sizes[-1]) > most:
            raise Unusable(f"sizes contains {shapes.label(sizes[-1])}; the maximum is {most:,} elements")
        sides, inputs = ("rows", "columns") if of_rows else ("n",), [("in", f"const {elements}"), ("in2", f"const {elements}")][:computed.inputs]
        inputs = [("keys", "const int")] * computed.keyed + inputs
        outputs = [(output, kind or elements) for output, kind in zip(computed.outputs, computed.kinds)]
        zeroed = lines.get("zeroed", "").replace(",", " ").split()
        if not set(zeroed) <= set(computed.outputs):
            raise Unusable(f"zeroed = {lines['zeroed']}; accepted are {', '.join(computed.outputs)}")
        functions, part = part_of(lines, sides, dict(inputs + outputs), elements)
        check_shape(lines, sides, sizes)
        new, limits = drawn_sizes(sizes), limits_of(lines.get("at most", ""))
        goals_at = [sizes[-1], goal_size(sizes)] if limits else []
        small = [size for size in sizes if shapes.count_of(size) < shapes.SECOND]
        super().__init__(functions, part, name, sizes=tuple(sorted({*sizes, *new, *goals_at}, key=shapes.count_of)),
                         orders_at=tuple(tuple(dict.fromkeys([*small, sizes[-1], size])) for size in [*new, *sizes[-1:], *sizes[-1:], *sizes[-1:]][:len(shapes.ORDERS)]),
                         counted_at=sizes[-1], promise=f"computes {lines['computes']}, according to {name}", limits=limits, goals_at=tuple(goals_at))
        self.elements, self.operation, self.zeroed = elements, computed, [computed.outputs.index(output) for output in zeroed]
        self.first_repeats: dict = {}  # by size: whether the elements of run 0 repeat, as 0 or 1
        self.scratch = "scratch_count" in functions
        self.sides, self.launch = sides, {key: lines.get(key, "0") for key in SHAPE} if "grid" in lines else {}

    @property
    def least_bytes(self) -> int | None:
        keys = shapes.width("int") * self.operation.keyed
        return shapes.count_of(self.counted_at) * (self.operation.inputs * shapes.width(self.elements) + keys)

    def value(self, key: str, size: Any) -> tuple:
        """The numbers of a launch's `key` at a size."""
        return numbers_of(self.launch[key], dict(zip(self.sides, size if isinstance(size, tuple) else (size,))))

    def drawn(self, size: Any, run: int) -> tuple[list[int], float]:
        """The random elements of a run in units, and the number of units in 1."""
        computed = self.operation
        count, sign = shapes.count_of(size) * computed.inputs, computed.sign * run
        if computed.moved:
            repeats = self.first_repeats.setdefault(size, secrets.randbelow(2)) != run  # in one of a size's two runs
            return shapes.drawn_values(count, self.elements, repeats, sign, computed.limit)
        if computed.within:
            units = secrets.choice(POWER_UNITS)
            return shapes.drawn(count, self.elements, sign=sign, least=shapes.LEAST * max(1, units // POWER_UNITS[2])), units
        numbers = shapes.with_large_ones(shapes.drawn(count, self.elements, computed.power, sign), self.elements, computed.power)
        has_zeros = run == 1 and not computed.nonzero and secrets.randbelow(2)
        return shapes.with_zeros(numbers) if has_zeros else numbers, shapes.drawn_unit(self.elements, run, computed.power)

    def case(self, size: Any, run: int) -> shapes.Case:
        count, computed = shapes.count_of(size), self.operation
        keys = shapes.drawn_keys(count, run) if computed.keyed else []
        numbers, units = self.drawn(size, run)
        inputs = [shapes.packed(keys, "int")] * computed.keyed + [shapes.packed(numbers[k:k + count], self.elements, units) for k in range(0, len(numbers), count)]
        given: list = [number / units for number in numbers] if computed.within else keys + numbers
        case = shapes.Case(size, {}, b"".join(inputs), given, computed, self.elements, units)
        read = [len(output) * shapes.width(kind or self.elements) for output, kind in zip(case.expected, computed.kinds)]
        outputs = [len(inputs[-1]), *read[1:]] if computed.leaves_room else read
        sides = size if isinstance(size, tuple) else (size,)
        if self.launch:
            case.task["launch"] = [*(side for key in ("grid", "block") for side in [*self.value(key, size), 1, 1][:3]), *self.value("shared", size), 0, 0, 0, 0]
        case.task |= {"passes": False, "numbers": sides, "inputs": list(map(len, inputs)), "outputs": outputs, "read": read, "zeroed": self.zeroed}
        if self.scratch:
            case.task["scratch"] = "kept" if run else "fresh"
        return case


def read(path: Path) -> shapes.Shape:
    """The shape that a contract describes; raises Unusable if it is invalid."""
    try:
        with open(path, "rb") as file:
            text = file.read(MAX_BYTES + 1).decode()
    except (OSError, ValueError) as error:
        raise Unusable(f"the file cannot be read: {getattr(error, 'strerror', None) or 'not UTF-8 text'}") from None
    if len(text) > MAX_BYTES:
        raise Unusable(f"the file has more than {MAX_BYTES:,} bytes")
    lines = lines_of(text)
    forbidden = tuple(filter(None, re.split(r"[\s,]+", lines.get("forbid", ""))))
    wrong = next((word for word in forbidden if not re.fullmatch(r"[A-Za-z_]\w*", word)), None)
    if wrong:
        raise Unusable(f"forbid has '{wrong}'; accepted are names of libraries and functions, as in cub, thrust")
    if LADDER not in lines:
        own = Contract(path.name, lines)
        own.forbidden = forbidden
        return own
    if lines[LADDER] not in shapes.LADDERS:
        raise Unusable(f"ladder = {lines[LADDER]}; accepted are {', '.join(shapes.LADDERS)}")
    shape = shapes.LADDERS[lines[LADDER]]
    return dataclasses.replace(shape, forbidden=forbidden, fixed_point=int(lines.get(FIXED_POINT, 0)))
