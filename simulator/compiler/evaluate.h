// evaluate.h: an interpreter of typed trees, for constant expressions and host code (host.h).
//
// An object is a Variable of its own with bytes; a pointer is a Constant with that variable and an offset. In an object's
// bytes a pointer is the address of such a Constant, or 0.
#ifndef COMPILER_EVALUATE_H
#define COMPILER_EVALUATE_H

#include "compiler/build.h"

typedef struct Frame { // a call
    struct Frame *outer;
    Function *function;
    Variable **variables; // of the function
    Variable **objects;   // what each is in this call
    uint32_t count, capacity, object_capacity;
    const Expression *call;
    Constant result;      // of a scalar; a reference is a pointer
    Variable *result_object; // of a record
} Frame;

typedef struct Evaluator {
    Compiler *compiler;
    struct Host *host; // of host code; NULL: a constant expression
    Frame *frame;  // NULL: outside of functions
    uint64_t steps;
    uint32_t depth;
    const char *reason; // why there is no value, or NULL
    Position at;
    uint32_t length; // of the text at that position; 0: unknown
} Evaluator;

// All give false if there is no value; .reason and .at then say why.
bool evaluate_scalar(Evaluator *v, Expression *e, Constant *value);
bool evaluate_lvalue(Evaluator *v, Expression *e, Constant *address);
bool evaluate_assignment(Evaluator *v, Expression *e, Constant *address, Constant *value); // evaluates the left operand once
// Writes the value of an expression, of any type, to an object.
bool evaluate_into(Evaluator *v, Expression *e, Constant address, Type *type);
bool evaluate_call(Evaluator *v, Expression *call, Constant *value, Constant *object);
bool evaluate_fail(Evaluator *v, const Expression *e, const char *reason);
bool evaluate_step(Evaluator *v, const Expression *e); // false: there were too many
bool evaluate_read(Evaluator *v, const Expression *e, Constant address, Type *type, Constant *value);
bool evaluate_write(Evaluator *v, const Expression *e, Constant address, Type *type, const Constant *value);
Variable *evaluate_object(Evaluator *v, Type *type); // a new one, zeroed
typedef enum Flow { FLOW_NEXT, FLOW_BREAK, FLOW_CONTINUE, FLOW_RETURN, FLOW_FAILED } Flow;
Flow evaluate_statement(Evaluator *v, Statement *s);

#endif
