// library_standard.c: the supported parts of std and cuda::std: limits, type traits, move.
#include "compiler/library_text.h"

#define LIMITS_HEADERS "cuda/std/limits limits cuda/std/cmath"
#define LIMITS_INTEGER(type, least, most, with_sign, bits) \
    template <> struct numeric_limits<type> { \
        static constexpr bool is_specialized = true, is_signed = with_sign, is_integer = true, is_exact = true, has_infinity = false; \
        static constexpr bool has_quiet_NaN = false; static constexpr int digits = bits, radix = 2; \
        HD static constexpr type min() { return least; } HD static constexpr type max() { return most; } HD static constexpr type lowest() { return least; } \
        HD static constexpr type epsilon() { return 0; } HD static constexpr type infinity() { return 0; } };
#define LIMITS_REAL(type, least, most, tiny, inf, nan, bits) \
    template <> struct numeric_limits<type> { \
        static constexpr bool is_specialized = true, is_signed = true, is_integer = false, is_exact = false, has_infinity = true; \
        static constexpr bool has_quiet_NaN = true; static constexpr int digits = bits, radix = 2; \
        HD static constexpr type min() { return least; } HD static constexpr type max() { return most; } HD static constexpr type lowest() { return -most; } \
        HD static constexpr type epsilon() { return tiny; } HD static constexpr type infinity() { return inf; } \
        HD static constexpr type quiet_NaN() { return nan; } };
#define LIMITS \
    template <class T> struct numeric_limits { static constexpr bool is_specialized = false; }; \
    template <class T> struct numeric_limits<const T> : numeric_limits<T> {}; \
    LIMITS_INTEGER(bool, false, true, false, 1) LIMITS_INTEGER(char, -128, 127, true, 7) LIMITS_INTEGER(signed char, -128, 127, true, 7) \
    LIMITS_INTEGER(unsigned char, 0, 255, false, 8) LIMITS_INTEGER(short, -32768, 32767, true, 15) LIMITS_INTEGER(unsigned short, 0, 65535, false, 16) \
    LIMITS_INTEGER(int, -2147483647 - 1, 2147483647, true, 31) LIMITS_INTEGER(unsigned, 0, 4294967295u, false, 32) \
    LIMITS_INTEGER(long, -9223372036854775807l - 1, 9223372036854775807l, true, 63) LIMITS_INTEGER(unsigned long, 0, 18446744073709551615ul, false, 64) \
    LIMITS_INTEGER(long long, -9223372036854775807ll - 1, 9223372036854775807ll, true, 63) \
    LIMITS_INTEGER(unsigned long long, 0, 18446744073709551615ull, false, 64) \
    LIMITS_REAL(float, 1.17549435e-38f, 3.40282347e+38f, 1.19209290e-7f, __builtin_huge_valf(), __builtin_nanf(""), 24) \
    LIMITS_REAL(double, 2.2250738585072014e-308, 1.7976931348623157e+308, 2.2204460492503131e-16, __builtin_huge_val(), (double)__builtin_nanf(""), 53)

#define IS_ONE_OF(name, ...) template <class T> struct name : false_type {}; __VA_ARGS__
#define YES(name, type) template <> struct name<type> : true_type {}; template <> struct name<const type> : true_type {};
#define INTEGERS(name) \
    YES(name, bool) YES(name, char) YES(name, signed char) YES(name, unsigned char) YES(name, short) YES(name, unsigned short) YES(name, int) \
    YES(name, unsigned) YES(name, long) YES(name, unsigned long) YES(name, long long) YES(name, unsigned long long)
#define TRAIT_NAMES(space) \
    space "integral_constant " space "true_type " space "false_type " space "bool_constant " space "is_same " space "is_same_v " space "conditional " \
    space "conditional_t " space "enable_if " space "enable_if_t " space "is_integral " space "is_integral_v " space "is_floating_point " \
    space "is_floating_point_v " space "is_arithmetic " space "is_arithmetic_v " space "is_unsigned " space "is_unsigned_v " space "is_signed " \
    space "is_signed_v " space "remove_reference " space "remove_reference_t " space "remove_const " space "remove_const_t " space "remove_cv " \
    space "remove_cv_t " space "decay " space "decay_t " space "is_pointer " space "is_pointer_v " space "remove_pointer " space "remove_pointer_t " \
    space "make_unsigned " space "make_unsigned_t " space "void_t"
#define SEQUENCE_NAMES(space) \
    space "integer_sequence " space "index_sequence " space "make_integer_sequence " space "make_index_sequence " space "index_sequence_for"
