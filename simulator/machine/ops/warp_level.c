// warp_level.c: warp-level operations, printf, assert and malloc.
#include "machine/observer.h"
#include "machine/ops/lanes.h"

#include <inttypes.h>
#include <string.h>

// Finds each lane's source lane for shfl and returns the lanes whose source is in range. The others read themselves. Operand b is
// the distance or index; c holds the clamp value and the segment mask.
static uint32_t find_source_lanes(const Instr *i, const uint32_t *b, const uint32_t *c, uint32_t source[LANES])
{
    uint32_t in_range = 0;
    for (uint32_t l = 0; l < LANES; l++) {
        const uint32_t distance = b[l] & 31, segment = c[l] >> 8 & 31, segment_begin = l & segment,
                       segment_end = segment_begin | (c[l] & 31 & ~segment);
        const uint32_t j = i->op == SHUFFLE_UP     ? l - distance
                           : i->op == SHUFFLE_DOWN ? l + distance
                           : i->op == SHUFFLE_XOR  ? l ^ distance
                                                   : segment_begin | (distance & ~segment);
        const bool is_in_range = i->op == SHUFFLE_UP ? (int32_t)j >= (int32_t)segment_end : j <= segment_end;
        source[l] = is_in_range ? j : l;
        in_range |= (uint32_t)is_in_range << l;
    }
    return in_range;
}

void sim_shuffle(Warp *w, const Instr *i, uint32_t mask)
{
    const uint32_t *a = OPERAND(uint32_t, a);
    uint32_t *d = OPERAND(uint32_t, d), source[LANES], result[LANES];
    const uint32_t in_range = find_source_lanes(i, OPERAND(uint32_t, b), OPERAND(uint32_t, c), source);
    for (int l = 0; l < LANES; l++)
        result[l] = a[source[l] & 31];
    FOR_EACH_LANE(d[l] = result[l])
    if (i->second != NO_OFFSET) {
        uint32_t *p = OPERAND(uint32_t, second);
        *p = (*p & ~mask) | (in_range & mask);
    }
    uint32_t reading_inactive = 0; // lanes that read a non-participating lane
    for (uint32_t rest = is_block_checked(w->block) ? mask : 0; rest; rest &= rest - 1)
        reading_inactive |= mask >> (source[__builtin_ctz(rest)] & 31) & 1 ? 0 : rest & -rest;
    if (reading_inactive)
        sim_observer.read_inactive_lanes(w, i, reading_inactive);
}

void sim_vote(Warp *w, const Instr *i, uint32_t mask)
{
    const uint32_t values = (*OPERAND(uint32_t, a) ^ (i->flags & COMBINE_NEGATED ? ALL_LANES : 0)) & mask;
    uint32_t *d = OPERAND(uint32_t, d);
    if (i->op == VOTE_BALLOT) {
        FOR_EACH_LANE(d[l] = values)
        return;
    }
    const bool result = i->op == VOTE_ALL   ? values == mask
                        : i->op == VOTE_ANY ? values != 0
                                            : values == mask || values == 0;
    *d = (*d & ~mask) | (result ? mask : 0);
}

void sim_match(Warp *w, const Instr *i, uint32_t mask)
{
    uint64_t value[LANES];
    uint32_t *d = OPERAND(uint32_t, d), all = 0;
    for (int l = 0; l < LANES; l++)
        value[l] = i->bytes == 8 ? OPERAND(uint64_t, a)[l] : OPERAND(uint32_t, a)[l];
    for (uint32_t rest = mask; rest; rest &= rest - 1) {
        const int l = __builtin_ctz(rest);
        uint32_t same = 0;
        for (uint32_t others = mask; others; others &= others - 1)
            same |= (uint32_t)(value[__builtin_ctz(others)] == value[l]) << __builtin_ctz(others);
        d[l] = i->op && same != mask ? 0 : same;
        all = same == mask ? mask : all;
    }
    if (i->second != NO_OFFSET) {
        uint32_t *p = OPERAND(uint32_t, second);
        *p = (*p & ~mask) | all;
    }
}

void sim_reduce_warp(Warp *w, const Instr *i, uint32_t mask)
{
    const uint32_t *a = OPERAND(uint32_t, a);
    uint32_t *d = OPERAND(uint32_t, d), result = a[__builtin_ctz(mask)];
    for (uint32_t rest = mask & (mask - 1); rest; rest &= rest - 1) {
        const uint32_t value = a[__builtin_ctz(rest)];
        const bool less = i->type == S32 ? (int32_t)value < (int32_t)result : value < result;
        switch (i->op) {
        case REDUCE_ADD: result += value; break;
        case REDUCE_MIN: result = less ? value : result; break;
        case REDUCE_MAX: result = less ? result : value; break;
        case REDUCE_AND: result &= value; break;
        case REDUCE_OR: result |= value; break;
        default: result ^= value;
        }
    }
    FOR_EACH_LANE(d[l] = result)
}

