// library.h: CUDA's and C++'s own names, as source text that is parsed when a program first uses a name.
//
// The texts are in library_*.c. What no C++ can express is an intrinsic (intrinsics.h).
#ifndef COMPILER_LIBRARY_H
#define COMPILER_LIBRARY_H

#include "compiler/scopes.h"

typedef struct LibraryEntry {
    const char *names;  // separated by blanks, each qualified: "cuda::atomic_ref cuda::atomic"
    const char *header; // that declares it, or NULL if it needs none; LIBRARY_HOST_ONLY: known if host code is evaluated
    const char *text;   // in CUDA C++
} LibraryEntry;

#define LIBRARY_HOST_ONLY "(host)"

extern const LibraryEntry LIBRARY_CORE[], LIBRARY_MATH[], LIBRARY_GROUPS[], LIBRARY_ATOMICS[], LIBRARY_PTX[], LIBRARY_HALF[],
    LIBRARY_STANDARD[], LIBRARY_BARRIERS[], LIBRARY_PIPELINES[], LIBRARY_HOST[]; // each ends with an entry of NULLs

void library_start(Compiler *c);
bool library_has_namespace(Compiler *c, const char *qualified);
// Declares the library's name in a namespace, if there is one and it is not declared yet. True if it did.
bool library_declare(Compiler *c, Scope *scope, Name *name);
// The header that would declare a name that is not known, or NULL.
const char *library_header_of(Compiler *c, const char *qualified);
void library_visit(void (*visit)(void *context, const char *name, size_t length), void *context);

#endif
