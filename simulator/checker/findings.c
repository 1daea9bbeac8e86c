// findings.c: what the checker has found: one finding for each place, told like a compiler's errors, and as JSON.
#define _GNU_SOURCE // getline
#include "checker/findings.h"
#include "base/platform.h"
#include "checker/observe.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_PLACES = 2 };

typedef struct Finding {
    FindingKind kind;
    char title[400], hint[400];
    Place places[MOST_PLACES];
    int place_count;
    uint64_t count;
    bool said;
} Finding;

static const struct {
    const char *name, *words;
} KINDS[FINDING_KINDS] = {
    [RACE_SHARED] = {"race-shared", "race in shared memory"},
    [RACE_GLOBAL] = {"race-global", "race in global memory"},
    [RACE_HOST] = {"race-host", "race between operations that nothing orders"},
    [OUT_OF_BOUNDS] = {"out-of-bounds", "out of bounds"},
    [MISALIGNED] = {"misaligned", "misaligned address"},
    [USE_AFTER_FREE] = {"use-after-free", "use after free"},
    [HOST_POINTER] = {"host-pointer", "pointer of the wrong side"},
    [DOUBLE_FREE] = {"double-free", "wrong free"},
    [LEAK] = {"leak", "memory never freed"},
    [UNINITIALISED] = {"uninitialised", "uninitialised value"},
    [BARRIER_MISUSE] = {"barrier", "barrier misuse"},
    [LANES_MISUSE] = {"lanes", "misuse of an operation between lanes"},
    [MBARRIER_MISUSE] = {"mbarrier", "mbarrier misuse"},
    [LAUNCH_FAULT] = {"launch-fault", "the kernel failed"},
    [UNCHECKED_ERROR] = {"unchecked-error", "unchecked error"},
};

static Lock lock;
static Finding *findings;
static int finding_count;
static uint64_t left_out; // findings of which only the number is known

// ---- Places

static dim3 index_of(uint64_t number, dim3 size)
{
    return (dim3){(unsigned)(number % size.x), (unsigned)(number / size.x % size.y),
                  (unsigned)(number / size.x / size.y)};
}

Place sim_place_of(const Launch *launch, uint64_t block_number, uint32_t thread, const Instr *i, const char *access)
{
    Place p = {.block_number = block_number, .block = index_of(block_number, launch->grid),
               .thread = index_of(thread, launch->block)};
    snprintf(p.access, sizeof p.access, "%s", access);
    sim_readable_name(launch->kernel->name, p.kernel, sizeof p.kernel);
    const Statement *s = i ? i->statement : NULL;
    const Module *m = launch->module;
    const bool own = s && s->own_line > 0; // where a function of a header was inlined, the line that called it
    const int file = !s ? -1 : own ? s->own_file : s->source_file, line = !s ? 0 : own ? s->own_line : s->source_line;
    if (line > 0 && file >= 0 && file < m->file_count && m->files[file].text) {
        snprintf(p.file, sizeof p.file, "%.*s", (int)m->files[file].length, m->files[file].text);
        p.line = line;
    }
    return p;
}

static bool same_line(const Place *a, const Place *b)
{
    return a->line == b->line && strcmp(a->caller, b->caller) == 0 && strcmp(a->file, b->file) == 0 &&
           strcmp(a->kernel, b->kernel) == 0;
}

static bool same_place(const Place *a, const Place *b)
{
    return same_line(a, b) && strcmp(a->access, b->access) == 0;
}

// Whether two threads race at these lines: whatever they do there, as all of it has one cause.
static bool is_race_of_lines(FindingKind kind, const Place *places)
{
    return (kind == RACE_SHARED || kind == RACE_GLOBAL) && places[0].line > 0 && places[1].line > 0;
}

// The order of examples: that of the blocks, then of the threads.
static bool is_before(const Place *a, const Place *b)
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

static Finding *find(FindingKind kind, const char *title, const Place *places, int count)
{
    for (int n = 0; n < finding_count; n++) {
        Finding *f = &findings[n];
        bool same = f->kind == kind && f->place_count == count && (places[0].line > 0 || strcmp(f->title, title) == 0);
        for (int k = 0; k < count && same; k++)
            same = (is_race_of_lines(kind, places) ? same_line : same_place)(&f->places[k], &places[k]);
        if (same)
            return f;
    }
    return NULL;
}

