// syntax.h: the typed syntax tree of a function: what the parser makes and what lowering and constant evaluation read.
#ifndef COMPILER_SYNTAX_H
#define COMPILER_SYNTAX_H

#include "compiler/types.h"

typedef struct Expression Expression;
typedef struct Statement Statement;
typedef struct Variable Variable;
typedef struct Function Function;
typedef struct Record Record;
typedef struct Scope Scope;
typedef struct Symbol Symbol;
typedef struct Template Template;

// ---- constants

typedef struct Constant { // an integer, an enumerator, a bool, a real, or a pointer into a variable
    bool is_real, is_unknown; // unknown: depends on a template's parameter
    int64_t integer;
    double real;
    Variable *variable; // pointed to, with .integer bytes after its begin; or NULL
    Function *function; // the same for a function
} Constant;

// ---- expressions

typedef enum ExpressionKind {
    EXPRESSION_UNKNOWN,   // after an error, or in host code
    EXPRESSION_CONSTANT,  // .constant
    EXPRESSION_STRING,    // .text, .length: an array of const char, an lvalue
    EXPRESSION_VARIABLE,  // .variable, an lvalue; a reference is already followed
    EXPRESSION_BUILTIN,   // .text: a special register such as "%tid.x"
    EXPRESSION_MEMBER,    // left.field; an lvalue if left is
    EXPRESSION_DEREFERENCE, // *left, an lvalue
    EXPRESSION_ADDRESS,   // &left, of an lvalue
    EXPRESSION_FUNCTION,  // .function, .symbol: the name of one or several
    EXPRESSION_LOAD,      // the value of the lvalue left, of a scalar
    EXPRESSION_DECAY,     // an array's first element's address
    EXPRESSION_CONVERT,   // of the value left, between scalar types; bool tests for 0
    EXPRESSION_BITCAST,   // of the value left between pointers and integers, or pointers
    EXPRESSION_BASE,      // the lvalue or value left as its base class; .offset
    EXPRESSION_NEGATE, EXPRESSION_COMPLEMENT, EXPRESSION_NOT,
    EXPRESSION_ADD, EXPRESSION_SUBTRACT, EXPRESSION_MULTIPLY, EXPRESSION_DIVIDE, EXPRESSION_REMAINDER, // of equal types
    EXPRESSION_AND, EXPRESSION_OR, EXPRESSION_XOR,
    EXPRESSION_SHIFT_LEFT, EXPRESSION_SHIFT_RIGHT, // the type is left's; right is an int or unsigned, or as wide as left
    EXPRESSION_OFFSET,    // pointer left + integer right elements; .subtract: minus
    EXPRESSION_DIFFERENCE, // of two pointers, in elements
    EXPRESSION_EQUAL, EXPRESSION_NOT_EQUAL, EXPRESSION_LESS, EXPRESSION_LESS_EQUAL, EXPRESSION_GREATER, EXPRESSION_GREATER_EQUAL,
    EXPRESSION_LOGICAL_AND, EXPRESSION_LOGICAL_OR,
    EXPRESSION_CONDITIONAL, // condition ? left : right
    EXPRESSION_ASSIGN,    // left = right; an lvalue
    EXPRESSION_COMPOUND,  // left .operation= right in type .compute; an lvalue; pointers: EXPRESSION_OFFSET
    EXPRESSION_INCREMENT, // ++left, left++, ...: .subtract, .is_postfix
    EXPRESSION_COMMA,
    EXPRESSION_CALL,      // .function(.arguments), the first one the object's address if it is a member; intrinsics, too
    EXPRESSION_CONSTRUCT, // an object made by a constructor .function with .arguments, or zeroed if it is NULL
    EXPRESSION_LIST,      // { ... } of an aggregate: an argument for each of the first elements, then zeros
    EXPRESSION_COPY,      // a copy of the record left, an lvalue or a value
    EXPRESSION_MATERIALISE, // a value as an lvalue: a temporary variable's
    EXPRESSION_SEQUENCE,  // statements, then left: of a library macro
    EXPRESSION_ASM,       // .assembly
    EXPRESSION_NEW        // new (left) type: right is the EXPRESSION_CONSTRUCT, EXPRESSION_LIST or scalar put there
} ExpressionKind;

struct Expression {
    uint8_t kind;
    uint8_t operation;   // ExpressionKind of a EXPRESSION_COMPOUND
    bool is_lvalue;
    bool is_xvalue;      // an lvalue that binds to &&: std::move(x), a temporary's member
    bool is_postfix, subtract;
    bool in_parentheses; // (a = b) is no mistake
    bool is_launch;      // a call with <<<...>>>
    bool is_zero_literal; // a null pointer constant
    bool is_unqualified; // EXPRESSION_FUNCTION: the arguments' namespaces are searched, too
    bool zeroed;         // EXPRESSION_CONSTRUCT: zero the object first; EXPRESSION_LIST of nothing
    Position start, end; // its text
    Type *type;          // of an lvalue: the object's
    Type *compute;
    Expression *left, *right, *condition;
    Name *name;          // EXPRESSION_FUNCTION
    union {
        Constant constant;
        struct {
            const char *text;
            uint64_t length;
        };
        Variable *variable;
        struct Field *field;
        struct {
            Function *function;
            Expression **arguments;
            uint32_t argument_count;
            Symbol *symbol;      // EXPRESSION_FUNCTION: the overloads
            struct TemplateArgument *template_arguments; // EXPRESSION_FUNCTION: name<...>
            uint32_t template_argument_count;
        };
        uint64_t offset;
        Statement *statements;
        struct Assembly *assembly;
    };
};

typedef struct Assembly { // asm("text" : outputs : inputs : clobbers)
    const char *text;
    bool is_volatile, clobbers_memory;
    const char **constraints;
    Expression **operands; // outputs are lvalues
    uint32_t output_count, operand_count;
} Assembly;

// ---- statements

typedef enum StatementKind {
    STATEMENT_EXPRESSION, STATEMENT_DECLARE, STATEMENT_BLOCK, STATEMENT_IF, STATEMENT_LOOP, STATEMENT_DO, STATEMENT_SWITCH,
    STATEMENT_CASE, STATEMENT_RETURN, STATEMENT_BREAK, STATEMENT_CONTINUE, STATEMENT_GOTO, STATEMENT_LABEL, STATEMENT_EMPTY
} StatementKind;

struct Statement {
    uint8_t kind;
    bool is_default;       // STATEMENT_CASE
    bool is_constexpr;     // STATEMENT_IF whose other branch was left out
    Position position;
    Expression *expression; // condition, value, the whole
    Statement *first;      // of a block's list; what runs before a loop's or an if's condition (declarations)
    Statement *body, *otherwise;
    Expression *step;      // STATEMENT_LOOP
    Variable *variable;    // STATEMENT_DECLARE
    int64_t low, high;     // STATEMENT_CASE
    Statement *cases;      // STATEMENT_SWITCH: its STATEMENT_CASEs, linked by next_case
    Statement *next_case;
    struct Label *label;   // STATEMENT_GOTO, STATEMENT_LABEL
    uint32_t unroll;       // #pragma unroll, as in IrBlock.unroll
    Statement *next;
};

typedef struct Label {
    Name *name;
    Position position, used; // 0: not there (yet)
    struct Label *next;
    void *block;             // lowering's
} Label;

#endif
