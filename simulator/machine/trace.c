// trace.c: for every launch, writes a row for each warp instruction of one block ($SIM_TRACE_BLOCK, by default 0) to the file
// of $SIM_TRACE. With "all", it traces every block, but only accesses to device memory. With $SIM_TRACE_VALUES a row
// ends with the values loaded, stored or computed, and is completed after the instruction has executed. A launch has at most
// $SIM_TRACE_ROWS rows.
#include "base/platform.h"
#include "machine/block.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static FILE *file;
static char file_buffer[1 << 16];
static int launch_number = -1;
static uint64_t row_index; // next row's index in its launch
static bool row_is_open;

typedef struct TracedAccess { // an access of a warp's instruction
    uint64_t address[LANES];
    Space space;
    size_t bytes; // of each lane
} TracedAccess;

// ---- The file

// Exits because the trace cannot be written.
static _Noreturn void exit_with_error(void)
{
    fprintf(stderr, "simulator: cannot write the trace to %s: %s\n", sim_settings()->trace, strerror(errno));
    exit(EXIT_FAILURE);
}

bool sim_trace_launch(const Launch *launch)
{
    const char *path = sim_settings()->trace;
    if (!path)
        return false;
    if (!file) {
        file = sim_open_output(path);
        if (!file)
            exit_with_error();
        setvbuf(file, file_buffer, _IOFBF, sizeof file_buffer);
        fprintf(
            file,
            "launch,kernel,grid,block,warp,order,event,opcode,ptx_line,source_file,source_line,lanes,memory,bytes,"
            "addresses%s\n",
            sim_settings()->traces_values ? ",values" : "");
    }
    launch_number++;
    row_index = 0;
    return sim_traces_all() || sim_settings()->traced_block < launch->blocks;
}

static bool reached_row_limit(void)
{
    return row_index >= sim_settings()->max_trace_rows;
}

bool sim_traces_all(void)
{
    return sim_settings()->traces_all;
}

// ---- Text: formatted here, because fprintf for each number took a third of a run in the page. A part of a row is collected before it is
// written, so that the file is complete up to the last instruction if the program exits.

static char text[4096];
static size_t text_length;

static void flush_text(void)
{
    fwrite(text, 1, text_length, file);
    text_length = 0;
}

static void put_char(char c)
{
    if (text_length == sizeof text)
        flush_text();
    text[text_length++] = c;
}

static void put_slice(Slice s)
{
    for (size_t k = 0; k < s.length; k++)
        put_char(s.text[k]);
}

static void put_text(const char *s)
{
    put_slice((Slice){s, strlen(s)});
}

static void put_number(uint64_t value)
{
    char digits[20];
    size_t k = sizeof digits;
    do
        digits[--k] = (char)('0' + value % 10);
    while (value /= 10);
    put_slice((Slice){digits + k, sizeof digits - k});
}

// Writes a number in hexadecimal, with at least this number of digits, up to 16.
static void put_hex(uint64_t value, int digits)
{
    int count = value ? (67 - __builtin_clzll(value)) / 4 : 1;
    for (count = count < digits ? digits : count; count > 0; count--)
        put_char("0123456789abcdef"[value >> 4 * (count - 1) & 15]);
}

// Ends the row if one is open, with an empty values column if there is one.
static void end_row(void)
{
    if (row_is_open)
        put_text(sim_settings()->traces_values ? ",\n" : "\n");
    row_is_open = false;
}

void sim_end_trace_of_launch(void)
{
    end_row();
    flush_text();
    if (fflush(file) != 0 || ferror(file))
        exit_with_error();
}

bool sim_is_traced(const Launch *launch, uint64_t number)
{
    return launch->traced && (sim_traces_all() || number == sim_settings()->traced_block);
}

// ---- Accesses

// The byte count in a register of the first active lane.
static size_t bytes_in(const Warp *w, uint32_t slot, uint32_t mask)
{
    return mask ? ((const uint32_t *)(w->registers + slot))[__builtin_ctz(mask)] : 0;
}

// Sets the space and the addresses of an operand in brackets.
static void set_addresses(const Warp *w, const Address *operand, TracedAccess *t)
{
    t->space = (Space)operand->space;
    for (int l = 0; l < LANES; l++)
        t->address[l] = sim_operand_address(w, operand, l);
}

