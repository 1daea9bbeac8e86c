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
// Called only for a warp with undefined registers, with the lanes that execute the instruction: reports uses, before it; propagates undefined
// values to its result, before it; propagates them through a store, after it.
void sim_check_undefined_uses(Warp *w, const Instr *i, uint32_t mask);
void sim_propagate_values(Warp *w, const Instr *i, uint32_t mask);
void sim_propagate_store(Warp *w, const Instr *i, uint32_t mask);
// The same for a warp-level operation whose lanes are at different instructions; `run` executes it for all of them.
void sim_propagate_gathered(Warp *w, const Instr *i, uint32_t mask, Handler *run);
// Copies an argument or result of a call: its addresses in two frames, for the first lane.
void sim_propagate_call(Warp *w, const uint8_t *to, const uint8_t *from, size_t bytes, uint32_t mask);
// The lanes whose predicate a barrier combines, and that are undefined; and the barrier's result for a split.
uint32_t sim_note_barrier_operand(Warp *w, const Instr *i, uint32_t mask);
void sim_set_barrier_result(Warp *w, const WarpSplit *p, const Instr *i, bool is_defined);
void sim_clear_values(Warp *w); // value_table.c: forgets all undefined values of the warp

// ---- undefined_copies.c: undefined values in global memory

// These bytes are copied to the host: reports undefined values that kernels have stored there. Returns whether there are any.
bool sim_report_undefined_copies(uint64_t address, size_t bytes);
// Copies the notes on undefined values together with the bytes of a device-to-device copy.
void sim_propagate_undefined(uint64_t to, uint64_t from, size_t bytes);

#endif
