// rounding.c: directed rounding, derived from the sign of the nearest result's error.
//
// The errors are computed on numbers scaled to about 1, so that nothing underflows. References: Dekker (1971) for the error of a
// product; Knuth (TAOCP 2, 4.2.2) for the error of a sum.
#include "machine/ops/rounding.h"
#include "base/numbers.h"
#include "front/program.h"

#include <float.h>
#include <math.h>

typedef struct Sum { // value + error is the exact sum
    double value, error;
} Sum;

static Sum add_exactly(double a, double b)
{
    const double value = a + b, b_part = value - a;
    return (Sum){value, (a - (value - b_part)) + (b - b_part)};
}

static int sign_of(double value)
{
    return (value > 0) - (value < 0);
}

static bool are_finite(double a, double b, double c)
{
    return isfinite(a) && isfinite(b) && isfinite(c);
}

Rounded sim_product(double a, double b)
{
    const double nearest = a * b;
    if (!are_finite(a, b, 0) || a == 0 || b == 0)
        return (Rounded){.nearest = nearest};
    if (isinf(nearest))
        return (Rounded){nearest, -sign_of(nearest), false};
    int a_exponent, b_exponent;
    const double x = frexp(a, &a_exponent), y = frexp(b, &b_exponent);
    return (Rounded){nearest, sign_of(fma(x, y, -ldexp(nearest, -a_exponent - b_exponent))), false};
}

// The sign of a + b + c - d, for |a| at least about |b|; d is near the sum.
static int sign_of_difference(double a, double b, double c, double d)
{
    const Sum low = add_exactly(c, b), high = add_exactly(a, low.value);
    const Sum rest = add_exactly(high.value, -d), sum = add_exactly(rest.value, high.error);
    const double small = (rest.error + low.error) + sum.error;
    return sign_of(sum.value != 0 ? sum.value + small : small);
}

// The sign of the error of a * b + c. The operands are finite and not 0, and the result is finite.
static int fused_error_sign(double a, double b, double c, double nearest)
{
    enum { FAR = 200 }; // distance of two terms' exponents at which only the sign of the smaller term matters
    int a_exponent, b_exponent, c_exponent;
    const double x = frexp(a, &a_exponent), y = frexp(b, &b_exponent), z = frexp(c, &c_exponent);
    const int product_exponent = a_exponent + b_exponent;
    if (c_exponent - product_exponent > FAR) // the result is c
        return sign_of(a) * sign_of(b);
    if (product_exponent - c_exponent > FAR) {
        const int error = sign_of(fma(x, y, -ldexp(nearest, -product_exponent)));
        return error ? error : sign_of(c);
    }
    const int largest = product_exponent > c_exponent ? product_exponent : c_exponent;
    const double product = x * y, rest = fma(x, y, -product);
    return sign_of_difference(ldexp(product, product_exponent - largest), ldexp(rest, product_exponent - largest),
                              ldexp(z, c_exponent - largest), ldexp(nearest, -largest));
}

Rounded sim_fused_multiply_add(double a, double b, double c)
{
    const double nearest = fma(a, b, c);
    if (!are_finite(a, b, c))
        return (Rounded){.nearest = nearest};
    if (isinf(nearest))
        return (Rounded){nearest, -sign_of(nearest), false};
    Rounded r = {.nearest = nearest};
    if (a != 0 && b != 0)
        r.error = c == 0 ? sim_product(a, b).error : fused_error_sign(a, b, c, nearest);
    r.is_cancelled = nearest == 0 && r.error == 0 && (signbit(a) ^ signbit(b)) != signbit(c);
    return r;
}

Rounded sim_quotient(double a, double b)
{
    const double nearest = a / b;
    if (!are_finite(a, b, 0) || a == 0 || b == 0)
        return (Rounded){.nearest = nearest};
    if (isinf(nearest))
        return (Rounded){nearest, -sign_of(nearest), false};
    int a_exponent, b_exponent;
    const double x = frexp(a, &a_exponent), y = frexp(b, &b_exponent);
    const double rest = fma(-ldexp(nearest, b_exponent - a_exponent), y, x);
    return (Rounded){nearest, sign_of(rest) * sign_of(b), false};
}

Rounded sim_square_root(double a)
{
    const double nearest = sqrt(a);
    if (!isfinite(nearest) || a == 0)
        return (Rounded){.nearest = nearest};
    int exponent;
    frexp(a, &exponent);
    exponent &= ~1;
    const double root = ldexp(nearest, -exponent / 2);
    return (Rounded){nearest, sign_of(fma(-root, root, ldexp(a, -exponent))), false};
}

double sim_directed(Rounded r, int rounding)
{
    const double value = r.nearest;
    if (r.is_cancelled)
        return rounding == ROUND_DOWN ? -0.0 : 0.0;
    const bool rounds_down = rounding == ROUND_DOWN || (rounding == ROUND_ZERO && (value > 0 || (value == 0 && r.error > 0)));
    const bool rounds_up = rounding == ROUND_UP || (rounding == ROUND_ZERO && !rounds_down);
    if (r.error < 0 && rounds_down)
        return nextafter(value, -INFINITY);
    return r.error > 0 && rounds_up ? nextafter(value, INFINITY) : value;
}

double sim_to_odd(Rounded r)
{
    const bool is_odd = double_bits(r.nearest) & 1;
    return r.error == 0 || is_odd ? r.nearest : nextafter(r.nearest, r.error > 0 ? INFINITY : -INFINITY);
}

double sim_from_integer(uint64_t magnitude, bool negative, int digits, int rounding)
{
    const int excess = magnitude ? 64 - __builtin_clzll(magnitude) - digits : 0;
    const uint64_t unit = excess > 0 ? 1ull << excess : 1, rest = magnitude & (unit - 1);
    const bool is_odd = magnitude & unit;
    const bool rounds_away = rounding == ROUND_ZERO   ? false
                      : rounding == ROUND_DOWN ? negative && rest
                      : rounding == ROUND_UP   ? !negative && rest
                                               : 2 * rest > unit || (rest && 2 * rest == unit && is_odd);
    const double value = (double)(magnitude - rest) + (rounds_away ? (double)unit : 0);
    return negative ? -value : value;
}
