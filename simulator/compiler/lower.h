// lower.h: lowers typed trees to the intermediate representation. Variables become allocas with loads and stores, and calls become
// IR_CALLs; the passes optimise them.
#ifndef COMPILER_LOWER_H
#define COMPILER_LOWER_H

#include "compiler/build.h"
#include "compiler/ir.h"

typedef struct Lowering {
    Compiler *compiler;
    IrModule *module;
    IrFunction *function;
    IrBlock *block;      // the current block; if it is terminated, the following code is unreachable
    Function *source;
    IrInstruction *result; // address of the returned record, or NULL
    IrBlock *break_to, *continue_to;
    Function **queue;    // called functions that are still to be lowered
    uint32_t queue_count, queue_capacity;
    uint32_t symbol_capacity, file_capacity;
    uint32_t depth;      // of nested statements and expressions; a, b, c is one in another, too
} Lowering;

typedef struct Address { // address of an lvalue
    IrInstruction *pointer; // in its specific address space
    bool is_volatile;
    uint32_t alignment; // known alignment of a structure member; 0: that of the type
} Address;

// ---- lower.c

// Lowers the kernels of a program and the functions that they call. False after an error.
bool lower_program(Compiler *c, IrModule *module);
IrFunction *lower_function_for(Lowering *l, Function *function); // the callee of a call; queues its body
// Around the lowering of what may contain its own kind. Abandons the compilation with an error at `at` if this is nested too deeply.
void lower_enter(Lowering *l, Position at);
void lower_leave(Lowering *l);
void lower_set_line(Lowering *l, Position position);
void lower_error(Lowering *l, Position at, Position end, const char *help, const char *format, ...) __attribute__((format(printf, 5, 6)));
IrInstruction *lower_emit(Lowering *l, IrOp op, IrType type, uint32_t count, IrInstruction *const *operands);
IrInstruction *lower_emit1(Lowering *l, IrOp op, IrType type, IrInstruction *a);
IrInstruction *lower_emit2(Lowering *l, IrOp op, IrType type, IrInstruction *a, IrInstruction *b);
IrInstruction *lower_integer(Lowering *l, IrType type, int64_t value);
IrInstruction *lower_alloca(Lowering *l, uint64_t bytes, uint32_t alignment);
IrBlock *lower_block(Lowering *l);
void lower_jump(Lowering *l, IrBlock *to);
void lower_branch(Lowering *l, IrInstruction *condition, IrBlock *if_true, IrBlock *if_false);

// ---- lower_types.c

IrType lower_type(const Type *type);  // type of a value in a register
uint64_t lower_size(const Type *type);
uint32_t lower_alignment(const Type *type);

// ---- lower_symbols.c

IrInstruction *lower_variable(Lowering *l, Variable *variable, const Expression *use); // the variable's address
IrInstruction *lower_string(Lowering *l, const char *text, uint64_t length);
void lower_symbols_of_program(Lowering *l);
void lower_shared(Lowering *l, Variable *v); // called in declaration order, which is that of their addresses

// ---- lower_memory.c

Address lower_lvalue(Lowering *l, Expression *e);
IrInstruction *lower_pointer(Lowering *l, Expression *e); // a pointer value, in its known address space
IrInstruction *lower_generic(Lowering *l, IrInstruction *pointer);
IrInstruction *lower_offset(Lowering *l, IrInstruction *pointer, int64_t bytes);
// Pointer arithmetic: `pointer`, of this pointer type, plus or minus `index` elements.
IrInstruction *lower_moved(Lowering *l, IrInstruction *pointer, const Type *type, bool subtract, IrInstruction *index, const Type *index_type);
Address lower_part(Lowering *l, Address address, const Type *structure, uint64_t offset); // a member's address, or that of padding
uint8_t lower_space(const IrInstruction *pointer);                                          // the state space that it is known to point to
IrInstruction *lower_load(Lowering *l, Address address, Type *type);
void lower_store(Lowering *l, Address address, Type *type, IrInstruction *value);
// Initialises the object at an address; NULL leaves it undefined.
void lower_initialisation(Lowering *l, Address address, Type *type, Expression *e);
void lower_zero(Lowering *l, Address address, Type *type);

// ---- lower_copies.c

void lower_copy(Lowering *l, Address to, Address from, Type *type);
// Assigns a record, as nvcc does: it is loaded before the left side is evaluated, if it is copied member by member.
// is_value: what a call returned, whose padding is undefined. is_left_plain: evaluating the left side has no effects.
Address lower_assign_record(Lowering *l, Expression *assignment, Address from, bool is_value, bool is_left_plain);
// Initialises an object that is passed or returned by value.
void lower_passed(Lowering *l, Address to, Type *type, Expression *e);

// ---- lower_values.c

IrInstruction *lower_value(Lowering *l, Expression *e); // the value of a scalar; NULL for void
IrInstruction *lower_condition(Lowering *l, Expression *e); // IR_PRED
void lower_condition_to(Lowering *l, Expression *e, IrBlock *if_true, IrBlock *if_false);
void lower_discarded(Lowering *l, Expression *e); // for side effects only
// Lowers an assignment, with one evaluation of the left operand. Returns its address; sets *value to the expression's value, or to NULL
// for a record.
Address lower_assignment(Lowering *l, Expression *e, IrInstruction **value);
IrInstruction *lower_convert(Lowering *l, IrInstruction *value, Type *from, Type *to);
IrInstruction *lower_binary(Lowering *l, uint8_t kind, Type *type, IrInstruction *a, IrInstruction *b);

// ---- lower_calls.c, lower_intrinsics.c, lower_asm.c

IrInstruction *lower_call(Lowering *l, Expression *e, const Address *result); // result: address for a returned record, or NULL
void lower_construct(Lowering *l, Expression *e, Address address);
IrInstruction *lower_intrinsic(Lowering *l, Expression *e);
void lower_asm(Lowering *l, Expression *e);

// ---- lower_statements.c

void lower_statement(Lowering *l, Statement *s);

#endif