// Finds the instruction's access, or the source of a copy; false if it accesses no memory.
static bool find_access(const Warp *w, const Instr *i, uint32_t mask, TracedAccess *t)
{
    if (i->kind == LOAD || i->kind == STORE || i->kind == ATOMIC) {
        t->space = (Space)i->at.space;
        t->bytes = (size_t)i->bytes * i->count;
        sim_find_addresses(w, i, t->address);
    } else if (i->kind == ASYNC_COPY || i->kind == BULK_COPY) {
        t->bytes = i->kind == ASYNC_COPY ? i->bytes : bytes_in(w, i->c, mask);
        set_addresses(w, &i->addresses[1], t);
    } else if (i->kind == MBARRIER) {
        t->bytes = sizeof(uint64_t);
        set_addresses(w, &i->addresses[0], t);
    } else {
        return false;
    }
    return true;
}

// Finds the destination of a copy; false if the instruction is no copy.
static bool find_destination(const Warp *w, const Instr *i, uint32_t mask, TracedAccess *t)
{
    if (i->kind != ASYNC_COPY && i->kind != BULK_COPY)
        return false;
    t->bytes = i->kind == ASYNC_COPY ? i->bytes : bytes_in(w, i->c, mask);
    set_addresses(w, &i->addresses[0], t);
    return true;
}

// True if the first active lane accesses device memory.
static bool in_device_memory(const TracedAccess *t, uint32_t mask)
{
    const Space space = t->space == GENERIC ? sim_space_at(t->address[__builtin_ctz(mask)]) : t->space;
    return space == GLOBAL;
}

// ---- Rows

typedef struct Place { // an address as a memory and an offset in it
    const char *memory;
    int number; // of the allocation in device memory, else -1
    uint64_t offset;
} Place;

static Place place_of(Space space, uint64_t address)
{
    if (space == GENERIC) {
        space = sim_space_at(address);
        address = sim_offset_of_generic(address);
    }
    if (space == SHARED || space == LOCAL)
        return (Place){space == SHARED ? "shared" : "local", -1, address};
    const Allocation *a = sim_allocation_at(address);
    if (!a || address - a->address >= a->bytes)
        return (Place){"nowhere", -1, address};
    if (a->kind == PARAMETER_MEMORY)
        return (Place){"arguments", -1, address - a->address};
    return (Place){"device", a->number, address - a->address};
}

static void put_memory(const Place *place)
{
    put_text(place->memory);
    if (place->number >= 0)
        put_number((uint64_t)place->number);
}

// Writes the columns "memory", "bytes" (of each lane) and "addresses" (of the active lanes).
static void write_access(const TracedAccess *t, uint32_t mask)
{
    Place first = {0};
    for (uint32_t rest = mask; rest; rest &= rest - 1) {
        const Place place = place_of(t->space, t->address[__builtin_ctz(rest)]);
        if (rest == mask) {
            first = place;
            put_char(',');
            put_memory(&place);
            put_char(',');
            put_number(t->bytes);
        }
        put_char(rest == mask ? ',' : ';');
        if (place.memory != first.memory || place.number != first.number) { // lanes of a generic access may be in different spaces
            put_memory(&place);
            put_char('+');
        }
        put_number(place.offset);
    }
    if (mask == 0)
        put_text(",,,");
    flush_text();
}

static void put_column(Slice s)
{
    put_char(',');
    put_slice(s);
}

static void put_number_column(uint64_t value)
{
    put_char(',');
    put_number(value);
}

static void put_barrier(uint64_t number)
{
    put_text(",barrier");
    put_number(number);
    put_text(",,");
    flush_text();
}

