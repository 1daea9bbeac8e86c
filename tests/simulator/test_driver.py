"""The driver API: together with the runtime, as libcuda.so.1, and with code compiled by NVRTC."""

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support import LINK, ROOT, SIM, build, build_object, link, nvcc, run, unsanitized

pytestmark = pytest.mark.builds("build/sim/libcuda.so.1", "build/sim/libsimulator.a")


LIBRARY = SIM / "libcuda.so.1"


def nvrtc():
    """The toolkit's libnvrtc, or None."""
    toolkit = Path(shutil.which(nvcc()) or nvcc()).resolve().parent.parent
    return next((str(path) for folder in ("lib64", "lib", "targets/x86_64-linux/lib")
                 for path in sorted((toolkit / folder).glob("libnvrtc.so*"))), None)


@pytest.fixture(scope="module")
def beside_runtime():
    return build_object(ROOT / "tests/simulator/driver_beside_runtime.cu", "driver/beside_runtime.o")


@pytest.mark.parametrize("libraries", [[], [f"-L{SIM}", "-lcuda"]], ids=["archive", "both"])
def test_both_interfaces_work_on_one_device(beside_runtime, libraries):
    """Broken: objects of the runtime are unknown to the driver API, or the other way round."""
    result = run(link(f"driver/with_{len(libraries)}_libraries", beside_runtime, *libraries), LD_LIBRARY_PATH=str(SIM))
    assert (result.returncode, result.stdout) == (0, "PASS\n"), result.stderr


def test_a_string_is_compiled_and_launched(beside_runtime):
    """Broken: PTX compiled by NVRTC at run time does not load, or its kernel does not run."""
    library = nvrtc()
    if not library:
        pytest.skip("the toolkit has no libnvrtc")
    result = run(link("driver/with_0_libraries", beside_runtime), library)
    assert (result.returncode, result.stdout) == (0, "NVRTC\nPASS\n"), result.stderr


def test_memory_is_mapped_at_reserved_addresses():
    """Broken: adjacent mappings do not form one array; memory loses its content when it is mapped elsewhere or exported as a file, or is
    never freed; or an access to an unmapped address passes."""
    program = build(ROOT / "tests/simulator/virtual_memory.cu", "driver/virtual_memory", "-lineinfo")
    result = run(program, SIM_CHECK="1")
    assert (result.returncode, result.stdout, result.stderr) == (0, "PASS\n", "")
    for mistake, said in (1, "to which cuMemMap"), (2, "reads 6291456 bytes, among them byte 4194304 of"), (3, "to which cuMemSetAccess has not given this device access"):
        result = run(program, mistake, SIM_CHECK="1")
        assert result.returncode == 88 and said in result.stderr, (mistake, result.stderr)


MACHINE_CODE = """
#include <stdio.h>
#include <cuda.h>
int nvrtcCreateProgram(void **, const char *, const char *, int, const char *const *, const char *const *);
int nvrtcCompileProgram(void *, int, const char *const *);
int nvrtcGetCUBINSize(void *, size_t *);
int nvrtcGetCUBIN(void *, char *);
int main(void)
{
    const char *const options[] = {"-arch=sm_90"};
    static char image[100000];
    size_t bytes = 0;
    void *program;
    CUcontext context;
    CUmodule module;
    CUfunction kernel;
    if (nvrtcCreateProgram(&program, "extern \\"C\\" __global__ void nothing() {}", "nothing.cu", 0, NULL, NULL) ||
        nvrtcCompileProgram(program, 1, options) || nvrtcGetCUBINSize(program, &bytes) || bytes > sizeof image ||
        nvrtcGetCUBIN(program, image))
        return 1;
    if (cuInit(0) || cuDevicePrimaryCtxRetain(&context, 0) || cuCtxSetCurrent(context) || cuModuleLoadData(&module, image) ||
        cuModuleGetFunction(&kernel, module, "nothing") || cuLaunchKernel(kernel, 1, 1, 1, 1, 1, 1, 0, NULL, NULL, NULL))
        return 2;
    puts("PASS");
    return 0;
}
"""


@pytest.mark.parametrize("path", ["", str(SIM)], ids=["alone", "library-in-path"])
def test_machine_code_of_nvrtc_is_ptx(path, tmp_path):
    """Broken: a cubin that NVRTC compiled for sm_90 does not load, or NVRTC crashes with the simulator's libcuda.so.1."""
    library = nvrtc()
    if not library:
        pytest.skip("the toolkit has no libnvrtc")
    source, program = tmp_path / "machine_code.c", tmp_path / "program"
    source.write_text(MACHINE_CODE)
    built = subprocess.run([nvcc(), source, "-o", program, library, f"-Xlinker=-rpath={Path(library).parent}", *LINK], capture_output=True, text=True, cwd=ROOT)
    assert built.returncode == 0, built.stderr
    result = run(program, LD_LIBRARY_PATH=path, SIM_CHECK="0")
    assert (result.returncode, result.stdout) == (0, "PASS\n"), result.stderr
    assert result.stderr == "simulator: nvrtcGetCUBIN gives PTX: the simulator runs no machine code\n"


