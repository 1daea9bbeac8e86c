// library_pipelines.c: cuda::barrier, cuda::pipeline, and collective asynchronous copies. Barriers are mbarriers in shared memory; copies
// to shared memory use cp.async.
#include "compiler/library_text.h"

#define IN_CUDA(...) EXPANDED_TEXT(namespace cuda { __VA_ARGS__ })
#define IN_GROUPS(...) EXPANDED_TEXT(namespace cooperative_groups { __VA_ARGS__ })
#define HEADERS "cuda/barrier cuda/pipeline"
#define COPY_HEADER "cooperative_groups/memcpy_async.h"
// A loop that tests the barrier until the phase is complete. As in NVIDIA's header, it sleeps only after 17 tests and 40 us: a quarter of
// the time that it has waited, at most 1 ms.
#define WAIT(instruction, type, phase) \
    const unsigned long long start = __globaltimer(); \
    for (int tests = 0;;) { \
        unsigned done; \
        asm volatile("{\n.reg .pred p;\n" instruction ".shared.b64 p, [%1], %2;\nselp.u32 %0, 1, 0, p;\n}" \
            : "=r"(done) : "r"(__i_address()), type(phase) : "memory"); \
        if (done) break; \
        if (tests < 16) { tests++; continue; } \
        const long long waited = (long long)(__globaltimer() - start); \
        if (waited >= 4000000) __nanosleep(1000000); \
        else if (waited >= 40000) __nanosleep((unsigned)(waited / 4)); }
#define ASYNC(cache, bytes) asm volatile("cp.async." cache ".shared.global [%0], [%1], " #bytes ", " #bytes ";" \
    :: "r"((unsigned)__cvta_generic_to_shared(to + k)), "l"(from + k) : "memory")
#define STRIDED(bytes) for (size_t k = rank * bytes; k < size; k += threads * bytes)

