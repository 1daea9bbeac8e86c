// memory.h: what a kernel may touch, and the way there.
#ifndef MEMORY_H
#define MEMORY_H

#include "front/program.h"
#include "base/platform.h"
#include "machine/memory/address_pattern.h"

// ---- lock.c

// One lock for all that host threads share: allocations and what lies in them, the runtime's handles and what they
// stand for, limits, kernels' attributes, and the device itself, which runs one kernel at a time. A thread may take it
// twice.
Lock *sim_lock_memory(void);
void sim_unlock_memory(Lock **lock);

// The lock is held until the function, or the block of statements, ends.
#define HOLD_MEMORY() \
    __attribute__((cleanup(sim_unlock_memory), unused)) Lock *held = sim_lock_memory()

// ---- allocations.c: the memory that a kernel may touch.

typedef enum MemoryKind {
    DEVICE_MEMORY, PINNED_MEMORY, MANAGED_MEMORY, // cudaMalloc's, cudaMallocHost's, cudaMallocManaged's
    HEAP_MEMORY,                                  // malloc's in a kernel
    GRAPH_MEMORY,                                 // of a graph's allocation node
    ARRAY_MEMORY,                                 // of an array, which textures and surfaces show
    RESERVED_MEMORY,                              // addresses of cuMemAddressReserve, whatever is mapped there
    HOST_MEMORY, MODULE_MEMORY, PARAMETER_MEMORY  // the program's own; of variables; of a kernel's arguments
} MemoryKind;

enum { SIM_GRANULE = 2 << 20 };
typedef struct Granule { // so many bytes of RESERVED_MEMORY
    struct Piece *piece;       // of memory that is mapped there, or NULL
    uint32_t readers, writers; // the devices whose kernels may do so, a bit each
} Granule;

// In the list of allocations.c, which frees it; the list, and all that is said here of one, is under the lock of
// lock.c. A launch holds it meanwhile, and the host threads that run its blocks read the list; of what they write here
// `writer` is the block's whose turn it is, and the checker's lines have a lock each (ShadowLine.busy).
typedef struct Allocation {
    uint64_t address;
    uint8_t *memory; // where it lies in this process
    size_t bytes;
    MemoryKind kind;
    Granule *granules; // of RESERVED_MEMORY; else NULL
    int file;          // whose pages it shows, as other processes may; else negative
    int number; // of those that are no kernel's arguments, in the order in which they were made
    uint64_t changes_in; // the last launch that may write here, or has by going astray
    uint64_t read_in;    // the last launch that read here
    uint64_t writer; // of an IN_TURN launch: 1 + the place of the last block that wrote here
    unsigned flags;  // that the program asked for it with
    cudaMemPool_t pool; // that it came from, or NULL
    int device;         // that was current when it was made
    uint32_t open_to;   // the devices whose kernels may touch it, a bit each
    struct ShadowLine *lines; // what kernels did to it, for the checker; NULL: nothing as yet
    uint32_t *fully_written; // of the checker's lines: 0, or somebody has written all of it, and it is SETTLED, or the run in which
                       // who reads it tells nothing new; made with `lines`
    atomic_bool lines_grew; // some of these lines have memory of their own
    atomic_uint written_in; // the run (clocks.h) of the last kernel that wrote to it
    size_t row_bytes, row_pitch; // of rows whose pitch CUDA chose; else 0
    const char *call;   // the program's, that made it, or NULL,
    int call_number;    // and how many of these there were by then
    uint8_t *unwritten_bytes[2]; // of checker/undefined_copies.c, a bit for each byte; or NULL
    struct Uses *uses;  // of checker/memory_uses.c, of what host and device share; or NULL
    struct Shadow *shadow; // of checker/dynamic_parallelism.c, or NULL
    struct KnownPiece *known; // of runtime/work/state.c, by free(); or NULL
} Allocation;

typedef struct Freed { // what an allocation was
    uint64_t address;
    size_t bytes;
    const char *call, *freed_by;
    int call_number;
} Freed;

