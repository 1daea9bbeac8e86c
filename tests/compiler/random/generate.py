"""Random kernels: generate.py SEED COUNT prints a CUDA source. The same SEED gives the same kernels.

A kernel has loops, branches, shared memory, barriers, shuffles, votes, atomics, structs, functions, templates, lambdas, and arithmetic of all widths. Its
behaviour is defined: the ranges of signed integers are tracked, so that none overflows; indices are masked; barriers and warp-level operations are in
control flow that all threads take; floats are multiplied by powers of two or with __fmul_rn, so that contraction to an fma changes nothing. Where that fails,
the sanitizer of the host's run says so (check.py)."""

import random
import sys

HEAD = """#ifndef ON_HOST
#include <cuda_runtime.h>
#endif

"""
TYPES = {"i": "int", "u": "unsigned", "l": "long long", "w": "unsigned long long", "f": "float", "d": "double"}
INT_MAX, LONG_MAX = (1 << 31) - 1, (1 << 63) - 1
SMALL, LARGE = 1023, 1 << 40  # bounds of variables of type int and long long
THREADS, BLOCKS = 64, 2  # of a launch
OUTPUTS = 8  # ints of a thread


class Scope:
    """The variables that can be read, by type: names. Those that can be assigned are in `assignable`."""

    def __init__(self, outer=None):
        self.names = {kind: list(names) for kind, names in outer.names.items()} if outer else {kind: [] for kind in TYPES}
        self.assignable = {kind: list(names) for kind, names in outer.assignable.items()} if outer else {kind: [] for kind in TYPES}

    def add(self, kind, name, assignable=True):
        self.names[kind].append(name)
        if assignable:
            self.assignable[kind].append(name)


