// ranges.c: allocates from two address ranges, which are reserved once.
//
// Pages at device addresses have no access rights, so a host access to them faults, which is passed to the observer. The contents are in other pages, at
// a constant distance. Memory shared by host and device is mapped at both addresses, so that the simulator can access it
// while the checker protects the host's pages.
//
// New device memory is filled with POISON, so that an uninitialised read yields the same wrong result in every run. Its
// pages map one file of poison copy-on-write, so that unused memory takes no space. Memory that the host may access starts
// as zeros, like new pages on any machine; uninitialised reads of it are not detected.
//
// A host without virtual memory cannot reserve addresses. There, device addresses are numbers outside of host memory, and
// each allocation has its own memory.
#include "machine/observer.h"
#include "base/platform.h"

#include <stdlib.h>
#include <string.h>

enum { MAP_BYTES = 4 << 20, POISON = 0xff };
enum { MIN_ALIGNMENT = 512 }; // of cudaMalloc

typedef struct Range {
    uint64_t begin, end;
    uint8_t *memory; // host address of `begin`
    size_t mapped;   // bytes from `begin` that are usable so far
    uint64_t next;   // end of the last allocation
    int fill;        // byte with which new memory is filled
} Range;

static Range device_range, shared_range; // device memory; memory that the host may access, too
static bool reserved; // pages of both ranges are reserved
static int poison_file;

// Device addresses on a host without virtual memory.
static const uint64_t DEVICE_BEGIN = sizeof(void *) == 4 ? 0x80000000 : 1ull << 48,
                      DEVICE_BYTES = sizeof(void *) == 4 ? 0x7ff00000 : 1ull << 40;

static void set_range(Range *range, uint8_t *addresses, uint8_t *memory, size_t bytes, int fill)
{
    const uint64_t begin = (uint64_t)(uintptr_t)addresses;
    // The range starts before the first allocation: the host's free() reads bytes before a pointer that it gets.
    *range = (Range){.begin = begin, .end = begin + bytes, .memory = memory, .next = begin + MIN_ALIGNMENT, .fill = fill};
}

static void copy_shared(uint8_t *to, const uint8_t *from)
{
    for (const Allocation *a = sim_allocation_above(0); a; a = sim_allocation_above(a->address))
        if (sim_in_shared_range((const void *)(uintptr_t)a->address))
            memcpy(to + (a->address - shared_range.begin), from + (a->address - shared_range.begin), a->bytes);
}

// Runs in the child after fork: replaces pages shared with the parent by private copies.
static void unshare_after_fork(void)
{
    if (shared_range.mapped == 0)
        return;
    uint8_t *saved = sim_allocate_zeroed(shared_range.mapped);
    if (!saved)
        sim_die("out of memory: address ranges of the parent process");
    copy_shared(saved, shared_range.memory);
    if (!sim_map_twice(shared_range.memory, (void *)(uintptr_t)shared_range.begin, shared_range.mapped))
        sim_die("out of memory: address ranges of the parent process");
    copy_shared(shared_range.memory, saved);
    sim_free_zeroed(saved, shared_range.mapped);
}

// ---- Host accesses

bool sim_in_device_range(const void *pointer)
{
    return (uint64_t)(uintptr_t)pointer - device_range.begin < device_range.end - device_range.begin;
}

bool sim_in_shared_range(const void *pointer)
{
    return reserved && (uint64_t)(uintptr_t)pointer - shared_range.begin < shared_range.end - shared_range.begin;
}

// Runs synchronously on the faulting thread, so the observer may print.
static bool explain_fault(const void *address, bool writes, const void *instruction, bool is_last)
{
    return (sim_in_device_range(address) || sim_in_shared_range(address)) && sim_observer.host_access &&
           sim_observer.host_access((uint64_t)(uintptr_t)address, writes, instruction, is_last);
}

bool sim_handles_faults(void)
{
    return sim_owns_fault_handler();
}

// ---- Reservation

static bool reserve_ranges(void)
{
    const size_t bytes =
        (2 * sim_device()->memory_bytes / MAP_BYTES + 1) * MAP_BYTES; // twice the memory, for fragmentation
    uint8_t *addresses = sim_reserve_pages(bytes), *memory = sim_reserve_pages(bytes),
            *shared = sim_reserve_pages(bytes), *shared_memory = sim_reserve_pages(bytes);
    poison_file = sim_make_fill_file(POISON, MAP_BYTES);
    if (!addresses || !memory || !shared || !shared_memory || poison_file < 0)
        return false;
    set_range(&device_range, addresses, memory, bytes, POISON);
    set_range(&shared_range, shared, shared_memory, bytes, 0);
    return sim_after_fork_in_child(unshare_after_fork) && sim_install_fault_handler(explain_fault);
}

