// memory.c: loads, stores, and accesses to parameters.
#include "machine/observer.h"
#include "machine/ops/lanes.h"

#include <string.h>

// ---- Loads and stores. Blocks run concurrently on the host, so device memory is accessed with relaxed atomics; plain accesses
// would be data races in C.

// Sets the active lanes' registers to one value.
static void set_lanes(uint8_t *lanes, int register_bytes, uint64_t value, uint32_t mask)
{
    switch (register_bytes) { // a memcpy of variable length would be slow
    case 2:
        FOR_EACH_LANE(((uint16_t *)lanes)[l] = (uint16_t)value)
        break;
    case 4:
        FOR_EACH_LANE(((uint32_t *)lanes)[l] = (uint32_t)value)
        break;
    case 8:
        FOR_EACH_LANE(((uint64_t *)lanes)[l] = value)
        break;
    default:
        FOR_EACH_LANE(lanes[l] = (uint8_t)value)
    }
}

static inline void load_element(uint8_t *to, const uint8_t *from, const Instr *i)
{
    if (i->bytes == 16) { // PTX does not require a single access
        const uint64_t halves[2] = {sim_read_bytes(from, 8), sim_read_bytes(from + 8, 8)};
        memcpy(to, halves, sizeof halves);
        return;
    }
    uint64_t value = sim_read_bytes(from, i->bytes);
    if (i->flags & SIGNED_VALUE) {
        const int unused = 64 - 8 * i->bytes;
        value = (uint64_t)((int64_t)(value << unused) >> unused);
    }
    switch (i->register_bytes) { // a memcpy of variable length would be slow
    case 2: memcpy(to, &value, 2); break;
    case 4: memcpy(to, &value, 4); break;
    case 8: memcpy(to, &value, 8); break;
    default: memcpy(to, &value, i->register_bytes);
    }
}

static inline void store_element(uint8_t *to, const uint8_t *from, const Instr *i)
{
    uint64_t value = 0;
    if (i->bytes == 16) {
        memcpy(&value, from + 8, 8);
        sim_write_bytes(to + 8, value, 8);
    }
    memcpy(&value, from, i->bytes < 8 ? i->bytes : 8);
    sim_write_bytes(to, value, i->bytes < 8 ? i->bytes : 8);
}

// Load or store the active lanes' elements of 4 or 8 bytes, from or to registers of that width.
#define TRANSFER_LANES(name, T)                                                                     \
    static void name(T *lanes, uint8_t *const *pointer, size_t offset, uint32_t mask, bool is_load) \
    {                                                                                               \
        if (is_load) {                                                                              \
            FOR_EACH_LANE(lanes[l] = __atomic_load_n((T *)(pointer[l] + offset), __ATOMIC_RELAXED)) \
        } else {                                                                                    \
            FOR_EACH_LANE(__atomic_store_n((T *)(pointer[l] + offset), lanes[l], __ATOMIC_RELAXED)) \
        }                                                                                           \
    }
TRANSFER_LANES(transfer_4, uint32_t)
TRANSFER_LANES(transfer_8, uint64_t)

// Vectorised variants for a full warp and contiguous memory. A lane has `stride` elements. Vector accesses to aligned elements
// are as atomic as relaxed accesses, which compilers do not vectorise.
#define TRANSFER_CONTIGUOUS(name, T)                                                                       \
    __attribute__((no_sanitize("thread"))) static void name(T *lanes, T *memory, int stride, bool is_load) \
    {                                                                                                      \
        if (is_load) {                                                                                     \
            _Pragma("GCC ivdep") for (int l = 0; l < LANES; l++) lanes[l] = memory[l * stride];            \
        } else {                                                                                           \
            _Pragma("GCC ivdep") for (int l = 0; l < LANES; l++) memory[l * stride] = lanes[l];            \
        }                                                                                                  \
    }
TRANSFER_CONTIGUOUS(transfer_contiguous_4, uint32_t)
TRANSFER_CONTIGUOUS(transfer_contiguous_8, uint64_t)

