// parser.h: what the files share that read PTX. Included by them only: ptx.c, lexer.c, symbols.c, declarations.c,
// locations.c, parse_operands.c, statements.c, functions.c.
#ifndef PARSER_H
#define PARSER_H

#include "front/ptx.h"

enum { MAX_NESTING = 64, BUCKETS = 256 };

typedef enum TokenKind { END, WORD, INTEGER, REAL, STRING, PUNCTUATION } TokenKind;

typedef struct Token {
    TokenKind kind;
    Slice text; // within the module's text
    int64_t integer; // of REAL the bits
    double real;
    bool single; // written as 0f...: the bits are a float's
    int line;
} Token;

typedef struct RegisterName { // a register, or a run of them: %r<13>
    Slice name;
    uint32_t first, count; // in the function's registers; count 0 for a single one
    struct RegisterName *next;
} RegisterName;

typedef struct Label {
    Slice name;
    uint32_t statement;
    struct Label *next;
} Label;

typedef struct Scope { // of one pair of braces; lies on the stack of the function that reads them
    struct Scope *outer;
    RegisterName *named[BUCKETS];
    Label *labels;
    Variable *variables;
    uint32_t first_statement; // labels used from here on may be this scope's
} Scope;

typedef struct Location { // a line of the source, as .loc names it
    int file, line, column;
    int own_file, own_line; // the line of the function's own file into which it was inlined, or itself; 0: not known
    int caller_file; // that of the place into which it was inlined directly; its own, where it was not
    uint32_t next_statement; // the first one behind the .loc
    struct Location *next;
} Location;

// Of one call of sim_parse or sim_read_body, on its thread and its stack. What it makes lies in the module's arena.
typedef struct Parser {
    Module *module;     // that is filled
    Function *function; // whose parameters or body are read; NULL between functions
    Scope *scope;       // the innermost one
    const char *at;     // in the text: behind the next token
    int line;
    Token token; // the next one
    uint32_t register_space, statement_space; // of the function's arrays, which grow
    Location *locations[BUCKETS]; // that the function has named so far
    Location location;            // of the next statement
    Location own;                 // the last one in the function's own file
    int nesting;                  // of braces and operands
    bool managed; // the declaration that is being read
    Linkage linkage; // of the next function or variable of the module
    jmp_buf *on_error; // where a fault leads: out of a statement, a variable, a function or the module
    char error[256];   // the last fault
} Parser;

// ---- ptx.c: faults. A fault leads to p->on_error, and its text is in p->error: "PTX line 12: ...".

_Noreturn void sim_fail(Parser *p, const char *format, ...);
_Noreturn void sim_rethrow(Parser *p); // the last fault concerns more than was thought
const char *sim_keep_error(Parser *p); // in the module's arena

typedef struct Position { // in the text
    const char *at;
    int line, nesting;
    Token token;
} Position;

Position sim_position(const Parser *p);
void sim_go_back(Parser *p, const Position *position);
// Calls parse(p, what). False where it fails: the parser stands there, and the fault is in p->error.
bool sim_can_parse(Parser *p, void (*parse)(Parser *, void *), void *what);
// The same. Where it fails, the text from there on to the next semicolon is passed over, and the
// fault is returned: it concerns only those who use what stood there. NULL if all is well.
const char *sim_try_to_parse(Parser *p, void (*parse)(Parser *, void *), void *what);

// ---- lexer.c

static inline bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

void sim_advance(Parser *p);
bool sim_next_is(const Parser *p, const char *text);
bool sim_accept(Parser *p, const char *text); // goes on behind it, if it is next
void sim_expect(Parser *p, const char *text);
Slice sim_expect_word(Parser *p, const char *what);
int64_t sim_expect_integer(Parser *p);
void sim_skip_statement(Parser *p);
void sim_skip_braces(Parser *p); // with all that they hold
void sim_skip_line(Parser *p); // the token that is already read stays out of it

// ---- symbols.c

unsigned sim_bucket_of_name(Slice name);
// %r12: declared by this name, or one of the run %r<13>. NULL if neither.
Register *sim_find_register(Parser *p, Slice name);
Variable *sim_variable_in_scope(Parser *p, Slice name); // from the innermost braces out to the module, or NULL

// ---- declarations.c

bool sim_space_named(Slice word, Space *space); // ".shared"
// What stands between a state space and a name: alignment, type, .v2, .ptr and the like.
Type sim_parse_attributes(Parser *p, size_t *align, int *elements);
// name[2][3]: one variable of the type, without an address as yet.
Variable *sim_parse_declarator(Parser *p, Space space, Type type, size_t align, int elements);
void sim_assign_address(Parser *p, Variable *v); // in its space, as far as that is known
void sim_parse_variables(Parser *p, Space space);
void sim_parse_registers(Parser *p);

// ---- locations.c, parse_operands.c, statements.c, functions.c

void sim_parse_location(Parser *p); // .loc
void sim_parse_operand(Parser *p, Operand *o);
void sim_parse_list(Parser *p, Operand *o, const char *end);
Statement *sim_new_statement(Parser *p);
void sim_parse_body(Parser *p);
// A fault in it concerns only those who launch or call it.
void sim_parse_function(Parser *p, bool entry);

#endif
