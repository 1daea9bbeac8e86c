// written.c: which bytes of memory have been written.
#include "checker/block_check.h"
#include "checker/shadow.h"

#include <string.h>

// Sets the bits of `count` bytes of a line, at least one, that start at byte `first`.
static void bits_of(uint64_t bits[2], unsigned first, unsigned count)
{
    const unsigned __int128 all = ~(unsigned __int128)0 >> (LINE_BYTES - count) << first;
    bits[0] = (uint64_t)all;
    bits[1] = (uint64_t)(all >> 64);
}

void sim_check_written_bytes(Access *access, ShadowLine *line, int lane, unsigned first, unsigned count, unsigned done,
                          bool writing)
{
    uint64_t bits[2];
    bits_of(bits, first, count);
    if (writing) {
        mark_bytes(line, 0, bits[0]);
        mark_bytes(line, 1, bits[1]);
        return;
    }
    const uint64_t written[2] = {written_half(line, 0), written_half(line, 1)};
    if ((bits[0] & ~written[0]) == 0 && (bits[1] & ~written[1]) == 0)
        return;
    if (!access->has_unwritten)
        memset(access->unwritten, 0, sizeof access->unwritten);
    access->has_unwritten = true;
    for (unsigned k = 0; k < count; k++)
        if (!(written[(first + k) / 64] >> (first + k) % 64 & 1))
            access->unwritten[lane] |= 1u << ((done + k) & 31);
}

// Sets access->unwritten for elements that do not cross half a line.
static void find_unwritten_elements(Access *access, uint32_t mask, const ShadowedMemory *memory)
{
    const uint32_t all = access->bytes == 32 ? ~0u : (1u << access->bytes) - 1;
    uint32_t any = 0;
    memset(access->unwritten, 0, sizeof access->unwritten);
    for (uint32_t rest = mask; rest; rest &= rest - 1) {
        const int l = __builtin_ctz(rest);
        const size_t first = (size_t)(access->pointer[l] - memory->base);
        const uint64_t written = written_half(&memory->lines[first / LINE_BYTES], (int)(first / (LINE_BYTES / 2) % 2));
        access->unwritten[l] = ~(uint32_t)(written >> first % (LINE_BYTES / 2)) & all;
        any |= access->unwritten[l];
    }
    access->has_unwritten |= any != 0;
}

void sim_set_unwritten(Access *access, uint32_t mask, const ShadowedMemory *memory)
{
    const bool elements = access->bytes == access->alignment && access->bytes <= 32;
    if (memory->checks_values && elements && !access->has_unwritten) {
        find_unwritten_elements(access, mask, memory);
        return;
    }
    for (uint32_t rest = memory->checks_values ? mask : 0; rest; rest &= rest - 1) {
        const int l = __builtin_ctz(rest);
        const size_t first = (size_t)(access->pointer[l] - memory->base);
        for (size_t done = 0, count; done < access->bytes; done += count) {
            const unsigned in_line = (unsigned)((first + done) % LINE_BYTES);
            count = access->bytes - done < LINE_BYTES - in_line ? access->bytes - done : LINE_BYTES - in_line;
            sim_check_written_bytes(access, &memory->lines[(first + done) / LINE_BYTES], l, in_line, (unsigned)count, (unsigned)done, false);
        }
    }
}

bool sim_address_starts_uninitialised(uint64_t address)
{
    const Allocation *a = sim_allocation_at(address);
    return a && sim_starts_uninitialised(a) && address - a->address < a->bytes;
}

void sim_update_fully_written(const Allocation *a, size_t line)
{
    if (a->check->fully_written[line] == 0 || !all_written(&a->check->lines[line], ALL_LANES))
        update_fully_written(a, line);
}

void sim_mark_written(uint64_t address, size_t bytes)
{
    Allocation *a = sim_checker_enabled() ? sim_allocation_at(address) : NULL;
    if (!a || !sim_starts_uninitialised(a) || address - a->address >= a->bytes)
        return;
    ShadowLine *lines = sim_lines_of(a);
    size_t first = address - a->address;
    const size_t end = bytes < a->bytes - first ? first + bytes : a->bytes;
    while (first < end) {
        const unsigned in_line = (unsigned)(first % LINE_BYTES);
        const unsigned count = end - first < LINE_BYTES - in_line ? (unsigned)(end - first) : LINE_BYTES - in_line;
        sim_check_written_bytes(NULL, &lines[first / LINE_BYTES], 0, in_line, count, 0, true);
        sim_update_fully_written(a, first / LINE_BYTES);
        first += count;
    }
}

