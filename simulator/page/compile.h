// compile.h: compiles an edited source in a page.
#ifndef PAGE_COMPILE_H
#define PAGE_COMPILE_H

#include <stddef.h>
#include <stdio.h>

// Compiles a source text, named `file` in its messages. Writes the PTX, and the diagnostics as a JSON list of severity, line,
// column, length (from 1 on, in bytes), message, help and file. Returns 0, or 1 if the source has errors: then there is no PTX.
int page_compile(const char *file, const char *source, size_t bytes, FILE *ptx, FILE *diagnostics);

#endif
