// decode.c: decodes statements into instructions: a handler, and operands as frame offsets.
//
// Supported instructions are rows of tables at the end of files in machine/ops, such as alu.c and float.c: syntax, operands,
// handler, kind and effects. A statement that matches no row becomes UNKNOWN, which ends the launch with an error.
#include "front/decode.h"

#include <string.h>

// ---- The table

const char *sim_word_list(Slice word)
{
    static const struct {
        const char *name, *words;
    } LISTS[] = {
        {"ROUNDING", "rn|rz|rm|rp"},
        {"IRND", "rni|rzi|rmi|rpi"}, // to an integer
        {"LOGIC", "and|or|xor"},
        {"SCOPE", "cta|cluster|gpu|sys"},
        {"SPACE", "global|shared|shared::cta|shared::cluster|local|const|param|param::entry|param::func"},
        {"SHARED", "shared|shared::cta"},
        {"CACHE", "ca|cg|cs|cv|lu|wb|wt"},
        {"EVICT", "L1::evict_normal|L1::evict_unchanged|L1::evict_first|L1::evict_last|L1::no_allocate"},
        {"EVICT2", "L2::evict_normal|L2::evict_first|L2::evict_last"},
        {"HINT", "L2::cache_hint"},
        {"POLICY", "L2::evict_normal|L2::evict_first|L2::evict_last|L2::evict_unchanged"},
        {"PREFETCH", "L2::64B|L2::128B|L2::256B"},
        {"VECTOR", "v2|v4|v8"},
        {"DATA", "b8|u8|s8|b16|u16|s16|f16|bf16|b32|u32|s32|f32|f16x2|bf16x2|b64|u64|s64|f64|b128"},
        {"NUMBER", "u8|s8|u16|s16|u32|s32|u64|s64|f16|bf16|f32|f64"},
    };
    for (size_t k = 0; k < sizeof LISTS / sizeof *LISTS; k++)
        if (sim_slice_is(word, LISTS[k].name))
            return LISTS[k].words;
    return NULL;
}

// Removes the part before the next separator from the front of a text. Returns false at the end of the text.
static bool next_part(Slice *rest, char separator, Slice *part)
{
    if (rest->length == 0)
        return false;
    const char *end = memchr(rest->text, separator, rest->length);
    *part = (Slice){rest->text, end ? (size_t)(end - rest->text) : rest->length};
    const size_t used = part->length + (end ? 1 : 0);
    rest->text += used;
    rest->length -= used;
    return true;
}

// True if a word is one of the alternatives a|b|LIST.
static bool is_among(Slice word, Slice words, const Instruction *row)
{
    Slice alternative;
    while (next_part(&words, '|', &alternative)) {
        if (sim_same_slice(word, alternative))
            return true;
        const bool is_capitalised = alternative.text[0] >= 'A' && alternative.text[0] <= 'Z';
        const char *list = is_capitalised ? sim_word_list(alternative) : NULL;
        if (list && is_among(word, (Slice){list, strlen(list)}, row))
            return true;
        if (is_capitalised && sim_slice_is(alternative, "TYPE") && row->by_type[sim_type_named(word)])
            return true;
    }
    return false;
}

static Opcode split_opcode(Slice opcode)
{
    Opcode o = {.count = 0};
    Slice part;
    while (next_part(&opcode, '.', &part)) {
        if (o.count == MAX_PARTS)
            return (Opcode){.count = 0}; // more parts than any opcode has
        o.parts[o.count++] = part;
    }
    return o;
}