// The first byte of a line, from `from` on, that is written or, without `written`, unwritten; LINE_BYTES if there is none.
static unsigned find_in_line(const ShadowLine *line, unsigned from, bool written)
{
    for (unsigned half = from / 64; half < 2; half++) {
        const uint64_t bits = (written ? line->written[half] : ~line->written[half]) >> from % 64 << from % 64;
        if (bits)
            return half * 64 + (unsigned)__builtin_ctzll(bits);
        from = 0;
    }
    return LINE_BYTES;
}

// Offset of the first of these bytes that is written or, without `written`, unwritten; `bytes` if there is none.
static size_t find_byte(const ShadowLine *lines, size_t first, size_t bytes, bool written)
{
    for (size_t at = first; at < first + bytes;) {
        const unsigned found = find_in_line(&lines[at / LINE_BYTES], (unsigned)(at % LINE_BYTES), written);
        at = at / LINE_BYTES * LINE_BYTES + found;
        if (found < LINE_BYTES)
            return at < first + bytes ? at - first : bytes;
    }
    return bytes;
}

static size_t find(uint64_t address, size_t bytes, bool written)
{
    Allocation *a = sim_checker_enabled() ? sim_allocation_at(address) : NULL;
    if (!a || !sim_starts_uninitialised(a) || address - a->address >= a->bytes)
        return written ? 0 : bytes;
    const size_t first = address - a->address, inside = bytes < a->bytes - first ? bytes : a->bytes - first;
    if (!a->check->lines)
        return written ? inside : 0;
    const size_t found = find_byte(a->check->lines, first, inside, written);
    return found == inside && !written ? bytes : found;
}

size_t sim_find_unwritten(uint64_t address, size_t bytes)
{
    return find(address, bytes, false);
}

size_t sim_find_written(uint64_t address, size_t bytes)
{
    return find(address, bytes, true);
}

void sim_check_local(Warp *w, Access *access)
{
    const Block *b = w->block;
    for (uint32_t rest = access->mask; rest; rest &= rest - 1) {
        const int l = __builtin_ctz(rest);
        uint8_t *written = b->check->local_written + (access->pointer[l] - b->local);
        uint32_t unwritten = 0;
        for (size_t k = 0; k < access->bytes; k++) {
            if (access->kind == ACCESS_WRITE)
                written[k] = 1;
            unwritten |= (uint32_t)!written[k] << (k & 31);
        }
        if (unwritten && !access->has_unwritten)
            memset(access->unwritten, 0, sizeof access->unwritten);
        access->has_unwritten |= unwritten != 0;
        if (access->has_unwritten)
            access->unwritten[l] = unwritten;
    }
}

void sim_extend_local_written(Block *b, size_t from, size_t to)
{
    for (size_t t = 0; t < b->threads; t++)
        memset(b->check->local_written + t * b->launch->local_bytes + from, 0, to - from);
}

void sim_mark_unwritten(Warp *w, int lane, Space space, uint64_t address, size_t bytes)
{
    Block *b = w->block;
    if (space == LOCAL) {
        memset(b->check->local_written + (size_t)(w->number * LANES + lane) * b->launch->local_bytes + address, 0, bytes);
        return;
    }
    Allocation *a = space == SHARED ? NULL : sim_allocation_at(address);
    ShadowLine *lines = a ? sim_lines_of(a) : b->check->lines;
    const uint64_t first = a ? address - a->address : address;
    bytes = a && bytes > a->bytes - first ? a->bytes - first : bytes;
    for (uint64_t at = first; at < first + bytes && (a || !sim_has_block_rank(address));) {
        const unsigned in_half = (unsigned)(at % 64), left = (unsigned)(first + bytes - at < 64 - in_half ? first + bytes - at : 64 - in_half);
        const uint64_t bits = (left == 64 ? ~0ull : (1ull << left) - 1) << in_half;
        __atomic_and_fetch(&lines[at / LINE_BYTES].written[at / 64 % 2], ~bits, __ATOMIC_RELAXED);
        __atomic_thread_fence(__ATOMIC_SEQ_CST); // see update_fully_written
        if (a)
            __atomic_store_n(&a->check->fully_written[at / LINE_BYTES], 0, __ATOMIC_RELAXED);
        at += left;
    }
}
