// Memory, an event and a pool shared by two processes: the child adds to its parent's numbers. The parent starts this
// program again, with an argument, and they communicate through pipes.
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <cuda.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

enum { COUNT = 4096 };

#define CHECK(call)                                                                     \
    do {                                                                                \
        if (const int error = (int)(call)) {                                            \
            printf("line %d: %s gave %d\n", __LINE__, #call, error);                    \
            exit(1);                                                                    \
        }                                                                               \
    } while (0)

struct Handles {
    cudaIpcMemHandle_t memory;
    cudaIpcEventHandle_t event;
    cudaMemPoolPtrExportData pooled, other;
};

__global__ void add(int *numbers, int term)
{
    const int k = blockIdx.x * blockDim.x + threadIdx.x;
    numbers[k] += term;
}

static void expect(const int *numbers, int term, const char *where)
{
    static int found[COUNT];
    CHECK(cudaMemcpy(found, numbers, sizeof found, cudaMemcpyDeviceToHost));
    for (int k = 0; k < COUNT; k++)
        if (found[k] != k + term) {
            printf("%s: number %d is %d and not %d\n", where, k, found[k], k + term);
            exit(1);
        }
}

static void fill(int *numbers)
{
    static int counted[COUNT];
    for (int k = 0; k < COUNT; k++)
        counted[k] = k;
    CHECK(cudaMemcpy(numbers, counted, sizeof counted, cudaMemcpyHostToDevice));
}

static void send_file(int to, int file)
{
    char letter = 0, control[CMSG_SPACE(sizeof file)] = {};
    iovec part = {&letter, 1};
    msghdr message = {};
    message.msg_iov = &part, message.msg_iovlen = 1, message.msg_control = control, message.msg_controllen = sizeof control;
    cmsghdr *head = CMSG_FIRSTHDR(&message);
    head->cmsg_level = SOL_SOCKET, head->cmsg_type = SCM_RIGHTS, head->cmsg_len = CMSG_LEN(sizeof file);
    memcpy(CMSG_DATA(head), &file, sizeof file);
    CHECK(sendmsg(to, &message, 0) != 1);
}

static int receive_file(int from)
{
    int file;
    char letter, control[CMSG_SPACE(sizeof file)];
    iovec part = {&letter, 1};
    msghdr message = {};
    message.msg_iov = &part, message.msg_iovlen = 1, message.msg_control = control, message.msg_controllen = sizeof control;
    CHECK(recvmsg(from, &message, 0) != 1);
    memcpy(&file, CMSG_DATA(CMSG_FIRSTHDR(&message)), sizeof file);
    return file;
}

static int child(int parent)
{
    Handles handles;
    int *numbers, *pooled;
    cudaEvent_t event;
    cudaMemPool_t pool;
    CHECK(read(parent, &handles, sizeof handles) != sizeof handles);
    CHECK(cudaIpcOpenMemHandle((void **)&numbers, handles.memory, cudaIpcMemLazyEnablePeerAccess));
    CUipcMemHandle same;
    CUdeviceptr again;
    memcpy(&same, &handles.memory, sizeof same);
    CHECK(cuIpcOpenMemHandle(&again, same, CU_IPC_MEM_LAZY_ENABLE_PEER_ACCESS));
    CHECK(again != (CUdeviceptr)numbers);
    CHECK(cuIpcCloseMemHandle(again));
    CHECK(cudaIpcOpenEventHandle(&event, handles.event));
    CHECK(cudaStreamWaitEvent(0, event, 0));
    expect(numbers, 10, "the child");
    add<<<COUNT / 128, 128>>>(numbers, 100);
    CHECK(cudaEventRecord(event));
    CHECK(cudaDeviceSynchronize());
    CHECK(cudaEventDestroy(event));
    CHECK(cudaIpcCloseMemHandle(numbers));
    CHECK(cudaIpcCloseMemHandle(numbers) != cudaErrorInvalidValue);
    CHECK(cudaGetLastError() != cudaErrorInvalidValue);

    CHECK(cudaMemPoolImportFromShareableHandle(&pool, (void *)(intptr_t)receive_file(parent), cudaMemHandleTypePosixFileDescriptor, 0));
    CHECK(cudaMemPoolImportPointer((void **)&pooled, pool, &handles.other) != cudaErrorInvalidValue); // of another pool
    CHECK(cudaGetLastError() != cudaErrorInvalidValue);
    CHECK(cudaMemPoolImportPointer((void **)&pooled, pool, &handles.pooled));
    expect(pooled, 0, "the child, of a pool");
    add<<<COUNT / 128, 128>>>(pooled, 5);
    CHECK(cudaFreeAsync(pooled, 0));
    CHECK(cudaDeviceSynchronize());
    return 0;
}

static int *new_pooled(cudaMemPool_t *pool, cudaMemPoolPtrExportData *data)
{
    int *pooled;
    cudaMemPoolProps properties = {};
    properties.allocType = cudaMemAllocationTypePinned;
    properties.handleTypes = cudaMemHandleTypePosixFileDescriptor;
    properties.location.type = cudaMemLocationTypeDevice;
    CHECK(cudaMemPoolCreate(pool, &properties));
    CHECK(cudaMallocFromPoolAsync((void **)&pooled, COUNT * sizeof *pooled, *pool, 0));
    CHECK(cudaMemPoolExportPointer(data, pooled));
    fill(pooled);
    return pooled;
}

static void start_child(const char *program, int pair[2])
{
    CHECK(socketpair(AF_UNIX, SOCK_STREAM, 0, pair));
    if (fork() == 0) {
        char number[16];
        snprintf(number, sizeof number, "%d", pair[1]);
        execl(program, program, number, (char *)NULL);
        _exit(127);
    }
    close(pair[1]);
}

int main(int argc, char **argv)
{
    int *numbers, *pooled, *other, *small, pair[2], status, file;
    cudaEvent_t event, own;
    cudaMemPool_t pool, other_pool;
    Handles handles;
    if (argc > 1)
        return child(atoi(argv[1]));
    start_child(argv[0], pair);
    CHECK(cudaMalloc(&numbers, COUNT * sizeof *numbers));
    fill(numbers);
    CHECK(cudaIpcGetMemHandle(&handles.memory, numbers));
    CHECK(cudaIpcOpenMemHandle((void **)&small, handles.memory, cudaIpcMemLazyEnablePeerAccess) != cudaErrorDeviceUninitialized);
    CHECK(cudaGetLastError() != cudaErrorDeviceUninitialized);
    add<<<COUNT / 128, 128>>>(numbers, 10); // also after it has been shared
    CHECK(cudaEventCreateWithFlags(&event, cudaEventInterprocess | cudaEventDisableTiming));
    CHECK(cudaIpcGetEventHandle(&handles.event, event));
    CHECK(cudaEventRecord(event));
    pooled = new_pooled(&pool, &handles.pooled);
    other = new_pooled(&other_pool, &handles.other);
    CHECK(cudaMemPoolExportToShareableHandle(&file, pool, cudaMemHandleTypePosixFileDescriptor, 0));
    CHECK(write(pair[0], &handles, sizeof handles) != sizeof handles);
    send_file(pair[0], file);
    CHECK(wait(&status) < 0 || status != 0);
    expect(numbers, 110, "the parent");
    expect(pooled, 5, "the parent, of a pool");
    expect(other, 0, "the parent, of another pool");
    CHECK(cudaFree(numbers));
    CHECK(cudaMalloc(&small, sizeof *small));
    CHECK(cudaIpcGetMemHandle(&handles.memory, small) != cudaErrorNotSupported); // allowed on an H200, which exports the neighbouring memory, too
    CHECK(cudaEventCreate(&own));
    CHECK(cudaIpcGetEventHandle(&handles.event, own) != cudaErrorInvalidResourceHandle);
    CHECK(cudaIpcGetMemHandle(NULL, small) != cudaErrorInvalidValue);
    puts("PASS");
    return 0;
}
