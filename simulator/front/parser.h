// parser.h: internal header of the parser: parse_errors.c, lexer.c, symbols.c, declarations.c, locations.c,
// parse_operands.c, statements.c, functions.c, ptx.c.
#ifndef PARSER_H
#define PARSER_H

#include "front/ptx.h"

enum { MAX_NESTING = 64, BUCKETS = 256 };

typedef enum TokenKind { END, WORD, INTEGER, FLOATING, STRING, PUNCTUATION } TokenKind;

typedef struct Token {
    TokenKind kind;
    Slice text; // within the module's text
    int64_t integer; // value of INTEGER, or bits of FLOATING
    double floating; // value of FLOATING
    bool is_float32; // written as 0f..., so `integer` has the bits of a float
    int line;
} Token;

typedef struct RegisterName { // a declared register, or a range: %r<13>
    Slice name;
    uint32_t first, count; // index in the function's registers; size of the range, or 0 for a single register
    struct RegisterName *next;
} RegisterName;

typedef struct Label {
    Slice name;
    uint32_t statement;
    struct Label *next;
} Label;

typedef struct Scope { // the declarations between a pair of braces; on the stack of sim_parse_body
    struct Scope *outer;
    RegisterName *registers[BUCKETS];
    Label *labels;
    Variable *variables;
    uint32_t first_statement; // index of the scope's first statement
} Scope;

typedef struct Location { // a source location, from .loc
    int file, line, column;
    int outer_file, outer_line; // this line or, if inlined, the line of the outermost call, in the function's own file; 0: unknown
    int caller_file; // file of the innermost inlined call; `file` if the line is not inlined
    uint32_t next_statement; // index of the first statement after the .loc
    struct Location *next;
} Location;

// Owned by one call of sim_parse or sim_read_body, on its stack. Results are allocated in the module's arena.
typedef struct Parser {
    Module *module;     // being filled
    Function *function; // being parsed; NULL between functions
    Scope *scope;       // the innermost scope
    const char *at;     // the position after `token` in the text
    int line;
    Token token; // lookahead
    uint32_t register_capacity, statement_capacity; // of the function's arrays
    Location *locations[BUCKETS]; // hash table of the function's .loc directives so far
    Location location;            // of the next statement
    Location outer;               // the latest location in the function's own file
    int nesting;                  // of braces and operands
    bool is_managed; // the current declaration has .attribute(.managed)
    Linkage linkage; // of the current function or variable
    jmp_buf *on_error; // handler of the innermost statement, variable, function or module
    char error[256];   // the last error
} Parser;

// ---- parse_errors.c. sim_fail stores its text in p->error, "PTX line 12: ...", and jumps to p->on_error.

_Noreturn void sim_fail(Parser *p, const char *format, ...);
_Noreturn void sim_rethrow(Parser *p); // passes the last error to the outer handler
const char *sim_copy_error(Parser *p); // a copy in the module's arena

typedef struct Position { // in the text
    const char *at;
    int line, nesting;
    Token token;
} Position;

Position sim_position(const Parser *p);
void sim_restore_position(Parser *p, const Position *position);
// Calls parse(p, what). On an error returns false, with the error in p->error and the parser at the error.
bool sim_parse_catching(Parser *p, void (*parse)(Parser *, void *), void *what);

// ---- lexer.c

static inline bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

void sim_advance(Parser *p);
bool sim_next_is(const Parser *p, const char *text);
bool sim_accept(Parser *p, const char *text); // consumes the token if it is next
void sim_expect(Parser *p, const char *text);
Slice sim_expect_word(Parser *p, const char *what);
int64_t sim_expect_integer(Parser *p);
void sim_skip_statement(Parser *p);
void sim_skip_braces(Parser *p); // skips past the matching brace
void sim_skip_line(Parser *p); // skips the rest of the line after the lookahead token
// Calls parse(p, what). On an error skips past the next semicolon and returns a copy of the error. NULL: success.
const char *sim_parse_or_skip(Parser *p, void (*parse)(Parser *, void *), void *what);

// ---- symbols.c

unsigned sim_bucket_of_name(Slice name);
// Looks up a register such as %r12, declared by this name or as part of the range %r<13>. NULL: not declared.
Register *sim_find_register(Parser *p, Slice name);
Variable *sim_variable_in_scope(Parser *p, Slice name); // innermost scope first, then the module; or NULL

// ---- declarations.c

bool sim_space_named(Slice word, Space *space); // ".shared"
// Parses the part of a declaration between state space and name: alignment, type, .v2, .ptr and so on.
Type sim_parse_attributes(Parser *p, size_t *align, int *elements);
// Parses a declarator such as name[2][3]; the variable has no address yet.
Variable *sim_parse_declarator(Parser *p, Space space, Type type, size_t align, int elements);
// Assigns an address to a .local or .param variable; adds a .shared variable to the module's list.
void sim_assign_address(Parser *p, Variable *v);
void sim_parse_variables(Parser *p, Space space);
void sim_parse_registers(Parser *p);

// ---- locations.c, parse_operands.c, statements.c, functions.c

void sim_parse_location(Parser *p); // .loc
void sim_parse_operand(Parser *p, Operand *o);
void sim_parse_list(Parser *p, Operand *o, const char *end);
Statement *sim_new_statement(Parser *p);
void sim_parse_body(Parser *p);
// A syntax error inside is stored as the function's error.
void sim_parse_function(Parser *p, bool is_kernel);

#endif