// Its number; negative where it is counted only.
static int add(FindingKind kind, const char *title, const Place *places, int count, const char *hint)
{
    static const Place nowhere;
    Place sides[MOST_PLACES] = {count > 0 ? places[0] : nowhere, count > 1 ? places[1] : nowhere};
    if (count == 2 && (sides[1].line < sides[0].line ||
                       (sides[1].line == sides[0].line && strcmp(sides[1].access, sides[0].access) < 0))) {
        const Place first = sides[0]; // whichever came first in this run
        sides[0] = sides[1];
        sides[1] = first;
    }
    Finding *f = find(kind, title, sides, count);
    if (!f && finding_count == MOST_FINDINGS) {
        left_out++;
    } else if (!f) {
        findings = findings ? findings : calloc(MOST_FINDINGS, sizeof *findings);
        if (!findings)
            sim_die("out of memory for findings");
        f = &findings[finding_count++];
        *f = (Finding){.kind = kind, .place_count = count, .count = 1};
    } else {
        f->count++;
    }
    if (f && (f->count == 1 || is_before(&sides[0], &f->places[0]))) {
        memcpy(f->places, sides, sizeof sides);
        snprintf(f->title, sizeof f->title, "%s", title);
        snprintf(f->hint, sizeof f->hint, "%s", hint);
    }
    return f ? (int)(f - findings) : -1;
}

void sim_add_finding(FindingKind kind, const char *title, const Place *places, int count, const char *hint)
{
    sim_lock(&lock);
    add(kind, title, places, count, hint);
    sim_unlock(&lock);
}

// ---- Found once more: most findings are, by very many threads

enum { MOST_CAUSES = 16 };
static struct {
    Cause cause;
    int finding;
} causes[MOST_CAUSES]; // the last ones, of a launch that runs
static unsigned cause_count; // of all that there were

static int finding_of(const Cause *c)
{
    for (int k = 0; k < MOST_CAUSES; k++) {
        const Cause *known = &causes[k].cause;
        if (known->launch == c->launch && known->first == c->first && known->second == c->second && known->what == c->what)
            return causes[k].finding;
    }
    return -1;
}

void sim_add_finding_of(const Cause *cause, FindingKind kind, const char *title, const Place *places, int count, const char *hint)
{
    sim_lock(&lock);
    const int finding = add(kind, title, places, count, hint);
    const bool told_by_words = places[0].line == 0 || places[count - 1].line == 0;
    if (finding >= 0 && !told_by_words && finding_of(cause) < 0) {
        causes[cause_count % MOST_CAUSES].cause = *cause;
        causes[cause_count++ % MOST_CAUSES].finding = finding;
    }
    sim_unlock(&lock);
}

bool sim_find_once_more(const Cause *cause, const Example *threads, int count)
{
    sim_lock(&lock);
    const int known = finding_of(cause);
    bool found = known >= 0;
    for (int k = 0; k < count && found; k++) {
        const Place here = {.block_number = threads[k].block_number, .thread = index_of(threads[k].thread, cause->launch->block)};
        found = !is_before(&here, &findings[known].places[0]);
    }
    if (found)
        findings[known].count++;
    sim_unlock(&lock);
    return found;
}

static FindingKind kind_of_fault(const Launch *launch)
{
    const Instr *i = launch->fault.instr;
    if (launch->fault.kind >= 0)
        return (FindingKind)launch->fault.kind;
    if (i && i->control == BLOCK_BARRIER)
        return BARRIER_MISUSE;
    if (i && (i->control == WARP_BARRIER || i->control == GATHER))
        return LANES_MISUSE;
    if (i && i->kind == MBARRIER)
        return MBARRIER_MISUSE;
    if (launch->error == cudaErrorIllegalAddress)
        return OUT_OF_BOUNDS;
    return launch->error == cudaErrorMisalignedAddress ? MISALIGNED : LAUNCH_FAULT;
}

void sim_add_fault(const Launch *launch)
{
    const Instr *i = launch->fault.instr;
    const Statement *s = i ? i->statement : NULL;
    char access[120] = "fails", ptx[120] = "";
    if (s) {
        const int length = (int)(s->opcode.length < 60 ? s->opcode.length : 60);
        snprintf(access, sizeof access, "fails in %.*s", length, s->opcode.text);
    }
    if (s && s->source_line <= 0)
        snprintf(ptx, sizeof ptx, "PTX line %d; nvcc -lineinfo would name the line of the source", s->line);
    const int thread = launch->fault.thread;
    const Place place = sim_place_of(launch, launch->fault.block, thread < 0 ? 0 : (uint32_t)thread, i, access);
    sim_add_finding(kind_of_fault(launch), launch->message + launch->fault.text, &place, 1, ptx);
}

