// build.h: semantic analysis of expressions: builds typed trees. After an error, which is reported, the result is an unknown expression.
#ifndef COMPILER_BUILD_H
#define COMPILER_BUILD_H

#include "compiler/parser.h"

// ---- expressions.c: nodes

Expression *expression_new(Compiler *c, ExpressionKind kind, Type *type, Position start, Position end);
Expression *expression_unknown(Compiler *c, Position start, Position end);
Expression *expression_integer(Compiler *c, Type *type, int64_t value, Position start, Position end);
Expression *expression_real(Compiler *c, Type *type, double value, Position start, Position end);
Expression *expression_of_constant(Compiler *c, Type *type, const Constant *value, Position start, Position end);
Expression *expression_variable(Compiler *c, Variable *variable, Position start, Position end);
Expression *expression_function(Compiler *c, Symbol *symbol, Position start, Position end);
Expression *expression_unary(Compiler *c, ExpressionKind kind, Type *type, Expression *left);
Expression *expression_binary(Compiler *c, ExpressionKind kind, Type *type, Expression *left, Expression *right);
// The lvalue-to-rvalue, array-to-pointer and function-to-pointer conversions. Records are returned unchanged.
Expression *expression_value(Compiler *c, Expression *e);
// An lvalue that holds the value; a temporary variable if the expression is not an lvalue.
Expression *expression_lvalue(Compiler *c, Expression *e);
Type *expression_decayed_type(Compiler *c, const Expression *e); // the type that expression_value returns
static inline bool expression_is_unknown(const Expression *e)
{
    return e->kind == EXPRESSION_UNKNOWN || type_is_unknown(e->type);
}
bool expression_is_null_pointer(const Expression *e);
uint32_t expression_length(const Expression *e); // length of the source text, in bytes
// Reports an error at an expression's source text.
void expression_error(Compiler *c, const Expression *e, const char *help, const char *format, ...)
    __attribute__((format(printf, 4, 5)));
// The variable or member that an expression names, for messages; or NULL.
const Name *expression_name(const Expression *e);
const char *expression_text(Compiler *c, const Expression *e); // its source text; "..." if it is long

// ---- conversions.c

enum { // ranks of implicit conversion sequences; lower is better
    FITS_EXACTLY = 0, FITS_QUALIFIED = 1, FITS_PROMOTED = 2, FITS_CONVERTED = 3, FITS_AS_BOOL = 4, FITS_BY_USER = 5,
    FITS_ELLIPSIS = 6, FITS_NEVER = 100
};

int conversion_rank(Compiler *c, Expression *e, Type *to, bool allow_user);
// Converts implicitly. The error message mentions the purpose unless it is NULL.
Expression *convert(Compiler *c, Expression *e, Type *to, const char *purpose);
// Converts an expression to bool. `what`: "the condition of 'if'", for messages.
Expression *convert_to_condition(Compiler *c, Expression *e, const char *what);
typedef enum CastKind { CAST_C, CAST_STATIC, CAST_REINTERPRET, CAST_CONST, CAST_FUNCTIONAL } CastKind;
Expression *cast_to(Compiler *c, Expression *e, Type *to, CastKind kind, Position start, Position end);
Expression *convert_scalar(Compiler *c, Expression *value, Type *to); // between arithmetic types, enumerations and pointers
bool record_derives(const Record *record, const Record *base, uint64_t *offset);
// Calls a record's conversion function to a type; NULL if there is none. `explicit_too`: explicit ones are allowed.
Expression *convert_by_operator(Compiler *c, Expression *e, Type *to, bool explicit_too);
Expression *convert_to_arithmetic(Compiler *c, Expression *e); // by the conversion function to an arithmetic type; NULL: none

// ---- operators.c

Expression *build_unary(Compiler *c, uint16_t id, Expression *e, Position start);
Expression *build_binary(Compiler *c, uint16_t id, Expression *left, Expression *right, Position operator_at);
Expression *build_assign(Compiler *c, uint16_t id, Expression *left, Expression *right, Position operator_at);
Expression *build_increment(Compiler *c, Expression *e, bool subtract, bool is_postfix, Position start, Position end);
Expression *build_conditional(Compiler *c, Expression *condition, Expression *if_true, Expression *if_false);
Expression *build_comma(Compiler *c, Expression *left, Expression *right);

// ---- access.c