static void transfer_contiguous(uint8_t *lanes, const Instr *i, uint8_t *memory, bool is_load)
{
    uint32_t *lanes_4 = (uint32_t *)lanes, *memory_4 = (uint32_t *)memory;
    uint64_t *lanes_8 = (uint64_t *)lanes, *memory_8 = (uint64_t *)memory;
    switch (i->count) { // a constant for the compiler
    case 1:
        return i->bytes == 4 ? transfer_contiguous_4(lanes_4, memory_4, 1, is_load) : transfer_contiguous_8(lanes_8, memory_8, 1, is_load);
    case 2:
        return i->bytes == 4 ? transfer_contiguous_4(lanes_4, memory_4, 2, is_load) : transfer_contiguous_8(lanes_8, memory_8, 2, is_load);
    case 4:
        return i->bytes == 4 ? transfer_contiguous_4(lanes_4, memory_4, 4, is_load) : transfer_contiguous_8(lanes_8, memory_8, 4, is_load);
    default:
        return i->bytes == 4 ? transfer_contiguous_4(lanes_4, memory_4, i->count, is_load)
                             : transfer_contiguous_8(lanes_8, memory_8, i->count, is_load);
    }
}

// Load the lanes of `segment`, whose addresses are equal or consecutive; `memory` is the first lane's.
#define LOAD_SEGMENT(name, T)                                                                                               \
    __attribute__((no_sanitize("thread"))) static void name(T *lanes, const T *memory, uint32_t segment, bool same_address) \
    {                                                                                                                       \
        const T value = *memory, *lane_0 = memory - __builtin_ctz(segment);                                                 \
        if (same_address) {                                                                                                 \
            _Pragma("GCC ivdep") for (int l = 0; l < LANES; l++) lanes[l] = segment >> l & 1 ? value : lanes[l];            \
        } else {                                                                                                            \
            _Pragma("GCC ivdep") for (int l = 0; l < LANES; l++) if (segment >> l & 1) lanes[l] = lane_0[l];                \
        }                                                                                                                   \
    }
LOAD_SEGMENT(load_segment_4, uint32_t)
LOAD_SEGMENT(load_segment_8, uint64_t)

// Loads for a full warp from few segments, such as the rows of a tile. Returns false, without effect, if there are more.
static bool load_segments(uint8_t *lanes, const Instr *i, const Access *access)
{
    enum { MAX_SEGMENTS = 4 };
    const uint32_t same_address = access->same_address, adjacent = access->adjacent;
    // A lane continues a segment only at the previous lane's distance.
    const uint32_t continuing = (same_address & ~(adjacent << 1)) | (adjacent & ~(same_address << 1));
    if (access->mask != ALL_LANES || i->count != 1 || __builtin_popcount(~continuing) > MAX_SEGMENTS)
        return false;
    for (uint32_t starts = ~continuing; starts; starts &= starts - 1) {
        const int first = __builtin_ctz(starts), last = sim_segment_end(continuing, first);
        const uint32_t segment = sim_lanes_from(first, last + 1 - first);
        const bool is_same_address = (same_address & segment & (segment - 1)) != 0;
        if (i->bytes == 4)
            load_segment_4((uint32_t *)lanes, (const uint32_t *)access->pointer[first], segment, is_same_address);
        else
            load_segment_8((uint64_t *)lanes, (const uint64_t *)access->pointer[first], segment, is_same_address);
    }
    return true;
}

// Loads or stores one element of each lane.
static void transfer_element(Warp *w, const Instr *i, const Access *access, int k)
{
    const bool is_load = access->kind == ACCESS_READ,
               has_register_width = i->bytes == i->register_bytes && (i->bytes == 4 || i->bytes == 8);
    const uint32_t mask = access->mask;
    uint8_t *lanes = w->registers + i->elements[k];
    const size_t offset = (size_t)k * i->bytes;
    if (has_register_width && access->pattern == CONSECUTIVE) {
        transfer_contiguous(lanes, i, access->pointer[0] + offset, is_load);
    } else if (has_register_width && access->pattern == ALL_SAME && is_load) {
        set_lanes(lanes, i->bytes, sim_read_bytes(access->pointer[0] + offset, i->bytes), mask);
    } else if (has_register_width && access->pattern == ALL_SAME && w->block->launch->block_order) {
        store_element(access->pointer[0] + offset, lanes, i); // CUDA does not define which lane's value is stored;
                                                              // lane 0's differs from the usual last lane's
    } else if (has_register_width && is_load && load_segments(lanes, i, access)) {
        return;
    } else if (has_register_width) {
        if (i->bytes == 4)
            transfer_4((uint32_t *)lanes, access->pointer, offset, mask, is_load);
        else
            transfer_8((uint64_t *)lanes, access->pointer, offset, mask, is_load);
    } else if (is_load) {
        FOR_EACH_LANE(load_element(lanes + (size_t)l * i->register_bytes, access->pointer[l] + offset, i))
    } else {
        FOR_EACH_LANE(store_element(access->pointer[l] + offset, lanes + (size_t)l * i->register_bytes, i))
    }
}

