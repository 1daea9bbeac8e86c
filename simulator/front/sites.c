// sites.c: numbers the instructions of all modules for the checker.
#include "front/program.h"
#include "base/platform.h"

#include <stdlib.h>
#include <string.h>

// Writers hold site_lock; readers take no lock. Instructions are freed with their module.
static Lock site_lock;
static const Instr **_Atomic sites;
static uint32_t site_count, site_capacity;

static uint32_t new_site(const Instr *i)
{
    enum { MAX_SITES = 1 << 20 };
    sim_lock(&site_lock);
    if (site_count == site_capacity) {
        site_capacity = site_capacity ? 2 * site_capacity : 4096;
        static const Instr **old_tables[32]; // kept, because other host threads may be reading them
        static int old_table_count;
        const Instr **grown = old_tables[old_table_count++] = malloc(site_capacity * sizeof *grown);
        if (!grown)
            sim_die("out of memory: instruction table");
        if (sites)
            memcpy(grown, sites, site_count * sizeof *grown);
        sites = grown;
    }
    const uint32_t site = site_count < MAX_SITES ? site_count++ : MAX_SITES - 1;
    sites[site] = i;
    sim_unlock(&site_lock);
    return site;
}

// True if two accesses are indistinguishable in the source, like the copies in an unrolled loop.
static bool looks_same_in_source(const Instr *i, const Instr *j)
{
    const Statement *s = i->statement, *t = j->statement;
    return (i->kind == LOAD || i->kind == STORE) && i->kind == j->kind && i->semantics == WEAK &&
           j->semantics == WEAK && i->type == j->type && i->bytes == j->bytes && i->count == j->count &&
           i->at.space == j->at.space && s->source_line > 0 && s->source_line == t->source_line &&
           s->source_file == t->source_file && s->outer_line == t->outer_line && s->outer_file == t->outer_file;
}

void sim_number_sites(Instr *code, uint32_t count)
{
    enum { MAX_DISTANCE = 128 };
    for (uint32_t k = 0; k < count; k++) {
        uint32_t same = k;
        for (uint32_t n = 1; n <= MAX_DISTANCE && n <= k && same == k; n++)
            same = looks_same_in_source(&code[k], &code[k - n]) ? k - n : k;
        code[k].site = same < k ? code[same].site : new_site(&code[k]);
    }
}

const Instr *sim_instruction_at(uint32_t site)
{
    return sites[site];
}
