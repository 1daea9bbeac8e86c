// shadow.c: allocates and frees shadow lines.
#include "checker/shadow.h"
#include "base/platform.h"

#include <stdlib.h>

// Aligned to cache lines of the host; the word before the first line holds the pointer to free.
ShadowLine *sim_new_lines(size_t bytes)
{
    uint8_t *memory = calloc((bytes + LINE_BYTES - 1) / LINE_BYTES + 1, sizeof(ShadowLine));
    if (!memory)
        sim_die("out of memory: shadow memory");
    ShadowLine *lines = (ShadowLine *)(memory + sizeof *lines - (uintptr_t)memory % sizeof *lines);
    ((void **)lines)[-1] = memory;
    return lines;
}

void sim_free_lines(ShadowLine *lines, size_t bytes)
{
    for (size_t k = 0; lines && k < (bytes + LINE_BYTES - 1) / LINE_BYTES; k++) {
        ShadowCell *cells = lines[k].overflow ? lines[k].overflow->cells : NULL;
        for (int n = 0; cells && n < WORDS; n++)
            free(cells[n].heap_records);
        free(cells);
        free(lines[k].overflow);
    }
    free(lines ? ((void **)lines)[-1] : NULL);
}

static uint32_t *make_fully_written(Allocation *a)
{
    uint32_t *existing = NULL, *fully_written = calloc(a->bytes / LINE_BYTES + 1, sizeof *fully_written);
    if (!fully_written)
        sim_die("out of memory: shadow memory");
    if (__atomic_compare_exchange_n(&a->check->fully_written, &existing, fully_written, false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE))
        return fully_written;
    free(fully_written);
    return existing; // made by another host thread in the meantime
}

ShadowLine *sim_make_lines(Allocation *a)
{
    ShadowLine *existing = NULL, *lines = sim_new_lines(a->bytes);
    sim_prefer_huge_pages(lines, a->bytes / LINE_BYTES * sizeof *lines);
    make_fully_written(a);
    if (__atomic_compare_exchange_n(&a->check->lines, &existing, lines, false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE))
        return lines;
    sim_free_lines(lines, 0);
    return existing; // made by another host thread in the meantime
}
