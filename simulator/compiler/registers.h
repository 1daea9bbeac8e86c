// registers.h: which virtual register of PTX holds which value, and the moves that phis become (registers.c, for write.c).
#ifndef REGISTERS_H
#define REGISTERS_H

#include "compiler/dominators.h"

typedef enum RegisterClass { PREDICATES, REGISTERS_16, REGISTERS_32, REGISTERS_64, FLOATS_32, FLOATS_64, REGISTER_CLASSES } RegisterClass;

typedef struct RegisterMove {
    uint32_t to;         // register
    uint32_t from;       // register, or 0: the constant
    const IrInstruction *constant;
    RegisterClass class;
    struct RegisterMove *next; // executed after this one
} RegisterMove;

typedef struct Registers {
    uint32_t *number;                   // of an instruction's id, from 1 on; 0: it has no register
    uint32_t count[REGISTER_CLASSES];   // the highest number
    RegisterMove **at_start, **at_end;  // of a block's id; at_end: before its terminator
} Registers;

RegisterClass register_class(IrType type);
// Whether its value is in a register: not if it has none, or if it is written as part of its uses.
bool needs_register(const IrInstruction *value);
// Whether the operand is an address, so that a variable's name may stand in it.
bool is_address_operand(const IrInstruction *user, uint32_t operand);
Registers *assign_registers(IrModule *module, IrFunction *function);

#endif
