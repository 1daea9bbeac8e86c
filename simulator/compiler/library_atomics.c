// library_atomics.c: cuda::atomic_ref, cuda::atomic and cuda::atomic_thread_fence, with the memory orders and thread scopes of libcu++.
#include "compiler/library_text.h"


// Each function has an overload for each scope; after inlining the order is a constant: 0 relaxed, 1 consume, 2 acquire, 3 release,
// 4 acquire and release, 5 sequentially consistent.
#define FENCE_OF(scope) if (order == 5) asm volatile("fence.sc." scope ";" ::: "memory");
#define READ_MODIFY_WRITE(name, type, operation, suffix, letter, tag, scope) \
    D type name(type *p, type value, int order, __i_scope<tag>) { type result; FENCE_OF(scope) \
        if (order == 0) asm volatile("atom." operation ".relaxed." scope "." suffix " %0, [%1], %2;" : "=" letter(result) : "l"(p), letter(value) : "memory"); \
        else if (order == 3) asm volatile("atom." operation ".release." scope "." suffix " %0, [%1], %2;" : "=" letter(result) : "l"(p), letter(value) : "memory"); \
        else if (order == 4) asm volatile("atom." operation ".acq_rel." scope "." suffix " %0, [%1], %2;" : "=" letter(result) : "l"(p), letter(value) : "memory"); \
        else asm volatile("atom." operation ".acquire." scope "." suffix " %0, [%1], %2;" : "=" letter(result) : "l"(p), letter(value) : "memory"); \
        return result; }
#define COMPARE_EXCHANGE(type, suffix, letter, tag, scope) \
    D type __i_atomic_cas(type *p, type compare, type value, int order, __i_scope<tag>) { type result; FENCE_OF(scope) \
        if (order == 0) asm volatile("atom.cas.relaxed." scope "." suffix " %0, [%1], %2, %3;" : "=" letter(result) : "l"(p), letter(compare), letter(value) : "memory"); \
        else if (order == 3) asm volatile("atom.cas.release." scope "." suffix " %0, [%1], %2, %3;" : "=" letter(result) : "l"(p), letter(compare), letter(value) : "memory"); \
        else if (order == 4) asm volatile("atom.cas.acq_rel." scope "." suffix " %0, [%1], %2, %3;" : "=" letter(result) : "l"(p), letter(compare), letter(value) : "memory"); \
        else asm volatile("atom.cas.acquire." scope "." suffix " %0, [%1], %2, %3;" : "=" letter(result) : "l"(p), letter(compare), letter(value) : "memory"); \
        return result; }
#define LOAD(type, suffix, letter, tag, scope) \
    D type __i_atomic_load(const type *p, int order, __i_scope<tag>) { type result; FENCE_OF(scope) \
        if (order == 0) asm volatile("ld.relaxed." scope "." suffix " %0, [%1];" : "=" letter(result) : "l"(p) : "memory"); \
        else asm volatile("ld.acquire." scope "." suffix " %0, [%1];" : "=" letter(result) : "l"(p) : "memory"); \
        return result; }
#define STORE(type, suffix, letter, tag, scope) \
    D void __i_atomic_store(type *p, type value, int order, __i_scope<tag>) { FENCE_OF(scope) \
        if (order == 3) asm volatile("st.release." scope "." suffix " [%0], %1;" :: "l"(p), letter(value) : "memory"); \
        else asm volatile("st.relaxed." scope "." suffix " [%0], %1;" :: "l"(p), letter(value) : "memory"); }
#define SCOPES(macro, ...) macro(__VA_ARGS__, 0, "sys") macro(__VA_ARGS__, 1, "gpu") macro(__VA_ARGS__, 2, "cta") macro(__VA_ARGS__, 10, "cta")
#define BITS(name, operation) \
    SCOPES(READ_MODIFY_WRITE, name, unsigned, operation, "b32", "r") SCOPES(READ_MODIFY_WRITE, name, unsigned long long, operation, "b64", "l")
#define ORDERED(name, operation) \
    SCOPES(READ_MODIFY_WRITE, name, int, operation, "s32", "r") SCOPES(READ_MODIFY_WRITE, name, unsigned, operation, "u32", "r") \
    SCOPES(READ_MODIFY_WRITE, name, long long, operation, "s64", "l") SCOPES(READ_MODIFY_WRITE, name, unsigned long long, operation, "u64", "l")

