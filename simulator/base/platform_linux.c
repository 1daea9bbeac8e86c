// platform_linux.c: platform.h on Linux.
#define _GNU_SOURCE // on_exit, memfd_create, mremap, dl_iterate_phdr, REG_ERR, REG_RIP
#include "base/platform.h"

#include <errno.h>
#include <execinfo.h>
#include <fcntl.h>
#include <link.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <ucontext.h>
#include <unistd.h>

// ---- Files

FILE *sim_open_output(const char *name)
{
    return fopen(name, "w");
}

// True if rename may replace this name: it is a regular file, not a device or link, or does not exist.
static bool is_replaceable(const char *name)
{
    struct stat info;
    return lstat(name, &info) == 0 ? S_ISREG(info.st_mode) : errno == ENOENT;
}

bool sim_replace_file(const char *name, bool at_exit, void (*write)(FILE *out))
{
    char path[4096];
    const bool uses_temporary = is_replaceable(name);
    if (!uses_temporary && !at_exit)
        return true;
    const int length = snprintf(path, sizeof path, uses_temporary ? "%s.%d.part" : "%s", name, (int)getpid());
    FILE *out = length < (int)sizeof path ? fopen(path, "w") : NULL;
    if (out)
        write(out);
    const bool failed = !out || ferror(out);
    if (!failed && fclose(out) == 0 && (!uses_temporary || rename(path, name) == 0))
        return true;
    const int error = errno;
    if (uses_temporary && out)
        unlink(path);
    errno = error;
    return false;
}

// Regular files only: #line may also name an endless device, or a pipe without a writer.
FILE *sim_open_source(const char *name)
{
    struct stat info;
    return stat(name, &info) == 0 && S_ISREG(info.st_mode) ? fopen(name, "r") : NULL;
}

void sim_register_source(const char *name, const char *text, size_t bytes)
{
    (void)name, (void)text, (void)bytes;
}

const char *sim_written_text(const char *name, size_t *bytes)
{
    (void)name, (void)bytes;
    return NULL;
}

const char *sim_relative_name(const char *file)
{
    char directory[4096];
    const size_t length = getcwd(directory, sizeof directory) ? strlen(directory) : 0;
    return length > 1 && strncmp(file, directory, length) == 0 && file[length] == '/' ? file + length + 1 : file;
}

void sim_program_path(char *path, size_t space)
{
    const ssize_t length = readlink("/proc/self/exe", path, space - 1);
    path[length > 0 ? length : 0] = 0;
}

FILE *sim_open_maps(void)
{
    return fopen("/proc/self/maps", "r");
}

bool sim_is_terminal(FILE *file)
{
    return isatty(fileno(file));
}

// ---- Exit handlers

static void call_exit_handler(int status, void *object)
{
    void (*handler)(int) = NULL;
    memcpy(&handler, &object, sizeof object);
    handler(status);
}

void sim_on_exit(void (*handler)(int status))
{
    void *object;
    memcpy(&object, &handler, sizeof handler); // ISO C does not convert function pointers to object pointers
    on_exit(call_exit_handler, object);
}

// ---- Pages

size_t sim_page_bytes(void)
{
    return (size_t)sysconf(_SC_PAGESIZE);
}

size_t sim_host_memory_bytes(void)
{
    return (size_t)sysconf(_SC_PHYS_PAGES) * sim_page_bytes();
}

bool sim_has_pages(void)
{
    return true;
}