// Returns true if an opcode matches a row, and stores its parts in the order of the row. Like ptxas, accepts modifiers in any
// order, except types: cvt.f32.f16 is not cvt.f16.f32.
static bool matches_row(const Instruction *row, const Opcode *opcode, Opcode *ordered)
{
    uint32_t unmatched = (1u << opcode->count) - 2; // a bit for each part but the first, the name
    Slice syntax = {row->syntax, strlen(row->syntax)}, words;
    next_part(&syntax, ' ', &words);
    *ordered = (Opcode){.parts = {opcode->parts[0]}, .count = 1};
    int last_type = 0;
    while (next_part(&syntax, ' ', &words)) {
        const bool is_optional = words.text[0] == '{';
        if (is_optional)
            words = (Slice){words.text + 1, words.length - 2};
        int k = 1;
        while (k < opcode->count && !(unmatched >> k & 1 && is_among(opcode->parts[k], words, row)))
            k++;
        if (k == opcode->count && !is_optional)
            return false;
        if (k == opcode->count)
            continue;
        if (sim_type_named(opcode->parts[k]) != NO_TYPE) {
            if (k < last_type)
                return false;
            last_type = k;
        }
        unmatched &= ~(1u << k);
        ordered->parts[ordered->count++] = opcode->parts[k];
    }
    ordered->type = sim_type_named(ordered->parts[ordered->count - 1]);
    return unmatched == 0;
}

static Slice name_of(const Instruction *row)
{
    return (Slice){row->syntax, strcspn(row->syntax, " ")};
}

static uint32_t bucket_of(Slice text)
{
    uint32_t hash = 0;
    for (size_t k = 0; k < text.length; k++)
        hash = 31 * hash + (uint8_t)text.text[k];
    return hash % DECODER_BUCKETS;
}

// Lists the rows of all tables by the hashes of their names.
static void index_rows(Decoder *d, const InstructionTable *table)
{
    d->rows = sim_allocate(d->arena, DECODER_BUCKETS * sizeof *d->rows);
    d->known = sim_allocate(d->arena, DECODER_BUCKETS * sizeof *d->known);
    for (int k = table->count; k-- > 0;)
        for (int row = table->lists[k]->count; row-- > 0;) {
            TableRow *entry = sim_allocate(d->arena, sizeof *entry), **bucket;
            entry->row = &table->lists[k]->rows[row];
            bucket = &d->rows[bucket_of(name_of(entry->row))];
            entry->next = *bucket;
            *bucket = entry;
        }
}

static const Instruction *find_row(const Decoder *d, const Opcode *opcode, Opcode *ordered)
{
    if (opcode->count == 0)
        return NULL;
    for (const TableRow *entry = d->rows[bucket_of(opcode->parts[0])]; entry; entry = entry->next)
        if (sim_same_slice(name_of(entry->row), opcode->parts[0]) && matches_row(entry->row, opcode, ordered))
            return entry->row;
    return NULL;
}

// Splits and finds each opcode only once: a kernel has far fewer opcodes than statements.
static const KnownOpcode *known_opcode(Decoder *d, Slice text)
{
    KnownOpcode **bucket = &d->known[bucket_of(text)], *o = *bucket;
    while (o && !sim_same_slice(o->text, text))
        o = o->next;
    if (!o) {
        o = sim_allocate(d->arena, sizeof *o);
        *o = (KnownOpcode){.text = text, .split = split_opcode(text), .number = ++d->module->decoder->opcode_count, .next = *bucket};
        o->row = find_row(d, &o->split, &o->ordered);
        *bucket = o;
    }
    return o;
}

bool sim_has_modifier(const Opcode *o, const char *modifier)
{
    return sim_modifier_among(o, &modifier, 1) == 0;
}

int sim_modifier_among(const Opcode *o, const char *const *words, int count)
{
    for (int n = 0; n < count; n++)
        for (int k = 1; k < o->count; k++)
            if (sim_slice_is(o->parts[k], words[n]))
                return n;
    return count;
}

// ---- Statements

static void no_operation(Warp *w, const Instr *i, uint32_t mask)
{
    (void)w, (void)i, (void)mask;
}

static Instr empty_instr(const Statement *s)
{
    return (Instr){
        .run = no_operation, .d = NO_OFFSET, .second = NO_OFFSET, .guard = NO_OFFSET, .reconvergence_pc = NO_INDEX, .statement = s};
}

