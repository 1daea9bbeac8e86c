// block_faults.c: records the fault of a block, and writes its message.
#include "machine/blocks.h"

#include <stdarg.h>
#include <string.h>

// Writes "file:line", with only the last 200 characters of a long file name. Returns false if the line is unknown.
static bool source_line_text(const Module *m, int file, int line, char *text, size_t capacity)
{
    if (line <= 0 || file < 0 || file >= m->file_count || !m->files[file].text)
        return false;
    const Slice name = m->files[file];
    const int length = (int)(name.length < 200 ? name.length : 200);
    snprintf(text, capacity, "%.*s:%d", length, name.text + name.length - length, line);
    return true;
}

// Appends ", bar.sync, PTX line 7 (a.cu:3, inlined into a.cu:9)" to the text; returns its new length.
static int append_instruction(const Module *m, const Statement *s, char *text, int used, size_t capacity)
{
    const int opcode_length = (int)(s->opcode.length < 60 ? s->opcode.length : 60);
    used += snprintf(text + used, capacity - (size_t)used, ", %.*s, PTX line %d", opcode_length, s->opcode.text, s->line);
    char line[256], outer[256];
    if (!source_line_text(m, s->source_file, s->source_line, line, sizeof line))
        return used;
    if (s->outer_file != s->source_file && source_line_text(m, s->outer_file, s->outer_line, outer, sizeof outer))
        return used + snprintf(text + used, capacity - (size_t)used, " (%s, inlined into %s)", line, outer);
    return used + snprintf(text + used, capacity - (size_t)used, " (%s)", line);
}

// Writes kernel, block, thread and instruction; lane < 0: no thread.
static void write_location(Block *b, char *text, size_t capacity, const Instr *i, const Warp *w, int lane)
{
    const dim3 size = b->launch->block;
    char name[200];
    sim_demangle(b->launch->kernel->name, name, sizeof name);
    int used =
        snprintf(text, capacity, "simulator: kernel %s, block (%u,%u,%u)", name, b->index.x, b->index.y, b->index.z);
    if (lane >= 0) {
        const unsigned thread = (unsigned)(w->number * LANES + lane);
        used += snprintf(text + used, capacity - (size_t)used, ", thread (%u,%u,%u)", thread % size.x,
                         thread / size.x % size.y, thread / size.x / size.y);
    }
    if (i && i->statement)
        used = append_instruction(b->launch->module, i->statement, text, used, capacity);
    snprintf(text + used, capacity - (size_t)used, ": ");
}

static void record_fault(Warp *w, const Instr *i, int lane, cudaError_t error, const char *format, va_list arguments)
{
    Block *b = w->block;
    sim_wait_for_earlier_blocks(b); // a fault after a stale speculative read restarts the block
    if (b->error != cudaSuccess)
        return;
    b->error = error;
    write_location(b, b->message, sizeof b->message, i, w, lane);
    const size_t used = strlen(b->message);
    b->fault = (Fault){b->fault.kind, i, lane < 0 ? -1 : w->number * LANES + lane, b->number, used, false};
    vsnprintf(b->message + used, sizeof b->message - used, format, arguments);
}

void sim_note_fault(Warp *w, const Instr *i, int lane, cudaError_t error, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    record_fault(w, i, lane, error, format, arguments);
    va_end(arguments);
}

_Noreturn void sim_fault(Warp *w, const Instr *i, int lane, cudaError_t error, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    record_fault(w, i, lane, error, format, arguments);
    va_end(arguments);
    longjmp(w->block->on_fault, FAULT);
}
