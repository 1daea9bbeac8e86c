// scopes.h: scopes and name lookup.
#ifndef COMPILER_SCOPES_H
#define COMPILER_SCOPES_H

#include "compiler/declarations.h"

typedef enum ScopeKind { SCOPE_NAMESPACE, SCOPE_RECORD, SCOPE_ENUM, SCOPE_TEMPLATE, SCOPE_PARAMETERS, SCOPE_BLOCK } ScopeKind;

struct Scope {
    uint8_t kind;
    bool is_inline;    // an inline namespace
    bool is_unnamed;
    bool is_library;   // a namespace with names of the library (library.c)
    Scope *parent;
    Name *name;        // name of a namespace
    Record *record;    // SCOPE_RECORD
    Function *function; // SCOPE_PARAMETERS
    Symbol *first, *last; // in order of declaration
    uint32_t count;
    Symbol **buckets;  // hash table; NULL for few symbols
    Scope **used;      // inline namespaces, and those of using directives
    uint32_t used_count, used_capacity;
    const char *qualified; // "cuda::ptx" of a namespace; "" of the global one
};

Scope *scope_new(Compiler *c, ScopeKind kind, Scope *parent);
Scope *scope_namespace(Compiler *c, Scope *parent, Name *name, Position position); // finds or creates a namespace
void scope_use(Compiler *c, Scope *scope, Scope *used);
// Declares a name. Functions and templates of one name are overloads; any other redeclaration is an error.
Symbol *scope_declare(Compiler *c, Scope *scope, SymbolKind kind, Name *name, Position position);
// The symbol of a name in this scope only, or NULL. A tag is found only if no other symbol hides it.
Symbol *scope_find(Scope *scope, const Name *name);
// Also searches base classes, inline and used namespaces, and the library.
Symbol *scope_find_member(Compiler *c, Scope *scope, Name *name);
// Unqualified lookup: searches the scope and then the enclosing ones.
Symbol *scope_lookup(Compiler *c, Scope *scope, Name *name);
Scope *scope_enclosing_namespace(Scope *scope);
Record *scope_record(Scope *scope);     // the enclosing record, or NULL
Name *record_constructor_name(Compiler *c); // the name under which all constructors are declared
Symbol *record_constructors(Compiler *c, Record *record); // or NULL

// A declared name that is close to this one, for "did you mean"; NULL if none is.
const char *scope_suggestion(Compiler *c, Scope *scope, const Name *name);
const char *scope_member_suggestion(Compiler *c, Scope *scope, const Name *name);

#endif
