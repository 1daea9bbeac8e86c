"""A whole program around a learner's kernel, with data of the exercise: make page shows what its warps do, and any debugger runs it."""

from scripts import files
from scripts.learn.exercise import Array

MOST = 1024  # elements, unless the exercise has none so small
TYPES = {"f": "float", "i": "int", "I": "unsigned"}


def literal(values, type):
    return ", ".join(f"{value!r}f" if type == "f" else f"{value}" for value in values)


def prepared(name, value):
    """The lines of main that make an argument."""
    if not isinstance(value, Array):
        return [f"    const int {name} = {value};"]
    type = TYPES[value.type]
    lines = [f"    {type} *{name};", f"    cudaMalloc(&{name}, {value.count} * sizeof(*{name}));"]
    if value.before is not None:
        lines += [f"    static const {type} {name}_before[] = {{{literal(value.before, value.type)}}};",
                  f"    cudaMemcpy({name}, {name}_before, sizeof {name}_before, cudaMemcpyHostToDevice);"]
    return lines


def program(task, kernel_file, n):
    """Its text."""
    data = task.data(n)
    lines = [f"// Made by make learn: your kernel of {task.name}, with data of n = {n}.", f'#include "../{kernel_file.name}"', "", "int main()", "{"]
    for name, value in data.items():
        lines += prepared(name, value)
    lines += [f"    {task.kernel}<<<{task.grid(n)}, {task.block}>>>({', '.join(data)});", "    return cudaDeviceSynchronize();", "}", ""]
    return "\n".join(lines)


def write(task, kernel_file, wrong_at):
    """Writes it for the n at which something is wrong, or a small one; returns its path."""
    n = wrong_at if 0 < wrong_at <= MOST else min(task.sizes)
    path = kernel_file.parent / "see" / kernel_file.name
    with files.whole(path) as file:
        file.write(program(task, kernel_file, n))
    return path
