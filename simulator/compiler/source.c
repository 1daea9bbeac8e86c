// source.c: memory, texts, positions and diagnostics of a compilation.
#include "compiler/source.h"

#include <ctype.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

void *compile_allocate(Compiler *c, size_t bytes)
{
    c->allocated += bytes;
    if (c->allocated > MAX_FRONT_BYTES)
        source_abandon(c, 0, "the program is too large for this compiler (%zu MB of memory)", MAX_FRONT_BYTES >> 20);
    return sim_allocate(c->arena, bytes ? bytes : 1);
}

void *compile_grow(Compiler *c, void *elements, uint32_t count, uint32_t *capacity, size_t size)
{
    if (count < *capacity)
        return elements;
    *capacity = *capacity ? 2 * *capacity : 8;
    void *larger = compile_allocate(c, *capacity * size);
    if (count)
        memcpy(larger, elements, count * size);
    return larger;
}

char *compile_copy_text(Compiler *c, const char *text, size_t length)
{
    char *copy = compile_allocate(c, length + 1);
    memcpy(copy, text, length);
    return copy;
}

static char *format_list(Compiler *c, const char *format, va_list arguments)
{
    va_list copy;
    va_copy(copy, arguments);
    const int length = vsnprintf(NULL, 0, format, copy);
    va_end(copy);
    if (length < 0)
        return "";
    char *text = compile_allocate(c, (size_t)length + 1);
    vsnprintf(text, (size_t)length + 1, format, arguments);
    return text;
}

char *compile_format(Compiler *c, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    char *text = format_list(c, format, arguments);
    va_end(arguments);
    return text;
}

// ---- Texts

SourceFile *source_add(Compiler *c, const char *name, const char *text, size_t length, bool built_in)
{
    if (length > UINT32_MAX / 4 - c->next_base)
        source_abandon(c, 0, "'%s' is too large", name);
    SourceFile *file = compile_new(c, SourceFile);
    *file = (SourceFile){.name = name, .length = (uint32_t)length, .base = c->next_base + 1, .built_in = built_in};
    file->text = compile_copy_text(c, text, length);
    c->next_base += (uint32_t)length + 1; // one more, for the position of the end
    *compile_push(c, c->files, c->file_count, c->file_capacity) = file;
    return file;
}

SourceFile *source_file_at(const Compiler *c, Position position)
{
    uint32_t low = 0, high = c->file_count;
    while (low < high) { // the last file whose base is not larger
        const uint32_t middle = (low + high) / 2;
        if (c->files[middle]->base <= position)
            low = middle + 1;
        else
            high = middle;
    }
    return position && low ? c->files[low - 1] : NULL;
}

static void find_lines(Compiler *c, SourceFile *file)
{
    uint32_t capacity = 0;
    *compile_push(c, file->line_starts, file->line_count, capacity) = 0;
    for (uint32_t k = 0; k < file->length; k++)
        if (file->text[k] == '\n')
            *compile_push(c, file->line_starts, file->line_count, capacity) = k + 1;
}

