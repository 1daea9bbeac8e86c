// atomics.c: atomic operations on memory (atom, red), and fences.
#include "machine/observer.h"
#include "machine/ops/lanes.h"

#include <string.h>

static double atomic_float(int op, double old, double operand)
{
    switch (op) {
    case ATOMIC_ADD: return old + operand;
    case ATOMIC_MIN: return operand < old || old != old ? operand : old;
    default: return operand > old || old != old ? operand : old;
    }
}

// ATOMIC_CAS compares with `operand` and stores new_value.
static uint64_t atomic_integer(const Instr *i, uint64_t old, uint64_t operand, uint64_t new_value)
{
    const int unused = 64 - 8 * i->bytes;
    const bool is_signed = i->type == S32 || i->type == S64;
    const bool less = is_signed ? (int64_t)(old << unused) < (int64_t)(operand << unused) : old < operand;
    switch (i->op) {
    case ATOMIC_ADD: return old + operand;
    case ATOMIC_MIN: return less ? old : operand;
    case ATOMIC_MAX: return less ? operand : old;
    case ATOMIC_INC: return old >= operand ? 0 : old + 1;
    case ATOMIC_DEC: return old == 0 || old > operand ? operand : old - 1;
    case ATOMIC_AND: return old & operand;
    case ATOMIC_OR: return old | operand;
    case ATOMIC_XOR: return old ^ operand;
    case ATOMIC_EXCH: return operand;
    default: return old == operand ? new_value : old;
    }
}

// The sum of two floats; flush: subnormal operands and results become 0.
static uint32_t add_floats(uint32_t a_bits, uint32_t b_bits, bool flush)
{
    enum { EXPONENT_MASK = 0x7f800000 };
    const uint32_t sign_bit = 0x80000000;
    uint32_t bits[] = {flush && !(a_bits & EXPONENT_MASK) ? a_bits & sign_bit : a_bits,
                       flush && !(b_bits & EXPONENT_MASK) ? b_bits & sign_bit : b_bits};
    float values[2];
    memcpy(values, bits, sizeof values);
    const float sum = values[0] + values[1];
    memcpy(bits, &sum, sizeof sum);
    return flush && !(bits[0] & EXPONENT_MASK) ? bits[0] & sign_bit : bits[0];
}

// The result for one or two numbers in half precision or bf16.
static uint64_t atomic_halves(const Instr *i, uint64_t old, uint64_t operand)
{
    const bool is_bf16 = i->type == BF16 || i->type == BF16X2;
    uint64_t result = 0;
    for (int k = 0; k < i->bytes / 2; k++) {
        const double a = sim_float16_value((uint16_t)(old >> (16 * k)), is_bf16),
                     b = sim_float16_value((uint16_t)(operand >> (16 * k)), is_bf16);
        const double number = atomic_float(i->op, a, b);
        result |= (uint64_t)(is_bf16 ? sim_bf16_from_double : sim_half_from_double)(number, ROUND_NEAREST) << (16 * k);
    }
    return result;
}

static uint64_t atomic_result(const Instr *i, uint64_t old, uint64_t operand, uint64_t new_value, bool shared)
{
    const bool is_exchange = i->op == ATOMIC_EXCH || i->op == ATOMIC_CAS;
    if (i->type == F32 && i->op == ATOMIC_ADD)
        return add_floats((uint32_t)old, (uint32_t)operand, !shared);
    if (i->type == F32 && !is_exchange) {
        float a, b;
        memcpy(&a, &old, sizeof a);
        memcpy(&b, &operand, sizeof b);
        const float result = (float)atomic_float(i->op, a, b);
        uint32_t bits;
        memcpy(&bits, &result, sizeof bits);
        return bits;
    }
    if (i->type == F64 && !is_exchange) {
        double a, b;
        memcpy(&a, &old, sizeof a);
        memcpy(&b, &operand, sizeof b);
        const double result = atomic_float(i->op, a, b);
        uint64_t bits;
        memcpy(&bits, &result, sizeof bits);
        return bits;
    }
    if (!is_exchange && (i->type == F16 || i->type == F16X2 || i->type == BF16 || i->type == BF16X2))
        return atomic_halves(i, old, operand);
    return atomic_integer(i, old, operand, new_value);
}

// Updates the elements of a lane's vector, each by a separate atomic operation.
static void update_elements(Warp *w, const Instr *i, int lane, uint8_t *at, bool shared)
{
    for (int k = 0; k < i->count; k++, at += i->bytes) {
        const size_t offset = (size_t)lane * i->bytes;
        const uint64_t operand = sim_read_bytes(w->registers + i->values[k] + offset, i->bytes);
        const uint64_t new_value = sim_read_bytes(w->registers + i->c + offset, i->bytes);
        const uint64_t old = sim_read_bytes(at, i->bytes), result = atomic_result(i, old, operand, new_value, shared);
        sim_write_bytes(at, result, i->bytes);
        w->block->watch->memory_version += result != old; // lets a polling loop continue
        w->block->atomic_changes += result != old;
        w->block->changes.sum += sim_content_hash(at, result) - sim_content_hash(at, old);
        if (!is_sink(i, k))
            sim_write_bytes(w->registers + i->elements[k] + offset, old, i->bytes);
    }
}