uint8_t *sim_reserve_pages(size_t bytes)
{
    void *pages = mmap(NULL, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    return pages == MAP_FAILED ? NULL : pages;
}

// Applies RLIMIT_DATA to shared memory, which Linux does not count towards it.
static bool within_data_limit(const uint8_t *pages, size_t bytes)
{
    static const uint8_t *lowest; // start of the lowest shared range, which is mapped first
    struct rlimit limit;
    lowest = lowest ? lowest : pages;
    return getrlimit(RLIMIT_DATA, &limit) != 0 || (size_t)(pages + bytes - lowest) <= limit.rlim_cur;
}

bool sim_map_twice(void *pages, void *alias, size_t bytes)
{
    if (!within_data_limit(pages, bytes))
        return false;
    if (mmap(pages, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED | MAP_NORESERVE | MAP_ANONYMOUS, -1, 0) !=
            MAP_FAILED &&
        mremap(pages, 0, bytes, MREMAP_MAYMOVE | MREMAP_FIXED, alias) != MAP_FAILED) // an old size of 0 duplicates the mapping
        return true;
    const int file = sim_make_shared_file(bytes); // for qemu and valgrind; fails if the size exceeds RLIMIT_FSIZE
    const bool mapped = file >= 0 && sim_map_shared(pages, bytes, file, 0) && sim_map_shared(alias, bytes, file, 0);
    if (file >= 0)
        close(file);
    return mapped;
}

int sim_make_fill_file(uint8_t value, size_t bytes)
{
    static char chunk[1 << 16];
    int file = memfd_create("fill", MFD_CLOEXEC);
    if (file < 0) {
        FILE *temporary = tmpfile();
        file = temporary ? fileno(temporary) : -1;
    }
    memset(chunk, value, sizeof chunk);
    for (size_t k = 0; k < bytes && file >= 0; k += sizeof chunk)
        if (write(file, chunk, sizeof chunk) != (ssize_t)sizeof chunk)
            return -1;
    return file;
}

bool sim_map_private(void *pages, size_t bytes, int file, size_t offset)
{
    return mmap(pages, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_FIXED | MAP_NORESERVE, file, (off_t)offset) !=
           MAP_FAILED;
}

int sim_make_shared_file(size_t bytes)
{
    const int file = memfd_create("piece", MFD_CLOEXEC);
    if (file < 0 || ftruncate(file, (off_t)bytes) == 0)
        return file;
    close(file);
    return -1;
}

bool sim_map_shared(void *pages, size_t bytes, int file, size_t offset)
{
    return mmap(pages, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, file, (off_t)offset) != MAP_FAILED;
}

void sim_close_file(int file)
{
    close(file);
}

bool sim_after_fork_in_child(void (*call)(void))
{
    return pthread_atfork(NULL, NULL, call) == 0;
}

void sim_reset_pages(void *pages, size_t bytes)
{
    if (madvise(pages, bytes, MADV_REMOVE) != 0) // succeeds for pages of sim_map_twice
        madvise(pages, bytes, MADV_DONTNEED);
}

bool sim_protect_pages(void *pages, size_t bytes, PageAccess access)
{
    static const int BITS[] = {
        [NO_ACCESS] = PROT_NONE, [READ_ACCESS] = PROT_READ, [READ_WRITE_ACCESS] = PROT_READ | PROT_WRITE};
    return mprotect(pages, bytes, BITS[access]) == 0;
}

void *sim_allocate_zeroed(size_t bytes)
{
    void *memory =
        mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    return memory == MAP_FAILED ? NULL : memory;
}

void sim_free_zeroed(void *memory, size_t bytes)
{
    munmap(memory, bytes);
}

void sim_prefer_huge_pages(void *memory, size_t bytes)
{
    const uintptr_t page = sim_page_bytes(), begin = ((uintptr_t)memory + page - 1) / page * page;
    if (bytes >= 4 << 20)
        madvise((void *)begin, (uintptr_t)memory + bytes - begin, MADV_HUGEPAGE);
}

bool sim_pages_are_mapped(const void *pointer, size_t bytes)
{
    enum { PAGES_PER_CALL = 4096 };
    static unsigned char residency[PAGES_PER_CALL]; // output of mincore; guarded by the caller's lock
    const uintptr_t page = sim_page_bytes(), end = (uintptr_t)pointer + bytes;
    for (uintptr_t at = (uintptr_t)pointer / page * page; at < end; at += PAGES_PER_CALL * page) {
        const size_t length = end - at < PAGES_PER_CALL * page ? end - at : PAGES_PER_CALL * page;
        if (mincore((void *)at, length, residency) != 0)
            return false;
    }
    return true;
}

// ---- Faults

static FaultHandler *fault_handler;
static struct sigaction previous_action; // for SIGSEGV, before sim_install_fault_handler

// was_write: whether the faulting instruction writes. instruction_of: its address.
#if defined __x86_64__
static bool was_write(const ucontext_t *context)
{
    return context->uc_mcontext.gregs[REG_ERR] & 2;
}

static const void *instruction_of(const ucontext_t *context)
{
    return (const void *)context->uc_mcontext.gregs[REG_RIP];
}
#elif defined __aarch64__
static bool was_write(const ucontext_t *context) // the exception syndrome is in a record after the registers
{
    const unsigned char *record = context->uc_mcontext.__reserved;
    for (const struct _aarch64_ctx *head; (head = (const void *)record)->magic; record += head->size)
        if (head->magic == ESR_MAGIC)
            return ((const struct esr_context *)head)->esr & 1 << 6;
    return false;
}

static const void *instruction_of(const ucontext_t *context)
{
    return (const void *)context->uc_mcontext.pc;
}
#else
static bool was_write(const ucontext_t *context)
{
    return (void)context, false;
}

static const void *instruction_of(const ucontext_t *context) // NULL: unknown
{
    return (void)context, NULL;
}
#endif

static void handle_fault(int signal, siginfo_t *info, void *context)
{
    const bool is_last = previous_action.sa_handler == SIG_DFL;
    if (info->si_code > 0 && fault_handler(info->si_addr, was_write(context), instruction_of(context), is_last))
        return;
    sigaction(signal, &previous_action, NULL); // the retried instruction faults again, and the previous handler runs
    if (info->si_code <= 0)                   // sent by a process: no instruction is retried
        raise(signal);
}

bool sim_install_fault_handler(FaultHandler *handler)
{
    struct sigaction action = {.sa_sigaction = handle_fault, .sa_flags = SA_SIGINFO | SA_ONSTACK};
    fault_handler = handler;
    return sigaction(SIGSEGV, &action, &previous_action) == 0;
}

bool sim_owns_fault_handler(void)
{
    struct sigaction current;
    return sigaction(SIGSEGV, NULL, &current) == 0 && current.sa_flags & SA_SIGINFO && current.sa_sigaction == handle_fault;
}

// ---- Threads. The PTHREAD_..._INITIALIZERs are all zeros.

_Static_assert(sizeof(pthread_mutex_t) <= sizeof(Lock) && sizeof(pthread_cond_t) <= sizeof(CondVar), "too small");
_Static_assert(sizeof(pthread_once_t) == sizeof(Once) && PTHREAD_ONCE_INIT == 0, "not zero");

void sim_lock(Lock *lock)
{
    pthread_mutex_lock((pthread_mutex_t *)lock);
}

void sim_unlock(Lock *lock)
{
    pthread_mutex_unlock((pthread_mutex_t *)lock);
}

void sim_wait(CondVar *condition, Lock *lock)
{
    pthread_cond_wait((pthread_cond_t *)condition, (pthread_mutex_t *)lock);
}

void sim_wake_all(CondVar *condition)
{
    pthread_cond_broadcast((pthread_cond_t *)condition);
}

void sim_yield(void)
{
    sched_yield();
}

void sim_once(Once *once, void (*prepare)(void))
{
    pthread_once((pthread_once_t *)once, prepare);
}

bool sim_start_thread(Thread *thread, void *(*run)(void *), void *argument)
{
    pthread_t started;
    if (pthread_create(&started, NULL, run, argument) != 0)
        return false;
    thread->handle = (uintptr_t)started;
    return true;
}

void sim_join_thread(Thread thread)
{
    pthread_join((pthread_t)thread.handle, NULL);
}

uintptr_t sim_this_thread(void)
{
    return (uintptr_t)pthread_self();
}

int sim_core_count(void)
{
    return (int)sysconf(_SC_NPROCESSORS_ONLN);
}

// ---- Source locations of the host program

int sim_backtrace(void **return_addresses, int max)
{
    return backtrace(return_addresses, max);
}

typedef struct ProgramSearch {
    uintptr_t load_bias, address;
    bool found;
} ProgramSearch;

static int find_in_program(struct dl_phdr_info *object, size_t size, void *result)
{
    ProgramSearch *search = result;
    (void)size;
    search->load_bias = object->dlpi_addr;
    for (int k = 0; k < object->dlpi_phnum; k++) {
        const ElfW(Phdr) *segment = &object->dlpi_phdr[k];
        search->found |= segment->p_type == PT_LOAD && search->address - search->load_bias - segment->p_vaddr < segment->p_memsz;
    }
    return 1; // stop: the first object is the main executable
}

bool sim_is_in_program(const void *address, uintptr_t *load_bias)
{
    ProgramSearch result = {.address = (uintptr_t)address};
    dl_iterate_phdr(find_in_program, &result);
    *load_bias = result.load_bias;
    return result.found;
}

static int program_file; // open while addr2line runs

// addr2line inherits the open executable, because /proc/self/exe may name a file in another mount namespace.
FILE *sim_open_source_locations(const uintptr_t *addresses, int count)
{
    enum { MAX_ADDRESSES = 40 };
    char command[100 + 24 * MAX_ADDRESSES];
    program_file = open("/proc/self/exe", O_RDONLY);
    int length = snprintf(command, sizeof command, "addr2line -a -i -e /proc/self/fd/%d", program_file);
    for (int k = 0; k < count && k < MAX_ADDRESSES; k++)
        length += snprintf(command + length, sizeof command - (size_t)length, " 0x%llx",
                           (unsigned long long)addresses[k]);
    snprintf(command + length, sizeof command - (size_t)length, " 2>/dev/null </dev/null");
    FILE *lines = program_file >= 0 ? popen(command, "r") : NULL;
    if (!lines && program_file >= 0)
        close(program_file);
    return lines;
}

void sim_close_source_locations(FILE *lines)
{
    pclose(lines);
    close(program_file);
}
