// findings.c: the list of findings, one for each kind and pair of source lines. They are printed like a compiler's diagnostics, and
// written as JSON.
#define _GNU_SOURCE // getline
#include "checker/findings.h"
#include "base/platform.h"

#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_LOCATIONS = 2 };

typedef struct Finding {
    FindingKind kind;
    bool is_error;     // false: a warning
    RaceScope scope;   // the widest scope (warp, block or grid) of the racing pairs seen; the hint describes a pair of that scope
    char title[400], hint[HINT_BYTES];
    FindingLocation locations[MAX_LOCATIONS]; // locations of the occurrence that is shown
    int location_count;
    uint64_t count; // occurrences
    bool printed;
    bool suppressed; // neither printed, nor written, nor part of the exit status
} Finding;

// Guarded by `lock`.
static Lock lock;
static Finding *findings;
static int finding_count;
static uint64_t dropped; // occurrences of findings that exceed MAX_FINDINGS

// ---- Locations

static dim3 index_of(uint64_t number, dim3 size)
{
    return (dim3){(unsigned)(number % size.x), (unsigned)(number / size.x % size.y),
                  (unsigned)(number / size.x / size.y)};
}

// What an instruction does, and to how many bytes of which memory. It distinguishes locations without a line.
static uint64_t operation_of(const Instr *i)
{
    return i ? 1 | (uint64_t)i->kind << 8 | (uint64_t)i->control << 16 | (uint64_t)i->bytes << 24 | (uint64_t)i->count << 32 |
                   (uint64_t)i->at.space << 40 | (uint64_t)i->semantics << 48
             : 0;
}

FindingLocation sim_location_of(const Launch *launch, uint64_t block_number, uint32_t thread, const Instr *i, const char *access, LocationRole role)
{
    FindingLocation p = {.role = role, .operation = operation_of(i), .launch = launch->number, .block_number = block_number,
                         .block = index_of(block_number, launch->grid), .thread = index_of(thread, launch->block)};
    snprintf(p.access, sizeof p.access, "%s", access);
    sim_demangle(launch->kernel->name, p.kernel, sizeof p.kernel);
    const Statement *s = i ? i->statement : NULL;
    const Module *m = launch->module;
    const bool is_inlined = s && s->outer_line > 0; // from a header: uses the line of the call
    const int file = !s ? -1 : is_inlined ? s->outer_file : s->source_file, line = !s ? 0 : is_inlined ? s->outer_line : s->source_line;
    if (line > 0 && file >= 0 && file < m->file_count && m->files[file].text) {
        snprintf(p.file, sizeof p.file, "%.*s", (int)m->files[file].length, m->files[file].text);
        p.line = line;
    }
    return p;
}

FindingLocation sim_lane_location(const Warp *w, int lane, const Instr *i, const char *access, LocationRole role)
{
    return sim_location_of(w->block->launch, w->block->number, (uint32_t)(w->number * LANES + lane), i, access, role);
}

// True if occurrences at the two locations belong to one finding: same caller, and same file and line; without a line, same
// kernel and operation.
static bool same_group(const FindingLocation *a, const FindingLocation *b)
{
    if (a->line != b->line || strcmp(a->caller, b->caller) != 0)
        return false;
    return a->line > 0 ? strcmp(a->file, b->file) == 0 : strcmp(a->kernel, b->kernel) == 0 && a->operation == b->operation;
}

// Whether one location precedes another in the order of examples: by block, then by thread.
static bool is_before(const FindingLocation *a, const FindingLocation *b)
{
    const uint64_t keys[][2] = {{a->block_number, b->block_number},
                                {a->thread.z, b->thread.z},
                                {a->thread.y, b->thread.y},
                                {a->thread.x, b->thread.x}};
    for (int k = 0; k < 4; k++)
        if (keys[k][0] != keys[k][1])
            return keys[k][0] < keys[k][1];
    return strcmp(a->access, b->access) < 0;
}

// The finding of the same kind at the same locations. Without a line, only occurrences with the same message belong to one finding.
static Finding *find_finding(FindingKind kind, const char *title, const FindingLocation *locations, int count)
{
    for (int n = 0; n < finding_count; n++) {
        Finding *f = &findings[n];
        bool same = f->kind == kind && f->location_count == count && (locations[0].line > 0 || strcmp(f->title, title) == 0);
        for (int k = 0; k < count && same; k++)
            same = same_group(&f->locations[k], &locations[k]);
        if (same)
            return f;
    }
    return NULL;
}

