// source.h: source texts, positions, memory and diagnostics. Used by every file of the front end.
//
// A Compiler is the state of one compilation; each part of the front end owns the members under its name.
#ifndef COMPILER_SOURCE_H
#define COMPILER_SOURCE_H

#include <setjmp.h>

#include "compiler/compiler.h"

typedef uint32_t Position; // 1-based byte offset in the concatenation of all texts; 0: built in, without a position

typedef struct SourceFile {
    const char *name;
    const char *text; // ends with 0
    uint32_t length;
    Position base;         // position of the first byte
    uint32_t *line_starts; // offsets; NULL until a line number is first needed
    uint32_t line_count;
    bool built_in;         // a library text (library.h), without lines and diagnostics
    bool has_pragma_once;
} SourceFile;

enum {
    MAX_SHOWN = 200,             // bytes of a line that a diagnostic shows to either side of its column
    MAX_ERRORS = 100,            // the compilation is abandoned after these
    MAX_NESTING = 200,           // depth of nested expressions, statements, types and macros
    MAX_INSTANTIATION_DEPTH = 64, // depth of nested template instantiations
    MAX_INSTANCES = 10000,       // instances of all templates together
    MAX_INCLUDE_DEPTH = 40,
    MAX_CONSTANT_STEPS = 1 << 22  // evaluation steps of a constant expression
};
#define MAX_FRONT_BYTES ((size_t)400 << 20) // memory for tokens, types and trees
#define MAX_TOKENS 1000000u                 // after preprocessing

typedef struct Compiler {
    Compilation *result;
    const CompileOptions *options;
    Arena *arena;
    size_t allocated;   // bytes
    jmp_buf abandon_point; // target of source_abandon
    // source.c
    SourceFile **files;
    uint32_t file_count, file_capacity;
    Position next_base;
    bool is_cut_off;      // an unterminated comment extends to the end of the text
    int silent;           // > 0: diagnostics are only counted: host code, tentative parsing
    uint32_t silent_errors; // errors dropped while silent
    struct InstantiationNote *instantiation; // the innermost template that is being instantiated, or NULL
    uint32_t diagnostic_capacity;
    Position *diagnostic_positions; // position of each diagnostic, for sorting
    // state of the other parts
    struct NameTable *names;
    struct Preprocessor *preprocessor;
    struct TypeTable *types;
    struct Parser *parser;
} Compiler;

typedef struct InstantiationNote { // for "in the instantiation of" notes
    struct InstantiationNote *outer;
    Position position;    // position of the use that instantiates it
    const char *readable; // "reduce<256>"
    uint32_t depth;
} InstantiationNote;

// ---- memory: from the compilation's arena, zeroed

void *compile_allocate(Compiler *c, size_t bytes);
#define compile_new(c, type) ((type *)compile_allocate((c), sizeof(type)))
// Ensures capacity for at least `count` + 1 elements: doubles it, and returns the possibly moved array.
void *compile_grow(Compiler *c, void *elements, uint32_t count, uint32_t *capacity, size_t size);
#define compile_push(c, list, count, capacity) \
    ((list) = compile_grow((c), (list), (count), &(capacity), sizeof *(list)), &(list)[(count)++])
char *compile_format(Compiler *c, const char *format, ...) __attribute__((format(printf, 2, 3)));
char *compile_copy_text(Compiler *c, const char *text, size_t length);

// ---- texts and positions

SourceFile *source_add(Compiler *c, const char *name, const char *text, size_t length, bool built_in);
SourceFile *source_file_at(const Compiler *c, Position position); // NULL: none
uint32_t source_line(Compiler *c, Position position);             // 1-based; 0: none
uint32_t source_column(Compiler *c, Position position);
uint32_t source_indentation(Compiler *c, Position position); // blanks at the start of its line

// ---- diagnostics. `help` may be NULL. A length of 0 stands for the length of the word at that position.

void source_error(Compiler *c, Position at, uint32_t length, const char *help, const char *format, ...)
    __attribute__((format(printf, 5, 6)));
// An error in host code that concerns kernels; it is reported although other errors in host code are not.
void source_host_error(Compiler *c, Position at, uint32_t length, const char *help, const char *format, ...)
    __attribute__((format(printf, 5, 6)));
void source_warning(Compiler *c, Position at, uint32_t length, const char *help, const char *format, ...)
    __attribute__((format(printf, 5, 6)));
// Whether an error was reported at this position, for instance in another instance of the same template.
bool source_has_error_at(const Compiler *c, Position at);
// A note on the preceding error or warning.
void source_note(Compiler *c, Position at, uint32_t length, const char *format, ...) __attribute__((format(printf, 4, 5)));
// An error that ends the compilation immediately: a limit is exceeded.
_Noreturn void source_abandon(Compiler *c, Position at, const char *format, ...) __attribute__((format(printf, 3, 4)));
// Sorts the diagnostics by source position.
void source_sort_diagnostics(Compiler *c);

// Twice the edit distance of two names: insertions, deletions, substitutions and transpositions; a change of case counts half;
// at most `limit`.
uint32_t source_distance(const char *a, size_t a_length, const char *b, size_t b_length, uint32_t limit);

#endif
