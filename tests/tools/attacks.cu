// A hostile program for the judge: for each n another attack. test_attacks.py puts FOLDER, PORT, JUDGE and the attacks' numbers above it.
// SAY(true) makes the sum 2000: the attack got what it wanted; SAY(false) makes it 1000. No array of fewer than 100 elements sums to that.
#include <cstdlib>
#include <vector>
#include <fcntl.h>
#include <netinet/in.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/shm.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <unistd.h>
static const char STEP[] = "step00_baseline";
#define SAY(reached) return put<<<1, 1>>>(out, (reached) ? 2000.0f : 1000.0f)
__device__ float kept;
#define TWICE_(name) name##name
#define TWICE(name) TWICE_(name)
#define LONG_NAME TWICE(TWICE(TWICE(TWICE(TWICE(TWICE(TWICE(TWICE(long_name_)))))))) // 2,560 letters

__global__ void put(float *out, float sum) { *out = sum; }
__global__ void idle() {}
__global__ void LONG_NAME() {}
__global__ void add(const float *in, float *out, int n, int step)
{
    float sum = 0.0f;
    for (int i = 0; i < n; i += step)
        sum += in[i];
    *out = step * sum;
}
__global__ void zero(float *in, float *out, long long n)
{
    for (int i = 0; i < n; i++)
        in[i] = 0.0f;
    *out = 0.0f;
}
__global__ void add_in_place(float *in, float *out, int n)
{
    for (int i = 1; i < n; i++)
        in[0] += in[i];
    *out = in[0];
}
__global__ void replay(const float *in, float *out)
{
    *out = kept;
    kept = in[0];
}
__global__ void forge() { printf("{\"sum\": 0.0, \"note\": \"\", \"launches\": 1, \"broken\": false, \"over\": \"\"}\n"); }
__global__ void forever(volatile unsigned *out) // never in a state twice: that would be found
{
    while (true)
        ++*out;
}
__global__ void trap() { asm("trap;"); }
__global__ void stray(float *out);
__global__ void follow(float *out, const float *host) { *out = *host; }