void sim_add_hint_line(char *hint, const char *format, ...)
{
    va_list arguments;
    char line[HINT_BYTES];
    const size_t used = strlen(hint);
    va_start(arguments, format);
    vsnprintf(line, sizeof line, format, arguments);
    va_end(arguments);
    snprintf(hint + used, HINT_BYTES - used, "%s%s", used && line[0] ? "\n" : "", line);
}

static void set_hint(Finding *f, const char *hint, const RaceFacts *race)
{
    snprintf(f->hint, sizeof f->hint, "%s", hint);
    f->scope = race ? race->scope : WITHIN_WARP;
}

// Whether an occurrence is a better example than the current one. An error is better than a warning; among races, a pair of
// different warps is better than a pair within a warp; otherwise the lowest block and thread is best.
static bool is_better_example(const Finding *f, const FindingLocation *locations, bool is_error, const RaceFacts *race)
{
    const bool new_crosses_warps = race && race->scope != WITHIN_WARP, current_crosses_warps = f->scope != WITHIN_WARP;
    if (is_error != f->is_error)
        return is_error;
    return new_crosses_warps != current_crosses_warps ? new_crosses_warps : is_before(&locations[0], &f->locations[0]);
}

// Returns the finding's index; negative if the occurrence is only counted. `race`: NULL if the finding is not a race.
static int add_occurrence(FindingKind kind, const char *title, const FindingLocation *locations, int count, const char *hint, bool is_warning,
                          const RaceFacts *race)
{
    static const FindingLocation nowhere;
    const bool is_error = !is_warning || sim_settings()->strict;
    FindingLocation sides[MAX_LOCATIONS] = {count > 0 ? locations[0] : nowhere, count > 1 ? locations[1] : nowhere};
    if (count == 2 && (sides[1].line < sides[0].line ||
                       (sides[1].line == sides[0].line && strcmp(sides[1].access, sides[0].access) < 0))) {
        const FindingLocation first = sides[0]; // independent of the execution order
        sides[0] = sides[1];
        sides[1] = first;
    }
    Finding *f = find_finding(kind, title, sides, count);
    if (!f && finding_count == MAX_FINDINGS) {
        dropped++;
        return -1;
    }
    if (!f) {
        findings = findings ? findings : calloc(MAX_FINDINGS, sizeof *findings);
        if (!findings)
            sim_die("out of memory: findings");
        f = &findings[finding_count++];
        *f = (Finding){.kind = kind, .location_count = count, .is_error = is_error, .suppressed = sim_is_suppressed(kind, sides, count)};
    }
    const bool better = f->count == 0 || is_better_example(f, sides, is_error, race);
    const bool upgraded = is_error && !f->is_error, wider = race && race->scope > f->scope;
    if (better) {
        memcpy(f->locations, sides, sizeof sides);
        snprintf(f->title, sizeof f->title, "%s", title);
    }
    if (upgraded || wider || (better && (!race || race->scope == f->scope)))
        set_hint(f, hint, race);
    f->is_error |= is_error;
    f->printed &= !upgraded;
    f->count++;
    return (int)(f - findings);
}

void sim_add_finding(FindingKind kind, const char *title, const FindingLocation *locations, int count, const char *hint)
{
    sim_lock(&lock);
    add_occurrence(kind, title, locations, count, hint, false, NULL);
    sim_unlock(&lock);
}

void sim_add_warning(FindingKind kind, const char *title, const FindingLocation *locations, int count, const char *hint)
{
    sim_lock(&lock);
    add_occurrence(kind, title, locations, count, hint, true, NULL);
    sim_unlock(&lock);
}

// ---- Further occurrences: often many threads of a launch make the same mistake

enum { RECENT_KEYS = 16 };
static struct {
    FindingKey key;
    int finding;
} recent_keys[RECENT_KEYS]; // a ring buffer of the most recent keys of the running launch, with their findings
static unsigned recent_key_count; // of all keys ever added

static int finding_of(const FindingKey *c)
{
    for (int k = 0; k < RECENT_KEYS; k++) {
        const FindingKey *entry = &recent_keys[k].key;
        if (entry->launch == c->launch && entry->first == c->first && entry->second == c->second && entry->variant == c->variant)
            return recent_keys[k].finding;
    }
    return -1;
}

void sim_add_keyed_finding(const FindingKey *key, FindingKind kind, const char *title, const FindingLocation *locations, int count, const char *hint,
                        const RaceFacts *race)
{
    sim_lock(&lock);
    const int finding = add_occurrence(kind, title, locations, count, hint, race && race->is_warning, race);
    const bool compared_by_text = locations[0].line == 0 || locations[count - 1].line == 0;
    if (finding >= 0 && !compared_by_text && finding_of(key) < 0) {
        recent_keys[recent_key_count % RECENT_KEYS].key = *key;
        recent_keys[recent_key_count++ % RECENT_KEYS].finding = finding;
    }
    sim_unlock(&lock);
}