int sim_count_findings(void)
{
    return finding_count + (left_out > 0);
}

TimesFound sim_times_found(void)
{
    sim_lock(&lock);
    TimesFound t = {.count = finding_count, .left_out = left_out};
    for (int n = 0; n < finding_count; n++)
        t.times[n] = findings[n].count;
    sim_unlock(&lock);
    return t;
}

bool sim_found_more_often(const TimesFound *before, const TimesFound *behind, TimesFound *more)
{
    *more = (TimesFound){.count = behind->count};
    for (int n = 0; n < before->count; n++)
        more->times[n] = behind->times[n] - before->times[n];
    return before->count == behind->count && before->left_out == behind->left_out;
}

void sim_find_again(const TimesFound *more)
{
    sim_lock(&lock);
    for (int n = 0; n < more->count; n++)
        findings[n].count += more->times[n];
    sim_unlock(&lock);
}

// ---- Telling

// The line of a source file, without what it is indented by; empty if it cannot be read.
static void source_text(const Place *p, char *text, size_t space)
{
    FILE *file = p->line > 0 ? sim_open_source(p->file) : NULL;
    char *line = NULL;
    size_t room = 0;
    ssize_t length = -1;
    for (int n = 0; file && n < p->line; n++)
        length = getline(&line, &room, file);
    text[0] = 0;
    if (length > 0) {
        line[strcspn(line, "\r\n")] = 0;
        snprintf(text, space, "%s", line + strspn(line, " \t"));
    }
    free(line);
    if (file)
        fclose(file);
}

static void write_string(FILE *out, const char *text)
{
    fputc('"', out);
    for (; *text; text++)
        if (*text == '"' || *text == '\\')
            fprintf(out, "\\%c", *text);
        else if ((unsigned char)*text < ' ')
            fprintf(out, "\\u%04x", (unsigned)*text);
        else
            fputc(*text, out);
    fputc('"', out);
}

static void write_place(FILE *out, const Place *p)
{
    char text[300];
    source_text(p, text, sizeof text);
    const char *const names[] = {"access", "file", "text", "kernel", "caller"};
    const char *const values[] = {p->access, p->file, text, p->kernel, p->caller};
    fprintf(out, "{\"line\": %d, \"block\": [%u, %u, %u], \"thread\": [%u, %u, %u]", p->line, p->block.x, p->block.y,
            p->block.z, p->thread.x, p->thread.y, p->thread.z);
    for (int k = 0; k < 5; k++) {
        fprintf(out, ", \"%s\": ", names[k]);
        write_string(out, values[k]);
    }
    fputc('}', out);
}

static void write_finding(FILE *out, const Finding *f)
{
    fprintf(out, "{\"kind\": \"%s\", \"count\": %llu, \"title\": ", KINDS[f->kind].name, (unsigned long long)f->count);
    write_string(out, f->title);
    fprintf(out, ", \"places\": [");
    for (int k = 0; k < f->place_count; k++) {
        fputs(k ? ", " : "", out);
        write_place(out, &f->places[k]);
    }
    fprintf(out, "], \"hint\": ");
    write_string(out, f->hint);
    fputc('}', out);
}

static void write_all_findings(FILE *out)
{
    fprintf(out, "{\"findings\": [");
    for (int n = 0; n < finding_count; n++) {
        fputs(n ? ",\n" : "\n", out);
        write_finding(out, &findings[n]);
    }
    fprintf(out, "\n], \"left_out\": %llu}\n", (unsigned long long)left_out);
}

// The file that $SIM_FINDINGS names, if it does: whole, or as it was. False if they cannot be written.
static bool write_findings(bool at_end)
{
    const char *name = sim_settings()->findings;
    if (!name || sim_write_whole(name, at_end, write_all_findings))
        return true;
    fprintf(stderr, "simulator: cannot write the findings to %s: %s\n", name, strerror(errno));
    return false;
}

static void say_place(const Place *p, bool coloured)
{
    const char *strong = coloured ? "\033[1m" : "", *blue = coloured ? "\033[34m" : "",
               *plain = coloured ? "\033[0m" : "";
    char text[300];
    source_text(p, text, sizeof text);
    if (p->line > 0)
        fprintf(stderr, "  %s-->%s %s%s:%d%s: ", blue, plain, strong, sim_short_name(p->file), p->line, plain);
    else
        fprintf(stderr, "  %s-->%s ", blue, plain);
    if (p->kernel[0])
        fprintf(stderr, "thread (%u,%u,%u) of block (%u,%u,%u) of kernel %s %s\n", p->thread.x, p->thread.y,
                p->thread.z, p->block.x, p->block.y, p->block.z, p->kernel, p->access);
    else
        fprintf(stderr, "the host %s%s%s\n", p->access, p->caller[0] ? ", called from " : "", p->caller);
    if (text[0])
        fprintf(stderr, "%s%6d |%s     %s\n", blue, p->line, plain, text);
}