class Kernel:
    """One kernel with its functions and structs; `text` has its source."""

    def __init__(self, rng, name):
        self.r, self.name, self.count = rng, name, 0
        self.lines, self.depth = [], 1
        self.functions = []  # (name, result's type, types of the parameters)
        self.has_shared = self.has_struct = self.has_lambda = False
        self.in_function = False
        self.before = []  # source of structs and functions
        self.make()

    # ---- Choices

    def chance(self, probability):
        return self.r.random() < probability

    def pick(self, *values):
        return self.r.choice(values)

    def fresh(self, prefix):
        self.count += 1
        return f"{prefix}{self.count}"

    # ---- Expressions. Of type int and long long: (text, least, most); of others: text

    def ranged(self, kind, scope, level):
        """A signed expression with its range."""
        text, low, high = self.signed_operation(kind, scope, level)
        assert -low - 1 <= (INT_MAX if kind == "i" else LONG_MAX) >= high, text
        return text, low, high

    def signed_leaf(self, kind, scope):
        names = scope.names[kind]
        if names and self.chance(0.75):
            bound = SMALL if kind == "i" else LARGE
            return self.r.choice(names), -bound, bound
        value = self.pick(0, 1, 2, 3, 5, 7, 8, 15, 16, 31, 32, 33, 63, 64, 100, 255, 256, 1000, -1, -2, -4, -7, -100)
        suffix = "ll" if kind == "l" else ""
        return (f"{value}{suffix}" if value >= 0 else f"({value}{suffix})"), value, value

    def signed_operation(self, kind, scope, level):
        r, largest = self.r.random(), INT_MAX if kind == "i" else LONG_MAX
        if level > 3 or r < 0.2:
            return self.signed_leaf(kind, scope)
        if r < 0.55:
            return self.signed_arithmetic(kind, scope, level, largest)
        if r < 0.62:
            a, low, high = self.ranged(kind, scope, level + 1)
            divisor = self.pick(2, 3, 4, 5, 7, 8, 10, 16, 32, 33, -3, -4)
            if self.chance(0.5):
                most = max(-low, high) // 2 + 1
                return f"({a} / {divisor})", -most, most
            return f"({a} % {divisor})", -abs(divisor), abs(divisor)
        if r < 0.66:
            a, low, high = self.ranged(kind, scope, level + 1)
            return f"({a} >> {self.r.randrange(1, 20)})", min(low, -1), max(high, 0)
        if r < 0.72:
            a, alow, ahigh = self.ranged(kind, scope, level + 1)
            b, blow, bhigh = self.ranged(kind, scope, level + 1)
            return f"({self.condition(scope, level + 1)} ? {a} : {b})", min(alow, blow), max(ahigh, bhigh)
        if r < 0.77:
            a, alow, ahigh = self.ranged(kind, scope, level + 1)
            b, blow, bhigh = self.ranged(kind, scope, level + 1)
            cast = "(long long)" if kind == "l" else ""
            return f"{self.pick('min', 'max')}({cast}{a}, {cast}{b})", min(alow, blow), max(ahigh, bhigh)
        if r < 0.80 and kind == "i":
            return self.bit_function(scope, level)
        text, low, high = (self.from_memory if r < 0.86 else self.converted if r < 0.93 else self.call)(kind, scope, level)
        return f"(long long){text}" if kind == "l" else text, low, high

    def signed_arithmetic(self, kind, scope, level, largest):
        a, alow, ahigh = self.ranged(kind, scope, level + 1)
        b, blow, bhigh = self.ranged(kind, scope, level + 1)
        operator = self.pick("+", "-", "*", "+", "-", "&", "|", "^")
        if operator in "&|^":
            most = min(1 << max(-alow - 1, ahigh, -blow - 1, bhigh, 1).bit_length(), largest + 1)
            return f"({a} {operator} {b})", -most, most - 1
        corners = {"+": [alow + blow, ahigh + bhigh], "-": [alow - bhigh, ahigh - blow],
                   "*": [alow * blow, alow * bhigh, ahigh * blow, ahigh * bhigh]}[operator]
        low, high = min(corners), max(corners)
        if max(-low, high) > largest:
            return f"({a} ^ {b})", -largest - 1, largest
        return f"({a} {operator} {b})", low, high

    def bit_function(self, scope, level):
        a = self.unsigned("u", scope, level + 1)
        name, high = self.pick(("__popc", 32), ("__clz", 32), ("__ffs", 32))
        return f"{name}({a})", 0, high

    def from_memory(self, kind, scope, level):
        index = self.ranged("i", scope, level + 2)[0]
        choices = [(f"in[({index}) & 255]", -SMALL, SMALL)]
        if not self.in_function:
            choices.append((f"arr[({index}) & 3]", -SMALL, SMALL))
            if self.has_shared:
                choices.append((f"sh[({index}) & 63]", -SMALL, SMALL))
            if self.has_struct:
                choices += [("p.a", -SMALL, SMALL), ("p.sum()", -2 * SMALL - 255, 2 * SMALL + 255), (f"p.c[({index}) & 1]", -SMALL, SMALL),
                            (f"ps[({index}) & 1].a", -SMALL, SMALL)]
            choices += [("v.x", -SMALL, SMALL), ("v.y", -SMALL, SMALL), (f"table[({index}) & 7]", -9, 99)]
        return self.r.choice(choices)

    def converted(self, kind, scope, level):
        """From another type: cut to a range where it may be larger."""
        r = self.r.random()
        if r < 0.25:
            return f"(int)({self.unsigned('u', scope, level + 1)} & {self.pick(15, 255, 1023)})", 0, SMALL
        if r < 0.4:
            return f"(int)({self.unsigned('w', scope, level + 1)} >> {self.pick(54, 58, 60)})", 0, SMALL
        if r < 0.55:
            bound = self.pick(7, 100, 1000)
            return f"(int)fminf(fmaxf({self.floating('f', scope, level + 1)}, -{bound}.0f), {bound}.0f)", -bound, bound
        if r < 0.65:
            return f"(signed char)({self.ranged('i', scope, level + 1)[0]})", -128, 127
        if r < 0.72:
            return f"(unsigned char)({self.ranged('i', scope, level + 1)[0]})", 0, 255
        if r < 0.78:
            return f"(short)({self.ranged('i', scope, level + 1)[0]})", -32768, 32767
        if r < 0.88:
            return f"(int){self.condition(scope, level + 1)}", 0, 1
        if kind == "l":
            text, low, high = self.ranged("i", scope, level + 1)
            return f"(long long){text}", low, high
        return f"(int)({self.ranged('l', scope, level + 1)[0]} % 1000)", -999, 999

    def unsigned(self, kind, scope, level):
        r, suffix, bits = self.r.random(), {"u": "u", "w": "ull"}[kind], {"u": 32, "w": 64}[kind]
        if level > 3 or r < 0.25:
            names = scope.names[kind]
            if names and self.chance(0.8):
                return self.r.choice(names)
            return f"{self.pick(0, 1, 2, 7, 8, 31, 32, 255, 65535, 65537, (1 << bits) - 1, 1 << bits - 1, 0x9e3779b9)}{suffix}"
        a = self.unsigned(kind, scope, level + 1)
        if r < 0.6:
            return f"({a} {self.pick('+', '-', '*', '&', '|', '^')} {self.unsigned(kind, scope, level + 1)})"
        if r < 0.7:
            return f"({a} {self.pick('/', '%')} {self.pick(1, 2, 3, 5, 7, 8, 10, 16, 100, 641)}{suffix})"
        if r < 0.8:
            count = self.r.randrange(bits) if self.chance(0.6) else f"({self.unsigned('u', scope, level + 2)} & {bits - 1})"
            return f"({a} {self.pick('<<', '>>')} {count})"
        if r < 0.86:
            return f"({self.condition(scope, level + 1)} ? {a} : {self.unsigned(kind, scope, level + 1)})"
        if r < 0.9:
            return f"({TYPES[kind]}){self.ranged(self.pick('i', 'l'), scope, level + 1)[0]}"
        if r < 0.94 and kind == "u":
            return self.pick(f"__brev({a})", f"__umulhi({a}, {self.unsigned(kind, scope, level + 1)})", f"__byte_perm({a}, 7u, 0x{self.r.randrange(1 << 16) & 0x7777:04x})",
                             f"__funnelshift_l({a}, {self.unsigned(kind, scope, level + 1)}, {self.r.randrange(32)})", f"(unsigned){self.unsigned('w', scope, level + 1)}")
        if r < 0.97:
            return f"~{a}" if self.chance(0.5) else f"(-{a})"
        return self.pick(f"(unsigned long long)__popcll({a})", f"(unsigned long long){self.unsigned('u', scope, level + 1)}", "in64[tid & 63]") if kind == "w" else f"min({a}, {self.unsigned(kind, scope, level + 1)})"

    def floating(self, kind, scope, level):
        r, suffix = self.r.random(), {"f": "f", "d": ""}[kind]
        if level > 3 or r < 0.3:
            names = scope.names[kind]
            if names and self.chance(0.8):
                return self.r.choice(names)
            return f"{self.pick('0.0', '1.0', '2.0', '0.5', '0.1', '3.25', '1e10')}{suffix}"
        a = self.floating(kind, scope, level + 1)
        if r < 0.6:
            return f"({a} {self.pick('+', '-')} {self.floating(kind, scope, level + 1)})"
        if r < 0.66:
            return f"({a} * {self.pick('0.5', '2.0', '4.0', '-1.0')}{suffix})"
        if r < 0.70:
            product = "__fmul_rn" if kind == "f" else "__dmul_rn"
            return f"{product}({a}, {self.floating(kind, scope, level + 1)})"
        if r < 0.74:
            return f"fma{suffix}({a}, {self.floating(kind, scope, level + 1)}, {self.floating(kind, scope, level + 1)})"
        if r < 0.77:
            return f"({a} / {self.pick('3.0', '2.0', '0.7', '-8.0')}{suffix})"
        if r < 0.82:
            return f"{self.pick('fmax', 'fmin')}{suffix}({a}, {self.floating(kind, scope, level + 1)})"
        if r < 0.87:
            return self.pick(f"fabs{suffix}({a})", f"(-{a})", f"sqrt{suffix}(fabs{suffix}({a}))", f"floor{suffix}({a})")
        if r < 0.92:
            return f"({TYPES[kind]}){self.ranged('i', scope, level + 1)[0]}"
        if r < 0.96:
            return f"({self.condition(scope, level + 1)} ? {a} : {self.floating(kind, scope, level + 1)})"
        index = self.ranged("i", scope, level + 2)[0]
        return f"({TYPES[kind]})inf[({index}) & 255]" if kind == "d" or self.in_function or not self.has_struct else self.pick(f"inf[({index}) & 255]", "p.b", "v4.z")

    def condition(self, scope, level):
        r, relation = self.r.random(), self.pick("<", "<=", ">", ">=", "==", "!=")
        if r < 0.4:
            return f"({self.ranged('i', scope, level + 1)[0]} {relation} {self.ranged('i', scope, level + 1)[0]})"
        if r < 0.5:
            return f"({self.unsigned('u', scope, level + 1)} {relation} {self.unsigned('u', scope, level + 1)})"
        if r < 0.6:
            return f"({self.floating('f', scope, level + 1)} {relation} {self.floating('f', scope, level + 1)})"
        if r < 0.68:
            kind = self.pick("l", "w", "d")
            a, b = (self.expression(kind, scope, level + 1) for _ in range(2))
            return f"({a} {relation} {b})"
        if r < 0.75:
            return f"({self.ranged('i', scope, level + 1)[0]} & {self.pick(1, 2, 4, 5, 16)})"
        if level > 3:
            return "(tid < 9)"
        if r < 0.92:
            return f"({self.condition(scope, level + 1)} {self.pick('&&', '||')} {self.condition(scope, level + 1)})"
        return f"!{self.condition(scope, level + 1)}"

    def expression(self, kind, scope, level=0):
        if kind in "il":
            return self.ranged(kind, scope, level)[0]
        return self.unsigned(kind, scope, level) if kind in "uw" else self.floating(kind, scope, level)

    def bounded(self, kind, scope, level=0):
        """An expression within the range of a variable."""
        if kind not in "il":
            return self.expression(kind, scope, level)
        bound = SMALL if kind == "i" else LARGE
        text, low, high = self.ranged(kind, scope, level)
        if -bound <= low and high <= bound:
            return text
        if kind == "l":
            return f"({text} % {bound}ll)"
        return self.pick(f"({text} % {bound})", f"({text} & {bound})", f"max(-{bound}, min({bound}, {text}))")

    def call(self, kind, scope, level):
        chosen = [function for function in self.functions if function[1] == kind]
        if self.has_lambda and kind == "i" and not self.in_function and self.chance(0.3):
            return f"twice({self.bounded('i', scope, level + 1)})", -SMALL, SMALL
        if not chosen or level > 2:
            return self.signed_leaf(kind, scope)
        name, _, parameters = self.r.choice(chosen)
        arguments = ", ".join(self.bounded(parameter, scope, level + 2) for parameter in parameters)
        bound = SMALL if kind == "i" else LARGE
        return f"{name}(in, inf, in64, tid, n, {arguments})", -bound, bound

    # ---- Statements

    def line(self, text):
        self.lines.append("    " * self.depth + text)

    def block(self, scope, uniform, level, most=4):
        inner = Scope(scope)
        self.depth += 1
        for _ in range(self.r.randrange(1, most)):
            self.statement(inner, uniform, level + 1)
        self.depth -= 1

    def statement(self, scope, uniform, level):
        r = self.r.random()
        if r < 0.22:
            self.declaration(scope)
        elif r < 0.45:
            self.assignment(scope)
        elif r < 0.60 and level < 3:
            self.branch(scope, uniform, level)
        elif r < 0.76 and level < 3:
            self.loop(scope, uniform, level)
        elif r < 0.80 and level < 3:
            self.switch(scope, level)
        elif r < 0.92 and uniform and not self.in_function:
            self.together(scope)
        elif not self.in_function:
            self.to_memory(scope)
        else:
            self.assignment(scope)

    def declaration(self, scope):
        kind = self.r.choice("iiiiuufflwd")
        name = self.fresh(kind)
        constant = self.pick("", "", "", "const ")
        type_name = "auto" if kind in "f" and self.chance(0.1) else TYPES[kind]
        value = self.bounded(kind, scope)
        self.line(f"{constant}{type_name} {name} = {f'(float)({value})' if type_name == 'auto' else value};")
        scope.add(kind, name, not constant)

    def assignment(self, scope):
        kinds = [kind for kind in TYPES if scope.assignable[kind]]
        kind = self.r.choice(kinds)
        name = self.r.choice(scope.assignable[kind])
        if kind in "il":
            bound = SMALL if kind == "i" else LARGE
            if self.chance(0.3):
                self.line(f"{name} {self.pick('+=', '-=', '^=')} {self.bounded(kind, scope)};")
                self.line(f"{name} = {name} % {bound};")
            else:
                self.line(f"{name} = {self.bounded(kind, scope)};")
        elif kind in "uw":
            form = self.pick("=", "+=", "-=", "^=", "|=", "*=", "=")
            self.line(f"{name}{self.pick('++', '--')};" if self.chance(0.1) else f"{name} {form} {self.expression(kind, scope)};")
        else:
            self.line(f"{name} {self.pick('=', '+=', '-=')} {self.expression(kind, scope)};")

    def uniform_condition(self):
        return self.pick("n > 5", "blockIdx.x == 0", "(n & 1)", "n < 30", "blockIdx.x + 1 < gridDim.x", "(int)blockDim.x > n")

    def branch(self, scope, uniform, level):
        together = uniform and self.chance(0.4)
        self.line(f"if ({self.uniform_condition() if together else self.condition(scope, 0)}) {{")
        self.block(scope, together, level)
        if self.chance(0.45):
            if self.chance(0.3):
                self.line(f"}} else if ({self.condition(scope, 1)}) {{")
                self.block(scope, False, level)
                together = False
            self.line("} else {")
            self.block(scope, together, level)
        self.line("}")

    def loop(self, scope, uniform, level):
        name, inner = self.fresh("k"), Scope(scope)
        inner.add("i", name, False)
        form, step = self.r.random(), self.pick(1, 1, 1, 2, 3)
        together = uniform and form < 0.6
        if self.chance(0.15):
            self.line(self.pick("#pragma unroll", "#pragma unroll 1", "#pragma unroll 4"))
        if form < 0.25:
            self.line(f"for (int {name} = 0; {name} < {self.pick(1, 2, 3, 4, 5, 7, 8, 16)}; {name} += {step}) {{")
        elif form < 0.4:
            self.line(f"for (int {name} = {self.pick(4, 16, 32, 100)}; {name} > 0; {name} {self.pick('/= 2', '>>= 1', '-= 9')}) {{")
        elif form < 0.6:
            self.line(f"for (int {name} = {self.pick('0', '1', 'blockIdx.x')}; {name} < (n & 15); {name}{self.pick('++', ' += 2')}) {{")
        elif form < 0.75:
            self.line(f"for (int {name} = {self.pick('0', 'tid & 3')}; {name} < ({self.bounded('i', scope, 2)} & 15); {name} += {step}) {{")
        elif form < 0.88:
            self.line(f"int {name} = {self.pick('tid & 7', '0', 'n & 3')};")
            self.line(f"while ({name} < {self.pick('5', '(tid & 15)', '12')}) {{")
        else:
            self.line(f"int {name} = {self.pick('tid & 7', '0', 'n & 3')};")
            self.line("do {")
        counted = form >= 0.75
        if counted:
            self.depth += 1
            self.line(f"{name} += {step};")
            self.depth -= 1
        self.block(inner, together, level)
        if not together and self.chance(0.3):
            self.line(f"    if ({self.condition(inner, 1)})")
            self.line(f"        {self.pick('break', 'continue')};")
        self.line(f"}} while ({name} < {self.pick(3, 9)});" if form >= 0.88 else "}")

    def switch(self, scope, level):
        self.line(f"switch ({self.ranged('i', scope, 1)[0]} & 3) {{")
        for case in sorted(self.r.sample(range(4), self.r.randrange(1, 4))):
            self.line(f"case {case}: {{")
            self.block(scope, False, level, 3)
            self.line("}")
            if self.chance(0.7):
                self.line("    break;")
        if self.chance(0.5):
            self.line("default: {")
            self.block(scope, False, level, 2)
            self.line("}")
        self.line("}")

    def together(self, scope):
        """What all threads of a block or warp do together."""
        r = self.r.random()
        if r < 0.35 and self.has_shared:
            name = self.fresh("i")
            self.line(f"const int {name} = {self.bounded('i', scope)};")
            self.line("__syncthreads();")
            self.line(f"sh[{self.pick('tid', 'tid ^ 1', '63 - tid')}] = {name};")
            self.line("__syncthreads();")
            scope.add("i", name, False)
        elif r < 0.5 and self.has_shared:
            self.line("__syncthreads();")
            self.line(f"{self.pick('atomicAdd', 'atomicMax', 'atomicXor')}(&counts[({self.bounded('i', scope, 1)}) & 7], {self.bounded('i', scope, 2)});")
            self.line("__syncthreads();")
            name = self.fresh("i")
            self.line(f"const int {name} = counts[tid & 7] & {SMALL};")
            self.line("__syncthreads();")
            scope.add("i", name, False)
        elif r < 0.85:
            kind = self.r.choice("iufliw")
            name = self.fresh(kind)
            distance = self.pick(1, 2, 4, 8, 16, "(n & 31)")
            function = self.pick("__shfl_xor_sync", "__shfl_down_sync", "__shfl_up_sync", "__shfl_sync")
            width = self.pick("", "", "", ", 16", ", 8")
            self.line(f"{TYPES[kind]} {name} = {function}(0xffffffff, {self.bounded(kind, scope, 1)}, {distance}{width});")
            scope.add(kind, name)
        else:
            name = self.fresh("u")
            vote = self.pick("__ballot_sync(0xffffffff, {})", "(unsigned)__any_sync(0xffffffff, {})", "(unsigned)__all_sync(0xffffffff, {})",
                             "__ballot_sync(0xffffffff, {}) & ((1u << (tid & 31)) - 1u)")
            self.line(f"unsigned {name} = {vote.format(self.condition(scope, 1))};")
            scope.add("u", name)

    def to_memory(self, scope):
        index, value = self.bounded("i", scope, 2), self.bounded("i", scope, 1)
        choices = [f"arr[({index}) & 3] = {value};", f"arr[{self.r.randrange(4)}] = {value};", f"v.{self.pick('x', 'y')} = {value};",
                   f"out[{OUTPUTS} * i + {self.r.randrange(4)}] = {value};"]
        if self.has_struct:
            choices += [f"p.a = {value};", f"p.b = {self.expression('f', scope, 1)};", f"p.c[({index}) & 1] = {value};", "p = ps[n & 1];",
                        f"ps[({index}) & 1] = p;", f"p.add({value});", f"p = p + ps[{self.pick('0', '1', 'tid & 1')}];", f"change(p, {value});"]
        self.line(self.r.choice(choices))

    # ---- Functions and the kernel

    def struct(self):
        name = f"P{self.name}"
        self.before.append(f"""struct {name} {{
    int a;
    float b;
    short c[2];
    __device__ int sum() const {{ return a + c[0] + {self.pick('c[1] % 256', '1', '(int)sizeof *this')}; }}
    __device__ void add(int q) {{ a = (a + q) % 1000; }}
    __device__ {name} operator+(const {name} &o) const {{ return {{(a {self.pick('+', '-')} o.a) % 1000, {self.pick('b', 'o.b', 'b + o.b')}, {{o.c[1], c[0]}}}}; }}
}};

__device__ void change({name} &o, int q)
{{
    o.a = (o.a {self.pick('+', '-')} q) % 1000;
    if (q {self.pick('<', '>')} o.a)
        o.b += 1.0f;
}}
""")
        self.has_struct = True

    def function(self):
        kind = self.r.choice("iiiluw")
        parameters = [self.r.choice("iiuf") for _ in range(self.r.randrange(1, 4))]
        name, scope = f"{self.fresh('h')}_{self.name}", Scope()
        names = [f"q{number}" for number in range(len(parameters))]
        scope.add("i", "tid", False)
        scope.add("i", "n", False)
        for parameter, argument in zip(parameters, names):
            scope.add(parameter, argument)
        kept, self.lines, self.depth, self.in_function = self.lines, [], 1, True
        scope.add("i", "r0")
        self.line(f"int r0 = {self.pick(1, 5, 100)};")
        for _ in range(self.r.randrange(1, 4)):
            self.statement(scope, False, 1)
            if self.chance(0.25):
                self.line(f"if ({self.condition(scope, 1)})")
                self.line(f"    return {self.bounded(kind, scope, 1)};")
        self.line(f"return {self.bounded(kind, scope, 1)};")
        body, self.lines, self.in_function = self.lines, kept, False
        template, shown = "", TYPES[kind]
        list_of = ", ".join(f"{TYPES[parameter]} {argument}" for parameter, argument in zip(parameters, names))
        specifiers = self.pick("__device__", "__device__", "static __device__", "__device__ __forceinline__")
        called = name
        if self.chance(0.3):
            template, called = "template <int N>\n", f"{name}<{self.pick(1, 3, 8)}>"
            body[0] = "    int r0 = N;"
        self.before.append(f"{template}{specifiers} {shown} {name}(const int *in, const float *inf, const unsigned long long *in64, int tid, int n, {list_of})\n{{\n"
                           + "\n".join(body) + "\n}\n")
        self.functions.append((called, kind, parameters))

    def make(self):
        if self.chance(0.5):
            self.struct()
        structured = self.has_struct
        self.has_struct = False  # functions have none
        for _ in range(self.r.randrange(3)):
            self.function()
        self.has_struct, self.has_shared = structured, self.chance(0.7)
        scope = Scope()
        for name in ("tid", "n"):
            scope.add("i", name, False)
        scope.add("i", "i0")
        scope.add("u", "u")
        scope.add("f", "x")
        scope.add("l", "l")
        self.depth = 1
        self.declarations()
        for _ in range(self.r.randrange(4, 11)):
            self.statement(scope, True, 0)
        self.results(scope)
        body = "\n".join(self.lines)
        restrict = self.pick("", " __restrict__ ")
        self.text = "\n".join([*self.before, f"""__global__ void {self.name}(const int *{restrict}in, const float *{restrict}inf, const unsigned long long *in64, int *{restrict}out, int n)
{{
{body}
}}
"""])

    def declarations(self):
        if self.has_shared:
            self.line(f"__shared__ int sh[{THREADS}], counts[8];")
        self.line("const int tid = threadIdx.x, i = blockIdx.x * blockDim.x + tid;")
        self.line("int i0 = in[i], arr[4] = {tid, n, 7, in[i + 3]};")
        self.line("unsigned u = in[i + 1];")
        self.line("float x = inf[i];")
        self.line("long long l = in[i + 2] * 1000003ll;")
        self.line("int2 v = make_int2(in[i + 4], tid);")
        self.line("const int table[8] = {3, -1, 4, 1, -5, 9, 2, 6};")
        if self.has_struct:
            name = f"P{self.name}"
            self.line(f"{name} p = {{tid, x, {{1, 2}}}}, ps[2] = {{{{n, 2.0f, {{3, 4}}}}, {{5, x, {{(short)n, 6}}}}}};")
            self.line("const float4 v4 = make_float4(x, 1.0f, (float)n, 2.0f);")
        if self.has_shared:
            self.line("sh[tid] = in[i + 2];")
            self.line("if (tid < 8)")
            self.line("    counts[tid] = tid;")
            self.line("__syncthreads();")
        if self.chance(0.3):
            self.line(f"auto twice = [{self.pick('=', '&')}](int q) {{ return (2 * q + {self.pick('tid', 'n', '1', 'arr[0] % 8')}) % 1000; }};")
            self.has_lambda = True

    def results(self, scope):
        if self.has_shared:
            self.line("__syncthreads();")
        self.line(f"int *to = out + {OUTPUTS} * i;")
        self.line(f"to[4] = i0 ^ arr[1] ^ arr[{self.r.randrange(4)}]{' ^ sh[tid ^ 1] ^ counts[tid & 7]' if self.has_shared else ''}{' ^ p.a ^ ps[tid & 1].c[1]' if self.has_struct else ''};")
        self.line("to[5] = (int)u;")
        self.line(f"to[6] = x != x ? 1 : __float_as_int(x{' + p.b' if self.has_struct else ''}) * (x == x{' && p.b == p.b' if self.has_struct else ''}{' && x + p.b == x + p.b' if self.has_struct else ''});")
        self.line(f"to[7] = (int)(l ^ l >> 32) ^ {self.bounded('i', scope)};")


def kernels(seed, count):
    """The kernels as (name, text)."""
    made = []
    for number in range(count):
        name = f"k{number}"
        made.append((name, Kernel(random.Random(f"{seed} {number}"), name).text))
    return made


def source(parts):
    return HEAD + "\n".join(text for _, text in parts)


if __name__ == "__main__":
    print(source(kernels(sys.argv[1], int(sys.argv[2]))))
