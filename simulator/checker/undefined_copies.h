// undefined_copies.h: what nobody wrote and kernels have put into global memory, until the host gets it.
#ifndef UNDEFINED_COPIES_H
#define UNDEFINED_COPIES_H

#include "checker/kernel_checks.h"

typedef struct Report { // of a finding, before it is one
    FindingKind kind;
    char title[200];
    Place places[2];
    int count;
    const char *hint;
    uint8_t what; // which memory the value came from: a Space
} Report;

typedef enum Matters { // how much of it, where the host gets it
    IN_ROWS, // as many bytes in a row as a line has: threads may have copied structures word by word, and the host uses what is set
    SINGLY,  // each word
    NOWHERE_ELSE // it is the part of a structure, and matters only where a kernel asks for it
} Matters;

// A store has put into these bytes of an allocation what nobody wrote, as an instruction had read it, or what was computed from it.
// False: it is the first time, and who asks has to say what is to be told of it (below). The block's turn has come (sim_await_turn).
bool sim_note_unwritten_copy(const Instr *read, const Instr *store, uint64_t address, size_t bytes, Matters matters);
void sim_tell_of_unwritten_copies(const Instr *read, const Instr *store, uint64_t address, Matters matters, const Report *report);
// What was noted of these bytes is no more: something else has been stored there that is to be told of nobody.
void sim_forget_unwritten_copy(uint64_t address, size_t bytes);
// Whether such a store has gone to this address, and what is to be told of it then.
bool sim_find_unwritten_copy(uint64_t address, Report *report);
// The allocation ends, and what was noted of it.
void sim_end_unwritten_copies(Allocation *a);

#endif
