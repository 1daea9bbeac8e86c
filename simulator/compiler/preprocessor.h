// preprocessor.h: the preprocessor's state, and functions shared by preprocessor.c, macros.c and conditions.c.
#ifndef COMPILER_PREPROCESSOR_H
#define COMPILER_PREPROCESSOR_H

#include "compiler/tokens.h"

typedef struct Macro {
    Name *name;
    Position position; // position of its definition
    bool is_function, is_variadic;
    uint8_t special;   // a predefined macro such as __LINE__: an enum in macros.c
    Name **parameters; // of a variadic macro, the last one is __VA_ARGS__ or its named equivalent
    uint32_t parameter_count;
    Token *body;
    uint32_t body_count;
    int active; // nonzero while its expansion is being read
} Macro;

typedef struct TokenSource { // an entry of the stack: a file, or a list of tokens from a macro
    bool is_list;
    bool is_end;   // reading stops at its end: a macro argument, or the line of a directive
    Lexer lexer;
    SourceFile *file;
    const Token *tokens;
    uint32_t at, count;
    Macro *macro;  // macro whose expansion ends with the list, or NULL
    uint32_t conditions; // number of #if groups open at the start of the file
} TokenSource;

typedef struct Condition { // an #if
    Position position;
    bool taken; // one of its groups has been processed
    bool in_else;
} Condition;

typedef struct Preprocessor {
    TokenList output;
    TokenSource *sources;
    uint32_t source_count, source_capacity;
    Condition *conditions;
    uint32_t condition_count, condition_capacity;
    uint32_t include_depth, nesting;
    uint32_t counter; // __COUNTER__
    uint64_t work;    // tokens copied by macros
    const char **headers; // included headers of CUDA and C++
    uint32_t header_count, header_capacity;
    const char *missing; // the last header that was not found, or NULL
} Preprocessor;

// ---- preprocessor.c

// The next token, without macro expansion; TOKEN_END where reading stops.
Token preprocess_raw(Compiler *c);
void preprocess_push_list(Compiler *c, const Token *tokens, uint32_t count, Macro *macro, bool is_end);
void preprocess_pop(Compiler *c);

// ---- macros.c

void macros_start(Compiler *c);
void macro_define(Compiler *c, const Token *line, uint32_t count); // line: the tokens after #define
// Pushes the expansion of a macro name; false if the token is not to be expanded.
bool macro_expand(Compiler *c, Token *token);
// A list of tokens, fully expanded.
TokenList macro_expand_list(Compiler *c, const Token *tokens, uint32_t count);

// ---- conditions.c

// Evaluates the expression of an #if.
bool condition_value(Compiler *c, const Token *line, uint32_t count, Position at);

// ---- headers.c

// Whether the front end declares the header's names itself.
bool header_is_known(const char *name);

#endif
