"""A contract: a few lines beside a program that say how its kernel is called and what it computes. docs/judge.md explains each.

    call     = add(in, out, n)
    grid     = (n + 255) / 256
    block    = 256
    computes = sum
    sizes    = 1 31 32 33 1000"""

import itertools
import math
import re
import secrets
import struct

from scripts.judge import shapes
from scripts.judge.shapes import Operation

KEYS = {"call", "grid", "block", "shared", "elements", "computes", "zeroed", "sizes", "at most"}
NEEDED = {"call", "computes", "sizes"}
MOST_BYTES = 4096  # of a contract
MOST_ELEMENTS = {1: 1 << 20, 2: 1 << 16}  # by an operation's power: floats of that many sixteenths add up exactly
MORE_SIZES = 2  # that nobody knows beforehand
# Of a launch: the least number, how many at most, their product at most, and all that in words.
SHAPE = {"grid": (1, 3, (1 << 31) - 1, "one to three numbers from 1 on"), "block": (1, 3, 1024, "one to three numbers from 1 on, 1,024 threads in all"),
         "shared": (0, 1, 48 << 10, "one number up to 49,152")}
LAUNCH_LINE = """    {call}<<<dim3({grid}), dim3({block}), {shared}>>>({arguments});
    check(cudaGetLastError(), "{call}", "the contract", 0);
"""


class Unusable(Exception):
    """What is wrong in a contract, in a line."""


# ---- What can be computed

def rows(numbers, size):
    return [numbers[k:k + size[1]] for k in range(0, len(numbers), size[1])]


def columns(numbers, size):
    return [numbers[k::size[1]] for k in range(size[1])]


