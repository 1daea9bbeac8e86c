// rounding.h: directed rounding in software. Some hosts, such as WebAssembly, round to nearest only.
#ifndef ROUNDING_H
#define ROUNDING_H

#include <stdbool.h>
#include <stdint.h>

// The result of an operation, rounded to nearest, and the direction of its rounding error.
typedef struct Rounded {
    double nearest;
    int error; // the sign of (exact result - nearest); 0 if exact, or if an operand is infinite or NaN
    bool is_cancelled; // two terms with opposite signs add up to exactly 0, which is -0 if rounded down
} Rounded;

Rounded sim_product(double a, double b);
Rounded sim_fused_multiply_add(double a, double b, double c); // a * b + c
Rounded sim_quotient(double a, double b);
Rounded sim_square_root(double a);
double sim_directed(Rounded r, int rounding); // `rounding` as in Instr.rounding
// Rounds to odd: the nearest number or, if inexact, the neighbour of the exact result whose last bit is 1. A second rounding to
// at most 51 digits is then correct.
double sim_to_odd(Rounded r);
// Rounds an integer to `digits` significant digits, at most 53.
double sim_from_integer(uint64_t magnitude, bool negative, int digits, int rounding);

#endif