// ---- Fast path (FastPath in address_pattern.h)

// Prepares the fast path for the warp's last allocation, which the lanes have just accessed.
static void prepare_fast_path(const Warp *w, const Instr *i, AddressPattern *pattern)
{
    const Launch *launch = w->block->launch;
    Allocation *a = w->last_allocation;
    FastPath *fast_path = &pattern->fast_path;
    if (fast_path->allocation == a)
        return;
    *fast_path = (FastPath){.allocation = a, .first = 1};
    const bool needs_ordering = launch->block_concurrency == ORDERED_EFFECTS && !sim_only_reads(launch, a);
    if (needs_ordering || a->granules || pattern->below + pattern->above + i->bytes > a->bytes ||
        (i->kind == STORE && pattern->kind != CONSECUTIVE) ||
        (is_launch_checked(launch) && !sim_observer.prepare_fast_path(w, i, a, fast_path)))
        return;
    fast_path->first = a->address + pattern->below;
    fast_path->last = a->address + a->bytes - i->bytes - pattern->above;
}

// Returns the cached pattern if it matches and the fast path applies, otherwise NULL. Sets *first to the first lane's offset
// in the allocation.
static inline AddressPattern *fast_pattern(const Warp *w, const Instr *i, uint64_t *first)
{
    const uint64_t *base = (const uint64_t *)(w->registers + i->at.base);
    AddressPattern *pattern = sim_pattern_slot(w->block, i);
    const FastPath *fast_path = &pattern->fast_path;
    const uint64_t address = base[0] + (uint64_t)i->at.offset;
    if (pattern->instr != i || !fast_path->allocation || address < fast_path->first || address > fast_path->last ||
        (address | pattern->distance_bits) & (i->bytes - 1) || w->undefined_count || !sim_matches_pattern(pattern, base))
        return NULL;
    *first = address - fast_path->allocation->address;
    return pattern;
}

static inline bool is_line_fully_written(const FastPath *fast_path, uint64_t line)
{
    if (fast_path->users && atomic_load_explicit(&fast_path->users[line], memory_order_relaxed) != fast_path->user)
        return false;
    const uint32_t generation = fast_path->fully_written ? __atomic_load_n(&fast_path->fully_written[line], __ATOMIC_RELAXED) : 1;
    return fast_path->generation ? generation == fast_path->generation : generation != 0;
}

// True if all lines of the access are fully written.
static bool are_lines_fully_written(const AddressPattern *pattern, uint64_t first)
{
    for (uint32_t rest = pattern->starts; rest; rest &= rest - 1) {
        const int begin = __builtin_ctz(rest), end = sim_segment_end(pattern->continuing, begin);
        const uint64_t last = (first + pattern->distance[end] + pattern->bytes - 1) / LINE_BYTES;
        for (uint64_t line = (first + pattern->distance[begin]) / LINE_BYTES; line <= last; line++)
            if (!is_line_fully_written(&pattern->fast_path, line))
                return false;
    }
    return true;
}

// Calls are_lines_fully_written, unless the last pattern that was found fully written covers these lines.
static inline bool is_fully_written(Block *b, AddressPattern *pattern, uint64_t first)
{
    FastPath *fast_path = &pattern->fast_path;
    const AddressPattern *last = b->last_fully_written;
    if (!fast_path->fully_written && !fast_path->users)
        return true;
    if (fast_path->generation != 0 || pattern->distance_bits % LINE_BYTES != 0)
        return are_lines_fully_written(pattern, first);
    const bool reuses_result = last && last->fast_path.allocation == fast_path->allocation && last->fast_path.first_line == first / LINE_BYTES + 1 &&
                       (last == pattern || memcmp(last->distance, pattern->distance, sizeof last->distance) == 0);
    if (!reuses_result && !are_lines_fully_written(pattern, first))
        return false;
    fast_path->first_line = first / LINE_BYTES + 1;
    b->last_fully_written = pattern;
    return true;
}

