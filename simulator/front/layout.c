// layout.c: assigns addresses to the shared variables of a module.
//
// A variable has one address in all kernels. A block's shared memory holds the variables that its kernel, or a function that it
// may call, uses. Variables with the most kernels get their addresses first, each after all variables that these kernels have so
// far, which keeps unused gaps small.
#include "front/program.h"

#include <string.h>

enum { MAX_SHARED_BYTES = 1 << 20, MIN_REDZONE = 128, MAX_REDZONE = 16384 };

typedef struct Use { // of a variable by a kernel
    Function *kernel;
    struct Use *next;
} Use;

// ---- The kernels that use a variable

static void add_use(Module *m, Variable *v, Function *kernel)
{
    if (v->space != SHARED || v->is_dynamic || (v->uses && v->uses->kernel == kernel))
        return;
    Use *use = sim_allocate(&m->arena, sizeof *use);
    *use = (Use){kernel, v->uses};
    v->uses = use;
    v->use_count++;
}

static void visit_function(Module *m, Function *f, Function *kernel);

static Function *referenced_function(const Module *m, const Operand *o)
{
    const bool is_name = o->kind == IS_SYMBOL && !o->variable && o->name.length && o->name.text[0] != '%';
    return is_name ? sim_find_function(m, o->name) : NULL;
}

static void mark_address_taken(const Module *m, const Operand *o)
{
    Function *referenced = referenced_function(m, o);
    if (referenced)
        referenced->is_address_taken = true;
    for (int k = 0; k < o->count; k++)
        mark_address_taken(m, &o->elements[k]);
}

static void find_address_taken(const Module *m)
{
    for (Function *f = m->functions; f; f = f->next)
        for (const Statement *s = f->statements; s < f->statements + f->count; s++)
            for (int k = 0; k < s->count; k++)
                if (&s->operands[k] != sim_callee_of(s))
                    mark_address_taken(m, &s->operands[k]);
    for (const Variable *v = m->variables; v; v = v->next)
        for (int k = 0; k < v->initialiser_count; k++) {
            Function *referenced = v->initialisers[k].symbol.length ? sim_find_function(m, v->initialisers[k].symbol) : NULL;
            if (referenced)
                referenced->is_address_taken = true;
        }
}

static void visit_operand(Module *m, const Operand *o, Function *kernel)
{
    Function *f = referenced_function(m, o);
    if (o->variable)
        add_use(m, o->variable, kernel);
    else if (f && !f->is_kernel)
        visit_function(m, f, kernel);
    for (int k = 0; k < o->count; k++)
        visit_operand(m, &o->elements[k], kernel);
}

static void visit_function(Module *m, Function *f, Function *kernel)
{
    if (f->visited_for == kernel)
        return;
    f->visited_for = kernel;
    for (const Statement *s = f->statements; s < f->statements + f->count; s++) {
        for (int k = 0; k < s->count; k++)
            visit_operand(m, &s->operands[k], kernel);
        const Operand *callee = sim_callee_of(s);
        for (Function *any = m->functions; any && callee && callee->kind == IS_REGISTER; any = any->next)
            if (any->is_address_taken && !any->is_kernel)
                visit_function(m, any, kernel);
    }
}

static bool is_owned_by_kernel(const Variable *v)
{
    return v->owner && v->owner->is_kernel;
}

static void find_uses(Module *m)
{
    bool has_common_variables = false;
    for (Variable *v = m->shared; v; v = v->next_shared) {
        v->uses = NULL;
        v->use_count = 0;
        if (is_owned_by_kernel(v))
            add_use(m, v, v->owner);
        else
            has_common_variables |= !v->is_dynamic;
    }
    for (Function *f = m->functions; f; f = f->next) {
        f->visited_for = NULL;
        f->is_address_taken = false;
    }
    if (has_common_variables)
        find_address_taken(m);
    for (Function *f = m->functions; f && has_common_variables; f = f->next)
        if (f->is_kernel)
            visit_function(m, f, f);
}

// ---- Addresses

static bool assign_address(Variable *v)
{
    size_t end = 0;
    for (const Use *use = v->uses; use; use = use->next)
        end = use->kernel->shared_bytes > end ? use->kernel->shared_bytes : end;
    v->address = sim_align_up(end, v->align);
    for (const Use *use = v->uses; use; use = use->next)
        use->kernel->shared_bytes = v->address + v->bytes;
    return v->bytes <= MAX_SHARED_BYTES && v->address <= MAX_SHARED_BYTES - v->bytes;
}

// With the checker, a redzone follows each variable, so that an access past its end does not hit another variable. The redzone is
// as large as the variable, between MIN_REDZONE and MAX_REDZONE. The variable keeps its shared-memory banks.
static void assign_padded_address(Variable *v)
{
    const size_t granularity = v->align > MIN_REDZONE ? v->align : MIN_REDZONE;
    size_t start = 0;
    for (const Use *use = v->uses; use; use = use->next) {
        const size_t end = use->kernel->shared_extent + use->kernel->shared_redzone;
        start = end > start ? end : start;
    }
    v->address = sim_align_up(start, granularity) + v->address % granularity;
    for (const Use *use = v->uses; use; use = use->next) {
        use->kernel->shared_extent = v->address + v->bytes;
        use->kernel->shared_redzone = v->bytes < MIN_REDZONE ? MIN_REDZONE : v->bytes > MAX_REDZONE ? MAX_REDZONE : v->bytes;
    }
}

bool sim_uses_shared(const Function *kernel, const Variable *v)
{
    const Use *use = v->uses;
    while (use && use->kernel != kernel)
        use = use->next;
    return use != NULL;
}

static void assign_addresses(Module *m, Variable *v)
{
    if (!assign_address(v) && !m->error[0])
        snprintf(m->error, sizeof m->error, "%.*s: too large", (int)v->name.length, v->name.text);
    if (sim_checker_enabled())
        assign_padded_address(v);
}

bool sim_shares_variables(const Module *m)
{
    for (const Variable *v = m->shared; v; v = v->next_shared)
        if (!v->is_dynamic && !is_owned_by_kernel(v))
            return true;
    return false;
}

void sim_layout_shared(Module *m)
{
    find_uses(m);
    for (Function *f = m->functions; f; f = f->next)
        f->shared_bytes = f->shared_extent = f->shared_redzone = 0;
    m->dynamic_align = 16;
    int max_uses = 0;
    for (Variable *v = m->shared; v; v = v->next_shared) {
        if (v->is_dynamic && v->align > m->dynamic_align)
            m->dynamic_align = v->align;
        max_uses = v->use_count > max_uses ? v->use_count : max_uses;
    }
    for (int uses = max_uses; uses > 0; uses--)
        for (Variable *v = m->shared; v; v = v->next_shared)
            if (v->use_count == uses)
                assign_addresses(m, v);
    for (Function *f = m->functions; f && !sim_checker_enabled(); f = f->next)
        f->shared_extent = f->shared_bytes;
}

bool sim_layout_shared_of(Module *m, Function *kernel)
{
    bool fits = true;
    for (Variable *v = m->shared; v; v = v->next_shared)
        if (v->owner == kernel && kernel->is_kernel) {
            add_use(m, v, kernel);
            fits &= assign_address(v);
            if (sim_checker_enabled())
                assign_padded_address(v);
        }
    if (!sim_checker_enabled())
        kernel->shared_extent = kernel->shared_bytes;
    return fits;
}