FROM_PYTHON = """
import ctypes
cuda = ctypes.CDLL("libcuda.so.1")
def call(name, *arguments):
    function, status = ctypes.c_void_p(), ctypes.c_int()
    assert cuda.cuGetProcAddress_v2(name.encode(), ctypes.byref(function), 12000, ctypes.c_uint64(0), ctypes.byref(status)) == 0
    error = ctypes.CFUNCTYPE(ctypes.c_int)(function.value)(*arguments)
    assert error == 0, (name, error)
pointer = ctypes.c_void_p
context, module, kernel, data, bytes = pointer(), pointer(), pointer(), pointer(), ctypes.c_size_t(64)
call("cuInit", 0)
call("cuCtxCreate", ctypes.byref(context), 0, 0)  # as CUDA 12 declares it
call("cuModuleLoadData", ctypes.byref(module), PTX)
call("cuModuleGetFunction", ctypes.byref(kernel), module, b"numbers")
call("cuMemAlloc", ctypes.byref(data), bytes)
call("cuLaunchKernel", kernel, 1, 1, 1, 16, 1, 1, 0, None, (pointer * 1)(ctypes.addressof(data)), None)
back = (ctypes.c_uint * 16)()
call("cuMemcpyDtoH", back, data, bytes)
assert list(back) == list(range(16)), list(back)
print("PASS")
"""
NUMBERS = """.version 8.0
.target sm_80
.address_size 64
.visible .entry numbers(.param .u64 data) {
    .reg .b32 %r1;
    .reg .b64 %rd<3>;
    ld.param.u64 %rd1, [data];
    mov.u32 %r1, %tid.x;
    mul.wide.u32 %rd2, %r1, 4;
    add.u64 %rd1, %rd1, %rd2;
    st.global.u32 [%rd1], %r1;
    ret;
}
"""


@unsanitized
def test_python_opens_the_library():
    """Broken: a Python package that opens libcuda.so.1 and looks functions up by name finds no GPU."""
    result = run(sys.executable, "-c", f"PTX = {NUMBERS.encode()!r}\n{FROM_PYTHON}", LD_LIBRARY_PATH=str(SIM))
    assert (result.returncode, result.stdout) == (0, "PASS\n"), result.stderr


def test_a_program_needs_only_the_library(tmp_path):
    """Broken: a driver API program linked only with -lcuda does not run."""
    source = tmp_path / "only.cpp"
    source.write_text("""#include <cstdio>
#include <cuda.h>
int main()
{
    CUcontext context;
    CUdeviceptr data;
    unsigned value = 0;
    if (cuInit(0) || cuDevicePrimaryCtxRetain(&context, 0) || cuCtxSetCurrent(context) || cuMemAlloc(&data, 4) ||
        cuMemsetD32(data, 9, 1) || cuMemcpyDtoH(&value, data, 4) || value != 9)
        return 1;
    puts("PASS");
}
""")
    built = subprocess.run([nvcc(), "-cudart", "none", *(word for pair in zip(LINK, LINK[1:]) if "-fsanitize" in pair[1] for word in pair),
                            source, "-o", tmp_path / "only", f"-L{SIM}", "-lcuda"], capture_output=True, text=True)
    assert built.returncode == 0, built.stderr
    result = run(tmp_path / "only", LD_LIBRARY_PATH=str(SIM))
    assert (result.returncode, result.stdout) == (0, "PASS\n"), result.stderr