void sim_activemask(Warp *w, const Instr *i, uint32_t mask)
{
    uint32_t *d = OPERAND(uint32_t, d);
    FOR_EACH_LANE(d[l] = mask)
}

void sim_elect(Warp *w, const Instr *i, uint32_t mask)
{
    uint32_t *p = OPERAND(uint32_t, second);
    *p = (*p & ~mask) | (mask & -mask);
    if (i->d != NO_OFFSET) {
        uint32_t *d = OPERAND(uint32_t, d);
        FOR_EACH_LANE(d[l] = (uint32_t)__builtin_ctz(mask))
    }
}

// The clock counts the warp's instructions, plus the delays of loops that wait for it (advance_clock in progress.c). Each read
// advances it, so that consecutive reads differ even before their instructions are counted.
void sim_read_clock(Warp *w, const Instr *i, uint32_t mask)
{
    w->clock_advance++;
    const uint64_t value = (w->instructions + w->clock_advance) >> (i->op ? 32 : 0); // op: the upper half is read
    if (i->bytes == 8) {
        FOR_EACH_LANE(OPERAND(uint64_t, d)[l] = value)
    } else {
        FOR_EACH_LANE(OPERAND(uint32_t, d)[l] = (uint32_t)value)
    }
}

void sim_trap(Warp *w, const Instr *i, uint32_t mask)
{
    sim_fault(w, i, __builtin_ctz(mask), cudaErrorLaunchFailure, "the kernel executed trap");
}

// ---- printf and assert

typedef struct Printer {
    Warp *w;
    const Instr *i;
    int lane;
    uint64_t arguments; // generic address of the next argument
    int printed;           // number of arguments printed
} Printer;

static uint64_t next_argument(Printer *p, size_t bytes)
{
    uint64_t value = 0;
    p->arguments = (p->arguments + bytes - 1) / bytes * bytes;
    memcpy(&value, sim_access_lane(p->w, p->i, p->lane, GENERIC, p->arguments, bytes, bytes, ACCESS_READ), bytes);
    p->arguments += bytes;
    p->printed++;
    return value;
}

static void read_text(Printer *p, uint64_t address, char *text, size_t capacity)
{
    size_t k = 0;
    if (address == 0)
        memcpy(text, "(null)", k = 6);
    for (; address && k + 1 < capacity; k++) {
        text[k] = (char)*sim_access_lane(p->w, p->i, p->lane, GENERIC, address + k, 1, 1, ACCESS_READ);
        if (!text[k])
            return;
    }
    text[k] = 0;
}

// Prints one conversion, which starts at its %. Returns the format after it.
static const char *print_conversion(Printer *p, const char *format)
{
    char spec[64] = "%", text[1024];
    size_t length = 1;
    const char *at = format + 1;
    bool is_long = false;
    int h_count = 0; // %hd is a short, %hhd a char
    for (; *at && strchr("-+ #0123456789.*lhzjt", *at) && length < sizeof spec - 16; at++) {
        if (*at == '*')
            length += (size_t)snprintf(spec + length, 12, "%d", (int)next_argument(p, 4));
        else if (strchr("lzjt", *at))
            is_long = true;
        else if (*at == 'h')
            h_count++;
        else
            spec[length++] = *at;
    }
    if (*at == 0)
        return at;
    const char kind = *at;
    if (strchr("diouxX", kind)) {
        const int unused = is_long ? 0 : h_count == 0 ? 32 : h_count == 1 ? 48 : 56;
        const uint64_t value = next_argument(p, is_long ? 8 : 4) << unused;
        snprintf(spec + length, 8, "%s%c", "ll", kind);
        if (strchr("di", kind))
            printf(spec, (long long)value >> unused);
        else
            printf(spec, (unsigned long long)value >> unused);
    } else if (strchr("eEfFgGaA", kind)) {
        const uint64_t bits = next_argument(p, 8);
        double value;
        memcpy(&value, &bits, sizeof value);
        snprintf(spec + length, 8, "%c", kind);
        printf(spec, value);
    } else if (kind == 'c') {
        snprintf(spec + length, 8, "c");
        printf(spec, (int)next_argument(p, 4));
    } else if (kind == 'p') {
        snprintf(spec + length, 8, "p");
        printf(spec, (void *)(uintptr_t)next_argument(p, 8));
    } else if (kind == 's') {
        read_text(p, next_argument(p, 8), text, sizeof text);
        snprintf(spec + length, 8, "s");
        printf(spec, text);
    } else {
        putchar(kind == '%' ? '%' : kind);
    }
    return at + 1;
}

