// library_barriers.c: asynchronous copies, and synchronisation of dependent launches.
#include "compiler/library_text.h"

#define PIPELINE "cuda_pipeline.h cuda_pipeline_primitives.h"
#define COPY(bytes, cache) asm volatile("cp.async." cache ".shared.global [%0], [%1], " #bytes ", %2;" \
    :: "r"((unsigned)__cvta_generic_to_shared(to)), "l"(from), "r"((unsigned)(bytes - zeros)) : "memory")
#define FULL_COPY(bytes, cache) asm volatile("cp.async." cache ".shared.global [%0], [%1], " #bytes ", " #bytes ";" \
    :: "r"((unsigned)__cvta_generic_to_shared(to)), "l"(from) : "memory")

const LibraryEntry LIBRARY_BARRIERS[] = {
    {"__pipeline_memcpy_async", PIPELINE, EXPANDED_TEXT(
        D void __pipeline_memcpy_async(void *to, const void *from, size_t size, size_t zeros = 0) {
            if (zeros == 0) {
                if (size == 16) FULL_COPY(16, "cg"); else if (size == 8) FULL_COPY(8, "ca"); else if (size == 4) FULL_COPY(4, "ca"); else __trap();
            } else {
                if (size == 16) COPY(16, "cg"); else if (size == 8) COPY(8, "ca"); else if (size == 4) COPY(4, "ca"); else __trap();
            } })},
    {"__pipeline_commit", PIPELINE, EXPANDED_TEXT(D void __pipeline_commit() { asm volatile("cp.async.commit_group;"); })},
    {"__pipeline_wait_prior", PIPELINE, EXPANDED_TEXT(
        D void __pipeline_wait_prior(size_t n) {
            switch (n) {
            case 0: asm volatile("cp.async.wait_group 0;" ::: "memory"); break;
            case 1: asm volatile("cp.async.wait_group 1;" ::: "memory"); break;
            case 2: asm volatile("cp.async.wait_group 2;" ::: "memory"); break;
            case 3: asm volatile("cp.async.wait_group 3;" ::: "memory"); break;
            case 4: asm volatile("cp.async.wait_group 4;" ::: "memory"); break;
            case 5: asm volatile("cp.async.wait_group 5;" ::: "memory"); break;
            case 6: asm volatile("cp.async.wait_group 6;" ::: "memory"); break;
            case 7: asm volatile("cp.async.wait_group 7;" ::: "memory"); break;
            default: asm volatile("cp.async.wait_group 8;" ::: "memory"); break;
            } })},
    {"cudaTriggerProgrammaticLaunchCompletion", NULL, EXPANDED_TEXT(
        D void cudaTriggerProgrammaticLaunchCompletion() { asm volatile("griddepcontrol.launch_dependents;" ::: "memory"); })},
    {"cudaGridDependencySynchronize", NULL, EXPANDED_TEXT(
        D void cudaGridDependencySynchronize() { asm volatile("griddepcontrol.wait;" ::: "memory"); })},
    {NULL, NULL, NULL},
};
