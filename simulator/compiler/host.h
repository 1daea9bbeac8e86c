// host.h: evaluates the host code that launches a program's kernels, with the interpreter of evaluate.h.
//
// CompileOptions.host is a second source, the harness: its function `harness` allocates, copies and calls the program's functions,
// as the harness of a step does. If it is empty, the program's `main` is evaluated. Each CUDA call is recorded as a line of
// Compilation.calls, in the format of runtime/work/record.h; the last "read" lines contain the expected results.
//
// A pointer to device memory is a Constant whose variable is the allocation, which has no bytes. As integers, allocations have
// fictitious addresses, multiples of 2^36.
#ifndef COMPILER_HOST_H
#define COMPILER_HOST_H

#include "compiler/evaluate.h"

// ---- parsing: host.c

bool host_is_parsed(const Compiler *c);            // whether the parser is in host code that will be evaluated
void host_mark_called(Compiler *c, Function *f);   // marks a function that such code calls as evaluated
Expression *host_configure_launch(Compiler *c, Expression *launch); // converts the arguments between <<< and >>>
void host_parse(Compiler *c);                      // parses the harness and the host functions that it calls

// ---- evaluation

typedef struct HostAllocation {
    Variable *memory;
    bool is_freed;
} HostAllocation;

typedef struct HostKernel { // attributes of a kernel
    const Function *function;
    int64_t dynamic_shared_bytes; // maximum set by cudaFuncSetAttribute; -1: not set
    bool non_portable_clusters;
} HostKernel;

typedef struct Host {
    Compiler *compiler;
    FILE *calls, *data; // data: the "bytes" lines, to which `calls` refers
    HostAllocation *allocations; // by number in the recording
    uint32_t allocation_count, allocation_capacity;
    Variable **addressed; // objects whose addresses were converted to integers
    uint32_t addressed_count, addressed_capacity;
    HostKernel *kernels;
    uint32_t kernel_count, kernel_capacity;
    uint32_t launch_count;
    uint64_t bytes_written;
    int last_error; // cudaError_t
    const char *help; // help text for Evaluator.reason, or NULL
} Host;

void host_evaluate(Compiler *c); // sets calls and data of c->result, or reports an error

// For the interpreter.
int64_t host_address(Host *h, const Constant *pointer);  // converts a pointer to an integer
Constant host_pointer(const Host *h, int64_t address);   // converts an integer to a pointer
bool host_fill_variable(Evaluator *v, Variable *variable); // allocates and initialises a host variable on first use
bool host_call(Evaluator *v, Expression *call, Constant *value);      // calls a function without a body, or an intrinsic
bool host_launch(Evaluator *v, Expression *launch, Constant *value);  // kernel<<<...>>>(...)
Function *host_function_of_source(Compiler *c, const char *name); // a global function with a body, or NULL
void host_note_position(Evaluator *v); // moves the position of a failure from the harness to the call in the program

// ---- host_calls.c, host_launch.c

typedef struct HostCall {
    Evaluator *v;
    Host *host;
    Expression *e;
    Constant *arguments; // for a reference parameter, an address
    uint32_t count;
} HostCall;

bool host_fail(const HostCall *call, const char *help, const char *format, ...) __attribute__((format(printf, 3, 4)));
typedef bool HostFunction(const HostCall *call, Constant *value);
HostFunction *host_function_named(const char *name); // NULL: unknown
bool host_launch_ex(const HostCall *call, Constant *value); // cudaLaunchKernelEx(&config, kernel, arguments...)
bool host_max_clusters(const HostCall *call, Constant *value); // cudaOccupancyMaxActiveClusters(&clusters, kernel, &config)
HostKernel *host_kernel(Host *h, const Function *function);
// True if `pointer` points to at least `bytes` bytes of device memory. Sets the number of bytes from there to the end.
bool host_is_on_device(const Host *h, const Constant *pointer, uint64_t bytes, uint64_t *bytes_there);
void host_write_position(Host *h, const Constant *pointer); // writes a device address: "3+16" or "0:name+4"
// Writes a "bytes" line with its data; returns their hash, by which calls refer to them.
uint64_t host_write_bytes(Host *h, const void *bytes, size_t count);

// ---- host_data.c: input data and expected results of the harness

extern HostFunction host_sum_data, host_sum_expected, host_scan_data, host_scan_expected;

#endif