const LibraryEntry LIBRARY_PIPELINES[] = {
    {"cuda::barrier cuda::init", HEADERS, IN_CUDA(
        template <thread_scope scope> class barrier {
            unsigned long long state_;
        public:
            using arrival_token = unsigned long long;
            D unsigned __i_address() const { return (unsigned)__cvta_generic_to_shared(&state_); }
            D arrival_token arrive(long count = 1) { arrival_token token;
                asm volatile("mbarrier.arrive.shared.b64 %0, [%1], %2;" : "=l"(token) : "r"(__i_address()), "r"((unsigned)count) : "memory"); return token; }
            D void wait(arrival_token &&token) const { WAIT("mbarrier.try_wait", "l", token); }
            D void wait_parity(bool parity) const { WAIT("mbarrier.try_wait.parity", "r", (unsigned)parity); }
            D void arrive_and_wait() { wait(arrive()); }
            D void arrive_and_drop() { asm volatile("{\n.reg .b64 state;\nmbarrier.arrive_drop.shared.b64 state, [%0];\n}" :: "r"(__i_address()) : "memory"); }
            D void __i_arrive_after_copies() { asm volatile("cp.async.mbarrier.arrive.shared.b64 [%0];" :: "r"(__i_address()) : "memory"); }
            D static constexpr long max() { return (1 << 20) - 1; }
        };
        template <thread_scope scope> D void init(barrier<scope> *b, long count) {
            asm volatile("mbarrier.init.shared.b64 [%0], %1;" :: "r"(b->__i_address()), "r"((unsigned)count) : "memory"); }
    )},
    {"cuda::device::barrier_native_handle", HEADERS, EXPANDED_TEXT(namespace cuda { namespace device {
        template <thread_scope scope> D uint64_t *barrier_native_handle(barrier<scope> &b) { return (uint64_t *)&b; } } })},
    {"cuda::aligned_size_t", HEADERS, IN_CUDA(
        template <size_t alignment> struct aligned_size_t {
            size_t value;
            D explicit aligned_size_t(size_t size) : value(size) {}
            D operator size_t() const { return value; }
        };)},
    // A thread's part of a copy to shared memory, in units of the alignment that the parameters' types promise.
    {"cuda::__i_copy cuda::__i_alignment", HEADERS " " COPY_HEADER, IN_CUDA(
        D size_t __i_alignment(void *, size_t) { return 1; }
        template <class T> D size_t __i_alignment(T *, size_t) { return alignof(T); }
        template <class T, size_t alignment> D size_t __i_alignment(T *, aligned_size_t<alignment>) { return alignment; }
        D void __i_copy(size_t rank, size_t threads, char *to, const char *from, size_t size, size_t alignment) {
            if (!__isShared(to) || alignment % 4 || size % alignment) STRIDED(1) to[k] = from[k];
            else if (alignment % 16 == 0) STRIDED(16) ASYNC("cg", 16);
            else if (alignment % 8 == 0) STRIDED(8) ASYNC("ca", 8);
            else STRIDED(4) ASYNC("ca", 4); })},
    {"cuda::memcpy_async", HEADERS, IN_CUDA(
        template <thread_scope scope> D void __i_complete(barrier<scope> &b) { b.__i_arrive_after_copies(); }
        template <thread_scope scope> D void __i_complete(pipeline<scope> &) {}
        // One thread copies whole units of 16 bytes in bulk, if a block's barrier waits for them. The copy sees the barrier only after a fence.
        template <thread_scope scope> D bool __i_copy_in_bulk(barrier<scope> &b, size_t rank, char *to, const char *from, size_t size, size_t alignment) {
            if (scope != thread_scope_block || alignment % 16 || size % 16 || !__isShared(to) || !__isGlobal(from)) return false;
            if (rank == 0) {
                asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
                asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" :: "r"((unsigned)__cvta_generic_to_shared(to)),
                             "l"(__cvta_generic_to_global(from)), "r"((unsigned)size), "r"(b.__i_address()) : "memory");
                asm volatile("mbarrier.expect_tx.relaxed.cta.shared::cta.b64 [%0], %1;" :: "r"(b.__i_address()), "r"((unsigned)size) : "memory"); }
            return true; }
        template <thread_scope scope> D bool __i_copy_in_bulk(pipeline<scope> &, size_t, char *, const char *, size_t, size_t) { return false; }
        template <class To, class From, class Size, class Sync> D void __i_copy_to(size_t rank, size_t threads, To *to, From *from, Size size, Sync &sync) {
            const size_t alignment = __i_alignment(to, size);
            if (__i_copy_in_bulk(sync, rank, (char *)to, (const char *)from, size, alignment)) return;
            __i_copy(rank, threads, (char *)to, (const char *)from, size, alignment); __i_complete(sync); }
        template <class To, class From, class Size, class Sync> D void memcpy_async(To *to, From *from, Size size, Sync &sync) { __i_copy_to(0, 1, to, from, size, sync); }
        template <class Group, class To, class From, class Size, class Sync> D void memcpy_async(const Group &group, To *to, From *from, Size size, Sync &sync) {
            __i_copy_to(group.thread_rank(), group.size(), to, from, size, sync); })},
    {"cuda::pipeline cuda::pipeline_shared_state cuda::make_pipeline cuda::pipeline_role", HEADERS, IN_CUDA(
        enum class pipeline_role { producer, consumer };
        template <thread_scope scope, unsigned stages> struct pipeline_shared_state { barrier<scope> produced_[stages]; barrier<scope> consumed_[stages]; };
        // Stages that were committed and released; of a thread's own pipeline there are no barriers, but groups of cp.async.
        template <thread_scope scope> class pipeline {
            barrier<scope> *produced_; barrier<scope> *consumed_;
            unsigned stages_, committed_, released_;
        public:
            D pipeline(barrier<scope> *produced, barrier<scope> *consumed, unsigned stages)
                : produced_(produced), consumed_(consumed), stages_(stages), committed_(0), released_(0) {}
            D void producer_acquire() { if (stages_) consumed_[committed_ % stages_].wait_parity(~(committed_ / stages_) & 1); }
            D void producer_commit() {
                if (stages_) {
                    produced_[committed_ % stages_].__i_arrive_after_copies();
                    produced_[committed_ % stages_].arrive();
                } else asm volatile("cp.async.commit_group;" ::: "memory");
                committed_++; }
            D void consumer_wait() {
                if (stages_) produced_[released_ % stages_].wait_parity(released_ / stages_ & 1);
                else __i_wait(committed_ - released_ - 1); }
            D void consumer_release() { if (stages_) consumed_[released_ % stages_].arrive(); released_++; }
            D bool quit() { return true; }
            D static void __i_wait(unsigned groups) {
                switch (groups) {
                case 1: asm volatile("cp.async.wait_group 1;" ::: "memory"); break;
                case 2: asm volatile("cp.async.wait_group 2;" ::: "memory"); break;
                case 3: asm volatile("cp.async.wait_group 3;" ::: "memory"); break;
                case 4: asm volatile("cp.async.wait_group 4;" ::: "memory"); break;
                default: asm volatile("cp.async.wait_group 0;" ::: "memory");
                } }
        };
        D pipeline<thread_scope_thread> make_pipeline() { return pipeline<thread_scope_thread>(nullptr, nullptr, 0); }
        template <class Group, thread_scope scope, unsigned stages> D pipeline<scope> __i_pipeline(const Group &group, pipeline_shared_state<scope, stages> *state, unsigned producers) {
            if (group.thread_rank() == 0)
                for (unsigned k = 0; k < stages; k++) {
                    init(&state->produced_[k], producers);
                    init(&state->consumed_[k], group.size() == producers ? producers : group.size() - producers);
                }
            group.sync();
            return pipeline<scope>(state->produced_, state->consumed_, stages); }
        template <class Group, thread_scope scope, unsigned stages> D pipeline<scope> make_pipeline(const Group &group, pipeline_shared_state<scope, stages> *state) {
            return __i_pipeline(group, state, group.size()); }
        template <class Group, thread_scope scope, unsigned stages> D pipeline<scope> make_pipeline(const Group &group, pipeline_shared_state<scope, stages> *state, size_t producers) {
            return __i_pipeline(group, state, producers); }
        template <class Group, thread_scope scope, unsigned stages> D pipeline<scope> make_pipeline(const Group &group, pipeline_shared_state<scope, stages> *state, pipeline_role role) {
            const unsigned producers = __syncthreads_count(role == pipeline_role::producer);
            return __i_pipeline(group, state, producers); })},
    {"cuda::pipeline_consumer_wait_prior", HEADERS, IN_CUDA(
        template <unsigned n> D void pipeline_consumer_wait_prior(pipeline<thread_scope_thread> &) {
            asm volatile("cp.async.wait_group %0;" :: "n"(n) : "memory"); })},
    {"cooperative_groups::memcpy_async", COPY_HEADER, IN_GROUPS(
        template <class Group, class To, class From, class Size> D void memcpy_async(const Group &group, To *to, From *from, Size size) {
            cuda::__i_copy(group.thread_rank(), group.size(), (char *)to, (const char *)from, size, cuda::__i_alignment(to, size));
            asm volatile("cp.async.commit_group;" ::: "memory"); })},
    {"cooperative_groups::wait", COPY_HEADER, IN_GROUPS(
        template <class Group> D void wait(const Group &group) { asm volatile("cp.async.wait_group 0;" ::: "memory"); group.sync(); })},
    {"cooperative_groups::wait_prior", COPY_HEADER, IN_GROUPS(
        template <unsigned n, class Group> D void wait_prior(const Group &group) { asm volatile("cp.async.wait_group %0;" :: "n"(n) : "memory"); group.sync(); })},
    {NULL, NULL, NULL},
};