// The operations of an atomic object whose value is at __p().
#define OPERATIONS(qualifier) \
    D T load(memory_order order = memory_order_seq_cst) const { return __i_as<T>(__i_atomic_load((const __i_bits_t<T> *)__p(), order, __i_scope<S>())); } \
    D void store(T value, memory_order order = memory_order_seq_cst) qualifier { __i_atomic_store((__i_bits_t<T> *)__p(), __i_as<__i_bits_t<T>>(value), order, __i_scope<S>()); } \
    D operator T() const { return load(); } \
    D T operator=(T value) qualifier { store(value); return value; } \
    D T exchange(T value, memory_order order = memory_order_seq_cst) qualifier { \
        return __i_as<T>(__i_atomic_exch((__i_bits_t<T> *)__p(), __i_as<__i_bits_t<T>>(value), order, __i_scope<S>())); } \
    D bool compare_exchange_strong(T &expected, T value, memory_order success, memory_order failure) qualifier { \
        const __i_bits_t<T> wanted = __i_as<__i_bits_t<T>>(expected); \
        const int order = failure == memory_order_seq_cst ? 5 : failure == memory_order_acquire && success == memory_order_relaxed ? 2 \
                          : failure == memory_order_acquire && success == memory_order_release ? 4 : (int)success; \
        const __i_bits_t<T> old = __i_atomic_cas((__i_bits_t<T> *)__p(), wanted, __i_as<__i_bits_t<T>>(value), order, __i_scope<S>()); \
        expected = __i_as<T>(old); \
        return old == wanted; } \
    D bool compare_exchange_strong(T &expected, T value, memory_order order = memory_order_seq_cst) qualifier { \
        return compare_exchange_strong(expected, value, order, \
            order == memory_order_acq_rel ? memory_order_acquire : order == memory_order_release ? memory_order_relaxed : order); } \
    D bool compare_exchange_weak(T &expected, T value, memory_order success, memory_order failure) qualifier { \
        return compare_exchange_strong(expected, value, success, failure); } \
    D bool compare_exchange_weak(T &expected, T value, memory_order order = memory_order_seq_cst) qualifier { \
        return compare_exchange_strong(expected, value, order); } \
    D T fetch_add(T value, memory_order order = memory_order_seq_cst) qualifier { \
        return (T)__i_atomic_add((__i_number_t<T> *)__p(), (__i_number_t<T>)value, order, __i_scope<S>()); } \
    D T fetch_sub(T value, memory_order order = memory_order_seq_cst) qualifier { return fetch_add(-value, order); } \
    D T fetch_min(T value, memory_order order = memory_order_seq_cst) qualifier { \
        return (T)__i_atomic_min((__i_number_t<T> *)__p(), (__i_number_t<T>)value, order, __i_scope<S>()); } \
    D T fetch_max(T value, memory_order order = memory_order_seq_cst) qualifier { \
        return (T)__i_atomic_max((__i_number_t<T> *)__p(), (__i_number_t<T>)value, order, __i_scope<S>()); } \
    D T fetch_and(T value, memory_order order = memory_order_seq_cst) qualifier { \
        return (T)__i_atomic_and((__i_bits_t<T> *)__p(), (__i_bits_t<T>)value, order, __i_scope<S>()); } \
    D T fetch_or(T value, memory_order order = memory_order_seq_cst) qualifier { \
        return (T)__i_atomic_or((__i_bits_t<T> *)__p(), (__i_bits_t<T>)value, order, __i_scope<S>()); } \
    D T fetch_xor(T value, memory_order order = memory_order_seq_cst) qualifier { \
        return (T)__i_atomic_xor((__i_bits_t<T> *)__p(), (__i_bits_t<T>)value, order, __i_scope<S>()); } \
    D T operator++() qualifier { return fetch_add(1) + 1; } \
    D T operator++(int) qualifier { return fetch_add(1); } \
    D T operator--() qualifier { return fetch_sub(1) - 1; } \
    D T operator--(int) qualifier { return fetch_sub(1); } \
    D T operator+=(T value) qualifier { return fetch_add(value) + value; } \
    D T operator-=(T value) qualifier { return fetch_sub(value) - value; } \
    D T operator&=(T value) qualifier { return fetch_and(value) & value; } \
    D T operator|=(T value) qualifier { return fetch_or(value) | value; } \
    D T operator^=(T value) qualifier { return fetch_xor(value) ^ value; } \
    D bool is_lock_free() const { return true; } \
    D void wait(T old, memory_order order = memory_order_seq_cst) const { while (__i_as<__i_bits_t<T>>(load(order)) == __i_as<__i_bits_t<T>>(old)) continue; } \
    D void notify_one() qualifier {} \
    D void notify_all() qualifier {}

