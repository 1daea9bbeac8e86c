// module.c: loads modules: parses and links PTX, and allocates and initialises variables.
#include "runtime/work/module.h"
#include "checker/order.h"
#include "machine/ops/instructions.h"
#include "runtime/work/conditions.h"
#include "runtime/work/device_runtime.h"
#include "runtime/work/repeats.h"

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

// Marks a variable whose initialiser refers to an undefined name.
static void mark_invalid(Module *m, Variable *v, const char *why, Slice name)
{
    char *error = sim_allocate(&m->arena, 160);
    snprintf(error, 160, "%s '%.*s'", why, (int)(name.length < 60 ? name.length : 60), name.text);
    v->error = error;
}

static bool store_initialiser(Module *m, Variable *v, const Initialiser *initialiser)
{
    uint64_t value = initialiser->value;
    if (initialiser->symbol.text) {
        const Variable *target = sim_find_variable(m->variables, initialiser->symbol);
        const Function *function = target ? NULL : sim_find_function(m, initialiser->symbol);
        if (!target && !function) {
            mark_invalid(m, v, "unknown symbol", initialiser->symbol);
            return false;
        }
        if (target && target->error) {
            mark_invalid(m, v, "it needs the address of a variable that is refused:", initialiser->symbol);
            return false;
        }
        value += target ? target->address : (uint64_t)(uintptr_t)function;
    }
    value = (value & initialiser->mask) >> __builtin_ctzll(initialiser->mask);
    memcpy(memory_of(v) + initialiser->offset, &value, (size_t)(initialiser->bytes < 8 ? initialiser->bytes : 8));
    return true;
}

static bool is_shared_variable(const Module *m, const Variable *v)
{
    return v->is_managed && m->first;
}

static void allocate_variables(Module *m)
{
    for (Variable *v = m->variables; v && !m->error[0]; v = v->next) {
        if (!in_device_memory(v) || v->bytes == 0)
            continue;
        if (is_shared_variable(m, v)) {
            v->address = sim_find_variable(m->first->variables, v->name)->address;
            continue;
        }
        if (!sim_allocate_variable(v)) {
            snprintf(m->error, sizeof m->error, "no memory for %.*s (%zu bytes)",
                     (int)(v->name.length < 100 ? v->name.length : 100), v->name.text, v->bytes);
            return;
        }
    }
}

// Stores all initial values. Returns false if a variable is invalid; the caller must then repeat the call, because other
// initialisers may contain its address.
static bool store_initialisers(Module *m)
{
    bool stored = true;
    for (Variable *v = m->variables; v; v = v->next)
        for (int k = 0; in_device_memory(v) && !is_shared_variable(m, v) && k < v->initialiser_count && !v->error; k++)
            stored &= store_initialiser(m, v, &v->initialisers[k]);
    return stored;
}

void sim_initialise_variables(Module *m)
{
    sim_invalidate_all_digests(); // initialisation happens outside an operation
    if (m->error[0])
        return;
    for (Variable *v = m->variables; v; v = v->next)
        if (in_device_memory(v) && v->bytes > 0 && !is_shared_variable(m, v))
            memset(memory_of(v), 0, v->bytes);
    while (!store_initialisers(m))
        ;
}

void sim_unload_module(Module *m)
{
    for (const Variable *v = m->variables; v; v = v->next)
        if (in_device_memory(v) && v->address != 0 && !is_shared_variable(m, v))
            sim_free_variable(v);
    sim_clear_memo();
    sim_free_module(m);
}

// Decodes calls of functions that the device runtime defines.
static bool decode_call(Module *m, Slice name, const CallSite *call, size_t param_bytes, Instr *i)
{
    if (sim_decode_condition_call(name, call, param_bytes, i))
        return true;
    const bool decoded = sim_decode_device_call(name, call, param_bytes, i);
    m->launches_kernels |= decoded;
    return decoded;
}

void sim_make_executable(Module *m)
{
    sim_set_instruction_table(m, sim_instructions(), decode_call);
}

Module *sim_load_ptx(const char *const *ptx, int count, const Module *first)
{
    for (int k = 0; k < count; k++)
        if (strstr(ptx[k], "griddepcontrol"))
            sim_expect_early_launches();
    Module *m = sim_parse(ptx[0]);
    m->first = first;
    for (int k = 1; k < count && !m->error[0]; k++)
        sim_add_module(m, sim_parse(ptx[k]));
    if (!m->error[0])
        sim_link(m);
    if (!m->error[0])
        allocate_variables(m);
    sim_initialise_variables(m);
    if (!m->error[0])
        sim_make_executable(m);
    return m;
}

Module *sim_load_module(const char *text)
{
    return sim_load_ptx(&text, 1, NULL);
}