OLD_CALLS = """
#include <dlfcn.h>
#include <stdio.h>
#undef __CUDA_API_VERSION
#include <cuda.h>
#undef cuCtxDestroy
#undef cuStreamDestroy
#define CALL(name, types, ...) do { int (*call) types = (int (*) types)dlsym(library, #name); \\
    const int error = call ? call(__VA_ARGS__) : -1; if (error) { printf("%s: %d\\n", #name, error); return 1; } } while (0)
int main(void)
{
    void *library = dlopen("libcuda.so.1", RTLD_NOW);
    CUcontext context;
    CUmodule module;
    CUfunction kernel;
    CUstream stream;
    CUdeviceptr data;
    float back[8];
    CALL(cuInit, (unsigned), 0);
    CALL(cuCtxCreate_v2, (CUcontext *, unsigned, int), &context, 0, 0);
    CALL(cuModuleLoadData, (CUmodule *, const char *), &module, PTX);
    CALL(cuModuleGetFunction, (CUfunction *, CUmodule, const char *), &kernel, module, "numbers");
    CALL(cuMemAlloc_v2, (CUdeviceptr *, size_t), &data, sizeof back);
    CALL(cuParamSetv, (CUfunction, int, void *, unsigned), kernel, 0, &data, sizeof data);
    CALL(cuParamSetf, (CUfunction, int, float), kernel, 8, 0.5f);
    CALL(cuParamSeti, (CUfunction, int, unsigned), kernel, 12, 100);
    CALL(cuParamSetSize, (CUfunction, unsigned), kernel, 16);
    CALL(cuFuncSetBlockShape, (CUfunction, int, int, int), kernel, 2, 1, 1);
    CALL(cuFuncSetSharedSize, (CUfunction, unsigned), kernel, 64);
    CALL(cuLaunchGrid, (CUfunction, int, int), kernel, 4, 1);
    CALL(cuMemcpyDtoH_v2, (void *, CUdeviceptr, size_t), back, data, sizeof back);
    for (int k = 0; k < 8; k++)
        printf("%g ", back[k]);
    CALL(cuStreamCreate, (CUstream *, unsigned), &stream, 0);
    CALL(cuLaunchGridAsync, (CUfunction, int, int, CUstream), kernel, 4, 1, stream);
    CALL(cuStreamDestroy, (CUstream), stream);
    CALL(cuCtxDestroy, (CUcontext), context);
    CALL(cuTexRefCreate, (void **), (void **)&stream);
}
"""
OLD_PTX = """.version 1.4
.target sm_20
.entry numbers(.param .u64 data, .param .f32 factor, .param .u32 first) {
    .reg .u32 %r<4>;
    .reg .u64 %d<3>;
    .reg .f32 %f<4>;
    ld.param.u64 %d1, [data];
    ld.param.f32 %f1, [factor];
    ld.param.u32 %r1, [first];
    cvt.u32.u16 %r2, %ctaid.x;
    cvt.u32.u16 %r3, %ntid.x;
    mul24.lo.u32 %r2, %r2, %r3;
    cvt.u32.u16 %r3, %tid.x;
    add.u32 %r2, %r2, %r3;
    cvt.rn.f32.u32 %f2, %r2;
    cvt.rn.f32.u32 %f3, %r1;
    mad.f32 %f2, %f2, %f1, %f3;
    mul.wide.u32 %d2, %r2, 4;
    add.u64 %d1, %d1, %d2;
    st.global.f32 [%d1+0], %f2;
    exit;
}
"""


def test_a_program_of_cuda_3_finds_its_calls_by_name(tmp_path):
    """Broken: launch calls from before CUDA 4, or names without a version suffix, are missing from libcuda.so.1; PTX 1.4 does not run; or an
    unsupported call does not return an error."""
    source, program = tmp_path / "old_calls.c", tmp_path / "program"
    text = OLD_PTX.replace("\n", "\\n")
    source.write_text(f'#define PTX "{text}"\n{OLD_CALLS}')
    built = subprocess.run([nvcc(), "-cudart", "none", source, "-o", program, "-ldl"], capture_output=True, text=True)
    assert built.returncode == 0, built.stderr
    result = run(program, LD_LIBRARY_PATH=str(SIM))
    assert (result.returncode, result.stdout) == (1, "100 100.5 101 101.5 102 102.5 103 103.5 cuTexRefCreate: 801\n"), result.stderr
    assert result.stderr == "simulator: cuTexRefCreate is not supported, and returns CUDA_ERROR_NOT_SUPPORTED\n"


@pytest.mark.skipif(not (ROOT / "build/numba/bin/python").exists(), reason="Numba is not installed as docs/drywarp.md does")
@pytest.mark.parametrize("argument", ["wrong", "right"])
def test_numba_runs_on_the_library(argument):
    """Broken: a kernel written in Python does not run, its data race is missed, or the report has no Python line."""
    toolkit = next((ROOT / "build/numba/lib").glob("python3*/site-packages/nvidia/cu13"))
    result = run(ROOT / "build/numba/bin/python", ROOT / "tests/simulator/numba_sum.py", argument, LD_LIBRARY_PATH=str(SIM), CUDA_HOME=str(toolkit), SIM_CHECK="1")
    if argument == "right":
        assert (result.returncode, result.stdout) == (0, "1024.0\n"), result.stderr
    else:
        assert result.returncode == 88 and "numba_sum.py:20: 4-byte read" in result.stderr and "sums[t] += sums[t + half]" in result.stderr, result.stderr
