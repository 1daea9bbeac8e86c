// decode_async.c: decodes asynchronous copies and mbarrier operations.
#include "machine/ops/instructions.h"
#include "machine/block.h"

#include <string.h>

// ---- mbarrier

// Decodes the operands after operand `first`, which is the address: at least `required`, at most one for each letter.
static bool decode_operands_after(Decoder *d, const Statement *s, int first, const char *letters, int required,
                          uint32_t *offsets)
{
    const int given = s->count - first - 1, max_count = (int)strlen(letters);
    if (given < required || given > max_count)
        return false;
    for (int k = 0; k < given; k++)
        if ((offsets[k] = sim_source(d, &s->operands[first + 1 + k], letters[k])) == NO_OFFSET)
            return false;
    return true;
}

static bool decode_mbarrier_address(Decoder *d, const Operand *o, const Opcode *opcode, Instr *i)
{
    static const char *const SHARED_NAMES[] = {"shared", "shared::cta"};
    Address *address = sim_allocate(d->arena, sizeof *address);
    i->addresses = address;
    return sim_decode_address(d, o, sim_modifier_among(opcode, SHARED_NAMES, 2) < 2 ? SHARED : GENERIC, address);
}

// mbarrier.init [address], count and mbarrier.inval [address]
static bool decode_mbarrier(Decoder *d, const Statement *s, const Opcode *o, Instr *i)
{
    const int required = sim_has_modifier(o, "init") ? 1 : 0;
    return decode_operands_after(d, s, 0, required ? "i" : "", required, &i->b) && decode_mbarrier_address(d, &s->operands[0], o, i);
}

// mbarrier.arrive.b64 state, [address]{, count}. With expect_tx the last operand is a byte count; expect_tx alone has no state.
static bool decode_arrive(Decoder *d, const Statement *s, const Opcode *o, Instr *i)
{
    const bool has_expect_tx = sim_has_modifier(o, "expect_tx"), is_arrive_drop = sim_has_modifier(o, "arrive_drop"),
               has_arrive = is_arrive_drop || sim_has_modifier(o, "arrive");
    const int first = has_arrive ? 1 : 0;
    uint32_t count = NO_OFFSET;
    if (!decode_operands_after(d, s, first, "i", has_expect_tx, &count))
        return false;
    const bool has_sink = s->operands[0].kind == IS_SINK;
    i->d = has_arrive && !has_sink ? sim_destination(&s->operands[0], 'l') : NO_OFFSET;
    i->b = has_expect_tx || count == NO_OFFSET ? sim_constant(d, 4, has_arrive) : count;
    i->c = has_expect_tx ? count : sim_constant(d, 4, 0);
    i->flags = is_arrive_drop ? DROPS_ARRIVALS : 0;
    return (!has_arrive || has_sink || i->d != NO_OFFSET) && decode_mbarrier_address(d, &s->operands[first], o, i);
}

// mbarrier.test_wait.b64 done, [address], state; with .parity phaseParity. The suspendTimeHint of try_wait is ignored.
static bool decode_test(Decoder *d, const Statement *s, const Opcode *o, Instr *i)
{
    const bool has_parity = sim_has_modifier(o, "parity"), is_try_wait = sim_has_modifier(o, "try_wait");
    uint32_t offsets[2] = {NO_OFFSET, NO_OFFSET};
    if (!decode_operands_after(d, s, 1, has_parity ? (is_try_wait ? "ii" : "i") : is_try_wait ? "li" : "l", 1, offsets))
        return false;
    i->control = PHASE_TEST;
    i->d = sim_destination(&s->operands[0], 'p');
    i->b = offsets[0];
    i->bytes = has_parity ? 4 : 8;
    return i->d != NO_OFFSET && decode_mbarrier_address(d, &s->operands[1], o, i);
}

// ---- Copies

// cp.async.ca.shared.global [to], [from], cp-size{, src-size}{, cache-policy}
static bool decode_async_copy(Decoder *d, const Statement *s, const Opcode *o, Instr *i)
{
    const int has_policy = sim_has_modifier(o, "L2::cache_hint"), count = s->count - has_policy;
    if (count < 3 || count > 4 || s->operands[2].kind != IS_INTEGER || (has_policy && sim_source(d, &s->operands[count], 'l') == NO_OFFSET))
        return false;
    const int64_t bytes = s->operands[2].integer;
    if (bytes != 4 && bytes != 8 && bytes != 16)
        return false;
    Address *addresses = sim_allocate(d->arena, 2 * sizeof *addresses);
    i->addresses = addresses;
    i->bytes = (uint8_t)bytes;
    i->count = 1;
    i->c = count == 4 ? sim_source(d, &s->operands[3], 'i') : sim_constant(d, 4, (uint64_t)bytes);
    return i->c != NO_OFFSET && sim_decode_address(d, &s->operands[0], SHARED, &addresses[0]) &&
           sim_decode_address(d, &s->operands[1], GLOBAL, &addresses[1]);
}

// cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [to], [from], size, [mbarrier]{, cache-policy} and
// cp.async.bulk.global.shared::cta.bulk_group [to], [from], size{, cache-policy}. The copies execute at once; only the
// checker needs the wait, before which the source must not be overwritten. Other blocks' shared memory is not supported.
static bool decode_bulk_copy(Decoder *d, const Statement *s, const Opcode *o, Instr *i)
{
    const bool is_load = sim_has_modifier(o, "mbarrier::complete_tx::bytes");
    const int has_policy = sim_has_modifier(o, "L2::cache_hint");
    if (s->count != 3 + is_load + has_policy || (has_policy && sim_source(d, &s->operands[s->count - 1], 'l') == NO_OFFSET))
        return false;
    Address *addresses = sim_allocate(d->arena, 3 * sizeof *addresses);
    i->addresses = addresses;
    d->module->uses_bulk_copies = true;
    i->c = sim_source(d, &s->operands[2], 'i');
    return i->c != NO_OFFSET && sim_decode_address(d, &s->operands[0], is_load ? SHARED : GLOBAL, &addresses[0]) &&
           sim_decode_address(d, &s->operands[1], is_load ? GLOBAL : SHARED, &addresses[1]) &&
           (!is_load || sim_decode_address(d, &s->operands[3], SHARED, &addresses[2]));
}