static bool ensure_reserved(void)
{
    static bool tried;
    if (!tried)
        reserved = reserve_ranges();
    if (!tried && !sim_has_pages())
        device_range = (Range){.begin = DEVICE_BEGIN, .end = DEVICE_BEGIN + DEVICE_BYTES, .next = DEVICE_BEGIN + MIN_ALIGNMENT};
    if (!tried && !reserved && sim_has_pages())
        fprintf(stderr,
                "simulator: no addresses can be reserved: the host's accesses of device memory are not found\n");
    tried = true;
    return reserved;
}

static uint64_t round_up(uint64_t number, uint64_t unit)
{
    return (number + unit - 1) / unit * unit;
}

// Makes the first `bytes` of the range's memory usable.
static bool map_memory(Range *range, size_t bytes)
{
    const size_t step = range->fill == POISON ? MAP_BYTES : round_up(bytes, MAP_BYTES) - range->mapped;
    for (; range->mapped < bytes; range->mapped += step) {
        uint8_t *memory = range->memory + range->mapped;
        if (!(range->fill == POISON ? sim_map_private(memory, MAP_BYTES, poison_file, 0)
                                     : sim_map_twice(memory, (uint8_t *)(uintptr_t)range->begin + range->mapped, step)))
            return false;
    }
    return true;
}

// The address of the first gap at or after `from` that holds the bytes and one unallocated byte after them; 0 if there is none.
static uint64_t find_gap(const Range *range, uint64_t from, size_t bytes, size_t alignment)
{
    for (uint64_t at = round_up(from, alignment); at < range->end && bytes < range->end - at;) {
        const Allocation *overlapping = sim_allocation_at(at + bytes);
        if (!overlapping || overlapping->address + overlapping->bytes < at || overlapping->address < range->begin)
            return at;
        at = round_up(overlapping->address + overlapping->bytes + 1, alignment);
    }
    return 0;
}

// Finds a gap and maps its memory; 0 on failure.
static uint64_t allocate_gap(Range *range, uint64_t from, size_t bytes, size_t alignment)
{
    const uint64_t address = find_gap(range, from, bytes, alignment);
    if (address == 0 || (reserved && !map_memory(range, address - range->begin + bytes)))
        return 0;
    range->next = bytes < sim_page_bytes() ? address + bytes : round_up(address + bytes, sim_page_bytes());
    return address;
}

// A freed address is not reused at once, so that a use after free is detected. But a loop that allocates and frees one size
// should get few different addresses, so that its launches can be memoised (repeats.c).
enum { MIN_FREES_TO_REUSE = 6, MIN_UNUSED = 2, MAX_FREED = 64 };
static struct FreedRange {
    uint64_t address;
    size_t bytes;
    int free_count; // number of ranges of this size freed so far, including this one
} freed[MAX_FREED]; // oldest first; guarded by the lock of lock.c
static int freed_count;

static void remove_freed(int number)
{
    memmove(&freed[number], &freed[number + 1], (size_t)(--freed_count - number) * sizeof *freed);
}

static void record_freed(uint64_t address, size_t bytes)
{
    int free_count = 1;
    for (int k = 0; k < freed_count; k++)
        if (freed[k].bytes == bytes)
            free_count = freed[k].free_count + 1;
    for (int k = freed_count; k-- > 0;)
        if (freed[k].address == address || freed_count == MAX_FREED)
            remove_freed(freed[k].address == address ? k : 0);
    freed[freed_count++] = (struct FreedRange){address, bytes, free_count};
}

static bool can_reuse(const Range *range, int number, size_t bytes, size_t alignment)
{
    const uint64_t address = freed[number].address;
    return freed[number].bytes == bytes && address - range->begin < range->end - range->begin &&
           find_gap(range, address, bytes, alignment) == address;
}

// The least recently freed address of this size, if the size was freed at least MIN_FREES_TO_REUSE times and more than
// MIN_UNUSED such addresses are free; otherwise 0.
static uint64_t reuse_freed(const Range *range, size_t bytes, size_t alignment)
{
    int oldest = 0, count = 0, free_count = 0;
    for (int k = freed_count; k-- > 0;)
        if (can_reuse(range, k, bytes, alignment)) {
            oldest = k;
            count++;
            free_count = free_count > freed[k].free_count ? free_count : freed[k].free_count;
        }
    if (count <= MIN_UNUSED || free_count < MIN_FREES_TO_REUSE)
        return 0;
    const uint64_t address = freed[oldest].address;
    remove_freed(oldest);
    return address;
}

// A free address in the range, or 0. If the range has no unused addresses left, reuses any freed one.
static uint64_t allocate_addresses(Range *range, size_t bytes, size_t alignment)
{
    const uint64_t reused = reuse_freed(range, bytes, alignment);
    if (reused)
        return reused;
    const uint64_t address = allocate_gap(range, range->next, bytes, alignment);
    return address ? address : allocate_gap(range, range->begin, bytes, alignment);
}

