"""make sim and make run: any CUDA program, on the simulator."""

import sys
from pathlib import Path

import pytest

from test_commands import make
from test_steps import ROOT

sys.path.insert(0, str(ROOT / "scripts"))
import build_program
import counters_table

REFUSED = [("", "", "FILE is missing"), ("none.cu", "", "no file"), ("README.md", "", "neither a source"), ("'a.cu", "", "quotation mark"),
           ("tests/offsets.cu", "-arch=sm_80", "leave out -arch=sm_80"), ("tests/offsets.cu", "-I'x", "quotation mark"),
           ("tests/offsets.cu", "-o x", "leave out -o")]


@pytest.mark.parametrize("file,flags,why", REFUSED, ids=[why for _, _, why in REFUSED])
def test_bad_input_gets_one_line(file, flags, why):
    """Broken: a wrong FILE or FLAGS is answered by nvcc, by the shell, or after the simulator was compiled."""
    result = make("-s", "sim", f"FILE={file}", f"FLAGS={flags}")
    first, *behind = result.stderr.splitlines()
    assert why in first and result.returncode == 2 and not result.stdout and all(line.startswith("make") for line in behind)


def test_programs_do_not_collide():
    """Broken: two programs of one name, in two folders, overwrite each other; or one lies outside of the folder for programs."""
    names = ["x/task1.cu", "y/task1.cu", "task1.cu", "/x/task1.cu", "../x/task1.cu", "a b/../x y/task1.cu", "build/x.cu"]
    programs = [str(build_program.program_of(ROOT / name, Path("folder"))) for name in names]
    assert programs[:4] == ["folder/programs/x/task1", "folder/programs/y/task1", "folder/programs/task1", "folder/elsewhere/x/task1"]
    assert programs[5] == "folder/programs/x y/task1"
    assert len(set(programs)) == len(names) and not any(".." in program for program in programs)


def test_libraries_of_nvidia_are_not_linked(monkeypatch):
    """Broken: a library of NVIDIA's, or the runtime itself, is linked beside the simulator, and fails or answers in its place."""
    monkeypatch.setenv("FLAGS", "-O1 -lcublas -l cublasLt_static -lcudart -lcuda -lcurand -lm -l own -lcudaless --std=c++20 -DX='a b'")
    given = [word for word in build_program.flags() if not build_program.NOT_LINKED.fullmatch(word)]
    assert given == ["-O1", "-lm", "-lown", "-lcudaless", "--std=c++20", "-DX=a b"]
    monkeypatch.setenv("FLAGS", "-lineinfo")
    assert build_program.flags() == ["-O3", "-std=c++17", "-lineinfo"]


MISSING = """
#include <cublas_v2.h>
extern "C" { int cudaFoo(); int cudaBar(); int cuFoo(); }
void elsewhere(int);
int main() { return cudaFoo() + cudaBar() + cublasCreate_v2() + cuFoo() + cublasBar(); }
"""


def test_what_is_missing_is_named(tmp_path):
    """Broken: a program that calls what the simulator lacks gets a page of the linker's errors, or not all names at once."""
    (tmp_path / "missing.cu").write_text(MISSING)
    (tmp_path / "cublas_v2.h").write_text('extern "C" { int cublasCreate_v2(); int cublasBar(); }\n')
    (tmp_path / "other.cpp").write_text('extern "C" int cudaBar();\nvoid elsewhere(int);\nint other() { elsewhere(1); return cudaBar(); }\n')
    file, other = f"{tmp_path}/missing.cu", f"{tmp_path}/other.cpp"
    result = make("-s", "sim", f"FILE={file} {other}", f"FLAGS=-lcublas -I{tmp_path}")
    lines = [line for line in result.stderr.splitlines() if not line.startswith("make")]
    assert result.returncode == 2 and sorted(lines) == [
        f"nobody defines elsewhere(int) (called in {other}): is a file missing in FILE, or a library in FLAGS?",
        f"the simulator has no cuBLAS (cublasCreate_v2, cublasBar, called in {file}): "
        "write the kernel yourself, or use a library for the CPU, such as OpenBLAS",
        f"the simulator has no cuFoo (called in {file}): it has calls of the runtime, cuda..., and none of the driver, cu...",
        f"the simulator has no cudaBar (called in {file}, {other})", f"the simulator has no cudaFoo (called in {file})"], result.stderr
    (tmp_path / "missing.cu").write_text("#include <nccl_of_tests.h>\n")
    result = make("-s", "sim", f"FILE={file}")
    assert "the simulator has no NCCL (whose header" in result.stderr


OWN = """
#include <cstdio>
#include <cstdlib>
#include "size.h"
template <int THREADS> __global__ void add(int *sum)
{
    atomicAdd(sum, 1);
    if (threadIdx.x == 0)
        printf("block %d\\n", blockIdx.x);
}
static __global__ void twice(int *sum) { *sum *= 2; }
int main(int count, char **arguments)
{
    int *sum;
    cudaMallocManaged(&sum, sizeof(int));
    *sum = 0;
    add<SIZE><<<2, SIZE>>>(sum);
    add<SIZE><<<1, SIZE>>>(sum);
    twice<<<1, 1>>>(sum);
    cudaDeviceSynchronize();
    printf("sum %d of %s", *sum, arguments[1]);
    return atoi(arguments[2]);
}
"""


def test_run_shows_what_a_program_prints_and_its_counters(tmp_path):
    """Broken: make run loses what a kernel prints, an argument, an option, the exit status, or a kernel's counters."""
    folder = tmp_path / "it's mine"
    folder.mkdir()
    (folder / "own.cu").write_text(OWN)
    (folder / "size.h").write_text("#define SIZE LENGTH\n")
    result = make("-s", "run", f"FILE={folder}/own.cu", "FLAGS=-DLENGTH=64", "ARGS='a b' 3", "DEVICE=sim")
    lines = result.stdout.splitlines()
    assert lines[0].startswith("built: build/sim/elsewhere/") and lines[1:5] == ["block 0", "block 1", "block 0", "sum 384 of a b"], result.stderr
    table = [line.split() for line in lines[6:]]
    assert [row[:2] for row in table[:3]] == [["kernel", "launches"], ["add", "2"], ["twice", "1"]]
    assert table[1][table[0].index("atomics")] == "6" and table[-1][:3] == ["0", "in", "all:"]
    assert "Error 3" in result.stderr


def test_the_table_sums_up(tmp_path):
    """Broken: a kernel's launches are not summed up, its mean is that of the last launch, or its name stays mangled."""
    header = "step,kernel,launch,grid,block,warp_instructions,lanes_on_mean,shuffles,atomics\n"
    (tmp_path / "x.csv").write_text(header + "s,add,0,1,1,10,32.000,0,1\ns,_ZL5twicePi,1,1,1,5,1.000,0,0\ns,add,2,1,1,30,16.000,0,2\n")
    assert counters_table.of(tmp_path / "x.csv").splitlines()[1:] == [
        "                          warp  lanes_on", "kernel  launches  instructions      mean  atomics",
        "add            2            40      20.0        3", "twice          1             5       1.0        0", "0 in all: shuffles"]
    assert counters_table.of(tmp_path / "none.csv") == "no kernel was launched"
