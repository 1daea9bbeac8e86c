// syntax.h: the typed syntax tree of a function: built by the parser, read by the lowering and by constant evaluation.
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
    Variable *variable; // the object of a pointer, at byte offset .integer; or NULL
    Function *function; // the function of a function pointer; or NULL
} Constant;

// ---- expressions

typedef enum ExpressionKind {
    EXPRESSION_UNKNOWN,   // after an error, or in host code
    EXPRESSION_CONSTANT,  // .constant
    EXPRESSION_STRING,    // .text, .length: an array of const char, an lvalue
    EXPRESSION_VARIABLE,  // .variable, an lvalue; for a reference, the object that it refers to
    EXPRESSION_BUILTIN,   // .text: a special register such as "%tid.x"
    EXPRESSION_MEMBER,    // left.field; an lvalue if left is
    EXPRESSION_DEREFERENCE, // *left, an lvalue
    EXPRESSION_ADDRESS,   // &left, of an lvalue
    EXPRESSION_FUNCTION,  // .function, or .symbol for an overload set
    EXPRESSION_LOAD,      // the value of the scalar lvalue left
    EXPRESSION_DECAY,     // the address of the first element of the array left
    EXPRESSION_CONVERT,   // of the value left, between scalar types; to bool: left != 0
    EXPRESSION_BITCAST,   // of the value left, between pointers, or pointers and integers
    EXPRESSION_BASE,      // the base class subobject of left, at .offset
    EXPRESSION_NEGATE, EXPRESSION_COMPLEMENT, EXPRESSION_NOT,
    EXPRESSION_ADD, EXPRESSION_SUBTRACT, EXPRESSION_MULTIPLY, EXPRESSION_DIVIDE, EXPRESSION_REMAINDER, // operands of equal types
    EXPRESSION_AND, EXPRESSION_OR, EXPRESSION_XOR,
    EXPRESSION_SHIFT_LEFT, EXPRESSION_SHIFT_RIGHT, // of left's type; right is an int or unsigned, or as wide as left
    EXPRESSION_OFFSET,    // pointer left plus or, if .subtract, minus integer right, in elements
    EXPRESSION_DIFFERENCE, // of two pointers, in elements
    EXPRESSION_EQUAL, EXPRESSION_NOT_EQUAL, EXPRESSION_LESS, EXPRESSION_LESS_EQUAL, EXPRESSION_GREATER, EXPRESSION_GREATER_EQUAL,
    EXPRESSION_LOGICAL_AND, EXPRESSION_LOGICAL_OR,
    EXPRESSION_CONDITIONAL, // condition ? left : right
    EXPRESSION_ASSIGN,    // left = right; an lvalue
    EXPRESSION_COMPOUND,  // left .operation= right in type .compute; an lvalue; pointers: EXPRESSION_OFFSET
    EXPRESSION_INCREMENT, // ++left, left++, ...: .subtract, .is_postfix
    EXPRESSION_COMMA,
    EXPRESSION_CALL,      // .function(.arguments); for member functions the first argument is the object's address; also intrinsics
    EXPRESSION_CONSTRUCT, // an object constructed by .function with .arguments; .function NULL: zeroed
    EXPRESSION_LIST,      // { ... } of an aggregate: .arguments for the first elements, zeros for the others
    EXPRESSION_COPY,      // a copy of the record left
    EXPRESSION_MATERIALISE, // temporary materialisation: an lvalue with the value left
    EXPRESSION_ASM,       // .assembly
    EXPRESSION_NEW        // new (left) type: right is the initialiser, an EXPRESSION_CONSTRUCT, EXPRESSION_LIST or scalar
} ExpressionKind;

struct Expression {
    uint8_t kind;
    uint8_t operation;   // ExpressionKind of the operator of an EXPRESSION_COMPOUND
    bool is_lvalue;
    bool is_xvalue;      // an lvalue that binds to &&: std::move(x), a temporary's member
    bool is_postfix, subtract;
    bool in_parentheses; // suppresses the warning about an assignment as a condition
    bool is_launch;      // a kernel launch, with <<<...>>>
    bool is_zero_literal; // a null pointer constant
    bool is_unqualified; // EXPRESSION_FUNCTION: subject to argument-dependent lookup
    bool zeroed;         // EXPRESSION_CONSTRUCT: zero the object first; EXPRESSION_LIST: empty
    Position start, end; // its source text is [start, end)
    Type *type;          // of an lvalue: type of the object
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
    bool is_constexpr;     // STATEMENT_IF whose discarded branch was omitted
    Position position;
    Expression *expression; // the condition of a control statement, the value of a return, or the expression statement
    Statement *first;      // first statement of a block; or the init-statement of a loop or an if
    Statement *body, *else_body;
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
    Position position, used_at; // positions of the definition and of the first goto; 0: none yet
    struct Label *next;
    void *block;             // its IrBlock; set by the lowering
} Label;

#endif