// st.async.shared::cluster.mbarrier::complete_tx::bytes.b32 [to], value, [mbarrier]
static bool decode_async_store(Decoder *d, const Statement *s, const Opcode *o, Instr *i)
{
    Address *addresses = sim_allocate(d->arena, 2 * sizeof *addresses);
    i->addresses = addresses;
    i->bytes = (uint8_t)sim_type_bytes(o->type);
    i->flags = WITHIN_CLUSTER;
    i->c = s->count == 3 ? sim_source(d, &s->operands[1], sim_letter_of_type(o->type)) : NO_OFFSET;
    return i->c != NO_OFFSET && sim_decode_address(d, &s->operands[0], SHARED, &addresses[0]) &&
           sim_decode_address(d, &s->operands[2], SHARED, &addresses[1]);
}

// cp.async.mbarrier.arrive{.noinc} [address]. Without .noinc the pending count is first incremented, so the arrival has no net
// effect.
static bool decode_arrival_after_copies(Decoder *d, const Statement *s, const Opcode *o, Instr *i)
{
    i->b = sim_constant(d, 4, sim_has_modifier(o, "noinc"));
    i->c = sim_constant(d, 4, 0);
    return s->count == 1 && decode_mbarrier_address(d, &s->operands[0], o, i);
}

// cp.async.wait_group n and cp.async.bulk.wait_group n
static bool decode_await_copies(Decoder *d, const Statement *s, const Opcode *o, Instr *i)
{
    (void)d, (void)o;
    const Operand *groups = &s->operands[0];
    if (s->count != 1 || groups->kind != IS_INTEGER || groups->integer < 0 || groups->integer > UINT32_MAX)
        return false;
    i->groups = (uint32_t)groups->integer;
    return true;
}

static bool decode_no_operands(Decoder *d, const Statement *s, const Opcode *o, Instr *i)
{
    (void)d, (void)o, (void)i;
    return s->count == 0;
}

#define BULK .run = sim_copy_bulk, .kind = BULK_COPY, .effects = PUBLISHES | SYNCHRONISES | UNCOUNTED

static const Instruction ROWS[] = {
    {"mbarrier init {SHARED} b64", .decode = decode_mbarrier, .run = sim_mbarrier_init, .kind = MBARRIER,
     .effects = PUBLISHES | SYNCHRONISES},
    {"mbarrier inval {SHARED} b64", .decode = decode_mbarrier, .run = sim_mbarrier_inval, .kind = MBARRIER,
     .effects = PUBLISHES},
    {"mbarrier arrive|arrive_drop {expect_tx|noComplete} {release|relaxed} {cta|cluster} {SHARED} b64",
     .decode = decode_arrive, .run = sim_mbarrier_arrive, .kind = MBARRIER, .effects = PUBLISHES | SYNCHRONISES},
    {"mbarrier expect_tx {relaxed} {cta|cluster} {SHARED} b64", .decode = decode_arrive, .run = sim_mbarrier_arrive,
     .kind = MBARRIER, .effects = PUBLISHES | SYNCHRONISES},
    {"mbarrier test_wait|try_wait {parity} {acquire|relaxed} {cta|cluster} {SHARED} b64", .decode = decode_test,
     .run = sim_mbarrier_test, .kind = MBARRIER, .effects = OBSERVES | SYNCHRONISES},
    {"cp async ca|cg {SHARED} global {EVICT} {HINT} {PREFETCH}", .decode = decode_async_copy, .run = sim_copy_async,
     .kind = ASYNC_COPY, .effects = PUBLISHES},
    {"st async {weak} {shared::cluster} mbarrier::complete_tx::bytes b32|b64|u32|u64|s32|s64|f32|f64",
     .decode = decode_async_store, .run = sim_store_async, .kind = ASYNC_STORE, .effects = PUBLISHES | SYNCHRONISES | UNCOUNTED},
    {"cp async mbarrier arrive {noinc} {SHARED} b64", .decode = decode_arrival_after_copies,
     .run = sim_arrive_after_copies, .kind = ARRIVE_AFTER_COPIES, .effects = SYNCHRONISES},
    {"cp async commit_group", .operands = "", .run = sim_commit_copies},
    {"cp async wait_group", .decode = decode_await_copies, .run = sim_await_copies},
    {"cp async wait_all", .operands = "", .run = sim_await_all_copies},
    {"cp async bulk shared::cluster|shared::cta global mbarrier::complete_tx::bytes {L2::cache_hint}",
     .decode = decode_bulk_copy, BULK},
    {"cp async bulk global shared::cta bulk_group {L2::cache_hint}", .decode = decode_bulk_copy, BULK},
    {"cp async bulk commit_group", .decode = decode_no_operands, .run = sim_commit_bulk},
    {"cp async bulk wait_group {read}", .decode = decode_await_copies, .run = sim_await_bulk, .kind = AWAIT_BULK},
    {"griddepcontrol wait", .decode = decode_no_operands, .run = sim_wait_for_prerequisites},
    {"griddepcontrol launch_dependents", .decode = decode_no_operands, .run = sim_launch_dependents},
};

INSTRUCTION_LIST(sim_async_instructions, "Asynchronous copies and their barriers", ROWS)