bool sim_count_occurrence(const FindingKey *key, const ExampleThread *threads, int count)
{
    sim_lock(&lock);
    const int index = finding_of(key);
    bool found = index >= 0;
    for (int k = 0; k < count && found; k++) {
        const FindingLocation example = {.block_number = threads[k].block_number, .thread = index_of(threads[k].thread, key->launch->block)};
        found = !is_before(&example, &findings[index].locations[0]);
    }
    if (found)
        findings[index].count++;
    sim_unlock(&lock);
    return found;
}

typedef struct FindingCounts {
    int errors, warnings, suppressed;
} FindingCounts;

// All dropped occurrences count as one error.
static FindingCounts count_findings(void)
{
    FindingCounts counts = {.errors = dropped > 0};
    for (int n = 0; n < finding_count; n++)
        ++*(findings[n].suppressed ? &counts.suppressed : findings[n].is_error ? &counts.errors : &counts.warnings);
    return counts;
}

OccurrenceCounts sim_occurrence_counts(void)
{
    sim_lock(&lock);
    OccurrenceCounts t = {.count = finding_count, .dropped = dropped};
    for (int n = 0; n < finding_count; n++)
        t.counts[n] = findings[n].count;
    sim_unlock(&lock);
    return t;
}

bool sim_subtract_counts(const OccurrenceCounts *before, const OccurrenceCounts *after, OccurrenceCounts *difference)
{
    *difference = (OccurrenceCounts){.count = after->count};
    for (int n = 0; n < before->count; n++)
        difference->counts[n] = after->counts[n] - before->counts[n];
    return before->count == after->count && before->dropped == after->dropped;
}

void sim_add_occurrences(const OccurrenceCounts *difference)
{
    sim_lock(&lock);
    for (int n = 0; n < difference->count; n++)
        findings[n].count += difference->counts[n];
    sim_unlock(&lock);
}

// ---- Output

// Copies the line of a source file without its indentation; an empty text if it cannot be read.
static void read_source_line(const FindingLocation *p, char *text, size_t space)
{
    FILE *file = p->line > 0 ? sim_open_source(p->file) : NULL;
    char *line = NULL;
    size_t capacity = 0;
    ssize_t length = -1;
    for (int n = 0; file && n < p->line; n++)
        length = getline(&line, &capacity, file);
    text[0] = 0;
    if (length > 0) {
        line[strcspn(line, "\r\n")] = 0;
        snprintf(text, space, "%s", line + strspn(line, " \t"));
    }
    free(line);
    if (file)
        fclose(file);
}

// "4-byte read by thread (0,0,0) in block (0,0,0), kernel reduce"
static void describe_location(const FindingLocation *p, char *text, size_t space)
{
    char thread[120];
    if (!p->kernel[0]) {
        snprintf(text, space, "%s%s%s", p->access, p->caller[0] ? ", called from " : "", p->caller);
        return;
    }
    snprintf(thread, sizeof thread, "thread (%u,%u,%u) in block (%u,%u,%u)", p->thread.x, p->thread.y, p->thread.z, p->block.x,
             p->block.y, p->block.z);
    snprintf(text, space, "%s%s%s, kernel %s", p->access, !p->access[0] ? "" : p->role == WAITS ? ": " : " by ", thread, p->kernel);
}

// The name of the mistake.
static const char *label_of(const Finding *f)
{
    const FindingLocation *p = &f->locations[0];
    if (f->kind != HOST_POINTER || p->kernel[0])
        return sim_kinds[f->kind].label;
    return p->role == HOST_COPY ? "wrong copy direction" : p->role == HOST_CALL ? sim_kinds[f->kind].label : "device pointer in host code";
}

// The data race that may have caused an uninitialised read, since it is at the same line; NULL if there is none.
static const Finding *causing_race(const Finding *f)
{
    for (int n = 0; f->kind == UNINITIALISED && n < finding_count; n++) {
        const Finding *race = &findings[n];
        const bool is_race = race->kind == RACE_SHARED || race->kind == RACE_GLOBAL || race->kind == RACE_OPERATIONS;
        for (int k = 0; k < race->location_count && is_race; k++)
            if (race->locations[k].line > 0 && same_group(&race->locations[k], &f->locations[0]))
                return race;
    }
    return NULL;
}

