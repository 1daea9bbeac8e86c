// compiler.h: CUDA C++ kernels become PTX. What the command `drywarp compile`, `make learn` and the page use.
//
// A compilation is one host thread's; several may run at once, each with its own Compilation. Everything that it returns
// is in its arena, until compile_free.
#ifndef COMPILER_H
#define COMPILER_H

#include "base/memory.h"

typedef enum Severity { ERROR_DIAGNOSTIC, WARNING_DIAGNOSTIC, NOTE_DIAGNOSTIC } Severity;

typedef struct Diagnostic { // in the order of the source; a note belongs to the error or warning before it
    Severity severity;
    const char *file;    // as it was given
    int line, column;    // from 1 on; the column counts bytes
    int length;          // bytes that are underlined, at least 1
    const char *message; // one clause, no full stop
    const char *help;    // what to write instead, or NULL
    const char *text;    // the line of the source; of a long one, the part around the column
    int text_column;     // of the first byte of text
} Diagnostic;

typedef struct CompileOptions {
    const char *file;     // the source's name for messages and .file
    int architecture;     // 90 for sm_90
    const char *skip;     // passes to leave out, for tests; or NULL
    const char *const *defines; // "NAME" or "NAME=VALUE", as -D
    int define_count;
    // The text of an #include that is none of CUDA's or C++'s, or NULL if there is none; it stays valid until compile_free.
    // NULL: there are no such files.
    const char *(*read_include)(void *context, const char *name, size_t *bytes);
    void *include_context;
    const char *host;     // source of the harness, which is evaluated (host.h); "": main of the program is; NULL: nothing is
    const char *host_file;
    const struct HostDevice *device; // if there is host code
    uint64_t max_instructions; // of the whole module after unrolling and inlining; 0: a million. More is an error.
} CompileOptions;

typedef struct HostShape { // of a launch
    uint32_t grid[3], block[3], cluster[3]; // cluster: 0, or of the launch
    uint64_t dynamic_shared_bytes;
    int64_t max_dynamic_shared_bytes; // as cudaFuncSetAttribute set it, or -1
    bool large_clusters, is_cooperative;
} HostShape;

typedef struct HostKernelFacts { // what cudaFuncGetAttributes returns
    uint64_t shared_bytes, local_bytes;
    int max_threads, registers, ptx_version;
} HostKernelFacts;

// What host code asks of the device, about kernels by their names in the PTX.
typedef struct HostDevice {
    void *context;
    void (*load)(void *context, const char *ptx, size_t bytes); // before the others
    int (*attribute)(void *context, int attribute);             // of cudaDeviceAttr
    int (*resident_blocks)(void *context, const char *kernel, int threads, uint64_t dynamic_shared_bytes); // on one SM
    bool (*describe)(void *context, const char *kernel, HostKernelFacts *facts);
    const char *(*reject)(void *context, const char *kernel, const HostShape *shape); // why it cannot be launched, or NULL
} HostDevice;

typedef struct Compilation {
    Arena arena;
    char *ptx;            // NULL if there is an error
    size_t ptx_bytes;
    char *calls, *data;   // of the host code, as lines of a recording, data apart; NULL: there is none, or it has errors
    size_t calls_bytes, data_bytes;
    Diagnostic *diagnostics;
    int diagnostic_count, error_count;
} Compilation;

// Compiles a source text, which need not end with 0 and may be anything: time and memory are bounded by its size and
// max_instructions, and what is not supported is an error with its place. Host code is skipped, but for launches, which say
// with what arguments templates are needed.
void compile_source(Compilation *c, const char *source, size_t bytes, const CompileOptions *options);
void compile_free(Compilation *c);
// Writes the diagnostics as gcc does: FILE:LINE:COLUMN: error: MESSAGE, the line, carets, help.
void compile_print_diagnostics(FILE *out, const Compilation *c, const char *source, size_t bytes);

#endif
