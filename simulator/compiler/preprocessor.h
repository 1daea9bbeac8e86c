// preprocessor.h: what preprocessor.c, macros.c and conditions.c share.
#ifndef COMPILER_PREPROCESSOR_H
#define COMPILER_PREPROCESSOR_H

#include "compiler/tokens.h"

typedef struct Macro {
    Name *name;
    Position position; // of its definition
    bool is_function, is_variadic;
    uint8_t special;   // __LINE__ and the like: an enum in macros.c
    Name **parameters; // the last one is __VA_ARGS__, or what stands for it, if it is variadic
    uint32_t parameter_count;
    Token *body;
    uint32_t body_count;
    int active; // its expansion is being read
} Macro;

typedef struct TokenSource { // one of a stack: a file, or a list of tokens from a macro
    bool is_list;
    bool is_end;   // reading stops here: the argument of a macro, or a directive's line
    Lexer lexer;
    SourceFile *file;
    const Token *tokens;
    uint32_t at, count;
    Macro *macro;  // becomes inactive when the list is read, or NULL
    uint32_t conditions; // #if groups that were open before the file
} TokenSource;

typedef struct Condition { // an #if
    Position position;
    bool taken; // one of its groups was
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
    const char **headers; // CUDA's and C++'s that were included
    uint32_t header_count, header_capacity;
    const char *missing; // the last header that was not found
} Preprocessor;

// ---- preprocessor.c

// The next token before macros; a TOKEN_END where reading stops.
Token preprocess_raw(Compiler *c);
void preprocess_push_list(Compiler *c, const Token *tokens, uint32_t count, Macro *macro, bool is_end);
void preprocess_pop(Compiler *c);

// ---- macros.c

void macros_start(Compiler *c);
void macro_define(Compiler *c, const Token *line, uint32_t count); // what follows #define
// Pushes a macro's expansion if the token is to be expanded; false if it is not.
bool macro_expand(Compiler *c, Token *token);
// A list of tokens, fully expanded.
TokenList macro_expand_list(Compiler *c, const Token *tokens, uint32_t count);

// ---- conditions.c

// The value of #if.
bool condition_value(Compiler *c, const Token *line, uint32_t count, Position at);

// ---- headers.c

// Whether the front end knows a header's names: CUDA's, C's or C++'s.
bool header_is_known(const char *name);

#endif