// Writes the columns from "launch" to "lanes".
static void start_row(const Warp *w, const char *event, const Statement *s, uint32_t mask)
{
    const Launch *launch = w->block->launch;
    const Slice kernel = sim_unqualified_name(launch->kernel->name);
    end_row();
    row_is_open = true;
    const Slice opcode = s ? s->opcode : (Slice){"ret", 3}; // implicit at the end of a function
    const bool has_location = s && s->source_line > 0 && s->source_file >= 0 && s->source_file < launch->module->file_count;
    Slice source = has_location ? launch->module->files[s->source_file] : (Slice){"", 0};
    for (size_t k = source.length; k > 0; k--)
        if (source.text[k - 1] == '/') {
            source = (Slice){source.text + k, source.length - k};
            break;
        }
    put_number((uint64_t)launch_number);
    put_column(kernel);
    put_number_column(launch->blocks);
    put_number_column(w->block->number);
    put_number_column((uint64_t)w->number);
    put_number_column(row_index++);
    put_column((Slice){event, strlen(event)});
    put_column(opcode);
    put_number_column(s ? (uint64_t)s->line : 0);
    put_column(source);
    put_number_column(has_location ? (uint64_t)s->source_line : 0);
    put_char(',');
    put_hex(mask, 8);
}

// Adds rows for the instruction's accesses to device memory.
static void trace_device_memory(const Warp *w, const Instr *i, uint32_t mask)
{
    TracedAccess access = {0};
    if (mask && find_access(w, i, mask, &access) && in_device_memory(&access, mask)) {
        start_row(w, "run", i->statement, mask);
        write_access(&access, mask);
    }
    if (mask && !reached_row_limit() && find_destination(w, i, mask, &access) && in_device_memory(&access, mask)) {
        start_row(w, "target", i->statement, mask);
        write_access(&access, mask);
    }
}

void sim_trace_instruction(const Warp *w, const WarpSplit *p)
{
    const Instr *i = &p->frame->function->program->code[p->pc];
    uint32_t mask = p->mask;
    if (i->guard != NO_OFFSET)
        mask &= *(uint32_t *)(w->registers + i->guard) ^ (i->guard_negated ? ALL_LANES : 0);
    TracedAccess access = {0};
    end_row(); // otherwise values of another instruction could be appended to the open row
    if (reached_row_limit())
        return;
    if (sim_traces_all()) {
        trace_device_memory(w, i, mask);
        return;
    }
    start_row(w, "run", i->statement, mask);
    if (i->control == BLOCK_BARRIER && mask)
        put_barrier(bytes_in(w, i->a, mask));
    else
        write_access(&access, find_access(w, i, mask, &access) ? mask : 0);
    if (!reached_row_limit() && find_destination(w, i, mask, &access)) {
        start_row(w, "target", i->statement, mask);
        write_access(&access, mask);
    }
}

void sim_trace_release(const Warp *w, const WarpSplit *p)
{
    if (sim_traces_all() || reached_row_limit())
        return;
    start_row(w, "release", p->frame->function->program->code[p->pc - 1].statement, p->mask);
    put_barrier((uint64_t)p->barrier);
}

// ---- Values

// The operand with the registers that the instruction writes or that a store reads: the first that is not an address.
static const Operand *value_operand(const Statement *s)
{
    const Operand *operand = s->count > 1 && s->operands[0].is_address ? &s->operands[1] : &s->operands[0];
    const bool has_values = s->count > 0 && !operand->is_address && (operand->kind == IS_REGISTER || operand->kind == IS_VECTOR);
    return has_values ? operand : NULL;
}

static void write_register(const Warp *w, const Register *reg, int lane)
{
    const size_t bytes = (size_t)sim_type_bytes(reg->type);
    uint64_t value = 0;
    if (bytes == 0 || bytes > sizeof value) // a predicate, or 16 bytes
        return;
    memcpy(&value, w->registers + reg->slot + (size_t)lane * bytes, bytes);
    put_hex(value, 1);
}

void sim_trace_values(const Warp *w, const Instr *i, uint32_t mask)
{
    const Operand *operand = i->statement ? value_operand(i->statement) : NULL;
    if (!row_is_open || !sim_settings()->traces_values || !operand)
        return;
    const bool is_vector = operand->kind == IS_VECTOR;
    for (uint32_t rest = mask; rest; rest &= rest - 1) {
        put_char(rest == mask ? ',' : ';');
        for (int k = 0; k < (is_vector ? operand->count : 1); k++) {
            const Operand *element = is_vector ? &operand->elements[k] : operand;
            if (k > 0)
                put_char(' ');
            if (element->kind == IS_REGISTER)
                write_register(w, element->reg, __builtin_ctz(rest));
        }
    }
    if (mask) {
        put_char('\n');
        row_is_open = false;
    }
    flush_text();
}