// Writes all help and note lines of a finding, one per line, in the format of Finding.hint.
static void complete_hint(const Finding *f, char *text, size_t space)
{
    const Finding *cause = causing_race(f);
    int used = 0;
    if (cause)
        used = snprintf(text, space, "fix the %s at line %d first: the value may be read before it is written\n", sim_kinds[cause->kind].label,
                        cause->locations[0].line);
    snprintf(text + used, space - (size_t)used, "%s", f->hint);
}

static void write_location(FILE *out, const FindingLocation *p)
{
    char text[300], description[700];
    read_source_line(p, text, sizeof text);
    describe_location(p, description, sizeof description);
    const char *const names[] = {"access", "file", "text", "kernel", "caller", "description"};
    const char *const values[] = {p->access, p->file, text, p->kernel, p->caller, description};
    fprintf(out, "{\"line\": %d, \"launch\": %llu, \"block\": [%u, %u, %u], \"thread\": [%u, %u, %u]", p->line, (unsigned long long)p->launch, p->block.x, p->block.y,
            p->block.z, p->thread.x, p->thread.y, p->thread.z);
    for (size_t k = 0; k < sizeof names / sizeof *names; k++) {
        fprintf(out, ", \"%s\": ", names[k]);
        sim_write_json_string(out, values[k]);
    }
    fputc('}', out);
}

static void write_finding(FILE *out, const Finding *f)
{
    char hint[2 * HINT_BYTES];
    complete_hint(f, hint, sizeof hint);
    fprintf(out, "{\"kind\": \"%s\", \"level\": \"%s\", \"count\": %llu, \"name\": \"%s\", \"title\": ", sim_kinds[f->kind].name,
            f->is_error ? "error" : "warning", (unsigned long long)f->count, label_of(f));
    sim_write_json_string(out, f->title);
    fprintf(out, ", \"places\": [");
    for (int k = 0; k < f->location_count; k++) {
        fputs(k ? ", " : "", out);
        write_location(out, &f->locations[k]);
    }
    fprintf(out, "], \"hint\": ");
    sim_write_json_string(out, hint);
    fputc('}', out);
}

static void write_all_findings(FILE *out)
{
    fprintf(out, "{\"findings\": [");
    for (int n = 0, written = 0; n < finding_count; n++)
        if (!findings[n].suppressed) {
            fputs(written++ ? ",\n" : "\n", out);
            write_finding(out, &findings[n]);
        }
    fprintf(out, "\n], \"left_out\": %llu}\n", (unsigned long long)dropped);
}

// Atomically writes the file that $SIM_FINDINGS names, if it is set. Returns false if that fails.
static bool write_findings(bool at_end)
{
    const char *name = sim_settings()->findings;
    if (!name || sim_replace_file(name, at_end, write_all_findings))
        return true;
    fprintf(stderr, "simulator: cannot write the findings to %s: %s\n", name, strerror(errno));
    return false;
}

// True if stderr is a terminal or $CLICOLOR_FORCE is set and not "0"; $NO_COLOR overrides both.
static bool uses_colour(void)
{
    const char *no = getenv("NO_COLOR"), *force = getenv("CLICOLOR_FORCE");
    if (no && *no)
        return false;
    return sim_is_terminal(stderr) || (force && *force && strcmp(force, "0") != 0);
}

typedef struct Colours {
    const char *error, *warning, *strong, *blue, *plain;
} Colours;

static Colours colours(void)
{
    static const Colours NONE = {"", "", "", "", ""}, ALL = {"\033[1;31m", "\033[1;35m", "\033[1m", "\033[34m", "\033[0m"};
    return uses_colour() ? ALL : NONE;
}

static void print_location(const FindingLocation *p, const Colours *c)
{
    char text[300], description[700];
    read_source_line(p, text, sizeof text);
    describe_location(p, description, sizeof description);
    fprintf(stderr, "  %s-->%s ", c->blue, c->plain);
    if (p->line > 0)
        fprintf(stderr, "%s%s:%d%s: ", c->strong, sim_relative_name(p->file), p->line, c->plain);
    fprintf(stderr, "%s\n", description);
    if (text[0])
        fprintf(stderr, "%s%6d |%s     %s\n", c->blue, p->line, c->plain, text);
}

// Prints each line of a hint as "  = help: ..." or "  = note: ...".
static void print_hint(const char *hint, const Colours *c)
{
    static const char NOTE[] = "note: ";
    for (const char *line = hint; *line; line += strcspn(line, "\n"), line += *line == '\n') {
        const bool is_note = strncmp(line, NOTE, strlen(NOTE)) == 0;
        fprintf(stderr, "  %s=%s %s%.*s\n", c->blue, c->plain, is_note ? "" : "help: ", (int)strcspn(line, "\n"), line);
    }
}

