// library.h: declarations of the CUDA and C++ libraries, as source text that is parsed when a program first uses a name.
//
// The texts are in library_*.c. Operations that C++ cannot express are intrinsics (intrinsics.h).
#ifndef COMPILER_LIBRARY_H
#define COMPILER_LIBRARY_H

#include "compiler/scopes.h"

typedef struct LibraryEntry {
    const char *names;  // qualified names, separated by blanks: "cuda::atomic_ref cuda::atomic"
    const char *header; // the header that declares them; NULL: always declared; LIBRARY_HOST_ONLY: declared if host code is evaluated
    const char *text;   // in CUDA C++
} LibraryEntry;

#define LIBRARY_HOST_ONLY "(host)"

extern const LibraryEntry LIBRARY_CORE[], LIBRARY_MATH[], LIBRARY_GROUPS[], LIBRARY_ATOMICS[], LIBRARY_PTX[], LIBRARY_HALF[],
    LIBRARY_STANDARD[], LIBRARY_BARRIERS[], LIBRARY_PIPELINES[], LIBRARY_HOST[]; // each ends with an entry of NULLs

void library_start(Compiler *c);
bool library_has_namespace(Compiler *c, const char *qualified);
// If the library has this name in the namespace and has not declared it yet, declares it and returns true.
bool library_declare(Compiler *c, Scope *scope, Name *name);
// The header that declares an unknown name, or NULL.
const char *library_header_of(Compiler *c, const char *qualified);
void library_visit(void (*visit)(void *context, const char *name, size_t length), void *context);

#endif
