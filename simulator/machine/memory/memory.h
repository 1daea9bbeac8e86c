// memory.h: allocations, address spaces, and the checks of every access.
#ifndef MEMORY_H
#define MEMORY_H

#include "front/program.h"
#include "base/platform.h"
#include "machine/memory/address_pattern.h"

// ---- lock.c

// One recursive lock for all state shared by host threads: allocations and their contents, the runtime's handles, limits and
// kernel attributes. A launch holds it, so that the device runs one kernel at a time.
Lock *sim_lock_memory(void);
void sim_unlock_memory(Lock **lock);

// Holds the lock of lock.c until the end of the enclosing scope.
#define LOCK_MEMORY() \
    __attribute__((cleanup(sim_unlock_memory), unused)) Lock *held_lock = sim_lock_memory()

// ---- allocations.c: memory that a kernel may access

typedef enum MemoryKind {
    DEVICE_MEMORY, PINNED_MEMORY, MANAGED_MEMORY, // cudaMalloc, cudaMallocHost, cudaMallocManaged
    HEAP_MEMORY,                                  // malloc in a kernel
    GRAPH_MEMORY,                                 // a graph's allocation node
    ARRAY_MEMORY,                                 // cudaArray, for textures and surfaces
    RESERVED_MEMORY,                              // cuMemAddressReserve
    HOST_MEMORY, MODULE_MEMORY, PARAMETER_MEMORY  // registered host memory, module variables, kernel arguments
} MemoryKind;

enum { SIM_GRANULE = 2 << 20 };
typedef struct Granule { // SIM_GRANULE bytes of RESERVED_MEMORY
    struct PhysicalMemory *physical; // mapped here, or NULL
    uint32_t readers, writers;       // masks of the devices with these access rights
} Granule;

// Owned by allocations.c, which frees it. The list and all fields are guarded by the lock of lock.c, which a
// launch holds. Its workers read the list and may write two things: last_writer, by the block whose predecessors have all
// ended, and the checker's state, which has its own locks.
typedef struct Allocation {
    uint64_t address;
    uint8_t *memory; // host address
    size_t bytes;
    MemoryKind kind;
    Granule *granules;              // NULL unless RESERVED_MEMORY
    int file;                       // descriptor of the file whose pages are shared with other processes, or negative
    int number;                     // ordinal by creation; -1 for kernel arguments
    uint64_t last_writing_launch;   // last launch that may write to it, or that wrote to it out of bounds
    uint64_t last_reading_launch;   // last launch that read it
    uint64_t last_writer;           // in an ORDERED_EFFECTS launch: 1 + start_index of the last block that wrote to it
    unsigned flags;                 // passed to the allocating call
    cudaMemPool_t pool;             // or NULL
    int device;                     // current device at creation
    uint32_t accessible_by;         // devices whose kernels may access it, one bit each
    size_t row_bytes, row_pitch;    // of pitched memory (cudaMallocPitch); otherwise 0
    const char *call;               // name of the API call that created it, or NULL
    int call_number;                // ordinal of that call among the calls of this function
    int allocation_stack, free_stack; // call sites of checker/host_lines.c, or 0
    struct AllocationCheck *check;  // the checker's state; NULL: not checked
    bool records_uses;              // the observer gets all accesses of kernels: Observer.access_host_shared
    struct CachedDigest *cached_digests; // runtime/work/state.c; allocated with malloc, or NULL
} Allocation;

typedef struct FreedAllocation { // for messages
    uint64_t address;
    size_t bytes;
    MemoryKind kind;
    const char *call, *freed_by;
    int call_number;
    int allocation_stack, free_stack; // as in Allocation
} FreedAllocation;

