// memory.h: which memory accesses may touch the same bytes (aliases.c), and which write a load sees (memory_versions.c).
#ifndef COMPILER_MEMORY_H
#define COMPILER_MEMORY_H

#include "compiler/passes.h"

typedef struct Location { // bytes that an access touches
    const IrInstruction *root;  // where the address comes from: an argument, symbol, variable, or anything
    const IrInstruction *index; // the innermost IR_OFFSET with an index that differs, or the root: what is added to constants only
    int64_t begin;              // constant bytes from `index`
    uint32_t bytes;             // 0: unknown
    IrSpace space;
} Location;

typedef enum Alias { NO_ALIAS, MAY_ALIAS, SAME_BYTES } Alias;

Location location_of(const IrInstruction *access); // of a load or store, also of vectors
Alias alias(const IrFunction *function, const Location *a, const Location *b);
// Whether an instruction may write bytes of the location.
bool may_write(const IrFunction *function, const IrInstruction *instruction, const Location *location);
bool may_read(const IrFunction *function, const IrInstruction *instruction, const Location *location);
bool is_memory_write(const IrInstruction *instruction); // or orders memory

// ---- memory_versions.c

typedef struct Version { // of memory: after a write, or where several meet
    IrInstruction *writer;      // NULL: a meeting of versions, or the entry
    IrBlock *block;
    struct Version *previous;   // of a writer
    struct Version **incoming;  // of a meeting: one for each predecessor
} Version;

typedef struct MemoryVersions {
    IrFunction *function;
    Version **at_entry, **at_end; // of a block's id
    Version **before;             // of an instruction's id: what it sees; reads and writes only
    uint32_t capacity;
} MemoryVersions;

MemoryVersions *memory_versions_of(IrModule *module, IrFunction *function, const Dominators *d);
// The latest version that may have written the location, seen from `version`.
Version *clobbering_version(const MemoryVersions *m, Version *version, const Location *location);

#endif