cudaError_t sim_new_allocation(size_t bytes, MemoryKind kind, void **pointer); // the pointer that the program gets
cudaError_t sim_end_allocation(void *pointer, MemoryKind kind); // an error if it is of another kind
uint64_t sim_reserve_addresses(size_t bytes, size_t alignment); // 0 where there are none
// Where the first of these bytes of an allocation lies that no memory is mapped for, or that the device may not use so;
// their end, if there is none.
uint64_t sim_first_closed(const Allocation *a, int device, uint64_t address, size_t bytes, bool writes);
// From now on its pages are a file's, with what they hold, that other processes may show, too. False where that cannot be.
bool sim_share_allocation(Allocation *a);
bool sim_show_file(Allocation *a, int file); // another process's, which is closed with it; false: it cannot be shown
bool sim_has_memory(int device, size_t bytes);         // so many bytes that nobody has
void sim_count_memory(int device, int64_t difference); // of what is allocated
void sim_end_all_allocations(void); // of the current device, all but modules'
// Whether a device's kernels may touch what another's cudaMalloc gives, now and later.
void sim_open_memory(int owner, int device, bool open);
bool sim_is_open(int owner, int device);
bool sim_place_variable(Variable *v);                           // gives it its address; false without memory
void sim_end_variable(const Variable *v);                       // which has been placed
void sim_register_memory(void *pointer, size_t bytes, MemoryKind kind); // memory that others have allocated
void sim_unregister_memory(void *pointer);                              // which has been registered
// The allocation that holds the address, or the next below it, or NULL.
Allocation *sim_allocation_at(uint64_t address);
Allocation *sim_allocation_above(uint64_t address); // the next one that begins above it, or NULL
const Freed *sim_freed_at(uint64_t address); // that held the address, and was freed last; NULL if that is not known
void sim_forget_writers(void);
size_t sim_allocated_bytes(void);
enum { SIM_USUAL_HEAP = 8 << 20 }; // bytes that malloc in kernels gives at most
bool sim_set_heap_limit(size_t bytes); // false: a kernel has called malloc already

// ---- ranges.c: where allocations lie.

// Finds an address for so many bytes, and the memory that belongs to it, which may lie elsewhere in this process. NULL
// without memory.
uint8_t *sim_take_memory(size_t bytes, size_t alignment, bool on_device, uint64_t *address);
int sim_share_pages(const Allocation *a); // a file in their place, with what they hold; negative where that cannot be
bool sim_make_fresh(uint8_t *memory, size_t bytes); // of the device, as if nobody had written it; false where that fails
// Of an allocation that is off the list. Its address may be given again soon, to as many bytes, where that is said.
void sim_return_memory(uint64_t address, uint8_t *memory, size_t bytes, bool may_come_again);
bool sim_in_device_range(const void *pointer); // where the host must not read or write
bool sim_in_shared_range(const void *pointer); // that both may touch
void *sim_memory_at(const void *pointer);      // where the bytes lie that the program knows under this pointer

// ---- faults.c: the host's accesses of what it must not touch.

bool sim_handle_faults(void);  // from now on: the observer learns of them
bool sim_handles_faults(void); // the program has not put a handler of its own in place of the simulator's

// ---- spaces.c: address spaces, and the way to memory.

enum { SHARED_WINDOW_BIT = 60, LOCAL_WINDOW_BIT = 61 };
#define SHARED_WINDOW (1ull << SHARED_WINDOW_BIT) // generic addresses of shared memory
#define LOCAL_WINDOW (1ull << LOCAL_WINDOW_BIT)

// ASYNC: of a copy that goes on by itself. What it writes is there when it has been waited for.
typedef enum AccessKind { ACCESS_READ, ACCESS_WRITE, ACCESS_ATOMIC, ACCESS_ASYNC_READ, ACCESS_ASYNC_WRITE } AccessKind;

