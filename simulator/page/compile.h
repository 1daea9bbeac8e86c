// compile.h: compiles the CUDA source of a web page and evaluates its host code.
#ifndef PAGE_COMPILE_H
#define PAGE_COMPILE_H

#include <stddef.h>
#include <stdio.h>

typedef struct PageSource {
    const char *file, *text; // file: the name in messages
    size_t bytes;
    const char *host_file, *host; // the harness (compiler/host.h); host NULL: only the kernels are compiled
    const char *defines;          // lines "NAME=VALUE", or NULL
} PageSource;

typedef struct PageFiles { // output files of page_compile
    FILE *ptx, *diagnostics, *calls;
} PageFiles;

// Compiles the source. Writes the PTX; the diagnostics as a JSON list of severity, line, column, length (both in bytes, counted
// from 1), message, help and file; and the calls of the host code as lines of a recording, without the data. Returns 0, or 1 if
// there are errors, and then writes no PTX.
//
//   recording   receives the whole recording, which the caller frees, or NULL
//   bytes       receives the length of the recording
int page_compile(const PageSource *source, const PageFiles *files, char **recording, size_t *bytes);

#endif
