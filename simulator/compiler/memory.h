// memory.h: alias analysis (aliases.c) and memory SSA (memory_versions.c).
#ifndef COMPILER_MEMORY_H
#define COMPILER_MEMORY_H

#include "compiler/passes.h"

typedef struct Location { // the bytes of an access
    const IrInstruction *root;  // the underlying object of the address: an argument, a symbol, an alloca, or another value
    const IrInstruction *index; // the address without its constant offsets: the outermost IR_OFFSET with an index, or the root
    int64_t begin;              // constant offset from `index`, in bytes
    uint32_t bytes;             // 0: unknown
    IrSpace space;
} Location;

typedef enum Alias { NO_ALIAS, MAY_ALIAS, SAME_BYTES } Alias;

Location location_of(const IrInstruction *access); // for a load or store of a scalar or vector
bool is_same_address(const IrInstruction *a, const IrInstruction *b); // the same value or symbol
Alias alias(const IrFunction *function, const Location *a, const Location *b);
// Whether an instruction may write bytes of the location.
bool may_write(const IrFunction *function, const IrInstruction *instruction, const Location *location);
bool may_read(const IrFunction *function, const IrInstruction *instruction, const Location *location);
bool is_memory_write(const IrInstruction *instruction); // writes memory, or orders memory accesses

// ---- memory_versions.c

typedef struct Version { // a version of memory, as in LLVM's MemorySSA: defined by a write, a phi, or the function's entry
    IrInstruction *writer;      // NULL: a phi, or the entry
    IrBlock *block;
    struct Version *previous;   // the version before a write
    struct Version **incoming;  // a phi's versions, one for each predecessor; otherwise NULL
} Version;

typedef struct MemoryVersions {
    IrFunction *function;
    Version **at_entry, **at_end; // indexed by the id of a block
    Version **before;             // indexed by the id of a memory access: the version that it accesses
    uint32_t capacity;
} MemoryVersions;

MemoryVersions *memory_versions_of(IrModule *module, IrFunction *function, const Dominators *d);
// The latest version, up to `version`, whose write may clobber the location.
Version *clobbering_version(const MemoryVersions *m, Version *version, const Location *location);

#endif
