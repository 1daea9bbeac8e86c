// source.h: the texts of a compilation, positions in them, memory and diagnostics. Every file of the front end uses it.
//
// A Compiler is what one compilation knows; each part of the front end owns the members that are declared with its name.
#ifndef COMPILER_SOURCE_H
#define COMPILER_SOURCE_H

#include <setjmp.h>

#include "compiler/compiler.h"

typedef uint32_t Position; // byte in the concatenation of all texts, from 1 on; 0: built in, no place in a text

typedef struct SourceFile {
    const char *name;
    const char *text; // ends with 0
    uint32_t length;
    Position base;         // of the first byte
    uint32_t *line_starts; // offsets; made when a line number is first wanted
    uint32_t line_count;
    bool built_in;         // one of the compiler's own texts (library.h): no lines, no diagnostics of its own
    bool once;             // #pragma once
} SourceFile;

enum {
    MAX_SHOWN = 200,             // bytes of a line that a diagnostic shows to either side of its column
    MAX_ERRORS = 100,            // then the compilation is abandoned
    MAX_NESTING = 200,           // of expressions, statements, types and macros in each other
    MAX_INSTANTIATION_DEPTH = 64, // of templates in templates
    MAX_INSTANCES = 10000,       // of all templates
    MAX_INCLUDE_DEPTH = 40,
    MAX_CONSTANT_STEPS = 1 << 22  // of a constant expression
};
#define MAX_FRONT_BYTES ((size_t)400 << 20) // of memory for tokens, types and trees
#define MAX_TOKENS 1000000u                 // after preprocessing

typedef struct Compiler {
    Compilation *result;
    const CompileOptions *options;
    Arena *arena;
    size_t allocated;   // bytes
    jmp_buf abandoned;  // where source_abandon goes
    // source.c
    SourceFile **files;
    uint32_t file_count, file_capacity;
    Position next_base;
    bool is_cut_off;      // a comment without its end has swallowed the rest
    int silent;           // > 0: diagnostics are dropped, and only counted: host code, trials
    uint32_t silent_errors; // errors dropped while silent
    struct InstantiationNote *instantiation; // the innermost template that is being instantiated, or NULL
    uint32_t diagnostic_capacity;
    Position *diagnostic_positions; // of each diagnostic, for sorting
    // each part's own
    struct NameTable *names;
    struct Preprocessor *preprocessor;
    struct TypeTable *types;
    struct Parser *parser;
    struct Lowering *lowering;
} Compiler;

typedef struct InstantiationNote { // for "in the instantiation of" notes
    struct InstantiationNote *outer;
    Position position;    // where it was asked for
    const char *readable; // "reduce<256>"
    uint32_t depth;
} InstantiationNote;

// ---- memory: of the compilation's arena, zeroed

void *compile_allocate(Compiler *c, size_t bytes);
#define compile_new(c, type) ((type *)compile_allocate((c), sizeof(type)))
// Room for at least `count` + 1 elements: doubles, and moves what is there.
void *compile_grow(Compiler *c, void *elements, uint32_t count, uint32_t *capacity, size_t size);
#define compile_push(c, list, count, capacity) \
    ((list) = compile_grow((c), (list), (count), &(capacity), sizeof *(list)), &(list)[(count)++])
char *compile_format(Compiler *c, const char *format, ...) __attribute__((format(printf, 2, 3)));
char *compile_copy_text(Compiler *c, const char *text, size_t length);

// ---- texts and positions

SourceFile *source_add(Compiler *c, const char *name, const char *text, size_t length, bool built_in);
SourceFile *source_file_at(const Compiler *c, Position position); // NULL: none
uint32_t source_line(Compiler *c, Position position);             // from 1 on; 0: none
uint32_t source_column(Compiler *c, Position position);
uint32_t source_indentation(Compiler *c, Position position); // blanks at the start of its line

// ---- diagnostics. `help` may be NULL. A length of 0 is that of the word at that position.

void source_error(Compiler *c, Position at, uint32_t length, const char *help, const char *format, ...)
    __attribute__((format(printf, 5, 6)));
// An error in host code that concerns kernels: it is reported although the rest of host code says nothing.
void source_host_error(Compiler *c, Position at, uint32_t length, const char *help, const char *format, ...)
    __attribute__((format(printf, 5, 6)));
void source_warning(Compiler *c, Position at, uint32_t length, const char *help, const char *format, ...)
    __attribute__((format(printf, 5, 6)));
// Whether an error was reported there: for an instance of a template whose messages another one has had.
bool source_has_error_at(const Compiler *c, Position at);
// Belongs to the error or warning before it.
void source_note(Compiler *c, Position at, uint32_t length, const char *format, ...) __attribute__((format(printf, 4, 5)));
// An error that ends the compilation at once: a bound is exceeded.
_Noreturn void source_abandon(Compiler *c, Position at, const char *format, ...) __attribute__((format(printf, 3, 4)));
// Puts the diagnostics into the order of the source.
void source_sort_diagnostics(Compiler *c);

// How far two names differ: insertions, deletions, changes, swaps, and letters of the other case (half as much), doubled;
// at most `limit`.
uint32_t source_distance(const char *a, size_t a_length, const char *b, size_t b_length, uint32_t limit);

#endif