cudaError_t sim_new_allocation(size_t bytes, MemoryKind kind, void **pointer); // the pointer is a device address
cudaError_t sim_free_allocation(void *pointer, MemoryKind kind); // an error if the memory is of another kind
uint64_t sim_reserve_addresses(size_t bytes, size_t alignment); // 0: out of addresses
// The address of the first byte that is unmapped or that the device may not access; address + bytes if there is none.
uint64_t sim_first_inaccessible(const Allocation *a, int device, uint64_t address, size_t bytes, bool writes);
// Copies its pages to a file that other processes can map, and maps that file instead; false on failure.
bool sim_make_shareable(Allocation *a);
bool sim_map_file(Allocation *a, int file); // maps another process's pages, and takes over the descriptor; false on failure
bool sim_memory_available(int device, size_t bytes); // true if that many bytes are free
void sim_count_memory(int device, int64_t difference); // adds to the bytes in use
void sim_free_all_allocations(void); // of the current device, except variables of modules
// Peer access: whether kernels on `device` may access present and future cudaMalloc memory of `owner`.
void sim_set_peer_access(int owner, int device, bool enabled);
bool sim_has_peer_access(int owner, int device);
bool sim_allocate_variable(Variable *v); // assigns its address; false: out of memory
void sim_free_variable(const Variable *v);
void sim_register_memory(void *pointer, size_t bytes, MemoryKind kind); // memory that the simulator did not allocate
void sim_unregister_memory(void *pointer);
const FreedAllocation *sim_freed_at(uint64_t address); // the allocation freed last that held the address, or NULL
size_t sim_allocated_bytes(void);
enum { SIM_DEFAULT_HEAP_LIMIT = 8 << 20 }; // default limit of malloc in kernels, in bytes
bool sim_set_heap_limit(size_t bytes); // false: a kernel has already called malloc

// ---- allocation_list.c: all allocations by address

// The allocation with the highest start address at or below this address, or NULL.
Allocation *sim_allocation_at(uint64_t address);
Allocation *sim_allocation_above(uint64_t address); // the next one after the address, or NULL
void sim_list_allocation(Allocation *a); // adds it
void sim_unlist_allocation(const Allocation *a);
void sim_reset_writers(void); // of all allocations: sets last_writer to 0

// ---- ranges.c: address ranges of allocations

// Allocates an address range of the device and its memory, and returns the host address, which may differ from `address`.
// NULL: out of memory.
uint8_t *sim_allocate_range(size_t bytes, size_t alignment, bool on_device, uint64_t *address);
// Replaces the allocation's pages by a mapped file with the same contents; returns its descriptor, negative on failure.
int sim_share_pages(const Allocation *a);
bool sim_restore_fill(uint8_t *memory, size_t bytes); // fills it like new device memory; false on failure
// Frees the range of an allocation that is no longer in the list. may_be_reused: the next allocation of this size may get the
// address.
void sim_free_range(uint64_t address, uint8_t *memory, size_t bytes, bool may_be_reused);
bool sim_in_device_range(const void *pointer); // memory that the host must not access
bool sim_in_shared_range(const void *pointer); // memory that host and device may access
void *sim_memory_at(const void *pointer);      // the host address of a pointer that the program uses
// False: the program has replaced the handler that passes the host's faulting accesses to the observer.
bool sim_handles_faults(void);

// ---- spaces.c: address spaces; all accesses of kernels

enum { SHARED_WINDOW_BIT = 60, LOCAL_WINDOW_BIT = 61 };
#define SHARED_WINDOW (1ull << SHARED_WINDOW_BIT) // generic addresses of shared memory
#define LOCAL_WINDOW (1ull << LOCAL_WINDOW_BIT)

// Distributed shared memory: from this bit on, a shared-memory address holds the rank of its block in the cluster plus 1, or 0
// for the executing block. Shared memory of a block is smaller than 2^24 bytes.
enum { RANK_BIT = 24 };
static inline bool sim_has_block_rank(uint64_t address)
{
    return address >> RANK_BIT != 0;
}

// ACCESS_ASYNC_...: by asynchronous copies, whose writes become visible after a wait.
typedef enum AccessKind { ACCESS_READ, ACCESS_WRITE, ACCESS_ATOMIC, ACCESS_ASYNC_READ, ACCESS_ASYNC_WRITE } AccessKind;

static inline bool reads_memory(AccessKind kind)
{
    return kind != ACCESS_WRITE && kind != ACCESS_ASYNC_WRITE;
}

static inline bool writes_memory(AccessKind kind)
{
    return kind != ACCESS_READ && kind != ACCESS_ASYNC_READ;
}