// Whether stderr is a terminal, or ends up on one ($CLICOLOR_FORCE), and nobody objects ($NO_COLOR).
static bool wants_colour(void)
{
    const char *no = getenv("NO_COLOR"), *force = getenv("CLICOLOR_FORCE");
    if (no && *no)
        return false;
    return sim_is_terminal(stderr) || (force && *force && strcmp(force, "0") != 0);
}

static void say_finding(const Finding *f)
{
    const bool coloured = wants_colour();
    fprintf(stderr, "%serror: %s:%s %s\n", coloured ? "\033[1;31m" : "", KINDS[f->kind].words,
            coloured ? "\033[0m" : "", f->title);
    for (int k = 0; k < f->place_count; k++)
        say_place(&f->places[k], coloured);
    if (f->hint[0])
        fprintf(stderr, "  %s=%s %s\n", coloured ? "\033[34m" : "", coloured ? "\033[0m" : "", f->hint);
    if (f->count > 1)
        fprintf(stderr, "  %s=%s found %llu times; this is the first\n", coloured ? "\033[34m" : "",
                coloured ? "\033[0m" : "", (unsigned long long)f->count);
}

static int by_place(const void *one, const void *two)
{
    const Finding *a = *(Finding *const *)one, *b = *(Finding *const *)two;
    const int file = strcmp(a->places[0].file, b->places[0].file);
    return file ? file : a->places[0].line != b->places[0].line ? a->places[0].line - b->places[0].line
                     : a->places[1].line != b->places[1].line   ? a->places[1].line - b->places[1].line
                                                                : (int)a->kind - (int)b->kind;
}

static bool reads(const Place *p)
{
    return strncmp(p->access, "reads ", 6) == 0;
}

// Whether a value that nobody wrote is what was found beyond an array's end, or a row's: one mistake is told once.
static bool is_explained(const Finding *f)
{
    for (int n = 0; n < finding_count; n++)
        for (int k = 0; k < f->place_count && findings[n].kind == OUT_OF_BOUNDS; k++)
            if (f->places[k].line > 0 && reads(&f->places[k]) && reads(&findings[n].places[0]) &&
                same_line(&f->places[k], &findings[n].places[0]))
                return true;
    return false;
}

static void drop_explained(void)
{
    int kept = 0;
    for (int n = 0; n < finding_count; n++)
        if (findings[n].said || findings[n].kind != UNINITIALISED || !is_explained(&findings[n]))
            findings[kept++] = findings[n];
    finding_count = kept;
    memset(causes, 0, sizeof causes); // their launch has ended, and findings have other numbers
}

void sim_say_findings(void)
{
    Finding *fresh[MOST_FINDINGS];
    size_t count = 0;
    sim_lock(&lock);
    drop_explained();
    for (int n = 0; n < finding_count; n++)
        if (!findings[n].said)
            fresh[count++] = &findings[n];
    qsort(fresh, count, sizeof *fresh, by_place);
    for (size_t k = 0; k < count; k++) {
        say_finding(fresh[k]);
        fresh[k]->said = true;
    }
    if (count > 0)
        write_findings(false); // the program may never come to its end
    sim_unlock(&lock);
}

// ---- The program's end

static atomic_bool refused;

void sim_note_lack(void)
{
    refused = true;
}

static void end(int status)
{
    sim_say_findings();
    const bool written = write_findings(true);
    const int count = sim_count_findings();
    if (count == 0 && !refused && (written || status != 0))
        return;
    if (count == 0) {
        fflush(NULL);
        _Exit(refused ? CANNOT_RUN : EXIT_FAILURE);
    }
    fprintf(stderr, "%d finding%s%s\n", count, count == 1 ? "" : "s", left_out ? ", and more that are not listed" : "");
    fflush(NULL);
    _Exit(FINDINGS_STATUS);
}

void sim_end_with_findings(void)
{
    end(FINDINGS_STATUS);
}

// Before all others, so that it runs after what they want to have done at the end.
__attribute__((constructor(101))) static void prepare_end(void)
{
    sim_observe_machine();
    if (sim_checks())
        sim_at_end(end);
}