static uint32_t line_in(Compiler *c, SourceFile *file, Position position)
{
    if (!file->line_starts)
        find_lines(c, file);
    const uint32_t offset = position - file->base;
    uint32_t low = 0, high = file->line_count;
    while (low < high) {
        const uint32_t middle = (low + high) / 2;
        if (file->line_starts[middle] <= offset)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

uint32_t source_line(Compiler *c, Position position)
{
    SourceFile *file = source_file_at(c, position);
    return file && !file->built_in ? line_in(c, file, position) : 0;
}

uint32_t source_column(Compiler *c, Position position)
{
    SourceFile *file = source_file_at(c, position);
    if (!file || file->built_in)
        return 0;
    const uint32_t line = line_in(c, file, position); // line_in may fill line_starts first
    return position - file->base - file->line_starts[line - 1] + 1;
}

uint32_t source_indentation(Compiler *c, Position position)
{
    const SourceFile *file = source_file_at(c, position);
    const uint32_t column = source_column(c, position);
    if (!column)
        return 0;
    const char *line = file->text + (position - file->base) - (column - 1);
    return (uint32_t)strspn(line, " \t");
}

// ---- Diagnostics

bool source_has_error_at(const Compiler *c, Position at)
{
    for (int k = 0; k < c->result->diagnostic_count; k++)
        if (c->diagnostic_positions[k] == at && c->result->diagnostics[k].severity == ERROR_DIAGNOSTIC)
            return true;
    return false;
}

static bool is_repeated(const Compiler *c, Position at, const char *message)
{
    for (int k = 0; k < c->result->diagnostic_count; k++)
        if (c->diagnostic_positions[k] == at && !strcmp(c->result->diagnostics[k].message, message))
            return true;
    return false;
}

static void add_diagnostic(Compiler *c, Severity severity, Position at, uint32_t length, const char *help, char *message)
{
    const SourceFile *file = source_file_at(c, at);
    if (!file || file->built_in) { // in a library header, for instance: report the user's line, if it is known
        for (const InstantiationNote *note = c->instantiation; note && (!file || file->built_in); note = note->outer)
            file = source_file_at(c, at = note->position);
        length = 1;
    }
    if (!file || file->built_in)
        file = c->files[0], at = file->base;
    const uint32_t line = source_line(c, at);
    uint32_t word = 0; // bytes of the word at the position
    const char *text = file->text + (at - file->base);
    uint32_t rest = 0; // bytes of the line from the position on
    while (rest < MAX_SHOWN && text[rest] && text[rest] != '\n')
        rest++;
    while (length == 0 && word < MAX_SHOWN && (isalnum((unsigned char)text[word]) || text[word] == '_'))
        word++;
    length += word;
    Compilation *r = c->result;
    uint32_t count = (uint32_t)r->diagnostic_count, capacity = c->diagnostic_capacity, position_capacity = capacity;
    r->diagnostics = compile_grow(c, r->diagnostics, count, &capacity, sizeof *r->diagnostics);
    c->diagnostic_positions = compile_grow(c, c->diagnostic_positions, count, &position_capacity, sizeof *c->diagnostic_positions);
    c->diagnostic_capacity = capacity;
    const uint32_t column = source_column(c, at), before = column - 1 < MAX_SHOWN ? column - 1 : MAX_SHOWN / 2;
    r->diagnostics[count] = (Diagnostic){.severity = severity, .file = file->name, .line = (int)line, .column = (int)column,
                                         .message = message, .help = help, .text = compile_copy_text(c, text - before, before + rest),
                                         .text_column = (int)(column - before),
                                         .length = (int)(length == 0 || rest == 0 ? 1 : length < rest ? length : rest)};
    c->diagnostic_positions[count] = at;
    r->diagnostic_count++;
}

static void add_instantiation_notes(Compiler *c)
{
    int count = 0;
    for (const InstantiationNote *note = c->instantiation; note && count < 4; note = note->outer) {
        const SourceFile *file = source_file_at(c, note->position);
        if (file && !file->built_in)
            add_diagnostic(c, NOTE_DIAGNOSTIC, note->position, 1, NULL,
                           compile_format(c, "in the instantiation of '%s' that is needed here", note->readable)), count++;
    }
}

static void report(Compiler *c, Severity severity, Position at, uint32_t length, const char *help, char *message)
{
    if (c->silent) {
        c->silent_errors += severity == ERROR_DIAGNOSTIC;
        return;
    }
    if (is_repeated(c, at, message))
        return;
    add_diagnostic(c, severity, at, length, help, message);
    if (severity != NOTE_DIAGNOSTIC)
        add_instantiation_notes(c);
    if (severity == ERROR_DIAGNOSTIC && ++c->result->error_count >= MAX_ERRORS)
        source_abandon(c, at, "too many errors: the rest is not shown");
}

void source_error(Compiler *c, Position at, uint32_t length, const char *help, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    report(c, ERROR_DIAGNOSTIC, at, length, help, format_list(c, format, arguments));
    va_end(arguments);
}

void source_host_error(Compiler *c, Position at, uint32_t length, const char *help, const char *format, ...)
{
    const int silent = c->silent;
    c->silent = 0;
    va_list arguments;
    va_start(arguments, format);
    report(c, ERROR_DIAGNOSTIC, at, length, help, format_list(c, format, arguments));
    va_end(arguments);
    c->silent = silent;
}

void source_warning(Compiler *c, Position at, uint32_t length, const char *help, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    report(c, WARNING_DIAGNOSTIC, at, length, help, format_list(c, format, arguments));
    va_end(arguments);
}

void source_note(Compiler *c, Position at, uint32_t length, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    const SourceFile *file = source_file_at(c, at);
    if (file && !file->built_in && c->result->diagnostic_count)
        report(c, NOTE_DIAGNOSTIC, at, length, NULL, format_list(c, format, arguments));
    va_end(arguments);
}

void source_abandon(Compiler *c, Position at, const char *format, ...)
{
    char text[200]; // not from the arena: that may be what is exhausted
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    c->allocated = 0;
    c->silent = 0;
    add_diagnostic(c, ERROR_DIAGNOSTIC, at, 1, NULL, compile_copy_text(c, text, strlen(text)));
    c->result->error_count++;
    longjmp(c->abandon_point, 1);
}

typedef struct Group { // an error or warning with its notes
    Position position;
    int first, count;
} Group;

static int compare_groups(const void *a, const void *b)
{
    const Group *one = a, *other = b;
    if (one->position != other->position)
        return one->position < other->position ? -1 : 1;
    return one->first - other->first;
}

void source_sort_diagnostics(Compiler *c)
{
    Compilation *r = c->result;
    const size_t count = (size_t)r->diagnostic_count;
    Group *groups = sim_allocate(c->arena, (count + 1) * sizeof *groups);
    size_t group_count = 0;
    for (size_t k = 0; k < count; k++) {
        if (r->diagnostics[k].severity != NOTE_DIAGNOSTIC || k == 0)
            groups[group_count++] = (Group){c->diagnostic_positions[k], (int)k, 0};
        groups[group_count - 1].count++;
    }
    qsort(groups, group_count, sizeof *groups, compare_groups);
    Diagnostic *sorted = sim_allocate(c->arena, (count + 1) * sizeof *sorted);
    size_t at = 0;
    for (size_t k = 0; k < group_count; k++)
        for (int j = 0; j < groups[k].count; j++)
            sorted[at++] = r->diagnostics[groups[k].first + j];
    r->diagnostics = sorted;
}

// ---- Similar names

uint32_t source_distance(const char *a, size_t a_length, const char *b, size_t b_length, uint32_t limit)
{
    enum { MAX_LENGTH = 60 };
    uint32_t rows[3][MAX_LENGTH + 1];
    const size_t difference = a_length > b_length ? a_length - b_length : b_length - a_length;
    if (a_length > MAX_LENGTH || b_length > MAX_LENGTH || 2 * difference >= limit)
        return limit;
    for (size_t j = 0; j <= b_length; j++)
        rows[0][j] = 2 * (uint32_t)j;
    for (size_t i = 1; i <= a_length; i++) {
        uint32_t *row = rows[i % 3], *previous = rows[(i + 2) % 3], *before_previous = rows[(i + 1) % 3];
        row[0] = 2 * (uint32_t)i;
        for (size_t j = 1; j <= b_length; j++) {
            const char x = a[i - 1], y = b[j - 1];
            uint32_t distance = previous[j - 1] + (x == y ? 0 : tolower((unsigned char)x) == tolower((unsigned char)y) ? 1 : 2);
            distance = previous[j] + 2 < distance ? previous[j] + 2 : distance;
            distance = row[j - 1] + 2 < distance ? row[j - 1] + 2 : distance;
            if (i > 1 && j > 1 && x == b[j - 2] && y == a[i - 2] && before_previous[j - 2] + 2 < distance)
                distance = before_previous[j - 2] + 2;
            row[j] = distance;
        }
    }
    const uint32_t distance = rows[a_length % 3][b_length];
    return distance < limit ? distance : limit;
}