def halves(numbers):
    return zip(numbers[:len(numbers) // 2], numbers[len(numbers) // 2:])


def divided(a, b):
    """a / b as a float, rounded once."""
    return struct.unpack("f", struct.pack("f", a / b))[0]


def scaled(row):
    """A row divided by its largest absolute value."""
    largest = max(map(abs, row))
    return [divided(number, largest) for number in row]


def kept(numbers, size):
    above = [number for number in numbers if number > 0]
    return [above, [len(above)]]


OPERATIONS = {
    "sum": shapes.SUM,
    "max": Operation(lambda numbers, size: [[max(numbers)]]),
    "min": Operation(lambda numbers, size: [[min(numbers)]]),
    "argmax": Operation(lambda numbers, size: [[numbers.index(max(numbers))]], kinds=("int",)),
    "scan": shapes.SCAN,
    "exclusive scan": shapes.EXCLUSIVE_SCAN,
    "copy": Operation(lambda numbers, size: [numbers]),
    "sums of both": Operation(lambda numbers, size: [[a + b for a, b in halves(numbers)]], inputs=2),
    "dot product": Operation(lambda numbers, size: [[sum(a * b for a, b in halves(numbers))]], inputs=2, power=2),
    "compaction": Operation(kept, outputs=("out", "count"), kinds=("", "int"), leaves_room=True),
    "sums of rows": Operation(lambda numbers, size: [list(map(sum, rows(numbers, size)))], of_rows=True),
    "sums of columns": Operation(lambda numbers, size: [list(map(sum, columns(numbers, size)))], of_rows=True),
    "transpose": Operation(lambda numbers, size: [list(itertools.chain(*columns(numbers, size)))], of_rows=True),
    "rows by their largest": Operation(lambda numbers, size: [list(itertools.chain(*map(scaled, rows(numbers, size))))], kinds=("float",), of_rows=True),
}
PIECES = re.compile(r"sums of pieces of ([1-9]\d{0,5})")


def operation(text):
    pieces = PIECES.fullmatch(text)
    if pieces:
        length = int(pieces[1])
        return Operation(lambda numbers, size: [[sum(numbers[k:k + length]) for k in range(0, len(numbers), length)]])
    if text not in OPERATIONS:
        raise Unusable(f"computes = {text}; accepted are {', '.join(OPERATIONS)}, sums of pieces of 256 (or another length)")
    return OPERATIONS[text]


# ---- Reading one

def lines_of(text):
    """The keys and their values."""
    found = {}
    for number, line in enumerate(text.splitlines(), 1):
        line = line.partition("#")[0].strip()
        key, equals, value = (part.strip() for part in line.partition("="))
        if line and (not equals or key not in KEYS or key in found or not value):
            raise Unusable(f"line {number} is '{line}'; accepted are lines such as sizes = 1 31 32, each once, of {', '.join(sorted(KEYS))}")
        if line:
            found[key] = value
    missing = sorted(NEEDED - found.keys())
    if missing:
        raise Unusable(f"no line {missing[0]} = ...")
    if ("grid" in found) != ("block" in found):
        raise Unusable("grid and block stand together, for a kernel, or neither does, for a function of the host")
    return found


def sizes_of(text, of_rows):
    """The sizes of a line, from the least on."""
    form = r"[1-9]\d*x[1-9]\d*" if of_rows else r"[1-9]\d*"
    words = text.split()
    wrong = [word for word in words if not re.fullmatch(form, word)]
    if wrong:
        raise Unusable(f"sizes has '{wrong[0]}'; accepted are {'rows x columns, as in 3x5 32x33' if of_rows else 'whole numbers, as in 1 31 32'}")
    sizes = {tuple(map(int, word.split("x"))) if of_rows else int(word) for word in words}
    return sorted(sizes, key=shapes.count_of)


def sides_of(sizes):
    """Of each side all its lengths."""
    return list(zip(*sizes)) if isinstance(sizes[0], tuple) else [sizes]


def greatest(sizes):
    """With the greatest length of each side."""
    return tuple(map(max, sides_of(sizes)))


def between(low, high):
    """A number that nobody knows beforehand, the smaller ones as likely as the larger."""
    return min(high, low + secrets.randbelow(1 << 1 + secrets.randbelow((high - low + 1).bit_length())))


def more_sizes(sizes):
    """Sizes between the least and the greatest, drawn anew each time, so that no program can know them."""
    new = [tuple(between(min(side), max(side)) for side in sides_of(sizes)) for _ in range(MORE_SIZES)]
    return sorted({*sizes, *(size if size[1:] else size[0] for size in new)}, key=shapes.count_of)


def gates_of(text):
    """The most that counters may be, by their names."""
    gates = {}
    for part in filter(None, map(str.strip, text.split(","))):
        found = re.fullmatch(r"(\d+) (.+)", part)
        if not found or found[2] not in shapes.COUNTERS:
            raise Unusable(f"at most = {part}; accepted are numbers of {', '.join(shapes.COUNTERS)}")
        gates[found[2]] = int(found[1])
    return gates


def arithmetic(key, text, names):
    """Text that may stand in a launch: numbers, a size's names, and what is between them."""
    wrong = re.search(r"[^\w\s+*/%(),-]", text) or next((word for word in re.finditer(r"[A-Za-z_]\w*", text) if word[0] not in names), None)
    if wrong:
        raise Unusable(f"{key} has '{wrong[0]}'; accepted are numbers, {', '.join(names)} and + - * / % ( )")
    return text


def numbers_of(text, names):
    """What arithmetic() has let through gives, as C computes it: a tuple; an empty one where it is no arithmetic. names: the sizes' values."""
    if re.search(r"//|/\*|\*\*", text):
        return ()
    try:
        return eval(f"({text.replace('/', '//')},)", {"__builtins__": {}}, names)
    except (SyntaxError, TypeError, ZeroDivisionError):
        return ()


def check_shape(lines, sides, sizes):
    """Unusable where there is no such launch at one of the sizes: every program would be blamed for it."""
    for key, size in itertools.product([key for key in SHAPE if key in lines], sizes):
        least, most, product, words = SHAPE[key]
        numbers = numbers_of(lines[key], dict(zip(sides, size if isinstance(size, tuple) else (size,))))
        fits = 1 <= len(numbers) <= most and all(isinstance(number, int) and number >= least for number in numbers)
        if not fits or math.prod(numbers) > product:
            raise Unusable(f"{key} = {lines[key]} is {', '.join(map(str, numbers)) or 'no arithmetic'} at {shapes.label(size)}; it takes {words}")


def call_of(text, names):
    """The function's name, and its arguments."""
    found = re.fullmatch(r"([A-Za-z_]\w*(?:<[\w\s,]*>)?)\s*\(([^()]*)\)", text)
    if not found:
        raise Unusable(f"call = {text}; it looks like add(in, out, n)")
    arguments = [word.strip() for word in found[2].split(",")]
    wrong = [word for word in arguments if word not in names and not re.fullmatch(r"\d+", word)]
    if wrong:
        raise Unusable(f"call has the argument '{wrong[0]}'; accepted are {', '.join(names)} and numbers")
    return found[1], arguments


def part_of(lines, sizes, arrays):
    """The judge's part in C++. arrays: the names of inputs and outputs, with their types."""
    call, arguments = call_of(lines["call"], [*sizes, *arrays])
    types = dict.fromkeys(sizes, "long long") | {name: f"{element} *" for name, element in arrays.items()}
    values = [f"    {kind} {name} = ({kind})a[{k}];\n    (void){name};\n" for k, (name, kind) in enumerate(types.items())]
    if "grid" in lines:
        shape = {key: arithmetic(key, lines.get(key, "0"), sizes) for key in ("grid", "block", "shared")}
        line = LAUNCH_LINE.format(call=call, arguments=", ".join(arguments), **shape)
    else:
        line = f"    {call}({', '.join(arguments)});\n"
    return call.partition("<")[0], "long long check_call(int, const unsigned long long *a)\n{\n" + "".join(values) + line + "    return 0;\n}\n"


class Contract(shapes.Shape):
    """A shape of somebody's own. Its arrays begin at multiples of 16 bytes; no output holds anything before, or zeros where the contract says so."""

    def __init__(self, name, lines):
        elements, computed = lines.get("elements", "float"), operation(lines["computes"])
        if elements not in shapes.CODES:
            raise Unusable(f"elements = {elements}; accepted are {', '.join(shapes.CODES)}")
        sizes = sizes_of(lines["sizes"], computed.of_rows)
        most = MOST_ELEMENTS[computed.power]
        if shapes.count_of(greatest(sizes)) > most:
            raise Unusable(f"sizes go up to {shapes.label(greatest(sizes))}; the most is {most:,} elements")
        sides, inputs = ("rows", "columns") if computed.of_rows else ("n",), [("in", f"const {elements}"), ("in2", f"const {elements}")][:computed.inputs]
        outputs = [(output, kind or elements) for output, kind in zip(computed.outputs, computed.kinds)]
        zeroed = lines.get("zeroed", "").replace(",", " ").split()
        if not set(zeroed) <= set(computed.outputs):
            raise Unusable(f"zeroed = {lines['zeroed']}; accepted are {', '.join(computed.outputs)}")
        function, part = part_of(lines, sides, dict(inputs + outputs))
        check_shape(lines, sides, sizes)
        super().__init__((function,), part, name, sizes=tuple(more_sizes(sizes)), orders_at=3 * sizes[-1:], counted_at=sizes[-1],
                         promise=f"computes {lines['computes']}, says {name}", gates=gates_of(lines.get("at most", "")))
        self.elements, self.operation, self.zeroed = elements, computed, [computed.outputs.index(output) for output in zeroed]

    @property
    def least_bytes(self):
        return shapes.count_of(self.counted_at) * self.operation.inputs * shapes.width(self.elements)

    def case(self, size, run):
        count = shapes.count_of(size)
        numbers = shapes.drawn(count * self.operation.inputs, self.elements)
        case = shapes.Case(size, {}, shapes.packed(numbers, self.elements), numbers, self.operation, self.elements)
        read = [len(output) * shapes.width(kind or self.elements) for output, kind in zip(case.expected, self.operation.kinds)]
        outputs = [len(case.data), *read[1:]] if self.operation.leaves_room else read
        sides = size if isinstance(size, tuple) else (size,)
        case.task |= {"passes": False, "numbers": sides, "inputs": [len(case.data) // self.operation.inputs] * self.operation.inputs,
                      "outputs": outputs, "read": read, "zeroed": self.zeroed}
        return case


def read(path):
    """The shape that a contract describes; Unusable where it is none."""
    try:
        with open(path, "rb") as file:
            text = file.read(MOST_BYTES + 1).decode()
    except (OSError, ValueError) as error:
        raise Unusable(f"it cannot be read: {getattr(error, 'strerror', None) or 'no UTF-8 text'}") from None
    if len(text) > MOST_BYTES:
        raise Unusable(f"it has more than {MOST_BYTES:,} bytes")
    return Contract(path.name, lines_of(text))
