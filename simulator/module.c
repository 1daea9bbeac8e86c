// module.c: from a PTX text to functions that can be launched: variables get their memory.
#include "sim.h"

#include <stdlib.h>
#include <string.h>

static bool in_device_memory(const Variable *v)
{
    return v->space == GLOBAL || v->space == CONST;
}

static uint8_t *memory_of(const Variable *v)
{
    return sim_memory_at((void *)(uintptr_t)v->address);
}

static bool store_initial(Module *m, const Variable *v, const Initial *initial)
{
    uint64_t value = initial->value;
    if (initial->symbol.text) {
        const Variable *target = sim_find_variable(m->variables, initial->symbol);
        const Function *function = target ? NULL : sim_find_function(m, initial->symbol);
        if (!target && !function)
            return false;
        value += target ? target->address : (uint64_t)(uintptr_t)function;
    }
    memcpy(memory_of(v) + initial->offset, &value, (size_t)(initial->bytes < 8 ? initial->bytes : 8));
    return true;
}

static void place_variables(Module *m)
{
    for (Variable *v = m->variables; v && !m->error[0]; v = v->next) {
        if (!in_device_memory(v) || v->bytes == 0)
            continue;
        if (!sim_place_variable(v)) {
            snprintf(m->error, sizeof m->error, "no memory for %.*s (%zu bytes)",
                     (int)(v->name.length < 100 ? v->name.length : 100), v->name.text, v->bytes);
            return;
        }
    }
}

void sim_set_variables(Module *m)
{
    for (Variable *v = m->variables; v && !m->error[0]; v = v->next)
        if (in_device_memory(v) && v->bytes > 0)
            memset(memory_of(v), 0, v->bytes);
    for (Variable *v = m->variables; v && !m->error[0]; v = v->next)
        for (int k = 0; in_device_memory(v) && k < v->initial_count; k++)
            if (!store_initial(m, v, &v->initials[k])) {
                const Slice name = v->initials[k].symbol;
                snprintf(m->error, sizeof m->error, "unknown symbol '%.*s'", (int)(name.length < 100 ? name.length : 100), name.text);
                return;
            }
}

Module *sim_load_module(const char *text)
{
    Module *m = sim_parse(text);
    if (!m->error[0])
        place_variables(m);
    sim_set_variables(m);
    if (!m->error[0])
        sim_decode(m);
    return m;
}
