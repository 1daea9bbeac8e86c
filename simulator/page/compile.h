// compile.h: compiles a source in a page, and evaluates its host code.
#ifndef PAGE_COMPILE_H
#define PAGE_COMPILE_H

#include <stddef.h>
#include <stdio.h>

typedef struct PageSource {
    const char *file, *text; // file: its name in messages
    size_t bytes;
    const char *host_file, *host; // the harness (compiler/host.h); host NULL: only the kernels are compiled
    const char *defines;          // "NAME=VALUE" in each line; or NULL
} PageSource;

typedef struct PageFiles { // what page_compile writes
    FILE *ptx, *diagnostics, *calls;
} PageFiles;

// Compiles the source. Writes the PTX; the diagnostics as a JSON list of severity, line, column, length (from 1 on, in bytes),
// message, help and file; and the calls of the host code as lines of a recording, without their data. Returns 0, or 1 if there
// are errors: then there is no PTX.
//
//   recording   receives the whole recording, from malloc; or NULL
//   bytes       its length
int page_compile(const PageSource *source, const PageFiles *files, char **recording, size_t *bytes);

#endif