typedef struct Access { // by lanes of one warp, in one address space
    AccessKind kind;
    Space space;                          // not GENERIC
    uint32_t mask;                        // active lanes
    size_t bytes, alignment;              // of each lane; bytes is a power of two except for bulk copies
    _Alignas(64) uint64_t address[LANES]; // in `space`; aligned to the host's cache lines, for vector loads
    Pattern pattern;                      // found by sim_access, like `pointer`
    uint64_t lowest, highest;             // of the active lanes' addresses
    // Masks, SCATTERED only: lanes, even inactive ones, whose address equals the previous lane's, or follows its bytes. 0 if not
    // needed (spaces.c).
    uint32_t same_address, adjacent;
    bool repeated_half;                   // lanes 16 to 31 repeat the addresses of lanes 0 to 15
    AddressPattern *address_pattern;      // of these addresses; NULL unless all lanes are active
    _Alignas(64) uint8_t *pointer[LANES];
    bool has_unwritten;        // the access reads uninitialised bytes
    uint32_t unwritten[LANES]; // a bit for each uninitialised byte
} Access;

// A segment is a sequence of lanes with the same or consecutive addresses. Returns the active lanes that continue the segment
// of the previous lane.
static inline uint32_t sim_continuing_lanes(const Access *access, uint32_t mask)
{
    return access->pattern == SCATTERED ? (access->same_address | access->adjacent) & mask & mask << 1 : mask & (mask - 1);
}

// The first lane of each segment, as a mask. Omits lanes 16 to 31 if they repeat the addresses of the others.
static inline uint32_t sim_segment_starts(const Access *access, uint32_t mask, uint32_t continuing)
{
    const bool repeated_half = access->pattern == SCATTERED && mask == ALL_LANES && access->repeated_half;
    return mask & ~continuing & (repeated_half ? ALL_LANES >> LANES / 2 : ALL_LANES);
}

// The last lane of a segment.
static inline int sim_segment_end(uint32_t continuing, int first)
{
    const uint32_t others = ~(continuing >> first >> 1);
    return others ? first + __builtin_ctz(others) : LANES - 1;
}

// Translates the lanes' addresses, and ends the launch if one is invalid. Every access of a kernel calls this function before it
// reads or writes, except for named arguments (ld.param). Memory semantics and scope are those of the instruction.
void sim_access(Warp *w, const Instr *i, Access *access);
// Checks and translates the access of one lane, like sim_access; the address may be generic.
uint8_t *sim_access_lane(Warp *w, const Instr *i, int lane, Space space, uint64_t address, size_t bytes, size_t alignment,
                         AccessKind kind);

Space sim_space_at(uint64_t address); // of a generic address
uint64_t sim_window(Space space);     // base of its generic addresses; 0 for device memory
// The bits of a generic address that identify the block of shared memory or the thread of local memory, used if the checker
// is enabled.
uint64_t sim_owner_of(const Warp *w, int lane, Space space);
// Converts a generic address to an address in its space.
uint64_t sim_offset_of_generic(uint64_t address);
// Converts a lane's generic address, and reports one of another block's shared or another thread's local memory.
uint64_t sim_resolve_generic(Warp *w, const Instr *i, int lane, uint64_t address);
// Converts the lanes' generic addresses in place, and sets the mask of the lanes in each space.
void sim_split_generic(Warp *w, const Instr *i, uint64_t *address, uint32_t mask, uint32_t masks[SPACES]);
// The addresses of a load, a store or an atomic operation, for all 32 lanes.
void sim_find_addresses(const Warp *w, const Instr *i, uint64_t *address);
uint64_t sim_operand_address(const Warp *w, const Address *operand, int lane);

Handler sim_is_space;

// ---- device.c: the simulated GPU; $SIM_DEVICES identical ones

extern _Thread_local int sim_current_device; // of each host thread: cudaSetDevice
int sim_device_count(void);

typedef struct Device {
    int sm_count, shared_per_block, shared_per_block_optin, shared_per_sm, threads_per_sm, blocks_per_sm,
        registers_per_sm, l2_bytes;
    size_t memory_bytes, host_bytes; // host_bytes: main memory of the host
} Device;

const Device *sim_device(void);
enum {
    SIM_RESERVED_SHARED = 1024, // bytes that the system reserves in each block's shared memory
    SIM_SHARED_UNIT = 128,      // a block's shared memory is allocated in units of so many bytes
};
// Resident blocks of a kernel on one SM (occupancy). Registers are not counted: PTX does not say how many a thread gets.
int sim_blocks_per_sm(const Function *kernel, int threads, size_t dynamic_shared_bytes);

#endif
