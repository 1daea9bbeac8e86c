// symbols.c: looks up registers, variables and functions by name.
#include "front/parser.h"

#include <stdlib.h>

unsigned sim_bucket_of_name(Slice name)
{
    unsigned hash = 5381;
    for (size_t i = 0; i < name.length; i++)
        hash = hash * 33 + (unsigned char)name.text[i];
    return hash % BUCKETS;
}

static RegisterName *find_named(Scope *scope, Slice name, bool range)
{
    for (; scope; scope = scope->outer)
        for (RegisterName *named = scope->registers[sim_bucket_of_name(name)]; named; named = named->next)
            if (sim_same_slice(named->name, name) && (named->count > 0) == range)
                return named;
    return NULL;
}

Register *sim_find_register(Parser *p, Slice name)
{
    const RegisterName *named = find_named(p->scope, name, false);
    if (named)
        return p->function->registers[named->first];
    size_t digits = 0;
    while (digits < name.length && digits < 9 && is_digit(name.text[name.length - 1 - digits]))
        digits++;
    if (digits == 0 || digits == name.length)
        return NULL;
    named = find_named(p->scope, (Slice){name.text, name.length - digits}, true);
    const unsigned long index = strtoul(name.text + name.length - digits, NULL, 10);
    return named && index < named->count ? p->function->registers[named->first + index] : NULL;
}

Variable *sim_find_variable(Variable *list, Slice name)
{
    for (; list; list = list->next)
        if (sim_same_slice(list->name, name))
            return list;
    return NULL;
}

Variable *sim_variable_in_scope(Parser *p, Slice name)
{
    Variable *found = NULL;
    for (const Scope *scope = p->scope; scope && !found; scope = scope->outer)
        found = sim_find_variable(scope->variables, name);
    if (!found && p->function)
        found = sim_find_variable(p->function->params, name);
    if (!found && p->function)
        found = sim_find_variable(p->function->returned, name);
    return found ? found : sim_find_variable(p->module->variables, name);
}

Function *sim_find_function(const Module *module, Slice name)
{
    for (Function *function = module->functions; function; function = function->next)
        if (sim_same_slice(function->name, name))
            return function;
    return NULL;
}
