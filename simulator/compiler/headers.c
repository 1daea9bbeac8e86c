// headers.c: the headers whose names the front end declares itself.
#include "compiler/preprocessor.h"

#include <string.h>

static const char *const KNOWN[] = {
    // CUDA
    "cuda.h", "cuda_runtime.h", "cuda_runtime_api.h", "device_launch_parameters.h", "device_functions.h", "vector_types.h",
    "vector_functions.h", "builtin_types.h", "cooperative_groups.h", "cooperative_groups/reduce.h", "cooperative_groups/scan.h",
    "cooperative_groups/memcpy_async.h", "cuda_fp16.h", "cuda_bf16.h", "cuda_pipeline.h", "cuda_pipeline_primitives.h",
    "cuda_awbarrier.h", "cuda/atomic", "cuda/barrier", "cuda/pipeline", "cuda/ptx", "cuda/latch", "cuda/semaphore", "cuda/functional",
    "cuda/std/atomic", "cuda/std/barrier", "cuda/std/limits", "cuda/std/cstdint", "cuda/std/cstddef", "cuda/std/type_traits",
    "cuda/std/utility", "cuda/std/cmath", "cuda/std/array", "cuda/std/bit", "cuda/std/functional", "cuda/std/span", "math_constants.h",
    "sm_60_atomic_functions.h", "sm_20_intrinsics.h", "math_functions.h", "curand_kernel.h", "curand.h", "cublas_v2.h",
    "helper_cuda.h", "nvtx3/nvToolsExt.h", "cuda_profiler_api.h", "mma.h",
    // C
    "assert.h", "ctype.h", "errno.h", "float.h", "limits.h", "math.h", "stdarg.h", "stdbool.h", "stddef.h", "stdint.h", "stdio.h",
    "stdlib.h", "string.h", "time.h", "unistd.h", "sys/time.h", "inttypes.h", "signal.h", "memory.h", "omp.h",
    // C++
    "algorithm", "any", "array", "atomic", "bitset", "cassert", "cctype", "cerrno", "cfloat", "chrono", "cinttypes", "climits", "cmath",
    "complex", "condition_variable", "cstdarg", "cstddef", "cstdint", "cstdio", "cstdlib", "cstring", "ctime", "deque", "exception",
    "fstream", "functional", "future", "initializer_list", "iomanip", "ios", "iostream", "istream", "iterator", "limits", "list", "map",
    "memory", "mutex", "new", "numeric", "optional", "ostream", "queue", "random", "ratio", "set", "sstream", "stack", "stdexcept",
    "string", "string_view", "thread", "tuple", "type_traits", "typeinfo", "unordered_map", "unordered_set", "utility", "valarray",
    "variant", "vector",
};

bool header_is_known(const char *name)
{
    for (size_t k = 0; k < sizeof KNOWN / sizeof *KNOWN; k++)
        if (!strcmp(KNOWN[k], name))
            return true;
    return false;
}