// Load the quarters of a warp as vectors. One store writes each quarter, so that the host can forward it to later vector loads.
#define LOAD_QUARTERS(name, T)                                                                                                   \
    typedef T name##_quarter __attribute__((vector_size(QUARTER_LANES * sizeof(T)), aligned(sizeof(T)), may_alias));             \
    __attribute__((no_sanitize("thread"))) static void name(uint8_t *lanes, const uint8_t *first, const AddressPattern *pattern) \
    {                                                                                                                            \
        name##_quarter *to = (name##_quarter *)lanes;                                                                            \
        for (int q = 0; q < QUARTERS; q++, to++) {                                                                               \
            const uint64_t *distance = pattern->distance + q * QUARTER_LANES;                                                    \
            const uint8_t *from = first + distance[0];                                                                           \
            name##_quarter quarter;                                                                                              \
            if (pattern->quarters[q] == CONSECUTIVE)                                                                             \
                quarter = *(const name##_quarter *)from;                                                                         \
            else if (pattern->quarters[q] == ALL_SAME)                                                                           \
                quarter = (name##_quarter){0} + *(const T *)from;                                                                \
            else                                                                                                                 \
                for (int l = 0; l < QUARTER_LANES; l++)                                                                          \
                    quarter[l] = *(const T *)(first + distance[l]);                                                              \
            *to = quarter;                                                                                                       \
        }                                                                                                                        \
    }
LOAD_QUARTERS(load_quarters_4, uint32_t)
LOAD_QUARTERS(load_quarters_8, uint64_t)

// Loads by the fast path. Returns false, without effect, if it does not apply.
static bool load_fast(Warp *w, const Instr *i)
{
    uint64_t first = 0;
    AddressPattern *pattern = fast_pattern(w, i, &first);
    const uint8_t sectors = pattern ? pattern->sectors[(first + pattern->fast_path.allocation->address) % SECTOR_BYTES] : UNKNOWN_COST;
    if (sectors == UNKNOWN_COST || !is_fully_written(w->block, pattern, first))
        return false;
    const FastPath *fast_path = &pattern->fast_path;
    if (i->flags & READ_ONLY && fast_path->last_write_generation &&
        atomic_load_explicit(fast_path->last_write_generation, memory_order_relaxed) == fast_path->generation)
        return false;
    w->block->counters.global_load_requests++;
    w->block->counters.global_load_sectors += sectors;
    if (i->bytes == 4)
        load_quarters_4(w->registers + i->elements[0], fast_path->allocation->memory + first, pattern);
    else
        load_quarters_8(w->registers + i->elements[0], fast_path->allocation->memory + first, pattern);
    return true;
}

// Stores by the fast path. Returns false, without effect, if it does not apply.
static bool store_fast(Warp *w, const Instr *i)
{
    uint64_t first = 0;
    const AddressPattern *pattern = fast_pattern(w, i, &first);
    const uint8_t sectors = pattern ? pattern->sectors[(first + pattern->fast_path.allocation->address) % SECTOR_BYTES] : UNKNOWN_COST;
    if (sectors == UNKNOWN_COST)
        return false;
    const FastPath *fast_path = &pattern->fast_path;
    const size_t bytes = (size_t)LANES * i->bytes;
    for (uint64_t line = first / LINE_BYTES; fast_path->users && line <= (first + bytes - 1) / LINE_BYTES; line++)
        if (atomic_load_explicit(&fast_path->users[line], memory_order_relaxed) != fast_path->user)
            return false;
    if (is_block_checked(w->block) && !sim_observer.fast_store(w, i, fast_path->allocation, first, bytes))
        return false;
    w->block->counters.global_store_requests++;
    w->block->counters.global_store_sectors += sectors;
    transfer_contiguous(w->registers + i->elements[0], i, fast_path->allocation->memory + first, false);
    return true;
}

// The sum of the hashes of the accessed elements.
static uint64_t contents_hash(const Instr *i, const Access *access)
{
    uint64_t sum = 0;
    for (uint32_t rest = access->mask; rest; rest &= rest - 1)
        for (size_t k = 0; k < (size_t)i->count * i->bytes; k += i->bytes < 8 ? i->bytes : 8) {
            const uint8_t *at = access->pointer[__builtin_ctz(rest)] + k;
            sum += sim_content_hash(at, sim_read_bytes(at, i->bytes));
        }
    return sum;
}

static void load_or_store(Warp *w, const Instr *i, Access *access)
{
    MemoryChanges *changes = &w->block->changes;
    const bool is_tracked = changes->tracks_stores && access->kind == ACCESS_WRITE && access->space == GLOBAL;
    sim_access(w, i, access);
    if (i->flags & FAST_PATH_ACCESS && access->address_pattern && access->space == GLOBAL && w->last_allocation)
        prepare_fast_path(w, i, access->address_pattern);
    sim_count_access(w, access);
    if (is_tracked)
        changes->sum -= contents_hash(i, access);
    for (int k = 0; k < i->count; k++)
        if (!is_sink(i, k))
            transfer_element(w, i, access, k);
    if (is_tracked) {
        changes->sum += contents_hash(i, access);
        changes->store_requests++;
    }
    if (access->kind == ACCESS_READ && (access->has_unwritten || w->undefined_count))
        sim_observer.load(w, i, access);
}

static void access_memory(Warp *w, const Instr *i, uint32_t mask, AccessKind kind)
{
    const size_t bytes = (size_t)i->bytes * i->count;
    Access access;
    access.kind = kind;
    access.space = (Space)i->at.space;
    access.mask = mask;
    access.bytes = access.alignment = bytes;
    if (i->flags & POLLS_OTHERS)
        sim_wait_for_earlier_blocks(w->block);
    sim_find_addresses(w, i, access.address);
    if (i->at.space != GENERIC) {
        load_or_store(w, i, &access);
        return;
    }
    uint32_t masks[SPACES]; // of the lanes in each space
    sim_split_generic(w, i, access.address, mask, masks);
    for (access.space = GLOBAL; access.space <= LOCAL; access.space++)
        if ((access.mask = masks[access.space]))
            load_or_store(w, i, &access);
}

void sim_load(Warp *w, const Instr *i, uint32_t mask)
{
    if (mask == ALL_LANES && i->flags & FAST_PATH_ACCESS && load_fast(w, i))
        return;
    access_memory(w, i, mask, ACCESS_READ);
}

void sim_store(Warp *w, const Instr *i, uint32_t mask)
{
    if (mask == ALL_LANES && i->flags & FAST_PATH_ACCESS && !w->block->changes.tracks_stores && store_fast(w, i))
        return;
    access_memory(w, i, mask, ACCESS_WRITE);
}

// ---- Parameters: kernel parameters are equal in all lanes; function parameters are in the frame

void sim_load_kernel_param(Warp *w, const Instr *i, uint32_t mask)
{
    const size_t size = w->block->launch->kernel->kernel_param_bytes;
    for (int k = 0; k < i->count; k++) {
        const uint64_t offset = (uint64_t)i->at.offset + (uint64_t)k * i->bytes;
        if (i->bytes > size || offset > size - i->bytes)
            sim_fault(w, i, -1, cudaErrorIllegalAddress, "byte %llu of %zu bytes of parameters",
                      (unsigned long long)offset, size);
        if (is_sink(i, k))
            continue;
        _Alignas(16) uint8_t bytes[16] = {0}, element[16]; // parameters may be unaligned
        memcpy(bytes, w->block->launch->params + offset, i->bytes);
        load_element(element, bytes, i);
        if (i->register_bytes == 16) {
            for (uint32_t rest = mask; rest; rest &= rest - 1)
                memcpy(w->registers + i->elements[k] + (size_t)__builtin_ctz(rest) * 16, element, 16);
            continue;
        }
        uint64_t value;
        memcpy(&value, element, sizeof value);
        set_lanes(w->registers + i->elements[k], i->register_bytes, value, mask);
    }
}

static void access_argument(Warp *w, const Instr *i, uint32_t mask, bool is_load)
{
    const size_t size = w->current_split->frame->function->param_bytes, bytes = (size_t)i->bytes * i->count;
    if (bytes > size || (uint64_t)i->at.offset > size - bytes)
        sim_fault(w, i, -1, cudaErrorIllegalAddress, "byte %lld of %zu bytes of arguments", (long long)i->at.offset, size);
    for (uint32_t rest = mask; rest; rest &= rest - 1) {
        const int l = __builtin_ctz(rest);
        for (int k = 0; k < i->count; k++) {
            uint8_t *argument = w->current_split->frame->params + (size_t)l * size + i->at.offset + (size_t)k * i->bytes;
            _Alignas(16) uint8_t aligned[16] = {0}; // arguments may be unaligned
            if (is_sink(i, k))
                continue;
            uint8_t *lane = w->registers + i->elements[k] + (size_t)l * i->register_bytes;
            if (is_load) {
                memcpy(aligned, argument, i->bytes);
                load_element(lane, aligned, i);
            } else {
                memcpy(argument, lane, i->bytes);
            }
        }
    }
}

void sim_load_argument(Warp *w, const Instr *i, uint32_t mask)
{
    access_argument(w, i, mask, true);
}

void sim_store_argument(Warp *w, const Instr *i, uint32_t mask)
{
    access_argument(w, i, mask, false);
}
