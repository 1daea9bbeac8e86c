// tokens.h: names, tokens, the lexer and the preprocessor.
#ifndef COMPILER_TOKENS_H
#define COMPILER_TOKENS_H

#include "compiler/source.h"

typedef enum TokenKind {
    TOKEN_END,        // end of the text
    TOKEN_NAME,       // .id is 0, or its keyword
    TOKEN_NUMBER,     // the parser converts its text to a value when needed
    TOKEN_CHARACTER,  // 'x'
    TOKEN_STRING,     // "x", with its quotes
    TOKEN_PUNCTUATOR, // .id
    TOKEN_UNROLL,     // #pragma unroll; the tokens of its argument follow, up to a TOKEN_LINE_END
    TOKEN_LINE_END,
    TOKEN_OTHER       // a byte that begins no token
} TokenKind;

// Ids of punctuators and keywords. The id of a one-byte punctuator is that byte. >> and >>> are lexed as several adjacent > tokens,
// because each > may end a template argument list.
enum {
    ID_NONE = 0,
    ID_ARROW = 128, ID_INCREMENT, ID_DECREMENT, ID_SHIFT_LEFT, ID_LESS_EQUAL, ID_GREATER_EQUAL, ID_EQUAL, ID_NOT_EQUAL, ID_AND,
    ID_OR, ID_ADD_ASSIGN, ID_SUB_ASSIGN, ID_MUL_ASSIGN, ID_DIV_ASSIGN, ID_REM_ASSIGN, ID_AND_ASSIGN, ID_OR_ASSIGN,
    ID_XOR_ASSIGN, ID_SHIFT_LEFT_ASSIGN, ID_SCOPE, ID_ELLIPSIS, ID_LAUNCH, ID_PASTE, ID_ARROW_STAR, ID_DOT_STAR,
    OPERATOR_SHIFT_RIGHT, OPERATOR_SHIFT_RIGHT_ASSIGN, // not tokens: the parser combines > > and > >=
    ID_FIRST_KEYWORD = 200,
#define KEYWORD(id, text) KEYWORD_##id,
#include "compiler/keywords.h"
#undef KEYWORD
};

enum { // Token.flags
    TOKEN_FIRST = 1,     // the first on its line
    TOKEN_SPACE = 2,     // preceded by white space
    TOKEN_EXPANDED = 4,  // from a macro definition: its position is that of the macro's use
    TOKEN_UNEXPANDABLE = 8 // the name of a macro within its own expansion
};

typedef struct Name { // an interned identifier
    const char *text; // ends with 0
    uint32_t length, hash;
    uint16_t keyword;    // or 0
    bool is_library_searched;  // `library` is valid
    bool is_reported;          // has been reported as unsupported
    bool is_library_space;     // the qualified name of a namespace of the library
    struct LibraryUse *library; // its library entries, or NULL
    struct Macro *macro; // its current definition, or NULL
    struct Name *next;   // in its bucket
} Name;

typedef struct Token {
    uint8_t kind, flags;
    uint16_t id;
    uint32_t length;
    Position position;
    const char *text; // not terminated with 0
    Name *name;       // TOKEN_NAME
} Token;

// ---- lexer.c

Name *name_intern(Compiler *c, const char *text, size_t length);
static inline Name *name_intern_slice(Compiler *c, Slice text)
{
    return name_intern(c, text.text, text.length);
}
void names_start(Compiler *c);
int token_operator_level(uint16_t id); // precedence of a binary operator, higher binds tighter; 0: it is none

typedef struct Lexer {
    Compiler *compiler;
    const char *text, *end;
    const char *at;
    Position base;  // position of text[0]
    bool at_line_start, after_space;
    bool in_include; // <...> is one TOKEN_STRING
} Lexer;

// A keyword that is close to a name, or NULL.
const char *keyword_suggestion(const Name *name);

// The next token. The lexer's text must end with a 0 at `end`.
Token lexer_next(Lexer *lexer);
// The spelling of a punctuator or keyword, for messages.
const char *token_id_text(uint16_t id);
static inline bool token_is(const Token *token, uint16_t id)
{
    return token->id == id && id != ID_NONE;
}

// ---- literals.c: the values of numbers, characters and strings

typedef struct NumberValue {
    bool is_real, is_float, is_long, is_long_long, is_unsigned, is_decimal;
    uint64_t integer;
    double real;
} NumberValue;

// False after an error.
bool literal_number(Compiler *c, const Token *token, NumberValue *value);
bool literal_character(Compiler *c, const Token *token, int64_t *value, bool *is_plain);
// The bytes of a string literal, unescaped and terminated with 0; *length excludes the 0.
char *literal_string(Compiler *c, const Token *token, size_t *length);

// ---- preprocessor.c

typedef struct TokenList {
    Token *tokens; // the last one is a TOKEN_END
    uint32_t count, capacity;
} TokenList;

// The tokens of a file, with includes and macros expanded. A built-in text is not preprocessed.
TokenList preprocess(Compiler *c, SourceFile *file);
// Whether one of CUDA's or C++'s headers has been included, such as "cuda/atomic".
bool preprocess_has_included(Compiler *c, const char *header);
// A help text for an unexpected ; that ends a macro's expansion, or NULL.
const char *preprocess_macro_at(Compiler *c, Position position);
// An #include that was not found, which may declare an unknown name; or NULL.
const char *preprocess_missing_header(Compiler *c);

#endif
