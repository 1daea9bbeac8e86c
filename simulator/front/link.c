// link.c: links the PTX texts of separately compiled files (nvcc -rdc=true) into one module.
//
// Internal names that also occur in another text are renamed. One definition of each external name is kept, to which all
// declarations of the name refer.
#include "front/program.h"

#include <string.h>

// `why` is a format with one %s, for the name.
static void link_error(Module *m, const char *why, Slice name)
{
    char readable[100];
    sim_demangle(name, readable, sizeof readable);
    if (!m->error[0])
        snprintf(m->error, sizeof m->error, why, readable);
}

// ---- Visiting all operands

typedef void Visit(Operand *operand, const void *context);

static void visit_operand(Operand *o, Visit *visit, const void *context)
{
    visit(o, context);
    for (int k = 0; k < o->count; k++)
        visit_operand(&o->elements[k], visit, context);
}

static void visit_operands(const Module *m, Visit *visit, const void *context)
{
    for (Function *f = m->functions; f; f = f->next)
        for (uint32_t i = 0; i < f->count; i++)
            for (int k = 0; k < f->statements[i].count; k++)
                visit_operand(&f->statements[i].operands[k], visit, context);
}

typedef struct Renaming {
    Slice from, to;
} Renaming;

static void rename_slice(Slice *name, const Renaming *renaming)
{
    if (sim_same_slice(*name, renaming->from))
        *name = renaming->to;
}

static void rename_operand(Operand *o, const void *context)
{
    if (o->kind == IS_SYMBOL)
        rename_slice(&o->name, context);
}

static Variable *definition_of(Variable *v)
{
    while (v->definition)
        v = v->definition;
    return v;
}

static void use_definition(Operand *o, const void *context)
{
    (void)context;
    if (o->variable)
        o->variable = definition_of(o->variable);
}

// ---- Internal names

static void rename_symbol(Module *m, Slice name)
{
    static const char SUFFIX[] = "$of_another_text";
    char *new_name = sim_allocate(&m->arena, name.length + sizeof SUFFIX);
    memcpy(new_name, name.text, name.length);
    memcpy(new_name + name.length, SUFFIX, sizeof SUFFIX);
    const Renaming renaming = {name, {new_name, name.length + sizeof SUFFIX - 1}};
    visit_operands(m, rename_operand, &renaming);
    for (Function *f = m->functions; f; f = f->next)
        rename_slice(&f->name, &renaming);
    for (Variable *v = m->variables; v; v = v->next) {
        rename_slice(&v->name, &renaming);
        for (int k = 0; k < v->initialiser_count; k++)
            rename_slice(&v->initialisers[k].symbol, &renaming);
    }
}

static bool has_name(const Module *m, Slice name)
{
    return sim_find_function(m, name) || sim_find_variable(m->variables, name);
}

// Renames the internal names of `m` that also occur in `other`.
static void rename_internal(Module *m, const Module *other)
{
    for (Function *f = m->functions; f; f = f->next)
        while (f->linkage == LINK_INTERNAL && has_name(other, f->name))
            rename_symbol(m, f->name);
    for (Variable *v = m->variables; v; v = v->next)
        while (v->linkage == LINK_INTERNAL && has_name(other, v->name))
            rename_symbol(m, v->name);
}

// ---- External names

static void remove_function(Module *m, const Function *f)
{
    Function **at = &m->functions;
    while (*at != f)
        at = &(*at)->next;
    *at = f->next;
    for (Variable **v = &m->shared; *v;)
        if ((*v)->owner == f)
            *v = (*v)->next_shared;
        else
            v = &(*v)->next_shared;
}

static void remove_variable(Module *m, const Variable *removed)
{
    for (Variable **v = &m->variables; *v; v = &(*v)->next)
        if (*v == removed) {
            *v = removed->next;
            break;
        }
    for (Variable **v = &m->shared; *v; v = &(*v)->next_shared)
        if (*v == removed && !removed->is_dynamic) {
            *v = removed->next_shared;
            break;
        }
}

// Keeps one of two functions with one name: `f` of module `m` or other_f of module `other`.
static void resolve_function(Module *m, Function *f, Module *other, Function *other_f)
{
    if (f->is_defined && other_f->is_defined && f->linkage != LINK_WEAK && other_f->linkage != LINK_WEAK)
        link_error(m, "two files define '%s'", f->name);
    if (!other_f->is_defined || (f->is_defined && other_f->linkage == LINK_WEAK))
        remove_function(other, other_f);
    else
        remove_function(m, f);
}

