// sites.c: instructions by number, of all modules.
#include "front/program.h"
#include "base/platform.h"

#include <stdlib.h>
#include <string.h>

static Lock site_lock;
static const Instr **_Atomic sites;
static uint32_t site_count, site_space;

uint32_t sim_new_site(const Instr *i)
{
    enum { MOST_SITES = 1 << 20 };
    sim_lock(&site_lock);
    if (site_count == site_space) {
        site_space = site_space ? 2 * site_space : 4096;
        static const Instr **earlier[32]; // tables stay: others may be reading them
        static int tables;
        const Instr **more = earlier[tables++] = malloc(site_space * sizeof *more);
        if (!more)
            sim_die("out of memory for the checker's table of instructions");
        if (sites)
            memcpy(more, sites, site_count * sizeof *more);
        sites = more;
    }
    const uint32_t site = site_count < MOST_SITES ? site_count++ : MOST_SITES - 1;
    sites[site] = i;
    sim_unlock(&site_lock);
    return site;
}

const Instr *sim_instruction_at(uint32_t site)
{
    return sites[site];
}