Expression *build_dereference(Compiler *c, Expression *e, Position start);
Expression *build_address(Compiler *c, Expression *e, Position start);
Expression *build_index(Compiler *c, Expression *e, Expression *index, Position end);
Expression *build_member(Compiler *c, Expression *object, const ParsedName *name, bool arrow, Position at);
Expression *build_field(Compiler *c, Expression *object, Field *field, Position end);
Expression *build_this(Compiler *c, Position start, Position end);
Expression *build_self(Compiler *c, Position start, Position end); // *this, or NULL outside a member function
// False, with an error, if device code uses a structure whose layout the compiler does not support.
bool record_is_usable(Compiler *c, const Type *type, Position at, uint32_t length);
Expression *lambda_captured(Compiler *c, Variable *variable, Position start, Position end); // NULL: the variable needs no capture

// ---- overloads.c, calls.c

typedef struct Candidates {
    Function **functions;
    uint32_t count, capacity;
    bool is_operator;     // a call of an overloaded operator: non-member candidates take the object as their first argument
    const Template *failed; // a template whose arguments could not be deduced, or NULL
} Candidates;

void overload_add(Compiler *c, Candidates *list, Symbol *symbol, const TemplateArgument *given, uint32_t given_count, Expression **arguments,
                  uint32_t count, Position at);
// The best viable candidate. `object`: the object argument of member functions, or NULL. Returns NULL if there is none or the call is
// ambiguous.
Function *overload_best(Compiler *c, const Candidates *list, Expression *object, Expression **arguments, uint32_t count, bool allow_user,
                        bool *ambiguous);
// Adds the candidates that argument-dependent lookup finds.
void overload_add_associated(Compiler *c, Candidates *list, Name *name, Expression **arguments, uint32_t count, Position at);
void overload_report(Compiler *c, const Candidates *list, const char *what, Expression **arguments, uint32_t count, bool ambiguous,
                     Position start, Position end);

Expression *build_call(Compiler *c, Expression *callee, Expression **arguments, uint32_t count, Position end);
Expression *build_call_of(Compiler *c, Function *function, Expression *object, Expression **arguments, uint32_t count, Position start,
                          Position end);
// A call of a user-defined operator; NULL if no candidate is viable.
Expression *build_operator_call(Compiler *c, const char *name, Expression *left, Expression *right, Position start, Position end);
Function *resolve_function(Compiler *c, Expression *e, Type *type); // the overload that matches `type`, unless NULL; NULL: none

// ---- initialise.c

// Default-initialisation of an object; NULL leaves its value undefined.
Expression *initialise_default(Compiler *c, Type *type, Position at, const char *what);
Expression *initialise_value(Compiler *c, Type *type, Position start, Position end); // T()
Expression *initialise_copy(Compiler *c, Type *type, Expression *e, const char *purpose); // = e, or = { ... }
Expression *initialise_direct(Compiler *c, Type *type, Expression **arguments, uint32_t count, Position start, Position end);
Expression *initialise_list(Compiler *c, Type *type, Expression *list, const char *purpose); // { ... }
Expression *initialise_record_copy(Compiler *c, Expression *e); // a copy of a record
Type *array_completed(Compiler *c, Type *type, const Expression *initialiser);
void initialise_fields(Compiler *c, Function *constructor); // completes a constructor's member initialiser list

// ---- known_names.c: names of the host's libraries and of old versions of CUDA, for messages

const char *known_usage(const char *name);    // an example call of a function, or NULL
bool is_known_host_function(const char *name);
const char *known_replacement(const char *name); // the replacement of a deprecated name, or NULL
const char *known_unsupported(const char *name); // the replacement of a name that this compiler does not support, or NULL
bool is_known_host_type(const char *name, const char **help); // a type in std
bool is_known_host_object(const char *name, const char **help);
bool is_iostream_name(const char *name); // std::cout and other standard streams

// ---- constants.c

// Evaluates a constant expression; false if the expression is not constant.
bool constant_evaluate(Compiler *c, Expression *e, Constant *value);
bool constant_of_variable(Compiler *c, Variable *variable, Constant *value);
int64_t constant_wrap(const Type *type, int64_t value); // converts to an integer type, modulo 2^width
Constant constant_convert(const Type *from, const Type *to, Constant value);
double constant_rounded(const Type *type, double value);
// The value of a constant condition, for if constexpr and warnings; false if it is not constant.
bool constant_condition(Compiler *c, Expression *e, bool *value);

#endif