typedef struct Access { // by some lanes of a warp, to one address space
    AccessKind kind;
    Space space;  // not GENERIC
    uint32_t mask; // the lanes
    size_t bytes, alignment; // of each lane; a power of two, but for copies of the copy engine
    _Alignas(64) uint64_t address[LANES]; // in the space; in whole lines of the host's cache: where a vector lies in
                                          // two, whoever reads what has just been written there waits
    Pattern pattern;         // sim_access finds it, and where the bytes lie in this process
    uint64_t least, most;    // of the addresses of the lanes
    uint32_t alike, beside;  // SCATTERED: the lanes with the address of the lane before, and those right behind its
                             // bytes; of lanes that are off, too. None where nobody asks: see spaces.c
    bool twice;              // lanes 16 to 31 have the addresses of lanes 0 to 15
    AddressPattern *layout;            // that these addresses have, if all lanes are on; else NULL
    _Alignas(64) uint8_t *pointer[LANES];
    bool has_unwritten;        // of what it reads nobody wrote these bytes, a bit each
    uint32_t unwritten[LANES];
} Access;

// Lanes lie in pieces: in one place, or side by side. Of the lanes that are on, those that go on where the lane before
// is; the others are the first ones.
static inline uint32_t sim_following_lanes(const Access *access, uint32_t mask)
{
    return access->pattern == SCATTERED ? (access->alike | access->beside) & mask & mask << 1 : mask & (mask - 1);
}

// The first lanes of pieces in which all addresses are.
static inline uint32_t sim_first_lanes(const Access *access, uint32_t mask, uint32_t following)
{
    const bool twice = access->pattern == SCATTERED && mask == ALL_LANES && access->twice;
    return mask & ~following & (twice ? ALL_LANES >> LANES / 2 : ALL_LANES);
}

// The last lane of a piece.
static inline int sim_end_of_piece(uint32_t following, int first)
{
    const uint32_t others = ~(following >> first >> 1);
    return others ? first + __builtin_ctz(others) : LANES - 1;
}

// Whatever a kernel reads or writes in memory goes through this function, before it is read or written: it finds
// where the lanes' bytes lie, and ends the launch where they lie nowhere. (A kernel's arguments that ld.param
// names are no memory.) The instruction tells semantics and scope.
void sim_access(Warp *w, const Instr *i, Access *access);
// The same for one lane and an address that may be generic.
uint8_t *sim_access_lane(Warp *w, const Instr *i, int lane, Space space, uint64_t address, size_t bytes, size_t alignment,
                         AccessKind kind);

Space sim_space_at(uint64_t address); // of a generic one
uint64_t sim_window(Space space);     // where its generic addresses begin; 0 of device memory
// What a generic address of the lane's block, or of the lane's own local memory, has added beside the window: whose it
// is, where the program is checked.
uint64_t sim_owner_of(const Warp *w, int lane, Space space);
// The address in its space that a generic one stands for.
uint64_t sim_offset_of_generic(uint64_t address);
// The same where a lane uses it: it is a finding if it is another block's, or another thread's.
uint64_t sim_use_generic(Warp *w, const Instr *i, int lane, uint64_t address);
// Makes generic addresses, which lanes use, those of their spaces, and tells which lanes are in each.
void sim_split_generic(Warp *w, const Instr *i, uint64_t *address, uint32_t mask, uint32_t in[SPACES]);
// The addresses that a load, a store or an atomic operation has in each of the 32 lanes.
void sim_find_addresses(const Warp *w, const Instr *i, uint64_t *address);
// The address that an operand in brackets has in a lane.
uint64_t sim_operand_address(const Warp *w, const Address *operand, int lane);

Handler sim_is_space;

// ---- device.c: the GPU that is reported, $SIM_DEVICES of them, all alike.

extern _Thread_local int sim_current_device; // of a host thread: cudaSetDevice
int sim_device_count(void);

typedef struct Device {
    int sm_count, shared_per_block, shared_per_block_optin, shared_per_sm, threads_per_sm, blocks_per_sm,
        registers_per_sm, l2_bytes;
    size_t memory_bytes, host_bytes; // the second: of the machine that it is in
} Device;

const Device *sim_device(void);
enum { SIM_RESERVED_SHARED = 1024 }; // bytes of shared memory that each block takes for the system
// How many blocks of a kernel an SM holds at once.
int sim_blocks_per_sm(const Function *kernel, int threads, size_t dynamic_bytes);

#endif
