// faults.c: the finding that describes the fault which ended a launch.
#include "checker/findings.h"

#include <string.h>

static FindingKind kind_of_fault(const Launch *launch)
{
    const Instr *i = launch->fault.instr;
    if (launch->fault.kind >= 0)
        return (FindingKind)launch->fault.kind;
    if (i && i->control == BLOCK_BARRIER)
        return BARRIER_DIVERGENCE;
    if (i && (i->control == WARP_BARRIER || i->control == CONVERGE))
        return INVALID_WARP_OPERATION;
    if (i && i->kind == MBARRIER)
        return INVALID_MBARRIER_OPERATION;
    if (launch->error == cudaErrorIllegalAddress)
        return OUT_OF_BOUNDS;
    return launch->error == cudaErrorMisalignedAddress ? MISALIGNED : KERNEL_FAULT;
}

static LocationRole role_at(const Instr *i)
{
    if (!i || !i->statement)
        return OTHER_ROLE;
    const bool waits = i->control == BLOCK_BARRIER || i->control == WARP_BARRIER || i->control == CONVERGE || i->control == BRANCH;
    return i->kind == LOAD ? READS : waits && i->kind != STORE && i->kind != ATOMIC ? WAITS : OTHER_ROLE;
}

// What the thread did at a faulting instruction: "4-byte read (ld.global.f32)", "waiting in bar.sync", "trap".
static void describe_fault(const Instr *i, char *text, size_t space)
{
    const Statement *s = i ? i->statement : NULL;
    text[0] = 0;
    if (!s)
        return;
    const int length = (int)(s->opcode.length < 60 ? s->opcode.length : 60);
    const bool waits = i->control == BLOCK_BARRIER || i->control == WARP_BARRIER || i->control == CONVERGE;
    const char *noun = i->kind == LOAD ? "read" : i->kind == STORE ? "write" : i->kind == ATOMIC ? "atomic update" : NULL;
    if (noun)
        snprintf(text, space, "%u-byte %s (%.*s)", (unsigned)i->bytes * (i->count ? i->count : 1), noun, length, s->opcode.text);
    else if (i->control == BRANCH)
        snprintf(text, space, "waiting in a loop (%.*s)", length, s->opcode.text);
    else
        snprintf(text, space, "%s%.*s", waits ? "waiting in " : "", length, s->opcode.text);
}

void sim_add_fault(const Launch *launch)
{
    const Instr *i = launch->fault.instr;
    const Statement *s = i ? i->statement : NULL;
    char access[120], title[400], hint[HINT_BYTES];
    const char *text = launch->message + launch->fault.description_offset, *end = text + strcspn(text, "\n");
    describe_fault(i, access, sizeof access);
    snprintf(title, sizeof title, "%.*s", (int)(end - text), text);
    snprintf(hint, sizeof hint, "%s", *end ? end + 1 : "");
    if (s && s->source_line <= 0)
        snprintf(hint + strlen(hint), sizeof hint - strlen(hint),
                 "%snote: PTX line %d; compile with nvcc -lineinfo to see the source line", hint[0] ? "\n" : "", s->line);
    const int thread = launch->fault.thread;
    const FindingLocation location = sim_location_of(launch, launch->fault.block, thread < 0 ? 0 : (uint32_t)thread, i, access, role_at(i));
    sim_add_finding(kind_of_fault(launch), title, &location, 1, hint);
}
