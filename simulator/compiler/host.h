// host.h: evaluates the host code that launches a program's kernels, with the interpreter of evaluate.h.
//
// CompileOptions.host is a second source, the harness: its function `harness` allocates, copies and calls the program's own
// functions, as the harness of a lesson does. Without one, `main` of the program is evaluated. Each CUDA call becomes a line of
// Compilation.calls, in the format of runtime/work/record.h; what the host reads last is what the harness expects.
//
// A pointer to device memory is a Constant whose variable is the allocation, which has no bytes. Its address as an integer is
// made up, and a multiple of 2^36.
#ifndef COMPILER_HOST_H
#define COMPILER_HOST_H

#include "compiler/evaluate.h"

// ---- parsing: host.c

bool host_is_parsed(const Compiler *c);            // whether the parser is in host code that is evaluated
void host_mark_called(Compiler *c, Function *f);   // a function that such code calls is evaluated, too
Expression *host_configure_launch(Compiler *c, Expression *launch); // converts what is between <<< and >>>
void host_parse(Compiler *c);                      // the harness, and the host functions that it calls

// ---- evaluation

typedef struct HostAllocation {
    Variable *memory;
    bool is_freed;
} HostAllocation;

typedef struct HostKernel { // attributes of a kernel
    const Function *function;
    int64_t dynamic_shared_bytes; // that cudaFuncSetAttribute allows; -1: not set
    bool large_clusters;
} HostKernel;

typedef struct Host {
    Compiler *compiler;
    FILE *calls, *data; // data: the "bytes" lines, which calls refer to
    HostAllocation *allocations; // by their numbers in the recording
    uint32_t allocation_count, allocation_capacity;
    Variable **addressed; // objects whose addresses became integers
    uint32_t addressed_count, addressed_capacity;
    HostKernel *kernels;
    uint32_t kernel_count, kernel_capacity;
    uint32_t launch_count;
    uint64_t bytes_written;
    int last_error; // cudaError_t
    const char *help; // for the failure that is about to be reported, or NULL
} Host;

void host_evaluate(Compiler *c); // into c->result; errors are diagnostics

// For the interpreter.
int64_t host_address(Host *h, const Constant *pointer);  // as an integer
Constant host_pointer(const Host *h, int64_t address);   // an integer as a pointer
bool host_fill_variable(Evaluator *v, Variable *variable); // gives a host variable its bytes and its initial value
bool host_call(Evaluator *v, Expression *call, Constant *value);      // of a function without a body, or an intrinsic
bool host_launch(Evaluator *v, Expression *launch, Constant *value);  // kernel<<<...>>>(...)
Function *host_function_of_source(Compiler *c, const char *name); // with a body, in the global scope; or NULL
void host_note_position(Evaluator *v); // moves that of a failure from the harness to the program's own call

// ---- host_calls.c, host_launch.c

typedef struct HostCall {
    Evaluator *v;
    Host *host;
    Expression *e;
    Constant *arguments; // an address, if the parameter is a reference
    uint32_t count;
} HostCall;

bool host_fail(const HostCall *call, const char *help, const char *format, ...) __attribute__((format(printf, 3, 4)));
typedef bool HostFunction(const HostCall *call, Constant *value);
HostFunction *host_function_named(const char *name); // NULL: unknown
bool host_launch_ex(const HostCall *call, Constant *value); // cudaLaunchKernelEx(&config, kernel, arguments...)
HostKernel *host_kernel(Host *h, const Function *function);
// Writes "3+16" or "0:name+4" if a pointer is into device memory, with at least so many bytes there.
bool host_is_on_device(const Host *h, const Constant *pointer, uint64_t bytes, uint64_t *bytes_there);
void host_write_position(Host *h, const Constant *pointer);
// Writes a "bytes" line with its data; returns their name.
uint64_t host_write_bytes(Host *h, const void *bytes, size_t count);

// ---- host_data.c: what the harness gives to the program, and what it expects

extern HostFunction host_sum_data, host_sum_expected, host_scan_data, host_scan_expected;

#endif
