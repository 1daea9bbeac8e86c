// registers.h: assigns PTX virtual registers to values, and lowers phis to moves (registers.c, for write.c).
#ifndef REGISTERS_H
#define REGISTERS_H

#include "compiler/dominators.h"

typedef enum RegisterClass { PREDICATES, REGISTERS_16, REGISTERS_32, REGISTERS_64, FLOATS_32, FLOATS_64, REGISTER_CLASSES } RegisterClass;

typedef struct RegisterMove {
    uint32_t to;         // register number
    uint32_t from;       // register number; 0: `constant`
    const IrInstruction *constant;
    RegisterClass class;
    struct RegisterMove *next; // executed after this one
} RegisterMove;

typedef struct Registers {
    uint32_t *number;                   // indexed by an instruction's id; from 1; 0: no register
    uint32_t count[REGISTER_CLASSES];   // the highest register number
    RegisterMove **at_start, **at_end;  // indexed by a block's id; at_end: before its terminator
} Registers;

RegisterClass register_class(IrType type);
// False if the instruction has no value, or if the value is written as part of its uses.
bool needs_register(const IrInstruction *value);
// Whether the operand is an address, which may contain a variable's name.
bool is_address_operand(const IrInstruction *user, uint32_t operand);
Registers *assign_registers(IrModule *module, IrFunction *function);

#endif