void sim_call_argument(const Warp *w, const Instr *i, int lane, int index, void *value, size_t bytes)
{
    const Frame *f = w->current_split->frame;
    const size_t offset = i->call->arguments[index], size = f->function->param_bytes;
    if (offset + bytes <= size)
        memcpy(value, f->params + (size_t)lane * size + offset, bytes);
}

void sim_return_value(const Warp *w, const Instr *i, int lane, const void *value, size_t bytes)
{
    const Frame *f = w->current_split->frame;
    memcpy(f->params + (size_t)lane * f->function->param_bytes + i->call->results[0], value, bytes);
}

static uint64_t call_argument(const Printer *p, int index, size_t bytes)
{
    uint64_t value = 0;
    sim_call_argument(p->w, p->i, p->lane, index, &value, bytes);
    return value;
}

// __assertfail(condition, file, line, function, ...): prints CUDA's message for each thread, after which the threads exit.
void sim_fail_assertion(Warp *w, const Instr *i, uint32_t mask)
{
    const dim3 size = w->block->launch->block, index = w->block->index;
    for (uint32_t rest = mask; rest; rest &= rest - 1) {
        Printer p = {.w = w, .i = i, .lane = __builtin_ctz(rest)};
        const unsigned thread = (unsigned)(w->number * LANES + p.lane);
        char condition[1024], file[1024], function[1024];
        read_text(&p, call_argument(&p, 0, 8), condition, sizeof condition);
        read_text(&p, call_argument(&p, 1, 8), file, sizeof file);
        read_text(&p, call_argument(&p, 3, 8), function, sizeof function);
        fprintf(stderr, "%s:%u: %s: block: [%u,%u,%u], thread: [%u,%u,%u] Assertion `%s` failed.\n", file,
                (unsigned)call_argument(&p, 2, 4), function, index.x, index.y, index.z, thread % size.x,
                thread / size.x % size.y, thread / size.x / size.y, condition);
        sim_note_fault(w, i, p.lane, cudaErrorAssert, "assertion `%s` failed", condition);
    }
}

// Prints a lane's text. Returns the number of arguments printed, or -1 if the format is NULL.
static int print_lane(Printer *p)
{
    char format[4096];
    const uint64_t address = call_argument(p, 0, 8);
    if (address == 0)
        return -1;
    read_text(p, address, format, sizeof format);
    p->arguments = call_argument(p, 1, 8);
    for (const char *at = format; *at;) {
        if (*at == '%')
            at = print_conversion(p, at);
        else
            putchar(*at++);
    }
    return p->printed;
}

// vprintf(format, arguments)
void sim_print(Warp *w, const Instr *i, uint32_t mask)
{
    for (uint32_t rest = mask; rest; rest &= rest - 1) {
        Printer p = {.w = w, .i = i, .lane = __builtin_ctz(rest)};
        const int result = print_lane(&p);
        if (i->call->result_count > 0)
            sim_return_value(w, i, p.lane, &result, sizeof result);
    }
}

// ---- malloc and free in a kernel, whose blocks run one by one

void sim_malloc(Warp *w, const Instr *i, uint32_t mask)
{
    for (uint32_t rest = mask; rest; rest &= rest - 1) {
        const Printer p = {.w = w, .i = i, .lane = __builtin_ctz(rest)};
        void *memory;
        sim_new_allocation((size_t)call_argument(&p, 0, 8), HEAP_MEMORY, &memory); // NULL if out of memory
        sim_return_value(w, i, p.lane, &memory, sizeof memory);
    }
}

void sim_free(Warp *w, const Instr *i, uint32_t mask)
{
    for (int n = 0; n < w->block->warp_count; n++)
        w->block->warps[n].last_allocation = NULL; // the allocation may be freed below
    for (uint32_t rest = mask; rest; rest &= rest - 1) {
        const Printer p = {.w = w, .i = i, .lane = __builtin_ctz(rest)};
        if (sim_free_allocation((void *)(uintptr_t)call_argument(&p, 0, 8), HEAP_MEMORY) != cudaSuccess)
            sim_fault(w, i, p.lane, cudaErrorIllegalAddress, "free() of a pointer that malloc() did not return");
    }
}
