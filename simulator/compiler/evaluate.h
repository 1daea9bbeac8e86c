// evaluate.h: an interpreter of typed trees, for constant expressions and host code (host.h).
//
// An object is a new Variable with bytes; a pointer is a Constant with that variable and an offset. In an object's bytes a pointer is
// stored as the address of such a Constant, or 0.
#ifndef COMPILER_EVALUATE_H
#define COMPILER_EVALUATE_H

#include "compiler/build.h"

typedef struct Frame { // a call
    struct Frame *outer;
    Function *function;
    Variable **variables; // the function's variables
    Variable **objects;   // the object of each variable in this call
    uint32_t count, capacity, object_capacity;
    const Expression *call;
    Constant result;      // a scalar; for a reference, a pointer
    Variable *result_object; // a record
} Frame;

typedef struct Evaluator {
    Compiler *compiler;
    struct Host *host; // NULL: a constant expression, not host code
    Frame *frame;  // NULL: outside of functions
    uint64_t steps;
    uint32_t depth;
    const char *reason; // reason for a failure, or NULL
    Position at;
    uint32_t length; // length of the source text at `at`; 0: unknown
} Evaluator;

// All return false on failure, with the reason in `reason` and its position in `at`.
bool evaluate_scalar(Evaluator *v, Expression *e, Constant *value);
bool evaluate_lvalue(Evaluator *v, Expression *e, Constant *address);
bool evaluate_assignment(Evaluator *v, Expression *e, Constant *address, Constant *value); // evaluates the left operand once
// Initialises an object of any type with the value of an expression.
bool evaluate_to_object(Evaluator *v, Expression *e, Constant address, Type *type);
bool evaluate_call(Evaluator *v, Expression *call, Constant *value, Constant *object);
bool evaluate_fail(Evaluator *v, const Expression *e, const char *reason);
bool evaluate_step(Evaluator *v, const Expression *e); // counts a step; false: the limit is exceeded
bool evaluate_read(Evaluator *v, const Expression *e, Constant address, Type *type, Constant *value);
bool evaluate_write(Evaluator *v, const Expression *e, Constant address, Type *type, const Constant *value);
Variable *evaluate_object(Evaluator *v, Type *type); // a new object, zeroed; NULL: too large
typedef enum Flow { FLOW_NEXT, FLOW_BREAK, FLOW_CONTINUE, FLOW_RETURN, FLOW_FAILED } Flow;
Flow evaluate_statement(Evaluator *v, Statement *s);

#endif