static uint8_t *allocate_unmapped(size_t bytes, size_t alignment, bool on_device, uint64_t *address)
{
    void *memory;
    if (posix_memalign(&memory, alignment, bytes) != 0)
        return NULL;
    *address = on_device && device_range.end ? allocate_addresses(&device_range, bytes, alignment) : (uint64_t)(uintptr_t)memory;
    if (*address == 0)
        return free(memory), NULL;
    return memset(memory, on_device ? POISON : 0, bytes);
}

uint8_t *sim_allocate_range(size_t bytes, size_t alignment, bool on_device, uint64_t *address)
{
    alignment = alignment > MIN_ALIGNMENT ? alignment : MIN_ALIGNMENT;
    if (!ensure_reserved())
        return allocate_unmapped(bytes, alignment, on_device, address);
    Range *range = on_device ? &device_range : &shared_range;
    // A page that may be protected or mapped by other processes must hold a single allocation.
    if ((!on_device || bytes >= sim_page_bytes()) && alignment < sim_page_bytes())
        alignment = sim_page_bytes();
    *address = allocate_addresses(range, bytes, alignment);
    if (*address == 0)
        return NULL;
    if (!on_device)
        sim_protect_pages((void *)(uintptr_t)*address, bytes, READ_WRITE_ACCESS);
    return range->memory + (*address - range->begin);
}

int sim_share_pages(const Allocation *a)
{
    const size_t bytes = round_up(a->bytes, sim_page_bytes());
    const Allocation *above = sim_allocation_above(a->address);
    const bool owns_pages = a->bytes >= sim_page_bytes() && a->address % sim_page_bytes() == 0 && !(above && above->address < a->address + bytes);
    uint8_t *saved = reserved && owns_pages ? sim_allocate_zeroed(bytes) : NULL;
    if (!saved)
        return -1;
    memcpy(saved, a->memory, a->bytes);
    const int file = sim_make_shared_file(bytes);
    const bool mapped = file >= 0 && sim_map_shared(a->memory, bytes, file, 0);
    if (mapped)
        memcpy(a->memory, saved, a->bytes);
    else if (file >= 0)
        sim_close_file(file);
    sim_free_zeroed(saved, bytes);
    return mapped ? file : -1;
}

// Maps the poison file again, at the original offset.
bool sim_restore_fill(uint8_t *memory, size_t bytes)
{
    for (size_t done = 0, length; done < bytes; done += length) {
        const size_t file_offset = (size_t)(memory + done - device_range.memory) % MAP_BYTES;
        length = bytes - done < MAP_BYTES - file_offset ? bytes - done : MAP_BYTES - file_offset;
        if (!sim_map_private(memory + done, length, poison_file, file_offset))
            return false;
    }
    return true;
}

// Removes the host's access rights to freed memory shared by host and device, which occupies whole pages.
static void protect_freed_pages(uint64_t address, size_t bytes)
{
    if (sim_checker_enabled() && sim_in_shared_range((const void *)(uintptr_t)address))
        sim_protect_pages((void *)(uintptr_t)address, bytes, NO_ACCESS);
}

// Returns whole free pages to the system, which fills them again at the next use.
void sim_free_range(uint64_t address, uint8_t *memory, size_t bytes, bool may_be_reused)
{
    if (!reserved) {
        free(memory);
        return;
    }
    if (may_be_reused)
        record_freed(address, bytes);
    const int fill = sim_in_shared_range((const void *)(uintptr_t)address) ? shared_range.fill : device_range.fill;
    const uint64_t page = sim_page_bytes(), end = address + bytes;
    const Allocation *below = sim_allocation_at(address), *above = sim_allocation_above(address);
    const uint64_t gap_begin = round_up(below ? below->address + below->bytes : 0, page);
    const uint64_t gap_end = above ? above->address / page * page : UINT64_MAX;
    const uint64_t from = gap_begin > address ? gap_begin : address / page * page;
    const uint64_t to = gap_end < end ? gap_end : round_up(end, page);
    if (from >= to) {
        memset(memory, fill, bytes);
        protect_freed_pages(address, bytes);
        return;
    }
    if (from > address)
        memset(memory, fill, from - address);
    if (to < end)
        memset(memory + (to - address), fill, end - to);
    sim_reset_pages(memory + (int64_t)(from - address), to - from);
    protect_freed_pages(address, bytes);
}

void *sim_memory_at(const void *pointer)
{
    const uint64_t address = (uint64_t)(uintptr_t)pointer;
    const bool on_device = sim_in_device_range(pointer);
    if (!on_device && !sim_in_shared_range(pointer))
        return (void *)(uintptr_t)address;
    if (reserved)
        return on_device ? device_range.memory + (address - device_range.begin)
                         : shared_range.memory + (address - shared_range.begin);
    const Allocation *a = sim_allocation_at(address);
    return a->memory + (address - a->address);
}
