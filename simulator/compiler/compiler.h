// compiler.h: compiles CUDA C++ kernels to PTX. Used by the command `drywarp compile`, `make learn` and the page.
//
// A compilation runs on one host thread; several may run concurrently, each with its own Compilation. All results are in its arena
// until compile_free.
#ifndef COMPILER_H
#define COMPILER_H

#include "base/memory.h"

typedef enum Severity { ERROR_DIAGNOSTIC, WARNING_DIAGNOSTIC, NOTE_DIAGNOSTIC } Severity;

typedef struct Diagnostic { // in the order of the source; a note belongs to the error or warning before it
    Severity severity;
    const char *file;    // as passed by the caller
    int line, column;    // 1-based; the column counts bytes
    int length;          // underlined bytes, at least 1
    const char *message; // one clause, no full stop
    const char *help;    // a suggested fix, or NULL
    const char *text;    // the source line; of a long line, the part around the column
    int text_column;     // column of the first byte of `text`
} Diagnostic;

typedef struct CompileOptions {
    const char *file;     // name of the source in messages and .file
    int architecture;     // 90 for sm_90
    const char *skip;     // comma-separated names of passes to skip, for tests; or NULL
    const char *const *defines; // "NAME" or "NAME=VALUE", as for -D
    int define_count;
    // Returns the text of a header that is not CUDA's or C++'s, valid until compile_free; NULL: no such header.
    // May be NULL.
    const char *(*read_include)(void *context, const char *name, size_t *bytes);
    void *include_context;
    const char *host;     // source of the harness to evaluate (host.h); "": evaluate the program's main; NULL: no host code
    const char *host_file;
    const struct HostDevice *device; // required if `host` is not NULL
    uint64_t max_instructions; // limit for the module after unrolling and inlining; 0: a million. Exceeding it is an error.
} CompileOptions;

typedef struct HostShape { // the launch configuration of a kernel
    uint32_t grid[3], block[3], cluster[3]; // cluster: 0 without a cluster attribute
    uint64_t dynamic_shared_bytes;
    int64_t max_dynamic_shared_bytes; // set by cudaFuncSetAttribute, or -1
    bool non_portable_clusters, is_cooperative;
} HostShape;

typedef struct HostKernelFacts { // results of cudaFuncGetAttributes
    uint64_t shared_bytes, local_bytes;
    int max_threads, registers, ptx_version;
} HostKernelFacts;

// Callbacks of host code to the device. Kernels are identified by their names in the PTX.
typedef struct HostDevice {
    void *context;
    void (*load)(void *context, const char *ptx, size_t bytes); // called first
    int (*attribute)(void *context, int attribute);             // cudaDeviceGetAttribute
    int (*resident_blocks)(void *context, const char *kernel, int threads, uint64_t dynamic_shared_bytes); // on one SM
    bool (*describe)(void *context, const char *kernel, HostKernelFacts *facts);
    const char *(*reject)(void *context, const char *kernel, const HostShape *shape); // reason why the launch is invalid, or NULL
} HostDevice;

typedef struct Compilation {
    Arena arena;
    char *ptx;            // NULL if there is an error
    size_t ptx_bytes;
    char *calls, *data;   // recording of the host code's calls, and of their data; NULL: no host code, or errors
    size_t calls_bytes, data_bytes;
    Diagnostic *diagnostics;
    int diagnostic_count, error_count;
} Compilation;

// Compiles a source text, which need not end with 0 and may be arbitrary: time and memory are bounded by its size and
// max_instructions, and unsupported constructs are errors with a position. Host code is only followed for the types that determine
// the template arguments of kernels.
void compile_source(Compilation *c, const char *source, size_t bytes, const CompileOptions *options);
void compile_free(Compilation *c);
// Prints the diagnostics in gcc's format: FILE:LINE:COLUMN: error: MESSAGE, then the line, carets and the help.
void compile_print_diagnostics(FILE *out, const Compilation *c, const char *source, size_t bytes);

#endif