#define TRAITS \
    template <class T, T v> struct integral_constant { static constexpr T value = v; typedef T value_type; \
        HD constexpr operator T() const { return v; } HD constexpr T operator()() const { return v; } }; \
    typedef integral_constant<bool, true> true_type; typedef integral_constant<bool, false> false_type; \
    template <bool b> using bool_constant = integral_constant<bool, b>; \
    template <class A, class B> struct is_same : false_type {}; template <class A> struct is_same<A, A> : true_type {}; \
    template <class A, class B> constexpr bool is_same_v = is_same<A, B>::value; \
    template <bool b, class A, class B> struct conditional { typedef A type; }; template <class A, class B> struct conditional<false, A, B> { typedef B type; }; \
    template <bool b, class A, class B> using conditional_t = typename conditional<b, A, B>::type; \
    template <bool b, class T = void> struct enable_if {}; template <class T> struct enable_if<true, T> { typedef T type; }; \
    template <bool b, class T = void> using enable_if_t = typename enable_if<b, T>::type; \
    IS_ONE_OF(is_integral, INTEGERS(is_integral)) IS_ONE_OF(is_floating_point, YES(is_floating_point, float) YES(is_floating_point, double)) \
    template <class T> constexpr bool is_integral_v = is_integral<T>::value; \
    template <class T> constexpr bool is_floating_point_v = is_floating_point<T>::value; \
    template <class T> struct is_arithmetic : bool_constant<is_integral<T>::value || is_floating_point<T>::value> {}; \
    template <class T> constexpr bool is_arithmetic_v = is_arithmetic<T>::value; \
    IS_ONE_OF(is_unsigned, YES(is_unsigned, bool) YES(is_unsigned, unsigned char) YES(is_unsigned, unsigned short) YES(is_unsigned, unsigned) \
        YES(is_unsigned, unsigned long) YES(is_unsigned, unsigned long long)) \
    template <class T> constexpr bool is_unsigned_v = is_unsigned<T>::value; \
    template <class T> struct is_signed : bool_constant<is_arithmetic<T>::value && !is_unsigned<T>::value> {}; \
    template <class T> constexpr bool is_signed_v = is_signed<T>::value; \
    template <class T> struct remove_reference { typedef T type; }; template <class T> struct remove_reference<T &> { typedef T type; }; \
    template <class T> struct remove_reference<T &&> { typedef T type; }; template <class T> using remove_reference_t = typename remove_reference<T>::type; \
    template <class T> struct remove_const { typedef T type; }; template <class T> struct remove_const<const T> { typedef T type; }; \
    template <class T> using remove_const_t = typename remove_const<T>::type; \
    template <class T> struct remove_cv { typedef T type; }; template <class T> struct remove_cv<const T> { typedef T type; }; \
    template <class T> struct remove_cv<volatile T> { typedef T type; }; template <class T> struct remove_cv<const volatile T> { typedef T type; }; \
    template <class T> using remove_cv_t = typename remove_cv<T>::type; \
    template <class T> struct decay { typedef remove_cv_t<remove_reference_t<T>> type; }; template <class T> using decay_t = typename decay<T>::type; \
    template <class T> struct is_pointer : false_type {}; template <class T> struct is_pointer<T *> : true_type {}; \
    template <class T> constexpr bool is_pointer_v = is_pointer<T>::value; \
    template <class T> struct remove_pointer { typedef T type; }; template <class T> struct remove_pointer<T *> { typedef T type; }; \
    template <class T> using remove_pointer_t = typename remove_pointer<T>::type; \
    template <class T> struct make_unsigned { typedef T type; }; template <> struct make_unsigned<int> { typedef unsigned type; }; \
    template <> struct make_unsigned<long> { typedef unsigned long type; }; template <> struct make_unsigned<long long> { typedef unsigned long long type; }; \
    template <class T> using make_unsigned_t = typename make_unsigned<T>::type; \
    template <class T> using void_t = void;
#define SEQUENCES \
    template <class T, T... n> struct integer_sequence { typedef T value_type; HD static constexpr unsigned long size() { return sizeof...(n); } }; \
    template <unsigned long... n> using index_sequence = integer_sequence<unsigned long, n...>; \
    template <class T, unsigned long count, T... n> struct __i_sequence { typedef typename __i_sequence<T, count - 1, (T)(count - 1), n...>::type type; }; \
    template <class T, T... n> struct __i_sequence<T, 0, n...> { typedef integer_sequence<T, n...> type; }; \
    template <class T, T count> using make_integer_sequence = typename __i_sequence<T, (unsigned long)count>::type; \
    template <unsigned long count> using make_index_sequence = typename __i_sequence<unsigned long, count>::type; \
    template <class... T> using index_sequence_for = typename __i_sequence<unsigned long, sizeof...(T)>::type;