// Executes exch or cas of 16 bytes.
static void exchange_16_bytes(Warp *w, const Instr *i, int lane, uint8_t *at)
{
    uint64_t old[2];
    const size_t offset = (size_t)lane * sizeof old;
    for (int k = 0; k < 2; k++)
        old[k] = sim_read_bytes(at + 8 * k, 8);
    const bool is_stored = i->op == ATOMIC_EXCH || memcmp(old, w->registers + i->values[0] + offset, sizeof old) == 0;
    const uint64_t *new_value = (const uint64_t *)(w->registers + i->c + offset);
    w->block->watch->memory_version += is_stored;
    w->block->atomic_changes += is_stored;
    for (int k = 0; k < 2 && is_stored; k++) {
        w->block->changes.sum += sim_content_hash(at + 8 * k, new_value[k]) - sim_content_hash(at + 8 * k, old[k]);
        sim_write_bytes(at + 8 * k, new_value[k], 8);
    }
    if (!is_sink(i, 0))
        memcpy(w->registers + i->elements[0] + offset, old, sizeof old);
}

static void count_as(Warp *w, const Access *access, AccessKind kind)
{
    Access one = *access;
    one.kind = kind;
    one.address_pattern = NULL; // its costs are those of another kind of access
    sim_count_access(w, &one);
}

// With SIM_ATOMIC_LOADS: every atomic operation can replace a store, and one whose result is used a load. Its bank conflicts count once.
static void count_for_goals(Warp *w, const Instr *i, const Access *access)
{
    count_as(w, access, ACCESS_WRITE);
    const uint64_t conflicts = w->block->counters.bank_conflicts;
    if (i->flags & COUNTS_AS_LOAD)
        count_as(w, access, ACCESS_READ);
    w->block->counters.bank_conflicts = conflicts;
}

static void update_lanes(Warp *w, const Instr *i, Access *access)
{
    sim_access(w, i, access);
    if (sim_settings()->counts_atomic_loads)
        count_for_goals(w, i, access);
    if (access->has_unwritten && i->op != ATOMIC_EXCH)
        sim_observer.atomic_on_uninitialised(w, i, access);
    for (uint32_t rest = access->mask; rest; rest &= rest - 1) {
        const int l = __builtin_ctz(rest);
        if (i->bytes == 16)
            exchange_16_bytes(w, i, l, access->pointer[l]);
        else
            update_elements(w, i, l, access->pointer[l], access->space == SHARED);
    }
}

// Executes the lanes one after another.
void sim_atomic(Warp *w, const Instr *i, uint32_t mask)
{
    const size_t bytes = (size_t)i->bytes * i->count;
    Access access = {
        .kind = ACCESS_ATOMIC, .space = (Space)i->at.space, .mask = mask, .bytes = bytes, .alignment = bytes};
    sim_find_addresses(w, i, access.address);
    w->block->counters.atomics++;
    if (i->at.space != GENERIC) {
        update_lanes(w, i, &access);
        return;
    }
    uint32_t masks[SPACES];
    sim_split_generic(w, i, access.address, mask, masks);
    for (access.space = GLOBAL; access.space <= LOCAL; access.space++)
        if ((access.mask = masks[access.space]))
            update_lanes(w, i, &access);
}

// ---- Fences: only the observer needs them, because the simulated memory is sequentially consistent

static void report_fence(Warp *w, const Instr *i, uint32_t mask, FenceKind kind)
{
    if (is_block_checked(w->block))
        sim_observer.fence(w, i, mask, kind);
}

void sim_fence(Warp *w, const Instr *i, uint32_t mask)
{
    report_fence(w, i, mask, MEMORY_FENCE);
}

void sim_fence_mbarrier_init(Warp *w, const Instr *i, uint32_t mask)
{
    report_fence(w, i, mask, MBARRIER_INIT_FENCE);
}

void sim_fence_proxy(Warp *w, const Instr *i, uint32_t mask)
{
    report_fence(w, i, mask, PROXY_FENCE);
}

void sim_wait_for_prerequisites(Warp *w, const Instr *i, uint32_t mask)
{
    (void)i, (void)mask;
    if (is_block_checked(w->block))
        sim_observer.control_dependents(w, true);
}

void sim_launch_dependents(Warp *w, const Instr *i, uint32_t mask)
{
    (void)i, (void)mask;
    if (is_block_checked(w->block))
        sim_observer.control_dependents(w, false);
}