static void resolve_variable(Module *m, Variable *v, Module *other, Variable *other_v)
{
    const bool both_defined = v->linkage != LINK_UNDEFINED && other_v->linkage != LINK_UNDEFINED;
    if (both_defined && v->linkage != LINK_WEAK && other_v->linkage != LINK_WEAK)
        link_error(m, "two files define '%s'", v->name);
    if (other_v->linkage == LINK_UNDEFINED || (both_defined && other_v->linkage == LINK_WEAK)) {
        other_v->definition = v;
        remove_variable(other, other_v);
    } else {
        v->definition = other_v;
        remove_variable(m, v);
    }
}

static void resolve_names(Module *m, Module *other)
{
    for (Function *f = other->functions, *next; f; f = next) {
        next = f->next;
        Function *existing = sim_find_function(m, f->name);
        if (existing)
            resolve_function(m, existing, other, f);
    }
    for (Variable *v = other->variables, *next; v; v = next) {
        next = v->next;
        Variable *existing = sim_find_variable(m->variables, v->name);
        if (existing)
            resolve_variable(m, existing, other, v);
    }
}

// ---- One module

// Appends the other module's source files, and renumbers them in its statements.
static void add_files(Module *m, const Module *other)
{
    const int count = m->file_count + other->file_count;
    Slice *files = sim_allocate(&m->arena, ((size_t)count + 1) * sizeof *files);
    for (int k = 0; k < count; k++)
        files[k] = k < m->file_count ? m->files[k] : other->files[k - m->file_count];
    for (Function *f = other->functions; f; f = f->next)
        for (uint32_t i = 0; i < f->count; i++) {
            f->statements[i].source_file += m->file_count;
            f->statements[i].caller_file += m->file_count;
            f->statements[i].outer_file += m->file_count;
        }
    m->files = files;
    m->file_count = count;
}

static void add_lists(Module *m, Module *other)
{
    Function **f = &m->functions;
    Variable **v = &m->variables, **shared = &m->shared;
    while (*f)
        f = &(*f)->next;
    while (*v)
        v = &(*v)->next;
    while (*shared)
        shared = &(*shared)->next_shared;
    *f = other->functions;
    *v = other->variables;
    *shared = other->shared;
}

void sim_add_module(Module *m, Module *other)
{
    if (other->error[0]) {
        memcpy(m->error, other->error, sizeof m->error);
    } else {
        sim_read_bodies(m);
        sim_read_bodies(other);
        rename_internal(m, other);
        rename_internal(other, m);
        resolve_names(m, other);
        add_files(m, other);
        add_lists(m, other);
        m->uses_bulk_copies |= other->uses_bulk_copies;
        m->target = m->target > other->target ? m->target : other->target;
        m->version = m->version > other->version ? m->version : other->version;
        sim_join_arenas(&m->arena, &other->arena);
    }
    sim_free_module(other);
}

void sim_link(Module *m)
{
    for (const Variable *v = m->variables; v; v = v->next)
        if (v->linkage == LINK_UNDEFINED && (v->space == GLOBAL || v->space == CONST))
            link_error(m,
                   "no file defines the variable '%s': name the file that does, too, as in FILE='a.cu b.cu' "
                   "FLAGS=-rdc=true",
                   v->name);
    visit_operands(m, use_definition, NULL);
    sim_layout_shared(m);
}

// ---- Unsupported statements

void sim_explain_unknown(const Module *m, const Statement *s, char *why, size_t space)
{
    static const char DEVICE_RUNTIME[] = "__cudaCDP2";
    const Operand *o = sim_callee_of(s);
    const Function *called = o ? sim_find_function(m, o->name) : NULL;
    if (!called || called->is_defined) {
        snprintf(why, space, "the simulator does not know this instruction");
    } else if (o->name.length > strlen(DEVICE_RUNTIME) &&
               memcmp(o->name.text, DEVICE_RUNTIME, strlen(DEVICE_RUNTIME)) == 0) {
        snprintf(why, space, "the simulator has no cuda%.*s in kernels", (int)(o->name.length - strlen(DEVICE_RUNTIME)),
                 o->name.text + strlen(DEVICE_RUNTIME));
    } else {
        char name[200];
        sim_demangle(o->name, name, sizeof name);
        snprintf(why, space,
                 "it calls '%s', which no file defines: name the file that does, too, as in FILE='a.cu b.cu' "
                 "FLAGS=-rdc=true",
                 name);
    }
}