static void print_finding(const Finding *f)
{
    const Colours c = colours();
    char hint[2 * HINT_BYTES];
    complete_hint(f, hint, sizeof hint);
    fprintf(stderr, "%s%s: %s:%s %s\n", f->is_error ? c.error : c.warning, f->is_error ? "error" : "warning", label_of(f), c.plain,
            f->title);
    for (int k = 0; k < f->location_count; k++)
        print_location(&f->locations[k], &c);
    print_hint(hint, &c);
    if (f->count > 1)
        fprintf(stderr, "  %s=%s note: %llu occurrences; the first is shown\n", c.blue, c.plain, (unsigned long long)f->count);
}

static int compare_rank_and_location(const void *one, const void *two)
{
    const Finding *a = *(Finding *const *)one, *b = *(Finding *const *)two;
    const int file = strcmp(a->locations[0].file, b->locations[0].file);
    return sim_kinds[a->kind].rank != sim_kinds[b->kind].rank ? sim_kinds[a->kind].rank - sim_kinds[b->kind].rank
           : file                                     ? file
           : a->locations[0].line != b->locations[0].line   ? a->locations[0].line - b->locations[0].line
           : a->locations[1].line != b->locations[1].line   ? a->locations[1].line - b->locations[1].line
                                                      : (int)a->kind - (int)b->kind;
}

// Whether an uninitialised read is already reported as an out-of-bounds read of the same line.
static bool duplicates_out_of_bounds(const Finding *f)
{
    for (int n = 0; n < finding_count; n++)
        for (int k = 0; k < f->location_count && findings[n].kind == OUT_OF_BOUNDS; k++)
            if (f->locations[k].line > 0 && f->locations[k].role == READS && findings[n].locations[0].role == READS &&
                same_group(&f->locations[k], &findings[n].locations[0]))
                return true;
    return false;
}

static void drop_duplicates(void)
{
    int kept = 0;
    for (int n = 0; n < finding_count; n++)
        if (findings[n].printed || findings[n].kind != UNINITIALISED || !duplicates_out_of_bounds(&findings[n]))
            findings[kept++] = findings[n];
    finding_count = kept;
    memset(recent_keys, 0, sizeof recent_keys); // the launch has ended, and indices of findings have changed
}

void sim_print_findings(void)
{
    Finding *unprinted[MAX_FINDINGS];
    size_t count = 0;
    sim_lock(&lock);
    drop_duplicates();
    for (int n = 0; n < finding_count; n++)
        if (!findings[n].printed && !findings[n].suppressed)
            unprinted[count++] = &findings[n];
    qsort(unprinted, count, sizeof *unprinted, compare_rank_and_location);
    for (size_t k = 0; k < count; k++) {
        print_finding(unprinted[k]);
        unprinted[k]->printed = true;
    }
    if (count > 0)
        write_findings(false); // the program may be killed before its end
    sim_unlock(&lock);
}

// ---- Exit

static atomic_bool has_unsupported;

void sim_report_unsupported(void)
{
    has_unsupported = true;
}

// "2 findings, 1 warning, 3 suppressed"
static void print_counts(FindingCounts counts)
{
    if (counts.errors)
        fprintf(stderr, "%d finding%s", counts.errors, counts.errors == 1 ? "" : "s");
    if (counts.warnings)
        fprintf(stderr, "%s%d warning%s", counts.errors ? ", " : "", counts.warnings, counts.warnings == 1 ? "" : "s");
    if (counts.suppressed)
        fprintf(stderr, "%s%d suppressed", counts.errors || counts.warnings ? ", " : "", counts.suppressed);
    fprintf(stderr, "%s\n", dropped ? ", and more that are not listed" : "");
}

void sim_report_at_exit(int status)
{
    sim_print_findings();
    const bool written = write_findings(true);
    const FindingCounts counts = count_findings();
    if (counts.errors || counts.warnings || counts.suppressed)
        print_counts(counts);
    if (!counts.errors && !has_unsupported && (written || status != 0))
        return;
    fflush(NULL);
    _Exit(counts.errors ? FINDINGS_STATUS : has_unsupported ? CANNOT_RUN : EXIT_FAILURE);
}

void sim_end_with_findings(void)
{
    sim_report_at_exit(FINDINGS_STATUS);
    _Exit(FINDINGS_STATUS);
}
