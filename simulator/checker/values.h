// values.h: undefined values in registers and in memory.
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
// Called only for a warp with undefined registers: before each instruction; after each plain instruction; before each shuffle.
void sim_check_undefined_uses(Warp *w, const Instr *i);
void sim_propagate_values(Warp *w, const Instr *i, uint32_t mask);
void sim_propagate_shuffle(Warp *w, const Instr *i, uint32_t mask);
void sim_clear_values(Warp *w); // value_table.c: forgets all undefined values of the warp

// ---- undefined_copies.c: undefined values in global memory

// These bytes are copied to the host: reports undefined values that kernels have stored there. Returns whether there are any.
bool sim_report_undefined_copies(uint64_t address, size_t bytes);
// Copies the notes on undefined values together with the bytes of a device-to-device copy.
void sim_propagate_undefined(uint64_t to, uint64_t from, size_t bytes);

#endif
