// trace.c: for every launch, writes a row for each warp instruction of one block ($SIM_TRACE_BLOCK, by default 0) to the file
// of $SIM_TRACE. With "all", it traces every block, but only accesses to device memory. With $SIM_TRACE_VALUES a row
// ends with the values loaded, stored or computed, and is completed after the instruction has executed. A launch has at most
// $SIM_TRACE_ROWS rows.
#include "base/platform.h"
#include "machine/block.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

static FILE *file;
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

// Ends the row if one is open, with an empty values column if there is one.
static void end_row(void)
{
    if (row_is_open)
        fputs(sim_settings()->traces_values ? ",\n" : "\n", file);
    row_is_open = false;
}

void sim_end_trace_of_launch(void)
{
    end_row();
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

// Writes the name of the memory at an address, and makes the address an offset in it.
static void name_memory(char *name, size_t capacity, Space space, uint64_t *address)
{
    if (space == GENERIC) {
        space = sim_space_at(*address);
        *address = sim_offset_of_generic(*address);
    }
    const Allocation *a = space == SHARED || space == LOCAL ? NULL : sim_allocation_at(*address);
    const bool is_found = a && *address - a->address < a->bytes;
    if (is_found)
        *address -= a->address;
    if (is_found && a->kind != PARAMETER_MEMORY)
        snprintf(name, capacity, "device%d", a->number);
    else if (is_found)
        snprintf(name, capacity, "arguments");
    else
        snprintf(name, capacity, "%s", space == SHARED ? "shared" : space == LOCAL ? "local" : "nowhere");
}

// Writes the columns "memory", "bytes" (of each lane) and "addresses" (of the active lanes).
static void write_access(const TracedAccess *t, uint32_t mask)
{
    char first[32] = "", name[32];
    for (uint32_t rest = mask; rest; rest &= rest - 1) {
        uint64_t address = t->address[__builtin_ctz(rest)];
        name_memory(name, sizeof name, t->space, &address);
        if (rest == mask)
            fprintf(file, ",%s,%zu,", strcpy(first, name), t->bytes);
        else
            fprintf(file, ";");
        if (strcmp(name, first) != 0) // lanes of a generic access may be in different spaces
            fprintf(file, "%s+", name);
        fprintf(file, "%" PRIu64, address);
    }
    if (mask == 0)
        fputs(",,,", file);
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
    fprintf(file, "%d,%.*s,%" PRIu64 ",%" PRIu64 ",%d,%" PRIu64 ",%s,%.*s,%d,%.*s,%d,%08x", launch_number,
            (int)kernel.length, kernel.text, launch->blocks, w->block->number, w->number, row_index++, event,
            (int)opcode.length, opcode.text, s ? s->line : 0, (int)source.length, source.text,
            has_location ? s->source_line : 0, mask);
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
        fprintf(file, ",barrier%zu,,", bytes_in(w, i->a, mask));
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
    fprintf(file, ",barrier%d,,", p->barrier);
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
    fprintf(file, "%" PRIx64, value);
}

void sim_trace_values(const Warp *w, const Instr *i, uint32_t mask)
{
    const Operand *operand = i->statement ? value_operand(i->statement) : NULL;
    if (!row_is_open || !sim_settings()->traces_values || !operand)
        return;
    const bool is_vector = operand->kind == IS_VECTOR;
    for (uint32_t rest = mask; rest; rest &= rest - 1) {
        fputc(rest == mask ? ',' : ';', file);
        for (int k = 0; k < (is_vector ? operand->count : 1); k++) {
            const Operand *element = is_vector ? &operand->elements[k] : operand;
            fputs(k ? " " : "", file);
            if (element->kind == IS_REGISTER)
                write_register(w, element->reg, __builtin_ctz(rest));
        }
    }
    if (mask) {
        fputc('\n', file);
        row_is_open = false;
    }
}
