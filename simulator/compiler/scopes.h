// scopes.h: where names are declared and found.
#ifndef COMPILER_SCOPES_H
#define COMPILER_SCOPES_H

#include "compiler/declarations.h"

typedef enum ScopeKind { SCOPE_NAMESPACE, SCOPE_RECORD, SCOPE_ENUM, SCOPE_TEMPLATE, SCOPE_PARAMETERS, SCOPE_BLOCK } ScopeKind;

struct Scope {
    uint8_t kind;
    bool is_inline;    // a namespace whose names are its parent's, too
    bool is_unnamed;
    bool is_library;   // a namespace whose names library.c knows
    Scope *parent;
    Name *name;        // of a namespace
    Record *record;    // of a SCOPE_RECORD
    Function *function; // of a SCOPE_PARAMETERS
    Symbol *first, *last; // in order of declaration
    uint32_t count;
    Symbol **buckets;  // once there are many, or NULL
    Scope **used;      // namespaces of using directives and inline ones
    uint32_t used_count, used_capacity;
    const char *qualified; // "cuda::ptx" of a namespace; "" of the global one
};

Scope *scope_new(Compiler *c, ScopeKind kind, Scope *parent);
Scope *scope_namespace(Compiler *c, Scope *parent, Name *name, Position position); // opens it, or makes it
void scope_use(Compiler *c, Scope *scope, Scope *used);
// Declares a name. Functions and templates of one name are overloads; anything else that is there already is an error.
Symbol *scope_declare(Compiler *c, Scope *scope, SymbolKind kind, Name *name, Position position);
// The symbol of a name in just this scope, or NULL. A tag is found if nothing else of the name is there.
Symbol *scope_find(Scope *scope, const Name *name);
// The same with base classes, inline and used namespaces, and what the library has.
Symbol *scope_find_member(Compiler *c, Scope *scope, Name *name);
// From the scope outwards.
Symbol *scope_lookup(Compiler *c, Scope *scope, Name *name);
Scope *scope_enclosing_namespace(Scope *scope);
Record *scope_record(Scope *scope);     // whose member the scope is in, or NULL
Function *scope_function(Scope *scope); // the same of a function
Name *record_constructor_name(Compiler *c); // what all constructors are declared as
Symbol *record_constructors(Compiler *c, Record *record); // or NULL

// A declared name that is close to this one, for "did you mean"; NULL if none is.
const char *scope_suggestion(Compiler *c, Scope *scope, const Name *name);
const char *scope_member_suggestion(Compiler *c, Scope *scope, const Name *name);

#endif
