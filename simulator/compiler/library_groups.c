// library_groups.c: cooperative groups.
#include "compiler/library_text.h"

#define IN_GROUPS(...) EXPANDED_TEXT(namespace cooperative_groups { __VA_ARGS__ })
#define HEADER "cooperative_groups.h cooperative_groups/reduce.h cooperative_groups/scan.h cooperative_groups/memcpy_async.h"

const LibraryEntry LIBRARY_GROUPS[] = {
    {"cooperative_groups::thread_block cooperative_groups::this_thread_block", HEADER, IN_GROUPS(
        struct thread_block {
            struct arrival_token {};
            D static void sync() { __barrier_sync(0); }
            D static arrival_token barrier_arrive() { asm volatile("barrier.arrive 0, %0;" :: "r"(blockDim.x * blockDim.y * blockDim.z) : "memory"); return arrival_token(); }
            D static void barrier_wait(arrival_token &&) { __barrier_sync(0); }
            D static unsigned thread_rank() { return (threadIdx.z * blockDim.y + threadIdx.y) * blockDim.x + threadIdx.x; }
            D static unsigned size() { return blockDim.x * blockDim.y * blockDim.z; }
            D static unsigned num_threads() { return size(); }
            D static dim3 group_index() { return dim3(blockIdx.x, blockIdx.y, blockIdx.z); }
            D static dim3 thread_index() { return dim3(threadIdx.x, threadIdx.y, threadIdx.z); }
            D static dim3 group_dim() { return dim3(blockDim.x, blockDim.y, blockDim.z); }
            D static dim3 dim_threads() { return group_dim(); }
        };
        D thread_block this_thread_block() { return thread_block(); })},
    {"cooperative_groups::grid_group cooperative_groups::this_grid", HEADER, IN_GROUPS(
        struct grid_group {
            D static unsigned long long size() { return num_blocks() * (blockDim.x * blockDim.y * blockDim.z); }
            D static unsigned long long num_threads() { return size(); }
            D static unsigned long long num_blocks() { return (unsigned long long)gridDim.x * gridDim.y * gridDim.z; }
            D static unsigned long long block_rank() { return ((unsigned long long)blockIdx.z * gridDim.y + blockIdx.y) * gridDim.x + blockIdx.x; }
            D static unsigned long long thread_rank() { return block_rank() * (blockDim.x * blockDim.y * blockDim.z) + thread_block::thread_rank(); }
            D static dim3 group_dim() { return dim3(gridDim.x, gridDim.y, gridDim.z); }
            D static dim3 dim_blocks() { return group_dim(); }
            D static dim3 block_index() { return dim3(blockIdx.x, blockIdx.y, blockIdx.z); }
            unsigned *__i_workspace; // the driver's; NULL if the launch is not cooperative
            D explicit grid_group(unsigned *workspace) : __i_workspace(workspace) {}
            D bool is_valid() const { return __i_workspace != nullptr; }
            D void sync() const {
                if (!is_valid()) __trap();
                unsigned *const arrived = __i_workspace + 1; unsigned old = 0;
                __barrier_sync(0);
                if (threadIdx.x + threadIdx.y + threadIdx.z == 0) {
                    unsigned count = 1;
                    if (blockIdx.x + blockIdx.y + blockIdx.z == 0) count = 0x80000000u - (gridDim.x * gridDim.y * gridDim.z - 1);
                    asm volatile("atom.add.release.gpu.u32 %0,[%1],%2;" : "=r"(old) : "l"(arrived), "r"(count) : "memory");
                    unsigned now;
                    do asm volatile("ld.acquire.gpu.u32 %0,[%1];" : "=r"(now) : "l"(arrived) : "memory"); while (((old ^ now) & 0x80000000u) == 0);
                }
                __barrier_sync(0); }
        };
        D grid_group this_grid() { // two registers have the workspace's address
            unsigned low, high; asm("mov.u32 %0, %%envreg2;" : "=r"(low)); asm("mov.u32 %0, %%envreg1;" : "=r"(high));
            return grid_group((unsigned *)((unsigned long long)high << 32 | low)); })},
    {"cooperative_groups::cluster_group cooperative_groups::this_cluster", HEADER, IN_GROUPS(
        struct cluster_group {
            struct arrival_token {};
            D static arrival_token barrier_arrive() { asm volatile("barrier.cluster.arrive;" ::: "memory"); return arrival_token(); }
            D static void barrier_wait() { asm volatile("barrier.cluster.wait;" ::: "memory"); }
            D static void barrier_wait(arrival_token &&) { asm volatile("barrier.cluster.wait;" ::: "memory"); }
            D static void sync() { barrier_arrive(); barrier_wait(); }
            D static unsigned block_rank() { return __i_special("%cluster_ctarank"); }
            D static unsigned num_blocks() { return __i_special("%cluster_nctarank"); }
            D static dim3 block_index() { return dim3(__i_special("%cluster_ctaid.x"), __i_special("%cluster_ctaid.y"), __i_special("%cluster_ctaid.z")); }
            D static dim3 dim_blocks() { return dim3(__i_special("%cluster_nctaid.x"), __i_special("%cluster_nctaid.y"), __i_special("%cluster_nctaid.z")); }
            D static unsigned thread_rank() { return block_rank() * thread_block::size() + thread_block::thread_rank(); }
            D static unsigned num_threads() { return num_blocks() * thread_block::size(); }
            D static unsigned size() { return num_threads(); }
            D static dim3 thread_index() { return thread_block::thread_index(); }
            template <class T> D static T *map_shared_rank(T *address, int rank) { T *mapped;
                asm volatile("mapa.u64 %0, %1, %2;" : "=l"(mapped) : "l"(address), "r"(rank)); return mapped; }
            D static unsigned query_shared_rank(const void *address) { unsigned rank;
                asm volatile("getctarank.u64 %0, %1;" : "=r"(rank) : "l"(address)); return rank; }
        };
        D cluster_group this_cluster() { return cluster_group(); })},
    {"cooperative_groups::__i_lanes", HEADER, IN_GROUPS(
        D unsigned __i_lane() { return __i_special("%laneid"); }
        D unsigned __i_lanes(unsigned mask) { return (unsigned)__popc(mask); })},
    {"cooperative_groups::coalesced_group cooperative_groups::coalesced_threads", HEADER, IN_GROUPS(
        struct coalesced_group {
            unsigned mask_;
            D explicit coalesced_group(unsigned mask) : mask_(mask) {}
            D unsigned mask() const { return mask_; }
            D unsigned size() const { return (unsigned)__popc(mask_); }
            D unsigned num_threads() const { return size(); }
            D unsigned thread_rank() const { return (unsigned)__popc(mask_ & __i_special("%lanemask_lt")); }
            D void sync() const { __syncwarp(mask_); }
            D unsigned meta_group_rank() const { return 0; }
            D unsigned meta_group_size() const { return 1; }
            D unsigned __i_lane_of(unsigned rank) const { // of the rank-th lane
                unsigned rest = mask_;
                for (unsigned k = 0; k < rank; k++) rest &= rest - 1;
                return (unsigned)__ffs((int)rest) - 1;
            }
            template <class T> D T shfl(T value, unsigned rank) const { return __shfl_sync(mask_, value, (int)__i_lane_of(rank % size())); }
            template <class T> D T shfl_down(T value, unsigned distance) const {
                const unsigned rank = thread_rank() + distance;
                return __shfl_sync(mask_, value, rank < size() ? (int)__i_lane_of(rank) : (int)(threadIdx.x & 31)); }
            template <class T> D T shfl_up(T value, unsigned distance) const {
                const unsigned rank = thread_rank();
                return __shfl_sync(mask_, value, rank >= distance ? (int)__i_lane_of(rank - distance) : (int)(threadIdx.x & 31)); }
            D int any(int predicate) const { return __any_sync(mask_, predicate); }
            D int all(int predicate) const { return __all_sync(mask_, predicate); }
            D unsigned __i_packed(unsigned lanes) const { // a bit of each rank from a bit of each lane
                unsigned packed = 0;
                for (unsigned rest = mask_, k = 0; rest; rest &= rest - 1, k++) packed |= (lanes >> (__ffs((int)rest) - 1) & 1) << k;
                return packed;
            }
            D unsigned ballot(int predicate) const { return __i_packed(__ballot_sync(mask_, predicate)); }
            template <class T> D unsigned match_any(T value) const { return __i_packed(__match_any_sync(mask_, value)); }
        };
        D coalesced_group coalesced_threads() { return coalesced_group(__activemask()); })},
    {"cooperative_groups::thread_block_tile cooperative_groups::tiled_partition", HEADER, IN_GROUPS(
        template <unsigned n> struct __i_tile {
            D static unsigned thread_rank() { return thread_block::thread_rank() & (n - 1); }
            D static constexpr unsigned size() { return n; }
            D static constexpr unsigned num_threads() { return n; }
            D static unsigned mask() { return n == 32 ? 0xffffffffu : ((1u << (n & 31)) - 1) << (__i_special("%laneid") & ~(n - 1)); }
            D static unsigned __i_own(unsigned lanes) { // the bits of the tile's lanes
                return lanes >> (__i_special("%laneid") & ~(n - 1)) & (n == 32 ? 0xffffffffu : (1u << (n & 31)) - 1); }
            D static void sync() { __syncwarp(mask()); }
            template <class T> D T shfl(T value, int lane) const { return __shfl_sync(mask(), value, lane, n); }
            template <class T> D T shfl_down(T value, unsigned distance) const { return __shfl_down_sync(mask(), value, distance, n); }
            template <class T> D T shfl_up(T value, unsigned distance) const { return __shfl_up_sync(mask(), value, distance, n); }
            template <class T> D T shfl_xor(T value, unsigned lanes) const { return __shfl_xor_sync(mask(), value, (int)lanes, n); }
            D int any(int predicate) const { return __any_sync(mask(), predicate); }
            D int all(int predicate) const { return __all_sync(mask(), predicate); }
            D unsigned ballot(int predicate) const { return __i_own(__ballot_sync(mask(), predicate)); }
            template <class T> D unsigned match_any(T value) const { return __i_own(__match_any_sync(mask(), value)); }
        };
        template <unsigned n, class Parent = void> struct thread_block_tile : __i_tile<n> {
            D static unsigned meta_group_rank() { return Parent::thread_rank() / n; }
            D static unsigned meta_group_size() { return (Parent::size() + n - 1) / n; }
        };
        template <unsigned n> struct thread_block_tile<n, void> : __i_tile<n> {
            unsigned rank_; unsigned count_;
            template <class Parent> D thread_block_tile(const thread_block_tile<n, Parent> &tile) : rank_(tile.meta_group_rank()), count_(tile.meta_group_size()) {}
            D unsigned meta_group_rank() const { return rank_; }
            D unsigned meta_group_size() const { return count_; }
        };
        template <unsigned n, class Parent> D thread_block_tile<n, Parent> tiled_partition(const Parent &) { return thread_block_tile<n, Parent>(); }
        D coalesced_group tiled_partition(const thread_block &, unsigned n) {
            const unsigned lane = __i_special("%laneid");
            return coalesced_group(n >= 32 ? 0xffffffffu : ((1u << n) - 1) << (lane & ~(n - 1))); })},
    {"cooperative_groups::thread_group", HEADER, IN_GROUPS(
        struct thread_group { // a block, or lanes of a warp
            unsigned mask_; // 0: a block
            D thread_group(const thread_block &) : mask_(0) {}
            D thread_group(const coalesced_group &lanes) : mask_(lanes.mask()) {}
            template <unsigned n, class Parent> D thread_group(const thread_block_tile<n, Parent> &tile) : mask_(tile.mask()) {}
            D unsigned size() const { return mask_ ? coalesced_group(mask_).size() : thread_block::size(); }
            D unsigned num_threads() const { return size(); }
            D unsigned thread_rank() const { return mask_ ? coalesced_group(mask_).thread_rank() : thread_block::thread_rank(); }
            D void sync() const { if (mask_) __syncwarp(mask_); else thread_block::sync(); }
        };)},
    {"cooperative_groups::labeled_partition cooperative_groups::binary_partition", HEADER, IN_GROUPS(
        template <class Group, class T> D coalesced_group labeled_partition(const Group &group, T label) {
            return coalesced_group(__match_any_sync(group.mask(), label)); }
        template <class Group> D coalesced_group binary_partition(const Group &group, bool predicate) {
            const unsigned mask = group.mask(); const unsigned yes = __ballot_sync(mask, predicate);
            return coalesced_group(predicate ? yes : mask & ~yes); })},
    {"cooperative_groups::sync", HEADER, IN_GROUPS(template <class Group> D void sync(const Group &group) { group.sync(); })},
    {"cooperative_groups::thread_rank", HEADER, IN_GROUPS(template <class Group> D unsigned thread_rank(const Group &group) { return group.thread_rank(); })},
    {"cooperative_groups::plus cooperative_groups::less cooperative_groups::greater cooperative_groups::bit_and cooperative_groups::bit_or "
     "cooperative_groups::bit_xor", "cooperative_groups/reduce.h cooperative_groups/scan.h", IN_GROUPS(
        template <class T> struct plus { D T operator()(T a, T b) const { return a + b; } };
        template <class T> struct less { D T operator()(T a, T b) const { return b < a ? b : a; } };
        template <class T> struct greater { D T operator()(T a, T b) const { return a < b ? b : a; } };
        template <class T> struct bit_and { D T operator()(T a, T b) const { return a & b; } };
        template <class T> struct bit_or { D T operator()(T a, T b) const { return a | b; } };
        template <class T> struct bit_xor { D T operator()(T a, T b) const { return a ^ b; } };)},
    {"cooperative_groups::reduce", "cooperative_groups/reduce.h", IN_GROUPS(
        template <unsigned n, class P, class T, class Op> D T reduce(const thread_block_tile<n, P> &tile, T value, Op op) {
            for (int lanes = n / 2; lanes > 0; lanes /= 2) value = op(value, tile.shfl_xor(value, lanes));
            return value; }
        template <class T, class Op> D T reduce(const coalesced_group &group, T value, Op op) {
            T all = group.shfl(value, 0);
            for (unsigned rank = 1; rank < group.size(); rank++) all = op(all, group.shfl(value, rank));
            return all; })},
    {"cooperative_groups::inclusive_scan cooperative_groups::exclusive_scan", "cooperative_groups/scan.h", IN_GROUPS(
        template <class Group, class T, class Op> D T inclusive_scan(const Group &group, T value, Op op) {
            for (unsigned distance = 1; distance < group.size(); distance *= 2) {
                const T before = group.shfl_up(value, distance);
                if (group.thread_rank() >= distance) value = op(before, value);
            }
            return value; }
        template <class Group, class T> D T inclusive_scan(const Group &group, T value) { return inclusive_scan(group, value, plus<T>()); }
        template <class Group, class T, class Op> D T exclusive_scan(const Group &group, T value, Op op) {
            const T before = group.shfl_up(inclusive_scan(group, value, op), 1);
            return group.thread_rank() == 0 ? T() : before; }
        template <class Group, class T> D T exclusive_scan(const Group &group, T value) { return exclusive_scan(group, value, plus<T>()); })},
    {NULL, NULL, NULL},
};