static bool decode(Decoder *d, const Statement *s, const KnownOpcode *opcode, Instr *i)
{
    if (sim_slice_is(s->opcode, ".branchtargets")) // a jump table, read when its brx.idx is decoded
        return true;
    const Opcode *o = &opcode->ordered;
    const Instruction *row = opcode->row;
    if (!row)
        return false;
    Handler *const run = row->run ? row->run : row->by_type[o->type];
    i->run = run ? run : no_operation;
    i->type = (uint8_t)o->type;
    i->op = (uint8_t)row->op;
    i->kind = (uint8_t)row->kind;
    i->effects = (uint16_t)(row->effects | (row->operands && *row->operands ? WRITES_DESTINATION : 0));
    if (!(row->decode ? row->decode(d, s, o, i) : sim_plain_operands(d, s, o, i, row->operands)))
        return false;
    if (i->control == CONVERGE)
        i->opcode = opcode->number;
    return true;
}

// The syntax error of a statement or of a variable in it; or NULL.
static const char *error_of(const Statement *s)
{
    const char *reason = s->error;
    for (int k = 0; k < s->count && !reason; k++)
        reason = s->operands[k].variable ? s->operands[k].variable->error : NULL;
    return reason;
}

// Decodes a statement; on failure it becomes UNKNOWN.
static void decode_statement(Decoder *d, const Statement *s, Instr *i)
{
    const char *reason = error_of(s);
    const KnownOpcode *opcode = known_opcode(d, s->opcode);
    *i = empty_instr(s);
    if (reason || !decode(d, s, opcode, i)) {
        *i = empty_instr(s);
        i->control = UNKNOWN;
        i->reason = reason;
    }
    if (sim_has_modifier(&opcode->split, "sys"))
        i->effects |= PUBLISHES_TO_HOST;
    if (s->guard) {
        i->guard = s->guard->slot;
        i->guard_negated = s->guard_negated;
    }
}

void sim_require_concurrency(Decoder *d, BlockConcurrency concurrency)
{
    if (d->program->block_concurrency < concurrency)
        d->program->block_concurrency = concurrency;
}

static void allocate_registers(Decoder *d, const Function *f)
{
    for (uint32_t k = 0; k < f->register_count; k++)
        if (f->registers[k]->type == PRED)
            f->registers[k]->slot = sim_new_frame_offset(d, 4, 4);
    for (uint32_t k = 0; k < f->register_count; k++)
        if (f->registers[k]->type != PRED)
            f->registers[k]->slot = sim_new_frame_offset(d, (uint32_t)sim_type_bytes(f->registers[k]->type) * LANES, 64);
    d->program->register_bytes = d->program->frame_bytes;
}

static void add_definition(const Operand *o, uint32_t k)
{
    Register *const registers[] = {o->reg, o->second};
    for (int n = 0; n < 2; n++)
        if (registers[n])
            registers[n]->sole_def = registers[n]->sole_def == NO_INDEX ? k : MANY_DEFS;
    for (int n = 0; n < o->count; n++)
        add_definition(&o->elements[n], k);
}

static void find_definitions(const Function *f)
{
    for (uint32_t k = 0; k < f->register_count; k++)
        f->registers[k]->sole_def = NO_INDEX;
    for (uint32_t k = 0; k < f->count; k++) {
        const Statement *s = &f->statements[k];
        if (s->count > 0 && !s->operands[0].is_address)
            add_definition(&s->operands[0], k);
    }
}

void sim_decode(const Module *m, const Function *f)
{
    Decoder d = *m->decoder;
    Program *program = d.program = f->program;
    d.function = f;
    program->count = f->count;
    program->code = sim_allocate(d.arena, ((size_t)f->count + 1) * sizeof *program->code);
    allocate_registers(&d, f);
    for (uint32_t k = 0; k < f->count; k++)
        decode_statement(&d, &f->statements[k], &program->code[k]);
    find_definitions(f);
    program->code[f->count] = empty_instr(NULL);
    program->code[f->count].control = RETURN;
    for (uint32_t k = f->count; k-- > 0;) {
        Instr *i = &program->code[k];
        i->straight_line_count = i->control == PLAIN && i->guard == NO_OFFSET ? i[1].straight_line_count + 1 : 0;
    }
}

void sim_set_instruction_table(Module *m, const InstructionTable *table, DecodeCall *decode_call)
{
    Decoder *d = m->decoder = sim_allocate(&m->arena, sizeof *d);
    *d = (Decoder){.module = m, .arena = &m->arena, .carry = NO_OFFSET, .decode_call = decode_call};
    index_rows(d, table);
}