#define ATOMIC_HEADERS "cuda/atomic cuda/std/atomic cuda/barrier cuda/semaphore cuda/latch cuda/pipeline cuda/ptx cooperative_groups.h"

const LibraryEntry LIBRARY_ATOMICS[] = {
    {"cuda::std::memory_order cuda::std::memory_order_relaxed cuda::std::memory_order_consume cuda::std::memory_order_acquire "
     "cuda::std::memory_order_release cuda::std::memory_order_acq_rel cuda::std::memory_order_seq_cst", ATOMIC_HEADERS, EXPANDED_TEXT(
        namespace cuda { namespace std {
            enum memory_order { memory_order_relaxed, memory_order_consume, memory_order_acquire, memory_order_release, memory_order_acq_rel,
                                memory_order_seq_cst };
        } })},
    {"cuda::memory_order cuda::memory_order_relaxed cuda::memory_order_consume cuda::memory_order_acquire cuda::memory_order_release "
     "cuda::memory_order_acq_rel cuda::memory_order_seq_cst", ATOMIC_HEADERS, EXPANDED_TEXT(
        namespace cuda {
            using std::memory_order;
            using std::memory_order_relaxed;
            using std::memory_order_consume;
            using std::memory_order_acquire;
            using std::memory_order_release;
            using std::memory_order_acq_rel;
            using std::memory_order_seq_cst;
        })},
    {"cuda::thread_scope cuda::thread_scope_system cuda::thread_scope_device cuda::thread_scope_block cuda::thread_scope_thread", ATOMIC_HEADERS, EXPANDED_TEXT(
        namespace cuda {
            enum thread_scope { thread_scope_system = 0, thread_scope_device = 1, thread_scope_block = 2, thread_scope_thread = 10 };
        })},
    {"__i_scope", NULL, "template <int scope> struct __i_scope {};"},
    {"__i_bits_t __i_number_t __i_as", NULL, EXPANDED_TEXT(
        template <int bytes> struct __i_bits_of {};
        template <> struct __i_bits_of<4> { typedef unsigned type; };
        template <> struct __i_bits_of<8> { typedef unsigned long long type; };
        template <class T> using __i_bits_t = typename __i_bits_of<sizeof(T)>::type;
        template <class T> struct __i_number_of { typedef T type; };
        template <> struct __i_number_of<long> { typedef long long type; };
        template <> struct __i_number_of<unsigned long> { typedef unsigned long long type; };
        template <class T> using __i_number_t = typename __i_number_of<T>::type;
        template <class To, class From> D To __i_as(From value) { To to; memcpy(&to, &value, sizeof(to)); return to; })},
    {"__i_atomic_load", NULL, EXPANDED_TEXT(SCOPES(LOAD, unsigned, "b32", "r") SCOPES(LOAD, unsigned long long, "b64", "l"))},
    {"__i_atomic_store", NULL, EXPANDED_TEXT(SCOPES(STORE, unsigned, "b32", "r") SCOPES(STORE, unsigned long long, "b64", "l"))},
    {"__i_atomic_cas", NULL, EXPANDED_TEXT(SCOPES(COMPARE_EXCHANGE, unsigned, "b32", "r") SCOPES(COMPARE_EXCHANGE, unsigned long long, "b64", "l"))},
    {"__i_atomic_exch", NULL, EXPANDED_TEXT(BITS(__i_atomic_exch, "exch"))},
    {"__i_atomic_and", NULL, EXPANDED_TEXT(BITS(__i_atomic_and, "and"))},
    {"__i_atomic_or", NULL, EXPANDED_TEXT(BITS(__i_atomic_or, "or"))},
    {"__i_atomic_xor", NULL, EXPANDED_TEXT(BITS(__i_atomic_xor, "xor"))},
    {"__i_atomic_min", NULL, EXPANDED_TEXT(ORDERED(__i_atomic_min, "min"))},
    {"__i_atomic_max", NULL, EXPANDED_TEXT(ORDERED(__i_atomic_max, "max"))},
    {"__i_atomic_add", NULL, EXPANDED_TEXT(
        SCOPES(READ_MODIFY_WRITE, __i_atomic_add, int, "add", "s32", "r") SCOPES(READ_MODIFY_WRITE, __i_atomic_add, unsigned, "add", "u32", "r")
        SCOPES(READ_MODIFY_WRITE, __i_atomic_add, long long, "add", "u64", "l")
        SCOPES(READ_MODIFY_WRITE, __i_atomic_add, unsigned long long, "add", "u64", "l")
        SCOPES(READ_MODIFY_WRITE, __i_atomic_add, float, "add", "f32", "f") SCOPES(READ_MODIFY_WRITE, __i_atomic_add, double, "add", "f64", "d"))},
    {"cuda::atomic_ref", ATOMIC_HEADERS, EXPANDED_TEXT(
        namespace cuda {
            template <class T, thread_scope S = thread_scope_system> struct atomic_ref {
                T *__a;
                D explicit atomic_ref(T &value) : __a(&value) {}
                D T *__p() const { return __a; }
                OPERATIONS(const)
            };
        })},
    {"cuda::atomic", ATOMIC_HEADERS, EXPANDED_TEXT(
        namespace cuda {
            template <class T, thread_scope S = thread_scope_system> struct atomic {
                T __a;
                __host__ __device__ constexpr atomic() = default;
                __host__ __device__ constexpr atomic(T value) : __a(value) {}
                atomic(const atomic &) = delete;
                D T *__p() const { return (T *)&__a; }
                OPERATIONS()
            };
        })},
    {"cuda::std::atomic", ATOMIC_HEADERS, EXPANDED_TEXT(
        namespace cuda { namespace std { template <class T> using atomic = cuda::atomic<T, cuda::thread_scope_system>; } })},
    {"cuda::std::atomic_ref", ATOMIC_HEADERS, EXPANDED_TEXT(
        namespace cuda { namespace std { template <class T> using atomic_ref = cuda::atomic_ref<T, cuda::thread_scope_system>; } })},
    {"cuda::std::atomic_flag", ATOMIC_HEADERS, EXPANDED_TEXT(
        namespace cuda { namespace std {
            struct atomic_flag {
                unsigned __a;
                __host__ __device__ constexpr atomic_flag() = default;
                D bool test_and_set(memory_order order = memory_order_seq_cst) { return __i_atomic_exch(&__a, 1u, order, __i_scope<0>()) != 0; }
                D bool test(memory_order order = memory_order_seq_cst) const { return __i_atomic_load(&__a, order, __i_scope<0>()) != 0; }
                D void clear(memory_order order = memory_order_seq_cst) { __i_atomic_store(&__a, 0u, order, __i_scope<0>()); }
            };
        } })},
    {"cuda::atomic_thread_fence", ATOMIC_HEADERS, EXPANDED_TEXT(
        namespace cuda {
            D void atomic_thread_fence(memory_order order, thread_scope scope = thread_scope_system) {
                if (order == memory_order_relaxed) return;
                if (scope == thread_scope_system) {
                    if (order == memory_order_seq_cst) asm volatile("fence.sc.sys;" ::: "memory"); else asm volatile("fence.acq_rel.sys;" ::: "memory");
                } else if (scope == thread_scope_device) {
                    if (order == memory_order_seq_cst) asm volatile("fence.sc.gpu;" ::: "memory"); else asm volatile("fence.acq_rel.gpu;" ::: "memory");
                } else {
                    if (order == memory_order_seq_cst) asm volatile("fence.sc.cta;" ::: "memory"); else asm volatile("fence.acq_rel.cta;" ::: "memory");
                }
            }
        })},
    {NULL, NULL, NULL},
};
