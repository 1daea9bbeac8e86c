// values.h: which values are undefined, in registers and in global memory.
#ifndef VALUES_H
#define VALUES_H

#include "machine/observer.h"

// ---- values.c, value_results.c: undefined values in registers

// A load has read unwritten bytes, or the warp has undefined registers: sets which destination registers are undefined.
void sim_note_loaded(Warp *w, const Instr *i, const Access *access);
// Lanes of a shuffle have read lanes that do not execute it: their results are undefined.
void sim_note_inactive_sources(Warp *w, const Instr *i, uint32_t mask);
// An atomic operation reads unwritten bytes.
void sim_report_uninitialised(Warp *w, const Instr *i, const Access *access);
// For a warp with undefined registers: before each instruction; after a plain one; before a shuffle.
void sim_check_undefined_uses(Warp *w, const Instr *i);
void sim_propagate_values(Warp *w, const Instr *i, uint32_t mask);
void sim_propagate_shuffle(Warp *w, const Instr *i, uint32_t mask);
void sim_clear_values(Warp *w); // value_table.c

// ---- undefined_copies.c: undefined values in global memory

// These bytes are copied to the host: reports undefined values that a kernel stored there; returns whether there are any.
bool sim_check_result(uint64_t address, size_t bytes);
// The device has copied these bytes.
void sim_move_undefined_copies(uint64_t to, uint64_t from, size_t bytes);

#endif