#define MOVE \
    template <class T> HD constexpr typename remove_reference<T>::type &&move(T &&value) { return static_cast<typename remove_reference<T>::type &&>(value); } \
    template <class T> HD constexpr T &&forward(typename remove_reference<T>::type &value) { return static_cast<T &&>(value); } \
    template <class T> HD void swap(T &a, T &b) { T old = a; a = b; b = old; }
#define MINIMA(qualifiers) \
    template <class T> qualifiers constexpr const T &min(const T &a, const T &b) { return b < a ? b : a; } \
    template <class T> qualifiers constexpr const T &max(const T &a, const T &b) { return a < b ? b : a; }
#define IN_STD(...) EXPANDED_TEXT(namespace std { __VA_ARGS__ })
#define IN_CUDA_STD(...) EXPANDED_TEXT(namespace cuda { namespace std { __VA_ARGS__ } })
#define CUDA_HEADERS \
    "cuda/std/type_traits cuda/std/utility cuda/std/limits cuda/std/atomic cuda/atomic cuda/barrier cuda/pipeline cuda/latch cuda/semaphore " \
    "cooperative_groups.h cooperative_groups/reduce.h"

const LibraryEntry LIBRARY_STANDARD[] = {
    {"std::numeric_limits", NULL, IN_STD(LIMITS)},
    {"cuda::std::numeric_limits", LIMITS_HEADERS, IN_CUDA_STD(LIMITS)},
    {TRAIT_NAMES("std::"), NULL, IN_STD(TRAITS)},
    {TRAIT_NAMES("cuda::std::"), CUDA_HEADERS, IN_CUDA_STD(TRAITS)},
    {SEQUENCE_NAMES("std::"), NULL, IN_STD(SEQUENCES)},
    {SEQUENCE_NAMES("cuda::std::"), CUDA_HEADERS, IN_CUDA_STD(SEQUENCES)},
    {"std::move std::forward std::swap", NULL, IN_STD(MOVE)},
    {"cuda::std::move cuda::std::forward cuda::std::swap", CUDA_HEADERS, IN_CUDA_STD(MOVE)},
    {"std::min std::max", NULL, IN_STD(MINIMA(inline))},
    {"cuda::std::min cuda::std::max", CUDA_HEADERS, IN_CUDA_STD(MINIMA(HD))},
    {"std::size_t", NULL, "namespace std { typedef unsigned long size_t; }"},
    {"std::ptrdiff_t", NULL, "namespace std { typedef long ptrdiff_t; }"},
    {"std::uint32_t", NULL, "namespace std { typedef unsigned uint32_t; }"},
    {"std::uint64_t", NULL, "namespace std { typedef unsigned long uint64_t; }"},
    {"std::int32_t", NULL, "namespace std { typedef int int32_t; }"},
    {"std::int64_t", NULL, "namespace std { typedef long int64_t; }"},
    {"std::uint8_t", NULL, "namespace std { typedef unsigned char uint8_t; }"},
    {"std::uint16_t", NULL, "namespace std { typedef unsigned short uint16_t; }"},
    {"cuda::std::size_t", NULL, "namespace cuda { namespace std { typedef unsigned long size_t; } }"},
    {"cuda::std::uint32_t", NULL, "namespace cuda { namespace std { typedef unsigned uint32_t; } }"},
    {"cuda::std::uint64_t", NULL, "namespace cuda { namespace std { typedef unsigned long uint64_t; } }"},
    {"cuda::std::int32_t", NULL, "namespace cuda { namespace std { typedef int int32_t; } }"},
    {"cuda::std::int64_t", NULL, "namespace cuda { namespace std { typedef long int64_t; } }"},
    {"std::aligned_storage_t", NULL, "namespace std { template <unsigned long n, unsigned long a = 8> struct aligned_storage_t { alignas(a) unsigned char data[n]; }; }"},
    {"cuda::std::aligned_storage_t", CUDA_HEADERS,
     "namespace cuda { namespace std { template <unsigned long n, unsigned long a = 8> struct aligned_storage_t { alignas(a) unsigned char data[n]; }; } }"},
    {"cuda::std::plus", CUDA_HEADERS, IN_CUDA_STD(template <class T = void> struct plus { D T operator()(const T &a, const T &b) const { return a + b; } };)},
    {"cuda::std::array", "cuda/std/array", IN_CUDA_STD(
        template <class T, unsigned long n> struct array { T data_[n]; HD constexpr T &operator[](unsigned long k) { return data_[k]; }
            HD constexpr const T &operator[](unsigned long k) const { return data_[k]; } HD constexpr unsigned long size() const { return n; } };)},
    {"std::isnan", NULL, "namespace std { using ::isnan; }"},
    {"std::isinf", NULL, "namespace std { using ::isinf; }"},
    {"std::abs", NULL, "namespace std { using ::abs; }"},
    {"std::sqrt", NULL, "namespace std { using ::sqrt; }"},
    {NULL, NULL, NULL},
};