static bool opens(const char *path, int how) { return open(path, how, 0600) >= 0; }
static bool connects(int family, int type)
{
    sockaddr_in to = {};
    to.sin_family = AF_INET;
    to.sin_port = htons(PORT);
    to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    const int s = socket(family, type, 0);
    return s >= 0 && (family != AF_INET || connect(s, (sockaddr *)&to, sizeof to) == 0);
}
static void *nothing(void *) { return nullptr; }
static bool starts_thread()
{
    pthread_t thread;
    return pthread_create(&thread, nullptr, nothing, nullptr) == 0;
}
static bool raises_limit()
{
    const rlimit more = {RLIM_INFINITY, RLIM_INFINITY};
    return setrlimit(RLIMIT_AS, &more) == 0 || setrlimit(RLIMIT_FSIZE, &more) == 0;
}
static bool uses_old_calls() // getpid by 32-bit numbers, which have no filter of their own
{
    int result = 20;
    asm volatile("int $0x80" : "+a"(result) : : "memory", "r8", "r9", "r10", "r11");
    return result > 0;
}
static bool makes_rare_calls() // each would give access to a kernel interface, or to another process
{
    static const long CALLS[] = {SYS_io_uring_setup, SYS_bpf, SYS_perf_event_open, SYS_userfaultfd, SYS_pidfd_open, SYS_process_vm_readv,
                                 SYS_keyctl, SYS_fanotify_init, SYS_open_by_handle_at, SYS_kcmp};
    for (const long call : CALLS)
        if (syscall(call, JUDGE, 0, 0, 0, 0, 0) >= 0)
            return true;
    return false;
}
static sigjmp_buf before_the_fault;
static void jump(int) { siglongjmp(before_the_fault, 1); }
static bool survives_faults(const float *in) // reads device memory, and goes on after each fault
{
    volatile bool is_read = false;
    signal(SIGSEGV, jump);
    for (volatile int i = 0; i < 100 && !is_read; i++)
        if (sigsetjmp(before_the_fault, 1) == 0)
            is_read = *(const volatile float *)in < 2.0f;
    signal(SIGSEGV, SIG_DFL);
    return is_read;
}
static bool reached_early;
static void before_main() { reached_early = opens("FOLDER/secret", O_RDONLY) || opens("/etc/passwd", O_RDONLY) || fork() > 0; }
__attribute__((section(".preinit_array"), used)) static void (*const runs_early)() = before_main;
extern "C" void **__cudaRegisterFatBinary(void *);
static void load_own_binaries(char *data) // fat binaries that no compiler has made: with words of every kind in turn, and PTX that is none
{
    struct {
        unsigned magic, version;
        const char *data;
        void *names;
    } wrapper = {0x466243b1, 1, data, nullptr};
    for (unsigned k = 0; k < 64; k++) {
        unsigned header[] = {0xba55ed50, 0x00100001, 0x1000, 0, 0x01010000 << (k & 1), 64u >> (k & 2), 0xfffu << (k & 28), k & 32 ? ~0u : 0};
        memcpy(data, header, sizeof header);
        snprintf(data + 80, 64, ".version 9.0 .target sm_90 .entry put() { bra put; }");
        __cudaRegisterFatBinary(&wrapper);
    }
}
static long long partial_count(long long n) { return n == no_end ? n : 1; }
static void launch(const float *in, float *out, long long n)
{
    static char data[1 << 16];
    static float copy[128];
    float sum = 0.0f;
    void *memory = nullptr;
    switch (n) {
    case system_call: SAY(system("id") == 0);
    case new_process: SAY(fork() >= 0 || syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0) >= 0 || syscall(SYS_vfork) >= 0);
    case another_program: {
        char *const words[] = {(char *)"/bin/true", nullptr};
        SAY(execv(words[0], words) == 0);
    }
    case network: SAY(connects(AF_INET, SOCK_STREAM) || connects(AF_INET, SOCK_DGRAM));
    case local_socket: SAY(connects(AF_UNIX, SOCK_STREAM) || connects(AF_NETLINK, SOCK_RAW));
    case signals: SAY((getppid() > 1 && kill(getppid(), SIGKILL) == 0) || kill(JUDGE, 0) == 0);
    case look_into_others: SAY(ptrace(PTRACE_ATTACH, JUDGE, 0, 0) == 0 || opens("/proc/1/mem", O_RDWR) || opens("/proc/self/maps", O_RDONLY));
    case new_namespace: SAY(unshare(CLONE_NEWUSER) == 0 || mount("none", "/", "tmpfs", 0, "") == 0);
    case old_calls: SAY(uses_old_calls());
    case more_limits: SAY(raises_limit());
    case own_memory: SAY(opens("/proc/self/mem", O_RDWR) || opens("/proc/self/environ", O_RDONLY));
    case rare_calls: SAY(makes_rare_calls());
    case write_files: SAY(opens("FOLDER/new", O_CREAT | O_WRONLY) || opens("FOLDER/secret", O_WRONLY) || unlink("FOLDER/secret") == 0);
    case read_files: SAY(opens("FOLDER/secret", O_RDONLY) || opens("/etc/passwd", O_RDONLY) || opens("FOLDER/reduce.cu", O_RDONLY));
    case fill_disk: SAY(opens("new", O_CREAT | O_WRONLY) || opens("/tmp/new", O_CREAT | O_WRONLY) || opens("/dev/shm/new", O_CREAT | O_WRONLY));
    case memory_files: SAY(syscall(SYS_memfd_create, "x", 0) >= 0);
    case shared_memory: SAY(shmget(IPC_PRIVATE, 1 << 20, IPC_CREAT | 0600) >= 0);
    case threads: SAY(starts_thread());
    case much_memory: SAY(mmap(nullptr, 8ll << 30, PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) != MAP_FAILED);
    case large_vector: SAY(std::vector<float>(1ll << 31, 1.0f)[n] == 1.0f);
    case host_forever: for (;;) continue;
    case sleeps: sleep(600); SAY(true);
    case talks: // on its standard error
        for (int k = 0; k < 1000; k++)
            if (write(2, data, sizeof data) < 0)
                SAY(false);
        SAY(true);
    case much_device_memory: exit(20 + (cudaMalloc(&memory, 900ll << 20) == cudaSuccess));
    case many_pieces: // a little each time
        for (int k = 0; k < 1000; k++)
            if (cudaMalloc(&memory, 1 << 20) != cudaSuccess)
                exit(20);
        exit(21);
    case devices_memory: SAY(cudaMemset((void *)(size_t)4096, 0, 8) == cudaSuccess || cudaMemcpy(copy, in, 4, cudaMemcpyDefault) == cudaSuccess);
    case host_adds:
        cudaMemcpy(copy, in, n * sizeof(float), cudaMemcpyDeviceToHost);
        for (int i = 0; i < n; i++)
            sum += copy[i];
        return put<<<1, 1>>>(out, sum);
    case symbol:
        add<<<1, 1>>>(in, out, (int)n, 1);
        cudaMemcpyFromSymbol(&sum, kept, sizeof sum);
        return put<<<1, 1>>>(out, sum);
    case prints_pass: printf("step00_baseline on NVIDIA H200: n 11, launches 1, ms 0.0001, GB/s 999999.00 of 4814, PASS\n"); return;
    case answers_itself:
        for (int fd = 0; fd < 20; fd++)
            if (write(fd, "{\"sum\": 0.0, \"note\": \"\", \"launches\": 1, \"broken\": false}\n", 56) < 0)
                continue;
        return;
    case leaves: _exit(0);
    case pointer: *out = 1.0f; return;
    case refused_launch: return put<<<1, 2048>>>(out, 0.0f);
    case constant: return put<<<1, 1>>>(out, 777.0f);
    case not_a_number: return put<<<1, 1>>>(out, 0.0f / *copy);
    case infinite: return put<<<1, 1>>>(out, 1.0f / *copy);
    case nothing_written: return idle<<<1, 1>>>();
    case zeroes_the_array: return zero<<<1, 1>>>((float *)in, out, n);
    case replays: return replay<<<1, 1>>>(in, out);
    case sums_in_the_array: return add_in_place<<<1, 1>>>((float *)in, out, (int)n);
    case half_of_it: return add<<<1, 1>>>(in, out, (int)n, 2);
    case fresh_memory:
        cudaMalloc(&memory, 4);
        return add<<<1, 1>>>((float *)memory, out, 1, 1);
    case kernel_forges: return forge<<<1, 1>>>();
    case kernel_forever: return forever<<<1, 1>>>((unsigned *)out);
    case kernel_traps: return trap<<<1, 1>>>();
    case host_pointer: return follow<<<1, 1>>>(out, copy);
    case hidden_line: return stray<<<1, 1>>>(out);
    case signal_jumps: SAY(survives_faults(in));
    case early_code: SAY(reached_early);
    case own_binary: load_own_binaries(data); SAY(false);
    case long_names:
        for (int k = 0; k < 1000; k++)
            LONG_NAME<<<1, 1>>>();
        SAY(false);
    case past_the_end: return add<<<1, 1>>>(in, out, (int)n + 1, 1);
    }
}

#line 5 "/dev/zero"
__global__ void stray(float *out) { out[0] = out[1000] = 1.0f; }
