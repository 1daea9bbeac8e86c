// library_ptx.c: supported functions of cuda::ptx, with the PTX of libcu++.
#include "compiler/library_text.h"

#define SHARED(p) "r"((unsigned)__cvta_generic_to_shared(p))
#define GLOBAL(p) "l"(__cvta_generic_to_global(p))

// An overload for each pair of semantics and scope.
#define ARRIVE_EXPECT(sem, scope) \
    D uint64_t mbarrier_arrive_expect_tx(sem_##sem##_t, scope_##scope##_t, space_shared_t, uint64_t *barrier, const uint32_t &bytes) { uint64_t state; \
        asm("mbarrier.arrive.expect_tx." #sem "." TEXT_OF_##scope ".shared::cta.b64 %0, [%1], %2;" : "=l"(state) : SHARED(barrier), "r"(bytes) : "memory"); \
        return state; }
#define ARRIVE(sem, scope) \
    D uint64_t mbarrier_arrive(sem_##sem##_t, scope_##scope##_t, space_shared_t, uint64_t *barrier) { uint64_t state; \
        asm("mbarrier.arrive." #sem "." TEXT_OF_##scope ".shared::cta.b64 %0, [%1];" : "=l"(state) : SHARED(barrier) : "memory"); return state; } \
    D uint64_t mbarrier_arrive(sem_##sem##_t, scope_##scope##_t, space_shared_t, uint64_t *barrier, const uint32_t &count) { uint64_t state; \
        asm("mbarrier.arrive." #sem "." TEXT_OF_##scope ".shared::cta.b64 %0, [%1], %2;" : "=l"(state) : SHARED(barrier), "r"(count) : "memory"); return state; }
#define WAIT_PARITY(name, ptx) \
    D bool name(uint64_t *barrier, const uint32_t &parity) { uint32_t done; \
        asm volatile("{ .reg .pred P_OUT; " ptx ".parity.shared::cta.b64 P_OUT, [%1], %2; selp.b32 %0, 1, 0, P_OUT; }" \
            : "=r"(done) : SHARED(barrier), "r"(parity) : "memory"); return done != 0; } \
    D bool name(sem_acquire_t, scope_cta_t, uint64_t *barrier, const uint32_t &parity) { uint32_t done; \
        asm volatile("{ .reg .pred P_OUT; " ptx ".parity.acquire.cta.shared::cta.b64 P_OUT, [%1], %2; selp.b32 %0, 1, 0, P_OUT; }" \
            : "=r"(done) : SHARED(barrier), "r"(parity) : "memory"); return done != 0; } \
    D bool name(sem_acquire_t, scope_cluster_t, uint64_t *barrier, const uint32_t &parity) { uint32_t done; \
        asm volatile("{ .reg .pred P_OUT; " ptx ".parity.acquire.cluster.shared::cta.b64 P_OUT, [%1], %2; selp.b32 %0, 1, 0, P_OUT; }" \
            : "=r"(done) : SHARED(barrier), "r"(parity) : "memory"); return done != 0; }
#define WAIT_STATE(name, ptx) \
    D bool name(uint64_t *barrier, const uint64_t &state) { uint32_t done; \
        asm volatile("{ .reg .pred P_OUT; " ptx ".shared::cta.b64 P_OUT, [%1], %2; selp.b32 %0, 1, 0, P_OUT; }" \
            : "=r"(done) : SHARED(barrier), "l"(state) : "memory"); return done != 0; }
#define TEXT_OF_cta "cta"
#define TEXT_OF_cluster "cluster"
#define TAG(name) struct name##_t {}; static constexpr name##_t name{};
#define IN_PTX(...) EXPANDED_TEXT(namespace cuda { namespace ptx { __VA_ARGS__ } })

const LibraryEntry LIBRARY_PTX[] = {
    {"cuda::ptx::sem_relaxed_t cuda::ptx::sem_relaxed cuda::ptx::sem_acquire_t cuda::ptx::sem_acquire cuda::ptx::sem_release_t cuda::ptx::sem_release "
     "cuda::ptx::sem_acq_rel_t cuda::ptx::sem_acq_rel cuda::ptx::sem_sc_t cuda::ptx::sem_sc",
     "cuda/ptx cuda/barrier", IN_PTX(TAG(sem_relaxed) TAG(sem_acquire) TAG(sem_release) TAG(sem_acq_rel) TAG(sem_sc))},
    {"cuda::ptx::scope_cta_t cuda::ptx::scope_cta cuda::ptx::scope_cluster_t cuda::ptx::scope_cluster cuda::ptx::scope_gpu_t cuda::ptx::scope_gpu "
     "cuda::ptx::scope_sys_t cuda::ptx::scope_sys", "cuda/ptx", IN_PTX(TAG(scope_cta) TAG(scope_cluster) TAG(scope_gpu) TAG(scope_sys))},
    {"cuda::ptx::space_global_t cuda::ptx::space_global cuda::ptx::space_shared_t cuda::ptx::space_shared cuda::ptx::space_cluster_t "
     "cuda::ptx::space_cluster", "cuda/ptx", IN_PTX(TAG(space_global) TAG(space_shared) TAG(space_cluster))},
    {"cuda::ptx::n32_t cuda::ptx::n32", "cuda/ptx", IN_PTX(template <int n> struct n32_t { static constexpr int value = n; };)},
    {"cuda::ptx::mbarrier_init", "cuda/ptx", IN_PTX(
        D void mbarrier_init(uint64_t *barrier, const uint32_t &count) {
            asm("mbarrier.init.shared.b64 [%0], %1;" :: SHARED(barrier), "r"(count) : "memory"); })},
    {"cuda::ptx::mbarrier_inval", "cuda/ptx", IN_PTX(
        D void mbarrier_inval(uint64_t *barrier) { asm("mbarrier.inval.shared.b64 [%0];" :: SHARED(barrier) : "memory"); })},
    {"cuda::ptx::mbarrier_arrive", "cuda/ptx", IN_PTX(
        D uint64_t mbarrier_arrive(uint64_t *barrier) { uint64_t state;
            asm("mbarrier.arrive.shared.b64 %0, [%1];" : "=l"(state) : SHARED(barrier) : "memory"); return state; }
        D uint64_t mbarrier_arrive(uint64_t *barrier, const uint32_t &count) { uint64_t state;
            asm("mbarrier.arrive.shared::cta.b64 %0, [%1], %2;" : "=l"(state) : SHARED(barrier), "r"(count) : "memory"); return state; }
        ARRIVE(release, cta) ARRIVE(release, cluster) ARRIVE(relaxed, cta) ARRIVE(relaxed, cluster))},
    {"cuda::ptx::mbarrier_arrive_expect_tx", "cuda/ptx", IN_PTX(
        ARRIVE_EXPECT(release, cta) ARRIVE_EXPECT(release, cluster) ARRIVE_EXPECT(relaxed, cta) ARRIVE_EXPECT(relaxed, cluster))},
    {"cuda::ptx::mbarrier_try_wait_parity", "cuda/ptx", IN_PTX(WAIT_PARITY(mbarrier_try_wait_parity, "mbarrier.try_wait"))},
    {"cuda::ptx::mbarrier_test_wait_parity", "cuda/ptx", IN_PTX(WAIT_PARITY(mbarrier_test_wait_parity, "mbarrier.test_wait"))},
    {"cuda::ptx::mbarrier_try_wait", "cuda/ptx", IN_PTX(WAIT_STATE(mbarrier_try_wait, "mbarrier.try_wait"))},
    {"cuda::ptx::mbarrier_test_wait", "cuda/ptx", IN_PTX(WAIT_STATE(mbarrier_test_wait, "mbarrier.test_wait"))},
    {"cuda::ptx::fence_mbarrier_init", "cuda/ptx", IN_PTX(
        D void fence_mbarrier_init(sem_release_t, scope_cluster_t) { asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory"); })},
    {"cuda::ptx::fence_proxy_async", "cuda/ptx", IN_PTX(
        D void fence_proxy_async() { asm volatile("fence.proxy.async;" ::: "memory"); }
        D void fence_proxy_async(space_shared_t) { asm volatile("fence.proxy.async.shared::cta;" ::: "memory"); }
        D void fence_proxy_async(space_global_t) { asm volatile("fence.proxy.async.global;" ::: "memory"); })},
    {"cuda::ptx::barrier_cluster_arrive", "cuda/ptx", IN_PTX(
        D void barrier_cluster_arrive() { asm volatile("barrier.cluster.arrive;" ::: "memory"); }
        D void barrier_cluster_arrive(sem_release_t) { asm volatile("barrier.cluster.arrive.release;" ::: "memory"); }
        D void barrier_cluster_arrive(sem_relaxed_t) { asm volatile("barrier.cluster.arrive.relaxed;"); })},
    {"cuda::ptx::barrier_cluster_wait", "cuda/ptx", IN_PTX(
        D void barrier_cluster_wait() { asm volatile("barrier.cluster.wait;" ::: "memory"); }
        D void barrier_cluster_wait(sem_acquire_t) { asm volatile("barrier.cluster.wait.acquire;" ::: "memory"); })},
    {"cuda::ptx::st_async", "cuda/ptx", IN_PTX(
        D void st_async(float *address, const float &value, uint64_t *barrier) {
            asm("st.async.weak.shared::cluster.mbarrier::complete_tx::bytes.b32 [%0], %1, [%2];"
                :: SHARED(address), "r"(__float_as_uint(value)), SHARED(barrier) : "memory"); }
        D void st_async(int *address, const int &value, uint64_t *barrier) {
            asm("st.async.weak.shared::cluster.mbarrier::complete_tx::bytes.b32 [%0], %1, [%2];" :: SHARED(address), "r"(value), SHARED(barrier) : "memory"); }
        D void st_async(unsigned *address, const unsigned &value, uint64_t *barrier) {
            asm("st.async.weak.shared::cluster.mbarrier::complete_tx::bytes.b32 [%0], %1, [%2];" :: SHARED(address), "r"(value), SHARED(barrier) : "memory"); }
        D void st_async(uint64_t *address, const uint64_t &value, uint64_t *barrier) {
            asm("st.async.weak.shared::cluster.mbarrier::complete_tx::bytes.b64 [%0], %1, [%2];" :: SHARED(address), "l"(value), SHARED(barrier) : "memory"); })},
    {"cuda::ptx::cp_async_bulk", "cuda/ptx", IN_PTX(
        D void cp_async_bulk(space_cluster_t, space_global_t, void *to, const void *from, const uint32_t &bytes, uint64_t *barrier) {
            asm("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];"
                :: SHARED(to), GLOBAL(from), "r"(bytes), SHARED(barrier) : "memory"); }
        D void cp_async_bulk(space_shared_t, space_global_t, void *to, const void *from, const uint32_t &bytes, uint64_t *barrier) {
            asm("cp.async.bulk.shared::cta.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];"
                :: SHARED(to), GLOBAL(from), "r"(bytes), SHARED(barrier) : "memory"); }
        D void cp_async_bulk(space_cluster_t, space_shared_t, void *to, const void *from, const uint32_t &bytes, uint64_t *barrier) {
            asm("cp.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];"
                :: SHARED(to), SHARED(from), "r"(bytes), SHARED(barrier) : "memory"); }
        D void cp_async_bulk(space_global_t, space_shared_t, void *to, const void *from, const uint32_t &bytes) {
            asm("cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], %2;" :: GLOBAL(to), SHARED(from), "r"(bytes) : "memory"); })},
    {"cuda::ptx::cp_async_bulk_commit_group", "cuda/ptx", IN_PTX(
        D void cp_async_bulk_commit_group() { asm volatile("cp.async.bulk.commit_group;"); })},
    {"cuda::ptx::cp_async_bulk_wait_group", "cuda/ptx", IN_PTX(
        template <int n> D void cp_async_bulk_wait_group(n32_t<n>) { asm volatile("cp.async.bulk.wait_group %0;" :: "n"(n) : "memory"); })},
    {"cuda::ptx::cp_async_bulk_wait_group_read", "cuda/ptx", IN_PTX(
        template <int n> D void cp_async_bulk_wait_group_read(n32_t<n>) { asm volatile("cp.async.bulk.wait_group.read %0;" :: "n"(n) : "memory"); })},
    {"cuda::ptx::elect_sync", "cuda/ptx", IN_PTX(
        D bool elect_sync(const uint32_t &mask) { uint32_t elected;
            asm volatile("{ .reg .pred P_OUT; elect.sync _|P_OUT, %1; selp.b32 %0, 1, 0, P_OUT; }" : "=r"(elected) : "r"(mask)); return elected != 0; })},
    {"cuda::ptx::get_sreg_laneid", "cuda/ptx", IN_PTX(D uint32_t get_sreg_laneid() { return __i_special("%laneid"); })},
    {"cuda::ptx::get_sreg_warpid", "cuda/ptx", IN_PTX(D uint32_t get_sreg_warpid() { return __i_special("%warpid"); })},
    {"cuda::ptx::get_sreg_smid", "cuda/ptx", IN_PTX(D uint32_t get_sreg_smid() { return __i_special("%smid"); })},
    {"cuda::ptx::get_sreg_cluster_ctarank", "cuda/ptx", IN_PTX(D uint32_t get_sreg_cluster_ctarank() { return __i_special("%cluster_ctarank"); })},
    {NULL, NULL, NULL},
};
