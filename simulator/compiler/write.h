// write.h: the PTX writer: write.c (modules, functions, blocks), write_instruction.c (operations)
// and write_template.c (PTX templates of intrinsics).
#ifndef WRITE_H
#define WRITE_H

#include "compiler/registers.h"

enum { MAX_NAME = 96 };

typedef struct Name { // the text of an operand
    char text[MAX_NAME];
} Name;

typedef struct Writer {
    FILE *out;
    IrModule *module;
    const IrFunction *function;
    Registers *registers;
    uint32_t function_number; // part of labels
    uint32_t *local_offset;   // indexed by an alloca's id: byte offset in the function's local depot
    uint32_t local_bytes;
    uint32_t line, file;      // the last .loc written
    uint32_t scratch[REGISTER_CLASSES]; // highest register number used so far, including scratch registers
} Writer;

Name register_name(RegisterClass class, uint32_t number);
uint32_t scratch_register(Writer *w, RegisterClass class);
// The text of an operand: a register, or an immediate for a constant.
Name operand_name(Writer *w, const IrInstruction *value);
// A register with the value; constants and addresses are moved to one first.
Name operand_in_register(Writer *w, const IrInstruction *value);
Name result_name(Writer *w, const IrInstruction *i);
// Writes "[register+bytes]".
void write_address(Writer *w, char *text, size_t capacity, const IrInstruction *pointer, int64_t bytes);
const char *space_suffix(IrSpace space); // ".global", ...; "" if it is generic
const char *bits_suffix(IrType type);    // b32, b64, ..., pred
const char *number_suffix(IrType type, bool is_signed);  // s32, u64, f32, ...
const char *memory_suffix(IrType type, bool is_signed);  // type suffix of a load or store

void write_instruction(Writer *w, const IrInstruction *i);
void write_intrinsic(Writer *w, const IrInstruction *i);

#endif
