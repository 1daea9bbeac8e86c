// build.h: the meaning of expressions: typed trees from their parts. Errors are reported, and give unknown expressions.
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
// An lvalue's value: loaded, an array's address, a function's address. A record stays what it is.
Expression *expression_value(Compiler *c, Expression *e);
// A value as an lvalue, in a temporary variable if need be.
Expression *expression_lvalue(Compiler *c, Expression *e);
Type *expression_decayed_type(Compiler *c, const Expression *e); // of expression_value
static inline bool expression_is_unknown(const Expression *e)
{
    return e->kind == EXPRESSION_UNKNOWN || type_is_unknown(e->type);
}
bool expression_is_null_pointer(const Expression *e);
uint32_t expression_length(const Expression *e); // of its text
// Reports an error about an expression's whole text.
void expression_error(Compiler *c, const Expression *e, const char *help, const char *format, ...)
    __attribute__((format(printf, 4, 5)));
// The variable or member that an expression names, for messages; or NULL.
const Name *expression_name(const Expression *e);
const char *expression_text(Compiler *c, const Expression *e); // as the source has it, shortened

// ---- conversions.c

enum { // how well an argument fits a parameter; less is better
    FITS_EXACTLY = 0, FITS_QUALIFIED = 1, FITS_PROMOTED = 2, FITS_CONVERTED = 3, FITS_AS_BOOL = 4, FITS_BY_USER = 5,
    FITS_ELLIPSIS = 6, FITS_NOT = 100
};

int conversion_rank(Compiler *c, Expression *e, Type *to, bool allow_user);
// The implicit conversion; an error says "in PURPOSE" if it is not NULL.
Expression *convert(Compiler *c, Expression *e, Type *to, const char *purpose);
// As a condition: a bool. `what` is "the condition of 'if'".
Expression *convert_to_condition(Compiler *c, Expression *e, const char *what);
typedef enum CastKind { CAST_C, CAST_STATIC, CAST_REINTERPRET, CAST_CONST, CAST_FUNCTIONAL } CastKind;
Expression *cast_to(Compiler *c, Expression *e, Type *to, CastKind kind, Position start, Position end);
Expression *convert_scalar(Compiler *c, Expression *value, Type *to); // between arithmetic types, enumerations and pointers
bool record_derives(const Record *record, const Record *base, uint64_t *offset);
// The value of a record as a scalar, by its conversion function for a type; NULL: it has none.
Expression *convert_by_operator(Compiler *c, Expression *e, Type *to, bool explicit_too);
Expression *convert_to_arithmetic(Compiler *c, Expression *e); // by whatever conversion function there is, or NULL

// ---- operators.c

Expression *build_unary(Compiler *c, uint16_t id, Expression *e, Position start);
Expression *build_binary(Compiler *c, uint16_t id, Expression *left, Expression *right, Position operator_at);
Expression *build_assign(Compiler *c, uint16_t id, Expression *left, Expression *right, Position operator_at);
Expression *build_increment(Compiler *c, Expression *e, bool subtract, bool is_postfix, Position start, Position end);
Expression *build_conditional(Compiler *c, Expression *condition, Expression *yes, Expression *no);
Expression *build_comma(Compiler *c, Expression *left, Expression *right);

// ---- access.c

Expression *build_dereference(Compiler *c, Expression *e, Position start);
Expression *build_address(Compiler *c, Expression *e, Position start);
Expression *build_index(Compiler *c, Expression *e, Expression *index, Position end);
Expression *build_member(Compiler *c, Expression *object, const ParsedName *name, bool arrow, Position at);
Expression *build_field(Compiler *c, Expression *object, Field *field, Position end);
Expression *build_this(Compiler *c, Position start, Position end);
Expression *build_self(Compiler *c, Position start, Position end); // *this, or NULL outside a member
// Reports a structure whose layout is not known, where a kernel uses it.
bool record_is_usable(Compiler *c, const Type *type, Position at, uint32_t length);
Expression *lambda_captured(Compiler *c, Variable *variable, Position start, Position end); // NULL: it needs no capture

// ---- overloads.c, calls.c

typedef struct Candidates {
    Function **functions;
    uint32_t count, capacity;
    bool is_operator;     // the object is the first argument of functions that are no members
    const Template *failed; // a template that did not fit, or NULL
} Candidates;

void overload_add(Compiler *c, Candidates *list, Symbol *symbol, const TemplateArgument *given, uint32_t given_count, Expression **arguments,
                  uint32_t count, Position at);
// The best of them for the arguments, the first of which is the object if `object` is not NULL. NULL: none, or ambiguous.
Function *overload_best(Compiler *c, const Candidates *list, Expression *object, Expression **arguments, uint32_t count, bool allow_user,
                        bool *ambiguous);
void overload_add_associated(Compiler *c, Candidates *list, Name *name, Expression **arguments, uint32_t count, Position at);
void overload_report(Compiler *c, const Candidates *list, const char *what, Expression **arguments, uint32_t count, bool ambiguous,
                     Position start, Position end);

Expression *build_call(Compiler *c, Expression *callee, Expression **arguments, uint32_t count, Position end);
Expression *build_call_of(Compiler *c, Function *function, Expression *object, Expression **arguments, uint32_t count, Position start,
                          Position end);
// A user's operator for the operands, or NULL if there is none that fits.
Expression *build_operator_call(Compiler *c, const char *name, Expression *left, Expression *right, Position start, Position end);
Expression *build_named_call(Compiler *c, const char *function, Expression **arguments, uint32_t count, Position at); // of the library
Function *resolve_function(Compiler *c, Expression *e, Type *type); // the one that a name means, for a type if it is not NULL

// ---- initialise.c

// What an object of a type begins with: NULL leaves it undefined.
Expression *initialise_default(Compiler *c, Type *type, Position at, const char *what);
Expression *initialise_value(Compiler *c, Type *type, Position start, Position end); // T()
Expression *initialise_copy(Compiler *c, Type *type, Expression *e, const char *purpose); // = e, also { }
Expression *initialise_direct(Compiler *c, Type *type, Expression **arguments, uint32_t count, Position start, Position end);
Expression *initialise_list(Compiler *c, Type *type, Expression *list, const char *purpose); // { ... }
Expression *initialise_record_copy(Compiler *c, Expression *e); // a value that is a copy
Type *array_completed(Compiler *c, Type *type, const Expression *initialiser);
void initialise_fields(Compiler *c, Function *constructor); // completes a constructor's list

// ---- known_names.c: of the host, or of old versions of CUDA, for messages

const char *known_usage(const char *name);    // how a function is called, or NULL
bool known_host_function(const char *name);
const char *known_old_name(const char *name); // what to write instead, or NULL
const char *known_unsupported(const char *name); // the same of libraries that this compiler lacks
bool known_host_type(const char *name, const char **help); // of std
bool known_host_object(const char *name, const char **help);
bool known_stream(const char *name); // cout and the like

// ---- constants.c

// The value of a constant expression; false if it is none.
bool constant_evaluate(Compiler *c, Expression *e, Constant *value);
bool constant_of_variable(Compiler *c, Variable *variable, Constant *value);
int64_t constant_wrap(const Type *type, int64_t value); // to an integer type
Constant constant_convert(const Type *from, const Type *to, Constant value);
double constant_rounded(const Type *type, double value);
// A condition's value if it is known, for if constexpr and warnings.
bool constant_condition(Compiler *c, Expression *e, bool *value);

#endif
